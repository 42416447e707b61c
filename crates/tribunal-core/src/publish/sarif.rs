//! SARIF 2.1.0, for code scanning and editors.

use crate::combine::finding::{Finding, FurtherPlace};
use crate::combine::verdict::Outcome;
use crate::findings::anchor::Side;
use crate::findings::report::{Fix, TraceStep};
use crate::findings::scale::Priority;
use crate::report::document::Document;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub fn sarif(document: &Document) -> String {
    let mut rules: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in &document.findings {
        rules.entry(finding.slug.as_str()).or_insert(finding);
    }
    let indices: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(index, slug)| (*slug, index)).collect();
    let complete = matches!(document.outcome, Outcome::Clean | Outcome::Findings);
    let notifications: Vec<Value> = document
        .subagent_failures
        .iter()
        .map(|failure| json!({ "level": "error", "message": message(&format!("{} ({}): {}", failure.seat.role, failure.seat.agent, failure.reason)) }))
        .chain(document.notices.iter().map(|notice| json!({ "level": "note", "message": message(notice) })))
        .collect();
    let body = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Tribunal",
                "semanticVersion": document.receipt.engine,
                "rules": rules.values().map(|finding| rule(finding)).collect::<Vec<_>>(),
            }},
            "invocations": [{ "executionSuccessful": complete, "toolExecutionNotifications": notifications }],
            "results": document.findings.iter().map(|finding| result(finding, &indices)).collect::<Vec<_>>(),
            "columnKind": "unicodeCodePoints",
            "properties": { "tribunal/receipt": document.receipt, "tribunal/summary": document.summary_line },
        }],
    });
    serde_json::to_string_pretty(&body).map(|text| text + "\n").unwrap_or_default()
}

/// A message object without links: `[text](target)` in a message is one (SARIF 2.1.0, 3.11.6), and `\[` is a bracket. A backslash that
/// stands before the bracket already would take the meaning of ours.
fn message(text: &str) -> Value {
    let mut out = String::with_capacity(text.len());
    let mut slashes = 0;
    for c in text.chars() {
        if matches!(c, '[' | ']') {
            out.push_str(&"\\".repeat(slashes + 1));
        }
        slashes = if c == '\\' { slashes + 1 } else { 0 };
        out.push(c);
    }
    json!({ "text": out })
}

fn level(priority: Priority) -> &'static str {
    match priority {
        Priority::P0 => "error",
        Priority::P1 => "warning",
        Priority::P2 | Priority::P3 | Priority::Q => "note",
    }
}

fn rule(finding: &Finding) -> Value {
    json!({
        "id": finding.slug,
        "shortDescription": message(&finding.category),
        "fullDescription": message(&finding.failure_mode),
        "help": message(if finding.mitigation.is_empty() { &finding.failure_mode } else { &finding.mitigation }),
        "defaultConfiguration": { "level": level(finding.p_code) },
        "properties": { "category": finding.category_code.as_str() },
    })
}

fn result(finding: &Finding, indices: &BTreeMap<&str, usize>) -> Value {
    let uri = uri(finding.file.as_str());
    let mut location = json!({ "physicalLocation": { "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" } } });
    if finding.side == Side::New {
        location["physicalLocation"]["region"] = json!({
            "startLine": finding.line_start, "endLine": finding.line_end, "snippet": { "text": finding.evidence }
        });
    }
    if !finding.symbol.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": finding.symbol }]);
    }
    let mut value = json!({
        "ruleId": finding.slug,
        "ruleIndex": indices.get(finding.slug.as_str()).copied().unwrap_or(0),
        "level": level(finding.p_code),
        "message": message(format!("{} {}", finding.failure_mode, finding.mitigation).trim_end()),
        "locations": [location],
        "partialFingerprints": { "tribunalFindingKey/v1": finding.key.as_str() },
        "properties": {
            "tribunal/id": finding.id, "tribunal/priority": finding.p_code.code(), "tribunal/confidence": finding.confidence.word(),
            "tribunal/blast": finding.blast.word(), "tribunal/agreement": finding.agreement,
        },
    });
    if !finding.trace.is_empty() {
        value["codeFlows"] = json!([{ "threadFlows": [{ "locations": finding.trace.iter().map(|step| flow_location(step, &uri)).collect::<Vec<_>>() }] }]);
    }
    if !finding.repeats.is_empty() {
        value["relatedLocations"] =
            finding.repeats.iter().enumerate().map(|(n, place)| further_location(finding, n, place)).collect();
    }
    if let Some(fix) = finding.fix.as_ref().filter(|_| finding.side == Side::New) {
        let description = if finding.mitigation.is_empty() { &finding.failure_mode } else { &finding.mitigation };
        value["fixes"] = json!([{
            "description": message(description),
            "artifactChanges": [{ "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" }, "replacements": replacements(fix) }],
        }]);
        if !fix.kind.is_safe() {
            value["fixes"][0]["properties"] = json!({ "tribunal/kind": fix.kind });
        }
    }
    value
}

/// One step of a trace.
fn flow_location(step: &TraceStep, uri: &str) -> Value {
    json!({ "location": {
        "message": message(&step.note),
        "physicalLocation": {
            "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" },
            "region": { "startLine": step.line },
        },
    } })
}

fn further_location(finding: &Finding, number: usize, place: &FurtherPlace) -> Value {
    let mut location = json!({
        "id": number + 1,
        "message": { "text": "The same rule matches here." },
        "physicalLocation": { "artifactLocation": { "uri": uri(finding.file.as_str()), "uriBaseId": "%SRCROOT%" } },
    });
    if finding.side == Side::New {
        location["physicalLocation"]["region"] =
            json!({ "startLine": place.line_start, "endLine": place.line_end, "snippet": { "text": place.evidence } });
    }
    location
}

/// Whole lines: from the first column of the first to the first column after the last. An insertion deletes nothing.
fn replacements(fix: &Fix) -> Vec<Value> {
    let text = |text: &str| if text.is_empty() { String::new() } else { format!("{text}\n") };
    let region = |first: u32, after: u32| json!({ "startLine": first, "startColumn": 1, "endLine": after, "endColumn": 1 });
    let replaced = json!({
        "deletedRegion": region(fix.line_start, fix.line_end + 1),
        "insertedContent": { "text": text(&fix.replacement) },
    });
    let inserted = fix.insertions.iter().map(
        |added| json!({ "deletedRegion": region(added.line, added.line), "insertedContent": { "text": text(&added.text) } }),
    );
    std::iter::once(replaced).chain(inserted).collect()
}

/// A path as a relative URI: everything outside the unreserved set and `/` is percent-encoded.
fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn odd_paths_become_valid_uris() {
        assert_eq!(super::uri("a b/ü:c.rs"), "a%20b/%C3%BC%3Ac.rs");
    }
}
