//! What each target does with its bytes. Beside not crashing, each states what must hold of whatever was read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use tribunal_agent::command::parse_report;
use tribunal_agent::model::schema::validate;
use tribunal_agent::model::sse::Sse;
use tribunal_agent::sarif::SarifAgent;
use tribunal_core::diff::change::Change;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::findings::admit::{AdmittedReport, Author, Gate, admit};
use tribunal_core::findings::anchor::fold;
use tribunal_core::findings::leak::Watch;
use tribunal_core::findings::report::Report;
use tribunal_core::findings::role::{Role, built_in_roles};
use tribunal_core::gate::words::GateId;
use tribunal_core::gate::words::{comment, prompt, read as read_answer};
use tribunal_core::gate::{Gate as Question, GateName};
use tribunal_core::ids::{AgentName, RunId};
use tribunal_core::policy::layers::read_layer;
use tribunal_core::procedure::review::brought::Brought;
use tribunal_core::publish::marker::{MarkerKey, Seal, read as read_mark};
use tribunal_core::publish::memory::Memory;
use tribunal_core::publish::outgoing::known::learn_secret;
use tribunal_core::publish::outgoing::{Outgoing, forged, mask};
use tribunal_core::publish::sticky::markdown;
use tribunal_core::pull::command::commands as read_commands;
use tribunal_core::remedy::suggestion::{parse_suggestion, splice};
use tribunal_core::report::document::Document;

/// A change that reports can speak of.
const CHANGE: &[u8] = b"diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,4 @@\n import os\n+os.system(cmd)\n+key = \"AKIAQ3WZ7T5RY2KXQ3WZ\"\n x = 1\n";

fn change() -> Change {
    parse_diff(CHANGE).unwrap()
}

/// Read once: it would take most of each run.
fn roles() -> &'static [Role] {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    ROLES.get_or_init(|| built_in_roles().unwrap())
}

/// A report through the gate: every claim ends somewhere, what is kept stands in the change, and no key is kept.
fn pass(report: Report, author: Author<'_>) -> AdmittedReport {
    let (change, roles, agent, outlines) = (change(), roles(), AgentName::from("fuzz"), BTreeMap::new());
    let role = roles.iter().find(|role| role.name.as_str() == "security-reviewer").unwrap();
    let gate = Gate {
        role,
        agent: &agent,
        change: &change,
        outlines: &outlines,
        window: None,
        has_repo: true,
        spec: None,
        directives: &[],
        author,
    };
    let claims = report.findings.len();
    let admitted = admit(report, &gate);
    assert_eq!(admitted.findings.len() + admitted.dropped.len(), claims, "a claim was lost");
    for finding in &admitted.findings {
        assert!(!finding.anchor.quote.contains("AKIAQ3WZ7T5RY2KXQ3WZ"));
    }
    admitted
}

/// Nothing that was read from others leaves with a mark, a key or a hidden character, and filtering twice changes nothing.
fn leaves(text: &str) {
    let out = Outgoing::text(text);
    assert!(!forged::has_mark(&out) && !mask::has_secret(&out), "{out:?}");
    assert_eq!(Outgoing::text(&out), out);
}

pub fn diff(data: &[u8]) {
    let Ok(change) = parse_diff(data) else { return };
    for file in &change.files {
        for line in file.lines() {
            // A line has a number on each side that it stands on, and lines count from one.
            assert!(line.old_line.is_some() || line.new_line.is_some());
            assert!(line.old_line != Some(0) && line.new_line != Some(0));
            leaves(&line.text);
        }
    }
}

pub fn sarif(data: &[u8]) {
    let (change, roles) = (change(), roles());
    let role = roles.iter().find(|role| role.name.as_str() == "security-reviewer").unwrap();
    let agent = SarifAgent { category: Some("S1"), categories: &BTreeMap::new() };
    if let Ok(report) = agent.report(role, data, &change, Some(Path::new("/work"))) {
        pass(report, Author::Linter);
    }
}

pub fn receipt(data: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Document>(data) else { return };
    leaves(&markdown(&document));
    let _ = document.for_display();
    let brought = Brought::from_receipt(&document, &change(), roles());
    for finding in &brought.findings {
        let lines: Vec<String> = change().files[0].lines().map(|line| mask::mask(&line.text)).collect();
        assert!(fold(&lines.join("\n")).contains(&fold(&finding.evidence)), "{}", finding.evidence);
    }
}

pub fn marks(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let key = MarkerKey::from_secret("a key that no fuzzer knows");
    let read = read_mark(text, "pull:h/acme/shop#7", &key);
    assert!(read.is_none_or(|read| read.seal == Seal::Broken), "a mark was forged");
    assert!(read_mark(&Outgoing::text(text), "pull:h/acme/shop#7", &key).is_none());
    let hash = tribunal_core::findings::key::sha256_hex(text.lines().next().unwrap_or_default().trim().as_bytes());
    let _ = Memory::unpack(text, &hash);
    leaves(text);
}

pub fn commands(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    // What is quoted or fenced orders nothing.
    let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
    assert!(read_commands(&quoted).is_empty(), "{quoted}");
    let _ = read_commands(&text);
}

pub fn suggestions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(found) = parse_suggestion(&text) else { return };
    let file = "one\ntwo\nthree\nfour\nfive\n";
    for lines in [(1, 1), (2, 4), (5, 5), (6, 9)] {
        let _ = splice(&found, &"app.py".into(), lines, file);
    }
}

pub fn gates(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for name in [GateName::BudgetEscalation, GateName::MergeOrder, GateName::RepeatedFailure] {
        let gate = Question { name, number: Some(7), head: None, question: text.clone().into_owned(), until: 1_800_000_000_000 };
        let _ = read_answer(&gate, &text);
        let id = GateId::new(&RunId::from("run"), 3);
        // Text in a question gives no answer and no order when the comment is read back.
        let posted = Outgoing::text(&comment(&gate, &id));
        let plain = comment(&Question { question: "Merge it?".into(), ..gate.clone() }, &id);
        assert_eq!(read_commands(&posted).len(), read_commands(&plain).len(), "{posted}");
        assert!(!prompt(&gate, &id).contains('\u{1b}'));
    }
}

pub fn replies(data: &[u8]) {
    let mut events = Sse::default();
    for part in data.chunks(7) {
        let _ = events.push(part);
    }
    let _ = events.rest();
    let text = String::from_utf8_lossy(data);
    let _ = validate(&serde_json::json!({ "type": "object", "required": ["findings"] }), &text);
    let Ok(report) = parse_report(data) else { return };
    learn_secret("tok-5f3e9a7c2b1d4e6f8091");
    let watch = Watch::new(std::iter::empty(), "heron-0123456789abcdef");
    let admitted = pass(report, Author::Agent(&watch));
    let kept = serde_json::to_string(&admitted).unwrap();
    assert!(!kept.contains("tok-5f3e9a7c2b1d4e6f8091"), "{kept}");
}

pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = read_layer(".tribunal.toml", text) {
        let _ = error.to_string();
    }
}
