//! A linter as a reviewer: its SARIF, turned into claims that pass the same gate as everyone's.

use crate::AgentFailure;
use crate::process::{Clocks, Invocation, run};
use crate::sandbox::{Limits, Network, Reads};
use globset::Glob;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tribunal_core::diff::change::{Change, ChangedFile};
use tribunal_core::feedback::lint;
use tribunal_core::findings::admit::DropReason;
use tribunal_core::findings::report::{Claim, CleanCheck, Report};
use tribunal_core::findings::role::Role;
use tribunal_core::findings::scale::{Blast, Confidence, Justification, Priority, Severity};
use tribunal_core::ids::CategoryCode;
use tribunal_core::linter::claim::{named_file, place_of};

pub struct SarifAgent<'a> {
    pub category: Option<&'a str>,
    pub categories: &'a BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Log {
    version: String,
    #[serde(default)]
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    #[serde(default)]
    results: Option<Vec<LintResult>>,
    #[serde(default)]
    invocations: Vec<LintInvocation>,
    #[serde(default)]
    column_kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LintInvocation {
    #[serde(default)]
    execution_successful: Option<bool>,
}

#[derive(Deserialize)]
struct Tool {
    driver: Driver,
}

#[derive(Deserialize)]
struct Driver {
    name: String,
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    #[serde(default)]
    short_description: Option<Text>,
    #[serde(default)]
    help: Option<Text>,
    #[serde(default)]
    default_configuration: Option<Configuration>,
    #[serde(default)]
    properties: Properties,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    level: Option<String>,
}

#[derive(Deserialize, Default)]
struct Properties {
    #[serde(default)]
    tags: Vec<String>,
    #[serde(rename = "security-severity", default)]
    security_severity: Option<String>,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LintResult {
    #[serde(default)]
    rule_id: Option<String>,
    #[serde(default)]
    rule_index: Option<usize>,
    #[serde(default)]
    level: Option<String>,
    message: Text,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    suppressions: Option<Vec<Suppression>>,
    #[serde(default)]
    fixes: Vec<LintFix>,
}

#[derive(Deserialize)]
struct Suppression {
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LintFix {
    #[serde(default)]
    artifact_changes: Vec<ArtifactChange>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactChange {
    artifact_location: ArtifactLocation,
    #[serde(default)]
    replacements: Vec<Replacement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    #[serde(default)]
    inserted_content: Option<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(default)]
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(default)]
    region: Option<Region>,
}

#[derive(Deserialize)]
struct ArtifactLocation {
    #[serde(default)]
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u32>,
    end_line: Option<u32>,
    start_column: Option<u32>,
    end_column: Option<u32>,
    snippet: Option<Text>,
}

/// A log that can be relied upon: whole, and of a tool that looked.
fn read(bytes: &[u8]) -> Result<Log, AgentFailure> {
    let log: Log = serde_json::from_slice(crate::command::without_mark(bytes))
        .map_err(|error| AgentFailure::Failed(format!("its output is not SARIF: {error}")))?;
    if !log.version.starts_with("2.") {
        return Err(AgentFailure::Failed(format!("it speaks SARIF {}, not 2.1.0", log.version)));
    }
    if log.runs.iter().any(|run| run.invocations.iter().any(|invocation| invocation.execution_successful == Some(false))) {
        return Err(AgentFailure::Failed("the linter says that it did not finish".into()));
    }
    if log.runs.iter().any(|run| run.tool.driver.name.trim().is_empty()) {
        return Err(AgentFailure::Failed("its output names no tool, so nobody says that anything was looked at".into()));
    }
    if log.runs.is_empty() || log.runs.iter().any(|run| run.results.is_none()) {
        // In SARIF, no `results` at all means that the tool did not look.
        return Err(AgentFailure::Failed("the linter gave no results, not even an empty list".into()));
    }
    Ok(log)
}

impl Run {
    /// What nobody has suppressed.
    fn standing(&self) -> impl Iterator<Item = &LintResult> {
        self.results.iter().flatten().filter(|result| result.suppressions.as_ref().is_none_or(Vec::is_empty))
    }

    /// What a comment in the source suppresses, where the linter names it.
    fn suppressed_in_source(&self) -> impl Iterator<Item = &LintResult> {
        let all = self.results.iter().flatten();
        all.filter(|result| result.suppressions.iter().flatten().any(|suppression| suppression.kind == "inSource"))
    }

