use super::*;
use crate::feedback::item::Voice;
use crate::feedback::samples::fixable;
use crate::findings::scale::Justification;
use crate::remedy::answer::tests::item as make;

const TEXT: &str = "def f(items):\n    for a in items:\n        for b in items:\n            go(a, b)\n";

fn item(id: &str) -> Item {
    Item { id: ItemId(id.into()), ..make(Voice::Bot, None) }
}

fn said(id: &str, decision: Decision, evidence: &str, notes: &str) -> Assessment {
    Assessment {
        item: ItemId(id.into()),
        decision,
        rationale: "the loop\nis small, @alice".into(),
        evidence: evidence.into(),
        notes: notes.into(),
        framing: None,
        about: About::default(),
    }
}

fn run(assessments: Vec<Assessment>, items: &[Item]) -> Admitted {
    let items: Vec<Fixable> = items.iter().map(fixable).collect();
    admit(assessments, &items, &|path| (path.as_str() == "src/a.py").then_some(TEXT))
}

/// RL-34: one decision for each item, no more and no less.
#[test]
fn each_item_has_one_decision() {
    let items = [item("a"), item("b"), item("c")];
    let quote = "for a in items:";
    let all = run(
        vec![
            said("a", Decision::Address, quote, "use a set"),
            said("b", Decision::Ask, "", ""),
            said("b", Decision::Noise, "", ""),
            said("zzz", Decision::Ask, "", ""),
        ],
        &items,
    );
    assert_eq!(all.accepted.iter().map(|one| one.item.0.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(all.rejected.iter().map(|(id, _)| id.0.as_str()).collect::<Vec<_>>(), ["zzz", "b", "c"]);
    assert!(!all.is_whole());
    assert_eq!(all.accepted[0].rationale, "the loop is small, `@alice`");
}

/// RL-30: a decision that rests on nothing but the reviewer's words is none.
#[test]
fn evidence_must_stand_in_the_file() {
    for (decision, evidence, notes, kept) in [
        (Decision::Address, "for b in   items:\n  go(a, b)", "use a set", true),
        (Decision::Address, "for b in items:", "", false),
        (Decision::Address, "while b in items:", "use a set", false),
        (Decision::Decline, "", "", false),
        (Decision::Decline, ":", "", false),
        (Decision::Defer, "def f(items):", "", true),
        (Decision::Ask, "", "", true),
        (Decision::Noise, "", "", true),
        (Decision::Replan, "", "", true),
    ] {
        let admitted = run(vec![said("a", decision, evidence, notes)], &[item("a")]);
        let now = admitted.accepted[0].decision;
        assert_eq!(now, if kept { decision } else { Decision::Ask }, "{decision:?} {evidence}");
        assert_eq!(admitted.is_whole(), kept);
    }
    // A file that cannot be read proves nothing; an item without a place has nothing to be quoted.
    let gone = Item { path: Some("gone.py".into()), ..item("a") };
    assert_eq!(run(vec![said("a", Decision::Defer, "def f(items):", "")], &[gone]).accepted[0].decision, Decision::Ask);
    let nowhere = Item { path: None, line: None, ..item("a") };
    assert_eq!(run(vec![said("a", Decision::Defer, "", "")], &[nowhere]).accepted[0].decision, Decision::Defer);
}

/// PR-120, PR-121: what kind of problem it is may be said, or left out; only plain words of it are kept.
#[test]
fn the_kind_of_problem_may_be_left_out() {
    let bare = r#"{"item": "a", "decision": "ask", "rationale": "who knows"}"#;
    assert!(serde_json::from_str::<Assessment>(bare).unwrap().about.is_empty());
    let told = r#"{"item": "a", "decision": "ask", "rationale": "x", "about": {"slug": "Stale lease", "race": true, "nature": "hygiene"}}"#;
    let admitted = run(vec![serde_json::from_str(told).unwrap()], &[item("a")]);
    let about = &admitted.accepted[0].about;
    assert_eq!((about.slug.as_deref(), about.race, about.nature), (Some("stale-lease"), true, Some(Justification::Hygiene)));
    assert!(by_rules(&fixable(&item("a")), true).about.is_empty());
}

/// WL-61: without a model only rules fix; the rest is asked or left.
#[test]
fn rules_decide_what_they_can() {
    let of = |body: &str, has_fix| by_rules(&fixable(&Item { body: body.into(), ..item("a") }), has_fix).decision;
    assert_eq!(of("quadratic loop", true), Decision::Address);
    for thanks in ["LGTM!", "Thanks, looks good to me 👍", "Nice work."] {
        assert_eq!(of(thanks, false), Decision::Noise, "{thanks}");
    }
    for other in ["Why is this here", "Is this right?", "Thanks, but rename x", "ok", "LGTM?", "This is quadratic."] {
        assert_eq!(of(other, false), Decision::Ask, "{other}");
    }
}
