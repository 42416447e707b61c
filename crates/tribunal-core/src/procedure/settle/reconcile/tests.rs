use super::*;
use crate::procedure::settle::samples::{FIRST, SECOND, given, issue, pull_seen, seen, task};
use proptest::prelude::*;

fn status_of(task: &Task, seen: &TaskSeen) -> Status {
    reconciled(task, seen, Level::Assisted).status
}

fn only_issue(open: bool, labels: &[&str]) -> TaskSeen {
    TaskSeen { issue: Some(issue(7, open, labels)), ..TaskSeen::default() }
}

fn with_state(state: PullState) -> TaskSeen {
    seen(PullSeen { state, ..pull_seen(9, "h1") })
}

/// TS-41, TS-42: the table of states, row by row.
#[test]
fn the_table_of_states() {
    let task = task("t1", 7);
    assert_eq!(status_of(&task, &only_issue(true, &["hall:in-progress"])), Status::InProgress);
    assert_eq!(status_of(&task, &only_issue(true, &["hall:awaiting-input"])), Status::AwaitingInput);
    assert_eq!(status_of(&task, &only_issue(true, &["hall:post-mortem"])), Status::Failed);
    assert_eq!(status_of(&task, &only_issue(true, &["hall:invoker-queued"])), Status::Dispatched);
    assert_eq!(status_of(&task, &only_issue(false, &[])), Status::Failed);
    let closed = |state: PullState| TaskSeen { issue: Some(issue(7, false, &[])), ..with_state(state) };
    assert_eq!(status_of(&task, &closed(PullState::Open)), Status::Reviewing);
    assert_eq!(status_of(&task, &closed(PullState::Merged)), Status::Merged);
    assert_eq!(status_of(&task, &closed(PullState::Closed)), Status::Failed);
    assert_eq!(status_of(&task, &only_issue(true, &["bug"])), Status::InProgress, "what says nothing changes nothing");
}

/// TS-39, CF-25: it is REVIEWING when its pull request opens, whatever its issue is.
#[test]
fn a_task_is_reviewing_when_its_pull_request_opens() {
    let in_progress = TaskSeen { issue: Some(issue(7, true, &["hall:in-progress"])), ..with_state(PullState::Open) };
    assert_eq!(status_of(&task("t1", 7), &in_progress), Status::Reviewing);
    let given_up = TaskSeen { issue: Some(issue(7, true, &["hall:in-progress"])), ..with_state(PullState::Closed) };
    assert_eq!(status_of(&task("t1", 7), &given_up), Status::InProgress, "the specialist is at it again");
}

/// TS-85, CF-8: the forge wins. What a person merged is merged, also after an escalation; what the file calls merged and is open is not.
#[test]
fn the_forge_wins() {
    let of = |status| Task { status, ..task("t1", 7) };
    assert_eq!(status_of(&of(Status::Escalated), &with_state(PullState::Merged)), Status::Merged);
    assert_eq!(status_of(&of(Status::Merged), &with_state(PullState::Open)), Status::Reviewing);
    assert_eq!(status_of(&of(Status::Failed), &with_state(PullState::Open)), Status::Reviewing);
    assert_eq!(status_of(&of(Status::Done), &only_issue(true, &["hall:in-progress"])), Status::Done);
}

/// An escalated task stays escalated: no push, no label and no closing brings it back (TS-92).
#[test]
fn an_escalated_task_stays_escalated() {
    let escalated = Task { status: Status::Escalated, escalation: Some("why".into()), needs_review: true, ..task("t1", 7) };
    for seen in [
        with_state(PullState::Open),
        with_state(PullState::Closed),
        only_issue(true, &["hall:in-progress"]),
        only_issue(false, &[]),
    ] {
        let now = reconciled(&escalated, &seen, Level::AutoMerge);
        assert_eq!((now.status, now.needs_review, now.escalation.as_deref()), (Status::Escalated, false, Some("why")));
    }
}

/// Advice and research have nothing to merge.
#[test]
fn advice_ends_with_its_issue() {
    let advice = Task { mode: Mode::Advising, ..task("t1", 7) };
    assert_eq!(status_of(&advice, &only_issue(false, &[])), Status::Done);
}

