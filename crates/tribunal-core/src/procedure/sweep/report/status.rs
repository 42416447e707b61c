//! The block that every tick of a loop prints (SL-154).

use super::super::State;
use super::super::history::TickOutcome;
use super::super::stops::minutes_since;
use crate::calendar::rfc3339;
use crate::procedure::Millis;

pub fn block(state: &State, outcome: TickOutcome, now: Millis) -> String {
    let tour = &state.tour;
    let Some(ceilings) = tour.ceilings else { return String::new() };
    let iteration = if outcome == TickOutcome::SkippedLock { tour.iterations + 1 } else { tour.iterations };
    let mut lines =
        vec![format!("Iteration: {iteration}/{}", ceilings.iterations), format!("Started: {}", rfc3339(state.started_at))];
    if let Some(number) = state.request.target.single() {
        let head = tour.pulls.get(&number).map_or("unknown", |tracked| tracked.head.short());
        lines.push(format!("Tracked: PR #{number} at {head}"));
        lines.push(format!("Comments pushed: {}; merges attempted: {}", tour.purse.comments, tour.purse.merges));
    }
    let minutes = ceilings.minutes.saturating_sub(minutes_since(state.started_at, now));
    let mut left =
        vec![format!("{} iterations", ceilings.iterations.saturating_sub(tour.iterations)), format!("{minutes} minutes")];
    if state.request.target.single().is_none() {
        let touched = u32::try_from(tour.touched.len()).unwrap_or(u32::MAX);
        left.push(format!("{} pull requests", ceilings.pulls.saturating_sub(touched)));
    }
    left.push(match ceilings.dollars {
        Some(max) => format!("{} of {max}", max.minus(tour.purse.spent)),
        None => format!("{} spent, no ceiling", tour.purse.spent),
    });
    lines.push(format!("Budget left: {}", left.join(", ")));
    let fired: Vec<&str> = tour.stops.iter().map(|stop| stop.name()).collect();
    lines.push(format!("Stop conditions: {}", if fired.is_empty() { "none".to_owned() } else { fired.join(", ") }));
    let lock = if tour.locked { "lock held" } else { "lock held by another run" };
    lines.push(format!("Concurrency: {} pairs, {lock}", state.request.terms.pairs));
    lines.push(format!("Outcome: {}", word(outcome)));
    lines.push(next(state, now));
    lines.join("\n") + "\n"
}

fn word(outcome: TickOutcome) -> &'static str {
    match outcome {
        TickOutcome::Ok => "ok",
        TickOutcome::Halted => "halted",
        TickOutcome::SkippedLock => "skipped_lock",
        TickOutcome::Errored => "errored",
    }
}

fn next(state: &State, now: Millis) -> String {
    match state.request.looping().filter(|_| !state.tour.is_stopping()) {
        Some(looping) => format!("Next tick: {}", rfc3339(now.saturating_add(looping.every.as_millis()))),
        None => "Loop ended".to_owned(),
    }
}
