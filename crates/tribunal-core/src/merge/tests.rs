//! The decision, walked through: a world is one choice for each thing that the decision looks at, and an oracle that knows nothing of
//! conditions says whether that world may be merged.

use super::clearance::Lapse;
use super::conditions::{By, Name, Standing, conditions};
use super::facts::{Consent, Declared, Dependency, DependencyState, Facts, Gate, Gates, HeadMaker, Marker, Part, Reviewed};
use super::hold::{Hold, Source};
use super::people::{OpenThread, Voices};
use super::policy::{Confirm, MergePolicy, VerifiedBy, Wanted, When};
use super::samples::{HEAD, check, merging, ready};
use super::words::{Why, WhyEnd, exit_code, markdown};
use crate::combine::verdict::{Outcome, Verdict};
use crate::ids::FindingId;
use crate::plan::links::Reference;
use crate::publish::status::CONTEXT;
use crate::publish::tests::acted_on;
use crate::pull::facts::{CheckState, MergeMethod, Mergeable, Obstacle, PullState, RequiredChecks};
use crate::pull::told::Told;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

const OTHER: &str = "3333333333333333333333333333333333333333";

/// Every thing that the decision looks at, with how many ways it can be. The first way of each is fit to be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    State,
    Draft,
    Label,
    Mergeable,
    Markers,
    Dependency,
    Checks,
    Required,
    Review,
    Outcome,
    Verdict,
    Blocking,
    Looked,
    Fixers,
    Approval,
    Asking,
    Thread,
    WantedByForge,
    Gates,
    Consent,
    Methods,
    Guarded,
    When,
    VerifiedBy,
    RequireChecks,
    Confirm,
    WantedByPolicy,
    Wanted,
    People,
    Obstacle,
    MadeBy,
    Holds,
}

const AXES: [(Axis, u8); 32] = [
    (Axis::State, 3),
    (Axis::Draft, 2),
    (Axis::Label, 2),
    (Axis::Mergeable, 5),
    (Axis::Markers, 3),
    (Axis::Dependency, 8),
    (Axis::Checks, 7),
    (Axis::Required, 5),
    (Axis::Review, 4),
    (Axis::Outcome, 4),
    (Axis::Verdict, 5),
    (Axis::Blocking, 2),
    (Axis::Looked, 3),
    (Axis::Fixers, 3),
    (Axis::Approval, 4),
    (Axis::Asking, 2),
    (Axis::Thread, 4),
    (Axis::WantedByForge, 4),
    (Axis::Gates, 4),
    (Axis::Consent, 3),
    (Axis::Methods, 4),
    (Axis::Guarded, 3),
    (Axis::When, 2),
    (Axis::VerifiedBy, 2),
    (Axis::RequireChecks, 2),
    (Axis::Confirm, 2),
    (Axis::WantedByPolicy, 3),
    (Axis::Wanted, 3),
    (Axis::People, 2),
    (Axis::Obstacle, 3),
    (Axis::MadeBy, 6),
    (Axis::Holds, 4),
];

type World = [u8; AXES.len()];

fn pick(world: &World, axis: Axis) -> u8 {
    AXES.iter().position(|(other, _)| *other == axis).map(|at| world[at]).unwrap()
}

fn unknown<T>() -> Told<T> {
    Told::Unknown("no answer".into())
}

