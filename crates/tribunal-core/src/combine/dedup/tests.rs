use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A finding of the staff engineer about `src/a.rs`, quoting one line of code for each line.
fn report(agent: &str, category: &str, lines: (u32, u32), failure_mode: &str) -> Admitted {
    let quote: Vec<String> = (lines.0..=lines.1).map(|line| format!("    step_{line}(state);")).collect();
    let role = match category.chars().next() {
        Some('S') => "security-reviewer",
        Some('T') => "sdet",
        _ => "staff-engineer",
    };
    serde_json::from_value(serde_json::json!({
        "role": role, "agent": agent, "category": category, "slug": "slug", "path": "src/a.rs", "symbol": "run",
        "severity": "factual", "confidence": "high", "blast": "local", "justification": "reachable",
        "failure_mode": failure_mode, "mitigation": "",
        "anchor": { "side": "new", "line_start": lines.0, "line_end": lines.1, "quote": quote.join("\n") },
        "questions": [], "mitigation_out_of_scope": false, "is_test": false, "is_sample": false, "is_prose": false
    }))
    .unwrap()
}

fn voices(draft: &Draft) -> Vec<&str> {
    draft.agreement.iter().map(|voice| voice.agent.as_str()).collect()
}

fn all_voices(drafts: &[Draft]) -> Vec<Vec<&str>> {
    drafts.iter().map(voices).collect()
}

const LOCK: &str = "the connection lock is not released when the handshake fails";
const LOCK_AGAIN: &str = "if the handshake fails, nobody releases the connection lock";
const SORT: &str = "sorting compares the names as bytes, so umlauts come last";
const RETRY: &str = "retries without a limit flood the server";

/// Issue 18, 0.3: whoever quotes a whole function does not agree with what others report inside it.
#[test]
fn a_quote_of_a_whole_function_is_no_agreement() {
    let drafts = merge(vec![
        report("a", "E5", (1, 20), LOCK),
        report("b", "E5", (1, 1), SORT),
        report("b", "E5", (9, 9), RETRY),
        report("c", "E5", (9, 10), "retries never stop, and flood the server without a limit"),
    ]);
    assert_eq!(all_voices(&drafts), [vec!["b"], vec!["a"], vec!["b", "c"]]);
    assert_eq!(drafts.iter().map(|draft| draft.lead.anchor.line_start).collect::<Vec<_>>(), [1, 1, 9]);
}

/// A long quote points at the line that its claim speaks of.
#[test]
fn a_long_quote_agrees_with_the_line_that_it_speaks_of() {
    let at = |line: u32| {
        let text = format!("{LOCK}: step_{line} returns first");
        all_voices(&merge(vec![report("a", "E2", (1, 20), &text), report("b", "E2", (14, 14), LOCK_AGAIN)])).len()
    };
    assert_eq!((at(14), at(12), at(3)), (1, 1, 2));
}

/// Issue 18, 0.3; PR-74: other words, other lines, one defect; and nothing that was said of it is lost.
#[test]
fn the_same_defect_two_lines_apart_is_one() {
    let fix = crate::findings::report::Fix::of_lines(11, 11, "release();".into());
    let heavy = Admitted { severity: crate::findings::scale::Severity::Blocker, ..report("b", "E2", (9, 9), LOCK) };
    let light = Admitted { fix: Some(fix.clone()), ..report("a", "E1", (11, 11), LOCK_AGAIN) };
    let other = crate::findings::report::Fix { replacement: "drop(lock);".into(), ..fix.clone() };
    let third = Admitted { fix: Some(other.clone()), ..report("c", "E2", (9, 9), "the lock of the connection stays held") };
    let drafts = merge(vec![light, third, heavy]);
    assert_eq!(all_voices(&drafts), [["a", "b", "c"]]);
    let draft = &drafts[0];
    assert_eq!((draft.lead.anchor.line_start, draft.lead.category.as_str()), (9, "E2"));
    assert_eq!(draft.also, [format!("line 11: {LOCK_AGAIN}"), "the lock of the connection stays held".to_owned()]);
    let places: Vec<(u32, &str)> = draft.places.iter().map(|place| (place.line_start, place.category_code.as_str())).collect();
    assert!(places.contains(&(11, "E1")), "{places:?}");
    let fixes = draft.places.iter().filter_map(|place| place.fix.clone()).chain(draft.lead.fix.clone());
    assert_eq!(fixes.map(|fix| fix.replacement).collect::<BTreeSet<_>>(), [fix.replacement, other.replacement].into());
}

/// Issue 18, 0.3: one line under three categories of one owner. Another owner's view of it is a finding of its own.
#[test]
fn one_line_under_three_categories_is_one_if_it_says_one_thing() {
    let of = |agent, category, text| report(agent, category, (5, 5), text);
    let alike = [of("a", "E1", LOCK), of("b", "E2", LOCK_AGAIN), of("c", "E6", "the lock leaks when the handshake fails")];
    assert_eq!(all_voices(&merge(alike.to_vec())), [["a", "b", "c"]]);
    let unlike = merge(vec![of("a", "E1", LOCK), of("b", "E2", SORT), of("c", "E6", RETRY)]);
    assert_eq!(unlike.len(), 3);
    let owners = merge(vec![of("a", "E1", LOCK), of("b", "T1", LOCK), of("c", "S1", LOCK)]);
    assert_eq!(owners.len(), 3);
}

