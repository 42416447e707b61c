//! From a parsed file to the findings of the flow rules.

use super::code::{Code, comments};
use super::compile::FlowRules;
use super::evaluator::{Evaluator, Frame, Hit};
use super::exemptions::Exemptions;
use super::local_functions::LocalFunctions;
use super::marks::Marks;
use super::origin::Place;
use super::state::State;
use crate::rules::clock::Clock;
use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::StrDoc;
use std::collections::BTreeMap;
use tribunal_context::grammar::Grammar;
use tribunal_core::diff::change::AddedLines;
use tribunal_core::findings::report::TraceStep;
use tribunal_core::findings::scale::Severity;
use tribunal_core::plan::files::NotReviewed;

/// Steps that a person would read; of a longer way the middle is left out.
const MAX_STEPS: usize = 10;

/// Untrusted data on its way from a source to a sink, of which the change touched at least one line.
#[derive(Debug)]
pub struct Flow {
    /// The place of the rule in [`FlowRules::rules`].
    pub rule: usize,
    /// Where it is not the rule's.
    pub severity: Option<Severity>,
    /// The touched place that the finding is about: first and last byte.
    pub anchor: Anchor,
    /// The source, the steps, the sink.
    pub trace: Vec<TraceStep>,
    /// The code of the source and of the sink.
    pub construct: String,
}

/// Where a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Lines of the sink.
    Sink { first: u32, last: u32 },
    /// The line of a step, where the sink was not touched.
    Step { line: u32 },
}

/// What was found in a file.
#[derive(Debug)]
pub struct Flows {
    pub found: Vec<Flow>,
    /// Why not all of its data could be followed.
    pub cut: Option<NotReviewed>,
}

/// The flows in a file that touch one of the lines `added`.
pub fn find_flows(flow: &FlowRules, tree: &AstGrep<StrDoc<Grammar>>, added: &AddedLines, clock: Clock) -> Flows {
    let root = tree.root();
    let node = root.get_inner_node();
    let comments = comments(node);
    let code = Code { text: tree.get_text(), syntax: &flow.syntax, comments: &comments };
    let local_functions = LocalFunctions::new(node, &code, added);
    let marks = Marks::new(flow, &root);
    let mut evaluator = Evaluator::new(flow, code, &local_functions, &marks, added, clock);
    let mut frame = Frame { is_top: true, ..Frame::default() };
    evaluator.evaluate(node, &mut State::default(), &mut frame);
    if evaluator.fields.are_kept() {
        let mut frame = Frame { is_top: true, ..Frame::default() };
        evaluator.evaluate(node, &mut State::default(), &mut frame);
    }
    let lines = LineNumbers::new(code.text);
    let exemptions = Exemptions::new(node, &code);
    let mut found: BTreeMap<(usize, (usize, usize)), Flow> = BTreeMap::new();
    for hit in &evaluator.hits {
        let Some(mut told) = tell(hit, flow, &code, &lines, added) else { continue };
        if exemptions.contain(hit.sink.0) {
            told.severity = Some(Severity::Question);
        }
        let place = (hit.rule, hit.sink);
        // Of several ways into one sink the gravest is told.
        match found.get(&place) {
            Some(known) if weight(known) >= weight(&told) => {}
            _ => drop(found.insert(place, told)),
        }
    }
    Flows { found: found.into_values().collect(), cut: evaluator.cut() }
}

/// A rule's own severity is the gravest that it has.
fn weight(flow: &Flow) -> Severity {
    flow.severity.unwrap_or(Severity::Blocker)
}

fn tell(hit: &Hit, flow: &FlowRules, code: &Code<'_>, lines: &LineNumbers, added: &AddedLines) -> Option<Flow> {
    let Place::Source { start, end, entry } = hit.origin.place else { return None };
    let (source_first, source_last) = (lines.line(start), lines.line(end.saturating_sub(1)));
    let (first, last) = (lines.line(hit.sink.0), lines.line(hit.sink.1.saturating_sub(1)));
    let source = code.text.get(start..end).unwrap_or_default();
    let steps = hit.origin.trail.steps();
    let touched_source = (source_first..=source_last).find(|line| added.contains(*line));
    let anchor = match added.touches(first, last) {
        true => Anchor::Sink { first, last },
        false => Anchor::Step { line: hit.origin.trail.last_touched().or(touched_source)? },
    };
    let mut trace = vec![TraceStep { line: source_first, note: format!("untrusted: `{}`", fold(source)) }];
    for (line, note) in steps {
        match trace.last_mut() {
            Some(last) if last.line == line => {
                if !last.note.ends_with(&note) {
                    last.note.push_str(", ");
                    last.note.push_str(&note);
                }
            }
            _ => trace.push(TraceStep { line, note }),
        }
    }
    if trace.len() > MAX_STEPS {
        trace.drain(MAX_STEPS / 2..trace.len() - MAX_STEPS / 2);
    }
    trace.push(TraceStep { line: first, note: format!("reaches `{}`", fold(&hit.name)) });
    let of_source = flow.entries.get(entry).and_then(|entry| entry.severities.get(&hit.rule)).copied();
    let severity = hit.severity.into_iter().chain(of_source).min();
    let sink = code.text.get(hit.sink.0..hit.sink.1).unwrap_or_default();
    Some(Flow { rule: hit.rule, severity, anchor, trace, construct: format!("{source}\n{sink}") })
}

fn fold(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    match folded.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &folded[..end]),
        None => folded,
    }
}

/// Line numbers by bytes.
struct LineNumbers(Vec<usize>);

impl LineNumbers {
    fn new(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn line(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|end| *end < byte)).unwrap_or(u32::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests;
