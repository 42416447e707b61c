//! Runs rules over a change, file by file and in parallel.
//!
//! The result is in the order of the diff, whatever order the threads finished in.

use super::compile::{Rule, RuleSet, SyntaxRule, SyntaxRules};
use super::load::RuleError;
use super::old::{self, Found};
use super::suppress;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::replacer::Replacer;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, NodeMatch};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::apply::undo_hunks;
use tribunal_core::diff::change::{AddedLines, Change, ChangedFile, FileContent, FileStatus, Origin};
use tribunal_core::diff::language::{Language, is_prose_path, is_sample_path, is_test_path};
use tribunal_core::findings::key::normalise_code;
use tribunal_core::findings::report::{Claim, Fix};
use tribunal_core::findings::scale::Severity;
use tribunal_core::ids::RepoPath;

/// A file beyond this is not parsed; its added lines are still checked one by one.
pub const MAX_PARSED_BYTES: usize = 2 * 1024 * 1024;
/// A match that is longer is quoted by its first line: a finding needs a place, not a page.
const MAX_EVIDENCE_LINES: u32 = 6;

/// How closely the rules could look at one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Parsed, and matched by the rules of its language.
    Syntax,
    /// Only its added lines were looked at: no grammar, no whole text, or too large.
    Lines,
}

#[derive(Debug, Default)]
pub struct Scan {
    pub claims: Vec<Claim>,
    pub depths: Vec<(RepoPath, Depth)>,
}

/// Everything the rules have to say about `change`. What they say of one file alone is limited to those that `wanted` admits.
pub fn scan(rules: &RuleSet, change: &Change, wanted: impl Fn(&ChangedFile) -> bool + Sync) -> Result<Scan, RuleError> {
    let files: Vec<&ChangedFile> = change.files.iter().filter(|file| wanted(file)).collect();
    let scanned: Vec<(Vec<Claim>, Depth)> = files.par_iter().map(|file| scan_file(rules, file)).collect::<Result<_, _>>()?;
    let mut scan = Scan::default();
    for (file, (claims, depth)) in files.iter().zip(scanned) {
        scan.claims.extend(particular(rules, claims));
        scan.depths.push((file.path.clone(), depth));
    }
    for rule in &rules.rules {
        if let Some(check) = rule.check {
            // Whether a test is missing depends on every file of the change, also on those that were read before.
            scan.claims.extend(check.run(rule, change, &|_| true));
        }
    }
    Ok(scan)
}

/// The claims of one file without those of general rules where a particular one has spoken: they would be the same defect twice.
fn particular(rules: &RuleSet, claims: Vec<Claim>) -> Vec<Claim> {
    let is_general = |claim: &Claim| claim.rule.as_deref().and_then(|id| rules.get(id)).is_some_and(|rule| rule.file.general);
    let (general, mut kept): (Vec<Claim>, Vec<Claim>) = claims.into_iter().partition(is_general);
    let taken: BTreeSet<_> = kept.iter().map(|claim| (claim.category.clone(), claim.line_start)).collect();
    kept.extend(general.into_iter().filter(|claim| !taken.contains(&(claim.category.clone(), claim.line_start))));
    kept
}

fn scan_file(rules: &RuleSet, file: &ChangedFile) -> Result<(Vec<Claim>, Depth), RuleError> {
    let mut claims = Vec::new();
    if file.content != FileContent::Text || file.status == FileStatus::Deleted {
        return Ok((claims, Depth::Lines));
    }
    let is_test = file.is_test();
    let own_tests = own_tests(file);
    for rule in rules.rules.iter().filter(|rule| rule.looks_at(&file.path, is_test)) {
        let Some(matcher) = &rule.lines else { continue };
        let mut above = None;
        for line in file.lines().filter(|line| line.new_line.is_some()) {
            let before = above.replace(line.text.as_str());
            if line.origin != Origin::Added {
                continue;
            }
            let Some(hit) = matcher.find(&line.text) else { continue };
            if suppress::silences(&rule.file, &[&line.text], before.as_slice()) {
                continue;
            }
            let number = line.new_line.unwrap_or(1);
            let mut claim = claim(rule, &file.path, number, number, line.text.clone(), None);
            if hit.asks {
                claim.severity = Some(Severity::Question);
            } else if own_tests.is_some_and(|first| number > first) {
                claim.severity = rule.file.test_severity.or(claim.severity);
            }
            claims.push(claim);
        }
    }
    let mut claims = old::without_moved_lines(file, claims);
    let (found, depth) = scan_syntax(rules, file, is_test)?;
    claims.extend(found);
    Ok((old::without_rewritten(rules, file, claims), depth))
}

