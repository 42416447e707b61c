//! Cite or drop (design rule 2): a claim's evidence must stand in the diff, white space folded, on at least one line that the
//! change added or removed. The engine finds the line from the quote; a reviewer's number only breaks ties.

use crate::diff::change::{ChangedFile, DiffLine, Origin};
use crate::publish::outgoing::mask::{self, Suspicion};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    /// It stands there, but only on lines that the change left as they were.
    UnchangedCode,
}

/// Finds the quote in the file's hunks. With several places, the one nearest to `hint` wins, then the first.
pub fn anchor(file: &ChangedFile, evidence: &str, hint: Option<u32>) -> Result<Anchor, AnchorFailure> {
    AnchorIndex::new(file).anchor(evidence, hint)
}

/// One file's diff, folded once for all that is quoted from it.
pub struct AnchorIndex<'a> {
    file: &'a ChangedFile,
    new: OnceCell<Vec<SideText<'a>>>,
    old: OnceCell<Vec<SideText<'a>>>,
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
        Self { file, new: OnceCell::new(), old: OnceCell::new(), masked: Default::default() }
    }

    pub fn file(&self) -> &'a ChangedFile {
        self.file
    }

    /// See [`anchor`].
    pub fn anchor(&self, evidence: &str, hint: Option<u32>) -> Result<Anchor, AnchorFailure> {
        let quote = fold(evidence);
        if !quote.chars().any(char::is_alphanumeric) && quote.chars().count() < 3 {
            return Err(AnchorFailure::NoEvidence);
        }
        let mut outcome = self.place(&quote, hint);
        if outcome == Err(AnchorFailure::NotInDiff)
            && let Some(bare) = without_diff_signs(evidence)
        {
            outcome = self.place(&fold(&bare), hint);
        }
        // A finding that was kept, or came from elsewhere, quotes its keys masked.
        for suspicion in [Suspicion::Usual, Suspicion::AboutSecrets] {
            if outcome == Err(AnchorFailure::NotInDiff) && quote.contains(" masked") {
                outcome = self.place_masked(&quote, hint, suspicion);
            }
        }
        outcome
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

    /// Where a masked quote stands in the masked text.
    fn place_masked(&self, quote: &str, hint: Option<u32>, suspicion: Suspicion) -> Result<Anchor, AnchorFailure> {
        let mut best: Option<(u32, Anchor)> = None;
        for side in [Side::New, Side::Old] {
            for hunk in self.masked(side, suspicion) {
                let text = SideText::of(hunk.lines.iter().map(|(line, masked)| (*line, masked.as_str())));
                for (first, last) in text.find(quote) {
                    let lines = &text.lines[first..=last];
                    if lines.iter().all(|line| line.origin == Origin::Context) {
                        continue;
                    }
                    let distance = hint.map_or(0, |hint| hint.abs_diff(number(lines[0], side).unwrap_or_default()));
                    if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                        best = anchor_of(lines, side, quote).map(|anchor| (distance, anchor)).or(best);
                    }
                }
            }
            if best.is_some() {
                break;
            }
        }
        best.map(|(_, anchor)| anchor).ok_or(AnchorFailure::NotInDiff)
    }

    fn texts(&self, side: Side) -> &[SideText<'a>] {
        let cell = match side {
            Side::New => &self.new,
            Side::Old => &self.old,
        };
        cell.get_or_init(|| self.file.hunks.iter().map(|hunk| SideText::new(&hunk.lines, side)).collect())
    }

    fn place(&self, quote: &str, hint: Option<u32>) -> Result<Anchor, AnchorFailure> {
        if quote.is_empty() {
            return Err(AnchorFailure::NoEvidence);
        }
        if let Some(anchor) = hint.and_then(|hint| self.at_hint(quote, hint)) {
            return Ok(anchor);
        }
        let mut unchanged = false;
        let mut best: Option<(u32, Anchor)> = None;
        // The new side first: a line that still exists is where a reader looks.
        for side in [Side::New, Side::Old] {
            for text in self.texts(side) {
                for (first, last) in text.find(quote) {
                    let lines = &text.lines[first..=last];
                    if lines.iter().all(|line| line.origin == Origin::Context) {
                        unchanged = true;
                        continue;
                    }
                    let start = number(lines[0], side).unwrap_or_default();
                    let distance = hint.map_or(0, |hint| hint.abs_diff(start));
                    if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
                        best = anchor_of(lines, side, quote).map(|anchor| (distance, anchor)).or(best);
                    }
                }
            }
            if best.is_some() {
                break;
            }
        }
        match best {
            Some((_, anchor)) => Ok(anchor),
            None if unchanged => Err(AnchorFailure::UnchangedCode),
            None => Err(AnchorFailure::NotInDiff),
        }
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

fn anchor_of(lines: &[&DiffLine], side: Side, quote: &str) -> Option<Anchor> {
    let (start, end) = (number(lines.first()?, side)?, number(lines.last()?, side)?);
    let is_long = lines.iter().map(|line| line.text.len()).sum::<usize>() > MAX_QUOTE_BYTES;
    let quote = match is_long {
        true => quote.to_owned(),
        false => lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"),
    };
    Some(Anchor { side, line_start: start, line_end: end, quote })
}