    fn rule_of(&self, result: &LintResult) -> Option<&Rule> {
        let rules = &self.tool.driver.rules;
        let by_index = result.rule_index.and_then(|index| rules.get(index));
        by_index.or_else(|| rules.iter().find(|rule| Some(&rule.id) == result.rule_id.as_ref()))
    }
}

fn name_of(result: &LintResult, rule: Option<&Rule>) -> String {
    result.rule_id.clone().or_else(|| rule.map(|rule| rule.id.clone())).unwrap_or_else(|| "result".into())
}

/// Every result that names a file, as feedback. Which of them speak of a change is for others to say.
pub fn results(bytes: &[u8]) -> Result<Vec<lint::LintResult>, AgentFailure> {
    let log = read(bytes)?;
    Ok(log.runs.iter().flat_map(|run| run.standing().filter_map(|result| feedback(run, result))).collect())
}

fn feedback(run: &Run, result: &LintResult) -> Option<lint::LintResult> {
    let place = result.locations.iter().find_map(|location| location.physical_location.as_ref())?;
    let rule = run.rule_of(result);
    let region = place.region.as_ref();
    let lines = region.and_then(|region| Some((region.start_line?, region.end_line.or(region.start_line)?)));
    let (severity, _) = weight(result, rule);
    let level = result.level.as_deref().or_else(|| rule?.default_configuration.as_ref()?.level.as_deref());
    let help =
        rule.and_then(|rule| rule.help.as_ref().or(rule.short_description.as_ref())).map(|text| first_sentence(&text.text));
    let message = first_sentence(&result.message.text);
    let message = match help.filter(|help| !help.is_empty() && *help != message) {
        Some(help) => format!("{message}\n\n{help}"),
        None => message,
    };
    Some(lint::LintResult {
        tool: run.tool.driver.name.clone(),
        rule: name_of(result, rule),
        path: written_path(&place.artifact_location.uri),
        lines,
        priority: match (severity, level) {
            (Severity::Blocker, _) => Priority::P0,
            (_, Some("error")) => Priority::P1,
            (_, Some("note" | "none")) => Priority::P3,
            _ => Priority::P2,
        },
        message,
        snippet: region
            .and_then(|region| region.snippet.as_ref())
            .map(|text| text.text.clone())
            .filter(|text| !text.trim().is_empty()),
        fix: result.fixes.first().map(|fix| replaces(run, fix, &place.artifact_location.uri)).unwrap_or_default(),
    })
}

/// The first of a result's fixes, if it stays in the file; one that needs other files is no simple one.
fn replaces(run: &Run, fix: &LintFix, uri: &str) -> Vec<lint::Replace> {
    let [change] = fix.artifact_changes.as_slice() else { return Vec::new() };
    if change.artifact_location.uri != uri {
        return Vec::new();
    }
    let utf16 = run.column_kind.as_deref() != Some("unicodeCodePoints");
    let all = change.replacements.iter().map(|replacement| {
        let region = &replacement.deleted_region;
        let line = region.start_line?;
        let from = lint::Spot { line, column: region.start_column };
        let to = lint::Spot { line: region.end_line.unwrap_or(line), column: region.end_column };
        let text = replacement.inserted_content.as_ref().map(|content| content.text.clone()).unwrap_or_default();
        Some(lint::Replace { from, to, text, utf16 })
    });
    // Half a fix is none.
    all.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// As the tool names it, with slashes.
fn written_path(uri: &str) -> String {
    percent_decode(uri.strip_prefix("file://").unwrap_or(uri)).replace('\\', "/")
}

/// A linter to run.
#[derive(Debug, Clone, Copy)]
pub struct Linter<'a> {
    pub command: &'a [String],
    pub env: &'a [String],
    pub network: bool,
    /// Paths that it may read beside its own installation.
    pub read: &'a [String],
    pub timeout: Option<u64>,
}

impl Linter<'_> {
    /// Runs it in a copy of the tree, which keeps no link that leads out of it. Linters exit with 1 when they find something, so the
    /// output decides, not the code.
    pub fn run(&self, copy: &Path, scratch: &Path) -> Result<Vec<u8>, AgentFailure> {
        crate::tree::cut_links(copy).map_err(|error| AgentFailure::Failed(format!("the copy cannot be made safe: {error}")))?;
        let reads = Reads::of_command(self.command, self.read).map_err(AgentFailure::Failed)?;
        let printed = run(&Invocation {
            command: self.command,
            input: Vec::new(),
            directory: copy,
            scratch,
            env: self.env,
            set: &[],
            limits: Limits::new(reads, vec![copy.to_owned(), scratch.to_owned()], Network::open(self.network)),
            clocks: Clocks::total(self.timeout.map_or(crate::command::DEFAULT_TIMEOUT, Duration::from_secs)),
        })?;
        if printed.stdout.iter().all(u8::is_ascii_whitespace) {
            let last = printed.stderr.lines().last().unwrap_or("nothing");
            return Err(AgentFailure::Failed(format!("the linter printed no SARIF ({}); it said: {last}", printed.exit)));
        }
        Ok(printed.stdout)
    }
}

