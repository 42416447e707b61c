//! What a tick of a loop writes into its files (SL-127, SL-150).

use super::State;
use super::history::{BudgetFile, GateLine, HistoryLine, ReviewedLine, TickOutcome, TrackedLine};
use super::lock::Skill;
use super::request::Ceilings;
use super::stops::minutes_since;
use super::tick::Tick;
use super::tour::{Asked, Tour, Tracked};
use crate::calendar::rfc3339;
use crate::procedure::Millis;
use crate::publish::visible::visible_line;
use regex::Regex;

const STRUCK_OUT: &str = "[redacted]";

pub fn budget(state: &State, now: Millis) -> BudgetFile {
    let tour = &state.tour;
    let Ceilings { iterations, pulls, minutes, dollars, .. } =
        tour.ceilings.unwrap_or(Ceilings { iterations: 0, pulls: 0, minutes: 0, dollars: None, dollars_set: false });
    BudgetFile {
        started_at: rfc3339(state.started_at),
        max_iterations: iterations,
        max_prs: pulls,
        max_minutes: minutes,
        max_dollars: dollars.map_or(0.0, |money| money.dollars()),
        iterations_used: tour.iterations,
        prs_touched: names(tour.touched.iter()),
        comments_pushed: tour.purse.comments,
        merges_attempted: tour.purse.merges,
        minutes_elapsed: minutes_since(state.started_at, now),
        tokens_in: tour.purse.tokens_in,
        tokens_out: tour.purse.tokens_out,
        agents_dispatched: tour.purse.agents,
        dollars_estimate: tour.purse.spent.dollars(),
        rate_table_source: state.request.looping().map(|looping| looping.rates.clone()).unwrap_or_default(),
        qmd_failures_consecutive: tour.index_failures,
        run: Some(Tour::loop_name(&state.request)),
    }
}

/// `tick`: nothing when it was skipped. Such a line has no deltas, and says nothing of any pull request (SL-153).
pub fn line(state: &State, tick: Option<&Tick>, outcome: TickOutcome, now: Millis) -> HistoryLine {
    let tour = &state.tour;
    let took = tick.map(|tick| tour.purse.since(&tick.purse)).unwrap_or_default();
    let numbers = tick.into_iter().flat_map(|tick| tick.rounds.keys());
    let tracked = numbers.clone().filter_map(|number| tour.pulls.get(number)).map(tracked_line);
    let worked = tick.into_iter().flat_map(|tick| tick.lanes.iter().flat_map(|lane| &lane.given));
    let mut worked: Vec<u64> = worked.copied().filter(|number| tour.touched.contains(number)).collect();
    worked.sort_unstable();
    let redact = state.request.looping().map(|looping| looping.redact.as_slice()).unwrap_or_default();
    let asked = tour.gates.iter().filter(|asked| asked.tick == tour.ticks);
    HistoryLine {
        iteration: if tick.is_some() { tour.iterations } else { tour.iterations + 1 },
        skill: Skill::Review,
        started_at: rfc3339(tick.map_or(now, |tick| tick.started_at)),
        ended_at: rfc3339(now),
        outcome,
        prs_touched_this_iter: names(worked.iter()),
        agents_dispatched_this_iter: took.agents,
        tokens_in_this_iter: took.tokens_in,
        tokens_out_this_iter: took.tokens_out,
        dollars_this_iter: took.spent.dollars(),
        budget_snapshot: budget(state, now),
        tracked_prs: tracked.collect(),
        active_worktrees: Vec::new(),
        gates: asked.map(|asked| gate_line(asked, redact)).collect(),
        stop_conditions_fired: tour.stops.iter().map(|stop| stop.name().to_owned()).collect(),
        run: Some(Tour::loop_name(&state.request)),
        tick: Some(tour.ticks),
    }
}

fn names<'a>(numbers: impl Iterator<Item = &'a u64>) -> Vec<String> {
    numbers.map(|number| format!("#{number}")).collect()
}

fn tracked_line(tracked: &Tracked) -> TrackedLine {
    let reviewed = tracked
        .completed
        .as_ref()
        .map(|completed| ReviewedLine { head_sha: completed.review.head.clone(), verdict: completed.review.verdict });
    TrackedLine {
        number: tracked.found.number,
        branch: tracked.found.branch.clone(),
        head_sha_at_iteration_start: tracked.head_at_start.clone(),
        head_sha_at_iteration_end: tracked.head.clone(),
        state_at_end: tracked.state,
        reviewed,
    }
}

fn gate_line(asked: &Asked, redact: &[String]) -> GateLine {
    let answer = match asked.answer.words.as_str() {
        "" => asked.answer.choice.word(),
        words => words,
    };
    GateLine {
        name: asked.gate.name.word().to_owned(),
        question: redacted(&asked.gate.question, redact),
        // What was chosen stays readable whatever was said with it: a `stop` binds.
        answer: if answer == asked.answer.choice.word() { answer.to_owned() } else { redacted(answer, redact) },
        at: rfc3339(asked.answer.at),
    }
}

/// SL-155: said once, when the file is made.
pub fn secret(file: &str) -> String {
    format!("{} is new. It holds what was asked and answered: treat it as a secret, and commit it nowhere.", visible_line(file))
}

/// SL-155. A pattern that cannot be read strikes out everything.
pub fn redacted(text: &str, patterns: &[String]) -> String {
    patterns.iter().fold(text.to_owned(), |text, pattern| match Regex::new(pattern) {
        Ok(pattern) => pattern.replace_all(&text, STRUCK_OUT).into_owned(),
        Err(_) => STRUCK_OUT.to_owned(),
    })
}
