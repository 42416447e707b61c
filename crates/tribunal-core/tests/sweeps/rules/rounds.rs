//! One tick: which pull requests have a round, and how it goes.

use crate::cast::{Responder, Reviewer, plain};
use crate::stage::Stage;
use tribunal_core::procedure::sweep::effect::Effort;
use tribunal_core::procedure::sweep::{Act, Order, Outcome, Read, Trouble};
use tribunal_core::pull::facts::CheckState;

fn no_merge() -> tribunal_core::procedure::sweep::Request {
    plain(|flags| flags.no_merge = true)
}

/// SL-54, SL-71: what is clean is approved without a response, and merged by hand.
#[test]
fn a_clean_one_is_approved_at_once() {
    let told = Stage::new(no_merge()).pull(|_| {}).run();
    assert_eq!(told.names(), ["acquire", "discover", "look 1", "look 1", "review 1", "conclude 1", "report", "release"]);
    assert_eq!((told.status(1).as_str(), told.report.exit_code), ("PendingManualMerge", 0));
    assert_eq!((told.report.reason.word(), told.report.stop.as_str()), ("clean", "complete"));
}

/// SL-1, SL-49 to SL-66: review, response, another look at its checks, another review, approval; each once.
#[test]
fn a_round_has_a_review_a_response_and_a_review() {
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 2).run();
    let round: Vec<String> = told.names().into_iter().skip(3).take(7).collect();
    assert_eq!(round, ["look 1", "review 1", "conclude 1", "respond 1", "look 1", "review 1", "conclude 1"]);
    assert_eq!(told.status(1), "PendingManualMerge");
}

/// SL-1, CF-13: who fixes does not review, and who reviewed does not fix.
#[test]
fn nobody_judges_his_own_work() {
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).run();
    let without = |effect: &Order| match effect {
        Order::Act(Act::Review { without, .. } | Act::Respond { without, .. }) => {
            Some(without.iter().map(|agent| agent.as_str().to_owned()).collect::<Vec<_>>())
        }
        _ => None,
    };
    let all: Vec<Vec<String>> = told.sent().filter_map(|effect| without(&effect.order)).collect();
    assert_eq!(all, [vec![], vec!["claude".to_owned()], vec!["codex".to_owned()]]);
    let partial = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).world(|world| {
        world.cast.reviewer = Reviewer::Partial;
        // Every other time is enough for one of these.
        for _ in 0..6 {
            world.forge.open(|pull| pull.bugs = 1);
        }
    });
    let told = partial.run();
    assert!(told.report.pulls.iter().any(|row| row.note.as_deref().is_some_and(|note| note.contains("codex"))));
    assert_eq!(told.report.exit_code, 3);
}

/// SL-67, SL-102, SL-166, SL-171: what is not approved after the round is a person's, with one comment, and there is no second round.
#[test]
fn what_remains_is_told_once() {
    let harsh = |world: &mut crate::world::World| world.cast.reviewer = Reviewer::Harsh;
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).world(harsh).run();
    assert_eq!((told.count("review 1"), told.count("respond 1"), told.count("remains 1")), (2, 1, 1));
    assert_eq!((told.status(1).as_str(), told.note(1)), ("NeedsHumanFollowUp", "CI green, code changes requested"));
    assert_eq!((told.report.reason.word(), told.report.exit_code), ("pass-complete", 1));
}

/// SL-62, SL-98: what the responder cannot resolve is left to a person; without a push nobody looks again.
#[test]
fn a_responder_who_changes_nothing_leaves_it_to_a_person() {
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).world(|world| world.cast.responder = Responder::Nothing).run();
    assert_eq!((told.count("review 1"), told.count("remains 1")), (1, 1));
    assert_eq!(told.status(1), "NeedsHumanFollowUp");
    let half = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).world(|world| world.cast.responder = Responder::Half).run();
    assert_eq!((half.count("review 1"), half.count("remains 1"), half.status(1).as_str()), (2, 1, "NeedsHumanFollowUp"));
}

/// SL-53: a verdict that waits for something outside is nobody's to respond to.
#[test]
fn a_blocked_one_has_no_response() {
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).world(|world| world.cast.reviewer = Reviewer::Blocks).run();
    assert_eq!((told.count("respond 1"), told.status(1).as_str()), (0, "NeedsHumanFollowUp"));
}