impl SarifAgent<'_> {
    /// Claims for results on lines that the change added. `root` is what absolute paths are relative to.
    pub fn report(&self, role: &Role, bytes: &[u8], change: &Change, root: Option<&Path>) -> Result<Report, AgentFailure> {
        let log = read(bytes)?;
        let mut report = Report::default();
        let mut count = 0;
        for run in &log.runs {
            for result in run.standing() {
                count += 1;
                match self.claim(role, run, result, change, root) {
                    Ok(claim) => report.findings.push(claim),
                    Err(reason) => *report.left_alone.entry(reason).or_insert(0) += 1,
                }
            }
        }
        let names: Vec<&str> = log.runs.iter().map(|run| run.tool.driver.name.as_str()).collect();
        let found: Vec<CategoryCode> = report.findings.iter().map(|claim| claim.category.clone()).collect();
        report.checked_clean = role
            .categories
            .iter()
            .filter(|category| !found.contains(&category.code) && self.speaks_of(&category.code, role))
            .map(|category| CleanCheck {
                category: category.code.clone(),
                evidence: format!("{}: {count} result(s) in all, none on an added line", names.join(", ")),
            })
            .collect();
        Ok(report)
    }

    /// Claims for results on lines that the change added which a comment suppresses.
    pub fn suppressed(
        &self,
        role: &Role,
        bytes: &[u8],
        change: &Change,
        root: Option<&Path>,
    ) -> Result<Vec<Claim>, AgentFailure> {
        let log = read(bytes)?;
        let of_run = |run: &Run| -> Vec<Claim> {
            run.suppressed_in_source().filter_map(|result| self.claim(role, run, result, change, root).ok()).collect()
        };
        Ok(log.runs.iter().flat_map(of_run).collect())
    }

    fn speaks_of(&self, code: &CategoryCode, role: &Role) -> bool {
        self.default_category(role).as_ref() == Some(code) || self.categories.values().any(|name| name == code.as_str())
    }

    fn default_category(&self, role: &Role) -> Option<CategoryCode> {
        self.category.map(CategoryCode::from).or_else(|| role.categories.first().map(|category| category.code.clone()))
    }

    /// The claim that a result makes, or why it makes none: a linter speaks of the whole tree, a review of the change.
    fn claim(
        &self,
        role: &Role,
        run: &Run,
        result: &LintResult,
        change: &Change,
        root: Option<&Path>,
    ) -> Result<Claim, DropReason> {
        let place = result.locations.iter().find_map(|location| location.physical_location.as_ref());
        let named = |place: &PhysicalLocation| file_at(&place.artifact_location.uri, root, change);
        let file = place.and_then(named).ok_or(DropReason::NotInChange)?;
        let region = place.and_then(|place| place.region.as_ref()).ok_or(DropReason::NoEvidence)?;
        let start = region.start_line.ok_or(DropReason::NoEvidence)?;
        let (start, end) = place_of((start, region.end_line.unwrap_or(start)), &file.added_numbers())?;
        let evidence: Vec<&str> = file
            .lines()
            .filter(|line| line.new_line.is_some_and(|line| (start..=end).contains(&line)))
            .map(|line| line.text.as_str())
            .collect();
        let rule = run.rule_of(result);
        let id = name_of(result, rule);
        let (severity, justification) = weight(result, rule);
        Ok(Claim {
            category: self.category_of(&id, role).ok_or(DropReason::NotOwned)?,
            file: file.path.clone(),
            line_start: Some(start),
            line_end: Some(end),
            severity: Some(severity),
            confidence: Confidence::Medium,
            blast: Blast::Local,
            justification: Some(justification),
            evidence: evidence.join("\n"),
            failure_mode: first_sentence(&result.message.text),
            mitigation: rule
                .and_then(|rule| rule.help.as_ref().or(rule.short_description.as_ref()))
                .map(|text| first_sentence(&text.text))
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| format!("See {} of {}.", id, run.tool.driver.name)),
            details: None,
            notes: Some(format!("{} {id}", run.tool.driver.name)),
            slug: Some(id.clone()),
            signal: None,
            spec_quote: None,
            questions: Vec::new(),
            mitigation_out_of_scope: false,
            reversible: None,
            rule: Some(id),
            fix: None,
            trace: Vec::new(),
        })
    }

    fn category_of(&self, rule: &str, role: &Role) -> Option<CategoryCode> {
        self.categories
            .iter()
            .find(|(glob, _)| Glob::new(glob).is_ok_and(|glob| glob.compile_matcher().is_match(rule)))
            .map(|(_, category)| CategoryCode::from(category.as_str()))
            .or_else(|| self.default_category(role))
    }
}