fn facts(world: &World) -> Facts {
    let at = |axis| pick(world, axis);
    let mut facts = ready();
    facts.state = [PullState::Open, PullState::Closed, PullState::Merged][at(Axis::State) as usize];
    facts.draft = at(Axis::Draft) == 1;
    facts.labels = if at(Axis::Label) == 1 { vec!["bug".into(), "Do not merge".into()] } else { vec!["bug".into()] };
    facts.mergeable = [Mergeable::Yes, Mergeable::Conflict, Mergeable::Blocked, Mergeable::Unknown, Mergeable::Behind]
        [at(Axis::Mergeable) as usize];
    facts.conflict_markers = match at(Axis::Markers) {
        0 => Told::Is(vec![]),
        1 => Told::Is(vec![Marker { path: "a.rs".into(), line: 3 }]),
        _ => unknown(),
    };
    let depends = |declared, state| Told::Is(vec![Dependency { on: Reference::Number(5), declared, state }]);
    facts.dependencies = match at(Axis::Dependency) {
        0 => Told::Is(vec![]),
        1 => depends(Declared::InWords, Told::Is(DependencyState::Done)),
        2 => depends(Declared::InPlan, Told::Is(DependencyState::Open)),
        3 => depends(Declared::InWords, Told::Is(DependencyState::Abandoned)),
        4 => depends(Declared::InWords, Told::Is(DependencyState::Circular)),
        5 => depends(Declared::Stacked, Told::Is(DependencyState::Done)),
        6 => depends(Declared::InWords, unknown()),
        _ => unknown(),
    };
    let run = |name: &str, state| Told::Is(vec![check("lint", CheckState::Skipped), check(name, state)]);
    facts.checks = match at(Axis::Checks) {
        0 => run("build", CheckState::Success),
        1 => Told::Is(vec![]),
        2 => Told::Is(vec![check(CONTEXT, CheckState::Success)]),
        3 => run("build", CheckState::Pending),
        4 => run("build", CheckState::Failure),
        5 => Told::Is(vec![check("build", CheckState::Success), check(CONTEXT, CheckState::Error)]),
        _ => unknown(),
    };
    facts.rules.checks = match at(Axis::Required) {
        0 => Told::Is(RequiredChecks::default()),
        1 => Told::Is(RequiredChecks { names: BTreeSet::from(["build".into()]), ..RequiredChecks::default() }),
        2 => Told::Is(RequiredChecks { patterns: BTreeSet::from(["bu*".into()]), ..RequiredChecks::default() }),
        3 => Told::Is(RequiredChecks { any: true, ..RequiredChecks::default() }),
        _ => unknown(),
    };
    let looked: &[&str] = match at(Axis::Looked) {
        0 => &["claude"],
        1 => &["fixer"],
        _ => &[],
    };
    let review = Reviewed {
        run: "run-1".into(),
        head: if at(Axis::Review) == 1 { OTHER.into() } else { HEAD.into() },
        base_branch: Some("main".into()),
        outcome: [Outcome::Clean, Outcome::Findings, Outcome::Incomplete, Outcome::NotRun][at(Axis::Outcome) as usize],
        verdict: [Some(Verdict::Lgtm), Some(Verdict::Minor), Some(Verdict::Major), Some(Verdict::Blocked), None]
            [at(Axis::Verdict) as usize],
        agents: looked.iter().map(|agent| (*agent).into()).collect(),
        rules: true,
        blocking: if at(Axis::Blocking) == 1 { vec![FindingId(3)] } else { vec![] },
    };
    facts.review = match at(Axis::Review) {
        0 | 1 => Told::Is(Some(review)),
        2 => Told::Is(None),
        _ => unknown(),
    };
    facts.fixers = match at(Axis::Fixers) {
        0 => Told::Is(BTreeSet::from(["rules".into()])),
        1 => Told::Is(BTreeSet::from(["fixer".into()])),
        _ => unknown(),
    };
    let thread = |by: &str, answered| OpenThread {
        id: "t1".into(),
        by: by.into(),
        path: "a.rs".into(),
        line: Some(1),
        answered,
        may_write: Some(true),
    };
    let voices = Voices {
        approved: if at(Axis::Approval) == 1 { BTreeSet::from(["ann".into()]) } else { BTreeSet::new() },
        approved_before: if at(Axis::Approval) == 2 { BTreeSet::from(["ann".into()]) } else { BTreeSet::new() },
        unsure: if at(Axis::Approval) == 3 { BTreeSet::from(["ann".into()]) } else { BTreeSet::new() },
        asking: if at(Axis::Asking) == 1 { BTreeSet::from(["bob".into()]) } else { BTreeSet::new() },
        threads: match at(Axis::Thread) {
            0 => vec![],
            1 => vec![thread("bob", false)],
            2 => vec![thread("bob", true)],
            _ => vec![thread("ann", false)],
        },
        ..Voices::default()
    };
    let maker = |login: &str, part, may_write| HeadMaker { login: login.into(), part, may_write };
    facts.made_by = match at(Axis::MadeBy) {
        0 => vec![maker("dev", Part::Author, Told::Is(true))],
        1 => vec![maker("eve", Part::Author, Told::Is(false))],
        2 => vec![maker("dev", Part::Author, Told::Is(true)), maker("eve", Part::Pusher, Told::Is(false))],
        3 => vec![maker("eve", Part::Author, unknown())],
        4 => vec![maker("dev", Part::Author, Told::Is(true)), maker("eve", Part::ForkOwner, Told::Is(false))],
        _ => vec![],
    };
    let hold = |head: &str| Hold { head: head.into(), source: Source::Thread("t9".into()), reason: "eve commented".into() };
    facts.holds = match at(Axis::Holds) {
        0 => Told::Is(vec![]),
        1 => Told::Is(vec![hold(HEAD)]),
        2 => Told::Is(vec![hold(OTHER)]),
        _ => unknown(),
    };
    facts.people = if at(Axis::People) == 0 { Told::Is(voices) } else { unknown() };
    facts.rules.approvals = match at(Axis::WantedByForge) {
        3 => unknown(),
        wanted => Told::Is(u32::from(wanted)),
    };
    let gate = || vec![Gate { name: "post-feedback-merge".into(), question: "Merge?".into() }];
    let consent = |head: &str| Some(Consent { by: "cem".into(), head: head.into(), base_branch: Some("main".into()) });
    let gates = Gates {
        pending: if at(Axis::Gates) == 1 { gate() } else { vec![] },
        refused: if at(Axis::Gates) == 2 { gate() } else { vec![] },
        consent: [None, consent(HEAD), consent(OTHER)][at(Axis::Consent) as usize].clone(),
    };
    facts.gates = if at(Axis::Gates) == 3 { unknown() } else { Told::Is(gates) };
    facts.rules.methods = match at(Axis::Methods) {
        0 => Told::Is(MergeMethod::ALL.into()),
        1 => Told::Is(BTreeSet::from([MergeMethod::Rebase])),
        2 => Told::Is(BTreeSet::new()),
        _ => unknown(),
    };
    facts.rules.obstacle = [None, Some(Obstacle::MergeQueue), Some(Obstacle::NotAllowed)][at(Axis::Obstacle) as usize];
    facts.guarded = [Told::Is(true), Told::Is(false), unknown()][at(Axis::Guarded) as usize].clone();
    facts
}

