//! Runs rules over a change, file by file and in parallel.
//!
//! The result is in the order of the diff, whatever order the threads finished in.

use super::compile::{Rule, RuleSet, SyntaxRule, SyntaxRules};
use super::load::RuleError;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::replacer::Replacer;
use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, NodeMatch};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::change::{AddedLines, Change, ChangedFile, FileContent, FileStatus};
use tribunal_core::findings::report::{Claim, Fix};
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
    for rule in rules.rules.iter().filter(|rule| rule.looks_at(&file.path, is_test)) {
        let Some(matcher) = &rule.lines else { continue };
        for line in file.added_lines().filter(|line| matcher.matches(&line.text)) {
            let number = line.new_line.unwrap_or(1);
            claims.push(claim(rule, &file.path, number, number, line.text.clone(), None));
        }
    }
    let Some(language) = file.language() else { return Ok((claims, Depth::Lines)) };
    let Some(syntax) = rules.syntax_rules(language)? else { return Ok((claims, Depth::Lines)) };
    if let Some(text) = file.new_text.as_deref().filter(|text| text.len() <= MAX_PARSED_BYTES) {
        let added = file.added_numbers();
        return Ok(match scan_text(&syntax, language.into(), text, &file.path, is_test, &added) {
            Some(found) => {
                claims.extend(found);
                (claims, Depth::Syntax)
            }
            None => (claims, Depth::Lines),
        });
    }
    Ok((claims, Depth::Lines))
}

/// Parses `text` and matches every rule at every node that touches an added line.
pub fn scan_text(
    syntax: &SyntaxRules,
    grammar: Grammar,
    text: &str,
    path: &RepoPath,
    is_test: bool,
    added: &AddedLines,
) -> Option<Vec<Claim>> {
    if added.count() == 0 {
        return Some(Vec::new());
    }
    let document = StrDoc::try_new(text, grammar).ok()?;
    let tree = AstGrep::doc(document);
    let lines: Vec<&str> = text.lines().collect();
    let mut claims = Vec::new();
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
            {
                claims.push(claim);
            }
        }
    }
    claims.sort_by(|a, b| (a.line_start, a.line_end, &a.rule).cmp(&(b.line_start, b.line_end, &b.rule)));
    claims.dedup_by(|a, b| (a.line_start, a.line_end, &a.rule) == (b.line_start, b.line_end, &b.rule));
    Some(claims)
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

/// The claim that a rule makes of a place.
pub fn claim(rule: &Arc<Rule>, path: &RepoPath, start: u32, end: u32, evidence: String, fix: Option<Fix>) -> Claim {
    let file = &rule.file;
    Claim {
        category: file.category.clone(),
        file: path.clone(),
        line_start: Some(start),
        line_end: Some(end),
        severity: Some(file.severity),
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
