//! The signs of the rounds, reached through the machine with what it is really told.

use super::*;
use crate::findings::scale::{Justification, Priority};
use crate::remedy::rewrite::Rewrite;
use crate::remedy::signals::Touched;
use crate::remedy::signals::merge_advice::AdvisoryReason;

/// A long loop, so that no limit is in the way.
fn long(items: &[Item]) -> Loop {
    Loop::of(LoopKind::Watch, |loops| loops.cycles = 9).begins(items)
}

fn at(path: &str, line: u32, id: &str) -> Item {
    Item { path: Some(path.into()), line: Some(line), ..item(id) }
}

fn grave(item: Item) -> Item {
    Item { priority: Some(Priority::P1), ..item }
}

fn light(nature: Justification) -> About {
    About { nature: Some(nature), ..About::default() }
}

/// A finding of our panel about a race, as its mark tells it.
fn race(line: u32, id: &str, nature: Justification) -> Item {
    let about = About {
        category: Some("E2".into()),
        slug: Some("stale-lease".into()),
        race: true,
        nature: Some(nature),
        ..About::default()
    };
    grave(Item { voice: Voice::Panel, finding: Some(id.into()), about, ..at("src/lease.rs", line, id) })
}

fn rewrite(path: &str, first: u32, removed: u32, added: u32) -> Rewrite {
    Rewrite { path: path.into(), first, removed, added }
}

/// A fix of this file that claims to end a class.
fn structural(path: &str, class: &str) -> FixOutcome {
    let (commit, summary) = ("2222222".into(), "Mend it".into());
    FixOutcome::Made { commit, summary, files: vec![path.into()], lines: 2, class: Some(class.into()) }
}

impl Loop {
    /// Everything is to be addressed, and this is what it is about.
    fn told_about(self, items: &[&Item], about: &About) -> Loop {
        let said = |item: &&Item| Assessment { about: about.clone(), ..said(item, Decision::Address) };
        let accepted = items.iter().map(said).collect();
        self.told(Input::Assessed { said: Ok(Admitted { accepted, ..Admitted::default() }), spend: Spend::default() })
    }

    /// All of it is fixed by this outcome, which did this to the lines, and answered.
    fn mends(self, items: &[&Item], outcome: &FixOutcome, rewrites: Vec<Rewrite>) -> Loop {
        let outcomes = items.iter().map(|item| (item.id.clone(), outcome.clone())).collect();
        let made = Made { outcomes, tip: Some("2222222".into()), rewrites };
        let landed = self.told(Input::Fixed { made: Ok(made), spend: Spend::default() }).landed();
        landed.answered(&items.iter().map(|item| (*item, SAID)).collect::<Vec<_>>())
    }

    /// A whole pass over one item.
    fn settles(self, item: &Item, outcome: &FixOutcome, rewrites: Vec<Rewrite>) -> Loop {
        self.told_about(&[item], &About::default()).mends(&[item], outcome, rewrites)
    }

    fn shows(self, items: &[Item]) -> Loop {
        self.told(woke(Change::Changed)).told(saw(items))
    }

    fn says(&self, words: &str) -> bool {
        self.ended().issues.iter().any(|issue| issue.contains(words))
    }
}

/// PR-120, PR-125: nothing but hygiene came in, it was mended, and a person chooses what comes next.
#[test]
fn gate_a_ends_a_round_of_hygiene() {
    let (a, b) = (item("a"), item("b"));
    let begun = || long(&[a.clone(), b.clone()]);
    let ended = begun().told_about(&[&a, &b], &light(Justification::Hygiene)).mends(&[&a, &b], &made(), vec![]);
    assert_eq!((ended.reason(), ended.ended().cycles), (Reason::DiminishingReturns, 1));
    assert!(ended.says("thread:b at src/b.rs:4 is hygiene") && ended.says("re-review-full"));
    // One that matters keeps it open, and so does an assessor that says nothing.
    for about in [light(Justification::Reachable), About::default()] {
        assert!(begun().told_about(&[&a, &b], &about).mends(&[&a, &b], &made(), vec![]).asks_to("wait"));
    }
    let panel = Item { voice: Voice::Panel, about: light(Justification::Reachable), ..item("p") };
    let own = long(std::slice::from_ref(&panel)).told_about(&[&panel], &light(Justification::Hygiene));
    assert!(own.mends(&[&panel], &made(), vec![]).asks_to("wait"), "of our own finding its mark speaks, not the assessor");
}

