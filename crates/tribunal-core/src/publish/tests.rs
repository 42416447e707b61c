//! What a receiver reads, as a whole.

use super::inline::{Dialect, inline_body, inline_comments};
use super::marker::{Mark, MarkerKey, ReadMark, Seal, read, seal};
use super::memory::Memory;
use super::rdjson::rdjson;
use super::sarif::sarif;
use super::sticky::{Links, sticky, sticky_for};
use crate::combine::finding::{Finding, FurtherPlace, SpecGap};
use crate::combine::identity::IdBook;
use crate::combine::prior::OpenFinding;
use crate::diff::parse::parse_diff;
use crate::findings::admit::{Gate, admit};
use crate::findings::report::{CleanCheck, PriorStatus, Report, TraceStep, Verification};
use crate::findings::scale::{Blast, Priority};
use crate::ids::{AgentName, FindingId, Sha};
use crate::plan::files::summarise;
use crate::plan::mode::LastReview;
use crate::procedure::review::{ChangeRead, Input, LastKnown, Phase, Request, SeatAnswer, Spend, State, Target, step};
use crate::report::document::Document;
use crate::report::receipt::{RulesDepth, SeatState};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};

pub const DIFF: &str = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,5 @@ def f():\n import os\n+os.system(cmd)\n+total = 0.1\n+retry()\n x = 1\n";

/// What a reader of Markdown acts on outside of code: HTML, links, images, bare addresses and mentions.
pub fn acted_on(markdown: &str) -> Vec<String> {
    let (mut found, mut prose, mut blocks) = (Vec::new(), String::new(), 0_usize);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => found.push(html.to_string()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => found.push(dest_url.to_string()),
            Event::Start(Tag::CodeBlock(_)) => blocks += 1,
            Event::End(TagEnd::CodeBlock) => blocks -= 1,
            Event::Text(text) if blocks == 0 => prose.push_str(&text),
            Event::Code(_) => prose.push('`'),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => prose.push(' '),
            _ => {}
        }
    }
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    for (at, sign) in prose.match_indices(['@', ':']) {
        let (before, after) = (&prose[..at], &prose[at + 1..]);
        let is_mention = sign == "@" && is_word(after.chars().next()) && !is_word(before.chars().next_back());
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if is_mention || sign == ":" && after.starts_with("//") && matches!(scheme, "http" | "https" | "ftp") {
            found.push(prose[at..].chars().take(12).collect());
        }
    }
    found
}

fn claims() -> serde_json::Value {
    serde_json::json!([
        { "category": "S1", "file": "src/a.py", "confidence": "high", "blast": "cross-service", "justification": "asymmetric", "reversible": false,
          "evidence": "os.system(cmd)", "failure_mode": "Anyone runs <b>commands</b> as @root, see #7", "mitigation": "Pass a list",
          "fix": { "line_start": 2, "line_end": 2, "replacement": "subprocess.run([cmd])" } },
        { "category": "E5", "file": "src/a.py", "confidence": "low", "blast": "local", "justification": "reachable",
          "evidence": "total = 0.1", "failure_mode": "Cents get lost", "mitigation": "Use integers" },
        { "category": "E9", "file": "src/a.py", "confidence": "high", "blast": "local", "evidence": "retry()", "failure_mode": "Said twice", "mitigation": "" },
    ])
}

fn request() -> Request {
    let (base, head) = (Sha::from("1111111111111111"), Sha::from("2222222222222222"));
    Request {
        target: Target::Trees { base, head, subject: "x against main".into(), tip: None },
        ..crate::procedure::review::tests::request()
    }
}

