//! One side of a hunk as folded text, with the way back from a place in it to the lines of the diff.

use super::Side;
use crate::diff::change::{DiffLine, Origin};
use crate::findings::quote::tokens::splits_token;
use crate::findings::quote::{Gap, Piece, fold_code, whole_tokens};

/// So many lines may stand unquoted between two quoted ones.
const MAX_SILENT_GAP: usize = 10;
/// The same where the quote says that something is left out.
const MAX_ELLIPSIS: usize = 200;
/// A piece that stands at more places begins no quote with gaps.
const MAX_BEGINNINGS: usize = 1_000;
/// A shorter quote must be a line of its own, or it would stand everywhere.
pub(super) const SHORT_QUOTE: usize = 4;

pub(super) struct SideText<'a> {
    pub lines: Vec<&'a DiffLine>,
    pub text: String,
    pub starts: Vec<usize>,
}

/// Where a quote stands: indexes of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub first: usize,
    pub last: usize,
    /// Some quoted line was added or removed.
    pub is_changed: bool,
    /// The quote begins and ends where lines do.
    pub is_whole: bool,
}

impl<'a> SideText<'a> {
    pub fn new(lines: &'a [DiffLine], side: Side) -> Self {
        let on_side = |line: &&DiffLine| super::number(line, side).is_some();
        Self::of(lines.iter().filter(on_side).map(|line| (line, line.text.as_str())))
    }

    /// Both sides as a diff shows them.
    pub fn both(lines: &'a [DiffLine]) -> Self {
        Self::of(lines.iter().map(|line| (line, line.text.as_str())))
    }

    /// Lines with what is to be read in their place.
    pub fn of<'t>(lines: impl Iterator<Item = (&'a DiffLine, &'t str)>) -> Self {
        let mut side_text = SideText { lines: Vec::new(), text: String::new(), starts: Vec::new() };
        for (line, text) in lines {
            let folded = fold_code(text);
            if folded.is_empty() {
                continue;
            }
            if !side_text.text.is_empty() {
                side_text.text.push(' ');
            }
            side_text.starts.push(side_text.text.len());
            side_text.text.push_str(&folded);
            side_text.lines.push(line);
        }
        side_text
    }

    /// Every place of a copied quote, wherever it begins. A very short one must be a line of its own.
    pub fn find_copy(&self, quote: &str) -> Vec<Found> {
        if quote.len() < SHORT_QUOTE {
            return (0..self.lines.len()).filter(|line| self.line(*line) == quote).map(|line| self.found(line, line)).collect();
        }
        self.text.match_indices(quote).map(|(at, _)| self.found(self.line_at(at), self.line_at(at + quote.len() - 1))).collect()
    }

    /// Every place where the pieces stand in this order, in whole tokens.
    pub fn find(&self, pieces: &[Piece]) -> Vec<Found> {
        match pieces {
            [] => Vec::new(),
            [only] => whole_tokens(&self.text, &only.text)
                .map(|at| {
                    let end = at + only.text.len();
                    let (first, last) = (self.line_at(at), self.line_at(end - 1));
                    Found { is_whole: at == self.starts[first] && end == self.end(last), ..self.found(first, last) }
                })
                .collect(),
            [first, rest @ ..] => {
                let beginnings = whole_tokens(&self.text, &first.text).take(MAX_BEGINNINGS);
                let mut all: Vec<Found> = beginnings.filter_map(|at| self.find_rest(at, &first.text, rest)).collect();
                // Of those with one end the shortest is meant.
                all.reverse();
                all.dedup_by_key(|found| found.last);
                all.reverse();
                all
            }
        }
    }

    fn find_rest(&self, at: usize, first: &str, rest: &[Piece]) -> Option<Found> {
        let (begin, mut end) = (self.line_at(at), at + first.len());
        let mut last = self.line_at(end - 1);
        let mut is_changed = self.is_changed(begin, last);
        for piece in rest {
            let reach = match piece.gap {
                Gap::Silent => MAX_SILENT_GAP,
                Gap::Ellipsis => MAX_ELLIPSIS,
            };
            let limit = self.end((last + 1 + reach).min(self.lines.len() - 1));
            let next = match piece.gap {
                // Without an ellipsis whole lines are missing, so what is there is whole lines.
                Gap::Silent => (last + 1..self.lines.len())
                    .take(reach + 1)
                    .find(|line| self.line(*line) == piece.text)
                    .map(|line| self.starts[line])?,
                Gap::Ellipsis => end + self.after(end, limit, &piece.text)?,
            };
            end = next + piece.text.len();
            let first = self.line_at(next);
            last = self.line_at(end - 1);
            is_changed |= self.is_changed(first, last);
        }
        Some(Found { first: begin, last, is_changed, is_whole: true })
    }

    /// How far behind `from` the text stands in whole tokens.
    fn after(&self, from: usize, limit: usize, text: &str) -> Option<usize> {
        let room = self.text.get(from..limit)?;
        let is_whole = |at: &usize| !splits_token(&self.text, from + at) && !splits_token(&self.text, from + at + text.len());
        room.match_indices(text).map(|(at, _)| at).find(is_whole)
    }

    fn found(&self, first: usize, last: usize) -> Found {
        Found { first, last, is_changed: self.is_changed(first, last), is_whole: false }
    }

    fn is_changed(&self, first: usize, last: usize) -> bool {
        self.lines[first..=last].iter().any(|line| line.origin != Origin::Context)
    }

    pub fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    fn end(&self, line: usize) -> usize {
        self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1)
    }

    fn line(&self, line: usize) -> &str {
        &self.text[self.starts[line]..self.end(line)]
    }
}
