//! Moving branches, and who is said to have done it.
//!
//! A branch moves only from where it was seen to where it shall be: git compares and swaps, and whoever was late learns it. Hooks
//! stay off, as everywhere.

use super::class::{Class, Git, UntrustedTree};
use super::work_tree::Standing;
use super::{GitError, Repository};
use std::fs::File;
use std::path::PathBuf;
use tribunal_core::ids::{RepoPath, Sha};

/// A name as commits carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub email: String,
}

impl Signature {
    pub(super) fn commits<C: Class>(&self, git: Git<C>) -> Git<C> {
        git.env("GIT_COMMITTER_NAME", &self.name).env("GIT_COMMITTER_EMAIL", &self.email)
    }

    pub(super) fn writes<C: Class>(&self, git: Git<C>) -> Git<C> {
        git.env("GIT_AUTHOR_NAME", &self.name).env("GIT_AUTHOR_EMAIL", &self.email)
    }
}

/// Why a branch was not moved. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error("branch `{0}` has moved meanwhile")]
    Moved(String),
    #[error("{} has changes that are not committed: {}", .work_tree.display(), super::named(.paths))]
    Dirty { work_tree: PathBuf, paths: Vec<RepoPath> },
    #[error("files in {} that git does not know would be overwritten: {}", .work_tree.display(), super::named(.paths))]
    InTheWay { work_tree: PathBuf, paths: Vec<RepoPath> },
    #[error("{} is in the middle of a {what}", .work_tree.display())]
    Busy { work_tree: PathBuf, what: &'static str },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Repository {
    /// Who the person is to git: the environment first, as git has it, then the configuration.
    pub fn signature(&self) -> Option<Signature> {
        let ask = |variable: &str, key: &str| {
            let given = std::env::var(variable).ok().filter(|value| !value.trim().is_empty());
            given.or_else(|| self.identity(key))
        };
        let email = ask("GIT_AUTHOR_EMAIL", "user.email")?.trim().to_owned();
        let local_part = email.split('@').next().unwrap_or(&email).to_owned();
        let name = ask("GIT_AUTHOR_NAME", "user.name").map_or(local_part, |name| name.trim().to_owned());
        Some(Signature { name, email })
    }

    /// Moves a branch from one commit to another. Where it is checked out, index and files go along, and only if no work is lost by it.
    pub fn move_branch(&self, branch: &str, old: &Sha, new: &Sha, by: &Signature, why: &str) -> Result<(), MoveError> {
        // Files are moved by one process at a time; the lock goes when its holder does, however that ends.
        let _turn = self.turn()?;
        // A log that is a link would have lines appended to whatever it leads to.
        let full = format!("refs/heads/{branch}");
        self.refuse_linked_ref(&full)?;
        self.refuse_links(&["objects"])?;
        if self.branch_tip(branch).as_ref() != Some(old) {
            return Err(MoveError::Moved(branch.to_owned()));
        }
        let standing = self.checked_out(branch, old, new)?;
        let mut updated: Vec<&Standing> = Vec::new();
        let undo = |updated: &[&Standing]| updated.iter().for_each(|standing| standing.go(new, old).unwrap_or_default());
        // The files first: killed between the two, the branch stands where it stood and its files look like the merge, staged. The
        // other way round the next commit would take the merge back.
        for standing in &standing {
            if let Err(error) = standing.go(old, new) {
                undo(&updated);
                return Err(error);
            }
            updated.push(standing);
        }
        let asked = by.commits(self.on_tree(UntrustedTree::UpdateRef)).args(["-m", why]);
        let answer = asked.args([&format!("refs/heads/{branch}"), new.as_str(), old.as_str()]).output(None)?;
        if answer.success {
            return Ok(());
        }
        undo(&updated);
        if self.branch_tip(branch).as_ref() == Some(old) {
            return Err(GitError::Failed { command: "update-ref".into(), message: answer.stderr }.into());
        }
        Err(MoveError::Moved(branch.to_owned()))
    }

    fn turn(&self) -> Result<File, GitError> {
        let path = self.tribunal_dir().join("move.lock");
        let open = || {
            std::fs::create_dir_all(self.tribunal_dir())?;
            let file = File::options().create(true).truncate(false).write(true).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        open().map_err(|source| GitError::Io { what: format!("{} cannot be locked", path.display()), source })
    }

    /// The work trees that a move of this branch would touch, each found fit for it.
    pub fn checked_out(&self, branch: &str, old: &Sha, new: &Sha) -> Result<Vec<Standing>, MoveError> {
        let standing = self.standing_on(branch)?;
        for standing in &standing {
            standing.is_fit(old, new)?;
        }
        Ok(standing)
    }
}
