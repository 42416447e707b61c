//! The second opinion: doubtful findings go to another agent, file by file, with the code they speak of and not the whole change.

use super::ask::Slot;
use super::given::plan;
use super::{Effects, blocking};
use crate::{EngineError, Progress};
use std::sync::Arc;
use tribunal_core::call::Question;
use tribunal_core::call::allowance::room;
use tribunal_core::call::usage::estimate_tokens;
use tribunal_core::combine::finding::Finding;
use tribunal_core::combine::opinion::{CheckedOpinion, Opinion, Opinions};
use tribunal_core::diff::change::Change;
use tribunal_core::findings::admit::one_line;
use tribunal_core::findings::leak::Watch;
use tribunal_core::findings::plain::plain;
use tribunal_core::findings::quote::Quote;
use tribunal_core::ids::{AgentName, FindingId};
use tribunal_core::procedure::review::{Input, Phase, SecondOpinion, Spend, State, finish};
use tribunal_core::prompt::{RunWords, VERIFY, brief, hidden};
use tribunal_core::publish::outgoing::mask::mask;
use tribunal_core::publish::outgoing::masked;
use tribunal_core::report::receipt::SeatState;

impl Effects {
    pub(super) async fn verify(
        self: Arc<Self>,
        agent: AgentName,
        state: Arc<State>,
        case_id: Arc<str>,
        patch: Option<Vec<u8>>,
    ) -> Result<Input, EngineError> {
        let Phase::Verifying(reviewing) = &state.phase else {
            return Err(EngineError::Worker("a second opinion was asked for too early".into()));
        };
        let findings = finish::to_verify(&state.request, reviewing, &agent);
        (self.listener)(Progress::Verifying { agent: agent.clone(), findings: findings.len() });
        let mut opinion = SecondOpinion {
            agent: agent.clone(),
            state: SeatState::Ok,
            asked: findings.len() as u32,
            opinions: Vec::new(),
            spend: Spend::default(),
        };
        let words = RunWords::new(&state.request.nonce);
        let own = brief::findings(&words, &findings);
        let (worker, shared_state, asked_about) = (Arc::clone(&self), Arc::clone(&state), findings.clone());
        let config = state.request.policy.agents.get(&agent);
        let limit = config.map_or(1_000, |config| room(config, estimate_tokens(VERIFY) + estimate_tokens(&own)));
        let prepared = blocking(move || {
            let given = worker.given(&shared_state, patch)?;
            let plan = plan(&shared_state)?;
            let context = worker.context(&shared_state, &given, plan);
            let beside = context.beside(plan, limit);
            let limit = limit.saturating_sub(beside.tokens(&shared_state)).max(limit / 2);
            let parts = given.parts_near(&asked_about, &shared_state, plan, &context, &beside, limit);
            Ok::<_, String>((given, parts))
        })
        .await?;
        let (given, parts) = match prepared {
            Ok(prepared) => prepared,
            Err(reason) => {
                opinion.state = SeatState::Failed { reason: reason.into() };
                return Ok(Input::Verified(Box::new(opinion)));
            }
        };
        for (number, part) in parts.into_iter().enumerate() {
            let here: Vec<Finding> = findings.iter().filter(|finding| part.paths.contains(&finding.file)).cloned().collect();
            if here.is_empty() {
                continue;
            }
            let question = Question {
                system: VERIFY.to_owned(),
                shared: part.text,
                own: brief::findings(&words, &here),
                schema: super::schemas::opinions(),
                repair: None,
            };
            let (said, took) = self.ask_for_opinions(&agent, &state, &case_id, number, question).await?;
            opinion.spend = opinion.spend.plus(took);
            match said {
                Ok(said) => {
                    let watch = self.agents.watch(&words.canary).await;
                    let asked: Vec<FindingId> = here.iter().map(|finding| finding.id).collect();
                    let known = said.opinions.into_iter().filter(|opinion| asked.contains(&opinion.id));
                    opinion.opinions.extend(known.map(|opinion| checked(opinion, given.change(), &watch)));
                }
                Err(state) => {
                    opinion.state = state;
                    break;
                }
            }
        }
        Ok(Input::Verified(Box::new(opinion)))
    }

    async fn ask_for_opinions(
        &self,
        agent: &AgentName,
        state: &State,
        case_id: &str,
        part: usize,
        question: Question,
    ) -> Result<(Result<Opinions, SeatState>, Spend), EngineError> {
        let tree = match self.tree_for(agent, state).await? {
            Ok(tree) => tree,
            Err(reason) => return Ok((Err(SeatState::Failed { reason: reason.into() }), Spend::default())),
        };
        let canary = RunWords::new(&state.request.nonce).canary;
        let slot = Slot { run: &state.request.run, case_id, agent, name: format!("verify/{agent}/{part}"), tree };
        Ok(self.agents.ask_for(&state.request.policy, &slot, &canary, question, &|| {}).await?)
    }
}

/// Looks the quote up in the files of the change.
fn checked(opinion: Opinion, change: &Change, watch: &Watch) -> CheckedOpinion {
    let evidence = hidden(&opinion.evidence);
    let quote = Quote::new(&evidence);
    // It may quote the finding, whose keys are masked.
    let stands = |text: &str| quote.stands_in(text) || evidence.contains(" masked") && quote.stands_in(&mask(text));
    let shown = change.files.iter().any(|file| {
        let lines: Vec<&str> = file.lines().map(|line| line.text.as_str()).collect();
        stands(&lines.join("\n")) || file.new_text.as_deref().is_some_and(stands)
    });
    let reason = if watch.leak(&opinion.reason).is_some() { String::new() } else { one_line(&plain(&masked(&opinion.reason))) };
    CheckedOpinion { id: opinion.id, stand: opinion.stand, reason, shown }
}
