//! Which of the places of a quote is meant.

use super::{AnchorFailure, Side};
use crate::findings::quote::Reading;
use crate::findings::quote::tokens::Substance;

/// The lines that a reviewer names. They decide between equal lines and never replace a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    pub start: u32,
    pub end: u32,
}

impl Hint {
    pub fn new(start: Option<u32>, end: Option<u32>) -> Option<Self> {
        let start = start.or(end)?;
        Some(Self { start, end: end.unwrap_or(start).max(start) })
    }

    pub fn line(line: u32) -> Self {
        Self { start: line, end: line }
    }

    /// 0 for a place that begins where the hint does, 1 for one that shares a line with it.
    fn distance(self, copy: &Place) -> u32 {
        if copy.start == self.start {
            return 0;
        }
        copy.start.saturating_sub(self.end).max(self.start.saturating_sub(copy.end)) + 1
    }
}

/// One place of a quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub side: Side,
    /// Lines of that side, inclusive.
    pub start: u32,
    pub end: u32,
    pub hunk: usize,
    /// Indexes of the lines in the hunk's text.
    pub lines: (usize, usize),
    pub is_changed: bool,
    pub is_whole: bool,
}

/// A hint that misses by more lines does not say that an unchanged line is meant.
const NEAR_MISS: u32 = 4;

/// The place that a quote means, or why none can be told. `is_one_symbol` says whether two places stand in one function.
pub(super) fn choose(
    copies: Vec<Place>,
    reading: &Reading,
    hint: Option<Hint>,
    is_one_symbol: impl Fn(&Place, &Place) -> bool,
) -> Result<Place, AnchorFailure> {
    let copies = telling(copies, reading, hint)?;
    let (changed, unchanged): (Vec<Place>, Vec<Place>) = copies.into_iter().partition(|copy| copy.is_changed);
    let Some(best) = nearest_changed(&changed, hint) else { return Err(AnchorFailure::UnchangedCode) };
    let Some(other) = unchanged.iter().min_by_key(|copy| hint.map_or(0, |hint| hint.distance(copy))) else { return Ok(best) };
    if let Some(hint) = hint {
        if hint.distance(&best) <= hint.distance(other) {
            return Ok(best);
        }
        if hint.distance(other) <= NEAR_MISS {
            return Err(AnchorFailure::UnchangedCode);
        }
    }
    // Nothing tells the changed copy from the others; within one function it is the one that a review speaks of.
    let is_one = changed.iter().chain(&unchanged).all(|copy| is_one_symbol(copy, &best));
    if is_one { Ok(best) } else { Err(AnchorFailure::Ambiguous) }
}

/// The places at which the quote says enough. A part of a line must name something. A line of its own may be short; one of keywords or
/// brackets alone, and a name alone, must be the only one, or the hint must point at it.
fn telling(copies: Vec<Place>, reading: &Reading, hint: Option<Hint>) -> Result<Vec<Place>, AnchorFailure> {
    if reading.is_enough() {
        return Ok(copies);
    }
    let text = reading.text().ok_or(AnchorFailure::NoEvidence)?;
    let substance = Substance::of(text);
    let is_only = copies.len() == 1;
    let is_line_of_its_own = copies.iter().all(|copy| copy.is_whole);
    if is_line_of_its_own && substance.names > 0 {
        return Ok(copies);
    }
    let is_line = substance.tokens >= MIN_SIGNS || text.chars().any(char::is_alphanumeric);
    let may_tell = |copy: &Place| substance.has_long_name || copy.is_whole && is_line;
    let telling: Vec<Place> = copies.into_iter().filter(may_tell).collect();
    if telling.is_empty() {
        return Err(AnchorFailure::NoEvidence);
    }
    let is_meant = |copy: &Place| is_only || hint.is_some_and(|hint| hint.distance(copy) == 0);
    let meant: Vec<Place> = telling.into_iter().filter(is_meant).collect();
    if meant.is_empty() { Err(AnchorFailure::Ambiguous) } else { Ok(meant) }
}

/// A line of fewer signs and no word, such as a bracket, is evidence of nothing.
const MIN_SIGNS: usize = 3;

/// Where the hint points; else on the side that the quote's signs name, else in the new file; there the nearest, then the first.
fn nearest_changed(changed: &[Place], hint: Option<Hint>) -> Option<Place> {
    let distance = |copy: &Place| hint.map_or(0, |hint| hint.distance(copy));
    changed.iter().min_by_key(|copy| (hint.is_some() && distance(copy) > 0, copy.side, distance(copy))).copied()
}