fn policy(world: &World) -> MergePolicy {
    let at = |axis| pick(world, axis);
    MergePolicy {
        when: [When::Approved, When::Never][at(Axis::When) as usize],
        verified_by: [VerifiedBy::Agent, VerifiedBy::Rules][at(Axis::VerifiedBy) as usize],
        require_checks: at(Axis::RequireChecks) == 1,
        confirm: [Confirm::Auto, Confirm::Always][at(Axis::Confirm) as usize],
        approvals: u32::from(at(Axis::WantedByPolicy)),
        ..MergePolicy::default()
    }
}

fn wanted(world: &World) -> Wanted {
    [Wanted::AsConfigured, Wanted::Asked, Wanted::Refused][pick(world, Axis::Wanted) as usize]
}

/// CF-1, CF-15, CF-27, CF-28, CF-30 in plain words, over the choices and not over the facts.
fn may(world: &World) -> bool {
    let at = |axis| pick(world, axis);
    let known = at(Axis::Gates) != 3 && at(Axis::People) == 0;
    let consent = known && at(Axis::Consent) == 1;
    let approved = known && at(Axis::Approval) == 1;
    let others_looked = match (at(Axis::Looked), at(Axis::Fixers)) {
        (_, 2) => false,
        (0, _) => true,
        (1, fixers) => fixers != 1,
        _ => false,
    };
    let rules_are_enough = at(Axis::VerifiedBy) == 1 && at(Axis::Fixers) != 2;
    let checks = match (at(Axis::Checks), at(Axis::Required)) {
        (_, 4) => false,
        (0, _) => true,
        (1 | 2, 0) => at(Axis::RequireChecks) == 0,
        _ => false,
    };
    let red_is_ours = at(Axis::Checks) == 5;
    [
        at(Axis::State) == 0 && at(Axis::Draft) == 0 && at(Axis::Label) == 0,
        at(Axis::Mergeable) == 0 && at(Axis::Markers) == 0 && at(Axis::Dependency) <= 1,
        checks && !red_is_ours,
        at(Axis::Review) == 0 && at(Axis::Outcome) <= 1 && at(Axis::Verdict) == 0 && at(Axis::Blocking) == 0,
        others_looked || rules_are_enough || approved || consent,
        known && at(Axis::Asking) == 0,
        match at(Axis::Thread) {
            0 => true,
            1 | 2 => consent,
            _ => approved || consent,
        },
        at(Axis::WantedByForge) != 3 && at(Axis::WantedByForge).max(at(Axis::WantedByPolicy)) <= u8::from(approved),
        match at(Axis::MadeBy) {
            0 => true,
            5 => false,
            _ => approved,
        },
        match at(Axis::Holds) {
            0 | 2 => true,
            1 => approved || consent,
            _ => false,
        },
        at(Axis::Gates) == 0 && (at(Axis::Confirm) == 0 || consent),
        at(Axis::Methods) == 0 && at(Axis::Guarded) == 0 && at(Axis::Obstacle) == 0,
        match at(Axis::Wanted) {
            0 => at(Axis::When) == 0,
            wanted => wanted == 1,
        },
    ]
    .iter()
    .all(|holds| *holds)
}

