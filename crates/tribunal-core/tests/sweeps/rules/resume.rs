//! `--resume`: what an earlier run left in its files.

use crate::cast::looping;
use crate::stage::{Stage, Told};
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::procedure::sweep::Request;
use tribunal_core::procedure::sweep::history::carry;
use tribunal_core::procedure::sweep::request::Mode;
use tribunal_core::pull::facts::PullState;

/// The files that a run has written, as texts.
fn files(told: &Told) -> (String, String) {
    let lines: Vec<String> = told.lines().iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    let budget = serde_json::to_string(&told.lines().last().unwrap().budget_snapshot).unwrap();
    (budget, lines.join("\n"))
}

fn resumed(from: &Told, change: impl FnOnce(&mut Request)) -> Request {
    let (budget, history) = files(from);
    let mut request = looping(|flags| (flags.no_merge, flags.loops.resume, flags.loops.max_iterations) = (true, true, Some(9)));
    request.run = "run-2".into();
    let Mode::Loop(looping) = &mut request.terms.mode else { panic!("a loop") };
    looping.carried = Some(Box::new(carry(Some(&budget), &history).unwrap()));
    change(&mut request);
    request
}

fn first(change: impl FnOnce(&mut crate::forge::Pr)) -> Told {
    let request = looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(5)));
    Stage::new(request)
        .pull(change)
        .world(|world| world.cast.reviewer = crate::cast::Reviewer::Blocks)
        .until("rest")
        .interrupt()
        .run()
}

/// SL-129, SL-157: counters, clock and ceilings come back; what was typed does not widen them, and that is said.
#[test]
fn counters_and_ceilings_come_back() {
    let before = first(|pull| pull.bugs = 1);
    let request = resumed(&before, |_| {});
    let told = Stage::new(request).pull(|pull| pull.bugs = 1).run();
    let looped = told.report.looped.as_ref().unwrap();
    assert_eq!((looped.iterations, looped.max_iterations), (5, 5));
    assert_eq!(told.state.started_at, before.state.started_at);
    assert!(told.report.notices[0].contains("ceilings of the resumed run hold"));
    assert_eq!(told.lines()[0].iteration, 2);
    let runs: Vec<&str> = told.lines().iter().map(|line| line.run.as_ref().unwrap().as_str()).collect();
    assert!(runs.iter().all(|run| *run == "run"), "its lines go on under the name of the run that it resumes");
    assert_eq!(told.lines()[0].tick, Some(2));
}

/// SL-158: the same head is taken up silently, and what was found wanting there is not reviewed again.
#[test]
fn an_equal_head_is_taken_up_silently() {
    let before = first(|pull| pull.bugs = 1);
    let told = Stage::new(resumed(&before, |_| {})).pull(|pull| pull.bugs = 1).run();
    assert_eq!((told.count("review 1"), told.status(1).as_str()), (0, "Deferred"));
    assert!(told.gates().iter().all(|gate| !gate.starts_with("resume")));
}

/// CF-8: a file approves nothing; what it calls approved is reviewed again.
#[test]
fn a_file_approves_nothing() {
    let before = first(|_| {});
    assert_eq!(before.status(1), "PendingManualMerge");
    let told = Stage::new(resumed(&before, |_| {})).pull(|_| {}).run();
    assert_eq!(told.count("review 1"), 1);
}

/// SL-140, SL-158: another head is asked about: taken up, left out, or the end.
#[test]
fn another_head_is_asked_about() {
    let before = first(|pull| pull.bugs = 1);
    let stage = |choice| {
        let stage = Stage::new(resumed(&before, |_| {})).pull(|_| {}).world(|world| drop(world.forge.push(1, |_| {})));
        stage.answer(GateName::ResumeDivergence, choice).run()
    };
    let taken = stage(Choice::ReAttach);
    assert_eq!((taken.gates()[0].as_str(), taken.count("review 1")), ("resume-divergence=re-attach", 1));
    let skipped = stage(Choice::Skip);
    assert_eq!((skipped.count("review 1"), skipped.status(1).as_str()), (0, "LeftOut"));
    assert_eq!(skipped.gates().iter().filter(|gate| gate.starts_with("resume")).count(), 1, "for the rest of the run");
    assert_eq!(stage(Choice::Stop).report.stop, "gate_stop");
}

/// SL-158: what was over is noted and not looked at.
#[test]
fn what_was_over_is_noted() {
    let before = first(|pull| pull.bugs = 1);
    let request = resumed(&before, |request| {
        let Mode::Loop(looping) = &mut request.terms.mode else { panic!("a loop") };
        let line = looping.carried.as_mut().unwrap().pulls.get_mut(&1).unwrap();
        (line.state_at_end, line.head_sha_at_iteration_end) = (PullState::Merged, "f".repeat(40).as_str().into());
    });
    let told = Stage::new(request).pull(|_| {}).run();
    assert_eq!((told.count("look 1"), told.status(1).as_str()), (0, "LeftOut"));
}

/// SL-134 #10, SL-136, SL-163: a run that somebody stopped has no next tick; another run is not bound by it.
#[test]
fn a_stop_forbids_the_next_tick() {
    let request = looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(1)));
    let stopped = Stage::new(request.clone()).pull(|_| {}).answer(GateName::BudgetEscalation, Choice::Stop).run();
    assert_eq!(stopped.report.stop, "gate_stop");
    let told = Stage::new(resumed(&stopped, |_| {})).pull(|_| {}).run();
    assert_eq!((told.report.stop.as_str(), told.names()), ("already_stopped", vec!["report".to_owned()]));
    assert_eq!(told.report.explanation, "Loop already stopped at gate budget-escalation in iteration 1");
    let fresh = Stage::new(request).pull(|_| {}).answer(GateName::BudgetEscalation, Choice::Continue).run();
    assert_eq!(fresh.report.stop, "iteration_budget");
}

/// SL-111, SL-134 #3: what is used up is used up before anything is read.
#[test]
fn a_used_up_budget_stops_at_the_door() {
    let request = looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(1)));
    let before = Stage::new(request).pull(|_| {}).answer(GateName::BudgetEscalation, Choice::Continue).run();
    let told = Stage::new(resumed(&before, |_| {})).pull(|_| {}).run();
    assert_eq!(
        (told.report.stop.as_str(), told.names()),
        ("iteration_budget", ["acquire", "export", "report", "release"].map(str::to_owned).to_vec())
    );
}
