//! The lock of the set, tick by tick.

use crate::cast::{looping, plain};
use crate::stage::{Stage, other};
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::procedure::sweep::effect::Acquired;
use tribunal_core::procedure::sweep::history::TickOutcome;
use tribunal_core::procedure::sweep::request::LockMode;
use tribunal_core::procedure::sweep::{Act, Order, Outcome, Request, Trouble};

fn mode(mode: LockMode) -> Request {
    looping(|flags| {
        (flags.no_merge, flags.loops.lock) = (true, Some(mode));
        (flags.loops.max_iterations, flags.loops.max_minutes) = (Some(2), Some(30));
    })
}

/// SL-109, SL-119, SL-121, SL-160: the lock first, files and report before it is let go, and taken anew by each tick.
#[test]
fn the_lock_is_first_and_last() {
    let told = Stage::new(mode(LockMode::Skip)).pull(|_| {}).run();
    let names = told.names();
    let of = |wanted: &str| names.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(at, _)| at).collect::<Vec<_>>();
    assert_eq!((names[0].as_str(), of("acquire").len(), of("release").len()), ("acquire", 2, 2));
    assert!(of("export")[0] < of("release")[0] && of("release")[0] < of("rest")[0]);
    assert!(of("export")[1] < of("report")[0] && of("report")[0] < of("release")[1]);
    assert_eq!(names.last().unwrap(), "release");
}

/// SL-123, SL-134 #9, SL-153, SL-162: a held lock skips the tick: one line, and no counter moves.
#[test]
fn a_held_lock_skips_the_tick() {
    let stage = Stage::new(mode(LockMode::Skip)).pull(|_| {}).locked().until("rest");
    assert_eq!(stage.state().tour.iterations, 0);
    let told = stage.world(|world| world.forge.set_lock(None)).run();
    let lines = told.lines();
    assert_eq!(
        lines.iter().map(|line| line.outcome).collect::<Vec<_>>(),
        [TickOutcome::SkippedLock, TickOutcome::Ok, TickOutcome::Halted]
    );
    let skipped = lines[0];
    assert_eq!((skipped.budget_snapshot.iterations_used, skipped.tracked_prs.len(), skipped.gates.len()), (0, 0, 0));
    assert_eq!((skipped.agents_dispatched_this_iter, skipped.tokens_in_this_iter), (0, 0));
    assert_eq!(lines[1].iteration, 1);
    assert!(told.report.notices[0].contains("skipped"), "{:?}", told.report.notices);
}

/// SL-123: the lock of a process that is gone is removed, and that is said.
#[test]
fn a_dead_ones_lock_is_reaped() {
    let told = Stage::new(mode(LockMode::Skip)).pull(|_| {}).world(|world| world.forge.set_lock(Some(other()))).run();
    assert_eq!(told.status(1), "PendingManualMerge");
    assert!(told.report.notices[0].contains("process 9"));
}

/// SL-123: `wait` waits as long as the run may take, and no longer.
#[test]
fn waiting_ends_with_the_clock() {
    let told = Stage::new(mode(LockMode::Wait)).pull(|_| {}).locked().run();
    assert_eq!((told.report.stop.as_str(), told.count("discover"), told.count("acquire")), ("wall_clock_budget", 0, 1));
    let stage = Stage::new(mode(LockMode::Wait)).pull(|_| {}).locked().until("acquire");
    let told = stage.world(|world| world.forge.set_lock(None)).run();
    assert_eq!(told.report.stop, "iteration_budget");
}

/// SL-123, SL-126, SL-140: `force` asks; yes passes that holder over, no skips the tick, stop ends the run.
#[test]
fn force_asks_first() {
    let stage = |choice| Stage::new(mode(LockMode::Force)).pull(|_| {}).locked().answer(GateName::ForceUnlock, choice);
    let told = stage(Choice::Yes).run();
    assert_eq!((told.gates()[0].as_str(), told.status(1).as_str()), ("force-unlock=yes", "PendingManualMerge"));
    assert!(told.questions()[0].contains("process 9") && told.questions()[0].contains("corrupt"));
    let skipped = stage(Choice::No).until("rest").world(|world| world.forge.set_lock(None)).run();
    assert_eq!((skipped.gates()[0].as_str(), skipped.lines()[0].outcome), ("force-unlock=no", TickOutcome::SkippedLock));
    let stopped = stage(Choice::Stop).run();
    assert_eq!((stopped.report.stop.as_str(), stopped.count("discover"), stopped.report.exit_code), ("gate_stop", 0, 1));
}

/// SL-140: a yes is about the holder that was shown; a lock that changed hands meanwhile is asked about again.
#[test]
fn a_yes_does_not_pass_over_another_holder() {
    let stage = Stage::new(mode(LockMode::Force)).pull(|_| {}).locked().answer(GateName::ForceUnlock, Choice::Yes).until("ask");
    let told = stage.world(|world| {
        world.alive.insert(10);
        let another = tribunal_core::procedure::sweep::lock::Holder { pid: 10, run: Some("another".into()), ..other() };
        world.forge.set_lock(Some(another));
    });
    let told = told.run();
    assert_eq!(told.gates().iter().filter(|gate| gate.starts_with("force")).count(), 2);
    assert!(told.questions()[1].contains("process 10"));
}

/// CF-29: a plain sweep has no next tick; it says who is at work, and may be run later.
#[test]
fn a_plain_sweep_does_not_wait() {
    let told = Stage::new(plain(|_| {})).pull(|_| {}).locked().run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code, told.count("release")), ("lock_held", 75, 0));
    assert!(told.report.explanation.contains("process 9"));
}

/// SL-174: who was passed over does nothing more, and takes nobody's lock away.
#[test]
fn who_was_passed_over_stops() {
    let stage = Stage::new(plain(|flags| flags.no_merge = true)).pull(|_| {}).until("conclude 1");
    let told = stage
        .world(|world| {
            world.alive.insert(9);
            world.forge.set_lock(Some(other()));
        })
        .run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code, told.count("release")), ("lock_lost", 75, 0));
    let lost = Outcome::Concluded(Err(Trouble::Displaced("process 9".into())));
    let told = Stage::new(plain(|_| {})).pull(|_| {}).plan("conclude 1", lost).run();
    assert_eq!(told.report.explanation, "Another run took the lock of this set: process 9");
    // The budget file is the other run's now.
    let lost = Outcome::Concluded(Err(Trouble::Displaced("process 9".into())));
    let told = Stage::new(mode(LockMode::Skip)).pull(|_| {}).plan("conclude 1", lost).run();
    let budgets = told.sent().filter_map(|effect| match &effect.order {
        Order::Act(Act::Export { budget, .. }) => Some(budget.is_some()),
        _ => None,
    });
    assert_eq!(budgets.collect::<Vec<_>>(), [false]);
}

/// SL-5: a lock that cannot be understood is nobody's to guess about.
#[test]
fn an_unreadable_lock_is_the_end() {
    let failed = Outcome::Acquired(Acquired::Failed("it is half a file".into()));
    let told = Stage::new(plain(|_| {})).pull(|_| {}).plan("acquire", failed).run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code, told.count("discover")), ("lock_failed", 3, 0));
}
