use super::*;
use crate::combine::verdict::{FailLevel, HoldUp, Outcome, Verdict, WholeReview, exit_code, outcome, verdict};
use crate::findings::admit::{Batch, Gate, admit};
use crate::findings::report::{Claim, PriorStatus, Report, Verification};
use crate::findings::role::built_in_roles;
use crate::findings::scale::{Blast, Confidence, Justification, Priority, Severity};
use crate::ids::{AgentName, FindingId, RepoPath};
use crate::policy::context::parse_context;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A change of one file whose added lines are `line 1` to `line 40`, and one file each of tests, samples and prose.
fn change() -> crate::diff::change::Change {
    let mut diff = String::new();
    for path in ["src/a.py", "tests/test_a.py", "examples/a.py", "docs/a.md"] {
        diff.push_str(&format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,40 @@\n"
        ));
        for n in 1..=40 {
            diff.push_str(&format!("+line {n} end\n"));
        }
    }
    crate::diff::parse::parse_diff(diff.as_bytes()).unwrap()
}

#[derive(Debug, Clone)]
struct Said1 {
    role: &'static str,
    agent: String,
    claim: Claim,
}

fn claim(category: &str, line: u32) -> Claim {
    serde_json::from_value(serde_json::json!({
        "category": category, "file": "src/a.py", "line_start": line, "confidence": "high", "blast": "local",
        "justification": "reachable", "evidence": format!("line {line} end"), "failure_mode": format!("{category} breaks at {line}"),
        "mitigation": "fix it [window=ms, damage=deadlock, recovery=no]"
    }))
    .unwrap()
}

fn said(claims: Vec<Claim>) -> Vec<Said1> {
    claims.into_iter().map(|claim| Said1 { role: role_of(claim.category.as_str()), agent: "a".into(), claim }).collect()
}

/// Any finding, for tests that change what they are about.
pub fn sample_finding() -> Finding {
    combined(vec![claim("E5", 3)]).findings.remove(0)
}

fn role_of(category: &str) -> &'static str {
    match category.chars().next() {
        Some('S') => "security-reviewer",
        Some('E') => "staff-engineer",
        Some('T') => "sdet",
        _ => "spec-auditor",
    }
}

fn reports(all: &[Said1]) -> Vec<AdmittedReport> {
    let roles = built_in_roles().unwrap();
    let (change, outlines) = (change(), BTreeMap::new());
    all.iter()
        .map(|said| {
            let role = roles.iter().find(|role| role.name.as_str() == said.role).unwrap();
            let agent = AgentName::new(said.agent.clone());
            let gate = Gate {
                role,
                agent: &agent,
                change: &change,
                outlines: &outlines,
                window: None,
                has_repo: true,
                spec: Some("The spec."),
                author: crate::findings::admit::Author::Rules,
            };
            admit(Report { findings: vec![said.claim.clone()], ..Report::default() }, &gate)
        })
        .collect()
}

fn run(all: &[Said1], prior: &[OpenFinding], statuses: Vec<PriorStatus>, context: &str, ids: IdBook) -> Combined {
    let roles = built_in_roles().unwrap();
    let mut reports = reports(all);
    reports.push(AdmittedReport { prior: statuses, ..AdmittedReport::default() });
    let paths: BTreeSet<RepoPath> =
        ["src/a.py", "tests/test_a.py", "examples/a.py", "docs/a.md"].into_iter().map(RepoPath::from).collect();
    let directives = parse_context(context).unwrap().directives;
    let said = Said {
        roles: &roles,
        reports: reports.iter().collect(),
        mode: Mode::Full,
        prior,
        prior_gaps: &[],
        directives: &directives,
        caps: Caps::default(),
        iteration: 1,
        paths: &paths,
        brought: &[],
        window: None,
    };
    combine(&said, ids)
}

fn combined(claims: Vec<Claim>) -> Combined {
    run(&said(claims), &[], Vec::new(), "", IdBook::default())
}

