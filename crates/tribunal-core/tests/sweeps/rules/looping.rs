//! Ticks: what a loop does again, what it puts off, and what ends it.

use crate::cast::{looping, plain};
use crate::stage::Stage;
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::procedure::sweep::effect::Effort;
use tribunal_core::procedure::sweep::history::TickOutcome;
use tribunal_core::procedure::sweep::{Outcome, Request, Trouble};
use tribunal_core::pull::facts::{CheckState, PullState};

fn ticks(count: u32) -> Request {
    looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(count)))
}

fn single(count: u32) -> Request {
    looping(|flags| (flags.merge, flags.loops.pr, flags.loops.max_iterations) = (true, Some(1), Some(count)))
}

/// SL-114, SL-146: what was reviewed at its head is put off until somebody pushes, with a note.
#[test]
fn an_unchanged_one_is_deferred() {
    let harsh = |world: &mut crate::world::World| world.cast.reviewer = crate::cast::Reviewer::Blocks;
    let told = Stage::new(ticks(3)).pull(|pull| pull.bugs = 1).world(harsh).run();
    assert_eq!(
        (told.count("review 1"), told.status(1).as_str(), told.note(1)),
        (1, "Deferred", "no new commits since iteration 1")
    );
    let stage = Stage::new(ticks(3)).pull(|pull| pull.bugs = 1).world(harsh).until("rest");
    let told = stage.world(|world| drop(world.forge.push(1, |_| {}))).run();
    assert_eq!(told.count("review 1"), 2);
}

/// SL-147: a head that this loop pushed itself is not a reviewed one; while its checks were pending nobody looked at it.
#[test]
fn its_own_push_is_looked_at_in_the_next_tick() {
    let hasty = looping(|flags| {
        (flags.no_merge, flags.loops.max_iterations) = (true, Some(2));
        flags.checks = Some(tribunal_core::policy::span::Span::seconds(0));
    });
    let told = Stage::new(hasty).pull(|pull| pull.bugs = 1).run();
    assert_eq!((told.count("respond 1"), told.count("review 1"), told.status(1).as_str()), (1, 2, "PendingManualMerge"));
    let heads = &told.lines()[0].tracked_prs[0];
    assert_ne!(heads.head_sha_at_iteration_start, heads.head_sha_at_iteration_end);
    assert_eq!(heads.reviewed.as_ref().unwrap().head_sha, heads.head_sha_at_iteration_start);
}

/// SL-36, SL-146: markers are rejected once for a head.
#[test]
fn markers_are_rejected_once_for_a_head() {
    let told = Stage::new(ticks(3)).pull(|pull| pull.markers = true).run();
    assert_eq!((told.count("reject 1"), told.status(1).as_str()), (1, "Deferred"));
}

/// SL-1, SL-164: a push in each rest is a round in each tick, and never two in one.
#[test]
fn one_round_in_each_tick() {
    let mut stage = Stage::new(ticks(3)).pull(|pull| pull.bugs = 1);
    for _ in 0..2 {
        stage = stage.until("rest").world(|world| drop(world.forge.push(1, |pull| pull.bugs = 1)));
        stage.trial.turn(0).unwrap();
        while stage.under_way().contains(&"rest".to_owned()) {
            stage.trial.turn(0).unwrap();
        }
    }
    let told = stage.run();
    assert_eq!((told.count("respond 1"), told.count("review 1"), told.state.tour.iterations), (3, 6, 3));
}

/// SL-12, SL-134 #3: the last tick is the last; nothing is waited for after it.
#[test]
fn iterations_are_counted() {
    let told = Stage::new(ticks(2)).pull(|_| {}).run();
    assert_eq!((told.report.stop.as_str(), told.count("rest"), told.count("discover")), ("iteration_budget", 1, 2));
    assert_eq!(told.report.reason.word(), "max-iterations-reached");
    assert_eq!(told.lines().last().unwrap().stop_conditions_fired, ["iteration_budget"]);
    assert_eq!(told.report.exit_code, 0, "everything is approved");
}

/// SL-134 #2, SL-149: a watch of one ends when that is merged, closed, or told not to be merged.
#[test]
fn a_single_one_ends_with_its_pull_request() {
    let merged = Stage::new(single(5)).pull(|_| {}).run();
    assert_eq!(
        (merged.report.stop.as_str(), merged.report.reason.word(), merged.report.exit_code),
        ("pr_terminal", "pr-merged", 0)
    );
    assert_eq!(merged.report.explanation, "PR #1 reached terminal state: merged");
    let closed = Stage::new(single(5)).pull(|pull| pull.state = PullState::Closed).run();
    assert_eq!((closed.report.reason.word(), closed.count("look 1")), ("pr-closed", 0));
    let held = Stage::new(single(5)).pull(|pull| pull.hold = true).run();
    assert_eq!((held.report.reason.word(), held.report.exit_code), ("user-input-required", 1));
    assert!(held.report.explanation.contains("do-not-merge"));
    let gone = Stage::new(single(5)).run();
    assert_eq!((gone.report.stop.as_str(), gone.report.exit_code), ("pr_terminal", 5));
}

/// SL-134 #8: an interrupt lets what is under way come to its end, begins nothing, and reports.
#[test]
fn an_interrupt_drains() {
    let two = plain(|flags| (flags.merge, flags.pairs) = (true, Some(2)));
    let stage = (0..4).fold(Stage::new(two), |stage, _| stage.pull(|pull| pull.bugs = 1)).until("respond 1").interrupt();
    let under_way = stage.under_way();
    let told = stage.run();
    assert!(under_way.iter().any(|name| name == "respond 1"));
    assert_eq!((told.report.stop.as_str(), told.report.exit_code, told.count("merge 1")), ("interrupted", 130, 0));
    assert_eq!(told.count("review 3"), 0);
    assert_eq!(told.names().last().unwrap(), "release");
    let resting = Stage::new(ticks(3)).pull(|_| {}).until("rest").interrupt().run();
    assert_eq!((resting.count("discover"), resting.report.exit_code), (1, 130));
}

