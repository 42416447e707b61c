//! Merging what is clean, and closing what is done by it.

use super::Settling;
use crate::EngineError;
use crate::effects::blocking;
use crate::merging::{MergeEnd, Merging};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::merge::conditions::conditions;
use tribunal_core::merge::hold::unrecorded;
use tribunal_core::merge::policy::Wanted;
use tribunal_core::procedure::order::Hindrance;
use tribunal_core::procedure::settle::{Closing, Input, Merging as Merged, State};
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::told::Told;
use tribunal_forge::git::Repository;

impl Settling {
    /// Level 2 is the wish to merge; every other condition is the policy's and the forge's (CF-1, TS-87).
    pub(super) async fn merge(&self, state: &State, number: u64, head: &Sha) -> Result<Input, EngineError> {
        let merging = self.merging(state, number).await?;
        let look = merging.look(number).await?;
        if look.facts.head != *head {
            return Ok(Input::Merged(Err(Hindrance::HeadMoved { to: Some(look.facts.head) })));
        }
        if look.facts.state != PullState::Open {
            let merged = look.facts.state == PullState::Merged;
            return Ok(Input::Merged(if merged {
                Ok(Merged::Merged)
            } else {
                Err(Hindrance::NotOpen { state: look.facts.state })
            }));
        }
        let policy = match &look.base_tip {
            Told::Is(base) => (self.merge_policy)(&merging.repository, base)?,
            Told::Unknown(why) => return Ok(Input::Merged(Err(Hindrance::Forge { reason: why.clone() }))),
        };
        let judged = conditions(&policy, &look.facts, Wanted::Asked);
        let clearance = match Merged::cleared(&judged) {
            Ok(clearance) => clearance,
            Err(held) => {
                merging.put_on_record(number, head, unrecorded(&look.facts)).await?;
                return Ok(Input::Merged(Ok(held)));
            }
        };
        let holds =
            |look: &crate::merging::Look| clearance.still_holds(&look.facts, &conditions(&policy, &look.facts, Wanted::Asked));
        Ok(Input::Merged(match merging.merge(clearance, holds).await? {
            MergeEnd::Merged => Ok(Merged::Merged),
            MergeEnd::Lapsed(lapse) => Merged::lapsed(lapse),
            MergeEnd::Refused(reason) => Ok(Merged::Stuck { reason }),
        }))
    }

    /// The forge closes the issue of a merge itself where the description says so; the plan knows of it anyway.
    pub(super) async fn carry(
        &self,
        state: &State,
        merged: &BTreeSet<u64>,
        parents: &BTreeMap<u64, BTreeSet<u64>>,
    ) -> Result<Input, EngineError> {
        let mut closing = Closing::default();
        for issue in merged {
            if let Err(fault) = self.close(*issue).await {
                closing.notes.push(format!("#{issue} could not be closed: {fault}"));
            }
        }
        let Some(any) = state.memory.plan.as_ref().and_then(|plan| plan.tasks.iter().find_map(|task| task.github_pr)) else {
            return Ok(Input::Closed(closing));
        };
        let merging = self.merging(state, any).await?;
        let first = parents.keys().copied().collect();
        for (issue, end) in merging.finish(first, &state.request.policy.part_of, parents).await {
            closing.note(issue, end);
        }
        Ok(Input::Closed(closing))
    }

    async fn close(&self, issue: u64) -> Result<(), ForgeFault> {
        if self.on.forge.issue(issue).await?.open { self.on.forge.close_issue(issue).await } else { Ok(()) }
    }

    /// Any pull request of the project says where git finds it.
    async fn merging(&self, state: &State, number: u64) -> Result<Merging, EngineError> {
        let repository = match (state.request.kind, &self.here) {
            (ForgeKind::Local, Some(here)) => Arc::clone(here),
            _ => {
                let pull = self.on.forge.pull(number).await?;
                let (folder, source) = (self.clone.clone(), self.on.forge.source(&pull));
                Arc::new(blocking(move || Repository::clone_of(&folder, &source)).await??)
            }
        };
        Ok(Merging {
            on: self.on.clone(),
            kind: state.request.kind,
            project: state.request.project.clone(),
            repository,
            ledger: Arc::clone(&self.ledger),
            bots: state.request.policy.bots.clone(),
        })
    }
}
