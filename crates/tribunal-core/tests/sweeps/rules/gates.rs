//! Gates: when they fire, what their answers do, and what no answer does.

use crate::cast::{looping, plain};
use crate::stage::Stage;
use tribunal_core::gate::{Choice, GateName, Raise};
use tribunal_core::procedure::sweep::{Outcome, Request};
use tribunal_core::pull::facts::CheckState;

fn ticks(count: u32) -> Request {
    looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(count)))
}

/// SL-140: criteria that are not clear: skip, hand it to a person, go on, or stop.
#[test]
fn unclear_criteria_are_asked_about() {
    let stage = |choice| {
        let stage = Stage::new(plain(|flags| flags.no_merge = true)).pull(|pull| pull.unclear = true).pull(|_| {});
        stage.answer(GateName::AmbiguousCriteria, choice).run()
    };
    let skipped = stage(Choice::Skip);
    assert_eq!((skipped.status(1).as_str(), skipped.status(2).as_str()), ("LeftOut", "PendingManualMerge"));
    assert!(skipped.questions()[0].contains("issue #101") && skipped.questions()[0].contains("TBD"));
    assert_eq!(stage(Choice::Escalate).status(1), "NeedsHumanFollowUp");
    assert_eq!(stage(Choice::Proceed).status(1), "PendingManualMerge");
    let stopped = stage(Choice::Stop);
    assert_eq!((stopped.report.stop.as_str(), stopped.count("review 2")), ("gate_stop", 0));
    assert_eq!(stopped.report.explanation, "Stopped at gate ambiguous-criteria in iteration 1");
}

/// SL-139: each tick asks anew; nobody is asked about what could not be reviewed anyway.
#[test]
fn each_tick_asks_anew() {
    let told = Stage::new(ticks(3)).pull(|pull| pull.unclear = true).answer(GateName::AmbiguousCriteria, Choice::Skip).run();
    assert_eq!(told.gates().iter().filter(|gate| gate.starts_with("ambiguous")).count(), 3);
    let red = Stage::new(plain(|_| {})).pull(|pull| (pull.unclear, pull.checks) = (true, CheckState::Failure)).run();
    assert!(red.gates().is_empty());
}

/// SL-142, as mended: the lock's question first, then criteria, budgets, and the merge's right before it.
#[test]
fn gates_come_in_their_order() {
    let request = looping(|flags| {
        (flags.merge, flags.loops.max_iterations) = (true, Some(1));
        flags.loops.lock = Some(tribunal_core::procedure::sweep::request::LockMode::Force);
    });
    let told = Stage::new(request)
        .pull(|pull| (pull.unclear, pull.bugs, pull.comments) = (true, 1, 1))
        .locked()
        .answer(GateName::ForceUnlock, Choice::Yes)
        .answer(GateName::AmbiguousCriteria, Choice::Proceed)
        .answer(GateName::BudgetEscalation, Choice::Continue)
        .answer(GateName::PostFeedbackMerge, Choice::Merge)
        .run();
    assert_eq!(
        told.gates(),
        ["force-unlock=yes", "ambiguous-criteria=proceed", "budget-escalation=continue", "post-feedback-merge=merge"]
    );
    let names: Vec<GateName> = told.state.tour.gates.iter().map(|asked| asked.gate.name).collect();
    assert!(names.is_sorted_by_key(|name| tribunal_core::gate::ORDER.iter().position(|known| known == name)));
}

/// SL-143: at four fifths one question names every budget that is tripped; it goes on, moves the ceilings, or stops.
#[test]
fn budgets_are_asked_about_at_four_fifths() {
    let request =
        || looping(|flags| (flags.no_merge, flags.loops.max_iterations, flags.loops.max_prs) = (true, Some(5), Some(2)));
    let stage = |choice| Stage::new(request()).pull(|_| {}).answer(GateName::BudgetEscalation, choice);
    let told = stage(Choice::Continue).run();
    assert!(told.gates().is_empty(), "one of two pull requests is half");
    let told = stage(Choice::Continue).pull(|_| {}).run();
    assert_eq!(told.questions(), ["Budgets at 80 % or more: pull requests 2 / 2. Continue, raise them, or stop?"]);
    assert_eq!(told.report.stop, "prs_touched_budget");
    let stopped = stage(Choice::Continue).pull(|_| {}).answer(GateName::BudgetEscalation, Choice::Stop);
    assert_eq!(stopped.run().count("review 1"), 0);
}

/// SL-129, SL-143: `raise` moves a ceiling up, in place; never down.
#[test]
fn raise_moves_a_ceiling_up() {
    use tribunal_core::gate::{Answer, Answerer};
    let raise = |raise: Raise| {
        Outcome::Answered(Answer {
            choice: Choice::Raise,
            by: Answerer::Person("ann".into()),
            at: 0,
            words: "raise".into(),
            raise: Some(raise),
        })
    };
    let request = || looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(1)));
    let more = raise(Raise { iterations: Some(3), minutes: Some(1), ..Raise::default() });
    let told = Stage::new(request()).pull(|_| {}).plan("ask", more).answer(GateName::BudgetEscalation, Choice::Continue).run();
    let looped = told.report.looped.as_ref().unwrap();
    assert_eq!((looped.iterations, looped.max_iterations, looped.max_minutes), (3, 3, 60));
    assert_eq!(told.lines()[0].budget_snapshot.max_iterations, 3);
}

/// SL-143: where a budget is used up in the same tick, that is the end and nothing is asked.
#[test]
fn a_stop_wins_over_a_gate() {
    let request = looping(|flags| (flags.no_merge, flags.loops.max_minutes) = (true, Some(5)));
    let stage = Stage::new(request).pull(|_| {}).until("look 1").world(|world| world.elapsed += 6 * 60_000);
    let told = stage.run();
    assert_eq!((told.report.stop.as_str(), told.gates().len(), told.count("review 1")), ("wall_clock_budget", 0, 0));
}

/// SL-140, SL-144: what nobody answers in time has its safe answer, and the report says that nobody answered.
#[test]
fn nobodys_answer_is_the_safe_one() {
    let request = looping(|flags| (flags.merge, flags.loops.max_iterations) = (true, Some(1)));
    let told = Stage::new(request)
        .pull(|pull| pull.unclear = true)
        .pull(|pull| (pull.bugs, pull.comments) = (1, 1))
        .world(|world| world.cast.odds.nobody = 100)
        .run();
    assert_eq!(told.gates(), ["ambiguous-criteria=skip", "budget-escalation=continue", "post-feedback-merge=hold"]);
    assert!(told.report.looped.as_ref().unwrap().gates.iter().all(|gate| gate.by.is_none()));
}
