use super::*;
use crate::combine::prior::VerifiedBy;
use crate::combine::verdict::{FailLevel, HoldUp, Outcome, Verdict, WholeReview, exit_code, outcome, verdict};
use crate::findings::admit::{Author, Batch, Gate, admit};
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
pub struct Said1 {
    pub role: &'static str,
    pub agent: String,
    pub claim: Claim,
}

pub fn claim(category: &str, line: u32) -> Claim {
    serde_json::from_value(serde_json::json!({
        "category": category, "file": "src/a.py", "line_start": line, "confidence": "high", "blast": "local",
        "justification": "reachable", "evidence": format!("line {line} end"), "failure_mode": format!("{category} breaks at {line}"),
        "mitigation": "fix it [window=ms, damage=deadlock, recovery=no]"
    }))
    .unwrap()
}

pub fn said(claims: Vec<Claim>) -> Vec<Said1> {
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
                directives: &[],
                author: if said.agent == "linter" { Author::Linter } else { Author::Rules },
            };
            admit(Report { findings: vec![said.claim.clone()], ..Report::default() }, &gate)
        })
        .collect()
}

pub fn run(all: &[Said1], prior: &[OpenFinding], statuses: Vec<PriorStatus>, context: &str, ids: IdBook) -> Combined {
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
        spec: None,
        directives: &directives,
        caps: Caps::default(),
        iteration: 1,
        paths: &paths,
        brought: &[],
        dismissed: &[],
        speakers: &Speakers::new(),
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
    let open: Vec<OpenFinding> = first.findings.iter().cloned().map(OpenFinding::new).collect();
    let second = run(&all[..1], &open, Vec::new(), "", first.ids);
    assert_eq!(second.findings.len(), 1);
    assert_eq!((second.findings[0].id, second.findings[0].p_code), (open[0].finding.id, Priority::P0));
    assert_eq!(second.findings[0].agreement, open[0].finding.agreement);
    // What is heavier than the open finding is not hidden behind it.
    let worse =
        run(&all[1..], &[OpenFinding::new(combined(vec![claim("E5", 3)]).findings.remove(0))], vec![], "", IdBook::default());
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
    let mut all = said(vec![Claim { file: "docs/a.md".into(), severity: Some(Severity::Blocker), ..claim("S3", 1) }]);
    let weight = |all: &[Said1]| run(all, &[], Vec::new(), "", IdBook::default()).findings[0].p_code;
    // A rule knows a pattern and not its use.
    assert_eq!(weight(&all), Priority::P1);
    all[0].agent = "linter".into();
    assert_eq!(weight(&all), Priority::P0);
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

/// Issue 18, section 0, point 2: P1 are capped too, and P0 never.
#[test]
fn inline_p1_are_capped_and_the_surest_are_kept() {
    let doubtful = |line| Claim { confidence: Confidence::Medium, ..claim("E5", line) };
    let mut result = combined(vec![doubtful(3), doubtful(9), claim("E5", 15), claim("S1", 21)]);
    severity::mark_inline(&mut result.findings, Caps { inline_p1: 1, ..Caps::default() }, 2);
    let inline: Vec<(Priority, u32)> =
        result.findings.iter().filter(|finding| finding.inline).map(|finding| (finding.p_code, finding.line_start)).collect();
    assert_eq!(inline, [(Priority::P0, 21), (Priority::P1, 15)]);
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
    OpenFinding::new(combined(vec![claim("E5", line)]).findings.remove(0))
}

fn verified(prior: &OpenFinding, again: Vec<Claim>, statuses: &[(Verification, &str)]) -> (Verification, usize) {
    let statuses = statuses
        .iter()
        .map(|(verification, note)| PriorStatus {
            id: prior.finding.id,
            verification: *verification,
            note: (*note).to_owned(),
            is_switched_off: false,
        })
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

/// PR-109: another voice does not lighten an open finding; its own may, and that is recorded.
#[test]
fn an_open_finding_gets_lighter_only_on_record() {
    let blocker = |line| Claim { severity: Some(Severity::Blocker), ..claim("E5", line) };
    let open = OpenFinding::new(combined(vec![blocker(3)]).findings.remove(0));
    let mut again = said(vec![claim("E5", 3)]);
    let by_itself = run(&again, std::slice::from_ref(&open), vec![], "", IdBook::default()).findings.remove(0);
    let adjustment = by_itself.severity_adjustment.unwrap();
    assert_eq!((by_itself.p_code, adjustment.from.as_str(), adjustment.to.as_str()), (Priority::P1, "🚨 P0", "⚠️ P1"));
    again[0].agent = "b".into();
    let by_another = run(&again, std::slice::from_ref(&open), vec![], "", IdBook::default()).findings.remove(0);
    assert_eq!((by_another.p_code, by_another.agreement.len()), (Priority::P0, 2));
    assert!(by_another.severity_adjustment.unwrap().reason.contains("earlier review"));
}

/// PR-135: two reviews that did not know of each other gave one name to two findings. Both stay, and a word on one is none on the other.
#[test]
fn findings_of_two_records_are_joined() {
    let (one, mut other) = (open(3), open(9));
    other.finding.id = one.finding.id;
    let mut ids = IdBook::from_names([(one.finding.key.clone(), one.finding.id)].into());
    let mut all = vec![one.clone()];
    let heavier = OpenFinding::new(Finding { p_code: Priority::P0, ..one.finding.clone() });
    prior::join(&mut all, vec![other.clone(), heavier], &mut ids);
    assert_eq!(all.iter().map(|open| open.finding.id.0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(all[0].finding.p_code, Priority::P0, "the heavier of two records counts");
    assert_eq!(ids.names()[&other.finding.key], FindingId(2));
}

/// PR-11: what is no part of the change is closed by comparison, and only if its code is nowhere in it; a reviewer's no outweighs it.
#[test]
fn a_file_that_equals_the_base_closes_its_findings() {
    let gone = |is_off_change| {
        let finding = Finding { file: "src/gone.py".into(), ..open(3).finding };
        OpenFinding { finding, is_off_change }
    };
    let judged = |prior: OpenFinding, statuses| {
        let result = run(&[], &[prior], statuses, "", IdBook::default());
        (result.prior_verifications[0].verification, result.prior_verifications[0].by, result.findings.len())
    };
    assert_eq!(judged(gone(true), vec![]), (Verification::Yes, VerifiedBy::Comparison, 0));
    assert_eq!(judged(gone(false), vec![]), (Verification::Unclear, VerifiedBy::Reviewer, 1));
    let no = PriorStatus {
        id: gone(true).finding.id,
        verification: Verification::No,
        note: "it is in the caller".into(),
        is_switched_off: false,
    };
    assert_eq!(judged(gone(true), vec![no]), (Verification::No, VerifiedBy::Reviewer, 1));
}

/// PR-70, PR-72: a question to the spec's author ends with its sentence or with its file, and that is recorded.
#[test]
fn spec_questions_end_on_record() {
    let gap = SpecGap {
        id: FindingId(9),
        key: "gap".into(),
        section: "Goal alignment".into(),
        title: "Retries".into(),
        spec_quote: "Retry  once.".into(),
        code_quote: "retry()".into(),
        questions: vec!["How often?".into()],
        file: "src/a.py".into(),
        line: 4,
        blast: Blast::Local,
    };
    let roles = built_in_roles().unwrap();
    let judged = |spec: Option<&str>, path: &str| {
        let paths = BTreeSet::from([RepoPath::from(path)]);
        let said = Said {
            roles: &roles,
            reports: Vec::new(),
            mode: Mode::Full,
            prior: &[],
            prior_gaps: std::slice::from_ref(&gap),
            spec,
            directives: &[],
            caps: Caps::default(),
            iteration: 2,
            paths: &paths,
            brought: &[],
            dismissed: &[],
            speakers: &Speakers::new(),
            window: None,
        };
        let result = combine(&said, IdBook::default());
        (result.prior_verifications[0].verification, result.spec_gaps.len())
    };
    assert_eq!(judged(None, "src/a.py"), (Verification::Unclear, 1));
    assert_eq!(judged(Some("Retry\nonce."), "src/a.py"), (Verification::Unclear, 1));
    assert_eq!(judged(Some("Retry twice."), "src/a.py"), (Verification::Yes, 0));
    assert_eq!(judged(None, "src/b.py"), (Verification::Yes, 0));
}

/// PR-72: `Likely fixed`, `Untouched`, `Still present`; never a bare `Fixed`.
#[test]
fn verifications_never_say_fixed_alone() {
    let prior = open(3);
    let shown = |verification| {
        let statuses = vec![PriorStatus { id: prior.finding.id, verification, note: "note".into(), is_switched_off: false }];
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
        spec: None,
        directives: &[],
        caps: Caps::default(),
        iteration: 1,
        paths: &paths,
        brought: &[],
        dismissed: &[],
        speakers: &Speakers::new(),
        window: None,
    };
    let clean = combine(&said, IdBook::default()).checked_clean;
    assert_eq!(clean.len(), 1);
}

/// Issue 18, section 3: a dismissed finding that was closed, and is reported again in other words, has its name and so its dismissal.
#[test]
fn a_closed_dismissed_finding_comes_back_under_its_name() {
    let worded = |words: &str| Finding { failure_mode: words.into(), mitigation: String::new(), ..sample_finding() };
    let before = Finding { id: FindingId(4), ..worded("the connection lock is not released when the handshake fails") };
    let dismissed = dismissal::Dismissed { by: "ada".into(), reason: "known".into(), accepted: true };
    let dismissal = Dismissal { id: before.id, dismissed, finding: Some(Box::new(before.clone())) };
    let said = |words: &str| [Finding { key: "another".into(), line_start: 30, ..worded(words) }];
    let name_of = |fresh: &[Finding], open: &[OpenFinding]| {
        let mut ids = IdBook::from_names([(before.key.clone(), before.id)].into());
        prior::recognise_dismissed(fresh, open, std::slice::from_ref(&dismissal), &mut ids);
        ids.names().get(&fresh[0].key).copied()
    };
    let again = said("if the handshake fails, nobody releases the connection lock");
    assert_eq!(name_of(&again, &[]), Some(before.id));
    assert_eq!(name_of(&again, &[OpenFinding::new(before.clone())]), None, "its name is taken while it is open");
    assert_eq!(name_of(&said("names are sorted as bytes, so umlauts come last"), &[]), None);
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

/// Issue 18, 0.3: an open finding that quotes a whole function does not swallow another defect inside it, and a voice of a merged
/// finding is known by its own place.
#[test]
fn an_open_finding_takes_in_its_own_parts_only() {
    let lines = |from: u32, to: u32| (from..=to).map(|n| format!("line {n} end")).collect::<Vec<_>>().join("\n");
    let says = |line: u32, quote: String, words: &str| Claim { evidence: quote, failure_mode: words.into(), ..claim("E5", line) };
    let open = |claims: Vec<Claim>| -> Vec<OpenFinding> { combined(claims).findings.into_iter().map(OpenFinding::new).collect() };
    let again = |prior: &[OpenFinding], claim: Claim| {
        let weak = Claim { severity: Some(Severity::Suggestion), ..claim };
        run(&said(vec![weak]), prior, Vec::new(), "", IdBook::default()).findings.len()
    };
    let whole = open(vec![says(1, lines(1, 12), "the connection lock is not released when the handshake fails")]);
    assert_eq!(again(&whole, says(7, lines(7, 7), "sorting compares names as bytes, so umlauts come last")), 2);
    assert_eq!(again(&whole, says(7, lines(7, 7), "if the handshake fails, nobody releases the connection lock")), 1);

    let mut all = said(vec![
        says(3, lines(3, 3), "the connection lock is not released when the handshake fails"),
        Claim { category: "E2".into(), ..says(5, lines(5, 5), "if the handshake fails, nobody releases the connection lock") },
    ]);
    all[1].agent = "b".into();
    let merged = run(&all, &[], Vec::new(), "", IdBook::default());
    assert_eq!(merged.findings.len(), 1);
    let open: Vec<OpenFinding> = merged.findings.into_iter().map(OpenFinding::new).collect();
    let name = open[0].finding.id;
    for voice in 0..2 {
        let second = run(&all[voice..=voice], &open, Vec::new(), "", merged.ids.clone());
        assert_eq!(second.findings.iter().map(|finding| finding.id).collect::<Vec<_>>(), [name], "voice {voice}");
    }
}
