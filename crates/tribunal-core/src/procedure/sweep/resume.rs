//! What `--resume` takes from the files of an earlier run (SL-157).

use super::history::{BudgetFile, Carried, HistoryLine, TickOutcome, TrackedLine, is_stop};
use std::collections::BTreeMap;

impl Carried {
    /// Lines are oldest first. Of each pull request the newest entry counts, whichever line holds it: a tick that was skipped has
    /// none (SL-153). Answers are for the record, save for a `stop`, which ends the run that it was given in (SL-136).
    pub fn of(budget: BudgetFile, lines: &[HistoryLine]) -> Carried {
        let worked = |line: &&HistoryLine| line.outcome != TickOutcome::SkippedLock;
        let newest = lines.iter().rev().find(worked);
        let run = budget.run.clone().or_else(|| newest.and_then(|line| line.run.clone()));
        let of_run = || lines.iter().filter(|line| line.run == run);
        let mut pulls: BTreeMap<u64, TrackedLine> = BTreeMap::new();
        for line in of_run() {
            pulls.extend(line.tracked_prs.iter().map(|tracked| (tracked.number, tracked.clone())));
        }
        let stops = of_run().rev().flat_map(|line| line.gates.iter().map(move |gate| (gate, line.iteration)));
        let stopped =
            stops.filter(|(gate, _)| is_stop(&gate.answer)).map(|(gate, iteration)| (gate.name.clone(), iteration)).next();
        let iteration = of_run().filter(worked).map(|line| line.iteration).max().unwrap_or(budget.iterations_used);
        Carried { run, budget, iteration, pulls, stopped }
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::GateLine;
    use super::super::lock::Skill;
    use super::*;
    use crate::ids::RunId;
    use crate::pull::facts::PullState;

    fn budget(run: Option<&str>) -> BudgetFile {
        let text = r##"{"started_at": "2026-11-17T12:00:00Z", "max_iterations": 5, "max_prs": 20, "max_minutes": 60, "max_dollars": 25.0,
            "iterations_used": 2, "prs_touched": ["#7"], "comments_pushed": 1, "merges_attempted": 0, "minutes_elapsed": 3,
            "tokens_in": 1, "tokens_out": 1, "agents_dispatched": 1, "dollars_estimate": 0.5, "rate_table_source": "built-in default",
            "qmd_failures_consecutive": 0}"##;
        BudgetFile { run: run.map(RunId::from), ..serde_json::from_str(text).unwrap() }
    }

    fn line(run: &str, iteration: u32, pulls: &[(u64, &str)], answer: Option<&str>) -> HistoryLine {
        let tracked = |(number, head): &(u64, &str)| TrackedLine {
            number: *number,
            branch: "b".into(),
            head_sha_at_iteration_start: (*head).into(),
            head_sha_at_iteration_end: (*head).into(),
            state_at_end: PullState::Open,
            reviewed: None,
        };
        let gate = |answer: &&str| GateLine {
            name: "budget-escalation".into(),
            question: "?".into(),
            answer: (**answer).into(),
            at: String::new(),
        };
        HistoryLine {
            iteration,
            skill: Skill::Review,
            started_at: String::new(),
            ended_at: String::new(),
            outcome: if pulls.is_empty() { TickOutcome::SkippedLock } else { TickOutcome::Ok },
            prs_touched_this_iter: vec![],
            agents_dispatched_this_iter: 0,
            tokens_in_this_iter: 0,
            tokens_out_this_iter: 0,
            dollars_this_iter: 0.0,
            budget_snapshot: budget(None),
            tracked_prs: pulls.iter().map(tracked).collect(),
            active_worktrees: vec![],
            gates: answer.iter().map(gate).collect(),
            stop_conditions_fired: vec![],
            run: Some(run.into()),
            tick: Some(iteration),
        }
    }

    /// SL-153, SL-157: the newest entry of each pull request, not the newest line.
    #[test]
    fn a_skipped_tick_hides_nothing() {
        let lines = [line("a", 1, &[(7, "1"), (8, "1")], None), line("a", 2, &[(7, "2")], None), line("a", 2, &[], None)];
        let carried = Carried::of(budget(Some("a")), &lines);
        let heads: Vec<(u64, &str)> =
            carried.pulls.values().map(|line| (line.number, line.head_sha_at_iteration_end.as_str())).collect();
        assert_eq!(heads, [(7, "2"), (8, "1")]);
        assert_eq!((carried.iteration, carried.stopped), (2, None));
    }

    /// SL-136: a `stop` binds the run that it was given in, and no other.
    #[test]
    fn a_stop_binds_its_own_run() {
        let lines = [line("a", 1, &[(7, "1")], Some("stop")), line("b", 1, &[(7, "1")], Some("continue"))];
        assert_eq!(Carried::of(budget(Some("b")), &lines).stopped, None);
        assert_eq!(Carried::of(budget(Some("a")), &lines).stopped, Some(("budget-escalation".into(), 1)));
    }

    /// SL-128: what lacks a field is refused by its name.
    #[test]
    fn a_missing_field_is_named() {
        let mut value = serde_json::to_value(budget(None)).unwrap();
        value.as_object_mut().unwrap().remove("max_prs");
        let error = serde_json::from_value::<BudgetFile>(value).unwrap_err().to_string();
        assert!(error.contains("max_prs"), "{error}");
    }
}
