//! Carries out orders for one pull request of a project: for `settle` and `sweep`, which decide over many.

use super::review::pull::{AtHand, Prepared, fetch, on_forge, prepare, reads_specs};
use super::review::read_document;
use super::{library, loops};
use crate::cli::ReviewArgs;
use crate::cli::loops::LoopArgs;
use crate::situation::{Situation, exit};
use crate::workspace::forge::Connected;
use crate::workspace::guidance::Guidance;
use crate::workspace::{self, Person};
use async_trait::async_trait;
use std::sync::Arc;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::{AgentName, Sha};
use tribunal_core::policy::loops::LoopKind;
use tribunal_core::procedure::order::{Hindrance, RemedyOrder, ReviewOrder};
use tribunal_core::procedure::{remediate, review};
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::place::Place;
use tribunal_core::report::document::Document;
use tribunal_core::report::publication::PublicationEnd;
use tribunal_engine::Listener;
use tribunal_engine::effects::Effects;
use tribunal_engine::effects::ask::{Agents, Recording};
use tribunal_engine::host::Work as _;
use tribunal_engine::host::embedded::{Host, stored};
use tribunal_engine::one_pull::{OnePull, Remedied};
use tribunal_engine::remediate::Remedies;
use tribunal_forge::git::Repository;
use tribunal_store::Ledger;

pub struct Clerk {
    /// The project; the number of its place is of no account.
    pub connected: Connected,
    pub here: Option<Arc<Repository>>,
    pub ledger: Arc<Ledger>,
    pub listener: Listener,
    /// Several orders run at once, and fetch into one clone.
    pub fetching: tokio::sync::Mutex<()>,
}

#[async_trait]
impl OnePull for Clerk {
    async fn review(&self, order: &ReviewOrder) -> Result<Document, Hindrance> {
        let at_hand = self.at_hand(order.number).await?;
        let state = self.reviewed(order, &at_hand).await?;
        self.document(state).await
    }

    async fn remedy(&self, order: &RemedyOrder) -> Result<Remedied, Hindrance> {
        let at_hand = self.at_hand(order.number).await?;
        let state = self.remedied(order, &at_hand).await?;
        let report = state.report().cloned().ok_or_else(|| agent("the pass ended without a report"))?;
        Ok(Remedied { report, commits: state.memory.commits, fixer: state.request.loops.fixer, spend: state.memory.spend })
    }
}

impl Clerk {
    async fn at_hand(&self, number: u64) -> Result<AtHand, Hindrance> {
        let pull = self.connected.forge.pull(number).await.map_err(|fault| of(fault.into()))?;
        if pull.state != PullState::Open {
            return Err(Hindrance::NotOpen { state: pull.state });
        }
        let connected = Connected {
            forge: Arc::clone(&self.connected.forge),
            place: Place { number, ..self.connected.place.clone() },
            key: self.connected.key.clone(),
        };
        let _one_at_a_time = self.fetching.lock().await;
        fetch(connected, self.here.clone()).await.map_err(of)
    }

    async fn reviewed(&self, order: &ReviewOrder, at_hand: &AtHand) -> Result<review::State, Hindrance> {
        let agents = self.agents();
        if let Some(row) = self.ledger.run(order.run.as_str()).await.map_err(|error| of(error.into()))? {
            let request = stored::<Effects>(&row).map_err(|error| of(error.into()))?.request;
            let base_tip = request.pull.as_ref().map_or(&at_hand.base_tip, |pull| &pull.base_tip);
            let rules = workspace::rules_with(&Guidance::at(&at_hand.repository, base_tip, &at_hand.connected.place), &request)
                .map_err(of)?;
            return self.reviewing(at_hand, rules, agents).resume(row).await.map_err(|error| of(error.into()));
        }
        still_at(&order.head, &at_hand.pull.head.sha)?;
        let Prepared { mut request, rules, config } = prepare(&ReviewArgs::plain(), at_hand, None).await.map_err(of)?;
        request.run = order.run.clone();
        request.policy.budget = request.policy.budget.within(order.allowance);
        // Whoever orders goes by the verdict, and the status must not say something else.
        request.policy.fail_level = request.policy.fail_level.of_verdicts();
        // Other words or other eyes make it another review.
        let besides = format!("{}\n{:?}\n{:?}\n{:?}", request.fingerprint, order.spec, order.context, order.not_by);
        request.fingerprint = sha256_hex(besides.as_bytes());
        // Rules cannot read a spec; they are not called to fail at it.
        let spec = order.spec.as_deref().filter(|_| reads_specs(&request.roles, &request.policy));
        request.spec = joined(spec, request.spec.as_deref());
        request.context = joined(order.context.as_deref(), request.context.as_deref());
        if let Some(pull) = &mut request.pull {
            pull.withheld.extend(order.not_by.clone());
        }
        library::say(&mut request, at_hand, &config, order.references.as_ref(), &self.ledger).await.map_err(of)?;
        let start = review::Input::Start { request: Box::new(request) };
        let begun = self.reviewing(at_hand, rules, agents).begin(&order.run, start, &at_hand.connected.place.case_id()).await;
        begun.map_err(|error| of(error.into()))
    }

    fn reviewing(&self, at_hand: &AtHand, rules: tribunal_agent::rules::compile::RuleSet, agents: Agents) -> Host<Effects> {
        let repository = Some(Arc::clone(&at_hand.repository));
        let mut effects = Effects::new(repository, Arc::new(rules), agents, Arc::clone(&self.listener));
        effects.on = Some(on_forge(&at_hand.connected));
        Host { ledger: Arc::clone(&self.ledger), effects: Arc::new(effects), folder: Person::here().state }
    }

