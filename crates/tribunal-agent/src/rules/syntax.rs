//! Rules over syntax trees: a file is parsed, and every rule of its language is tried at every node that touches a changed line.

use super::clock::Clock;
use super::compile::{Rule, SyntaxRule, SyntaxRules};
use super::fix::{Repair, fix_of};
use super::flow::find::{Anchor, Flow, find_flows};
use super::lines::{PART_BYTES, boundary, quote};
use super::load::RuleError;
use super::misread::is_read_otherwise;
use super::old::Found;
use super::rust_macros::laid_open;
use super::scan::claim;
use super::suppress;
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use ast_grep_core::{AstGrep, NodeMatch};
use std::ops::ControlFlow;
use std::sync::Arc;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::change::AddedLines;
use tribunal_core::diff::language::{Language, is_sample_path, is_test_path};
use tribunal_core::findings::key::{normalise_code, sha256_hex};
use tribunal_core::findings::report::Claim;
use tribunal_core::ids::RepoPath;
use tribunal_core::plan::files::NotReviewed;

/// A match that is longer is quoted by its first line: a finding needs a place, not a page.
const MAX_EVIDENCE_LINES: u32 = 6;
/// Code nested deeper is written by nobody, and each question about what surrounds a node costs its depth.
const MAX_DEPTH: u32 = 3_000;
/// Of a large construct so much is compared.
const MAX_CONSTRUCT_BYTES: usize = 4096;
/// Nodes between two looks at the clock.
const NODES_PER_TICK: usize = 512;

/// A file to look at.
pub struct Subject<'a> {
    pub path: &'a RepoPath,
    pub is_test: bool,
    pub grammar: Grammar,
    pub clock: Clock,
}

/// What a text was found to hold.
#[derive(Default)]
pub struct Looked {
    pub found: Vec<Found>,
    /// What comments silence although the change wrote the code.
    pub silenced: Vec<Found>,
    /// Most of the lines could not be parsed; what was found all the same counts.
    pub does_not_parse: bool,
    /// Why not all of its data could be followed; what was found all the same counts.
    pub cut: Option<NotReviewed>,
    /// Some of them run in another way than they were parsed; what was found counts here, too.
    pub is_misread: bool,
}

/// Why a text was not looked at.
pub enum Unscanned {
    NotReviewed(NotReviewed),
    /// A rule that cannot be compiled: nobody knows what it would have found.
    Rule(RuleError),
}

impl From<NotReviewed> for Unscanned {
    fn from(reason: NotReviewed) -> Self {
        Unscanned::NotReviewed(reason)
    }
}

impl From<RuleError> for Unscanned {
    fn from(error: RuleError) -> Self {
        Unscanned::Rule(error)
    }
}

