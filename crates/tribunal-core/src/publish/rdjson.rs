//! rdjson, the diagnostic format of reviewdog.

use crate::combine::finding::Finding;
use crate::findings::anchor::Side;
use crate::findings::scale::Priority;
use crate::publish::markdown::inert;
use crate::report::document::Document;
use serde_json::{Value, json};

pub fn rdjson(document: &Document) -> String {
    let diagnostics: Vec<Value> = document.findings.iter().filter(|finding| finding.side == Side::New).map(diagnostic).collect();
    // Deleted code has no line in the new file; it is told without one rather than left out.
    let deleted = document.findings.iter().filter(|finding| finding.side == Side::Old).map(|finding| {
        json!({ "message": message(finding), "location": { "path": finding.file.as_str() }, "severity": severity(finding.p_code),
                "code": { "value": finding.slug }, "source": source() })
    });
    let worst = document.findings.iter().map(|finding| finding.p_code).min();
    let missing = missing(document);
    let body = json!({
        "source": source(),
        "severity": if missing.is_empty() { worst.map_or("INFO", severity) } else { "ERROR" },
        "diagnostics": diagnostics.into_iter().chain(deleted).chain(missing).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&body).map(|text| text + "\n").unwrap_or_default()
}

/// The format has no place for what went wrong, and an empty list would read as clean (PR-6, design rule 1): each failed reviewer
/// and each file that nobody has read is a diagnostic.
fn missing(document: &Document) -> Vec<Value> {
    let failed = document.subagent_failures.iter().map(|failure| {
        let message = inert(&format!("{} ({}) failed: {}", failure.seat.role, failure.seat.agent, failure.reason));
        json!({ "message": message, "location": { "path": "" }, "severity": "ERROR", "code": { "value": "reviewer-failed" }, "source": source() })
    });
    let unread = document.receipt.coverage.accounts.iter().filter(|account| account.ended.is_missing()).map(|account| {
        let message = format!("This file was not reviewed: {}.", account.ended.words().unwrap_or_default());
        json!({ "message": message, "location": { "path": account.path.as_str() },
                "severity": "ERROR", "code": { "value": "not-read" }, "source": source() })
    });
    failed.chain(unread).collect()
}

fn source() -> Value {
    json!({ "name": "tribunal" })
}

fn severity(priority: Priority) -> &'static str {
    match priority {
        Priority::P0 => "ERROR",
        Priority::P1 => "WARNING",
        Priority::P2 | Priority::P3 | Priority::Q => "INFO",
    }
}

/// reviewdog posts it as Markdown.
fn message(finding: &Finding) -> String {
    let (failure_mode, mitigation) = (inert(&finding.failure_mode), inert(&finding.mitigation));
    format!("{} {}: {failure_mode} {mitigation}", finding.id, finding.p_code).trim_end().to_owned()
}

fn diagnostic(finding: &Finding) -> Value {
    let mut value = json!({
        "message": message(finding),
        // Without columns, reviewdog reads a range of whole lines, both ends included.
        "location": { "path": finding.file.as_str(), "range": { "start": { "line": finding.line_start }, "end": { "line": finding.line_end } } },
        "severity": severity(finding.p_code),
        "code": { "value": finding.slug },
        "source": source(),
    });
    if !finding.repeats.is_empty() {
        let related = finding.repeats.iter().map(|place| {
            json!({ "message": "The same rule matches here.",
                    "location": { "path": finding.file.as_str(), "range": { "start": { "line": place.line_start }, "end": { "line": place.line_end } } } })
        });
        value["related_locations"] = related.collect();
    }
    // Each suggestion of the format stands alone, so a fix in several places is none.
    if let Some(fix) = finding.fix.as_ref().filter(|fix| fix.insertions.is_empty()) {
        value["suggestions"] = json!([{
            "range": { "start": { "line": fix.line_start }, "end": { "line": fix.line_end } },
            "text": fix.replacement,
        }]);
    }
    value
}
