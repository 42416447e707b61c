//! Cite or drop (design rule 2): a claim's evidence must stand in the diff, white space folded, on at least one line that the
//! change added or removed. The engine finds the line from the quote; a reviewer's number only decides between equal lines.
//!
//! A program copies lines out of the file ([`Quoting::Copied`]): they are found as they stand, where it says. Whoever writes a quote down
//! ([`Quoting::Written`]) may decorate it ([`super::quote`]), must quote whole tokens and enough of them, and is not answered with
//! another line than the one that is meant ([`choice`]).

mod choice;
mod side_text;

pub use choice::Hint;

use super::key::Outline;
use super::quote::{Number, Reading, Signs, fold_code, readings};
use crate::diff::change::{ChangedFile, DiffLine, Origin};
use crate::publish::outgoing::mask::{self, Suspicion};
use choice::{Place, choose};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use side_text::{Found, SHORT_QUOTE, SideText};
use std::cell::OnceCell;

/// Where a finding stands. Lines are 1-based and inclusive, on the side that `side` names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    pub side: Side,
    pub line_start: u32,
    pub line_end: u32,
    /// The cited lines as they stand in the diff, without the `+` or `-`.
    pub quote: String,
}

/// A quote of more lines shows what surrounds the defect as well.
const NARROW_LINES: u32 = 3;

impl Anchor {
    /// Whether the cited lines say by themselves where the defect is.
    pub fn is_narrow(&self) -> bool {
        self.line_end - self.line_start < NARROW_LINES
    }
}

/// The same of a quote alone.
pub fn is_narrow_quote(quote: &str) -> bool {
    quote.lines().count() <= NARROW_LINES as usize
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The file after the change.
    New,
    /// The file before it: for what was deleted.
    Old,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnchorFailure {
    /// There is no quote, or nothing in it that could tell one line from another.
    NoEvidence,
    /// The quote stands nowhere in the file's diff.
    NotInDiff,
    /// It stands there, but only on lines that the change left as they were, or the hint points at such a one.
    UnchangedCode,
    /// It stands on changed and on unchanged lines, and nothing tells which is meant.
    Ambiguous,
}

/// How a quote came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// By a program, out of the file: lines, or a part of an endless one.
    Copied,
    /// By a model or a person.
    Written,
}

/// Finds a quote in the file's hunks.
pub fn anchor(file: &ChangedFile, quoting: Quoting, evidence: &str, hint: Option<Hint>) -> Result<Anchor, AnchorFailure> {
    AnchorIndex::new(file).anchor(quoting, evidence, hint)
}

/// One file's diff, folded once for all that is quoted from it.
pub struct AnchorIndex<'a> {
    file: &'a ChangedFile,
    outline: Option<&'a Outline>,
    new: OnceCell<Vec<SideText<'a>>>,
    old: OnceCell<Vec<SideText<'a>>>,
    both: OnceCell<Vec<SideText<'a>>>,
    masked: [OnceCell<Vec<MaskedHunk<'a>>>; 4],
}

/// One side of a hunk with its keys masked, line by line.
struct MaskedHunk<'a> {
    lines: Vec<(&'a DiffLine, String)>,
    /// The keys, each with the index of its line.
    keys: Vec<(usize, String)>,
}

impl<'a> MaskedHunk<'a> {
    fn new(lines: &'a [DiffLine], side: Side, suspicion: Suspicion) -> Self {
        let lines: Vec<&DiffLine> = lines.iter().filter(|line| number(line, side).is_some()).collect();
        let text = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
        let spans = mask::secret_spans(&text, suspicion);
        let (mut keys, mut line, mut at) = (Vec::new(), 0, 0);
        for span in spans {
            line += text[at..span.start].matches('\n').count();
            at = span.start;
            keys.push((line, text[span].to_owned()));
        }
        let masked = mask::mask_as(&text, suspicion);
        Self { lines: lines.into_iter().zip(masked.split('\n').map(str::to_owned)).collect(), keys }
    }
}

/// Keys so many lines around a quote are looked for in what is said about it.
const NEAR: usize = 20;

/// Of cited lines that are longer together, only the evidence is kept.
const MAX_QUOTE_BYTES: usize = 8 * 1024;

impl<'a> AnchorIndex<'a> {
    pub fn new(file: &'a ChangedFile) -> Self {
        Self {
            file,
            outline: None,
            new: OnceCell::new(),
            old: OnceCell::new(),
            both: OnceCell::new(),
            masked: Default::default(),
        }
    }