/// TS-43, TS-45, TS-60, TS-93: an open pull request is found and due, at a level that reviews.
#[test]
fn a_new_pull_request_is_due() {
    let at = |level| reconciled(&task("t1", 7), &with_state(PullState::Open), level);
    let due = at(Level::Assisted);
    assert_eq!((due.github_pr, due.needs_review, due.review_cycle), (Some(9), true, Some(FIRST)));
    let listed = at(Level::HandsOn);
    assert_eq!((listed.github_pr, listed.needs_review, listed.status), (Some(9), false, Status::Reviewing));
}

/// TS-44, TS-94, TS-96: a fix commit makes it due again, for the second time; the count stands in the file before and after.
#[test]
fn a_fix_commit_is_due() {
    let minor = PullSeen { verdicts: vec![given(Assessment::First, Verdict::Minor, "h1")], ..pull_seen(9, "h1") };
    let waits = reconciled(&task("t1", 7), &seen(minor.clone()), Level::Assisted);
    assert_eq!(
        (waits.needs_review, waits.review_cycle, waits.last_reviewed_sha.as_ref()),
        (false, Some(SECOND), Some(&"h1".into()))
    );
    let pushed = reconciled(&waits, &seen(PullSeen { head: "h2".into(), ..minor }), Level::Assisted);
    assert_eq!((pushed.needs_review, pushed.review_cycle, pushed.status), (true, Some(SECOND), Status::Reviewing));
    assert_eq!(pushed.last_reviewed_sha, Some("h1".into()), "what was read is what was read (TS-96)");
}

/// TS-46: what is due stays due until it is reviewed.
#[test]
fn due_is_never_taken_back() {
    let due = Task { needs_review: true, ..task("t1", 7) };
    assert!(reconciled(&due, &only_issue(true, &[]), Level::HandsOn).needs_review);
    assert!(reconciled(&due, &with_state(PullState::Open), Level::HandsOn).needs_review);
}

/// TS-61, TS-65, TS-96: what an assessment leaves behind.
#[test]
fn an_assessment_is_recorded() {
    let mut now = Task { needs_review: true, ..task("t1", 7) };
    record(&mut now, &given(Assessment::First, Verdict::Minor, "h1"));
    assert_eq!(
        (now.needs_review, now.review_cycle, now.assessed, now.verdict),
        (false, Some(SECOND), Some(FIRST), Some(Verdict::Minor))
    );
    now.needs_review = true;
    record(&mut now, &given(Assessment::Second, Verdict::Lgtm, "h2"));
    assert_eq!(
        (now.needs_review, now.review_cycle, now.assessed, now.verdict),
        (false, Some(SECOND), Some(SECOND), Some(Verdict::Lgtm))
    );
    record(&mut now, &given(Assessment::First, Verdict::Major, "h0"));
    assert_eq!((now.assessed, now.verdict, now.last_reviewed_sha), (Some(SECOND), Some(Verdict::Lgtm), Some("h2".into())));
}

proptest! {
    /// Looking twice changes nothing more.
    #[test]
    fn looking_again_changes_nothing(
        status in prop::sample::select(vec![Status::Planned, Status::InProgress, Status::Reviewing, Status::Merged, Status::Failed, Status::Escalated, Status::Done]),
        state in prop::sample::select(vec![PullState::Open, PullState::Closed, PullState::Merged]),
        has_pull in any::<bool>(),
        open in any::<bool>(),
        labelled in any::<bool>(),
        verdict in prop::option::of(prop::sample::select(vec![Verdict::Lgtm, Verdict::Minor, Verdict::Major])),
        at_head in any::<bool>(),
        level in 0u8..=2,
    ) {
        let level = Level::try_from(level).unwrap();
        let head = if at_head { "h1" } else { "h0" };
        let verdicts = verdict.into_iter().map(|verdict| given(Assessment::First, verdict, head)).collect();
        let pull = has_pull.then(|| PullSeen { state, verdicts, ..pull_seen(9, "h1") });
        let labels: &[&str] = if labelled { &["hall:in-progress"] } else { &[] };
        let seen = TaskSeen { issue: Some(issue(7, open, labels)), pull, notes: vec![] };
        let once = reconciled(&Task { status, ..task("t1", 7) }, &seen, level);
        prop_assert_eq!(reconciled(&once, &seen, level), once.clone());
        prop_assert!(level.reviews() || !once.needs_review);
        prop_assert!(!(once.status.is_terminal() && once.needs_review));
    }
}