/// Plays a whole review in which one agent says everything.
pub fn play(last: Option<LastKnown>, failing: Option<&str>, prior: Vec<PriorStatus>, findings: serde_json::Value) -> Document {
    let change = parse_diff(DIFF.as_bytes()).unwrap();
    let request = request();
    let roles = request.roles.clone();
    let mut state: State = step(None, Input::Start { request: Box::new(request) }, 1).unwrap().state;
    let read = ChangeRead {
        files: summarise(&change),
        has_repo: true,
        last,
        loose: Vec::new(),
        lost: None,
        unverified: 0,
        ids: IdBook::default(),
        pull: None,
        dismissals: Vec::new(),
        rule_dismissals: Vec::new(),
    };
    let planned = step(Some(state), Input::ChangeRead(Box::new(read)), 2).unwrap();
    state = planned.state;
    let Phase::Reviewing(reviewing) = &state.phase else { panic!("{:?}", state.phase) };
    for seat in reviewing.plan.panel.seats.clone() {
        let role = roles.iter().find(|role| role.name == seat.role).unwrap();
        let all: Vec<crate::findings::report::Claim> = serde_json::from_value(findings.clone()).unwrap();
        let report = Report {
            findings: all.into_iter().filter(|claim| role.owns(&claim.category)).collect(),
            checked_clean: vec![CleanCheck {
                category: role.categories[1].code.clone(),
                evidence: "3 rules over 1 file, no match".into(),
            }],
            prior: prior.clone(),
            ..Report::default()
        };
        let (agent, outlines) = (AgentName::from("test"), BTreeMap::new());
        let gate = Gate {
            role,
            agent: &agent,
            change: &change,
            outlines: &outlines,
            window: None,
            has_repo: true,
            spec: None,
            directives: &[],
            author: crate::findings::admit::Author::Rules,
        };
        let answer = if failing == Some(seat.role.as_str()) {
            SeatAnswer::troubled(SeatState::Failed { reason: "it printed nothing".into() }, Spend::default())
        } else {
            let depths = [("src/a.py".into(), RulesDepth::Syntax)].into();
            SeatAnswer { report: admit(report, &gate), depths, rules: 3, ..SeatAnswer::troubled(SeatState::Ok, Spend::default()) }
        };
        state = step(Some(state), Input::SeatFinished { seat, answer: Box::new(answer) }, 3).unwrap().state;
    }
    match state.phase {
        Phase::Done(document) => *document,
        other => panic!("{other:?}"),
    }
}

pub fn first() -> Document {
    play(None, None, Vec::new(), claims())
}

/// PR-24, PR-82, PR-85, PR-88, PR-89: the parts of the sticky comment, in their order, and nothing that does not belong there.
#[test]
fn the_sticky_comment_reads_like_this() {
    insta::assert_snapshot!(sticky(&first()));
}

/// PR-82, PR-85: the words that approve are those of a panel with an agent. Rules alone, which approve nothing, say what they checked.
#[test]
fn the_words_depend_on_who_has_looked() {
    let clean = play(None, None, Vec::new(), serde_json::json!([]));
    let text = sticky(&clean);
    assert!(text.contains("**Review: no rule matched** · 0 findings · 9 rules over 1 file"), "{text}");
    assert!(text.contains("verdict `none (rules only)`") && !text.replace("status=Approved", "").contains("Approved"), "{text}");
    assert_eq!(super::status::status(&clean).description, "no rule matched · 0 findings · 9 rules over 1 file");
    let mut by_agents = clean;
    by_agents.receipt.seats[0].kind = "anthropic".into();
    let text = sticky(&by_agents);
    assert!(text.contains("<summary>✅ Checked & clean (3)</summary>") && text.contains("verdict `LGTM`"), "{text}");
}

/// CF-8: a summary keeps what the next review needs, however much was found.
#[test]
fn a_large_review_is_remembered() {
    const CASE: &str = "pull:h/acme/shop#7";
    let mut document = first();
    let one = document.findings[0].clone();
    let text = |n: u32, times: usize| crate::findings::key::sha256_hex(n.to_string().as_bytes()).repeat(times);
    let numbered = |n: u32| Finding {
        id: FindingId(n),
        key: text(n, 1).as_str().into(),
        failure_mode: text(n + 1_000, 6),
        mitigation: text(n + 2_000, 6),
        evidence: text(n + 3_000, 6),
        ..one.clone()
    };
    document.findings = (1..=200).map(numbered).collect();
    let key = MarkerKey::from_secret("a secret");
    let body = sticky_for(&document, &BTreeMap::new(), &Links::default(), 65_536, |mark| seal(mark, CASE, &key));
    assert!(body.len() <= 65_536);
    let Some(ReadMark { mark: Mark::Sticky { memory: Some(hash), .. }, seal: Seal::Good }) = read(&body, CASE, &key) else {
        panic!("{}", &body[body.len() - 1_000..])
    };
    assert_eq!(Memory::unpack(&body, &hash).unwrap().document.findings.len(), 200);
    assert!(body.contains("Currently open (200)"));
}

/// Issue 18, section 0, point 2: what a cap keeps from its line is named.
#[test]
fn findings_beyond_the_inline_caps_are_named() {
    let mut document = first();
    assert!(!sticky(&document).contains("Listed only"));
    (document.findings[1].p_code, document.findings[1].inline) = (Priority::P1, false);
    let expected = format!("**Listed only**, beyond the limit of inline comments: 1 P1 ({})", document.findings[1].id);
    assert!(sticky(&document).contains(&expected), "{}", &*sticky(&document));
    // In a later round they are not posted anyway.
    document.iteration = 3;
    assert!(!sticky(&document).contains("Listed only"));
}

/// PR-91, PR-92, PR-93, PR-135: the body of an inline comment; foreign text is inert, the fix is a suggestion.
#[test]
fn an_inline_comment_reads_like_this() {
    insta::assert_snapshot!(inline_body(&first().findings[0], Dialect::GitHub, None));
}