fn priority(claim: Claim) -> Priority {
    combined(vec![claim]).findings[0].p_code
}

/// PR-74: same place, same category: one finding, highest severity, everyone attributed.
#[test]
fn the_same_place_and_category_is_one_finding() {
    let mut all =
        said(vec![claim("E5", 3), Claim { severity: Some(Severity::Blocker), failure_mode: "worse".into(), ..claim("E5", 3) }]);
    all[1].agent = "b".into();
    let result = run(&all, &[], Vec::new(), "", IdBook::default());
    assert_eq!(result.findings.len(), 1);
    assert_eq!(result.findings[0].p_code, Priority::P0);
    assert_eq!(result.findings[0].agreement.len(), 2);
    assert_eq!(result.findings[0].also, ["E5 breaks at 3"]);
}

/// PR-74 speaks of the same issue: two rules of one agent are two issues, and each keeps its own words.
#[test]
fn two_rules_at_one_place_are_two_findings() {
    let of = |rule: &str, line| Claim { rule: Some(rule.into()), slug: Some(rule.into()), ..claim("S1", line) };
    let mut all = said(vec![of("no-tls", 3), of("piped-to-shell", 3), claim("S1", 3), of("no-tls", 9)]);
    all[2].agent = "b".into();
    let result = run(&all, &[], Vec::new(), "", IdBook::default());
    let found: Vec<(&str, u32)> = result.findings.iter().map(|f| (f.slug.as_str(), f.line_start)).collect();
    assert_eq!(result.findings.len(), 3, "{found:?}");
    assert_eq!(result.findings.iter().map(|finding| finding.agreement.len()).sum::<usize>(), 4);
    let keys: BTreeSet<_> = result.findings.iter().map(|finding| &finding.key).collect();
    assert_eq!(keys.len(), 3);
    assert_eq!(result.findings[0].related, vec![result.findings[1].id]);
}

/// PR-74, issue 3 point 7: one voice of two repeats its part of an open finding; it is still that finding, as heavy as before.
#[test]
fn a_repeated_part_is_the_open_finding() {
    let heavy = Claim { severity: Some(Severity::Blocker), evidence: "line 3 end\nline 4 end".into(), ..claim("E5", 3) };
    let mut all = said(vec![claim("E5", 3), heavy]);
    all[1].agent = "b".into();
    let first = run(&all, &[], Vec::new(), "", IdBook::default());
    let open: Vec<OpenFinding> = first.findings.iter().cloned().map(|finding| OpenFinding { finding }).collect();
    let second = run(&all[..1], &open, Vec::new(), "", first.ids);
    assert_eq!(second.findings.len(), 1);
    assert_eq!((second.findings[0].id, second.findings[0].p_code), (open[0].finding.id, Priority::P0));
    assert_eq!(second.findings[0].agreement, open[0].finding.agreement);
    // What is heavier than the open finding is not hidden behind it.
    let worse = run(
        &all[1..],
        &[OpenFinding { finding: combined(vec![claim("E5", 3)]).findings.remove(0) }],
        vec![],
        "",
        IdBook::default(),
    );
    assert_eq!(worse.findings[0].p_code, Priority::P0);
}

/// PR-74: different categories at one place are kept, and point at each other.
#[test]
fn cross_cutting_findings_are_related() {
    let result = combined(vec![claim("S1", 3), claim("T1", 3)]);
    assert_eq!(result.findings.len(), 2);
    assert_eq!(result.findings[0].related, vec![result.findings[1].id]);
}

/// PR-75 step 6, PR-76: the map from severity to priority.
#[test]
fn severities_map_to_priorities() {
    let with = |severity| priority(Claim { severity: Some(severity), ..claim("E5", 1) });
    assert_eq!(with(Severity::Blocker), Priority::P0);
    assert_eq!(with(Severity::Factual), Priority::P1);
    assert_eq!(with(Severity::Suggestion), Priority::P2);
    assert_eq!(with(Severity::Question), Priority::Q);
}

