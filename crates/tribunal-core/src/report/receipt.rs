//! The receipt: which head was read, how much of it, by whom, under which rules, and what came out. Without one there is no
//! green (design rule 1).

use crate::combine::verdict::{Outcome, Verdict};
use crate::diff::change::FileStatus;
use crate::findings::admit::DropReason;
use crate::ids::{AgentName, RepoPath, RoleName, RunId, Sha};
use crate::plan::files::{Disposition, FileSummary, SkipReason};
use crate::plan::mode::{Mode, Widening};
use crate::plan::panel::NotCalled;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    pub version: u32,
    pub run: RunId,
    pub engine: String,
    pub base: Sha,
    pub head: Sha,
    /// What a person calls base and head: branch names, `working tree`, a file.
    pub subject: String,
    pub mode: Mode,
    /// The head of the last review, in an incremental one.
    pub since: Option<Sha>,
    pub widened: Option<Widening>,
    /// Config, rules, roles, inputs and engine, hashed: another value means another review.
    pub fingerprint: String,
    pub seats: Vec<SeatReceipt>,
    pub not_called: Vec<NotCalled>,
    pub coverage: Coverage,
    pub dropped: BTreeMap<DropReason, u32>,
    pub outcome: Outcome,
    pub verdict: Option<Verdict>,
    /// Milliseconds since 1970-01-01 UTC.
    pub started_at: u64,
    pub finished_at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatReceipt {
    pub role: RoleName,
    pub agent: AgentName,
    /// `rules`, `command`, `sarif`.
    pub kind: String,
    pub prompt_hash: String,
    pub state: SeatState,
    pub findings: u32,
    pub dropped: u32,
    pub cost: Cost,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeatState {
    Ok,
    Failed { reason: String },
    TimedOut { after_seconds: u64 },
}

/// Money spent. What is not known is never written as nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Runs on this machine and costs nothing.
    Free,
    /// A program that may call a model; it does not say what that costs.
    Unknown,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub files: u32,
    pub reviewed: u32,
    pub lines_only: u32,
    pub unchanged: u32,
    pub skipped: u32,
    /// To be read, but no reviewer that answered has read it.
    #[serde(default)]
    pub unread: u32,
    pub added_lines: u64,
    pub removed_lines: u64,
    pub accounts: Vec<FileAccount>,
}

/// How one file of the diff ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileAccount {
    pub path: RepoPath,
    pub status: FileStatus,
    pub ended: FileEnd,
    pub added: u32,
    pub removed: u32,
    /// How closely the built-in rules could look: `syntax` or `lines`. Absent when they did not look.
    pub rules_depth: Option<RulesDepth>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileEnd {
    Reviewed,
    /// Its added lines were checked; its code was written by a tool.
    LinesOnly,
    /// Read by the last review and not changed since.
    Unchanged,
    Skipped(SkipReason),
    /// Every reviewer that was given it failed, or said that it could not read it.
    Unread,
}

/// What those that answered could look at. A reviewer that failed has read nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Somebody was given the file and did not say that he could not read it.
    pub whole: bool,
    /// The rules have looked, which alone are given the lines of generated files.
    pub lines: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RulesDepth {
    Lines,
    Syntax,
}

impl FileEnd {
    /// Should have been read, and was not.
    pub fn is_missing(&self) -> bool {
        match self {
            FileEnd::Unread => true,
            FileEnd::Skipped(reason) => reason.is_hole(),
            FileEnd::Reviewed | FileEnd::LinesOnly | FileEnd::Unchanged => false,
        }
    }
}

impl Coverage {
    pub fn new(accounts: Vec<FileAccount>) -> Self {
        let count = |holds: fn(&FileEnd) -> bool| accounts.iter().filter(|account| holds(&account.ended)).count() as u32;
        Coverage {
            files: accounts.len() as u32,
            reviewed: count(|end| matches!(end, FileEnd::Reviewed)),
            lines_only: count(|end| matches!(end, FileEnd::LinesOnly)),
            unchanged: count(|end| matches!(end, FileEnd::Unchanged)),
            skipped: count(|end| matches!(end, FileEnd::Skipped(_))),
            unread: count(|end| matches!(end, FileEnd::Unread)),
            added_lines: accounts.iter().map(|account| u64::from(account.added)).sum(),
            removed_lines: accounts.iter().map(|account| u64::from(account.removed)).sum(),
            accounts,
        }
    }

    /// Is there a file that should have been read and was not?
    pub fn has_hole(&self) -> bool {
        self.holes().next().is_some()
    }

    pub fn holes(&self) -> impl Iterator<Item = &FileAccount> {
        self.accounts.iter().filter(|account| matches!(account.ended, FileEnd::Skipped(reason) if reason.is_hole()))
    }
}

impl Receipt {
    /// Did anybody answer? If not there was no review, whatever was planned (PR-7).
    pub fn is_of_a_review(&self) -> bool {
        self.seats.iter().any(|seat| seat.state == SeatState::Ok)
    }
}

pub fn account(
    file: &FileSummary,
    disposition: Disposition,
    in_scope: bool,
    read: Read,
    rules_depth: Option<RulesDepth>,
) -> FileAccount {
    let ended = match disposition {
        Disposition::Skip(reason) => FileEnd::Skipped(reason),
        Disposition::Review | Disposition::LinesOnly if !in_scope => FileEnd::Unchanged,
        Disposition::Review if read.whole => FileEnd::Reviewed,
        Disposition::LinesOnly if read.lines => FileEnd::LinesOnly,
        Disposition::LinesOnly if read.whole => FileEnd::Skipped(SkipReason::Generated),
        Disposition::Review | Disposition::LinesOnly => FileEnd::Unread,
    };
    FileAccount { path: file.path.clone(), status: file.status, ended, added: file.added, removed: file.removed, rules_depth }
}