/// Issue 18, section 1: the way of the data is folded in the comment and a code flow in SARIF.
#[test]
fn the_path_of_data_is_shown() {
    let mut document = first();
    document.findings.truncate(1);
    let step = |line, note: &str| TraceStep { line, note: note.to_owned() };
    document.findings[0].trace = vec![step(3, "untrusted: `<b>`"), step(9, "reaches `run`")];
    let body = inline_body(&document.findings[0], Dialect::GitHub, None).to_string();
    assert!(
        body.contains(
            "<details><summary>How the data gets there</summary>\n\n1. line 3: untrusted: `<b>`\n2. line 9: reaches `run`\n"
        ),
        "{body}"
    );
    let value: serde_json::Value = serde_json::from_str(&sarif(&document)).unwrap();
    let locations = &value["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(locations[1]["location"]["physicalLocation"]["region"]["startLine"], 9);
    assert_eq!(locations[1]["location"]["message"]["text"], "reaches `run`");
}

/// PR-92: reversible, not reversible, or left out when unclear.
#[test]
fn reversibility_is_said_only_when_known() {
    let finding = first().findings[0].clone();
    let with = |reversible| inline_body(&Finding { reversible, ..finding.clone() }, Dialect::GitHub, None);
    assert!(with(Some(true)).contains("· reversible ·"));
    assert!(with(Some(false)).contains("· not reversible ·"));
    assert!(!with(None).contains("reversible"));
}

/// PR-90, PR-93: questions and hygiene stay in the summary.
#[test]
fn questions_are_never_inline() {
    let comments = inline_comments(&first().findings);
    assert_eq!(comments.len(), 1);
    assert!(comments.iter().all(|comment| !comment.body.contains("Hygiene")));
}

/// PR-89: no flags, no sources, no empty headings.
#[test]
fn what_is_nobody_s_business_is_not_shown() {
    let text = sticky(&play(None, None, Vec::new(), serde_json::json!([])));
    for hidden in [
        "has_repo",
        "is_trivial",
        "Source:",
        "security-reviewer",
        "Severity adjustments",
        "Currently open",
        "Spec gap",
        "Inline comments",
    ] {
        assert!(!text.contains(hidden), "{hidden} is shown:\n{text}");
    }
}

/// PR-38, PR-80: a failed reviewer does not hide the tier.
#[test]
fn a_partial_failure_does_not_hide_the_tier() {
    let document = play(None, Some("sdet"), Vec::new(), claims());
    let json: serde_json::Value = serde_json::from_str(&document.to_json()).unwrap();
    assert_eq!((json["status"].as_str(), json["tier"].as_str()), (Some("partial-failure"), Some("blocking")));
    assert!(document.summary_line.contains("Partial — sdet failed · 🔴 Blocking issues found"), "{}", document.summary_line);
}

pub fn second(status: Verification) -> Document {
    let before = first();
    let gap = SpecGap {
        id: FindingId(9),
        key: "gap".into(),
        section: "Goal alignment".into(),
        title: "Retries".into(),
        spec_quote: "Retry once.".into(),
        code_quote: "retry()".into(),
        questions: vec!["How often?".into()],
        file: "src/a.py".into(),
        line: 4,
        blast: Blast::Local,
    };
    let last = LastKnown {
        run: "r0".into(),
        review: LastReview {
            head: Sha::from("0000000000000000"),
            base: before.base.clone(),
            reachable: true,
            fingerprint: "f".into(),
            complete: true,
            proved: true,
            same_content: false,
            other_target: false,
        },
        open: before.findings.iter().take(1).cloned().map(OpenFinding::new).collect(),
        gaps: vec![gap],
        clean: vec![],
        iteration: 1,
        changed_since: Some(BTreeSet::from(["src/a.py".into()])),
        renamed: BTreeMap::new(),
        history: Vec::new(),
        document: None,
    };
    let prior = vec![PriorStatus {
        id: before.findings[0].id,
        verification: status,
        note: "passes a list now".into(),
        is_switched_off: false,
    }];
    play(Some(last), None, prior, serde_json::json!([]))
}

/// PR-72, PR-86, PR-87, PR-70: the iteration's section, under its one name, and spec questions that wait for their author.
#[test]
fn the_second_round_reads_like_this() {
    let text = sticky(&second(Verification::Yes));
    assert!(text.contains("## 🔄 Last iteration changes (`000000000000..222222222222`)"), "{text}");
    assert!(text.contains("✅ Likely fixed — passes a list now"), "{text}");
    assert!(text.contains("⏸️ Awaiting spec author"), "{text}");
    assert!(text.contains("❓ Spec gap questions (1)") && text.contains("### ❓ F9 Goal alignment — Retries"), "{text}");
    assert!(text.contains("**Question for spec author**:") && text.contains("This does not block."), "{text}");
    let still = sticky(&second(Verification::No));
    assert!(still.contains("🔄 Still present") && still.contains("## 📋 Currently open (1)"), "{still}");
}

/// SARIF: one result per finding, the key as fingerprint, the fix, and a failed reviewer as an unsuccessful invocation.
#[test]
fn sarif_carries_keys_fixes_and_failures() {
    let document = play(None, Some("sdet"), Vec::new(), claims());
    let value: serde_json::Value = serde_json::from_str(&sarif(&document)).unwrap();
    let run = &value["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), document.findings.len());
    assert_eq!(run["results"][0]["partialFingerprints"]["tribunalFindingKey/v1"], document.findings[0].key.as_str());
    assert_eq!(
        run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"],
        "subprocess.run([cmd])\n"
    );
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
}

/// A folded finding names all its places, whatever it is written as.
#[test]
fn further_places_are_shown() {
    let mut document = first();
    let place = |line| FurtherPlace {
        key: format!("k{line}").as_str().into(),
        line_start: line,
        line_end: line,
        symbol: String::new(),
        evidence: format!("code {line}"),
    };
    document.findings[0].repeats = vec![place(31), place(47)];
    let value: serde_json::Value = serde_json::from_str(&sarif(&document)).unwrap();
    let related = &value["runs"][0]["results"][0]["relatedLocations"];
    assert_eq!(related[1]["physicalLocation"]["region"]["startLine"], 47);
    assert_eq!(related[1]["physicalLocation"]["region"]["snippet"]["text"], "code 47");
    let value: serde_json::Value = serde_json::from_str(&rdjson(&document)).unwrap();
    assert_eq!(value["diagnostics"][0]["related_locations"][0]["location"]["range"]["start"]["line"], 31);
    let body = inline_body(&document.findings[0], Dialect::GitHub, None).to_string();
    assert!(body.contains("<summary>2 further places</summary>") && body.contains("the same in lines 31, 47"), "{body}");
}

fn with_hostile_words() -> Document {
    let mut document = play(None, Some("sdet"), Vec::new(), claims());
    let words = "`` a ` b `` @octo-victim [approve](https://evil.example/x) <img src=//evil.example/p.png> ![x](//e) `c";
    document.findings[0].failure_mode = words.to_owned();
    document.findings[0].mitigation = r"see \[x](//evil.example) and a[0]".to_owned();
    document.findings[0].trace = vec![TraceStep { line: 2, note: "reaches [x](1)".into() }];
    document.findings[0].side = crate::findings::anchor::Side::New;
    document.subagent_failures[0].reason = words.to_owned();
    document
}

/// What an agent or a linter wrote is posted as Markdown by reviewdog.
#[test]
fn messages_are_harmless_as_markdown() {
    let value: serde_json::Value = serde_json::from_str(&rdjson(&with_hostile_words())).unwrap();
    for diagnostic in value["diagnostics"].as_array().unwrap() {
        let message = diagnostic["message"].as_str().unwrap();
        assert_eq!(acted_on(message), [""; 0], "{message}");
    }
    insta::assert_snapshot!(value["diagnostics"][0]["message"].as_str().unwrap().replace('\u{2060}', "⟂"), @r"F1 P0: `` a ` b `` @⟂octo-victim \[approve\](https:⟂//evil.example/x) &lt;img src=//evil.example/p.png&gt; !\[x\](//e) \`c see \\\[x\](//evil.example) and a\[0\]");
}

/// SARIF 2.1.0, 3.11.6: `[text](target)` in a message is a link.
#[test]
fn sarif_messages_hold_no_links() {
    let value: serde_json::Value = serde_json::from_str(&sarif(&with_hostile_words())).unwrap();
    let run = &value["runs"][0];
    let text = run["results"][0]["message"]["text"].as_str().unwrap();
    assert!(
        text.contains(r"\[approve\](https://evil.example/x)") && text.ends_with(r"see \\\[x\](//evil.example) and a\[0\]"),
        "{text}"
    );
    let step = &run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]["message"]["text"];
    assert_eq!(step, r"reaches \[x\](1)");
    assert!(run["invocations"][0]["toolExecutionNotifications"].to_string().contains(r"\\[approve\\]"));
    for place in [&run["tool"]["driver"]["rules"][0]["fullDescription"], &run["results"][0]["fixes"][0]["description"]] {
        assert!(!place["text"].as_str().is_some_and(|text| text.contains(" [")), "{place}");
    }
}

#[test]
fn rdjson_carries_suggestions() {
    let value: serde_json::Value = serde_json::from_str(&rdjson(&first())).unwrap();
    assert_eq!(value["diagnostics"][0]["suggestions"][0]["text"], "subprocess.run([cmd])");
    assert_eq!(value["diagnostics"][0]["severity"], "ERROR");
}
