//! Why the local forge did not do something, in its own words; and the same in those that all forges share.

use super::book::BookFault;
use crate::git::GitError;
use crate::git::merge::MergeError;
use crate::git::write::MoveError;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::pull::desk::act::Refusal;
use tribunal_core::pull::fault::ForgeFault;

pub const HOST: &str = "the local forge";

#[derive(Debug, thiserror::Error)]
pub enum LocalFault {
    #[error("there is no {what} #{number} here")]
    NoSuch { what: &'static str, number: u64 },
    #[error("#{number}: {refusal}")]
    Refused { number: u64, refusal: Refusal },
    #[error("{0}")]
    Malformed(Refusal),
    #[error("`{0}` cannot be the name of a branch")]
    BadName(String),
    #[error("there is no branch `{0}` here")]
    NoBranch(String),
    #[error("branch `{branch}` of #{number} is gone; it was last seen at {}", .last.short())]
    Gone { number: u64, branch: String, last: Sha },
    #[error("`{0}` cannot be merged into itself")]
    SameBranch(String),
    #[error("`{head}` has no commit that `{base}` does not have")]
    NothingNew { head: String, base: String },
    #[error("#{number} is open for `{head}` into `{base}` already")]
    AlreadyOpen { number: u64, head: String, base: String },
    #[error("{path}:{line}: {why}")]
    BadSpot { path: String, line: u32, why: &'static str },
    #[error("{} is no commit here", .0.short())]
    NoCommit(Sha),
    #[error("#{number} cannot be merged: {problem}")]
    Unmergeable { number: u64, problem: MergeError },
    #[error("{0}")]
    NotMoved(MoveError),
    #[error("the record of #{number} cannot be read: {problem}")]
    Unreadable { number: u64, problem: String },
    #[error("too many others are writing at the same time")]
    Contended,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("the ledger could not be read or written: {0}")]
    Book(#[from] BookFault),
}

impl LocalFault {
    /// Files that stand in the way of a merge.
    pub fn conflicts(&self) -> &[RepoPath] {
        match self {
            LocalFault::Unmergeable { problem: MergeError::Conflicts(paths) | MergeError::Replay { paths, .. }, .. } => paths,
            _ => &[],
        }
    }
}

impl From<MoveError> for LocalFault {
    fn from(error: MoveError) -> Self {
        match error {
            MoveError::Git(error) => LocalFault::Git(error),
            other => LocalFault::NotMoved(other),
        }
    }
}

impl From<LocalFault> for ForgeFault {
    fn from(fault: LocalFault) -> Self {
        let (host, message) = (HOST.to_owned(), fault.to_string());
        match fault {
            LocalFault::NoSuch { what, number } => ForgeFault::NotFound { host, what: format!("{what} #{number}") },
            LocalFault::Refused { refusal: Refusal::Unknown { what, id }, number } => {
                ForgeFault::NotFound { host, what: format!("{what} {id} of #{number}") }
            }
            LocalFault::NoCommit(sha) => ForgeFault::NotFound { host, what: format!("commit {}", sha.short()) },
            LocalFault::Refused { refusal: Refusal::NotYours { .. }, .. } => ForgeFault::Forbidden { host, needs: None, message },
            LocalFault::Refused { refusal: Refusal::HeadMoved { .. }, .. }
            | LocalFault::Unmergeable { problem: MergeError::Conflicts(_) | MergeError::Replay { .. }, .. }
            | LocalFault::NotMoved(_)
            | LocalFault::AlreadyOpen { .. } => ForgeFault::Conflict { host, message },
            LocalFault::Refused { refusal: Refusal::NotOpen(_) | Refusal::Draft, .. } => {
                ForgeFault::Refused { host, status: 405, message }
            }
            LocalFault::Refused { .. }
            | LocalFault::Malformed(_)
            | LocalFault::BadName(_)
            | LocalFault::NoBranch(_)
            | LocalFault::Gone { .. }
            | LocalFault::SameBranch(_)
            | LocalFault::NothingNew { .. }
            | LocalFault::BadSpot { .. }
            | LocalFault::Unmergeable { .. } => ForgeFault::Refused { host, status: 422, message },
            LocalFault::Unreadable { .. } => ForgeFault::Hollow { host, message },
            LocalFault::Contended => ForgeFault::Limited { host, seconds: Some(1) },
            LocalFault::Git(_) => ForgeFault::Failing { host, status: 500, message },
            // SQLite answers a failed commit with a failed commit; what it says was not done was not done.
            LocalFault::Book(_) => ForgeFault::Unreachable { host, message },
        }
    }
}