/// PR-74: the same line in the same category is one finding in any words.
#[test]
fn the_same_line_and_category_need_no_words() {
    assert_eq!(merge(vec![report("a", "E5", (5, 5), LOCK), report("b", "E5", (5, 6), SORT)]).len(), 1);
    assert_eq!(merge(vec![report("a", "E5", (5, 5), LOCK), report("b", "E5", (6, 6), SORT)]).len(), 2);
}

/// What one reviewer lists twice is two defects, however alike.
#[test]
fn one_reviewer_does_not_agree_with_itself() {
    assert_eq!(merge(vec![report("a", "E5", (5, 5), LOCK), report("a", "E5", (7, 7), LOCK)]).len(), 2);
    assert_eq!(merge(vec![report("a", "E5", (5, 6), LOCK), report("a", "E5", (6, 7), LOCK)]).len(), 1, "but for one place");
    let rule = |name: &str| Admitted { rule: Some(name.into()), ..report("rules", "E5", (5, 5), LOCK) };
    assert_eq!(merge(vec![rule("one"), rule("two"), rule("two")]).len(), 2);
}

/// Nearness is not handed on from neighbour to neighbour.
#[test]
fn a_row_of_near_findings_is_not_one() {
    let drafts =
        merge(vec![report("a", "E5", (1, 1), LOCK), report("b", "E5", (4, 4), LOCK), report("c", "E5", (7, 7), LOCK_AGAIN)]);
    assert_eq!(all_voices(&drafts), [vec!["a", "b"], vec!["c"]]);
}

#[test]
fn another_file_or_side_is_another_finding() {
    let here = report("a", "E5", (5, 5), LOCK);
    let there = Admitted { path: "src/b.rs".into(), ..report("b", "E5", (5, 5), LOCK) };
    let mut gone = report("c", "E5", (5, 5), LOCK);
    gone.anchor.side = Side::Old;
    assert_eq!(merge(vec![here, there, gone]).len(), 3);
}

fn any_report() -> impl Strategy<Value = Admitted> {
    let words = prop::sample::subsequence(
        vec!["lock", "`parse_port`", "handshake", "fails", "retries", "limit", "sorting", "umlauts", "error", "returned"],
        1..5,
    );
    let severity = prop::sample::select(vec![
        crate::findings::scale::Severity::Blocker,
        crate::findings::scale::Severity::Factual,
        crate::findings::scale::Severity::Suggestion,
    ]);
    let rule = prop::option::of(prop::sample::select(vec!["one", "two"]));
    let fix = prop::option::of(1..3u32);
    let agent = prop::sample::select(vec!["a", "b", "c", "rules"]);
    let category = prop::sample::select(vec!["E1", "E5", "S1"]);
    (agent, category, 1..16u32, 0..7u32, words, severity, rule, fix).prop_map(
        |(agent, category, line, more, words, severity, rule, fix)| Admitted {
            severity,
            rule: rule.filter(|_| agent == "rules").map(ToOwned::to_owned),
            fix: fix.map(|line| crate::findings::report::Fix::of_lines(line, line, format!("fix {line}"))),
            ..report(agent, category, (line, line + more), &words.join(" "))
        },
    )
}

proptest! {
    /// Issue 18: the order in which reviewers report changes nothing.
    #[test]
    fn arrival_never_matters((sorted, shuffled) in prop::collection::vec(any_report(), 0..30).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))) {
        prop_assert_eq!(merge(sorted), merge(shuffled));
    }

    /// Issue 18: every report is in one finding that names its voice and keeps its words, its place and its fix.
    #[test]
    fn nothing_that_was_reported_is_lost(all in prop::collection::vec(any_report(), 0..30)) {
        let drafts = merge(all.clone());
        for said in &all {
            let holds = |draft: &Draft| {
                let voice = draft.agreement.iter().any(|voice| (&voice.agent, &voice.rule) == (&said.agent, &said.rule));
                let words = draft.lead.failure_mode == said.failure_mode || draft.also.iter().any(|also| also.ends_with(&said.failure_mode));
                let lines = (said.anchor.line_start, said.anchor.line_end);
                let place = (&draft.lead.anchor, &draft.lead.category) == (&said.anchor, &said.category)
                    || draft.places.iter().any(|place| (place.line_start, place.line_end) == lines && place.category_code == said.category);
                let fix = said.fix.is_none() || draft.lead.fix == said.fix || draft.places.iter().any(|place| place.fix == said.fix);
                voice && words && place && fix
            };
            prop_assert!(drafts.iter().any(holds), "lost: {:?}", said);
        }
        let is_one_family = |draft: &Draft| {
            draft.places.iter().all(|place| place.category_code.family() == draft.lead.category.family())
        };
        prop_assert!(drafts.iter().all(is_one_family));
    }
}