/// PR-75 step 2, PR-79, PR-106: low confidence is a question, and nothing raises it again.
#[test]
fn low_confidence_is_always_a_question() {
    let low = Claim { severity: Some(Severity::Blocker), confidence: Confidence::Low, blast: Blast::DataLayer, ..claim("S5", 1) };
    let result = run(&said(vec![low]), &[], Vec::new(), "raise S* to P0: important", IdBook::default());
    assert_eq!(result.findings[0].p_code, Priority::Q);
    assert_eq!(result.findings[0].severity_adjustment.as_ref().unwrap().from, "🚨 P0");
}

/// PR-75 step 3, PR-78, PR-129: wide reach raises a suggestion once, never to a blocker by itself.
#[test]
fn wide_reach_raises_one_level_but_never_to_p0() {
    let wide = |severity| priority(Claim { severity: Some(severity), blast: Blast::CrossService, ..claim("E4", 1) });
    assert_eq!(wide(Severity::Suggestion), Priority::P1);
    assert_eq!(wide(Severity::Factual), Priority::P1);
}

/// PR-129: a blocker must be reachable today or asymmetric.
#[test]
fn a_blocker_needs_a_strong_reason() {
    let blocker = |justification| {
        priority(Claim { severity: Some(Severity::Blocker), justification: Some(justification), ..claim("S1", 1) })
    };
    assert_eq!(blocker(Justification::Reachable), Priority::P0);
    assert_eq!(blocker(Justification::Asymmetric), Priority::P0);
    assert_eq!(blocker(Justification::Precedent), Priority::P1);
}

/// PR-50: tests never block. PR-48: a secret in test code is no blocker.
#[test]
fn test_findings_and_test_code_never_block() {
    assert_eq!(priority(Claim { severity: Some(Severity::Blocker), ..claim("T4", 1) }), Priority::P1);
    assert_eq!(
        priority(Claim { severity: Some(Severity::Blocker), file: "tests/test_a.py".into(), ..claim("S3", 1) }),
        Priority::P1
    );
}

/// PR-48, PR-78: what does not reach production is neither a blocker nor raised by its reach.
#[test]
fn reach_does_not_raise_tests_and_samples() {
    let wide = |file: &str| Claim {
        severity: Some(Severity::Suggestion),
        blast: Blast::CrossService,
        file: file.into(),
        ..claim("S3", 1)
    };
    assert_eq!(priority(wide("src/a.py")), Priority::P1);
    assert_eq!(priority(wide("tests/test_a.py")), Priority::P2);
    assert_eq!(priority(wide("examples/a.py")), Priority::P2);
    assert_eq!(
        priority(Claim { severity: Some(Severity::Blocker), file: "examples/a.py".into(), ..claim("S3", 1) }),
        Priority::P1
    );
}

/// PR-130: wording in prose is minor; a security matter there is not.
#[test]
fn prose_is_minor() {
    assert_eq!(priority(Claim { file: "docs/a.md".into(), ..claim("E8", 1) }), Priority::P3);
    assert_eq!(priority(Claim { file: "docs/a.md".into(), severity: Some(Severity::Blocker), ..claim("S3", 1) }), Priority::P0);
}