/// What comes from another repository is reviewed, and never pushed to; nor is what somebody proposes who may not write, when it lies
/// in our own.
#[test]
fn what_a_stranger_proposes_is_reviewed_and_not_pushed_to() {
    for (is_fork, is_strangers) in [(true, false), (false, true), (true, true)] {
        let told =
            Stage::new(no_merge()).pull(|pull| (pull.is_fork, pull.is_strangers, pull.bugs) = (is_fork, is_strangers, 1)).run();
        assert_eq!((told.count("review 1"), told.count("respond 1"), told.status(1).as_str()), (1, 0, "NeedsHumanFollowUp"));
    }
}

/// SL-36, SL-37, SL-105: markers are rejected before anything else, and nothing of it is reviewed.
#[test]
fn conflict_markers_are_rejected_unread() {
    let told = Stage::new(no_merge()).pull(|pull| pull.markers = true).run();
    assert_eq!((told.count("reject 1"), told.count("review 1"), told.status(1).as_str()), (1, 0, "Rejected"));
    assert_eq!(told.row(1).review.words(), "Rejected: conflict markers");
}

/// SL-51, SL-101, SL-170: failing checks are a reason not to look; pending ones are waited for, and no longer than was said.
#[test]
fn checks_come_first() {
    let told = Stage::new(no_merge()).pull(|pull| pull.checks = CheckState::Failure).run();
    assert_eq!((told.count("review 1"), told.status(1).as_str(), told.report.exit_code), (0, "ChecksFailing", 1));
    let waited = Stage::new(no_merge()).pull(|pull| pull.checks = CheckState::Pending).run();
    assert_eq!((waited.count("review 1"), waited.status(1).as_str()), (1, "PendingManualMerge"));
    let hasty = plain(|flags| flags.checks = Some(tribunal_core::policy::span::Span::seconds(0)));
    let told = Stage::new(hasty).pull(|pull| pull.checks = CheckState::Pending).run();
    assert_eq!((told.count("review 1"), told.status(1).as_str(), told.report.exit_code), (0, "ChecksPending", 75));
}

/// SL-65: a push that breaks the checks is neither approved nor merged.
#[test]
fn a_response_that_breaks_the_checks_is_not_approved() {
    let told = Stage::new(plain(|flags| flags.merge = true))
        .pull(|pull| pull.bugs = 1)
        .world(|world| world.cast.responder = Responder::Breaks)
        .run();
    assert_eq!((told.count("review 1"), told.count("merge 1"), told.status(1).as_str()), (1, 0, "Failed"));
    assert!(told.note(1).starts_with("checks: "), "{}", told.note(1));
}

/// SL-5, SL-93, SL-99: one that fails is told with its reason, and the others go on.
#[test]
fn one_failure_is_one_failure() {
    let failed = Outcome::Reviewed { said: Err(Trouble::Incomplete("no answer".into())), effort: Effort::default() };
    let told = Stage::new(no_merge()).pull(|_| {}).pull(|_| {}).plan("review 1", failed).run();
    assert_eq!((told.status(1).as_str(), told.note(1)), ("Failed", "review: no answer"));
    assert_eq!((told.status(2).as_str(), told.report.exit_code), ("PendingManualMerge", 3));
    let refused = Outcome::Responded { said: Err(Trouble::NotPushed("protected branch".into())), effort: Effort::default() };
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).plan("respond 1", refused).run();
    assert_eq!((told.status(1).as_str(), told.report.exit_code), ("Failed", 1));
}

/// CF-16, design rule 7: a head that moves takes what was found about it away.
#[test]
fn a_moved_head_discards_the_review() {
    let moved = Outcome::Reviewed { said: Err(Trouble::HeadMoved), effort: Effort::default() };
    let told = Stage::new(no_merge()).pull(|_| {}).plan("review 1", moved).run();
    assert_eq!((told.count("conclude 1"), told.status(1).as_str(), told.report.exit_code), (0, "HeadMoved", 75));
    let astray = Stage::new(no_merge()).world(|world| {
        world.cast.reviewer = Reviewer::Astray;
        for _ in 0..9 {
            world.forge.open(|_| {});
        }
    });
    let told = astray.run();
    assert!(told.report.pulls.iter().any(|row| format!("{:?}", row.status) == "HeadMoved"));
}

/// A verdict that its own findings contradict approves nothing.
#[test]
fn a_contradiction_is_no_approval() {
    let told = Stage::new(no_merge()).pull(|pull| pull.bugs = 1).world(|world| world.cast.reviewer = Reviewer::Contradicts).run();
    assert_eq!(told.count("respond 1"), 1);
    let verdicts = told.sent().filter_map(|effect| match &effect.order {
        Order::Act(Act::Conclude { verdict, .. }) => Some(verdict.word()),
        _ => None,
    });
    assert_eq!(verdicts.collect::<Vec<_>>(), ["MAJOR", "LGTM"]);
}

