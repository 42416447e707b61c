//! One pull request, reviewed and responded to. Each order has a run of its own, named after the effect: done again, it goes on with
//! the same one, within the same allowance.

use super::Sweeps;
use crate::EngineError;
use std::collections::BTreeSet;
use tribunal_core::call::money::Money;
use tribunal_core::call::usage::Usage;
use tribunal_core::ids::{AgentName, RunId, Sha};
use tribunal_core::merge::hold::after_answers;
use tribunal_core::policy::agents::{AgentConfig, Means};
use tribunal_core::policy::config::RULES_AGENT;
use tribunal_core::procedure::order::{Lookup, RemedyOrder, ReviewOrder};
use tribunal_core::procedure::review::Spend;
use tribunal_core::procedure::sweep::account::answered_people;
use tribunal_core::procedure::sweep::effect::{Effort, Outcome, Responded, Reviewed};
use tribunal_core::procedure::sweep::{Request, Ticket, Trouble};
use tribunal_core::remedy::report::Report;
use tribunal_core::report::receipt::Cost;
use tribunal_store::Totals;

/// What is ordered for one pull request.
pub(super) struct Ordered<'a> {
    pub ticket: Ticket,
    pub number: u64,
    pub head: &'a Sha,
    pub without: &'a BTreeSet<AgentName>,
    pub allowance: Option<Money>,
}

/// The run of an effect.
pub fn run_of(sweep: &RunId, ticket: Ticket) -> RunId {
    RunId::new(format!("{sweep}-{}", ticket.0))
}

impl Sweeps {
    pub(super) async fn review(&self, request: &Request, ordered: &Ordered<'_>) -> Result<Outcome, EngineError> {
        let run = run_of(&request.run, ordered.ticket);
        let fixers = ordered.without.iter().filter(|agent| thinks(request, agent));
        let not_by = fixers.map(|agent| (agent.clone(), "it has put fixes into this change".to_owned()));
        let spec = match self.held_against(request, ordered.number).await? {
            Ok(spec) => spec,
            Err(why) => return Ok(reviewed(Err(Trouble::Setup(why)), Effort::default())),
        };
        let order = ReviewOrder {
            run: run.clone(),
            number: ordered.number,
            head: ordered.head.clone(),
            spec,
            context: None,
            not_by: not_by.collect(),
            allowance: ordered.allowance,
            references: Some(Lookup { module: request.terms.module.clone() }),
        };
        let (said, usage, agents) = match self.one.review(&order).await {
            Ok(document) => {
                // One that stood already took nothing of this run's.
                let seats = document.receipt.seats.iter().filter(|_| document.receipt.run == run).count();
                let usage = Some(document.receipt.bill.usage).filter(|_| document.receipt.run == run);
                (Reviewed::of(&document).map(Box::new), usage, seats)
            }
            Err(hindrance) => (Err(Trouble::of(&hindrance)), None, 0),
        };
        let effort = self.effort(&run, usage, agents).await?;
        Ok(reviewed(said, effort))
    }

    pub(super) async fn respond(&self, request: &Request, ordered: &Ordered<'_>) -> Result<Outcome, EngineError> {
        let run = run_of(&request.run, ordered.ticket);
        if let Some(trouble) = unfit(request, ordered.without) {
            return Ok(responded(Err(trouble), Effort::default()));
        }
        let order = RemedyOrder {
            run: run.clone(),
            number: ordered.number,
            head: ordered.head.clone(),
            fixer: None,
            reviewer: request.loops.reviewer.clone(),
            allowance: ordered.allowance,
        };
        let (said, usage) = match self.one.remedy(&order).await {
            Ok(remedied) => {
                self.hold_after_answers(request, ordered.number, &remedied.report, &remedied.commits).await?;
                let said = Responded::of(&remedied.report, &remedied.commits, &remedied.fixer);
                (said.map(Box::new), Some(remedied.spend.usage))
            }
            Err(hindrance) => (Err(Trouble::of(&hindrance)), None),
        };
        let effort = self.effort(&run, usage, 1).await?;
        Ok(responded(said, effort))
    }

    /// People's comments were answered, and a head was pushed that none of them has seen: that holds its merge back, also for a later run
    /// and on another machine.
    async fn hold_after_answers(
        &self,
        request: &Request,
        number: u64,
        report: &Report,
        commits: &[(Sha, String)],
    ) -> Result<(), EngineError> {
        let Some((head, _)) = commits.last() else { return Ok(()) };
        let people = answered_people(report);
        if people.is_empty() {
            return Ok(());
        }
        let merging = self.merging(request, number).await?;
        merging.put_on_record(number, head, vec![after_answers(head, people)]).await
    }

    /// What a run took, as the ledger has it: also when it broke off.
    async fn effort(&self, run: &RunId, usage: Option<Usage>, agents: usize) -> Result<Effort, EngineError> {
        let total = self.ledger.total_of(run.as_str()).await?;
        let counted = Usage { input: u64::try_from(total.tokens).unwrap_or(0), ..Usage::default() };
        let spend =
            Spend { calls: u32::try_from(total.calls).unwrap_or(u32::MAX), usage: usage.unwrap_or(counted), cost: cost(&total) };
        Ok(Effort { spend, agents: u32::try_from(agents).unwrap_or(u32::MAX) })
    }
}

fn cost(total: &Totals) -> Cost {
    match (total.calls, total.unknown) {
        (0, _) => Cost::Free,
        (_, 0) => Cost::MicroUsd(Money::micros(u64::try_from(total.cost).unwrap_or(0))),
        (_, _) => Cost::Unknown,
    }
}

fn reviewed(said: Result<Box<Reviewed>, Trouble>, effort: Effort) -> Outcome {
    Outcome::Reviewed { said, effort }
}

fn responded(said: Result<Box<Responded>, Trouble>, effort: Effort) -> Outcome {
    Outcome::Responded { said, effort }
}

/// Rules and linters have nothing to defend: they say the same thing whoever asks (CF-27).
fn thinks(request: &Request, agent: &AgentName) -> bool {
    match request.policy.agents.get(agent).map(AgentConfig::means) {
        Some(Means::Rules | Means::Sarif | Means::NotTrusted) => false,
        Some(Means::Command | Means::Model(..) | Means::Cli(..)) => true,
        None => agent.as_str() != RULES_AGENT,
    }
}

/// Whoever reviewed has a review to defend (CF-13).
fn unfit(request: &Request, without: &BTreeSet<AgentName>) -> Option<Trouble> {
    let loops = &request.loops;
    let mut ours = [&loops.fixer, &loops.assessor].into_iter().filter(|agent| thinks(request, agent));
    let agent = ours.find(|agent| without.contains(*agent))?;
    Some(Trouble::Withheld(format!(
        "{agent} reviewed this change and may not answer its own review; name another in [fix] agent"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_effect_has_a_run_of_its_own() {
        let (a, b) = (RunId::from("20261117-1"), RunId::from("20261117-1-1"));
        assert_ne!(run_of(&a, Ticket(12)), run_of(&b, Ticket(2)));
        assert_eq!(run_of(&a, Ticket(1)), run_of(&a, Ticket(1)));
    }
}
