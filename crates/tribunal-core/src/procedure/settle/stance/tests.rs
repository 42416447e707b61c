use super::*;
use crate::procedure::settle::samples::{given, pull_seen, seen, task};
use crate::procedure::settle::seen::{Given, Unmarked};
use proptest::prelude::*;

const ALL: [Verdict; 4] = [Verdict::Lgtm, Verdict::Minor, Verdict::Major, Verdict::Blocked];

fn reviewing() -> Task {
    Task { status: Status::Reviewing, github_pr: Some(9), ..task("t1", 7) }
}

fn stands(pull: PullSeen) -> Stance {
    stance(&reviewing(), &seen(pull))
}

fn with(verdicts: Vec<Given>) -> PullSeen {
    PullSeen { verdicts, ..pull_seen(9, "h2") }
}

/// TS-10, TS-12, TS-13, TS-14, TS-15, TS-16, TS-62, TS-65: the whole table.
#[test]
fn where_verdicts_lead() {
    for verdict in ALL {
        let first = match verdict {
            Verdict::Lgtm => Route::Settle,
            Verdict::Minor => Route::Refine,
            Verdict::Major | Verdict::Blocked => Route::Escalate,
        };
        assert_eq!(route(Assessment::First, verdict), first, "{verdict:?}");
        let second = if verdict == Verdict::Lgtm { Route::Settle } else { Route::Escalate };
        assert_eq!(route(Assessment::Second, verdict), second, "{verdict:?}");
    }
}

/// TS-8, TS-9, TS-10, TS-11: a pull request is assessed, refined and assessed again, each at its own head.
#[test]
fn the_life_of_a_task() {
    use Assessment::{First, Second};
    use Verdict::{Lgtm, Minor};
    assert_eq!(stands(with(vec![])), Stance::Due { assessment: First, head: "h2".into() });
    assert_eq!(stands(with(vec![given(First, Minor, "h2")])), Stance::Refining { head: "h2".into() });
    assert_eq!(stands(with(vec![given(First, Minor, "h1")])), Stance::Due { assessment: Second, head: "h2".into() });
    assert_eq!(stands(with(vec![given(First, Minor, "h1"), given(Second, Lgtm, "h2")])), Stance::Ready { head: "h2".into() });
    assert_eq!(stands(with(vec![given(First, Lgtm, "h2")])), Stance::Ready { head: "h2".into() });
}

/// TS-17, TS-90, TS-92: there is no third assessment, whatever is pushed.
#[test]
fn what_changes_after_the_last_assessment_is_a_persons() {
    let twice = with(vec![given(Assessment::First, Verdict::Minor, "h0"), given(Assessment::Second, Verdict::Lgtm, "h1")]);
    assert_eq!(stands(twice.clone()), Stance::Escalate { reason: Escalation::ChangedAfterLast });
    let escalated = Task { status: Status::Escalated, needs_review: true, ..reviewing() };
    assert_eq!(stance(&escalated, &seen(twice)), Stance::Over);
}

/// TS-91: what is clean at its head is not reviewed again; TS-44: what was pushed since is.
#[test]
fn a_clean_head_is_reviewed_once() {
    let clean = |head: &str| with(vec![given(Assessment::First, Verdict::Lgtm, head)]);
    let due = Task { needs_review: true, ..reviewing() };
    assert_eq!(stance(&due, &seen(clean("h2"))), Stance::Ready { head: "h2".into() });
    assert_eq!(stands(clean("h1")), Stance::Due { assessment: Assessment::Second, head: "h2".into() });
}

/// A verdict is of a head and of its base. Aimed at another branch it is another change, and a verdict that names no base is none.
#[test]
fn another_base_is_assessed_again() {
    let clean = |assessment, base_branch: Option<&str>| {
        let base_branch = base_branch.map(str::to_owned);
        with(vec![Given { base_branch, ..given(assessment, Verdict::Lgtm, "h2") }])
    };
    let second = Stance::Due { assessment: Assessment::Second, head: "h2".into() };
    assert_eq!(stands(clean(Assessment::First, Some("main"))), Stance::Ready { head: "h2".into() });
    assert_eq!(stands(clean(Assessment::First, Some("eve/base"))), second);
    assert_eq!(stands(clean(Assessment::First, None)), second);
    let minor = Given { base_branch: Some("eve/base".into()), ..given(Assessment::First, Verdict::Minor, "h2") };
    assert_eq!(stands(with(vec![minor])), second, "what is asked for was found in another change");
    let reason = Escalation::ChangedAfterLast;
    assert_eq!(stands(clean(Assessment::Second, Some("eve/base"))), Stance::Escalate { reason });
    assert!(matches!(stands(clean(Assessment::Second, None)), Stance::Escalate { .. }));
}

/// TS-100: who asks for changes or approves is not trampled on; but what we found clean before stays clean.
#[test]
fn people_are_respected() {
    let by = |word: Word, verdicts: Vec<Given>| PullSeen { people: [("eve".to_owned(), word)].into(), ..with(verdicts) };
    let with_eve = |word: Word| Stance::WithPerson { by: "eve".into(), word };
    assert_eq!(stands(by(Word::Approved, vec![])), with_eve(Word::Approved));
    assert_eq!(stands(by(Word::ChangesRequested, vec![])), with_eve(Word::ChangesRequested));
    let minor = || vec![given(Assessment::First, Verdict::Minor, "h2")];
    assert_eq!(stands(by(Word::Approved, minor())), with_eve(Word::Approved));
    let clean = || vec![given(Assessment::First, Verdict::Lgtm, "h2")];
    assert_eq!(stands(by(Word::Approved, clean())), Stance::Ready { head: "h2".into() });
    assert_eq!(stands(by(Word::ChangesRequested, clean())), with_eve(Word::ChangesRequested));
    let major = vec![given(Assessment::First, Verdict::Major, "h2")];
    assert!(matches!(stands(by(Word::Approved, major)), Stance::Escalate { .. }), "an escalation stays one");
}

