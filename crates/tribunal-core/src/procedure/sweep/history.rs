//! The files of a loop: budget and history (SL sections 18 and 22). They are exports of the ledger in a documented form, and imports
//! with `--resume` (CF-8). A file that lacks a field is refused by its name, never mended (SL-128).

use crate::calendar::millis_of;
use crate::call::money::Money;
use crate::combine::verdict::Verdict;
use crate::gate::Choice;
use crate::ids::{RunId, Sha};
use crate::publish::visible::visible_line;
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
    /// The run that began the loop.
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
    /// The run that began the loop: a `stop` binds no other one (SL-136).
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
    /// The run that began it: its lines go on under this name.
    pub run: Option<RunId>,
    /// Ticks so far.
    pub ticks: u32,
    pub budget: BudgetFile,
    pub pulls: BTreeMap<u64, TrackedLine>,
    /// The gate that ended that run, and its iteration.
    pub stopped: Option<(String, u32)>,
}

/// Why a file of a loop is not read. The line names what is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}; it is not mended, look at it or remove it")]
pub struct BadFile {
    pub what: String,
    pub problem: String,
}

impl BudgetFile {
    /// Whole, or not at all (SL-128).
    pub fn read(text: &str) -> Result<Self, BadFile> {
        let bad = |problem: String| BadFile { what: "the budget file".into(), problem };
        let file: BudgetFile = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        file.checked().map_err(bad)
    }

    fn checked(self) -> Result<Self, String> {
        if millis_of(&self.started_at).is_none() {
            return Err(format!("`started_at` is no moment: {}", visible_line(&self.started_at)));
        }
        for (field, dollars) in [("max_dollars", self.max_dollars), ("dollars_estimate", self.dollars_estimate)] {
            if Money::from_dollars(dollars).is_none() {
                return Err(format!("`{field}` is no amount of dollars: {dollars}"));
            }
        }
        match self.prs_touched.iter().find(|name| name.strip_prefix('#').is_none_or(|digits| digits.parse::<u64>().is_err())) {
            Some(name) => Err(format!("`prs_touched` names {}, which is no pull request", visible_line(name))),
            None => Ok(self),
        }
    }
}

/// What the last run of a history left. Skipped ticks say nothing (SL-153); the budget file, where there is one, has the ceilings.
pub fn carry(budget: Option<&str>, history: &str) -> Result<Carried, BadFile> {
    let mut lines: Vec<HistoryLine> = Vec::new();
    for (place, text) in history.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let bad = |problem: String| BadFile { what: format!("line {} of the history", place + 1), problem };
        let line: HistoryLine = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        line.budget_snapshot.clone().checked().map_err(bad)?;
        lines.push(line);
    }
    let worked = |line: &&HistoryLine| line.outcome != TickOutcome::SkippedLock;
    let Some(newest) = lines.iter().rfind(worked) else {
        return Err(BadFile { what: "the history".into(), problem: "there is no tick to go on from".into() });
    };
    let budget = match budget {
        Some(text) => BudgetFile::read(text)?,
        None => newest.budget_snapshot.clone(),
    };
    let of_run = lines.iter().filter(worked).filter(|line| line.run == newest.run);
    let mut pulls = BTreeMap::new();
    for tracked in of_run.clone().flat_map(|line| &line.tracked_prs) {
        pulls.insert(tracked.number, tracked.clone());
    }
    let stopped = of_run.flat_map(|line| line.gates.iter().map(|gate| (gate, line.iteration)));
    let stopped =
        stopped.filter(|(gate, _)| is_stop(&gate.answer)).map(|(gate, iteration)| (gate.name.clone(), iteration)).next_back();
    let ticks = lines.iter().filter(|line| line.run == newest.run).filter_map(|line| line.tick).max().unwrap_or(0);
    Ok(Carried { run: newest.run.clone(), ticks, budget, pulls, stopped })
}

