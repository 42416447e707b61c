use super::*;
use crate::diff::parse::parse_diff;
use crate::findings::report::{FixKind, Insertion, TraceStep, Verification};
use crate::findings::role::built_in_roles;
use crate::findings::window::Touched;

fn change() -> Change {
    parse_diff(b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n import os\n+os.system(cmd)\n x = 1\n")
        .unwrap()
}

fn claim() -> Claim {
    serde_json::from_value(serde_json::json!({
        "category": "S1", "file": "a.py", "confidence": "high", "blast": "local", "justification": "reachable",
        "evidence": "os.system(cmd)", "failure_mode": "runs what the caller sends", "mitigation": "use a list"
    }))
    .unwrap()
}

fn run(role: &str, claim: Claim) -> Result<Admitted, DropReason> {
    run_with(role, claim, true, None)
}

/// Since the last review `a.py` changed as this diff says.
fn window(since: &str) -> Window {
    let file = &parse_diff(format!("--- a/a.py\n+++ b/a.py\n{since}").as_bytes()).unwrap().files[0];
    Window::new(BTreeMap::from([(RepoPath::from("a.py"), Touched::of(file))]), Vec::new())
}

/// As in a second review, whose window is the whole file.
fn run_again(claim: Claim) -> Result<Admitted, DropReason> {
    let window = window("@@ -1,2 +1,3 @@\n import os\n+os.system(cmd)\n x = 1\n");
    run_in("security-reviewer", claim, true, None, Some(&window))
}

fn run_with(role: &str, claim: Claim, has_repo: bool, spec: Option<&str>) -> Result<Admitted, DropReason> {
    run_in(role, claim, has_repo, spec, None)
}

fn run_in(role: &str, claim: Claim, has_repo: bool, spec: Option<&str>, window: Option<&Window>) -> Result<Admitted, DropReason> {
    run_by(Author::Rules, role, claim, has_repo, spec, window)
}

fn run_by(
    author: Author<'_>,
    role: &str,
    claim: Claim,
    has_repo: bool,
    spec: Option<&str>,
    window: Option<&Window>,
) -> Result<Admitted, DropReason> {
    let roles = built_in_roles().unwrap();
    let role = roles.iter().find(|candidate| candidate.name.as_str() == role).unwrap();
    let (change, agent, outlines) = (change(), AgentName::from("test"), BTreeMap::new());
    let gate =
        Gate { role, agent: &agent, change: &change, outlines: &outlines, window, has_repo, spec, directives: &[], author };
    let mut report = admit(Report { findings: vec![claim], ..Report::default() }, &gate);
    assert_eq!(report.findings.len() + report.dropped.len(), 1, "a claim is never lost");
    report.findings.pop().ok_or_else(|| report.dropped[0].reason)
}

/// Issue 18, section 1: the steps of a trace are short lines, and a key in one is masked as everywhere.
#[test]
fn a_trace_is_short_and_shows_no_key() {
    let step = |line, note: &str| TraceStep { line, note: note.to_owned() };
    let mut trace = vec![step(2, &format!("untrusted: `{AWS}`\nand more")), step(0, "nowhere")];
    trace.extend((1..50).map(|line| step(line, "assigned to `x`")));
    let shown = run("security-reviewer", Claim { trace, ..claim() }).unwrap().trace;
    assert_eq!(shown.len(), MAX_TRACE_STEPS);
    assert!(!shown[0].note.contains(AWS) && !shown[0].note.contains('\n'), "{}", shown[0].note);
    assert!(shown.iter().all(|step| step.line > 0));
}

/// PR-47: a reviewer never emits another's category.
#[test]
fn categories_of_other_roles_are_dropped() {
    assert_eq!(run("sdet", claim()).unwrap_err(), DropReason::NotOwned);
    assert!(run("security-reviewer", claim()).is_ok());
}

/// A seat's whole report, with directives.
fn run_all(role: &str, author: Author<'_>, directives: &[Directive], findings: Vec<Claim>) -> AdmittedReport {
    let roles = built_in_roles().unwrap();
    let role = roles.iter().find(|candidate| candidate.name.as_str() == role).unwrap();
    let (change, agent, outlines) = (change(), AgentName::from("test"), BTreeMap::new());
    let (agent, change, outlines, window, has_repo, spec) = (&agent, &change, &outlines, None, true, None);
    let gate = Gate { role, agent, change, outlines, window, has_repo, spec, directives, author };
    let count = findings.len();
    let admitted = admit(Report { findings, ..Report::default() }, &gate);
    assert_eq!(admitted.findings.len() + admitted.dropped.len(), count, "a claim is never lost");
    admitted
}

fn flood(of: Claim, then: Claim) -> Vec<Claim> {
    let mut claims = vec![of; cap::MAX_CLAIMS + 50];
    claims.push(then);
    claims
}

/// Issue 18, section 0, point 2: the claims that will weigh most are kept, whoever says their weight: the reviewer, the category, its
/// cap, or the maintainers.
#[test]
fn the_heaviest_claims_are_kept_where_there_are_too_many() {
    let directives = crate::policy::context::parse_context("raise S4 to P0: money").unwrap().directives;
    let light = Claim { severity: Some(Severity::Suggestion), ..claim() };
    for (of, then) in [
        (light.clone(), Claim { severity: Some(Severity::Blocker), ..claim() }),
        // The category's own weight is heavier than what the others say.
        (light.clone(), Claim { severity: None, ..claim() }),
        // A blocker that is a guess is a question, and one without a reason is hygiene.
        (Claim { severity: Some(Severity::Blocker), confidence: Confidence::Low, ..claim() }, light.clone()),
        (Claim { severity: Some(Severity::Blocker), justification: None, ..claim() }, light.clone()),
        (light.clone(), Claim { category: "S4".into(), ..light.clone() }),
        // What is dropped anyway takes no place.
        (Claim { category: "T1".into(), severity: Some(Severity::Blocker), ..claim() }, light.clone()),
        (Claim { file: "b.py".into(), severity: Some(Severity::Blocker), ..claim() }, light.clone()),
        (Claim { evidence: "return".into(), ..claim() }, light.clone()),
    ] {
        let last = then.clone();
        let report = run_all("security-reviewer", Author::Rules, &directives, flood(of, then));
        let kept = |claim: &Claim| {
            report.findings.iter().any(|found| {
                let severity = claim.severity.is_none_or(|severity| severity == found.severity);
                (&found.category, found.confidence) == (&claim.category, claim.confidence) && severity && found.batch.is_none()
            })
        };
        assert!(kept(&last), "{last:?}");
        assert!(report.over_cap.is_empty(), "{:?}", report.over_cap);
    }
}

/// Issue 18, section 0, point 2: a P0 or P1 that is not kept is counted, and makes the seat incomplete.
#[test]
fn grave_claims_over_the_cap_are_counted() {
    let grave = |severity| Claim { severity: Some(severity), ..claim() };
    let report = run_all("security-reviewer", Author::Linter, &[], flood(grave(Severity::Blocker), grave(Severity::Factual)));
    assert_eq!(report.findings.len(), cap::MAX_CLAIMS);
    assert_eq!(report.over_cap, BTreeMap::from([(Priority::P0, 50), (Priority::P1, 1)]));
    assert!(report.dropped.iter().all(|dropped| dropped.reason == DropReason::TooMany));
    let report =
        run_all("security-reviewer", Author::Linter, &[], flood(grave(Severity::Suggestion), grave(Severity::Suggestion)));
    assert_eq!((report.dropped.len(), report.over_cap), (51, BTreeMap::new()));
}

/// Issue 18, section 0, point 4: an agent's quote may be decorated and must say enough; a program's is as it copied it.
#[test]
fn agents_and_programs_quote_differently() {
    let watch = Watch::new(std::iter::empty(), "heron-0123456789abcdef");
    let outcome = |author, evidence: &str, file: &str| {
        let claim = Claim { evidence: evidence.into(), file: file.into(), line_start: Some(2), ..claim() };
        let mut report = run_all("security-reviewer", author, &[], vec![claim]);
        report.findings.pop().map(|found| (found.path.0, found.anchor.line_start)).ok_or_else(|| report.dropped[0].reason)
    };
    let here = Ok(("a.py".to_owned(), 2));
    for (evidence, file) in
        [("+     2 os.system(cmd)", "b/a.py"), ("```\nos.system(cmd)\n```", "./a.py"), ("os.system(cmd)", "/tmp/x/a.py")]
    {
        assert_eq!(outcome(Author::Agent(&watch), evidence, file), here, "{evidence}");
    }
    assert_eq!(outcome(Author::Agent(&watch), "os.system(cm", "a.py"), Err(DropReason::EvidenceNotInDiff));
    assert_eq!(outcome(Author::Agent(&watch), "import", "a.py"), Err(DropReason::NoEvidence));
    assert_eq!(outcome(Author::Rules, "os.system(cm", "a.py"), here);
    assert_eq!(outcome(Author::Rules, "+     2 os.system(cmd)", "a.py"), Err(DropReason::EvidenceNotInDiff));
}

/// A file that was not read is missing from the review under its own name, however the reviewer writes it.
#[test]
fn unread_files_are_known_by_their_paths() {
    let roles = built_in_roles().unwrap();
    let (change, agent, outlines) = (change(), AgentName::from("test"), BTreeMap::new());
    let (agent, change, outlines, window, has_repo, spec) = (&agent, &change, &outlines, None, true, None);
    let gate = Gate { role: &roles[0], agent, change, outlines, window, has_repo, spec, directives: &[], author: Author::Rules };
    let unread = vec![Unread { path: "./a.py".into(), reason: "too long".into() }];
    assert_eq!(admit(Report { unread, ..Report::default() }, &gate).unread[0].path.as_str(), "a.py");
}

/// PR-57: what cannot be said in one line is no finding; what is too long is folded.
#[test]
fn a_failure_mode_is_one_line() {
    let finding = run("security-reviewer", Claim { failure_mode: "breaks\n  here".into(), ..claim() }).unwrap();
    assert_eq!(finding.failure_mode, "breaks here");
    let empty = Claim { failure_mode: " \n".into(), ..claim() };
    assert_eq!(run("security-reviewer", empty).unwrap_err(), DropReason::NoFailureMode);
}

/// PR-58, PR-102: cite or drop.
#[test]
fn evidence_must_stand_in_the_diff() {
    let invented = Claim { evidence: "os.system(user)".into(), ..claim() };
    assert_eq!(run("security-reviewer", invented).unwrap_err(), DropReason::EvidenceNotInDiff);
    let silent = Claim { evidence: String::new(), ..claim() };
    assert_eq!(run("security-reviewer", silent).unwrap_err(), DropReason::NoEvidence);
}

/// PR-68, PR-103: a race finding without its tag is dropped.
#[test]
fn race_findings_need_their_tag() {
    let race = Claim { category: "E2".into(), ..claim() };
    assert_eq!(run("staff-engineer", race.clone()).unwrap_err(), DropReason::NoRaceTag);
    let tagged = Claim { mitigation: "Lock it. [window=ms, damage=deadlock, recovery=no]".into(), ..race.clone() };
    assert!(run("staff-engineer", tagged).unwrap().race.is_some());
    // Issue 16: a linter has no tags, and a name in the change must not make it silent.
    let by_linter = |claim: Claim| run_by(Author::Linter, "staff-engineer", claim, true, None, None);
    assert!(by_linter(race).is_ok());
    let named = Claim { category: "E5".into(), failure_mode: "undefined name 'deadlock'".into(), ..claim() };
    assert!(by_linter(named).is_ok());
}

/// PR-60, PR-62, PR-127: each drop signal has one outcome.
#[test]
fn each_drop_signal_has_one_outcome() {
    let with = |signal| run("security-reviewer", Claim { signal: Some(signal), ..claim() });
    for signal in [DropSignal::Hypothetical, DropSignal::CallShape, DropSignal::Style] {
        assert_eq!(with(signal).unwrap().batch, Some(Batch::Hygiene));
    }
    let again = Claim { signal: Some(DropSignal::SelfIntroduced), ..claim() };
    assert_eq!(run_again(again.clone()).unwrap_err(), DropReason::SelfIntroduced);
    // PR-64: in a full review there is no fix range, so the signal says nothing.
    assert_eq!(run("security-reviewer", again).unwrap().batch, None);
    assert_eq!(with(DropSignal::Dismissed).unwrap_err(), DropReason::Dismissed);
    assert_eq!(with(DropSignal::OutOfScope).unwrap_err(), DropReason::OutOfScope);
    let unjustified = run("security-reviewer", Claim { justification: None, ..claim() }).unwrap();
    assert_eq!(unjustified.batch, Some(Batch::Hygiene));
}

/// PR-63, PR-128: signal B alone never drops an asymmetric finding of wide reach.
#[test]
fn the_asymmetric_hatch_needs_wide_reach() {
    let asymmetric = Claim {
        signal: Some(DropSignal::SelfIntroduced),
        justification: Some(Justification::Asymmetric),
        blast: Blast::DataLayer,
        ..claim()
    };
    assert!(run_again(asymmetric.clone()).unwrap().batch.is_none());
    let narrow = Claim { blast: Blast::Local, ..asymmetric };
    assert_eq!(run_again(narrow).unwrap_err(), DropReason::SelfIntroduced);
}

/// PR-54: without the repository, reach is unverified and confidence one level down.
#[test]
fn without_a_repository_reach_is_unverified() {
    let finding = run_with("security-reviewer", claim(), false, None).unwrap();
    assert_eq!((finding.blast, finding.confidence), (Blast::LocalUnverified, Confidence::Medium));
}

/// PR-53, PR-58: spec findings quote the spec verbatim; gaps are questions.
#[test]
fn spec_findings_quote_the_spec() {
    let base = Claim { category: "C2".into(), ..claim() };
    let spec = Some("Commands are run without a shell.");
    assert_eq!(run_with("spec-auditor", base.clone(), true, spec).unwrap_err(), DropReason::NoSpecQuote);
    let invented = Claim { spec_quote: Some("Commands are logged.".into()), ..base.clone() };
    assert_eq!(run_with("spec-auditor", invented, true, spec).unwrap_err(), DropReason::SpecQuoteNotInSpec);
    let gap = Claim { spec_quote: Some("without a  shell".into()), questions: vec!["Which shell?".into()], ..base };
    assert_eq!(run_with("spec-auditor", gap, true, spec).unwrap().severity, Severity::Question);
}

/// PR-31: in an incremental review fresh findings lie in the window.
#[test]
fn findings_outside_the_window_are_dropped() {
    let roles = built_in_roles().unwrap();
    let (change, agent, outlines) = (change(), AgentName::from("test"), BTreeMap::new());
    let window = window("@@ -3 +3 @@\n-x = 2\n+x = 1\n");
    let gate = Gate {
        role: &roles[0],
        agent: &agent,
        change: &change,
        outlines: &outlines,
        window: Some(&window),
        has_repo: true,
        spec: None,
        directives: &[],
        author: Author::Rules,
    };
    let report = Report {
        findings: vec![claim()],
        prior: vec![PriorStatus {
            id: crate::ids::FindingId(1),
            verification: Verification::No,
            note: "there".into(),
            is_switched_off: false,
        }],
        ..Report::default()
    };
    let admitted = admit(report, &gate);
    assert_eq!(admitted.dropped[0].reason, DropReason::OutsideWindow);
    assert_eq!(admitted.prior.len(), 1);
}

/// PR-49, PR-40: cross-file claims need the repository.
#[test]
fn cross_file_claims_need_the_repository() {
    let cross = Claim { category: "E7".into(), ..claim() };
    assert!(run_with("staff-engineer", cross.clone(), true, None).is_ok());
    assert_eq!(run_with("staff-engineer", cross, false, None).unwrap_err(), DropReason::NeedsRepository);
}

const AWS: &str = "AKIAQ3WZ7T5RY2KXQ3WZ";

/// A report in which every text is hostile. A new field must be given here, or this does not compile.
fn hostile(text: &str, evidence: &str) -> Report {
    let claim = Claim {
        category: "S3".into(),
        file: "a.py".into(),
        line_start: None,
        line_end: None,
        severity: None,
        confidence: Confidence::High,
        blast: Blast::Local,
        justification: Some(Justification::Reachable),
        evidence: evidence.into(),
        failure_mode: text.into(),
        mitigation: text.into(),
        details: Some(text.into()),
        notes: Some(text.into()),
        slug: Some(text.into()),
        signal: None,
        spec_quote: Some(text.into()),
        questions: vec![text.into()],
        mitigation_out_of_scope: false,
        reversible: None,
        rule: Some(text.into()),
        fix: Some(Fix {
            line_start: 2,
            line_end: 2,
            replacement: text.into(),
            kind: FixKind::Safe,
            insertions: vec![Insertion { line: 1, text: text.into() }],
        }),
        trace: vec![TraceStep { line: 2, note: text.into() }],
    };
    Report {
        findings: vec![claim],
        not_applicable: vec![],
        checked_clean: vec![CleanCheck { category: "S1".into(), evidence: text.into() }],
        prior: vec![PriorStatus {
            id: crate::ids::FindingId(1),
            verification: Verification::No,
            note: text.into(),
            is_switched_off: false,
        }],
        missing_prerequisites: vec![text.into()],
        unread: vec![Unread { path: "b.py".into(), reason: text.into() }],
        left_alone: BTreeMap::new(),
    }
}

/// Issue 16, C13: whoever wrote it and whatever field it stands in, what passes the gate holds no key: neither in the texts nor in the
/// quote of the code that the finding is about.
#[test]
fn no_key_passes_the_gate() {
    let line = format!("password = \"{AWS}\"  # hunter2hunter2");
    let diff = format!("--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n import os\n+{line}\n");
    let (change, agent, outlines) = (parse_diff(diff.as_bytes()).unwrap(), AgentName::from("test"), BTreeMap::new());
    let roles = built_in_roles().unwrap();
    let role = roles.iter().find(|role| role.name.as_str() == "security-reviewer").unwrap();
    let watch = Watch::new(std::iter::empty(), "heron-0123456789abcdef");
    for author in [Author::Rules, Author::Linter, Author::Agent(&watch)] {
        let (window, has_repo, spec) = (None, true, None);
        let gate =
            Gate { role, agent: &agent, change: &change, outlines: &outlines, window, has_repo, spec, directives: &[], author };
        let report = admit(hostile(&format!("the key is {AWS}"), &line), &gate);
        assert_eq!(report.findings.len(), 1, "{author:?}: {:?}", report.dropped);
        let stored = serde_json::to_string(&report).unwrap();
        assert!(!stored.contains(AWS), "{author:?}: {stored}");
        assert!(stored.contains("AKIA…(20 masked, "), "{author:?}: {stored}");
        assert_eq!(report.findings[0].fix, None);
        assert!(report.findings[0].notes.as_deref().unwrap().contains("The suggested fix is left out: it holds a secret."));
    }
}

/// The masked quote of a kept finding is found again where its code stands, and nowhere else.
#[test]
fn a_masked_quote_finds_its_line() {
    let diff = format!("--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,3 @@\n+x = 1\n+key = \"{AWS}\"\n+key = \"AKIAQ3WZ7T5RY2KXAAAA\"\n");
    let file = &parse_diff(diff.as_bytes()).unwrap().files[0];
    use crate::findings::anchor::anchor;
    let raw = anchor(file, Quoting::Copied, &format!("key = \"{AWS}\""), None).unwrap();
    let (quote, keys) = AnchorIndex::new(file).masked_quote(&raw, Suspicion::Usual);
    assert!(!quote.contains(AWS) && keys.contains(&AWS.to_owned()), "{quote}");
    for quoting in [Quoting::Copied, Quoting::Written] {
        assert_eq!(anchor(file, quoting, &quote, None).map(|found| found.line_start), Ok(2));
        assert!(anchor(file, quoting, &quote.replace("20 masked", "21 masked"), None).is_err());
    }
}