/// What the rules of the file's language say, where it can be parsed.
fn scan_syntax(rules: &RuleSet, file: &ChangedFile, is_test: bool) -> Result<(Vec<Claim>, Depth), RuleError> {
    let lines_only = Ok((Vec::new(), Depth::Lines));
    let Some(language) = file.language().filter(|_| !is_other_script(file)) else { return lines_only };
    let Some(syntax) = rules.syntax_rules(language)? else { return lines_only };
    let Some(text) = file.new_text.as_deref().filter(|text| text.len() <= MAX_PARSED_BYTES) else { return lines_only };
    let found = |text: &str, lines: &AddedLines| scan_text(&syntax, language.into(), text, &file.path, is_test, lines);
    let Some(after) = found(text, &file.added_numbers()) else { return lines_only };
    let removed: AddedLines = file.removed_lines().filter_map(|line| line.old_line).collect();
    // Parsed a second time only where something was found and something was taken away.
    let before = match after.is_empty() || removed.count() == 0 {
        true => None,
        false => undo_hunks(text, &file.hunks).and_then(|text| found(&text, &removed)),
    };
    Ok((old::without_old(file, after, before.unwrap_or_default()), Depth::Syntax))
}

/// The line from which a Rust file holds its own tests.
fn own_tests(file: &ChangedFile) -> Option<u32> {
    if file.language() != Some(Language::Rust) {
        return None;
    }
    let mut lines = file.new_text.as_deref()?.lines().zip(1..);
    let mark = lines.find(|(line, _)| line.starts_with("#[cfg(test)]")).map(|(_, number)| number)?;
    lines.next().filter(|(line, _)| line.contains("mod ")).map(|_| mark)
}

/// A file that is called `.sh` but that another interpreter reads.
fn is_other_script(file: &ChangedFile) -> bool {
    let first = file.new_text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    file.language() == Some(Language::Bash)
        && (first.starts_with("<?php")
            || first.starts_with("#!")
                && ["php", "python", "perl", "ruby", "node", "tclsh"].iter().any(|other| first.contains(other)))
}

/// Parses `text` and matches every rule at every node that touches one of the lines `added`.
fn scan_text(
    syntax: &SyntaxRules,
    grammar: Grammar,
    text: &str,
    path: &RepoPath,
    is_test: bool,
    added: &AddedLines,
) -> Option<Vec<Found>> {
    if added.count() == 0 {
        return Some(Vec::new());
    }
    let document = StrDoc::try_new(text, grammar).ok()?;
    let tree = AstGrep::doc(document);
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for node in tree.root().dfs() {
        let mut candidates = syntax.for_kind(node.kind_id()).peekable();
        if candidates.peek().is_none() {
            continue;
        }
        let (first, last) = (node.start_pos().line() as u32 + 1, node.end_pos().line() as u32 + 1);
        if !added.touches(first, last) {
            continue;
        }
        for candidate in candidates {
            if !candidate.rule.looks_at(path, is_test) {
                continue;
            }
            if let Some(found) = candidate.core.match_node(node.clone())
                && let Some(claim) = claim_of(candidate, &found, path, &lines, added)
                && !is_silenced(&candidate.rule, &claim, &lines)
            {
                all.push(Found { claim, construct: normalise_code(&found.text()) });
            }
        }
    }
    let place = |found: &Found| (found.claim.line_start, found.claim.line_end, found.claim.rule.clone());
    all.sort_by_key(place);
    all.dedup_by_key(|found| place(found));
    Some(all)
}

fn claim_of(
    candidate: &SyntaxRule,
    found: &NodeMatch<'_, StrDoc<Grammar>>,
    path: &RepoPath,
    lines: &[&str],
    added: &AddedLines,
) -> Option<Claim> {
    let focus = candidate.rule.file.focus.as_deref().and_then(|name| found.get_env().get_match(name));
    let node = focus.unwrap_or_else(|| found.get_node());
    let start = node.start_pos().line() as u32 + 1;
    let mut end = node.end_pos().line() as u32 + 1;
    // A node that ends with its newline ends on the line before.
    if end > start && node.end_pos().byte_point().1 == 0 {
        end -= 1;
    }
    if end - start >= MAX_EVIDENCE_LINES {
        end = start;
    }
    if !added.touches(start, end) {
        return None;
    }
    let evidence = lines.get(start as usize - 1..end as usize)?.join("\n");
    let fix = candidate.fix.as_ref().and_then(|template| line_fix(template, found, lines));
    Some(claim(&candidate.rule, path, start, end, evidence, fix))
}

