//! Bringing a pull request up to date, merging it, and what follows a merge.

use super::Sweeps;
use crate::EngineError;
use std::collections::BTreeMap;
use std::time::Duration;
use tribunal_core::ids::Sha;
use tribunal_core::merge::epic::{Epic, EpicEnd, Story, belongs, end, listed_stories, parents};
use tribunal_core::procedure::sweep::effect::{Merged, Updated};
use tribunal_core::procedure::sweep::merging::Warrant;
use tribunal_core::procedure::sweep::{Request, Trouble};
use tribunal_core::pull::facts::{Pull, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::told::Told;

/// A forge may take a moment to show what it did, in milliseconds.
const SHOWS: [u64; 7] = [50, 100, 200, 400, 800, 1_600, 3_200];

impl Sweeps {
    pub(super) async fn update(&self, number: u64, head: &Sha) -> Result<Result<Updated, Trouble>, EngineError> {
        let pull = self.on.forge.pull(number).await?;
        if pull.state != PullState::Open {
            return Ok(Ok(Updated::Refused(format!("it is {}", pull.state.word()))));
        }
        let brought = self.clones.bring(&pull, self.on.forge.source(&pull)).await?;
        let repository = std::sync::Arc::clone(&brought.repository);
        let (base, now) = (brought.base.clone(), brought.head.clone());
        let is_up_to_date = crate::effects::blocking(move || repository.is_ancestor(&base, &now)).await?;
        // Done before, by a process that died before it could say so; or somebody's push, which the next look sees.
        if is_up_to_date {
            return Ok(Ok(Updated::Head(pull.head.sha)));
        }
        if &pull.head.sha != head {
            return Ok(Err(Trouble::HeadMoved));
        }
        match self.on.forge.update_branch(number, head).await {
            Ok(()) => Ok(Ok(Updated::Head(self.until(number, |pull| pull.head.sha != *head).await?.head.sha))),
            Err(fault @ ForgeFault::Conflict { .. }) => Ok(Ok(Updated::Conflict(fault.to_string()))),
            Err(fault) if fault.may_pass() || fault.is_uncertain() => Err(fault.into()),
            Err(fault) => Ok(Ok(Updated::Refused(fault.to_string()))),
        }
    }

    pub(super) async fn merge(&self, request: &Request, warrant: &Warrant) -> Result<Result<Merged, Trouble>, EngineError> {
        let (number, head) = (warrant.clearance.number(), warrant.clearance.head());
        if let Some(merged) = merged(&self.on.forge.pull(number).await?, head) {
            return Ok(Ok(merged));
        }
        let seen = match self.see(request, number).await? {
            Ok(seen) => seen,
            Err(trouble) => return Ok(Err(trouble)),
        };
        if let Err(lapse) = warrant.holds(&seen) {
            return Ok(Ok(Merged::Changed(lapse.to_string())));
        }
        match self.on.forge.merge(number, &warrant.clearance.order()).await {
            Ok(()) => {
                self.until(number, |pull| pull.state == PullState::Merged).await?;
                Ok(Ok(Merged::Done))
            }
            Err(fault) if fault.may_pass() || fault.is_uncertain() => match merged(&self.on.forge.pull(number).await?, head) {
                Some(merged) => Ok(Ok(merged)),
                None => Err(fault.into()),
            },
            Err(fault) => Ok(Ok(Merged::Refused(fault.to_string()))),
        }
    }

    async fn until(&self, number: u64, is: impl Fn(&Pull) -> bool) -> Result<Pull, EngineError> {
        for pause in SHOWS {
            let pull = self.on.forge.pull(number).await?;
            if is(&pull) {
                return Ok(pull);
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        Ok(self.on.forge.pull(number).await?)
    }

    pub(super) async fn epics(&self, request: &Request, number: u64) -> Result<Vec<(u64, EpicEnd)>, EngineError> {
        let pull = self.on.forge.pull(number).await?;
        let seen = self.see(request, number).await?;
        let keyword = seen.map(|seen| seen.policy.part_of).unwrap_or_else(|_| "Part of".to_owned());
        let mut ends = Vec::new();
        for parent in parents(&pull.body, &keyword, number) {
            let issue = match self.on.forge.issue(parent).await {
                Ok(issue) => issue,
                Err(ForgeFault::NotFound { .. }) => continue,
                Err(fault) => return Err(fault.into()),
            };
            let found = self.on.forge.find_issues(&format!("#{parent}")).await?;
            let children = found.iter().filter(|issue| belongs(&issue.body, &keyword, parent));
            let children = children.map(|issue| Story { number: issue.number, open: Told::Is(issue.open) }).collect();
            let mut listed = BTreeMap::new();
            for story in listed_stories(&issue) {
                listed.insert(story, self.on.forge.issue(story).await.map(|issue| issue.open).into());
            }
            let ended = end(&Epic { issue, children: Told::Is(children), listed });
            if let EpicEnd::Close { comment, .. } = &ended {
                self.on.forge.comment(parent, comment).await?;
                self.on.forge.close_issue(parent).await?;
            }
            ends.push((parent, ended));
        }
        Ok(ends)
    }
}

fn merged(pull: &Pull, head: &Sha) -> Option<Merged> {
    match pull.state {
        PullState::Open => None,
        PullState::Merged if pull.head.sha == *head => Some(Merged::Done),
        state @ (PullState::Merged | PullState::Closed) => Some(Merged::Changed(format!("it is {} already", state.word()))),
    }
}
