//! Approved pull requests on their way into the base.

use crate::cast::{looping, plain};
use crate::stage::Stage;
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::merge::epic::EpicEnd;
use tribunal_core::merge::policy::{Confirm, When};
use tribunal_core::procedure::sweep::effect::{Merged, Updated};
use tribunal_core::procedure::sweep::{Outcome, Request};
use tribunal_core::pull::facts::CheckState;

fn merging() -> Request {
    plain(|flags| flags.merge = true)
}

fn shared(pull: &mut crate::forge::Pr) {
    pull.files.insert("src/shared.rs".into());
}

/// SL-68, SL-70, CF-1: approved and asked for, it is merged; then its epics are looked at and the index is told.
#[test]
fn approved_and_asked_for_is_merged() {
    let told = Stage::new(merging()).pull(|_| {}).run();
    assert_eq!((told.status(1).as_str(), told.row(1).merge.words().as_str()), ("Complete", "Merged (squash)"));
    assert!(told.place("merge 1") < told.place("epics 1") && told.count("sync 1") == 1);
    assert_eq!((told.report.reason.word(), told.report.exit_code), ("clean", 0));
    assert_eq!(told.report.epics.len(), 1);
}

/// CF-1, SL-8, SL-71: without anybody's wish nothing is merged; `--no-merge` beats the base's policy.
#[test]
fn merging_is_off_unless_somebody_turns_it_on() {
    let off = |world: &mut crate::world::World| world.forge.set_policy(|policy| policy.when = When::Never);
    for stage in [Stage::new(plain(|_| {})).world(off), Stage::new(plain(|flags| flags.no_merge = true))] {
        let told = stage.pull(|_| {}).run();
        assert_eq!((told.count("merge 1"), told.row(1).merge.words().as_str()), (0, "Pending manual merge"));
    }
    assert_eq!(Stage::new(plain(|_| {})).pull(|_| {}).run().count("merge 1"), 1);
}

/// SL-83: nothing is merged before every round is over.
#[test]
fn all_rounds_come_before_the_first_merge() {
    let told = Stage::new(merging()).pull(|_| {}).pull(|pull| pull.bugs = 2).pull(|_| {}).run();
    let names = told.names();
    let last_round = names.iter().rposition(|name| name.starts_with("conclude")).unwrap();
    assert!(names.iter().position(|name| name.starts_with("merge")).unwrap() > last_round, "{names:?}");
    assert_eq!(names.iter().filter(|name| name.starts_with("merge")).count(), 3);
}

/// SL-79: what shares files with one that was merged is brought up to date, its checks run, and it is reviewed again before its own
/// merge; what is isolated is not (SL-80).
#[test]
fn what_a_merge_touches_is_looked_at_again() {
    let told = Stage::new(merging()).pull(shared).pull(shared).pull(|_| {}).run();
    let names = told.names();
    let after = names.iter().position(|name| name == "merge 1").unwrap();
    let rest: Vec<&str> = names[after..].iter().map(String::as_str).filter(|name| name.ends_with('2')).collect();
    assert_eq!(rest, ["update 2", "look 2", "review 2", "conclude 2", "look 2", "merge 2", "epics 2", "sync 2"]);
    assert_eq!((told.count("update 1"), told.count("update 3"), told.count("review 3")), (0, 0, 1));
    assert!(told.place("merge 3") < told.place("merge 1"), "isolated ones come first (SL-75)");
}

/// SL-79, SL-94: what cannot be brought up to date is told and left; the others go on.
#[test]
fn a_conflict_is_told_and_the_others_go_on() {
    let conflict = Outcome::Updated(Ok(Updated::Conflict("src/shared.rs".into())));
    let told = Stage::new(merging()).pull(shared).pull(shared).pull(shared).plan("update 2", conflict).run();
    assert_eq!([told.status(1), told.status(2), told.status(3)], ["Complete", "Failed", "Complete"]);
    assert!(told.note(2).contains("conflicts with its base"));
    let refused = Outcome::Merged(Ok(Merged::Refused("not mergeable".into())));
    let told = Stage::new(merging()).pull(|_| {}).plan("merge 1", refused).run();
    assert_eq!((told.status(1).as_str(), told.note(1), told.report.exit_code), ("Failed", "merge: not mergeable", 1));
}

