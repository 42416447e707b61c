use super::audit::*;
use super::axis::cross_iteration_axis;
use super::break_fix::break_fix;
use super::cluster::root_cluster;
use super::detect::detect;
use super::diminishing::{diminishing_returns, gate_a};
use super::merge_advice::{Advice, AdvisoryReason, merge_advice};
use super::repeat::{exhausted, may_remediate, remediations, same_finding_repeat};
use super::structural::is_structural;
use super::*;
use crate::remedy::ladder::Reason;

fn seen(item: &str, round: u32, status: Status) -> Remembered {
    Remembered {
        item: ItemId(item.into()),
        path: Some("src/a.py".into()),
        lines: Some((10, 12)),
        framing: None,
        priority: Some(Priority::P2),
        category: None,
        slug: None,
        round,
        status,
        race: false,
        nature: None,
        panel: false,
    }
}

fn at(line: u32, finding: Remembered) -> Remembered {
    Remembered { lines: Some((line, line + 2)), ..finding }
}

fn framed(framing: &str, finding: Remembered) -> Remembered {
    Remembered { framing: Some(framing.into()), ..finding }
}

fn high(finding: Remembered) -> Remembered {
    Remembered { priority: Some(Priority::P1), ..finding }
}

/// Rounds from 1, each over.
fn history(rounds: Vec<Vec<Remembered>>) -> History {
    let rounds = rounds.into_iter().zip(1..).map(|(findings, number)| Round { number, findings, over: true, ..Round::default() });
    History { rounds: rounds.collect(), ..History::default() }
}

fn before_the_fix(mut history: History) -> History {
    if let Some(round) = history.rounds.last_mut() {
        round.over = false;
    }
    history
}

/// WL-51: said to be fixed, raised again, and still there after another pass.
#[test]
fn the_same_finding_again() {
    let again = history(vec![vec![seen("a", 1, Status::Fixed)], vec![seen("a", 1, Status::Regressed)]]);
    assert!(same_finding_repeat(&again).fired);
    assert!(!same_finding_repeat(&before_the_fix(again)).fired);
    let fixed = history(vec![vec![seen("a", 1, Status::Fixed)], vec![seen("a", 1, Status::Fixed)]]);
    assert!(!same_finding_repeat(&fixed).fired);
    let other = history(vec![vec![seen("a", 1, Status::Fixed)], vec![seen("b", 2, Status::Open)]]);
    assert!(!same_finding_repeat(&other).fired);
    // In a new thread, but the same kind of problem at the same place (PR-113).
    let slug = |finding| Remembered { slug: Some("sql-injection".into()), ..finding };
    let moved = history(vec![vec![slug(seen("a", 1, Status::Fixed))], vec![slug(at(13, seen("b", 2, Status::Open)))]]);
    assert!(same_finding_repeat(&moved).fired);
    // One of two alike in one review was fixed, and the other one was not: neither came back.
    let alike = history(vec![vec![slug(seen("a", 1, Status::Fixed)), slug(at(13, seen("b", 1, Status::Open)))]]);
    assert!(!same_finding_repeat(&alike).fired);
}

/// CF-3, PR-114: three tries, then a person.
#[test]
fn a_finding_is_tried_three_times() {
    let tries = |count: usize| {
        let mut rounds = vec![vec![seen("a", 1, Status::Fixed)]; count];
        rounds.push(vec![seen("a", 1, Status::Cycling)]);
        history(rounds)
    };
    let finding = seen("a", 1, Status::Cycling);
    assert_eq!(remediations(&tries(2), &finding), 2);
    assert!(may_remediate(&tries(2), &finding) && !may_remediate(&tries(3), &finding));
    assert!(!exhausted(&tries(2)).fired && exhausted(&tries(3)).fired);
}