/// SL-134 #11, SL-135, CF-9: an index that does not answer in two ticks in a row ends it; any other tick begins the count anew.
#[test]
fn two_ticks_without_an_index_are_the_end() {
    let unreachable = || Outcome::Discovered(Err(Trouble::Index("exit 78".into())));
    let told = Stage::new(ticks(5)).pull(|_| {}).plan("discover", unreachable()).plan("discover", unreachable()).run();
    assert_eq!((told.report.stop.as_str(), told.state.tour.iterations, told.report.exit_code), ("qmd_unreachable", 2, 75));
    assert_eq!(told.lines()[0].outcome, TickOutcome::Errored);
    assert!(told.report.explanation.contains("ADR-0024"));
    let stage = Stage::new(ticks(3)).pull(|_| {}).plan("discover", unreachable()).until("review 1");
    let told = stage.plan("discover", unreachable()).run();
    assert_eq!(told.report.stop, "iteration_budget");
    assert_eq!(told.lines().last().unwrap().budget_snapshot.qmd_failures_consecutive, 1);
    // A review that cannot ask the index counts as well.
    let review = || Outcome::Reviewed { said: Err(Trouble::Index("exit 78".into())), effort: Effort::default() };
    let told = Stage::new(ticks(5)).pull(|_| {}).plan("review 1", review()).plan("review 1", review()).run();
    assert_eq!((told.report.stop.as_str(), told.state.tour.iterations), ("qmd_unreachable", 2));
    let plain = Stage::new(plain(|_| {})).pull(|_| {}).plan("discover", unreachable()).run();
    assert_eq!(plain.report.stop, "qmd_unreachable");
}

/// SL-24: half a spec halts a sweep; a loop finds out at its next tick whether somebody has mended it.
#[test]
fn half_a_spec_halts_it() {
    let half = || Outcome::Discovered(Err(Trouble::Setup("SPEC-0001 is only half there".into())));
    let told = Stage::new(plain(|_| {})).pull(|_| {}).plan("discover", half()).run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code, told.count("review 1")), ("setup", 2, 0));
    assert!(told.report.explanation.contains("SPEC-0001 is only half there"));
    let told = Stage::new(ticks(2)).pull(|_| {}).plan("discover", half()).run();
    assert_eq!((told.lines()[0].outcome, told.count("review 1")), (TickOutcome::Errored, 1));
}

/// CF-9: a forge that does not answer in one tick is asked again in the next one.
#[test]
fn a_tick_that_could_not_read_is_an_errored_one() {
    let told =
        Stage::new(ticks(2)).pull(|_| {}).plan("discover", Outcome::Discovered(Err(Trouble::Forge("HTTP 502".into())))).run();
    assert_eq!(told.lines().iter().map(|line| line.outcome).collect::<Vec<_>>(), [TickOutcome::Errored, TickOutcome::Halted]);
    assert_eq!(told.status(1), "PendingManualMerge");
}

fn broken(times: usize) -> Stage {
    let failed = |at: usize| Outcome::Reviewed {
        said: Err(Trouble::Incomplete(format!("no answer after {at} s"))),
        effort: Effort::default(),
    };
    (0..times).fold(Stage::new(ticks(4)).pull(|_| {}), |stage, at| stage.plan("review 1", failed(at)))
}

/// SL-134 #6, SL-137, SL-140: the same cause twice in a row is asked about at the end of the tick, with its signature.
#[test]
fn the_same_failure_twice_is_asked_about() {
    let told = broken(4).answer(GateName::RepeatedFailure, Choice::Skip).run();
    assert_eq!((told.gates().first().map(String::as_str), told.count("review 1")), (Some("repeated-failure=skip"), 2));
    assert!(told.questions()[0].contains("`review/agent-"), "{:?}", told.questions());
    assert_eq!((told.status(1).as_str(), told.note(1)), ("LeftOut", "it failed twice for one cause"));
    let retried = broken(4).answer(GateName::RepeatedFailure, Choice::Retry).run();
    assert_eq!((retried.gates().iter().filter(|gate| gate.starts_with("repeated")).count(), retried.count("review 1")), (3, 4));
    let stopped = broken(4).answer(GateName::RepeatedFailure, Choice::Stop).run();
    assert_eq!((stopped.report.stop.as_str(), stopped.state.tour.iterations), ("gate_stop", 2));
}

/// SL-134 #6: another cause is another failure.
#[test]
fn another_cause_begins_anew() {
    let failed = |words: &str| Outcome::Reviewed { said: Err(Trouble::Incomplete(words.into())), effort: Effort::default() };
    let stage = Stage::new(ticks(3)).pull(|_| {}).plan("review 1", failed("no answer")).plan("review 1", failed("not JSON"));
    assert!(stage.plan("review 1", failed("no answer")).run().gates().iter().all(|gate| !gate.starts_with("repeated")));
}

/// SL-101: failing checks are somebody's to mend, and no failure of a loop that only looks.
#[test]
fn failing_checks_are_no_failure_of_the_loop() {
    let told = Stage::new(ticks(3)).pull(|pull| pull.checks = CheckState::Failure).run();
    assert_eq!(
        (told.gates().iter().filter(|gate| gate.starts_with("repeated")).count(), told.status(1).as_str()),
        (0, "ChecksFailing")
    );
}