/// PR-21, PR-75 step 4, PR-77, PR-109: context moves severity last, and every move is on record.
#[test]
fn context_directives_move_severity_and_are_recorded() {
    let lowered = run(&said(vec![claim("E6", 1)]), &[], Vec::new(), "lower E* to P2: spike", IdBook::default());
    assert_eq!(lowered.findings[0].p_code, Priority::P2);
    let adjustment = lowered.findings[0].severity_adjustment.as_ref().unwrap();
    assert_eq!(
        (adjustment.from.as_str(), adjustment.to.as_str(), adjustment.reason.as_str()),
        ("⚠️ P1", "💡 P2", "context: spike")
    );
    let pinned = run(
        &said(vec![Claim { severity: Some(Severity::Blocker), justification: Some(Justification::Precedent), ..claim("S1", 1) }]),
        &[],
        Vec::new(),
        "never lower S*: cards",
        IdBook::default(),
    );
    assert_eq!(pinned.findings[0].p_code, Priority::P0);
    assert!(pinned.findings[0].severity_adjustment.is_none());
    let narrowed = run(&said(vec![claim("S1", 1), claim("E5", 9)]), &[], Vec::new(), "only S*: hotfix", IdBook::default());
    assert_eq!(narrowed.findings.iter().map(|finding| finding.p_code).collect::<Vec<_>>(), [Priority::P0, Priority::P3]);
}

/// PR-65: two or more in a file are one question; one keeps its name; sdet's are apart.
#[test]
fn hygiene_is_batched_per_file() {
    let hygiene = |category, line| Claim { justification: None, ..claim(category, line) };
    let many = combined(vec![hygiene("E8", 1), hygiene("E9", 5)]);
    assert_eq!(many.findings.len(), 1);
    assert_eq!(many.findings[0].slug, "a-py-hygiene-followups");
    assert_eq!(many.findings[0].p_code, Priority::Q);
    assert_eq!(many.findings[0].also.len(), 1);
    assert!(combined(vec![hygiene("E8", 1)]).findings[0].slug.ends_with("-hygiene-followup"));
    assert_eq!(combined(vec![hygiene("T1", 1), hygiene("T2", 5)]).findings[0].slug, "a-py-test-hygiene-followups");
}

/// PR-131: at most 12 P2 inline, P0 and P1 exempt; later rounds are quieter.
#[test]
fn inline_comments_are_capped_and_quieter_each_round() {
    let many: Vec<Claim> = (1..=20).map(|n| Claim { severity: Some(Severity::Suggestion), ..claim("E6", n) }).collect();
    let mut result = combined(
        many.into_iter().chain([claim("E5", 30), Claim { severity: Some(Severity::Blocker), ..claim("S1", 33) }]).collect(),
    );
    let inline =
        |result: &Combined, wanted| result.findings.iter().filter(|finding| finding.p_code == wanted && finding.inline).count();
    assert_eq!((inline(&result, Priority::P0), inline(&result, Priority::P1), inline(&result, Priority::P2)), (1, 1, 12));
    severity::mark_inline(&mut result.findings, Caps::default(), 2);
    assert_eq!((inline(&result, Priority::P0), inline(&result, Priority::P1), inline(&result, Priority::P2)), (1, 1, 0));
    severity::mark_inline(&mut result.findings, Caps::default(), 3);
    assert_eq!((inline(&result, Priority::P0), inline(&result, Priority::P1)), (1, 0));
}

/// PR-135: the same finding keeps its name; a new one gets a new number, never an old one.
#[test]
fn names_are_kept_for_the_life_of_a_case() {
    let first = combined(vec![claim("E5", 3), claim("E5", 9)]);
    let gone: Vec<_> = first.findings.iter().map(|finding| (finding.key.clone(), finding.id)).collect();
    let second = run(&said(vec![claim("E5", 9), claim("E5", 20)]), &[], Vec::new(), "", first.ids);
    let id = |line| second.findings.iter().find(|finding| finding.line_start == line).unwrap().id;
    assert_eq!(id(9), gone[1].1);
    assert_eq!(id(20), FindingId(3));
}

fn open(line: u32) -> OpenFinding {
    OpenFinding { finding: combined(vec![claim("E5", line)]).findings.remove(0) }
}

fn verified(prior: &OpenFinding, again: Vec<Claim>, statuses: &[(Verification, &str)]) -> (Verification, usize) {
    let statuses = statuses
        .iter()
        .map(|(verification, note)| PriorStatus { id: prior.finding.id, verification: *verification, note: (*note).to_owned() })
        .collect();
    let result = run(&said(again), std::slice::from_ref(prior), statuses, "", IdBook::default());
    (result.prior_verifications[0].verification, result.findings.len())
}