/// WL-88: three that share a framing; two with a grave one; nothing never matches nothing.
#[test]
fn root_clusters() {
    let open = |item: &str, line| at(line, seen(item, 1, Status::Open));
    let three = history(vec![vec![
        framed("Escape  input", open("a", 1)),
        framed("escape input", open("b", 50)),
        framed("escape input", open("c", 90)),
    ]]);
    let cluster = root_cluster(&three);
    assert!(cluster.fired && cluster.members.len() == 3 && cluster.files == ["src/a.py".into()]);
    let two = history(vec![vec![framed("x", open("a", 1)), framed("x", open("b", 50))]]);
    assert!(!root_cluster(&two).fired);
    let grave = history(vec![vec![framed("x", open("a", 1)), high(framed("x", open("b", 50)))]]);
    assert!(root_cluster(&grave).fired);
    let unframed = history(vec![vec![open("a", 1), open("b", 50), open("c", 90)]]);
    assert!(!root_cluster(&unframed).fired);
    let severe_alone = history(vec![vec![high(open("a", 1)), high(open("b", 50)), high(open("c", 90))]]);
    assert!(!root_cluster(&severe_alone).fired);
    let overlapping = history(vec![vec![open("a", 10), open("b", 12), open("c", 14)]]);
    assert!(root_cluster(&overlapping).fired);
    let closed = history(vec![vec![
        framed("x", seen("a", 1, Status::Fixed)),
        framed("x", seen("b", 1, Status::Fixed)),
        framed("x", seen("c", 1, Status::Fixed)),
    ]]);
    assert!(!root_cluster(&closed).fired);
}

/// WL-88: a grave one on lines that were just written needs one companion.
#[test]
fn a_grave_finding_on_fresh_lines() {
    let mut fresh = history(vec![vec![at(10, seen("a", 1, Status::Fixed))], vec![high(at(11, seen("b", 2, Status::Open)))]]);
    assert!(!root_cluster(&fresh).fired);
    fresh.rounds[0].touched.push(Touched { path: "src/a.py".into(), first: 11, last: 11 });
    assert!(root_cluster(&fresh).fired);
}

/// WL-89: only a young file, in two rounds, with three findings or two that share a primitive.
#[test]
fn a_young_file_that_takes_findings_every_round() {
    let rounds = |third: bool, framing: &str| {
        let mut last = vec![framed(framing, at(60, seen("b", 2, Status::Open)))];
        if third {
            last.push(at(80, seen("c", 2, Status::Open)));
        }
        let mut history = history(vec![vec![framed("parse the header", at(1, seen("a", 1, Status::Fixed)))], last]);
        history.young_files.insert("src/a.py".into());
        history
    };
    assert!(!cross_iteration_axis(&rounds(false, "close the file")).fired);
    assert!(cross_iteration_axis(&rounds(true, "close the file")).fired);
    let axis = cross_iteration_axis(&rounds(false, "parsing of dates"));
    assert!(axis.fired && axis.primitive.as_deref() == Some("parse") && !axis.zoom_out);
    let mature = History { young_files: BTreeSet::new(), ..rounds(true, "x") };
    assert!(!cross_iteration_axis(&mature).fired);
    let mut twice = rounds(true, "x");
    for round in &mut twice.rounds {
        round.structural.push(StructuralFix { path: "src/a.py".into(), class: Some("unparsed dates".into()), cases: vec![] });
    }
    assert!(cross_iteration_axis(&twice).zoom_out);
    // A list of cases is no structural fix, however often it is promised (WL-93).
    for round in &mut twice.rounds {
        round.structural[0].class = Some("dates, times, zones".into());
    }
    assert!(!cross_iteration_axis(&twice).zoom_out);
    // Two structural fixes that did not close it need no third finding.
    let mut forced = rounds(false, "close the file");
    assert!(!cross_iteration_axis(&forced).fired);
    forced.rounds.insert(1, Round { number: 2, over: true, ..Round::default() });
    for round in &mut forced.rounds[..2] {
        round.structural.push(StructuralFix { path: "src/a.py".into(), class: Some("unparsed dates".into()), cases: vec![] });
    }
    assert!(cross_iteration_axis(&forced).zoom_out);
}

