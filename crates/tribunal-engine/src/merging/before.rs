//! What must be merged or closed before a pull request: what its description names, and what its base branch stands on.

use super::Merging;
use crate::EngineError;
use std::collections::BTreeSet;
use tribunal_core::merge::facts::{Declared, Dependency, DependencyState};
use tribunal_core::plan::links::{Reference, depends_on};
use tribunal_core::pull::facts::{Pull, PullFilter, PullState, RequiredChecks};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::told::Told;

/// A chain of open dependencies is followed this far to see whether it comes back.
const MOST_FOLLOWED: usize = 50;

/// What a reference turned out to be.
enum Found {
    Pull(Box<Pull>),
    Issue { open: bool },
}

impl Merging {
    pub(super) async fn dependencies(&self, pull: &Pull) -> Result<Vec<Dependency>, EngineError> {
        let mut dependencies = Vec::new();
        if pull.state != PullState::Open {
            return Ok(dependencies);
        }
        for on in declared(pull) {
            let state = match self.find(on).await {
                Ok(found) => Told::Is(self.state_of(pull.number, found).await?),
                Err(fault) if fault.may_pass() => return Err(fault.into()),
                Err(fault) => Told::Unknown(fault.to_string()),
            };
            dependencies.push(Dependency { on, declared: Declared::InWords, state });
        }
        dependencies.extend(self.stacked_on(pull).await?);
        Ok(dependencies)
    }

    async fn state_of(&self, number: u64, found: Found) -> Result<DependencyState, EngineError> {
        Ok(match found {
            Found::Issue { open: true } => DependencyState::Open,
            Found::Issue { open: false } => DependencyState::Done,
            Found::Pull(pull) => match pull.state {
                PullState::Merged => DependencyState::Done,
                PullState::Closed => DependencyState::Abandoned,
                PullState::Open if self.comes_back(number, &pull).await? => DependencyState::Circular,
                PullState::Open => DependencyState::Open,
            },
        })
    }

    /// `!7` is a merge request. `#7` is an issue on GitLab, and elsewhere whatever has that number.
    async fn find(&self, on: Reference) -> Result<Found, ForgeFault> {
        let forge = &self.on.forge;
        let number = on.number();
        let issue = || async { Ok(Found::Issue { open: forge.issue(number).await?.open }) };
        match (on, self.kind) {
            (Reference::Number(_), ForgeKind::GitLab) => issue().await,
            (Reference::Pull(_), _) => Ok(Found::Pull(Box::new(forge.pull(number).await?))),
            (Reference::Number(_), _) => match forge.pull(number).await {
                Ok(pull) => Ok(Found::Pull(Box::new(pull))),
                Err(ForgeFault::NotFound { .. }) => issue().await,
                Err(fault) => Err(fault),
            },
        }
    }

    /// Does an open pull request wait, over any number of others, for the one that waits for it?
    async fn comes_back(&self, number: u64, first: &Pull) -> Result<bool, EngineError> {
        let mut seen = BTreeSet::from([first.number]);
        let mut open = declared(first);
        while let Some(on) = open.pop() {
            if self.is_pull(on) && on.number() == number {
                return Ok(true);
            }
            if seen.len() == MOST_FOLLOWED || !seen.insert(on.number()) {
                continue;
            }
            match self.find(on).await {
                Ok(Found::Pull(pull)) if pull.state == PullState::Open => open.extend(declared(&pull)),
                Ok(Found::Pull(_) | Found::Issue { .. }) => {}
                Err(fault) if fault.may_pass() => return Err(fault.into()),
                // Whatever it is, it does not lead back here.
                Err(_) => {}
            }
        }
        Ok(false)
    }

    fn is_pull(&self, on: Reference) -> bool {
        matches!(on, Reference::Pull(_)) || self.kind != ForgeKind::GitLab
    }

    /// A branch that others are merged into for good, such as a branch of releases, is no pull request to wait for, also while there is
    /// one from it: the main branch is one, and what is protected is meant to be one.
    async fn stacked_on(&self, pull: &Pull) -> Result<Option<Dependency>, EngineError> {
        let forge = &self.on.forge;
        let branch = &pull.base.branch;
        if forge.trunk().await? == *branch {
            return Ok(None);
        }
        let filter = PullFilter { head_branch: Some(branch.clone()), all_states: true, ..PullFilter::default() };
        let from_it = forge.pulls(&filter).await?;
        let open = from_it.iter().find(|other| other.state == PullState::Open);
        // Merged, and nothing came onto the branch since: whatever is merged into it now goes nowhere.
        let over = from_it.iter().find(|other| other.state == PullState::Merged && other.head.sha == pull.base.sha);
        let (other, state) = match (open, over) {
            (Some(other), _) => (other, DependencyState::Open),
            (None, Some(other)) => (other, DependencyState::Done),
            (None, None) => return Ok(None),
        };
        let rules = forge.base_rules(branch).await;
        let kept = rules.is_ok_and(|rules| {
            let asks_for_checks = matches!(&rules.checks, Told::Is(checks) if *checks != RequiredChecks::default());
            matches!(rules.approvals, Told::Is(wanted) if wanted > 0) || asks_for_checks
        });
        // On a forge whose rules are the project's every branch would look like one that is kept.
        if kept && self.kind != ForgeKind::GitLab {
            return Ok(None);
        }
        let on = match self.kind {
            ForgeKind::GitLab => Reference::Pull(other.number),
            ForgeKind::GitHub | ForgeKind::Gitea | ForgeKind::Forgejo | ForgeKind::Local => Reference::Number(other.number),
        };
        Ok(Some(Dependency { on, declared: Declared::Stacked, state: Told::Is(state) }))
    }
}

/// What a description names, without itself.
fn declared(pull: &Pull) -> Vec<Reference> {
    depends_on(&pull.body).into_iter().filter(|on| on.number() != pull.number).collect()
}
