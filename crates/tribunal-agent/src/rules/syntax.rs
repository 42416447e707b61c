//! Rules over syntax trees: a file is parsed, and every rule of its language is tried at every node that touches a changed line.

use super::clock::Clock;
use super::compile::{Rule, SyntaxRule, SyntaxRules};
use super::fix::{Repair, fix_of};
use super::flow::find::{Anchor, Flow, find_flows};
use super::lines::{PART_BYTES, boundary, quote};
use super::load::RuleError;
use super::old::Found;
use super::scan::claim;
use super::suppress::{self, Place};
use ast_grep_core::matcher::MatcherExt;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use ast_grep_core::{AstGrep, NodeMatch};
use std::ops::ControlFlow;
use std::sync::Arc;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::change::{AddedLines, ChangedFile};
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
    /// What comments of the change itself silence.
    pub silenced: Vec<Claim>,
    /// Most of the lines could not be parsed; what was found all the same counts.
    pub does_not_parse: bool,
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
    let document = parse(text, subject)?;
    if is_too_deep(&document) {
        return Err(NotReviewed::NestedTooDeeply.into());
    }
    let tree = AstGrep::doc(document);
    let lines: Vec<&str> = text.lines().collect();
    let rules = syntax.for_text(text, |rule| rule.looks_at(subject.path, subject.is_test))?;
    // One line says a thing once, however many nodes of it match.
    let mut latest: Vec<Latest> = rules.matchers.iter().map(|_| Latest::default()).collect();
    let mut looked = Looked::default();
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
            let Some(mut claim) = claim_of(candidate, &found, subject.path, &lines, added) else { continue };
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
            match silence(&candidate.rule, &claim, &lines, added) {
                Silence::None => {
                    claim.fix = fix_of(&latest[index].repairs, text);
                    latest[index].found = Some(looked.found.len());
                    let text = found.text();
                    let end = boundary(&text, MAX_CONSTRUCT_BYTES);
                    let construct = sha256_hex(normalise_code(&text[..end]).as_bytes());
                    looked.found.push(Found { claim, construct });
                }
                Silence::Before => {}
                Silence::ByChange => looked.silenced.push(claim),
            }
        }
    }
    if let Some(flow) = &syntax.flow {
        for found in find_flows(flow, &tree, added, subject.clock)? {
            let rule = &flow.rules[found.rule];
            let claim = Some(rule).filter(|rule| rule.looks_at(subject.path, subject.is_test));
            let Some(claim) = claim.and_then(|rule| claim_of_flow(rule, &found, subject.path, &lines)) else { continue };
            match silence(rule, &claim, &lines, added) {
                Silence::None => {
                    let construct = sha256_hex(normalise_code(&found.construct).as_bytes());
                    looked.found.push(Found { claim, construct });
                }
                Silence::Before => {}
                Silence::ByChange => looked.silenced.push(claim),
            }
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

/// Is some node nested deeper than anybody writes?
fn is_too_deep(document: &StrDoc<Grammar>) -> bool {
    let mut cursor = document.tree.walk();
    loop {
        if cursor.depth() > MAX_DEPTH {
            return true;
        }
        if cursor.goto_first_child() || cursor.goto_next_sibling() {
            continue;
        }
        loop {
            if !cursor.goto_parent() {
                return false;
            }
            if cursor.goto_next_sibling() {
                break;
            }
        }
    }
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
    let quoted = lines.get(start as usize - 1..end as usize)?;
    // Of an endless line only the match is quoted.
    let is_long = quoted.iter().map(|line| line.len()).sum::<usize>() > PART_BYTES;
    let evidence = match is_long {
        true => {
            let column = node.start_pos().byte_point().1;
            quote(quoted.first()?, column..column + node.text().len())
        }
        false => quoted.join("\n"),
    };
    Some(claim(&candidate.rule, path, start, end, evidence))
}

/// The claim of a flow, at its sink or at the step that the change touched.
fn claim_of_flow(rule: &Arc<Rule>, flow: &Flow, path: &RepoPath, lines: &[&str]) -> Option<Claim> {
    let (start, end) = match flow.anchor {
        Anchor::Sink { first, last } if last - first < MAX_EVIDENCE_LINES => (first, last),
        Anchor::Sink { first, .. } => (first, first),
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

/// Whether someone has said on the lines of a claim, or above them, that this is meant.
enum Silence {
    None,
    /// It was said before this change, or the place says it.
    Before,
    /// The change says it of itself.
    ByChange,
}

fn silence(rule: &Rule, claim: &Claim, lines: &[&str], added: &AddedLines) -> Silence {
    let (Some(start), Some(end)) = (claim.line_start, claim.line_end) else { return Silence::None };
    let above = lines.get(..start as usize - 1).unwrap_or_default();
    let own = lines.get(start as usize - 1..end as usize).unwrap_or_default();
    let weighs_less = rule.file.test_severity.is_some();
    if let Some(place) = suppress::suppression(&rule.file, own, above) {
        let line = match place {
            Place::Own(index) => start + index as u32,
            Place::Above(index) => start - 1 - index as u32,
        };
        return if added.contains(line) { Silence::ByChange } else { Silence::Before };
    }
    let is_data = is_test_path(&claim.file) && own.iter().any(|line| line.len() <= PART_BYTES && suppress::is_linter_data(line));
    let is_explained = weighs_less && is_sample_path(&claim.file) && suppress::gives_reason(above);
    match is_data || is_explained {
        true if (start.saturating_sub(u32::from(is_explained))..=end).any(|line| added.contains(line)) => Silence::ByChange,
        true => Silence::Before,
        false => Silence::None,
    }
}

/// The name of the program that a first line names, without its folder. `env` starts what comes after it.
fn interpreter(script: &str) -> &str {
    let mut words = script.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    let mut name = || words.next().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    match name() {
        "env" => name(),
        program => program,
    }
}

/// The language that a file is read as: by its name, unless its first line names another interpreter. Nothing where no grammar fits.
pub fn language_of(file: &ChangedFile) -> Option<Language> {
    let named = file.language();
    let first = file.new_text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    if first.starts_with("<?php") && named == Some(Language::Bash) {
        return Some(Language::Php);
    }
    let script = first.strip_prefix("#!").filter(|_| matches!(named, None | Some(Language::Bash)));
    let Some(script) = script.filter(|script| script.len() < 256) else { return named };
    match interpreter(script).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" => Some(Language::Python),
        "ruby" => Some(Language::Ruby),
        "node" | "nodejs" => Some(Language::JavaScript),
        "deno" => Some(Language::TypeScript),
        "php" => Some(Language::Php),
        "perl" | "tclsh" => None,
        "bash" | "sh" | "ksh" | "dash" | "zsh" => Some(Language::Bash),
        _ => named,
    }
}