/// SL-77, SL-82: those that wait for each other are not merged; what depends on another comes after it.
#[test]
fn declared_dependencies_order_and_cycles_are_held() {
    let told = Stage::new(merging())
        .pull(|pull| pull.after = [2].into())
        .pull(|pull| pull.after = [1].into())
        .pull(|pull| pull.after = [4].into())
        .pull(|_| {})
        .run();
    assert_eq!((told.count("merge 1"), told.count("merge 2")), (0, 0));
    assert!(told.note(1).contains("#1 depends on itself through #1, #2"), "{}", told.note(1));
    assert!(told.place("merge 4") < told.place("merge 3"));
    assert_eq!((told.status(3).as_str(), told.report.exit_code), ("Complete", 1));
}

/// SL-169: a label, a red check or a head that moved between the rounds and the merge keeps it from being merged.
#[test]
fn what_changed_meanwhile_is_not_merged() {
    type Meanwhile = fn(&mut crate::forge::Pr);
    let changes: [(Meanwhile, &str); 4] = [
        (|pull| pull.hold = true, "holds it back"),
        (|pull| pull.checks = CheckState::Failure, "red"),
        (|pull| pull.draft = true, "draft"),
        (|pull| pull.after = [9].into(), "depends on"),
    ];
    for (change, words) in changes {
        let stage = Stage::new(merging()).pull(|_| {}).until("conclude 1").world(|world| world.forge.change(1, change));
        let told = stage.run();
        assert_eq!(told.count("merge 1"), 0);
        assert!(told.note(1).contains(words), "{}", told.note(1));
    }
    let moved = Stage::new(merging()).pull(|_| {}).until("conclude 1").world(|world| drop(world.forge.push(1, |_| {})));
    let told = moved.run();
    assert_eq!((told.count("merge 1"), told.status(1).as_str()), (0, "HeadMoved"));
}

/// CF-1: what changes between the order and the merge itself is seen by the warrant, and nothing is merged.
#[test]
fn a_warrant_lapses() {
    let stage = Stage::new(plain(|_| {})).pull(|_| {}).until("merge 1");
    let told = stage.world(|world| world.forge.set_policy(|policy| policy.when = When::Never)).run();
    assert_eq!((told.count("merge 1"), told.status(1).as_str()), (1, "NeedsHumanFollowUp"));
    let stage = Stage::new(merging()).pull(|_| {}).until("merge 1");
    let told = stage.world(|world| drop(world.forge.push(1, |_| {}))).run();
    assert!(told.note(1).contains("the head was"), "{}", told.note(1));
}

/// SL-78, CF-28: with somebody at a terminal the order of several is shown and asked about once; `--yes` has answered.
#[test]
fn the_order_is_asked_about_once() {
    let asked = |yes: bool| plain(|flags| (flags.merge, flags.terminal, flags.yes) = (true, true, yes));
    let stage = |yes| Stage::new(asked(yes)).pull(|_| {}).pull(shared).answer(GateName::MergeOrder, Choice::Merge);
    let told = stage(false).run();
    assert_eq!((told.gates(), told.count("merge 1"), told.count("merge 2")), (vec!["merge-order=merge".to_owned()], 1, 1));
    assert!(told.questions()[0].starts_with("Merge in this order: 1. #1 at "), "{:?}", told.questions());
    assert!(stage(true).run().gates().is_empty());
    let held = stage(false).answer(GateName::MergeOrder, Choice::Hold).run();
    assert_eq!((held.count("merge 1"), held.status(2).as_str()), (0, "NeedsHumanFollowUp"));
    let alone = Stage::new(asked(false)).pull(|_| {}).run();
    assert_eq!((alone.gates().len(), alone.count("merge 1")), (0, 1));
}

/// CF-28: where the base asks for a person's word before each merge, there is one for each head.
#[test]
fn always_means_each_merge() {
    let stage = Stage::new(merging())
        .pull(shared)
        .pull(shared)
        .world(|world| world.forge.set_policy(|policy| policy.confirm = Confirm::Always))
        .answer(GateName::MergeOrder, Choice::Merge);
    assert_eq!(stage.run().gates(), ["merge-order=merge", "merge-order=merge"]);
}

