//! Everything that a merge of one pull request looks at.

use super::Sweeps;
use super::bring::Brought;
use crate::EngineError;
use crate::effects::blocking;
use crate::remediate::look::hear;
use std::collections::BTreeSet;
use tribunal_core::ids::RepoPath;
use tribunal_core::merge::facts::{Declared, Dependency, DependencyState, Facts, Gates, Marker, Reviewed};
use tribunal_core::merge::people::Voices;
use tribunal_core::plan::links::{Reference, depends_on};
use tribunal_core::procedure::sweep::effect::Seen;
use tribunal_core::procedure::sweep::{Request, Trouble};
use tribunal_core::pull::facts::{BaseRules, Pull, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::told::Told;
use tribunal_core::report::document::Document;

impl Sweeps {
    pub(super) async fn see(&self, request: &Request, number: u64) -> Result<Result<Seen, Trouble>, EngineError> {
        let place = self.place(request, number);
        let heard = hear(&self.on, &place).await?;
        let pull = &heard.pull;
        let brought = match pull.state {
            PullState::Open => Some(self.clones.bring(pull, self.on.forge.source(pull)).await?),
            PullState::Closed | PullState::Merged => None,
        };
        let policy = match &brought {
            Some(brought) => (self.policy)(&brought.repository, &brought.base),
            None => Ok(tribunal_core::merge::policy::MergePolicy::default()),
        };
        let policy = match policy {
            Ok(policy) => policy,
            Err(problem) => return Ok(Err(Trouble::Incomplete(problem))),
        };
        let (files, conflict_markers, behind) = match brought {
            Some(brought) => {
                let max_bytes = request.policy.max_bytes;
                blocking(move || read(&brought, max_bytes)).await??
            }
            None => (BTreeSet::new(), Vec::new(), false),
        };
        let case_id = place.case_id();
        let document = self.ledger.last_document(&case_id).await?;
        let review = document.map(|row| serde_json::from_str::<Document>(&row.body).map(|document| Reviewed::of(&document)));
        let facts = Facts {
            number,
            title: pull.title.clone(),
            url: pull.url.clone(),
            state: pull.state,
            draft: pull.draft,
            head: pull.head.sha.clone(),
            head_branch: pull.head.branch.clone(),
            base: pull.base.sha.clone(),
            base_branch: pull.base.branch.clone(),
            is_fork: pull.is_fork,
            is_ours: pull.author.is(&heard.me),
            mergeable: pull.mergeable,
            labels: pull.labels.clone(),
            conflict_markers: Told::Is(conflict_markers),
            checks: Told::Is(heard.checks.clone()),
            rules: BaseRules::none(),
            review: review.transpose().into(),
            fixers: Told::Is(BTreeSet::new()),
            people: Told::Is(Voices::of(&heard.said(&self.on.key, &request.loops.bots))),
            dependencies: Told::Is(self.dependencies(pull).await?),
            gates: Told::Is(Gates::default()),
            guarded: Told::Is(true),
        };
        let behind = behind && pull.mergeable == tribunal_core::pull::facts::Mergeable::Blocked;
        Ok(Ok(Seen { facts, files, behind, policy }))
    }

    async fn dependencies(&self, pull: &Pull) -> Result<Vec<Dependency>, ForgeFault> {
        let mut all = Vec::new();
        for on in depends_on(&pull.body) {
            let state = match self.on.forge.pull(on.number()).await {
                Ok(other) => Told::Is(match other.state {
                    PullState::Open => DependencyState::Open,
                    PullState::Merged => DependencyState::Done,
                    PullState::Closed => DependencyState::Abandoned,
                }),
                Err(fault) => Told::Unknown(fault.to_string()),
            };
            all.push(Dependency { on, declared: Declared::InWords, state });
        }
        let stacked = PullFilter { head_branch: Some(pull.base.branch.clone()), ..PullFilter::default() };
        for below in self.on.forge.pulls(&stacked).await? {
            let on = Reference::Pull(below.number);
            all.push(Dependency { on, declared: Declared::Stacked, state: Told::Is(DependencyState::Open) });
        }
        Ok(all)
    }
}

/// Files, markers, and whether the base has moved on.
fn read(brought: &Brought, max_bytes: u64) -> Result<(BTreeSet<RepoPath>, Vec<Marker>, bool), EngineError> {
    let Brought { repository, base, merge_base, head } = brought;
    repository.bring_changed(merge_base, head)?;
    let read = repository.read_change(merge_base, head, max_bytes)?;
    let names = read.change.files.iter().flat_map(|file| [Some(file.path.clone()), file.old_path.clone()]);
    Ok((names.flatten().collect(), Marker::all_in(&read.change), merge_base != base))
}