/// Whether someone has said on the lines of a claim, or above them, that this is meant.
fn is_silenced(rule: &Rule, claim: &Claim, lines: &[&str]) -> bool {
    let (Some(start), Some(end)) = (claim.line_start, claim.line_end) else { return false };
    let above = lines.get(..start as usize - 1).unwrap_or_default();
    let own = lines.get(start as usize - 1..end as usize).unwrap_or_default();
    let weighs_less = rule.file.test_severity.is_some();
    suppress::silences(&rule.file, own, above)
        || is_test_path(&claim.file) && own.iter().any(|line| suppress::is_linter_data(line))
        || weighs_less && is_sample_path(&claim.file) && suppress::gives_reason(above)
}

/// Widens the replacement of a node to whole lines, which is what a suggestion block can say.
fn line_fix(
    template: &ast_grep_core::replacer::TemplateFix,
    found: &NodeMatch<'_, StrDoc<Grammar>>,
    lines: &[&str],
) -> Option<Fix> {
    let replacement = String::from_utf8(template.generate_replacement(found)).ok()?;
    let (start, end) = (found.start_pos(), found.end_pos());
    let before = lines.get(start.line())?.get(..start.byte_point().1)?;
    let after = lines.get(end.line())?.get(end.byte_point().1..)?;
    Some(Fix {
        line_start: start.line() as u32 + 1,
        line_end: end.line() as u32 + 1,
        replacement: format!("{before}{replacement}{after}"),
    })
}

/// Where the same thing does less harm: tests, samples and prose.
fn is_aside(path: &RepoPath) -> bool {
    is_test_path(path) || is_sample_path(path) || is_prose_path(path)
}

/// The claim that a rule makes of a place.
pub fn claim(rule: &Arc<Rule>, path: &RepoPath, start: u32, end: u32, evidence: String, fix: Option<Fix>) -> Claim {
    let file = &rule.file;
    Claim {
        category: file.category.clone(),
        file: path.clone(),
        line_start: Some(start),
        line_end: Some(end),
        severity: Some(if is_aside(path) { file.test_severity.unwrap_or(file.severity) } else { file.severity }),
        confidence: file.confidence,
        blast: file.blast,
        justification: Some(file.justification),
        evidence,
        failure_mode: file.failure_mode.trim().to_owned(),
        mitigation: file.mitigation.trim().to_owned(),
        details: None,
        notes: None,
        slug: Some(file.id.clone()),
        signal: None,
        spec_quote: None,
        questions: Vec::new(),
        mitigation_out_of_scope: false,
        reversible: file.reversible,
        rule: Some(file.id.clone()),
        fix,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::examples::added;
    use crate::rules::load::built_in;

    fn claims(path: &str, code: &str) -> Vec<(Option<u32>, Option<Severity>, Option<String>)> {
        let rules = RuleSet::new(built_in().unwrap()).unwrap();
        let found = scan(&rules, &added(path, code), |_| true).unwrap().claims;
        found.into_iter().map(|claim| (claim.line_start, claim.severity, claim.details)).collect()
    }

    #[test]
    fn a_secret_weighs_less_in_tests_samples_and_prose() {
        let code = "db_password = \"q7Zr!2kLx9Pv4TnW8s\"\n";
        assert_eq!(claims("src/a.py", code), [(Some(1), Some(Severity::Blocker), None)]);
        assert_eq!(claims("tests/a.py", code), [(Some(1), Some(Severity::Question), None)]);
        assert_eq!(claims("demo/a.py", code), [(Some(1), Some(Severity::Question), None)]);
        assert_eq!(claims("notes.txt", code), [(Some(1), Some(Severity::Question), None)]);
    }

    #[test]
    fn a_rust_file_may_hold_its_own_tests() {
        let secret = "    let x = Key { secret_key: \"jMqRDgxSsBqqznfmddGdu1TmmZOJQxdM\".to_string() };\n";
        let code = format!("fn a() {{\n{secret}}}\n#[cfg(test)]\nmod tests {{\n    fn b() {{\n{secret}    }}\n}}\n");
        let found = claims("src/a.rs", &code);
        assert_eq!(found, [(Some(2), Some(Severity::Blocker), None), (Some(7), Some(Severity::Question), None)]);
    }

    #[test]
    fn a_script_of_another_language_is_not_read_as_shell() {
        let set = RuleSet::new(built_in().unwrap()).unwrap();
        let depth = |code: &str| scan(&set, &added("bin/a.sh", code), |_| true).unwrap().depths[0].1;
        assert_eq!(depth("#!/bin/sh\necho a\n"), Depth::Syntax);
        assert_eq!(depth("#!/usr/bin/env php\n<?php\necho 1;\n"), Depth::Lines);
    }
}