/// The conditions agree with the oracle, are all there, and stand behind their clearance.
fn judged(world: &World) -> bool {
    let facts = facts(world);
    let conditions = conditions(&policy(world), &facts, wanted(world));
    assert_eq!(conditions.list().iter().map(|condition| condition.name).collect::<Vec<_>>(), Name::ALL, "{world:?}");
    let cleared = conditions.clearance();
    assert_eq!(cleared.is_some(), may(world), "{world:?}: {:?}", conditions.unmet().collect::<Vec<_>>());
    assert_eq!(cleared.is_some(), conditions.first_unmet().is_none());
    if let Some(clearance) = cleared {
        assert_eq!((clearance.number(), clearance.head().as_str(), clearance.run().as_str()), (7, HEAD, "run-1"));
        assert_eq!(clearance.order().head.as_str(), HEAD);
        assert_eq!(clearance.still_holds(&facts, &conditions), Ok(()));
    }
    cleared.is_some()
}

fn neighbours(world: World) -> impl Iterator<Item = World> {
    AXES.into_iter().enumerate().flat_map(move |(at, (_, ways))| {
        let others = (0..ways).filter(move |way| *way != world[at]);
        others.map(move |way| {
            let mut next = world;
            next[at] = way;
            next
        })
    })
}

/// CF-1, SL-169, TS-87: breadth first from a pull request that may be merged, over every world that is at most three changes away.
#[test]
fn nothing_is_cleared_that_a_single_fact_forbids() {
    let start = [0; AXES.len()];
    assert!(judged(&start));
    let (mut seen, mut queue) = (BTreeSet::from([start]), VecDeque::from([(start, 0)]));
    let mut cleared = 1;
    while let Some((world, depth)) = queue.pop_front() {
        if depth == 3 {
            continue;
        }
        for next in neighbours(world) {
            // Later axes only: the order of changes makes no difference.
            if next > world && seen.insert(next) {
                cleared += usize::from(judged(&next));
                queue.push_back((next, depth + 1));
            }
        }
    }
    assert!(seen.len() > 40_000 && cleared > 300, "{} worlds, {cleared} cleared", seen.len());
}

/// From each world that is cleared, each single change that the oracle calls bad takes the clearance back; and it says which.
#[test]
fn each_flipped_fact_lapses_a_clearance() {
    let start = [0; AXES.len()];
    let before = facts(&start);
    let cleared = conditions(&policy(&start), &before, wanted(&start)).clearance().unwrap().clone();
    let mut refused = 0;
    for next in neighbours(start).filter(|next| !may(next)) {
        let now = facts(&next);
        let lapse = cleared.still_holds(&now, &conditions(&policy(&next), &now, wanted(&next))).unwrap_err();
        assert!(!lapse.to_string().is_empty());
        refused += 1;
    }
    assert!(refused > 40, "{refused}");
}

