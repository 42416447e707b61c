//! The plan file (TS-34 to TS-40): what it holds, in the names that other tools know, with what their schema leaves out. It is theirs
//! as much as ours: keys that we do not know stay where they are.

pub mod read;
pub mod spans;
pub mod write;

use crate::combine::verdict::Verdict;
use crate::ids::Sha;
use crate::policy::settle::Level;
use crate::publish::verdict::Assessment;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The name of one task of one plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TaskId {
    fn from(text: &str) -> Self {
        TaskId(text.to_owned())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Plan of tasks, version 1")]
pub struct Plan {
    /// A date and a name.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}-.+$"))]
    pub id: String,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// `owner/name`
    pub repo: String,
    /// The login of whoever ordered the plan: escalations go there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoker: Option<String>,
    /// The level that this plan is settled at, once somebody has said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub automation_level: Option<Level>,
    pub tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    pub id: TaskId,
    pub title: String,
    /// The name of the agent that does it.
    pub specialist: String,
    pub mode: Mode,
    pub status: Status,
    #[serde(default)]
    pub github_issue: Option<u64>,
    #[serde(default)]
    pub github_pr: Option<u64>,
    /// Tasks that must be merged, or have their analysis posted, before.
    #[serde(default)]
    pub depends_on: Vec<TaskId>,
    #[serde(default)]
    pub routing_rationale: Option<String>,
    #[serde(default)]
    pub issue_body: Option<String>,
    /// The issue that this one is a part of.
    #[serde(default)]
    pub board_parent: Option<u64>,
    /// The head that was read by the last review.
    #[serde(default)]
    pub last_reviewed_sha: Option<Sha>,
    /// It is due for a review.
    #[serde(default)]
    pub needs_review: bool,
    /// Which assessment comes next, or was the last; absent counts as 1.
    #[serde(default)]
    pub review_cycle: Option<Cycle>,
    /// The last assessment that was made; absent when there is none.
    #[serde(default)]
    pub assessed: Option<Cycle>,
    /// What it came to.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Why a person must decide.
    #[serde(default)]
    pub escalation: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Doing,
    Advising,
    Researching,
}

/// TS-37, with `REVIEWING`, which the original's schema forgets (TS-40).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Planned,
    Ready,
    Dispatched,
    InProgress,
    AwaitingInput,
    Reviewing,
    Merged,
    Failed,
    Blocked,
    Escalated,
    /// Of older plans, and of tasks that end without a pull request.
    Done,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Planned => "PLANNED",
            Status::Ready => "READY",
            Status::Dispatched => "DISPATCHED",
            Status::InProgress => "IN_PROGRESS",
            Status::AwaitingInput => "AWAITING_INPUT",
            Status::Reviewing => "REVIEWING",
            Status::Merged => "MERGED",
            Status::Failed => "FAILED",
            Status::Blocked => "BLOCKED",
            Status::Escalated => "ESCALATED",
            Status::Done => "DONE",
        }
    }

    /// TS-38.
    pub fn is_terminal(self) -> bool {
        match self {
            Status::Merged | Status::Done | Status::Failed | Status::Escalated => true,
            Status::Planned
            | Status::Ready
            | Status::Dispatched
            | Status::InProgress
            | Status::AwaitingInput
            | Status::Reviewing
            | Status::Blocked => false,
        }
    }

    /// What waits for it may go on.
    pub fn is_done(self) -> bool {
        matches!(self, Status::Merged | Status::Done)
    }
}

/// An assessment as the file counts it: 1 or 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Cycle(pub Assessment);

impl TryFrom<u64> for Cycle {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        match number {
            1 => Ok(Cycle(Assessment::First)),
            2 => Ok(Cycle(Assessment::Second)),
            _ => Err(format!("{number} is neither 1 nor 2")),
        }
    }
}

impl From<Cycle> for u64 {
    fn from(cycle: Cycle) -> u64 {
        u64::from(cycle.0.number())
    }
}

impl JsonSchema for Cycle {
    fn schema_name() -> Cow<'static, str> {
        "Cycle".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": 2 })
    }
}

impl Plan {
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| &task.id == id)
    }

    /// The tasks that this one must wait for: those it depends on, and the one whose issue it is a part of.
    pub fn before(&self, task: &Task) -> Vec<&Task> {
        let parent = task.board_parent.and_then(|parent| self.tasks.iter().find(|other| other.github_issue == Some(parent)));
        let named = task.depends_on.iter().filter_map(|id| self.task(id));
        named.chain(parent).filter(|other| other.id != task.id).collect()
    }
}

#[cfg(test)]
mod tests;