/// PR-11, PR-70, PR-73: only a reviewer's yes with a note closes a finding, and never against evidence.
#[test]
fn only_a_verified_yes_closes_a_finding() {
    let prior = open(3);
    assert_eq!(verified(&prior, vec![], &[(Verification::Yes, "uses a parameter now")]), (Verification::Yes, 0));
    assert_eq!(verified(&prior, vec![], &[(Verification::Yes, " ")]), (Verification::Unclear, 1));
    assert_eq!(verified(&prior, vec![], &[]), (Verification::Unclear, 1));
    assert_eq!(verified(&prior, vec![claim("E5", 3)], &[(Verification::Yes, "gone")]), (Verification::No, 1));
    assert_eq!(
        verified(&prior, vec![], &[(Verification::Yes, "gone"), (Verification::No, "still there")]),
        (Verification::No, 1)
    );
}

/// PR-72: `Likely fixed`, `Untouched`, `Still present`; never a bare `Fixed`.
#[test]
fn verifications_never_say_fixed_alone() {
    let prior = open(3);
    let shown = |verification| {
        let statuses = vec![PriorStatus { id: prior.finding.id, verification, note: "note".into() }];
        run(&[], std::slice::from_ref(&prior), statuses, "", IdBook::default()).prior_verifications[0].display()
    };
    assert_eq!(shown(Verification::Yes), "✅ Likely fixed — note");
    assert_eq!(shown(Verification::Unclear), "⏸️ Untouched — note");
    assert_eq!(shown(Verification::No), "🔄 Still present — note");
}

/// TS-18, TS-19, TS-20, TS-21, TS-22, TS-23, CF-12: the verdict map.
#[test]
fn verdicts_follow_the_map() {
    let of = |claims: Vec<Claim>, missing: &[String]| {
        verdict(&combined(claims).findings, missing, WholeReview::of_stored(Outcome::Clean)).unwrap()
    };
    assert_eq!(of(vec![], &[]), Verdict::Lgtm);
    assert_eq!(of(vec![Claim { severity: Some(Severity::Suggestion), ..claim("E6", 1) }], &[]), Verdict::Lgtm);
    assert_eq!(of(vec![claim("E5", 1)], &[]), Verdict::Minor);
    assert_eq!(of(vec![Claim { mitigation_out_of_scope: true, ..claim("E5", 1) }], &[]), Verdict::Major);
    assert_eq!(of(vec![Claim { severity: Some(Severity::Blocker), ..claim("S1", 1) }], &[]), Verdict::Major);
    assert_eq!(of(vec![], &["an API key".into()]), Verdict::Blocked);
    assert_eq!(verdict(&[], &[], None), None);
}

/// Design section 8 and rule 1: incomplete is never green, whatever was found.
#[test]
fn exit_codes_follow_the_outcome() {
    let findings = combined(vec![claim("E5", 1)]).findings;
    let whole = WholeReview::of_stored(Outcome::Clean);
    assert_eq!(exit_code(outcome(&findings, 0, whole), HoldUp::Other, &findings, FailLevel::P0), 0);
    assert_eq!(exit_code(outcome(&findings, 0, whole), HoldUp::Other, &findings, FailLevel::P1), 1);
    assert_eq!(exit_code(outcome(&findings, 0, None), HoldUp::Other, &findings, FailLevel::P0), 3);
    assert_eq!(exit_code(outcome(&[], 0, None), HoldUp::Other, &[], FailLevel::P0), 3);
    assert_eq!(exit_code(Outcome::NotRun, HoldUp::Other, &[], FailLevel::Never), 2);
}

