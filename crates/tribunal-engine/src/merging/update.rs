//! Bringing the base into a branch (SL-79).

use super::{Merging, PAUSES};
use crate::EngineError;
use crate::effects::blocking;
use std::sync::Arc;
use tokio::time::sleep;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Pull, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::pushable::Pushable;
use tribunal_forge::git::merge::{MergeError, Merger};
use tribunal_forge::git::write::Signature;
use tribunal_forge::git::{GitError, Repository};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateEnd {
    /// Up to date, at this head: the one that it had, or a new one whose checks and review are still to come.
    Head(Sha),
    /// It cannot be brought together without a person.
    Conflict(String),
    /// Somebody pushed.
    Moved(Sha),
    /// The forge does not do it.
    Refused(String),
}

/// How a branch stands to its base.
enum Standing {
    UpToDate,
    Behind,
    Conflict,
}

impl Merging {
    pub async fn update(&self, number: u64, head: &Sha) -> Result<UpdateEnd, EngineError> {
        let pull = self.on.forge.pull(number).await?;
        if pull.state != PullState::Open {
            return Ok(UpdateEnd::Refused(format!("it is {}", pull.state.word())));
        }
        if pull.head.sha != *head {
            return self.moved(&pull, head).await;
        }
        match self.standing(&pull).await? {
            Standing::UpToDate => return Ok(UpdateEnd::Head(head.clone())),
            Standing::Conflict => return Ok(UpdateEnd::Conflict(format!("it conflicts with `{}`", pull.base.branch))),
            Standing::Behind => {}
        }
        let branch = match Pushable::new(&pull, &self.on.head_makers(&pull).await?) {
            Ok(branch) => branch,
            Err(refusal) => return Ok(UpdateEnd::Refused(refusal.to_string())),
        };
        if self.on.dry {
            return Ok(UpdateEnd::Refused("this is a rehearsal".into()));
        }
        match self.on.forge.update_branch(&branch).await {
            Ok(()) => self.after_update(number, head, None).await,
            Err(fault) if fault.is_uncertain() => self.after_update(number, head, Some(fault)).await,
            Err(fault) if fault.may_pass() => Err(fault.into()),
            Err(fault) => {
                let now = self.on.forge.pull(number).await?;
                if now.head.sha != *head {
                    return self.moved(&now, head).await;
                }
                Ok(match self.standing(&now).await? {
                    Standing::Conflict => UpdateEnd::Conflict(fault.to_string()),
                    Standing::UpToDate | Standing::Behind => UpdateEnd::Refused(fault.to_string()),
                })
            }
        }
    }

    /// Some forges only begin it.
    async fn after_update(&self, number: u64, head: &Sha, doubt: Option<ForgeFault>) -> Result<UpdateEnd, EngineError> {
        for pause in PAUSES {
            let pull = self.on.forge.pull(number).await?;
            if pull.head.sha != *head {
                return self.moved(&pull, head).await;
            }
            sleep(pause).await;
        }
        let message = format!("the branch of #{number} is not brought up to date yet");
        Err(doubt.unwrap_or(ForgeFault::Failing { host: self.project.host().to_owned(), status: 202, message }).into())
    }

    /// Another head: what the base added and nothing else, or somebody's push. A branch that was put on top of its base is told by its
    /// change being the same.
    async fn moved(&self, pull: &Pull, before: &Sha) -> Result<UpdateEnd, EngineError> {
        let (repository, before) = (Arc::clone(&self.repository), before.clone());
        let found = self.fetch(pull).await?;
        let (base, head) = found.clone();
        let only_the_base = blocking(move || adds_only_the_base(&repository, &base, &before, &head)).await?.unwrap_or(false);
        Ok(if only_the_base { UpdateEnd::Head(found.1) } else { UpdateEnd::Moved(found.1) })
    }

    async fn standing(&self, pull: &Pull) -> Result<Standing, EngineError> {
        let (base, head) = self.fetch(pull).await?;
        let repository = Arc::clone(&self.repository);
        blocking(move || -> Result<Standing, EngineError> {
            if repository.is_ancestor(&base, &head) {
                return Ok(Standing::UpToDate);
            }
            Ok(if merged_tree(&repository, &base, &head)?.is_some() { Standing::Behind } else { Standing::Conflict })
        })
        .await?
    }

    async fn fetch(&self, pull: &Pull) -> Result<(Sha, Sha), EngineError> {
        let (base, head) = (pull.base.sha.clone(), pull.head.sha.clone());
        if self.kind == ForgeKind::Local {
            return Ok((base, head));
        }
        let (repository, source) = (Arc::clone(&self.repository), self.on.forge.source(pull));
        let fetched = blocking(move || -> Result<(Sha, Sha), GitError> {
            let head = repository.fetch_pull(&source, &base, &head)?.head;
            Ok((repository.fetch_base(&source)?, head))
        });
        Ok(fetched.await??)
    }
}

/// The files that two commits give together; nothing when they conflict.
pub(super) fn merged_tree(repository: &Repository, ours: &Sha, theirs: &Sha) -> Result<Option<Sha>, GitError> {
    let parted = repository.merge_base(ours, theirs, "base", "head")?;
    repository.bring_changed(&parted, ours)?;
    repository.bring_changed(&parted, theirs)?;
    let nobody = Signature { name: "tribunal".into(), email: "tribunal@localhost".into() };
    match Merger::trial(repository, nobody)?.tree(ours, theirs) {
        Ok(tree) => Ok(Some(tree)),
        Err(MergeError::Git(error)) => Err(error),
        Err(MergeError::Conflicts(_) | MergeError::Replay { .. } | MergeError::TooMany(_)) => Ok(None),
    }
}

/// Is the new head what the old one and its base give together, byte for byte? However the forge brought them together, by a merge or
/// by a rebase, the files are the same.
fn adds_only_the_base(repository: &Repository, base: &Sha, before: &Sha, after: &Sha) -> Result<bool, GitError> {
    if !repository.has(before) || !repository.is_ancestor(base, after) {
        return Ok(false);
    }
    Ok(merged_tree(repository, base, before)?.is_some_and(|tree| repository.tree_of(after).is_ok_and(|new| new == tree)))
}
