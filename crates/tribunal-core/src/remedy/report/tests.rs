use super::comment::comment;
use super::files::*;
use super::respond::{RespondEnd, respond_report};
use super::text::text;
use super::*;
use crate::feedback::item::Voice;
use crate::remedy::answer::tests::item;
use crate::remedy::assess::{Assessment, Decision};
use proptest::prelude::*;

fn pull() -> PullFacts {
    PullFacts {
        number: 7,
        state: PullState::Open,
        branch: "feature".into(),
        target: "main".into(),
        url: "https://forge.example/acme/shop/pull/7".into(),
    }
}

fn ends() -> Vec<End> {
    vec![
        End::Fixed { sha: "abc1234".into() },
        End::Declined { reason: "by design".into() },
        End::Deferred { home: "#12".into() },
        End::Asked { question: "Is the order kept".into() },
        End::Open { why: "no rule has a fix".into() },
        End::LeftOut { why: "not in scope".into() },
    ]
}

fn whole() -> Report {
    let base = item(Voice::Bot, Some(Priority::P2));
    Report {
        cycles: 1,
        seen: 6,
        resolved: 3,
        routed: 1,
        items: ends().into_iter().map(|end| Ended::of(&base, end)).collect(),
        conditions: vec![Reason::UserInputRequired, Reason::MaxCyclesReached],
        details: Details { candidate_url: Some("https://forge.example/x".into()), ..Details::default() },
        ..Report::new(Reason::UserInputRequired, pull())
    }
}

/// The validator of WL-102, written from its words.
fn validate(report: &str) -> Result<(), String> {
    let (mut section, mut seen, mut items) = (String::new(), Vec::<String>::new(), Vec::<(String, String)>::new());
    let mut status = false;
    for line in report.lines() {
        if line.is_empty() {
            continue;
        }
        if let Some(value) = line.strip_prefix("Status: ") {
            status = matches!(value, "complete" | "partial" | "blocked");
        } else if let Some(item) = line.strip_prefix("- ") {
            if item.trim().is_empty() {
                return Err(format!("an empty item in {section}"));
            }
            if matches!(section.as_str(), "PR" | "Watch") {
                let (label, value) = item.split_once(": ").ok_or(format!("no label: {item}"))?;
                if value.trim().is_empty() {
                    return Err(format!("no value: {item}"));
                }
                items.push((section.clone(), label.to_lowercase()));
            } else {
                items.push((section.clone(), item.to_owned()));
            }
        } else if let Some(header) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            section = header.to_owned();
            seen.push(section.clone());
        } else {
            return Err(format!("prose: {line}"));
        }
    }
    let has = |section: &str, label: &str| items.iter().any(|(of, item)| of == section && (label.is_empty() || item == label));
    if !status || !has("Watch", "monitoring") {
        return Err("no status, or no watch".into());
    }
    for label in ["number", "state", "branch", "target"] {
        has("PR", label).then_some(()).ok_or(format!("no {label}"))?;
    }
    for label in ["mode", "parser", "cycles", "seen comments", "new actionable comments"] {
        has("Watch", label).then_some(()).ok_or(format!("no {label}"))?;
    }
    for section in ["Routed", "Stopped because", "Next action", "Issues"] {
        has(section, "").then_some(()).ok_or(format!("nothing in {section}"))?;
    }
    let order = ["PR", "Watch", "Routed", "Stopped because", "Next action", "Issues"];
    if seen == order { Ok(()) } else { Err(format!("sections {seen:?}")) }
}

/// WL-98, WL-100, WL-101, CF-23.
#[test]
fn the_terminal_report() {
    let text = text(&whole());
    validate(&text).unwrap();
    insta::assert_snapshot!(text, @r"
    Status: partial

    PR:
    - Number: 7
    - State: open
    - Branch: feature
    - Target: main

    Watch:
    - Mode: Monitor
    - Monitoring: stopped
    - Parser: gh --jq
    - Cycles: 1
    - Seen comments: 6
    - New actionable comments: 3

    Routed:
    - github-reviewer: 1

    Stopped because:
    - user-input-required — a question is open that only a person can answer

    Next action:
    - answer the open question in its thread, then start again

    Issues:
    - 2 open: src/a.py:4 (asked), src/a.py:4 (open)
    - 1 left out, because only some reviewers count here
    - candidate_url: https://forge.example/x
    - also true: max-cycles-reached
    ");
}

/// Every reason has words, a valid report, and never claims to be still watching (WL-103).
#[test]
fn every_reason_can_be_reported() {
    for reason in Reason::ALL {
        let report = Report::new(reason, pull());
        validate(&text(&report)).unwrap();
        assert!(!report.explanation.is_empty() && !report.next_actions.is_empty());
        let stored = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&stored).unwrap(), report);
    }
    let stored = serde_json::to_string(&whole()).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&stored).unwrap(), whole());
}

