//! A reviewer without judgement: it reads the role and the numbered diff of the prompt and reports what the diff itself declares to be a
//! bug.
//!
//! The prompt's format is all it knows: `Role: NAME`, `Categories: S1, S2`, `=== FILE path ===`, and diff lines of a mark, a
//! right-aligned number, one blank and the text. The last role wins, since the role stands last and a change may contain the word earlier.

use crate::asked::Asked;
use crate::script::ReportPlan;
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    pub role: Option<String>,
    /// Empty when the prompt names none: then all categories count as owned.
    pub categories: Vec<String>,
    pub added: Vec<AddedLine>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AddedLine {
    pub path: String,
    pub number: u32,
    pub text: String,
}

impl Reading {
    pub fn of(asked: &Asked) -> Reading {
        let mut reading = Reading::default();
        let mut path = String::new();
        for line in asked.told().flat_map(str::lines) {
            if let Some(name) = line.strip_prefix("=== FILE ").and_then(|rest| rest.trim_end().strip_suffix(" ===")) {
                // `path (how it changed)`
                path = name.rsplit_once(" (").filter(|(_, how)| how.ends_with(')')).map_or(name, |(path, _)| path).to_owned();
            } else if let Some(role) = line.trim().strip_prefix("Role:") {
                reading.role = Some(role.trim().to_owned());
            } else if let Some(codes) = line.trim().strip_prefix("Categories:") {
                // Some CLIs hand the prompt on in quotes.
                let codes = codes.split(',').filter_map(|code| code.split_whitespace().next());
                reading.categories = codes.map(|code| code.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()).collect();
            } else if let Some((number, text)) = added(line) {
                reading.added.push(AddedLine { path: path.clone(), number, text: text.to_owned() });
            }
        }
        reading
    }

    fn owns(&self, code: &str) -> bool {
        self.categories.is_empty() || self.categories.iter().any(|owned| owned == code)
    }

    /// One finding per marked line of an owned category, the rest clean.
    pub fn echo(&self) -> Value {
        let mut findings = Vec::new();
        for line in &self.added {
            if let Some(mark) = Mark::on(&line.text).filter(|mark| self.owns(mark.code)) {
                let mut claim = claim(mark.code, line, mark.words);
                if let Some(severity) = mark.severity {
                    claim["severity"] = json!(severity);
                }
                findings.push(claim);
            }
        }
        self.report(findings)
    }

    pub fn planned(&self, plan: &ReportPlan) -> Value {
        let findings = plan.findings.iter().map(|given| {
            let mut claim = self.claim_somewhere("The script says that this breaks.");
            if let (Some(claim), Some(given)) = (claim.as_object_mut(), given.as_object()) {
                claim.extend(given.clone());
            }
            claim
        });
        let mut report = self.report(findings.collect());
        report["missing_prerequisites"] = json!(plan.missing_prerequisites);
        report["not_applicable"] = json!(plan.not_applicable);
        if let Some(clean) = report["checked_clean"].as_array_mut() {
            clean.retain(|check| !plan.not_applicable.iter().any(|code| check["category"] == code.as_str()));
        }
        report
    }

    /// A valid claim on the first added line, in the first owned category.
    pub fn claim_somewhere(&self, words: &str) -> Value {
        let nowhere = AddedLine { path: "unknown".into(), number: 1, text: String::new() };
        let code = self.categories.first().map_or("S1", String::as_str);
        claim(code, self.added.iter().find(|line| !line.text.trim().is_empty()).unwrap_or(&nowhere), words)
    }

    pub fn report(&self, findings: Vec<Value>) -> Value {
        let found = |code: &String| findings.iter().any(|claim| claim["category"] == code.as_str());
        let looked = format!("read {} added lines", self.added.len());
        let clean: Vec<Value> = self
            .categories
            .iter()
            .filter(|code| !found(code))
            .map(|code| json!({ "category": code, "evidence": looked }))
            .collect();
        json!({
            "findings": findings, "not_applicable": [], "checked_clean": clean, "prior": [], "missing_prerequisites": [], "unread": [],
        })
    }
}

fn claim(code: &str, line: &AddedLine, words: &str) -> Value {
    json!({
        "category": code,
        "file": line.path,
        "line_start": line.number,
        "line_end": line.number,
        "confidence": "high",
        "blast": "local",
        "justification": "reachable",
        "evidence": line.text,
        "failure_mode": words,
        "mitigation": "Take the marked line out.",
    })
}

/// `+    12 text`, `+    12* text`
fn added(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix('+')?.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    // A star marks what is new since the last review.
    let rest = rest[digits..].strip_prefix('*').unwrap_or(&rest[digits..]);
    Some((number, rest.strip_prefix(' ').unwrap_or_default()))
}

/// `BUG(S1): words`, or `BUG(S1 blocker): words`.
struct Mark<'a> {
    code: &'a str,
    severity: Option<&'a str>,
    words: &'a str,
}

impl Mark<'_> {
    fn on(text: &str) -> Option<Mark<'_>> {
        let (inside, words) = text.split_once("BUG(")?.1.split_once("):")?;
        let mut inside = inside.split([',', ' ']).filter(|word| !word.is_empty());
        let words = words.trim().trim_end_matches("*/").trim_end_matches("-->").trim_end();
        Some(Mark { code: inside.next()?, severity: inside.next(), words })
    }
}