    /// The document of a review whose words were posted, or what kept them from it.
    async fn document(&self, state: review::State) -> Result<Document, Hindrance> {
        let document = match state.phase {
            review::Phase::Done(document) => *document,
            review::Phase::Noop { document: Some(document), .. } => return Ok(*document),
            // A state of an earlier release.
            review::Phase::Noop { last_run, .. } => {
                let row = self.ledger.document(last_run.as_str()).await.map_err(|error| of(error.into()))?;
                let row = row.ok_or_else(|| agent("the review that still stands is gone from the ledger"))?;
                return read_document(&row.body, last_run.as_str()).map_err(of);
            }
            review::Phase::NotRun { reason } => return Err(Hindrance::Setup { reason }),
            review::Phase::Failed { reason } => return Err(Hindrance::Agent { reason }),
            review::Phase::Reading
            | review::Phase::Reviewing(_)
            | review::Phase::Verifying(_)
            | review::Phase::Publishing(_)
            | review::Phase::Declining { .. } => return Err(agent("the review stopped half-way")),
        };
        match document.publication.as_ref().map(|publication| publication.end.clone()) {
            None | Some(PublicationEnd::Published) => Ok(document),
            Some(PublicationEnd::HeadMoved { to }) => Err(Hindrance::HeadMoved { to: Some(to) }),
            Some(PublicationEnd::Closed) => Err(Hindrance::NotOpen { state: PullState::Closed }),
            Some(PublicationEnd::ForeignDraft) => {
                Err(Hindrance::InTheWay { reason: "somebody is writing a review by hand under the same account".into() })
            }
            Some(PublicationEnd::Overtaken { run }) => {
                Err(Hindrance::NotYet { reason: format!("another run ({run}) has posted a review of it meanwhile") })
            }
            Some(PublicationEnd::Failed { reason, .. }) => Err(Hindrance::Forge { reason }),
        }
    }

    async fn remedied(&self, order: &RemedyOrder, at_hand: &AtHand) -> Result<remediate::State, Hindrance> {
        let guidance = Guidance::at(&at_hand.repository, &at_hand.base_tip, &at_hand.connected.place);
        let setup = workspace::set_up_with(guidance, None).map_err(of)?;
        let fixer = order.fixer.as_ref().map(AgentName::to_string);
        let args = LoopArgs::single_pass(order.number, &order.reviewer, fixer);
        let mut request = loops::request(LoopKind::Watch, &args, at_hand, &setup).await.map_err(of)?;
        request.run = order.run.clone();
        request.loops = request.loops.single_pass(&setup.merged.config);
        request.policy.budget = request.policy.budget.within(order.allowance);
        let case_id = format!("loop:{}", at_hand.connected.place.case_id());
        let remedies = Remedies {
            signature: loops::signature(at_hand, self.here.as_deref()).await.map_err(of)?,
            on: on_forge(&at_hand.connected),
            repository: Arc::clone(&at_hand.repository),
            rules: Arc::new(setup.rules),
            agents: self.agents(),
            listener: Arc::clone(&self.listener),
            pages: workspace::ledger_folder(self.here.as_deref()).join("pr-reviews"),
        };
        let host = Host { ledger: Arc::clone(&self.ledger), effects: Arc::new(remedies), folder: Person::here().state };
        if let Some(row) = self.ledger.run(order.run.as_str()).await.map_err(|error| of(error.into()))? {
            return host.resume(row).await.map_err(|error| of(error.into()));
        }
        still_at(&order.head, &at_hand.pull.head.sha)?;
        let unfinished = self.ledger.unsettled(Remedies::PROCEDURE, Some(&case_id)).await.map_err(|error| of(error.into()))?;
        if let Some(row) = unfinished {
            return Err(Hindrance::InTheWay { reason: format!("an earlier loop ({}) on it is not finished", row.id) });
        }
        let start = remediate::Input::Start { request: Box::new(request) };
        host.begin(&order.run, start, &case_id).await.map_err(|error| of(error.into()))
    }

    fn agents(&self) -> Agents {
        Agents::new(Arc::clone(&self.ledger), workspace::scratch_root(), Recording::default())
    }
}

fn still_at(ordered: &Sha, found: &Sha) -> Result<(), Hindrance> {
    if ordered == found { Ok(()) } else { Err(Hindrance::HeadMoved { to: Some(found.clone()) }) }
}

fn joined(first: Option<&str>, second: Option<&str>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}\n\n{second}")),
        (first, second) => first.or(second).map(str::to_owned),
    }
}

fn agent(reason: &str) -> Hindrance {
    Hindrance::Agent { reason: reason.to_owned() }
}

/// What an error means for an order.
fn of(situation: Situation) -> Hindrance {
    let reason = situation.happened;
    match (situation.code, situation.exit) {
        ("head-moved", _) => Hindrance::HeadMoved { to: None },
        (_, exit::NOT_YET) => Hindrance::NotYet { reason },
        (_, exit::BUDGET) => Hindrance::Budget { reason },
        (_, exit::FORGE) => Hindrance::Forge { reason },
        (_, exit::USAGE) => Hindrance::Setup { reason },
        _ => Hindrance::Agent { reason },
    }
}