/// Others' words are read into ours and never decide alone: a linter's error is a fact, only a high security score blocks.
fn weight(result: &LintResult, rule: Option<&Rule>) -> (Severity, Justification) {
    let score = rule.and_then(|rule| rule.properties.security_severity.as_deref()).and_then(|score| score.parse::<f64>().ok());
    let is_security =
        score.is_some() || rule.is_some_and(|rule| rule.properties.tags.iter().any(|tag| tag.eq_ignore_ascii_case("security")));
    let level = result
        .level
        .as_deref()
        .or_else(|| {
            rule.and_then(|rule| rule.default_configuration.as_ref()).and_then(|configuration| configuration.level.as_deref())
        })
        .unwrap_or("warning");
    let severity = match level {
        _ if score.is_some_and(|score| score >= 9.0) => Severity::Blocker,
        "error" => Severity::Factual,
        _ => Severity::Suggestion,
    };
    (severity, if is_security { Justification::Asymmetric } else { Justification::Reachable })
}

fn first_sentence(text: &str) -> String {
    let text = text.trim();
    let end = text.find("\n\n").unwrap_or(text.len());
    tribunal_core::findings::admit::one_line(&text[..end])
}

/// The file of the change that a SARIF uri names. Not every linter encodes its uris.
fn file_at<'c>(uri: &str, root: Option<&Path>, change: &'c Change) -> Option<&'c ChangedFile> {
    let uri = uri.strip_prefix("file://").unwrap_or(uri);
    let root = root.map(|root| root.display().to_string()).unwrap_or_default();
    named_file(uri, Some(&root), change).or_else(|| named_file(&percent_decode(uri), Some(&root), change))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let decoded = if *first == b'%' {
            tail.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok())
        } else {
            None
        };
        match decoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_core::diff::parse::parse_diff;
    use tribunal_core::findings::role::built_in_roles;

    fn report(sarif: &serde_json::Value) -> Result<Report, AgentFailure> {
        let change = parse_diff(
            b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n import os\n+os.system(cmd)\n x = 1\n",
        )
        .unwrap();
        let roles = built_in_roles().unwrap();
        let agent = SarifAgent { category: None, categories: &BTreeMap::new() };
        agent.report(&roles[0], sarif.to_string().as_bytes(), &change, Some(Path::new("/copy")))
    }

    fn log(uri: &str, line: u32) -> serde_json::Value {
        serde_json::json!({ "version": "2.1.0", "runs": [{
            "tool": { "driver": { "name": "lint", "rules": [{ "id": "L1", "properties": { "security-severity": "9.8" } }] } },
            "results": [{ "ruleId": "L1", "level": "error", "message": { "text": "Shell call." },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": line } } }] }] }] })
    }

    #[test]
    fn results_on_added_lines_become_claims() {
        let report = report(&log("file:///copy/a.py", 2)).unwrap();
        assert_eq!(report.findings[0].severity, Some(Severity::Blocker));
        assert_eq!(report.findings[0].evidence, "os.system(cmd)");
    }

    #[test]
    fn results_on_old_lines_and_elsewhere_are_left_alone() {
        assert!(report(&log("a.py", 1)).unwrap().findings.is_empty());
        assert!(report(&log("../etc/passwd", 2)).unwrap().findings.is_empty());
    }

    /// Design rule 2: what is not kept is counted.
    #[test]
    fn results_that_are_left_alone_are_counted() {
        for (uri, line, reason) in [
            ("a.py", 1, DropReason::UnchangedCode),
            ("../a.py", 2, DropReason::NotInChange),
            ("file:///etc/passwd", 2, DropReason::NotInChange),
            ("b.py", 2, DropReason::NotInChange),
        ] {
            assert_eq!(report(&log(uri, line)).unwrap().left_alone, BTreeMap::from([(reason, 1)]), "{uri}");
        }
    }

    /// What .NET writes.
    #[test]
    fn a_byte_order_mark_is_no_part_of_the_log() {
        let text = format!("\u{feff}{}", log("a.py", 2));
        let change = parse_diff(b"--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,2 @@\n import os\n+os.system(cmd)\n").unwrap();
        let agent = SarifAgent { category: None, categories: &BTreeMap::new() };
        let report = agent.report(&built_in_roles().unwrap()[0], text.as_bytes(), &change, None).unwrap();
        assert_eq!(report.findings.len(), 1);
    }

    /// Issue 6: every standing result with its place, its weight and its fix.
    #[test]
    fn results_are_read_as_feedback() {
        let region =
            |line: u32, from: u32, to: u32| serde_json::json!({ "startLine": line, "startColumn": from, "endColumn": to });
        let place = |uri: &str, region: serde_json::Value| serde_json::json!([{ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": region } }]);
        let fix = |uri: &str| {
            serde_json::json!([{ "artifactChanges": [{ "artifactLocation": { "uri": uri },
            "replacements": [{ "deletedRegion": region(3, 5, 7), "insertedContent": { "text": "is" } }] }] }])
        };
        let log = serde_json::json!({ "version": "2.1.0", "runs": [{
            "tool": { "driver": { "name": "lint", "rules": [{ "id": "L1", "help": { "text": "Do this.\n\nLong." } }] } },
            "columnKind": "unicodeCodePoints",
            "results": [
                { "ruleId": "L1", "level": "error", "message": { "text": "Wrong." }, "locations": place("src/a%20b.py", region(3, 5, 7)), "fixes": fix("src/a%20b.py") },
                { "ruleIndex": 0, "level": "note", "message": { "text": "Wrong." }, "locations": place("file:///w/b.py", serde_json::json!({})), "fixes": fix("c.py") },
                { "ruleId": "L1", "message": { "text": "Hidden." }, "locations": place("a.py", region(1, 1, 1)), "suppressions": [{ "kind": "inSource" }] },
                { "ruleId": "L1", "message": { "text": "Nowhere." } },
            ] }] });
        let read = results(log.to_string().as_bytes()).unwrap();
        let seen: Vec<_> = read.iter().map(|one| (one.path.as_str(), one.lines, one.priority, one.fix.len())).collect();
        assert_eq!(seen, [("src/a b.py", Some((3, 3)), Priority::P1, 1), ("/w/b.py", None, Priority::P3, 0)]);
        assert_eq!((read[0].message.as_str(), read[1].rule.as_str(), read[0].fix[0].utf16), ("Wrong.\n\nDo this.", "L1", false));
        assert!(results(b"{}").is_err() && results(b"").is_err());
    }

    /// Design rule 8: an answer without results is no clean bill.
    #[test]
    fn a_linter_that_did_not_look_has_failed() {
        let silent = serde_json::json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } } }] });
        assert!(report(&silent).unwrap_err().to_string().contains("no results"));
        assert!(report(&serde_json::json!({ "version": "2.1.0", "runs": [] })).is_err());
        let nobody =
            serde_json::json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": " " } }, "results": [] }] });
        assert!(report(&nobody).unwrap_err().to_string().contains("no tool"));
        assert!(report(&serde_json::json!("nope")).is_err());
    }
}