    /// The functions of the new file, by which equal lines are told apart.
    pub fn with_outline(self, outline: Option<&'a Outline>) -> Self {
        Self { outline, ..self }
    }

    pub fn file(&self) -> &'a ChangedFile {
        self.file
    }

    /// See [`anchor`].
    pub fn anchor(&self, quoting: Quoting, evidence: &str, hint: Option<Hint>) -> Result<Anchor, AnchorFailure> {
        match quoting {
            Quoting::Copied => self.place_copy(&fold_code(evidence), hint),
            Quoting::Written => self.place_written(evidence, hint),
        }
    }

    fn place_copy(&self, quote: &str, hint: Option<Hint>) -> Result<Anchor, AnchorFailure> {
        if !quote.chars().any(char::is_alphanumeric) && quote.chars().count() < 3 {
            return Err(AnchorFailure::NoEvidence);
        }
        if let Some(anchor) = hint.and_then(|hint| self.at_hint(quote, hint.start)) {
            return Ok(anchor);
        }
        // The new side first: a line that still exists is where a reader looks.
        let mut is_unchanged = false;
        for side in [Side::New, Side::Old] {
            let copies = copies(self.texts(side), side, |text| text.find_copy(quote));
            is_unchanged |= copies.iter().any(|copy| !copy.is_changed);
            let changed = copies.iter().filter(|copy| copy.is_changed);
            let nearest = changed.min_by_key(|copy| hint.map_or(0, |hint| hint.start.abs_diff(copy.start)));
            if let Some(copy) = nearest {
                return self.anchor_at(copy, quote).ok_or(AnchorFailure::NotInDiff);
            }
        }
        if is_unchanged {
            return Err(AnchorFailure::UnchangedCode);
        }
        self.place_masked(quote, hint, |text| text.find_copy(quote))
    }

    /// The first reading that stands anywhere decides.
    fn place_written(&self, evidence: &str, hint: Option<Hint>) -> Result<Anchor, AnchorFailure> {
        let readings = readings(evidence);
        if readings.is_empty() {
            return Err(AnchorFailure::NoEvidence);
        }
        let mut outcome = AnchorFailure::NotInDiff;
        for reading in &readings {
            match self.place_reading(reading, hint) {
                Ok(anchor) => return Ok(anchor),
                Err(AnchorFailure::NotInDiff) => {}
                // A bracket that is left of a longer quote says nothing of the others.
                Err(AnchorFailure::NoEvidence) => outcome = AnchorFailure::NoEvidence,
                Err(failure @ (AnchorFailure::UnchangedCode | AnchorFailure::Ambiguous)) => return Err(failure),
            }
        }
        Err(outcome)
    }

    fn place_reading(&self, reading: &Reading, hint: Option<Hint>) -> Result<Anchor, AnchorFailure> {
        let quote = reading.text().unwrap_or_default();
        let found = |text: &SideText<'_>| text.find(&reading.pieces);
        let mut all = copies(self.texts(Side::New), Side::New, found);
        // What the change left alone stands on both sides, and is counted once.
        all.extend(copies(self.texts(Side::Old), Side::Old, found).into_iter().filter(|copy| copy.is_changed));
        if all.is_empty() && reading.signs == Signs::Both {
            return self.place_both(reading, hint);
        }
        if all.is_empty() {
            return self.place_masked(quote, hint, found);
        }
        let hint = match reading.number {
            None => hint,
            Some(Number { line, side }) => {
                let is_there = |copy: &Place| copy.start == line && side.is_none_or(|side| side == copy.side);
                match (all.iter().any(is_there), side) {
                    (true, _) => Some(Hint::line(line)),
                    (false, Some(_)) => hint.or(Some(Hint::line(line))),
                    (false, None) => return Err(AnchorFailure::NotInDiff),
                }
            }
        };
        all.extend(hint.and_then(|hint| self.copy_outside(quote, hint.start)));
        // Signs say which lines are meant, unless the hint says otherwise.
        if let Signs::Only(side) = reading.signs
            && all.iter().any(|copy| copy.side == side && copy.is_changed)
        {
            let is_pointed_at = |copy: &Place| !copy.is_changed && hint.is_some_and(|hint| hint.start == copy.start);
            all.retain(|copy| copy.is_changed && copy.side == side || is_pointed_at(copy));
        }
        let chosen = choose(all, reading, hint, |a, b| self.is_one_symbol(a, b))?;
        self.anchor_at(&chosen, quote).ok_or(AnchorFailure::NotInDiff)
    }

    /// Removed lines quoted with those that took their place: the finding stands at the new ones.
    fn place_both(&self, reading: &Reading, hint: Option<Hint>) -> Result<Anchor, AnchorFailure> {
        let texts = self.both.get_or_init(|| self.file.hunks.iter().map(|hunk| SideText::both(&hunk.lines)).collect());
        let mut best: Option<(u32, Anchor)> = None;
        for text in texts {
            for found in text.find(&reading.pieces) {
                let lines = &text.lines[found.first..=found.last];
                let side = if lines.iter().any(|line| line.origin == Origin::Added) { Side::New } else { Side::Old };
                let lines: Vec<&DiffLine> = lines.iter().filter(|line| number(line, side).is_some()).copied().collect();
                let Some(anchor) = anchor_of(&lines, side, reading.text().unwrap_or_default()).filter(|_| found.is_changed)
                else {
                    continue;
                };
                let distance = hint.map_or(0, |hint| hint.start.abs_diff(anchor.line_start));
                if reading.is_enough() && best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                    best = Some((distance, anchor));
                }
            }
        }
        best.map(|(_, anchor)| anchor).ok_or(AnchorFailure::NotInDiff)
    }

    /// The very line of the hint where the diff does not show it: a reviewer may have read the whole file.
    fn copy_outside(&self, quote: &str, line: u32) -> Option<Place> {
        let is_shown = |text: &SideText<'_>| text.lines.binary_search_by_key(&Some(line), |line| line.new_line).is_ok();
        if quote.is_empty() || self.texts(Side::New).iter().any(is_shown) {
            return None;
        }
        let text = self.file.new_text.as_deref()?.lines().nth(line.checked_sub(1)? as usize)?;
        let folded = fold_code(text);
        let is_here = super::quote::whole_tokens(&folded, quote).next().is_some()
            || !folded.is_empty() && quote.starts_with(&format!("{folded} "));
        let copy = Place {
            side: Side::New,
            start: line,
            end: line,
            hunk: usize::MAX,
            lines: (0, 0),
            is_changed: false,
            is_whole: folded == quote,
        };
        is_here.then_some(copy)
    }

    fn is_one_symbol(&self, a: &Place, b: &Place) -> bool {
        let symbol = |copy: &Place| self.outline.filter(|_| copy.side == Side::New)?.innermost(copy.start);
        match (symbol(a), symbol(b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a.hunk == b.hunk,
            _ => false,
        }
    }

    fn anchor_at(&self, copy: &Place, quote: &str) -> Option<Anchor> {
        let text = self.texts(copy.side).get(copy.hunk)?;
        anchor_of(text.lines.get(copy.lines.0..=copy.lines.1)?, copy.side, quote)
    }

    fn texts(&self, side: Side) -> &[SideText<'a>] {
        let cell = match side {
            Side::New => &self.new,
            Side::Old => &self.old,
        };
        cell.get_or_init(|| self.file.hunks.iter().map(|hunk| SideText::new(&hunk.lines, side)).collect())
    }

    fn masked(&self, side: Side, suspicion: Suspicion) -> &[MaskedHunk<'a>] {
        let cell = match (side, suspicion) {
            (Side::New, Suspicion::Usual) => 0,
            (Side::Old, Suspicion::Usual) => 1,
            (Side::New, Suspicion::AboutSecrets) => 2,
            (Side::Old, Suspicion::AboutSecrets) => 3,
        };
        self.masked[cell]
            .get_or_init(|| self.file.hunks.iter().map(|hunk| MaskedHunk::new(&hunk.lines, side, suspicion)).collect())
    }

    /// The quote of an anchor with its keys masked, as it is kept and shown, and the keys around it. A key's first line may stand
    /// above the quote, so the whole hunk is looked at.
    pub fn masked_quote(&self, anchor: &Anchor, suspicion: Suspicion) -> (String, Vec<String>) {
        let at = |line: &DiffLine| number(line, anchor.side);
        for hunk in self.masked(anchor.side, suspicion) {
            let Some(first) = hunk.lines.iter().position(|(line, _)| at(line) == Some(anchor.line_start)) else { continue };
            let cited = hunk.lines[first..].iter().take_while(|(line, _)| at(line).is_some_and(|at| at <= anchor.line_end));
            let cited: Vec<&(&DiffLine, String)> = cited.filter(|(line, _)| !fold(&line.text).is_empty()).collect();
            let last = first + (anchor.line_end - anchor.line_start) as usize;
            let is_near = |line: usize| line + NEAR >= first && line <= last + NEAR;
            let keys = hunk.keys.iter().filter(|(line, _)| is_near(*line)).map(|(_, key)| key.clone()).collect();
            // Of lines that are too long together only the evidence was kept.
            let is_long = cited.iter().map(|(line, _)| line.text.len()).sum::<usize>() > MAX_QUOTE_BYTES;
            let quote = match is_long {
                true => mask::mask_as(&anchor.quote, suspicion),
                false => cited.iter().map(|(_, masked)| masked.as_str()).collect::<Vec<_>>().join("\n"),
            };
            return (quote, keys);
        }
        (mask::mask_as(&anchor.quote, suspicion), Vec::new())
    }

    /// A finding that was kept, or came from elsewhere, quotes its keys masked: where that stands in the masked text.
    fn place_masked(
        &self,
        quote: &str,
        hint: Option<Hint>,
        find: impl Fn(&SideText<'_>) -> Vec<Found>,
    ) -> Result<Anchor, AnchorFailure> {
        if !quote.contains(" masked") {
            return Err(AnchorFailure::NotInDiff);
        }
        for suspicion in [Suspicion::Usual, Suspicion::AboutSecrets] {
            for side in [Side::New, Side::Old] {
                let mut best: Option<(u32, Anchor)> = None;
                for hunk in self.masked(side, suspicion) {
                    let text = SideText::of(hunk.lines.iter().map(|(line, masked)| (*line, masked.as_str())));
                    for found in find(&text).into_iter().filter(|found| found.is_changed) {
                        let lines = &text.lines[found.first..=found.last];
                        let start = lines.first().and_then(|line| number(line, side)).unwrap_or_default();
                        let distance = hint.map_or(0, |hint| hint.start.abs_diff(start));
                        if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                            best = anchor_of(lines, side, quote).map(|anchor| (distance, anchor)).or(best);
                        }
                    }
                }
                if let Some((_, anchor)) = best {
                    return Ok(anchor);
                }
            }
        }
        Err(AnchorFailure::NotInDiff)
    }

    /// The place at the very line of the hint, where rules point: nothing can be nearer.
    fn at_hint(&self, quote: &str, hint: u32) -> Option<Anchor> {
        if quote.len() < SHORT_QUOTE {
            return None;
        }
        let texts = self.texts(Side::New);
        let last = |text: &SideText<'_>| text.lines.last().and_then(|line| line.new_line).unwrap_or(0);
        // Hunks are ascending; one without a line of this side is found by none.
        let text = texts.iter().filter(|text| !text.lines.is_empty()).find(|text| last(text) >= hint)?;
        let line = text.lines.binary_search_by_key(&Some(hint), |line| line.new_line).ok()?;
        let offset = text.starts[line];
        if !text.text[offset..].starts_with(quote) {
            return None;
        }
        let lines = &text.lines[line..=text.line_at(offset + quote.len() - 1)];
        if lines.iter().all(|line| line.origin == Origin::Context) {
            return None;
        }
        anchor_of(lines, Side::New, quote)
    }
}