/// Design section 8.
#[test]
fn exit_codes_of_reports() {
    assert_eq!(Report::new(Reason::Clean, pull()).exit_code(Priority::P0), 0);
    let pass = |items| Report { items, ..Report::new(Reason::PassComplete, pull()) };
    let open = |priority| pass(vec![Ended::of(&item(Voice::Bot, priority), End::Open { why: String::new() })]);
    assert_eq!(open(Some(Priority::P2)).exit_code(Priority::P1), 0);
    assert_eq!(open(Some(Priority::P1)).exit_code(Priority::P1), 1);
    assert_eq!(open(None).exit_code(Priority::P0), 1);
    let blocked = |blocker| Report { blocker: Some(blocker), ..Report::new(Reason::Blocked, pull()) }.exit_code(Priority::P0);
    let all = [Blocker::Person, Blocker::Agent, Blocker::Budget, Blocker::Forge, Blocker::Later];
    assert_eq!(all.map(blocked), [1, 3, 4, 5, 75]);
    let strangers = vec![Ended::of(&item(Voice::Person, None), End::LeftOut { why: String::new() })];
    assert_eq!(pass(strangers).exit_code(Priority::P0), 0);
}

#[test]
fn the_comment_for_people() {
    let hostile = Report { issues: vec!["@alice <img src=x>\n# hi".into()], ..whole() };
    let body = comment(&hostile);
    assert!(!body.contains("<img") && !body.contains("\n# hi") && body.contains("<details>"));
    insta::assert_snapshot!(comment(&whole()).replace('\u{2060}', ""), @r"
    **`user-input-required`** — a question is open that only a person can answer.

    3 items settled, 2 open; 1 cycle.

    **Next**

    - answer the open question in its thread, then start again

    **Besides**

    - candidate url: https://forge.example/x

    <details><summary>6 items in all</summary>

    | Thread | Status | Details |
    | --- | --- | --- |
    | `src/a.py:4` | Fixed | commit abc1234 |
    | `src/a.py:4` | Declined | by design |
    | `src/a.py:4` | Deferred | #12 |
    | `src/a.py:4` | Asked | Is the order kept |
    | `src/a.py:4` | Open | no rule has a fix |
    | `src/a.py:4` | Left out | not in scope |

    </details>

    0 calls, 0 tokens, cost: free
    ");
}

/// RL-59 to RL-62.
#[test]
fn the_reports_of_the_respond_loop() {
    let (gemini, folder) = (Awaited("gemini-code-assist[bot]".into()), Folder::of_pull(7));
    let say = |end: RespondEnd| respond_report(&whole(), &end, 2, 1, &gemini, &folder);
    insta::assert_snapshot!(say(RespondEnd::ReadyForMerge), @r"
    PR_REVIEW_COMPLETE

    Status: READY_FOR_MERGE
    PR: #7
    Iterations: 2

    Summary:
    - Threads assessed: 5
    - Addressed: 1
    - Declined: 1
    - Deferred: 1
    - Commits: 1

    Files:
    - Assessment: thoughts/shared/pr-reviews/7/assessment.md
    - Changes: thoughts/shared/pr-reviews/7/changes.md
    - State: thoughts/shared/pr-reviews/7/state.md
    ");
    let blocked = |blocker| Report { blocker: Some(blocker), ..Report::new(Reason::Blocked, pull()) };
    let ends = |blocker| say(RespondEnd::of(&blocked(blocker), 5, "2026-01-02T03:04:05Z").unwrap());
    let handoff = ends(Blocker::Budget);
    assert!(
        handoff.starts_with("PR_REVIEW_HANDOFF\n")
            && handoff.contains("Status: BUDGET_REACHED\n")
            && handoff.contains("After timestamp: 2026-01-02T03:04:05Z")
    );
    assert!(
        ends(Blocker::Later).contains("Status: OUT_OF_REACH\n") && ends(Blocker::Later).contains("Phase: WAITING_FOR_GEMINI")
    );
    assert!(ends(Blocker::Person).contains("VALIDATION_FAILED") && ends(Blocker::Forge).contains("FORGE_FAILED"));
    let late = say(RespondEnd::TimedOut { minutes: 120 });
    assert!(
        late.starts_with("PR_REVIEW_TIMEOUT\n")
            && late.contains("Status: GEMINI_TIMEOUT\n")
            && late.contains("Waited: 120 minutes")
    );
    let failed = say(RespondEnd::ForgeFailed { reason: "502\nfrom the forge".into() });
    assert!(
        failed.starts_with("PR_REVIEW_ERROR\n")
            && failed.contains("Status: FORGE_FAILED\n")
            && failed.contains("Reason: 502 from the forge\n")
    );
    assert_eq!(RespondEnd::TimedOut { minutes: 1 }.status(&Awaited("copilot".into())), "REVIEWER_TIMEOUT");
}

/// RL-32.
#[test]
fn the_assessment_file() {
    let base = item(Voice::Bot, None);
    let one = Assessment {
        item: base.id.clone(),
        decision: Decision::Address,
        rationale: "it is quadratic".into(),
        evidence: "for a in items:".into(),
        notes: "use a set".into(),
        framing: None,
        about: Default::default(),
    };
    let by = AssessedBy { number: 7, branch: "feature", agent: "rules", time: "2026-01-02T03:04:05Z", iteration: 1 };
    let page = assessment_md(&by, &[crate::feedback::samples::fixable(&base)], &[one]);
    for part in [
        "### Thread 1: `src/a.py:4`",
        "- Thread ID: 1",
        "| Address | 1 |",
        "| Total | 1 |",
        "**Decision**: Address",
        "**Implementation Notes**: use a set",
        "for a in items:",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert_eq!(page.matches("- [x]").count(), 4);
    assert!(!page.contains("of max"));
    assert!(validation_md(7, 1, 2, &["no evidence".into()]).contains("REJECTED:"));
    assert!(changes_md(7, "feature", &"abc1234".into(), &[("src/a.py".into(), "a set".into())]).contains("- Count: 1"));
}

/// RL-12, RL-51, RL-83.
#[test]
fn the_state_file_reads_back() {
    let state = SavedState {
        iteration_count: 2,
        last_action_time: "2026-01-02T03:04:05Z".into(),
        last_action: "RE_REVIEW_REQUESTED".into(),
        pr_number: 7,
        pr_url: "https://forge.example/acme/shop/pull/7".into(),
        threads_addressed_total: 3,
        threads_declined_total: 1,
        threads_deferred_total: 0,
    };
    let page = state_md(&state, Phase::Waiting, &Awaited("gemini-code-assist".into()), &[("abc1234".into(), "a set".into())]);
    assert!(
        page.contains("- Status: WAITING_FOR_GEMINI\n")
            && page.contains("- Threads total: 4\n")
            && page.contains("`abc1234`: a set")
    );
    assert_eq!(parse_state(&page), Ok(state));
    for bad in ["", "# PR", "---\niteration_count: x\n---\n", "---\niteration_count: 1\n---\n"] {
        assert!(parse_state(bad).is_err(), "{bad}");
    }
}

fn any_end() -> impl Strategy<Value = End> {
    (0usize..6, "\\PC{0,30}").prop_map(|(which, text)| match which {
        0 => End::Fixed { sha: "abc1234".into() },
        1 => End::Declined { reason: text },
        2 => End::Deferred { home: text },
        3 => End::Asked { question: text },
        4 => End::Open { why: text },
        _ => End::LeftOut { why: text },
    })
}

proptest! {
    /// WL-102: whatever stands in it, the report has the form that the validator accepts.
    #[test]
    fn every_report_is_valid(
        which in 0usize..16,
        branch in "[\\PC\\n\\t]{0,20}",
        explanation in "[\\PC\\n]{0,60}",
        lists in proptest::collection::vec("[\\PC\\n]{0,40}", 0..4),
        ends in proptest::collection::vec(any_end(), 0..5),
        blocker in proptest::option::of("[\\PC\\n]{0,20}"),
    ) {
        let base = item(Voice::Bot, None);
        let report = Report {
            explanation,
            pull: PullFacts { branch, ..pull() },
            items: ends.into_iter().map(|end| Ended::of(&base, end)).collect(),
            next_actions: lists.clone(),
            issues: lists,
            details: Details { blocker_reason: blocker, ..Details::default() },
            ..Report::new(Reason::ALL[which], pull())
        };
        prop_assert_eq!(validate(&text(&report)), Ok(()));
        let stored = serde_json::to_string(&report).unwrap();
        prop_assert_eq!(serde_json::from_str::<Report>(&stored).unwrap(), report);
    }
}