/// Parses `text` and matches every rule at every node that touches one of the lines `added`.
pub fn scan_text(syntax: &SyntaxRules, subject: &Subject<'_>, text: &str, added: &AddedLines) -> Result<Looked, Unscanned> {
    if added.count() == 0 {
        return Ok(Looked::default());
    }
    let mut document = parse(text, subject)?;
    if is_too_deep(&document) {
        return Err(NotReviewed::NestedTooDeeply.into());
    }
    let is_misread = is_read_otherwise(syntax.language, text, &document.tree, added);
    let plainer = match syntax.language {
        Language::Php => syntax.php_names.in_known_case(text, &document.tree),
        Language::Rust => laid_open(text, &document.tree, added, |text| parse(text, subject).ok().map(|document| document.tree)),
        _ => None,
    };
    if let Some(text) = &plainer {
        document = parse(text, subject)?;
    }
    let tree = AstGrep::doc(document);
    let lines: Vec<&str> = text.lines().collect();
    let rules = syntax.for_text(plainer.as_deref().unwrap_or(text), |rule| rule.looks_at(subject.path, subject.is_test))?;
    // One line says a thing once, however many nodes of it match.
    let mut latest: Vec<Latest> = rules.matchers.iter().map(|_| Latest::default()).collect();
    let mut looked = Looked { is_misread, ..Looked::default() };
    let mut unparsed = Unparsed::default();
    for (visited, node) in tree.root().dfs().enumerate() {
        if visited % NODES_PER_TICK == 0 && subject.clock.is_over() {
            return Err(NotReviewed::OutOfTime.into());
        }
        let is_error = node.is_error();
        let mut candidates = rules.for_kind(node.kind_id()).peekable();
        if candidates.peek().is_none() && !is_error {
            continue;
        }
        let (first, last) = (node.start_pos().line() as u32 + 1, node.end_pos().line() as u32 + 1);
        if is_error {
            unparsed.add(first, last, added);
        }
        if !added.touches(first, last) {
            continue;
        }
        for (index, candidate) in candidates {
            let Some(found) = candidate.core.match_node(node.clone()) else { continue };
            let Some((mut claim, first_line)) = claim_of(candidate, &found, subject.path, &lines, added) else { continue };
            let is_long = lines_of(&claim, &lines).map(str::len).sum::<usize>() > PART_BYTES;
            let repair = if is_long { None } else { candidate.repairs.repair(&found) };
            let place = Some((claim.line_start, claim.line_end));
            if latest[index].place == place {
                if let Some(repair) = repair
                    && let Some(found) = latest[index].found.and_then(|at| looked.found.get_mut(at))
                {
                    let latest = &mut latest[index];
                    if latest.takes(&repair) {
                        latest.repairs.push(repair);
                        found.claim.fix = fix_of(&latest.repairs, text);
                    }
                }
                continue;
            }
            latest[index] = Latest { place, found: None, repairs: repair.into_iter().collect() };
            let text_of_match = found.text();
            let end = boundary(&text_of_match, MAX_CONSTRUCT_BYTES);
            let construct = sha256_hex(normalise_code(&text_of_match[..end]).as_bytes());
            if is_silenced(&candidate.rule, &claim, first_line, &lines) {
                looked.silenced.push(Found { claim, construct, first_line });
                continue;
            }
            claim.fix = fix_of(&latest[index].repairs, text);
            latest[index].found = Some(looked.found.len());
            looked.found.push(Found { claim, construct, first_line });
        }
    }
    if let Some(flow) = &syntax.flow {
        let flows = find_flows(flow, &tree, added, subject.clock);
        looked.cut = flows.cut;
        for found in flows.found {
            let rule = &flow.rules[found.rule];
            let claim = Some(rule).filter(|rule| rule.looks_at(subject.path, subject.is_test));
            let Some(claim) = claim.and_then(|rule| claim_of_flow(rule, &found, subject.path, &lines, added)) else { continue };
            let construct = sha256_hex(normalise_code(&found.construct).as_bytes());
            let first_line = claim.line_start.unwrap_or(1);
            let is_silenced = is_silenced(rule, &claim, first_line, &lines);
            let into = if is_silenced { &mut looked.silenced } else { &mut looked.found };
            into.push(Found { claim, construct, first_line });
        }
    }
    looked.does_not_parse = unparsed.lines * 2 > added.count();
    let place = |found: &Found| (found.claim.line_start, found.claim.line_end, found.claim.rule.clone());
    looked.found.sort_by_key(place);
    looked.found.dedup_by_key(|found| place(found));
    Ok(looked)
}

/// The last place that a rule spoke of, and what can be done there.
#[derive(Default)]
struct Latest {
    place: Option<(Option<u32>, Option<u32>)>,
    /// Where its claim is among those found.
    found: Option<usize>,
    repairs: Vec<Repair>,
}

impl Latest {
    /// Whether one more repair can be made together with those of the same place.
    fn takes(&self, repair: &Repair) -> bool {
        !self.repairs.is_empty() && self.repairs.iter().all(|other| other.goes_with(repair))
    }
}

fn lines_of<'a>(claim: &Claim, lines: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let (start, end) = (claim.line_start.unwrap_or(1) as usize, claim.line_end.unwrap_or(1) as usize);
    lines.get(start - 1..end).unwrap_or_default().iter().copied()
}

/// Added lines that the parser gave up on.
#[derive(Default)]
struct Unparsed {
    lines: usize,
    /// The last line that was counted: nodes come in the order of the text.
    until: u32,
}

impl Unparsed {
    fn add(&mut self, first: u32, last: u32, added: &AddedLines) {
        let first = first.max(self.until + 1);
        if first <= last {
            self.lines += added.count_in(first, last);
            self.until = last;
        }
    }
}

fn parse(text: &str, subject: &Subject<'_>) -> Result<StrDoc<Grammar>, NotReviewed> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&subject.grammar.get_ts_language()).map_err(|_| NotReviewed::DoesNotParse)?;
    let bytes = text.as_bytes();
    let mut tick = |_: &tree_sitter::ParseState| match subject.clock.is_over() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut tick);
    let mut read = |offset: usize, _: tree_sitter::Point| bytes.get(offset..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options)).ok_or(NotReviewed::OutOfTime)?;
    Ok(StrDoc { src: text.to_owned(), lang: subject.grammar, tree })
}