/// What `stop` looks like in a file.
fn is_stop(answer: &str) -> bool {
    answer.trim().to_ascii_lowercase().parse() == Ok(Choice::Stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> serde_json::Value {
        serde_json::json!({
            "started_at": "2026-11-16T07:30:00.000Z", "max_iterations": 5, "max_prs": 20, "max_minutes": 60, "max_dollars": 25.0,
            "iterations_used": 2, "prs_touched": ["#7"], "comments_pushed": 3, "merges_attempted": 1, "minutes_elapsed": 9,
            "tokens_in": 10, "tokens_out": 4, "agents_dispatched": 2, "dollars_estimate": 0.5,
            "rate_table_source": "built-in default", "qmd_failures_consecutive": 0
        })
    }

    fn line(iteration: u32, outcome: &str, head: &str, gates: serde_json::Value, run: &str) -> String {
        let tracked = if outcome == "skipped_lock" {
            serde_json::json!([])
        } else {
            serde_json::json!([{ "number": 7, "branch": "cart", "head_sha_at_iteration_start": "a", "head_sha_at_iteration_end": head,
                "state_at_end": "open" }])
        };
        serde_json::json!({
            "iteration": iteration, "skill": "review", "started_at": "2026-11-16T07:30:00Z", "ended_at": "2026-11-16T07:31:00Z",
            "outcome": outcome, "prs_touched_this_iter": [], "agents_dispatched_this_iter": 0, "tokens_in_this_iter": 0,
            "tokens_out_this_iter": 0, "dollars_this_iter": 0.0, "budget_snapshot": budget(), "tracked_prs": tracked,
            "active_worktrees": [], "gates": gates, "stop_conditions_fired": [], "run": run
        })
        .to_string()
    }

    /// SL-127, SL-128: sixteen fields, and the one that is missing is named.
    #[test]
    fn a_missing_field_is_named() {
        assert_eq!(BudgetFile::read(&budget().to_string()).unwrap().iterations_used, 2);
        let fields: Vec<String> = budget().as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields.len(), 16);
        for field in fields {
            let mut file = budget();
            file.as_object_mut().unwrap().remove(&field);
            let problem = BudgetFile::read(&file.to_string()).unwrap_err().to_string();
            assert!(problem.contains(&format!("`{field}`")) && !problem.contains('\n'), "{problem}");
        }
        for (field, value) in [
            ("started_at", serde_json::json!("yesterday")),
            ("max_dollars", serde_json::json!(-1)),
            ("prs_touched", serde_json::json!(["7"])),
            ("max_prs", serde_json::json!("many")),
        ] {
            let mut file = budget();
            file[field] = value;
            assert!(BudgetFile::read(&file.to_string()).is_err(), "{field}");
        }
    }

    /// SL-120: whoever reads tolerates more fields than it knows.
    #[test]
    fn more_fields_are_no_matter() {
        let mut file = budget();
        file["note"] = serde_json::json!("mine");
        assert!(BudgetFile::read(&file.to_string()).is_ok());
    }

    /// SL-153: a skipped tick says nothing of pull requests; the newest one that worked does.
    #[test]
    fn the_newest_line_that_worked_counts() {
        let none = serde_json::json!([]);
        let history = [
            line(1, "ok", "aaa", none.clone(), "r"),
            line(2, "ok", "bbb", none.clone(), "r"),
            line(3, "skipped_lock", "", none, "r"),
        ]
        .join("\n");
        let carried = carry(None, &history).unwrap();
        assert_eq!(carried.pulls[&7].head_sha_at_iteration_end.as_str(), "bbb");
        assert!(carry(None, "").is_err());
        assert!(carry(None, "{}").unwrap_err().to_string().contains("line 1 of the history"));
    }

    /// SL-134 #10, SL-136: a `stop` binds the run that it was said in, and no other one.
    #[test]
    fn a_stop_binds_its_own_run() {
        let stop =
            serde_json::json!([{ "name": "budget-escalation", "question": "?", "answer": "stop", "at": "2026-11-16T07:30:00Z" }]);
        let first = line(4, "halted", "aaa", stop, "first");
        assert_eq!(carry(None, &first).unwrap().stopped, Some(("budget-escalation".into(), 4)));
        let both = format!("{first}\n{}", line(1, "ok", "aaa", serde_json::json!([]), "second"));
        assert_eq!(carry(None, &both).unwrap().stopped, None);
    }

    /// SL-129: the file's ceilings, which a `raise` has moved, and not those of the line.
    #[test]
    fn the_budget_file_has_the_ceilings() {
        let mut file = budget();
        file["max_iterations"] = serde_json::json!(9);
        let history = line(1, "ok", "aaa", serde_json::json!([]), "r");
        assert_eq!(carry(Some(&file.to_string()), &history).unwrap().budget.max_iterations, 9);
        assert_eq!(carry(None, &history).unwrap().budget.max_iterations, 5);
    }
}