/// PR-119, PR-121: two new races on lines that a fix wrote, where later fixes have moved them. Nothing is patched.
#[test]
fn gate_b_stops_fixes_that_draw_races() {
    let (a, b) = (grave(at("src/lease.rs", 10, "a")), grave(at("src/till.rs", 4, "b")));
    let third = |nature| {
        let first = long(std::slice::from_ref(&a)).settles(&a, &made(), vec![rewrite("src/lease.rs", 10, 1, 11)]);
        let above = vec![rewrite("src/lease.rs", 1, 0, 5), rewrite("src/till.rs", 4, 1, 1)];
        let second = first.shows(std::slice::from_ref(&b)).settles(&b, &made(), above);
        let touched = |round: usize| second.state.memory.history.rounds[round].touched.clone();
        assert_eq!(touched(0), [Touched { path: "src/lease.rs".into(), first: 15, last: 25 }]);
        assert_eq!(touched(1).len(), 2);
        let races = [race(22, "c", nature), race(25, "d", nature)];
        let third = second.shows(&races);
        third.told_about(&[&races[0], &races[1]], &About::default())
    };
    let ended = third(Justification::Reachable);
    assert_eq!((ended.reason(), ended.state.memory.commits.len()), (Reason::UserInputRequired, 2));
    assert!(ended.says("convergence-audit") && ended.says("thread:d at src/lease.rs:25") && ended.says("modify"));
    assert!(third(Justification::Asymmetric).asks_to("fix"), "what is asymmetric is always mended (PR-122)");
}

/// WL-47 (4), WL-57, WL-68, WL-92, WL-101: advice to merge says what it rests on, and its pass is no cycle although it settled something.
#[test]
fn advice_to_merge_is_no_cycle_and_says_why() {
    let (a, later, b) = (item("a"), item("later"), item("b"));
    let tail = |young: &[&str]| {
        let first = long(&[a.clone(), later.clone()]).assessed(&[(&a, Decision::Address), (&later, Decision::Defer)]);
        let first = first.fixed(&[(&a, made())]).landed();
        let first = first.told(Input::Homed(BTreeMap::from([(later.id.clone(), Ok("#12".into()))])));
        let first = first.answered(&[(&a, SAID), (&later, SAID)]);
        assert_eq!(first.state.memory.cycles, 1);
        let young = young.iter().map(|path| (*path).into()).collect();
        let second = first.told(woke(Change::Changed)).told(seen(Seen { young, ..scene(std::slice::from_ref(&b)) }));
        second.repairs(&b).answered(&[(&b, SAID)])
    };
    let advised = tail(&[]);
    let report = advised.ended();
    assert_eq!((report.reason, report.cycles, report.resolved), (Reason::MergeAdvised, 1, 3));
    assert_eq!(report.details.advisory_reason, Some(AdvisoryReason::BoundedTail));
    assert_eq!(report.details.structural_home.as_deref(), Some("#12"));
    assert!(report.details.recommendation_text.as_deref().is_some_and(|text| text.contains("#12")));

    // WL-92: on young code it is no tail. It has its own evidence, and is no cycle either.
    let young = tail(&["src/b.rs"]);
    let report = young.ended();
    assert_eq!((report.reason, report.cycles), (Reason::RootClusterSuspected, 1));
    assert_eq!(report.details.cluster_files, ["src/b.rs".into()]);
    assert_eq!(report.details.cluster_thread_urls, ["https://h/b"]);
    assert!(young.says("young-tail") && young.says("its file is young"), "{:?}", report.issues);
}