/// SL-140, SL-144: after people's comments were answered only a person's `merge` merges; anything else holds it.
#[test]
fn after_feedback_a_person_says_merge() {
    let stage = |choice| {
        let stage = Stage::new(merging()).pull(|pull| (pull.bugs, pull.comments) = (1, 2));
        stage.answer(GateName::PostFeedbackMerge, choice).run()
    };
    let merged = stage(Choice::Merge);
    assert_eq!((merged.gates(), merged.status(1).as_str()), (vec!["post-feedback-merge=merge".to_owned()], "Complete"));
    assert!(merged.questions()[0].contains("person-0, person-1"));
    let held = stage(Choice::Hold);
    assert_eq!((held.count("merge 1"), held.status(1).as_str()), (0, "NeedsHumanFollowUp"));
    assert_eq!(held.note(1), "ann answered post-feedback-merge with hold");
    let nobody =
        Stage::new(merging()).pull(|pull| (pull.bugs, pull.comments) = (1, 1)).world(|world| world.cast.odds.nobody = 100).run();
    assert_eq!((nobody.count("merge 1"), nobody.note(1)), (0, "nobody answered post-feedback-merge"));
}

/// Issue 16, A1: what somebody said held it back, and that is on record: deleting the words merges nothing, at this head.
#[test]
fn a_deleted_word_lifts_no_hold() {
    let request = looping(|flags| (flags.merge, flags.loops.max_iterations) = (true, Some(3)));
    let stage = Stage::new(request.clone()).pull(|pull| pull.thread = true).until("rest");
    let told = stage.world(|world| world.forge.change(1, |pull| pull.thread = false)).run();
    assert_eq!((told.count("hold 1"), told.count("merge 1")), (1, 0));
    assert!(told.note(1).contains("eve commented on `a.rs:1`"), "{}", told.note(1));
    // Without such a record it would be merged.
    let stage = Stage::new(request).pull(|pull| pull.thread = true).until("rest");
    let told = stage
        .world(|world| {
            world.forge.change(1, |pull| {
                pull.thread = false;
                pull.holds.clear();
            });
        })
        .run();
    assert_eq!((told.count("merge 1"), told.status(1).as_str()), (1, "Complete"));
}

/// SL-139, SL-157: a hold is not remembered; the next tick asks again, and only then is it merged.
#[test]
fn a_gate_is_asked_anew_in_each_tick() {
    let request = looping(|flags| (flags.merge, flags.loops.max_iterations) = (true, Some(3)));
    let stage = Stage::new(request)
        .pull(|pull| (pull.bugs, pull.comments) = (1, 1))
        .answer(GateName::PostFeedbackMerge, Choice::Hold)
        .until("rest")
        .answer(GateName::PostFeedbackMerge, Choice::Merge);
    let told = stage.run();
    let feedback: Vec<String> = told.gates().into_iter().filter(|gate| gate.starts_with("post")).collect();
    assert_eq!(feedback, ["post-feedback-merge=hold", "post-feedback-merge=merge"]);
    assert_eq!(
        (told.count("review 1"), told.status(1).as_str()),
        (2, "Complete"),
        "its approval stood, and it was not reviewed again"
    );
}

/// SL-69, SL-103, SL-107: what follows a merge may fail, and the merge stands.
#[test]
fn the_merge_stands_whatever_follows() {
    let warning = EpicEnd::Warning { reason: "#200 is left open: HTTP 502".into() };
    let told = Stage::new(merging())
        .pull(|_| {})
        .plan("sync 1", Outcome::Synced(Err("no answer".into())))
        .plan("epics 1", Outcome::Epics(vec![(200, warning)]))
        .run();
    assert_eq!((told.status(1).as_str(), told.report.exit_code), ("Complete", 0));
    assert!(told.report.notices[0].contains("the merge of #1") && told.report.notices[0].contains("by hand"));
    assert!(!told.report.epics[0].closed);
}
