//! The report of a run that is over.

use super::State;
use super::export::redacted;
use super::report::{EpicRow, Fired, GateRow, Looped, Report, Row, Status};
use super::request::numbered;
use super::stops::{Stop, minutes_since};
use super::tour::Tour;
use crate::call::money::Money;
use crate::gate::Answerer;
use crate::merge::epic::EpicEnd;
use crate::procedure::Millis;
use crate::remedy::condition::Blocker;
use crate::remedy::ladder::Reason;
use crate::remedy::report::Spending;
use crate::report::receipt::Cost;

/// Which of several exit codes is given: half a review outranks findings, and what may pass outranks only nothing.
const GRAVEST: [u8; 6] = [3, 5, 4, 1, 75, 0];

pub(super) fn report(state: &State, now: Millis) -> Report {
    let tour = &state.tour;
    let rows: Vec<Row> = tour.rows.values().cloned().collect();
    let first = decisive(&tour.stops);
    let (reason, exit_code) = conclusion(tour, first, &rows);
    let pairs = rows.iter().filter_map(|row| row.pair).max().unwrap_or(0);
    let gone = |row: &&Row| !matches!(row.status, Status::Over);
    Report {
        version: 1,
        run: state.request.run.clone(),
        target: state.request.target.words(),
        dry_run: state.request.terms.dry_run,
        reason,
        stop: first.name().to_owned(),
        explanation: first.words(),
        conditions: tour.stops.iter().map(|stop| Fired { name: stop.name().to_owned(), words: stop.words() }).collect(),
        exit_code,
        pairs,
        next_steps: next_steps(state, &rows.iter().filter(gone).collect::<Vec<_>>()),
        pulls: rows,
        epics: tour.epics.iter().map(|(number, end)| epic(*number, end)).collect(),
        looped: looped(state, now),
        notices: tour.notices.clone(),
        spend: spending(state),
    }
}

/// The highest on the ladder; of those that stand alike, the one that came first.
fn decisive(stops: &[Stop]) -> &Stop {
    stops.iter().min_by_key(|stop| stop.reason()).unwrap_or(&Stop::Complete)
}

/// A person's word and a failure of the run speak for themselves; where a ceiling or the end of the set is the reason, the pull
/// requests say how it went, and those that were typed and are not there.
fn conclusion(tour: &Tour, first: &Stop, rows: &[Row]) -> (Reason, u8) {
    if let Some(code) = tour.stops.iter().filter_map(Stop::exit_code).min_by_key(|code| u8::from(*code != 130)) {
        let code = first.exit_code().filter(|_| code != 130).unwrap_or(code);
        return (first.reason(), code);
    }
    let of_missing = tour.missing.iter().map(|_| Blocker::Forge.exit_code());
    let all = rows.iter().map(Row::exit_code).chain(of_missing);
    let code = all.min_by_key(|code| GRAVEST.iter().position(|known| known == code)).unwrap_or(0);
    match first {
        // What is a person's is a person's; anything else the ceiling kept from being done.
        stop if stop.is_budget() => (stop.reason(), if code <= 1 { code } else { 4 }),
        _ if code == 0 => (Reason::Clean, 0),
        _ => (Reason::PassComplete, code),
    }
}

fn epic(number: u64, end: &EpicEnd) -> EpicRow {
    let (closed, words) = match end {
        EpicEnd::Close { comment, .. } => (true, comment.clone()),
        EpicEnd::Closed => (true, "it was closed before".to_owned()),
        EpicEnd::StaysOpen { reason } | EpicEnd::Warning { reason } => (false, reason.clone()),
    };
    EpicRow { number, closed, words }
}

fn spending(state: &State) -> Spending {
    let purse = &state.tour.purse;
    let cost = match (purse.spent, purse.unknown) {
        (_, 1..) => Cost::Unknown,
        (Money::ZERO, 0) => Cost::Free,
        (money, 0) => Cost::MicroUsd(money),
    };
    Spending { calls: purse.agents, tokens: purse.tokens_in.saturating_add(purse.tokens_out), cost }
}

fn looped(state: &State, now: Millis) -> Option<Looped> {
    let (looping, ceilings) = (state.request.looping()?, state.tour.ceilings?);
    let tour = &state.tour;
    let gates = tour.gates.iter().map(|asked| GateRow {
        iteration: asked.iteration,
        name: asked.gate.name.word().to_owned(),
        question: redacted(&asked.gate.question, &looping.redact),
        answer: redacted(asked.answer.choice.word(), &looping.redact),
        by: match &asked.answer.by {
            Answerer::Person(by) => Some(by.clone()),
            Answerer::Nobody => None,
        },
    });
    Some(Looped {
        iterations: tour.iterations,
        max_iterations: ceilings.iterations,
        single: state.request.target.single().is_some(),
        prs_touched: u32::try_from(tour.touched.len()).unwrap_or(u32::MAX),
        max_prs: ceilings.pulls,
        comments_pushed: tour.purse.comments,
        merges_attempted: tour.purse.merges,
        minutes: minutes_since(state.started_at, now),
        max_minutes: ceilings.minutes,
        dollars: tour.purse.spent,
        max_dollars: ceilings.dollars,
        gates: gates.collect(),
        budget_file: looping.budget_file.clone(),
        history_file: looping.history_file.clone(),
    })
}

/// What a person does now, the most useful first.
fn next_steps(state: &State, rows: &[&Row]) -> Vec<String> {
    let of = |status: &[Status]| -> Vec<String> {
        rows.iter().filter(|row| status.contains(&row.status)).map(|row| format!("#{}", row.number)).collect()
    };
    let mut steps = Vec::new();
    let mut say = |numbers: Vec<String>, words: &str| {
        if !numbers.is_empty() {
            steps.push(format!("{}: {words}", numbers.join(", ")));
        }
    };
    say(of(&[Status::PendingManualMerge]), "merge by hand, or run it again with --merge");
    say(of(&[Status::NeedsHumanFollowUp, Status::Deferred]), "read what is left in the pull request, then push or decide");
    say(of(&[Status::Rejected]), "resolve the conflict markers and push");
    say(of(&[Status::ChecksFailing]), "make the checks green");
    say(of(&[Status::ChecksPending, Status::HeadMoved]), "run the sweep again when its checks are through");
    say(of(&[Status::Failed]), "look at what failed, then run the sweep again");
    say(of(&[Status::OutOfBudget, Status::NotBegun]), "run the sweep again; raise its ceilings if that is why it ended");
    if !state.tour.missing.is_empty() {
        steps.push(format!("{}: check the numbers and the repository", numbered(&state.tour.missing)));
    }
    if rows.is_empty() && state.tour.stops.contains(&Stop::NothingOpen) {
        steps.push("open a pull request that names the spec, or name pull requests by their numbers".to_owned());
    }
    steps
}