/// A shorter quote must be a line of its own, or it would stand everywhere.
const SHORT_QUOTE: usize = 4;

fn number(line: &DiffLine, side: Side) -> Option<u32> {
    match side {
        Side::New => line.new_line,
        Side::Old => line.old_line,
    }
}

/// One side of a hunk as folded text, with the way back from a byte offset to a line.
struct SideText<'a> {
    lines: Vec<&'a DiffLine>,
    text: String,
    starts: Vec<usize>,
}

impl<'a> SideText<'a> {
    fn new(lines: &'a [DiffLine], side: Side) -> Self {
        Self::of(lines.iter().filter(|line| number(line, side).is_some()).map(|line| (line, line.text.as_str())))
    }

    /// Lines with what is to be read in their place.
    fn of<'t>(lines: impl Iterator<Item = (&'a DiffLine, &'t str)>) -> Self {
        let mut side_text = SideText { lines: Vec::new(), text: String::new(), starts: Vec::new() };
        for (line, text) in lines {
            let folded = fold(text);
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

    /// First and last line index of every place where the quote stands. A very short quote must be a line of its own, or it would
    /// stand everywhere.
    fn find(&self, quote: &str) -> Vec<(usize, usize)> {
        if quote.len() < SHORT_QUOTE {
            return (0..self.lines.len()).filter(|line| self.folded_line(*line) == quote).map(|line| (line, line)).collect();
        }
        self.text.match_indices(quote).map(|(offset, _)| (self.line_at(offset), self.line_at(offset + quote.len() - 1))).collect()
    }

    fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    fn folded_line(&self, line: usize) -> &str {
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        &self.text[self.starts[line]..end]
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

/// Reviewers often paste lines with the diff's own `+`, `-` and blank in front.
fn without_diff_signs(evidence: &str) -> Option<String> {
    let lines: Vec<&str> = evidence.lines().filter(|line| !line.trim().is_empty()).collect();
    if !lines.iter().any(|line| line.starts_with(['+', '-'])) {
        return None;
    }
    Some(lines.iter().map(|line| line.strip_prefix(['+', '-', ' ']).unwrap_or(line)).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::parse::parse_diff;
    use proptest::prelude::*;

    fn file(diff: &str) -> ChangedFile {
        parse_diff(diff.as_bytes()).unwrap().files.remove(0)
    }

    fn sample() -> ChangedFile {
        file(
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,4 +1,5 @@\n def f(x):\n-    return eval(x)\n+    y = eval(x)\n+    return y\n     # end\n x = 1\n",
        )
    }

    /// PR-58: no quote, no finding.
    #[test]
    fn a_claim_without_evidence_has_no_place() {
        assert_eq!(anchor(&sample(), "  ", None), Err(AnchorFailure::NoEvidence));
        assert_eq!(anchor(&sample(), "exec(x)", None), Err(AnchorFailure::NotInDiff));
    }

    /// Issue rule: what was there before is not this change's fault.
    #[test]
    fn unchanged_code_is_nobody_s_fault() {
        assert_eq!(anchor(&sample(), "def f(x):", None), Err(AnchorFailure::UnchangedCode));
    }

    /// Design rule 2: the quote decides, the number is a hint.
    #[test]
    fn the_line_comes_from_the_quote_and_not_from_the_hint() {
        let anchor = anchor(&sample(), "y  =  eval(x)", Some(99)).unwrap();
        assert_eq!((anchor.side, anchor.line_start, anchor.line_end), (Side::New, 2, 2));
    }

    #[test]
    fn quotes_may_span_lines_and_carry_diff_signs() {
        let anchor = anchor(&sample(), "+    y = eval(x)\n+    return y", None).unwrap();
        assert_eq!((anchor.line_start, anchor.line_end), (2, 3));
    }

    #[test]
    fn deleted_code_is_cited_on_the_old_side() {
        let anchor = anchor(&sample(), "return eval(x)", None).unwrap();
        assert_eq!((anchor.side, anchor.line_start), (Side::Old, 2));
    }

    #[test]
    fn among_equal_lines_the_hint_chooses() {
        let file = file("--- a/a\n+++ b/a\n@@ -0,0 +1,3 @@\n+same line\n+other\n+same line\n");
        assert_eq!(anchor(&file, "same line", Some(3)).unwrap().line_start, 3);
        assert_eq!(anchor(&file, "same line", None).unwrap().line_start, 1);
    }

    proptest! {
        /// Whatever is quoted, a found anchor's quote holds the evidence and touches a changed line.
        #[test]
        fn an_anchor_always_holds_its_quote(lines in prop::collection::vec("[a-z (){};=]{0,12}", 1..20), pick in 0usize..20) {
            let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
            let file = file(&format!("--- a/a\n+++ b/a\n@@ -0,0 +1,{} @@\n{body}", lines.len()));
            let evidence = &lines[pick % lines.len()];
            if let Ok(anchor) = anchor(&file, evidence, None) {
                prop_assert!(fold(&anchor.quote).contains(&fold(evidence)));
                prop_assert!(anchor.line_end as usize <= lines.len());
            } else {
                prop_assert!(fold(evidence).chars().count() < 3 || fold(evidence).is_empty());
            }
        }
    }
}