/// TS-7, TS-58, TS-79: due, and nothing to review; or not due at all, because the specialist is still at work.
#[test]
fn without_a_pull_request_there_is_nothing_to_assess() {
    let none = TaskSeen::default();
    assert_eq!(stance(&task("t1", 7), &none), Stance::NoPull);
    assert_eq!(stance(&Task { needs_review: true, ..task("t1", 7) }, &none), Stance::PullMissing);
    assert_eq!(stance(&reviewing(), &none), Stance::PullMissing);
    assert_eq!(stands(PullSeen { draft: true, ..pull_seen(9, "h") }), Stance::Draft);
}

/// TS-99: plans of the original, and reviews of other tools under our account, count as assessments; the larger count counts.
#[test]
fn other_counts_count() {
    let second = Stance::Due { assessment: Assessment::Second, head: "h2".into() };
    let refining = Stance::Refining { head: "h2".into() };
    let old = Task { review_cycle: Some(Cycle(Assessment::Second)), last_reviewed_sha: Some("h1".into()), ..reviewing() };
    assert_eq!(stance(&old, &seen(with(vec![]))), second);
    let waits = Task { last_reviewed_sha: Some("h2".into()), ..old.clone() };
    assert_eq!(stance(&waits, &seen(with(vec![]))), refining);
    let by_tool =
        |verdict, head: &str| PullSeen { unmarked: vec![Unmarked { verdict, head: Some(head.into()) }], ..with(vec![]) };
    assert_eq!(stands(by_tool(Verdict::Minor, "h1")), second);
    assert_eq!(stands(by_tool(Verdict::Minor, "h2")), refining);
    assert!(matches!(stands(by_tool(Verdict::Major, "h2")), Stance::Escalate { .. }));
    let done = Task { assessed: Some(Cycle(Assessment::Second)), verdict: Some(Verdict::Lgtm), ..old };
    assert!(matches!(stance(&done, &seen(with(vec![]))), Stance::Escalate { .. }));
}

/// Design rule 1: a file that says LGTM, or a tool that does, makes nothing ready; and a verdict whose seal is broken needs a person,
/// unless the plan remembers what it was.
#[test]
fn only_a_sealed_verdict_makes_it_ready() {
    let claimed = Task {
        assessed: Some(Cycle(Assessment::First)),
        verdict: Some(Verdict::Lgtm),
        last_reviewed_sha: Some("h2".into()),
        ..reviewing()
    };
    assert_eq!(stance(&claimed, &seen(with(vec![]))), Stance::Due { assessment: Assessment::Second, head: "h2".into() });
    let broken = Given { verdict: None, ..given(Assessment::First, Verdict::Lgtm, "h2") };
    assert_eq!(stands(with(vec![broken.clone()])), Stance::Escalate { reason: Escalation::VerdictUnreadable });
    assert_eq!(
        stance(&claimed, &seen(with(vec![broken.clone()]))),
        Stance::Due { assessment: Assessment::Second, head: "h2".into() }
    );
    let minor = Task { verdict: Some(Verdict::Minor), ..claimed };
    assert_eq!(stance(&minor, &seen(with(vec![broken]))), Stance::Refining { head: "h2".into() });
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(ALL.to_vec())
}

fn head() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["h0".to_owned(), "h1".to_owned(), "h2".to_owned()])
}

proptest! {
    /// TS-13, TS-14, TS-15, TS-16, TS-17, TS-90, for every mix of what forge, plan and tools say.
    #[test]
    fn never_a_third_assessment(
        first in prop::option::of((prop::option::of(verdict()), head())),
        second in prop::option::of((prop::option::of(verdict()), head())),
        in_plan in prop::option::of((1u64..=2, prop::option::of(verdict()))),
        cycle in prop::option::of(1u64..=2),
        tools in prop::collection::vec(verdict(), 0..4),
    ) {
        let of = |assessment, given: Option<(Option<Verdict>, String)>| given.map(|(verdict, head)| Given { assessment, verdict, head: Sha(head), base_branch: Some("main".into()), url: String::new() });
        let verdicts: Vec<Given> = of(Assessment::First, first).into_iter().chain(of(Assessment::Second, second)).collect();
        let unmarked: Vec<Unmarked> = tools.into_iter().map(|verdict| Unmarked { verdict, head: None }).collect();
        let count = |cycle: u64| Cycle::try_from(cycle).unwrap();
        let task = Task {
            assessed: in_plan.map(|(cycle, _)| count(cycle)),
            verdict: in_plan.and_then(|(_, verdict)| verdict),
            review_cycle: cycle.map(count),
            ..reviewing()
        };
        let made = verdicts.iter().map(|given| given.assessment.number()).max().unwrap_or(0)
            .max(in_plan.map_or(0, |(cycle, _)| cycle as u32)).max(unmarked.len().min(2) as u32);
        let condemned = verdicts.iter().any(|given| given.verdict.is_some_and(|verdict| route(given.assessment, verdict) == Route::Escalate));
        let stance = stance(&task, &seen(PullSeen { verdicts, unmarked, ..pull_seen(9, "h2") }));
        match &stance {
            Stance::Due { assessment, .. } => prop_assert!(assessment.number() > made, "{:?} after {}", stance, made),
            Stance::Ready { .. } | Stance::Refining { .. } => prop_assert!(made > 0),
            _ => {}
        }
        if condemned {
            let is_escalated = matches!(stance, Stance::Escalate { .. });
            prop_assert!(is_escalated, "{:?}", stance);
        }
    }
}