/// A quote's places on one side.
fn copies<'a>(texts: &[SideText<'a>], side: Side, find: impl Fn(&SideText<'a>) -> Vec<Found>) -> Vec<Place> {
    let mut copies = Vec::new();
    for (hunk, text) in texts.iter().enumerate() {
        let at = |line: usize| number(text.lines[line], side).unwrap_or_default();
        copies.extend(find(text).into_iter().map(|Found { first, last, is_changed, is_whole }| Place {
            side,
            start: at(first),
            end: at(last),
            hunk,
            lines: (first, last),
            is_changed,
            is_whole,
        }));
    }
    copies
}

fn anchor_of(lines: &[&DiffLine], side: Side, quote: &str) -> Option<Anchor> {
    let (start, end) = (number(lines.first()?, side)?, number(lines.last()?, side)?);
    let is_long = lines.iter().map(|line| line.text.len()).sum::<usize>() > MAX_QUOTE_BYTES;
    let quote = match is_long {
        true => quote.to_owned(),
        false => lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"),
    };
    Some(Anchor { side, line_start: start, line_end: end, quote })
}

fn number(line: &DiffLine, side: Side) -> Option<u32> {
    match side {
        Side::New => line.new_line,
        Side::Old => line.old_line,
    }
}

/// White space of any kind and length becomes one blank; the ends are trimmed.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

#[cfg(test)]
mod tests;