/// SL-46, SL-48: pairs work at the same time, each through its own.
#[test]
fn pairs_work_side_by_side() {
    let three = plain(|flags| (flags.pairs, flags.no_merge) = (Some(3), true));
    let stage = (0..6).fold(Stage::new(three), |stage, _| stage.pull(|_| {})).until("review 1");
    let looks = stage.under_way();
    assert_eq!(looks.len(), 3, "{looks:?}");
    let told = stage.run();
    assert_eq!(told.report.pulls.iter().map(|row| row.pair.unwrap()).collect::<Vec<_>>(), [1, 2, 3, 1, 2, 3]);
    assert_eq!(told.report.pairs, 3);
}

/// SL-47, SL-95: who is turned away for a while is asked by one at a time from then on; nothing is given up.
#[test]
fn after_a_quota_one_works_at_a_time() {
    let three = plain(|flags| (flags.pairs, flags.no_merge) = (Some(3), true));
    let quota = Outcome::Reviewed { said: Err(Trouble::Unavailable("quota".into())), effort: Effort::default() };
    let stage = (0..9).fold(Stage::new(three), |stage, _| stage.pull(|_| {})).plan("review 1", quota);
    let stage = stage.until("review 9");
    assert_eq!(stage.under_way(), ["review 9"]);
    let told = stage.run();
    assert_eq!(told.report.pulls.iter().filter(|row| format!("{:?}", row.status) == "PendingManualMerge").count(), 8);
    assert_eq!(told.report.exit_code, 75);
}

/// SL-44, SL-9, SL-173: a dry run looks at everything and does nothing, conflict markers or not.
#[test]
fn a_dry_run_only_looks() {
    let told = Stage::new(plain(|flags| (flags.dry_run, flags.merge) = (true, true)))
        .pull(|pull| pull.markers = true)
        .pull(|pull| pull.checks = CheckState::Failure)
        .pull(|_| {})
        .run();
    assert!(told.sent().all(|effect| matches!(effect.order, Order::Read(Read::Discover { .. } | Read::Look { .. }))));
    assert_eq!([told.status(1), told.status(2), told.status(3)], ["WouldReject", "ChecksFailing", "WouldReview"]);
    assert!(told.report.dry_run);
}

/// SL-29, SL-96: nothing open is said, and is no failure.
#[test]
fn nothing_open_is_said() {
    let told = Stage::new(no_merge()).run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("nothing_open", 0));
    assert!(told.report.next_steps[0].contains("open a pull request"));
}

/// SL-5, SL-28: exactly those that were typed; what is not there is said, and is never green.
#[test]
fn typed_numbers_are_the_set() {
    let typed = |numbers: [u64; 2]| {
        let mut request = no_merge();
        request.target = tribunal_core::procedure::sweep::request::Target::Numbers(numbers.into());
        Stage::new(request).pull(|_| {}).pull(|_| {}).run()
    };
    let told = typed([2, 9]);
    assert_eq!((told.count("review 1"), told.count("review 2")), (0, 1));
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("complete", 5));
    assert_eq!(told.report.notices, ["not there: #9"]);
    assert!(told.report.next_steps.iter().any(|step| step.starts_with("#9: check")), "{:?}", told.report.next_steps);
    let told = typed([8, 9]);
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("not_there", 5));
    assert_eq!(told.report.explanation, "There is no pull request #8, #9");
}

/// CF-9: a list that cannot be read is not an empty one.
#[test]
fn an_unreadable_set_is_not_an_empty_one() {
    let told = Stage::new(no_merge()).plan("discover", Outcome::Discovered(Err(Trouble::Forge("HTTP 502".into())))).run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("set_unreadable", 5));
    let told = Stage::new(no_merge()).pull(|_| {}).plan("look 1", Outcome::Looked(Err(Trouble::Forge("HTTP 502".into())))).run();
    assert_eq!((told.count("review 1"), told.report.exit_code), (0, 5));
}

/// SL-11, CF-29: a plain sweep writes no files, and holds the lock all the same.
#[test]
fn a_plain_sweep_writes_no_files() {
    let told = Stage::new(no_merge()).pull(|_| {}).run();
    assert_eq!((told.count("export"), told.count("acquire"), told.count("release")), (0, 1, 1));
    assert!(told.report.looped.is_none());
}
