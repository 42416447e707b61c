//! The files of a loop: budget and history (SL sections 18 and 22). They are exports of the ledger in a documented form, and imports
//! with `--resume` (CF-8). A file that lacks a field is refused by its name, never mended (SL-128).

use crate::combine::verdict::Verdict;
use crate::gate::Choice;
use crate::ids::{RunId, Sha};
use crate::pull::facts::PullState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `review.budget.json`: all sixteen fields on every write (SL-127).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal sweep budget, version 1")]
pub struct BudgetFile {
    pub started_at: String,
    pub max_iterations: u32,
    pub max_prs: u32,
    pub max_minutes: u64,
    /// 0: no ceiling.
    pub max_dollars: f64,
    pub iterations_used: u32,
    /// `#7`, each once, by number (SL-131).
    pub prs_touched: Vec<String>,
    pub comments_pushed: u32,
    pub merges_attempted: u32,
    pub minutes_elapsed: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub agents_dispatched: u32,
    pub dollars_estimate: f64,
    pub rate_table_source: String,
    pub qmd_failures_consecutive: u32,
    /// The run that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TickOutcome {
    Ok,
    Halted,
    SkippedLock,
    Errored,
}

/// One line of `review.history.jsonl`, one for each tick (SL-150).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal sweep history line, version 1")]
pub struct HistoryLine {
    pub iteration: u32,
    pub skill: super::lock::Skill,
    pub started_at: String,
    pub ended_at: String,
    pub outcome: TickOutcome,
    pub prs_touched_this_iter: Vec<String>,
    pub agents_dispatched_this_iter: u32,
    pub tokens_in_this_iter: u64,
    pub tokens_out_this_iter: u64,
    pub dollars_this_iter: f64,
    pub budget_snapshot: BudgetFile,
    pub tracked_prs: Vec<TrackedLine>,
    pub active_worktrees: Vec<WorktreeLine>,
    pub gates: Vec<GateLine>,
    pub stop_conditions_fired: Vec<String>,
    /// The run that wrote it: a `stop` binds no other one (SL-136).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Ticks of that run, skipped ones counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrackedLine {
    pub number: u64,
    pub branch: String,
    pub head_sha_at_iteration_start: Sha,
    pub head_sha_at_iteration_end: Sha,
    pub state_at_end: PullState,
    /// The head whose review was completed, and what it came to (SL-147).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<ReviewedLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewedLine {
    pub head_sha: Sha,
    pub verdict: Verdict,
}

/// Fixes are made in a clone of our own, so the list of these is empty; others' files may hold some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeLine {
    pub path: String,
    pub branch: String,
    pub head_sha: Sha,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateLine {
    pub name: String,
    pub question: String,
    pub answer: String,
    pub at: String,
}

/// What an earlier run left, read from its files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    pub run: Option<RunId>,
    pub budget: BudgetFile,
    pub iteration: u32,
    pub pulls: BTreeMap<u64, TrackedLine>,
    /// The gate that ended that run, and its iteration.
    pub stopped: Option<(String, u32)>,
}

/// What `stop` looks like in a file.
pub fn is_stop(answer: &str) -> bool {
    answer.parse() == Ok(Choice::Stop)
}