/// A review and a yes are of a head and of the branch that it goes into. Whoever opened the pull request can aim it at another one.
#[test]
fn another_base_is_not_reviewed() {
    let judged = |facts: &Facts| conditions(&merging(), facts, Wanted::AsConfigured);
    let retargeted = Facts { base_branch: "release".into(), ..ready() };
    let mut unnamed = ready();
    if let Told::Is(Some(review)) = &mut unnamed.review {
        review.base_branch = None;
    }
    for (facts, words) in [(&retargeted, "was made for a merge into `main`"), (&unnamed, "does not name the branch")] {
        let judged = judged(facts);
        assert!(judged.clearance().is_none());
        for name in [Name::Reviewed, Name::VerdictLgtm, Name::NoBlockingFinding] {
            assert!(!judged.get(name).unwrap().is_met(), "{name:?}");
        }
        assert!(judged.get(Name::Reviewed).unwrap().sentence().contains(words));
    }
    let consent = |base_branch: Option<&str>| {
        let consent = Consent { by: "cem".into(), head: HEAD.into(), base_branch: base_branch.map(str::to_owned) };
        let gates = Told::Is(Gates { consent: Some(consent), ..Gates::default() });
        Facts { gates, ..ready() }.consent().is_some()
    };
    assert!(consent(Some("main")) && !consent(Some("release")) && !consent(None));
}

/// Design rule 7: a clearance is of one head, one base, one review and one method.
#[test]
fn a_clearance_is_of_what_was_cleared() {
    let cleared = conditions(&merging(), &ready(), Wanted::AsConfigured).clearance().unwrap().clone();
    let moved = Facts { head: OTHER.into(), ..ready() };
    let lapse = cleared.still_holds(&moved, &conditions(&merging(), &moved, Wanted::AsConfigured)).unwrap_err();
    assert!(matches!(lapse, Lapse::HeadMoved { .. }), "{lapse}");
    let elsewhere = Facts { base_branch: "release".into(), ..ready() };
    let lapse = cleared.still_holds(&elsewhere, &conditions(&merging(), &elsewhere, Wanted::AsConfigured)).unwrap_err();
    assert!(matches!(lapse, Lapse::BaseChanged { .. }), "{lapse}");
    assert!(cleared.is_for("main").is_ok() && cleared.is_for("release").is_err());
    let other_way = MergePolicy { method: MergeMethod::Rebase, ..merging() };
    assert_eq!(cleared.still_holds(&ready(), &conditions(&other_way, &ready(), Wanted::AsConfigured)), Err(Lapse::Different));
}