/// WL-89, WL-93: two fixes that promised to end a class did not, so the approach is looked at. A list of cases promises nothing.
#[test]
fn a_second_structural_fix_that_fails_zooms_out() {
    let raised = |line, id: &str| grave(at("src/cart.rs", line, id));
    let (a, b, c) = (raised(10, "a"), raised(50, "b"), raised(90, "c"));
    let young = |item: &Item| {
        let young = BTreeSet::from(["src/cart.rs".into()]);
        seen(Seen { young, ..scene(std::slice::from_ref(item)) })
    };
    let third = |class: &str| {
        let fix = structural("src/cart.rs", class);
        let first = Loop::of(LoopKind::Watch, |loops| loops.cycles = 9).told(Input::Prepared(Ok(fit()))).told(young(&a));
        let second = first.settles(&a, &fix, vec![]).told(woke(Change::Changed)).told(young(&b));
        let third = second.settles(&b, &fix, vec![]).told(woke(Change::Changed)).told(young(&c));
        third.told_about(&[&c], &About::default())
    };
    let zoomed = third("unchecked amounts");
    assert_eq!(zoomed.reason(), Reason::RootClusterSuspected);
    assert!(zoomed.says("(zoom-out)") && zoomed.says("round 2 promised: src/cart.rs: no more unchecked amounts"));
    assert_eq!(zoomed.ended().details.cluster_files, ["src/cart.rs".into()]);
    assert_eq!(zoomed.ended().details.member_count, Some(3));
    let listed = third("negative amounts, zero, overflow");
    assert!(listed.says("(axis)") && !listed.says("promised"));
}

/// WL-57: what was still to be done when something blocked it, of those whose words count.
#[test]
fn a_block_names_what_is_left() {
    let (a, b) = (item("a"), item("b"));
    let theirs = Item { voice: Voice::Person, ..item("theirs") };
    let mut scene = scene(&[a.clone(), b.clone(), theirs]);
    scene.items[2].in_scope = false;
    let begun =
        Loop::of(LoopKind::Watch, |loops| loops.reviewer = "codex".into()).told(Input::Prepared(Ok(fit()))).told(seen(scene));
    let fixing = begun.assessed(&[(&a, Decision::Address), (&b, Decision::Noise)]).fixed(&[(&a, made())]);
    let ended = fixing.told(Input::Validated(Validation::Failed { command: "make".into(), output: "no".into() }));
    assert_eq!(ended.reason(), Reason::Blocked);
    assert_eq!(ended.ended().details.blocked_candidates, ["https://h/a", "https://h/b"]);
}

/// PR-112: a check that keeps its findings elsewhere is asked about first, and nothing else is worked on meanwhile.
#[test]
fn hidden_findings_come_first() {
    let surface = Surface::Check { name: "SonarCloud".into() };
    let url = "https://sonarcloud.io/dashboard?id=shop".into();
    let check =
        Item { surface, url, voice: Voice::Check, path: None, line: None, body: "Quality Gate failed".into(), ..item("s") };
    let ended = long(&[item("a"), check.clone()]);
    assert_eq!((ended.reason(), ended.ended().routed), (Reason::UserInputRequired, 0));
    assert!(ended.says("invisible-findings") && ended.says("sonarcloud.io"));
    assert_eq!(ended.ended().details.candidate_url.as_deref(), Some("https://sonarcloud.io/dashboard?id=shop"));
    let told = Item { voice: Voice::Person, body: "SonarCloud wants `f` to be shorter".into(), ..item("told") };
    assert!(long(&[item("a"), check, told]).asks_to("assess"));
}

/// CF-8: a run that an earlier release stored in the middle of a pass goes on.
#[test]
fn an_earlier_release_stored_less() {
    let a = item("a");
    let first = long(std::slice::from_ref(&a)).repairs(&a).answered(&[(&a, SAID)]);
    let state = first.shows(&[item("b")]).assessed(&[(&item("b"), Decision::Address)]).fixed(&[(&item("b"), made())]).state;
    let mut stored = serde_json::to_value(&state).unwrap();
    for part in ["memory", "phase"] {
        assert!(without(&mut stored[part], &["about", "rewrites", "class", "panel", "payload"]) > 0, "{part}");
    }
    assert_eq!(serde_json::from_value::<State>(stored).unwrap(), state);
}

/// How often one of these keys was there.
fn without(value: &mut serde_json::Value, keys: &[&str]) -> usize {
    match value {
        serde_json::Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|key, _| !keys.contains(&key.as_str()));
            before - fields.len() + fields.values_mut().map(|field| without(field, keys)).sum::<usize>()
        }
        serde_json::Value::Array(all) => all.iter_mut().map(|one| without(one, keys)).sum(),
        _ => 0,
    }
}