/// Is a node nested deeper than people write code? The depth is counted here: the cursor would count it anew for each node.
fn is_too_deep(document: &StrDoc<Grammar>) -> bool {
    let mut cursor = document.tree.walk();
    let mut depth = 0;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > MAX_DEPTH {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

/// The claim about a match that the change touched, and the line on which the matched code begins.
fn claim_of(
    candidate: &SyntaxRule,
    found: &NodeMatch<'_, StrDoc<Grammar>>,
    path: &RepoPath,
    lines: &[&str],
    added: &AddedLines,
) -> Option<(Claim, u32)> {
    let focus = candidate.rule.file.focus.as_deref().and_then(|name| found.get_env().get_match(name));
    let node = focus.unwrap_or_else(|| found.get_node());
    let first_line = node.start_pos().line() as u32 + 1;
    let mut end = node.end_pos().line() as u32 + 1;
    // A node that ends with its newline ends on the line before.
    if end > first_line && node.end_pos().byte_point().1 == 0 {
        end -= 1;
    }
    let touched = added.first_in(first_line, end)?;
    // Of long code, the first line that the change wrote is quoted: that is where it became what it is.
    let (start, end) = if end - first_line >= MAX_EVIDENCE_LINES { (touched, touched) } else { (first_line, end) };
    let quoted = lines.get(start as usize - 1..end as usize)?;
    // Of an endless line only the match is quoted.
    let is_long = quoted.iter().map(|line| line.len()).sum::<usize>() > PART_BYTES;
    let evidence = match is_long {
        true => {
            let column = if start == first_line { node.start_pos().byte_point().1 } else { 0 };
            quote(quoted.first()?, column..column + node.text().len())
        }
        false => quoted.join("\n"),
    };
    Some((claim(&candidate.rule, path, start, end, evidence), first_line))
}

/// The claim of a flow, at its sink or at the step that the change touched.
fn claim_of_flow(rule: &Arc<Rule>, flow: &Flow, path: &RepoPath, lines: &[&str], added: &AddedLines) -> Option<Claim> {
    let (start, end) = match flow.anchor {
        Anchor::Sink { first, last } if last - first < MAX_EVIDENCE_LINES => (first, last),
        Anchor::Sink { first, last } => {
            let touched = added.first_in(first, last).unwrap_or(first);
            (touched, touched)
        }
        Anchor::Step { line } => (line, line),
    };
    let quoted = lines.get(start as usize - 1..end as usize)?;
    let is_long = quoted.iter().map(|line| line.len()).sum::<usize>() > PART_BYTES;
    let evidence = match is_long {
        true => {
            let line = quoted.first()?;
            let part = flow.construct.lines().last().unwrap_or_default();
            let at = line.find(part).unwrap_or_default();
            quote(line, at..at + part.len())
        }
        false => quoted.join("\n"),
    };
    let mut claim = claim(rule, path, start, end, evidence);
    claim.severity = claim.severity.into_iter().chain(flow.severity).min();
    claim.trace.clone_from(&flow.trace);
    Some(claim)
}

/// Whether someone has said on the lines of a claim, or above them, that this is meant. What is claimed is code that the change wrote,
/// so whoever said it may have seen other code.
fn is_silenced(rule: &Rule, claim: &Claim, first_line: u32, lines: &[&str]) -> bool {
    let (Some(start), Some(end)) = (claim.line_start, claim.line_end) else { return false };
    let around = |start: u32, end: u32| {
        let above = lines.get(..start as usize - 1).unwrap_or_default();
        (above, lines.get(start as usize - 1..end as usize).unwrap_or_default())
    };
    let (above, own) = around(start, end);
    let (above_first, first) = around(first_line, first_line);
    let is_suppressed =
        suppress::is_suppressed(&rule.file, own, above) || suppress::is_suppressed(&rule.file, first, above_first);
    let is_data = is_test_path(&claim.file) && own.iter().any(|line| line.len() <= PART_BYTES && suppress::is_linter_data(line));
    let weighs_less = rule.file.test_severity.is_some();
    let is_explained = || weighs_less && is_sample_path(&claim.file) && suppress::gives_reason(above);
    is_suppressed || is_data || is_explained()
}
