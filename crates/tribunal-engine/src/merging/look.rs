//! One pull request at one moment.

use super::Merging;
use super::update::merged_tree;
use crate::EngineError;
use crate::effects::blocking;
use crate::remediate::look::{Heard, hear};
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::feedback::right::Permissions;
use tribunal_core::ids::{AgentName, RepoPath, RunId, Sha};
use tribunal_core::merge::facts::{Facts, Gates, Makers, Marker};
use tribunal_core::merge::hold::{Hold, of_commits};
use tribunal_core::merge::people::{Voices, deciders, has_approval_of_head};
use tribunal_core::policy::config::ReadLimits;
use tribunal_core::procedure::remediate;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{BaseRules, Mergeable, Pull, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::told::Told;
use tribunal_forge::git::change::ChangeBase;
use tribunal_forge::git::{GitError, Repository};

/// A pull request that is pushed to again and again while it is read is not looked at more often than this.
const MOST_LOOKS: u32 = 3;

#[derive(Debug, Clone)]
pub struct Look {
    /// Its gates are empty: they are the procedure's to fill in.
    pub facts: Facts,
    pub body: String,
    /// Changed files, both names of a renamed one.
    pub files: Told<BTreeSet<RepoPath>>,
    /// The tip of the base that was fetched: where the repository's own configuration is read.
    pub base_tip: Told<Sha>,
}

/// What git says of a change.
struct Brought {
    base: Sha,
    head: Sha,
    files: BTreeSet<RepoPath>,
    markers: Vec<Marker>,
    makers: Makers,
    /// What our own commits in it hold back.
    answered: Option<Hold>,
    conflict: bool,
}

impl Merging {
    /// Reads everything anew. A failed read is an error, or unknown where the rest can stand without it.
    pub async fn look(&self, number: u64) -> Result<Look, EngineError> {
        let mut looks = 1;
        loop {
            let heard = hear(&self.on, &self.place(number)).await?;
            let brought = self.bring(&heard.pull).await?;
            let moved = matches!(&brought, Ok(brought) if brought.head != heard.pull.head.sha);
            if !moved {
                return self.put_together(heard, brought).await;
            }
            if looks == MOST_LOOKS {
                let message = format!("#{number} is pushed to faster than it can be read");
                return Err(ForgeFault::Failing { host: self.project.host().to_owned(), status: 409, message }.into());
            }
            looks += 1;
        }
    }

    async fn put_together(&self, mut heard: Heard, brought: Result<Brought, String>) -> Result<Look, EngineError> {
        heard.permissions = self.permissions(&heard).await?;
        let made_by = self.on.head_makers(&heard.pull).await?;
        let (forge, pull) = (&self.on.forge, &heard.pull);
        let (rules, capabilities, review, dependencies, base_changed_at) = tokio::join!(
            self.rules(&pull.base.branch),
            forge.capabilities(),
            self.review(&heard),
            self.dependencies(pull),
            self.base_changed_at(&heard),
        );
        let (rules, base_changed_at) = (rules?, base_changed_at?);
        let dependencies = dependencies?;
        let brought: Told<Brought> = brought.into();
        let fixers = match &brought {
            Told::Is(brought) => self.fixers(&brought.makers).await?,
            Told::Unknown(because) => Told::Unknown(because.clone()),
        };
        // What a forge says of conflicts is of an earlier moment, or not worked out yet; git has just tried.
        let mergeable = match (pull.mergeable, &brought) {
            (_, Told::Is(brought)) if brought.conflict => Mergeable::Conflict,
            (Mergeable::Unknown, Told::Is(_)) => Mergeable::Yes,
            (said, _) => said,
        };
        let answered = brought.as_ref().known().and_then(|brought| brought.answered.clone());
        let mut holds = self.recorded(pull.number, &pull.head.sha, &heard.comments, &heard.me).await?;
        holds.extend(answered);
        let facts = Facts {
            number: pull.number,
            title: pull.title.clone(),
            url: pull.url.clone(),
            state: pull.state,
            draft: pull.draft,
            head: pull.head.sha.clone(),
            head_branch: pull.head.branch.clone(),
            base: pull.base.sha.clone(),
            base_branch: pull.base.branch.clone(),
            is_fork: pull.is_fork,
            made_by,
            is_ours: pull.author.is(&heard.me),
            mergeable,
            labels: pull.labels.clone(),
            conflict_markers: brought.as_ref().map(|brought| brought.markers.clone()),
            checks: Told::Is(heard.checks.clone()),
            rules,
            review: review?,
            fixers,
            people: Told::Is(Voices::of(&heard.said(&self.on.key, &self.bots), &base_changed_at)),
            dependencies: Told::Is(dependencies),
            gates: Told::Is(Gates::default()),
            guarded: Told::Is(capabilities?.can(Capability::GuardedMerge)),
            holds: Told::Is(holds),
        };
        let body = heard.pull.body.clone();
        Ok(Look {
            facts,
            body,
            files: brought.as_ref().map(|brought| brought.files.clone()),
            base_tip: brought.map(|brought| brought.base),
        })
    }

    /// Who of those that decide about it may write: asked anew at each look.
    async fn permissions(&self, heard: &Heard) -> Result<Permissions, ForgeFault> {
        let mut permissions = Permissions::default();
        for account in deciders(&heard.said(&self.on.key, &self.bots)) {
            permissions.put(account, self.on.permission_now(account).await?);
        }
        Ok(permissions)
    }

    /// What this token may not see is unknown; a forge that fails is a failure.
    async fn base_changed_at(&self, heard: &Heard) -> Result<Told<Option<String>>, ForgeFault> {
        if !has_approval_of_head(&heard.said(&self.on.key, &self.bots)) {
            return Ok(Told::Is(None));
        }
        match self.on.forge.base_changed_at(heard.pull.number).await {
            Err(fault) if fault.may_pass() => Err(fault),
            Err(fault) => Ok(Told::Unknown(fault.to_string())),
            Ok(changed_at) => Ok(Told::Is(changed_at)),
        }
    }

    /// The same of what the base asks of a merge.
    async fn rules(&self, branch: &str) -> Result<BaseRules, ForgeFault> {
        match self.on.forge.base_rules(branch).await {
            Err(fault) if fault.may_pass() => Err(fault),
            Err(fault) => Ok(BaseRules {
                methods: Told::Unknown(fault.to_string()),
                approvals: Told::Unknown(fault.to_string()),
                checks: Told::Unknown(fault.to_string()),
                obstacle: None,
            }),
            Ok(rules) => Ok(rules),
        }
    }

    /// Brings the change here. Of one that is over there may be nothing left to bring.
    async fn bring(&self, pull: &Pull) -> Result<Result<Brought, String>, EngineError> {
        if pull.state != PullState::Open {
            return Ok(Err(format!("it is {}", pull.state.word())));
        }
        let (repository, source) = (Arc::clone(&self.repository), self.on.forge.source(pull));
        let (base, head) = (pull.base.sha.clone(), pull.head.sha.clone());
        let is_local = self.kind == ForgeKind::Local;
        let read = blocking(move || -> Result<Brought, GitError> {
            let (base, head) = match is_local {
                true => (base, head),
                false => {
                    let fetched = repository.fetch_pull(&source, &base, &head)?;
                    (repository.fetch_base(&source)?, fetched.head)
                }
            };
            read(&repository, base, head)
        });
        Ok(read.await?.map_err(|error| error.to_string()))
    }

    /// Who made the fixes in it. A commit of a run that names nobody is looked up in the ledger.
    async fn fixers(&self, makers: &Makers) -> Result<Told<BTreeSet<AgentName>>, EngineError> {
        let mut agents = makers.agents.clone();
        for run in &makers.runs {
            match self.fixer_of(run).await? {
                Some(agent) => drop(agents.insert(agent)),
                None => return Ok(Told::Unknown(format!("a commit was made by run {run}, which this ledger does not know"))),
            }
        }
        Ok(Told::Is(agents))
    }

    async fn fixer_of(&self, run: &RunId) -> Result<Option<AgentName>, EngineError> {
        let row = self.ledger.run(run.as_str()).await?;
        let state = row.and_then(|row| serde_json::from_str::<remediate::State>(&row.state).ok());
        Ok(state.map(|state| state.request.loops.fixer))
    }
}

fn read(repository: &Repository, base: Sha, head: Sha) -> Result<Brought, GitError> {
    let parted = repository.merge_base(&base, &head, "base", "head")?;
    repository.bring_changed(&parted, &head)?;
    let change = repository.read_change(ChangeBase::commit(&parted), &head, ReadLimits::default())?.change;
    let history = repository.history(&parted, &head)?;
    let files = change.files.iter().flat_map(|file| [Some(&file.path), file.old_path.as_ref()]).flatten().cloned().collect();
    Ok(Brought {
        files,
        markers: Marker::all_in(&change),
        makers: Makers::of(&history),
        answered: of_commits(&head, &history),
        conflict: merged_tree(repository, &base, &head)?.is_none(),
        base,
        head,
    })
}