/// WL-90: two of three.
#[test]
fn break_fix_break() {
    let overlap_only = history(vec![vec![seen("a", 1, Status::Fixed)], vec![seen("b", 2, Status::Open)]]);
    assert!(!break_fix(&overlap_only).fired);
    let oscillation_only = history(vec![vec![seen("a", 1, Status::Fixed)], vec![seen("a", 1, Status::Regressed)]]);
    assert!(!break_fix(&oscillation_only).fired);
    let both = history(vec![
        vec![seen("a", 1, Status::Fixed), seen("b", 1, Status::Fixed)],
        vec![seen("a", 1, Status::Regressed), seen("b", 1, Status::Fixed)],
    ]);
    assert_eq!(break_fix(&both).evidence.len(), 2);
    let back = history(vec![vec![seen("a", 1, Status::Fixed)], vec![], vec![seen("a", 1, Status::Cycling)]]);
    assert!(break_fix(&back).fired);
    let elsewhere = |finding| Remembered { path: Some("src/b.py".into()), ..finding };
    let apart = history(vec![
        vec![seen("a", 1, Status::Fixed), elsewhere(seen("b", 1, Status::Fixed))],
        vec![seen("c", 2, Status::Open), elsewhere(seen("b", 1, Status::Regressed))],
    ]);
    assert!(!break_fix(&apart).fired);
}

/// WL-91.
#[test]
fn diminishing() {
    let less = || {
        history(vec![
            vec![seen("a", 1, Status::Fixed), at(40, seen("b", 1, Status::Fixed))],
            vec![at(70, seen("c", 2, Status::Fixed))],
        ])
    };
    assert!(diminishing_returns(&less()).fired);
    assert!(!diminishing_returns(&history(vec![vec![seen("a", 1, Status::Fixed)]])).fired);
    assert!(!diminishing_returns(&before_the_fix(less())).fired);
    assert!(!diminishing_returns(&History { standing: Standing { at_ceiling: true, ..Standing::default() }, ..less() }).fired);
    assert!(!diminishing_returns(&History { standing: Standing { open_actionable: 1, ..Standing::default() }, ..less() }).fired);
    let more = history(vec![
        vec![seen("a", 1, Status::Fixed)],
        vec![at(40, seen("b", 2, Status::Fixed)), at(70, seen("c", 2, Status::Fixed))],
    ]);
    assert!(!diminishing_returns(&more).fired);
    let grave = history(vec![vec![seen("a", 1, Status::Fixed)], vec![high(at(40, seen("b", 2, Status::Fixed)))]]);
    assert!(!diminishing_returns(&grave).fired);
}

/// WL-67, WL-68, WL-92.
#[test]
fn advice_to_merge() {
    let tail = || {
        let mut history = history(vec![vec![seen("a", 1, Status::Fixed)], vec![at(40, seen("b", 2, Status::Fixed))]]);
        history.standing.home = Some("#12".into());
        history
    };
    let reason = |history: &History| merge_advice(history).advice.as_ref().map(Advice::reason);
    assert_eq!(reason(&tail()), Some(AdvisoryReason::BoundedTail));
    for standing in [
        Standing { open_actionable: 1, ..tail().standing },
        Standing { handled_unresolved: 1, ..tail().standing },
        Standing { escalation: true, ..tail().standing },
    ] {
        assert!(!merge_advice(&History { standing, ..tail() }).fired);
    }
    let mut young = tail();
    young.young_files.insert("src/a.py".into());
    let advice = merge_advice(&young);
    assert!(!advice.fired && advice.reroute && advice.young.len() == 2 && advice.young_files == ["src/a.py".into()]);
    assert_eq!(detect(&young).reason, Some(Reason::RootClusterSuspected));
    let homeless = History { standing: Standing::default(), ..tail() };
    assert_eq!(reason(&homeless), Some(AdvisoryReason::DiminishingReturns));
    let mut one_idea = tail();
    one_idea.rounds.iter_mut().for_each(|round| round.findings[0].framing = Some("index".into()));
    assert_eq!(reason(&one_idea), Some(AdvisoryReason::StructuralHome));
}

/// WL-93.
#[test]
fn structural_fixes_name_a_class() {
    let fix = |class: Option<&str>, cases: &[&str]| StructuralFix {
        path: "src/a.py".into(),
        class: class.map(str::to_owned),
        cases: cases.iter().map(|case| (*case).to_owned()).collect(),
    };
    assert!(is_structural(&fix(Some("unescaped output"), &[])).fired);
    assert!(!is_structural(&fix(None, &[])).fired);
    assert!(!is_structural(&fix(Some(" "), &[])).fired);
    assert!(!is_structural(&fix(Some("unescaped output"), &["the header", "the footer"])).fired);
    assert!(!is_structural(&fix(Some("the header, the footer, the body"), &[])).fired);
}