/// PR-59: a category with an open finding is not clean, whoever says so.
#[test]
fn a_category_with_a_finding_is_not_clean() {
    let roles = built_in_roles().unwrap();
    let mut all = reports(&said(vec![claim("E5", 1)]));
    for code in ["E5", "E6"] {
        all[0].checked_clean.push(CleanCheck { category: code.into(), evidence: "looked".into() });
    }
    let paths = BTreeSet::new();
    let said = Said {
        roles: &roles,
        reports: all.iter().collect(),
        mode: Mode::Full,
        prior: &[],
        prior_gaps: &[],
        directives: &[],
        caps: Caps::default(),
        iteration: 1,
        paths: &paths,
        brought: &[],
        window: None,
    };
    let clean = combine(&said, IdBook::default()).checked_clean;
    assert_eq!(clean.len(), 1);
}

fn any_claim() -> impl Strategy<Value = Said1> {
    let category = prop::sample::select(vec!["S1", "S3", "E2", "E5", "E6", "T4"]);
    let severity = prop::sample::select(vec![Severity::Blocker, Severity::Factual, Severity::Suggestion, Severity::Question]);
    let confidence = prop::sample::select(vec![Confidence::High, Confidence::Medium, Confidence::Low]);
    let justification = prop::option::of(prop::sample::select(vec![
        Justification::Reachable,
        Justification::Asymmetric,
        Justification::Precedent,
    ]));
    (category, 1..40u32, severity, confidence, justification, prop::sample::select(vec!["a", "b", "c"])).prop_map(
        |(category, line, severity, confidence, justification, agent)| Said1 {
            role: role_of(category),
            agent: agent.to_owned(),
            claim: Claim {
                severity: Some(severity),
                confidence,
                justification,
                failure_mode: format!("{agent} says {category} at {line}"),
                ..claim(category, line)
            },
        },
    )
}

proptest! {
    /// Issue: the order of reviewers never changes the result.
    #[test]
    fn order_never_matters(mut all in prop::collection::vec(any_claim(), 0..25), seed in any::<u64>()) {
        let first = run(&all, &[], Vec::new(), "", IdBook::default());
        let mut state = seed;
        for index in (1..all.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            all.swap(index, (state >> 33) as usize % (index + 1));
        }
        prop_assert_eq!(run(&all, &[], Vec::new(), "", IdBook::default()), first);
    }

    /// Issue: no finding is lost or doubled. Every voice is heard once, in exactly one finding that covers its line.
    #[test]
    fn nothing_is_lost_or_doubled(all in prop::collection::vec(any_claim(), 0..25)) {
        let result = run(&all, &[], Vec::new(), "", IdBook::default());
        let keys: BTreeSet<_> = result.findings.iter().map(|finding| &finding.key).collect();
        prop_assert_eq!(keys.len(), result.findings.len());
        let ids: BTreeSet<_> = result.findings.iter().map(|finding| finding.id).collect();
        prop_assert_eq!(ids.len(), result.findings.len());
        for said in &all {
            let words = &said.claim.failure_mode;
            let heard = result.findings.iter().filter(|finding| &finding.failure_mode == words || finding.also.iter().any(|also| also.ends_with(words.as_str()))).count();
            prop_assert!(heard >= 1, "lost: {}", words);
        }
    }

    /// Issue: a key survives rewording.
    #[test]
    fn rewording_never_changes_the_key(words in "[a-z ]{1,40}", other in "[a-z ]{1,40}") {
        let with = |text: &str| combined(vec![Claim { failure_mode: format!("x {text}"), mitigation: format!("y {text} [window=s, damage=latency, recovery=has]"), slug: Some(text.to_owned()), ..claim("E5", 7) }]).findings[0].key.clone();
        prop_assert_eq!(with(&words), with(&other));
    }
}

#[test]
fn batches_are_marked_by_the_gate() {
    assert_eq!(reports(&said(vec![Claim { justification: None, ..claim("E8", 1) }]))[0].findings[0].batch, Some(Batch::Hygiene));
}