proptest! {
    /// The whole space, at random, mostly near what may be merged.
    #[test]
    fn anywhere_the_conditions_agree_with_the_oracle(ways in prop::collection::vec((0u8..8, 0u8..4), AXES.len())) {
        let mut world = [0; AXES.len()];
        for (at, (way, dice)) in ways.into_iter().enumerate() {
            world[at] = if dice == 0 { way % AXES[at].1 } else { 0 };
        }
        judged(&world);
    }

    /// No name that somebody else chose reaches a terminal or a page as it is.
    #[test]
    fn foreign_names_are_made_visible(label in "[\\x00-\\x1f\u{202e}a|`@]{1,12}") {
        let mut facts = ready();
        facts.checks = Told::Is(vec![check(&label, CheckState::Failure)]);
        facts.title = label.clone();
        let whys = [Why::of(&facts, &conditions(&merging(), &facts, Wanted::AsConfigured))];
        let shown = markdown(&whys);
        prop_assert!(!shown.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{:?}", shown);
        prop_assert!(shown.lines().filter(|line| line.starts_with("| ")).all(|line| line.replace("\\|", "").matches('|').count() == 5));
    }
}

fn sentence(change: impl FnOnce(&mut Facts)) -> String {
    let mut facts = ready();
    change(&mut facts);
    let conditions = conditions(&merging(), &facts, Wanted::AsConfigured);
    Why::of(&facts, &conditions).headline()
}

/// Field pain 25: the first line is the real reason, in words that say what to look at.
#[test]
fn the_reason_is_said_in_plain_words() {
    insta::assert_snapshot!(sentence(|_| ()), @"every condition is met: it could be merged now");
    insta::assert_snapshot!(sentence(|facts| facts.labels = vec!["wip".into()]), @"the label `wip` holds it back");
    insta::assert_snapshot!(sentence(|facts| facts.mergeable = Mergeable::Conflict), @"it conflicts with `main`");
    insta::assert_snapshot!(
        sentence(|facts| facts.checks = Told::Is(vec![check("build", CheckState::Pending)])),
        @"waiting: `build` is still running"
    );
    insta::assert_snapshot!(
        sentence(|facts| facts.rules.checks = Told::Is(RequiredChecks { names: BTreeSet::from(["e2e".into()]), ..RequiredChecks::default() })),
        @"waiting: `e2e` is required and not there"
    );
    insta::assert_snapshot!(
        sentence(|facts| facts.head = OTHER.into()),
        @"the last review is of 111111111111, and the head is 333333333333"
    );
    insta::assert_snapshot!(sentence(|facts| facts.rules.approvals = Told::Is(2)), @"0 of 2 approvals by people");
}

/// SL-71, CF-1: with everything met and merging off, it waits for somebody who merges by hand.
#[test]
fn approved_and_not_merged_says_so() {
    let conditions = conditions(&MergePolicy::default(), &ready(), Wanted::AsConfigured);
    assert!(conditions.is_approved() && conditions.clearance().is_none());
    let why = Why::of(&ready(), &conditions);
    assert_eq!(why.headline(), "approved, pending manual merge: merging is off");
    assert_eq!(exit_code(&[why]), 1);
}

/// CF-30: no checks are met, and it is said that there are none.
#[test]
fn no_checks_are_said() {
    let facts = Facts { checks: Told::Is(vec![]), ..ready() };
    let all = conditions(&merging(), &facts, Wanted::AsConfigured);
    assert_eq!(all.get(Name::ChecksGreen).unwrap().sentence(), "no checks");
    assert!(all.clearance().is_some());
    let strict = MergePolicy { require_checks: true, ..merging() };
    assert!(conditions(&strict, &facts, Wanted::AsConfigured).clearance().is_none());
}

/// 75 only when nothing but time is missing; the forge's own "blocked" does not make a person of it when the reason is known.
#[test]
fn waiting_is_told_from_being_stuck() {
    let end = |change: &dyn Fn(&mut Facts)| {
        let mut facts = ready();
        change(&mut facts);
        Why::of(&facts, &conditions(&merging(), &facts, Wanted::AsConfigured)).end
    };
    let pending = |facts: &mut Facts| {
        facts.checks = Told::Is(vec![check("build", CheckState::Pending)]);
        facts.mergeable = Mergeable::Blocked;
    };
    assert_eq!(end(&pending), WhyEnd::Waiting);
    assert_eq!(end(&|facts| facts.mergeable = Mergeable::Unknown), WhyEnd::Waiting);
    assert_eq!(end(&|facts| facts.mergeable = Mergeable::Blocked), WhyEnd::Stuck);
    assert_eq!(end(&|facts| facts.review = Told::Is(None)), WhyEnd::Stuck);
    assert_eq!(exit_code(&[]), 0);
}

/// Every condition that is not met says what helps, and by whom.
#[test]
fn everything_has_a_cure() {
    for world in neighbours([0; AXES.len()]) {
        for condition in conditions(&policy(&world), &facts(&world), wanted(&world)).unmet() {
            let cure = condition.cure().unwrap();
            assert!(!cure.what.is_empty() && !condition.sentence().is_empty(), "{condition:?}");
            if matches!(condition.name, Name::NoChangesRequested | Name::GatesAnswered | Name::Approvals) {
                assert_eq!(cure.by, By::Person, "{condition:?}");
            }
        }
    }
}

/// Design rule 6: a title is somebody's words.
#[test]
fn a_title_is_harmless_as_markdown() {
    let facts = Facts { title: "[x](//evil.example) ![y](//e) #12 @octo <b> `` c ` d `` `a|b` <i>".into(), ..ready() };
    let page = markdown(&[Why::of(&facts, &conditions(&merging(), &facts, Wanted::AsConfigured))]);
    assert_eq!(acted_on(&page), [""; 0], "{page}");
    assert!(!page.contains(" #12") && page.contains("`` c ` d ``"), "{page}");
}

/// The conditions are read back as they were written: a stored state is read by a later release.
#[test]
fn conditions_are_stored_and_read() {
    let facts = Facts { draft: true, ..ready() };
    let list = conditions(&merging(), &facts, Wanted::AsConfigured).list().to_vec();
    let json = serde_json::to_value(&list).unwrap();
    assert_eq!(json[1]["name"], "not-draft");
    assert_eq!(json[1]["standing"], "unmet");
    assert_eq!(serde_json::from_value::<Vec<super::conditions::Condition>>(json).unwrap(), list);
    assert!(matches!(list[0].standing, Standing::Met { .. }));
    assert_eq!(Name::ALL.len(), Name::ALL.iter().map(|name| name.word()).collect::<BTreeSet<_>>().len());
    assert!(Name::ALL.iter().all(|name| serde_json::to_value(name).unwrap() == name.word()));
}