/// PR-120, PR-125.
#[test]
fn gate_a_opens_on_hygiene_alone() {
    let new =
        |nature: Option<Nature>| Remembered { nature, category: Some("E5".into()), panel: true, ..seen("a", 1, Status::Open) };
    assert!(gate_a(&history(vec![vec![new(Some(Nature::Hygiene))]])).fired);
    assert!(gate_a(&history(vec![vec![new(None)]])).fired);
    for nature in [Nature::Reachable, Nature::Precedent, Nature::Asymmetric, Nature::Historical] {
        assert!(!gate_a(&history(vec![vec![new(Some(Nature::Hygiene)), new(Some(nature))]])).fired);
    }
    assert!(!gate_a(&history(vec![vec![high(new(None))]])).fired);
    // An assessor that names a category of a foreign remark, and no reason for it, has not called it hygiene.
    assert!(!gate_a(&history(vec![vec![Remembered { panel: false, ..new(None) }]])).fired);
    assert!(!gate_a(&history(vec![vec![seen("a", 1, Status::Open)]])).fired);
    assert!(!gate_a(&history(vec![vec![]])).fired);
}

/// PR-119, PR-121.
#[test]
fn gate_b_audits_races_in_fixes() {
    let race = |item: &str| Remembered { slug: Some("stale-lease".into()), ..seen(item, 3, Status::Open) };
    let audit = |last: Vec<Remembered>| {
        let mut history = history(vec![vec![], vec![], last]);
        history.rounds[1].touched.push(Touched { path: "src/a.py".into(), first: 1, last: 99 });
        history
    };
    assert!(gate_b(&audit(vec![race("a"), race("b")])).fired);
    assert!(!gate_b(&audit(vec![race("a"), seen("b", 3, Status::Open)])).fired);
    let asymmetric = Remembered { nature: Some(Nature::Asymmetric), ..race("c") };
    assert!(!gate_b(&audit(vec![race("a"), race("b"), asymmetric])).fired);
    assert!(!gate_b(&history(vec![vec![], vec![], vec![race("a"), race("b")]])).fired);
    let early = history(vec![vec![], vec![Remembered { round: 2, ..race("a") }, Remembered { round: 2, ..race("b") }]]);
    assert!(!gate_b(&early).fired);
}

/// PR-121: bare `window` and `atomic` are no race, and a word inside another is none.
#[test]
fn what_a_race_is_called() {
    let called = |slug: &str| is_race_class(&Remembered { slug: Some(slug.into()), ..seen("a", 1, Status::Open) });
    for slug in [
        "toctou-on-open",
        "concurrent-map-write",
        "orphan-claim",
        "state-transition-skipped",
        "race-window",
        "atomic-rename-race",
    ] {
        assert!(called(slug), "{slug}");
    }
    for slug in ["release-notes", "stack-trace", "window-title", "atomic-write", "disclaimer"] {
        assert!(!called(slug), "{slug}");
    }
    assert!(is_race_class(&Remembered { race: true, ..seen("a", 1, Status::Open) }));
    assert!(is_race_class(&Remembered { category: Some("E2".into()), ..seen("a", 1, Status::Open) }));
}

/// WL-62, WL-94: break-fix before cluster before the advisories.
#[test]
fn the_gravest_sign_decides() {
    let both = history(vec![
        vec![framed("x", seen("a", 1, Status::Fixed)), framed("x", seen("b", 1, Status::Fixed))],
        vec![
            framed("x", seen("a", 1, Status::Regressed)),
            framed("x", seen("b", 1, Status::Fixed)),
            framed("x", seen("c", 2, Status::Open)),
        ],
    ]);
    let found = detect(&before_the_fix(both));
    assert!(found.break_fix.fired && found.cluster.fired);
    assert_eq!(found.reason, Some(Reason::Blocked));
    assert_eq!(found.reasons, [Reason::Blocked, Reason::RootClusterSuspected]);
    assert_eq!(found.blocker.as_deref(), Some("mutation-decay"));
    assert_eq!(detect(&History::default()).reason, None);
    assert_eq!(detect(&history(vec![vec![seen("a", 1, Status::Open)]])).reason, None);
    // What is remembered survives storage.
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<super::detect::Detected>(&text).unwrap(), found);
}
