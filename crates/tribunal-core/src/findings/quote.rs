//! What a reviewer may have meant by a quote.
//!
//! Models and people write a line of code down as they saw it: with the diff's sign and the number that the brief shows, in a fence,
//! with quotation marks of a text editor, with HTML entities, with `...` where they left something out. Each [`Reading`] takes more of
//! that off than the one before; the first that stands in the text decides. No reading adds a character, so a quote of something else
//! stands nowhere.

pub mod line;
pub mod tokens;

use super::anchor::Side;
use line::{BareLine, around_ellipses, is_heading, without_number, without_sign, without_wrapping};
use tokens::{Substance, splits_token};

/// One way to read a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// In the order of the text. One piece is a quote without gaps.
    pub pieces: Vec<Piece>,
    /// The number that the quote's first line carries.
    pub number: Option<Number>,
    pub signs: Signs,
}

/// A line's number in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    pub line: u32,
    /// The side that the sign in front of it names. Digits without a sign may be code that was cut in the middle, so they are a number
    /// only where that line is quoted.
    pub side: Option<Side>,
}

/// Code without a gap, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// How the piece before it ended.
    pub gap: Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The line above is quoted too, but others may stand between them.
    Silent,
    /// The quote says that something is left out.
    Ellipsis,
}

/// The diff's signs in front of the quoted lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    None,
    Only(Side),
    /// Removed lines with those that took their place.
    Both,
}

/// A longer quote is cut: nothing that long is evidence of one defect.
const MAX_EVIDENCE_BYTES: usize = 64 * 1024;
/// A quote with gaps in more than so many pieces is not looked for.
const MAX_PIECES: usize = 64;

/// The readings of a quote, the most literal first.
pub fn readings(evidence: &str) -> Vec<Reading> {
    let evidence = &evidence[..floor_boundary(evidence, MAX_EVIDENCE_BYTES)];
    let mut sources = vec![evidence.to_owned()];
    for unescape in [without_entities as fn(&str) -> String, without_escapes] {
        for n in 0..sources.len() {
            let plain = unescape(&sources[n]);
            if !sources.contains(&plain) {
                sources.push(plain);
            }
        }
    }
    let mut whole: Vec<Reading> = Vec::new();
    let mut parted: Vec<Reading> = Vec::new();
    for source in &sources {
        let written: Vec<&str> = source.lines().filter(|line| !line.trim().is_empty()).collect();
        let plain: Vec<BareLine<'_>> = written.iter().map(|text| BareLine { text, ..BareLine::default() }).collect();
        let code: Vec<&str> = unquoted(&written).into_iter().filter(|line| !is_heading(line)).map(without_wrapping).collect();
        let bare: Vec<BareLine<'_>> = code.iter().map(|text| BareLine { text, ..BareLine::default() }).collect();
        let signed: Vec<BareLine<'_>> = code.iter().map(|line| without_sign(line)).collect();
        let numbered: Vec<BareLine<'_>> = code.iter().map(|line| unwrapped(without_number(line))).collect();
        for lines in [plain, bare, signed, numbered] {
            add(&mut whole, Reading::whole(&lines));
            add(&mut parted, Reading::parted(&lines));
        }
    }
    parted.into_iter().for_each(|reading| add(&mut whole, Some(reading)));
    whole
}

fn add(readings: &mut Vec<Reading>, reading: Option<Reading>) {
    if let Some(reading) = reading.filter(|reading| !readings.iter().any(|known| known.pieces == reading.pieces)) {
        readings.push(reading);
    }
}

fn unwrapped(line: BareLine<'_>) -> BareLine<'_> {
    BareLine { text: without_wrapping(line.text), ..line }
}

/// Lines without what a message puts around all of them: `> ` in front of each, quotation marks at both ends.
fn unquoted<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let cited: Option<Vec<&str>> = lines.iter().map(|line| line.trim_start().strip_prefix('>')).collect();
    let mut lines = cited.unwrap_or_else(|| lines.to_vec());
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return lines };
    let (first, last) = (first.trim_start(), last.trim_end());
    let around = QUOTATION_MARKS.iter().find(|(open, close)| first.starts_with(*open) && last.ends_with(*close));
    let Some((open, close)) = around.filter(|_| lines.len() > 1 || first.trim_end().chars().count() > 2) else { return lines };
    let count = lines.len();
    lines[0] = lines[0].trim_start().strip_prefix(*open).unwrap_or(lines[0]);
    lines[count - 1] = lines[count - 1].trim_end().strip_suffix(*close).unwrap_or(lines[count - 1]);
    lines
}

const QUOTATION_MARKS: [(char, char); 5] = [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»')];

impl Reading {
    /// Lines that stand one below the other.
    fn whole(lines: &[BareLine<'_>]) -> Option<Self> {
        let text = fold_code(&lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n"));
        (!text.is_empty()).then(|| Self::of(lines, vec![Piece { text, gap: Gap::Silent }]))
    }

    /// Lines between which others stand, and parts of lines between ellipses. What says nothing at either end is left out: it was only
    /// written to close a bracket.
    fn parted(lines: &[BareLine<'_>]) -> Option<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut gap = Gap::Silent;
        for line in lines {
            let parts = around_ellipses(line.text);
            if parts.is_empty() {
                gap = Gap::Ellipsis;
            }
            for (n, part) in parts.iter().enumerate() {
                if n > 0 {
                    gap = Gap::Ellipsis;
                }
                let text = fold_code(part);
                if !text.is_empty() {
                    pieces.push(Piece { text, gap: std::mem::replace(&mut gap, Gap::Silent) });
                }
            }
        }
        let names = |piece: &Piece| Substance::of(&piece.text).names > 0;
        let first = pieces.iter().position(names)?;
        let last = pieces.iter().rposition(names)?;
        let mut pieces: Vec<Piece> = pieces.drain(first..=last).collect();
        pieces[0].gap = Gap::Silent;
        (pieces.len() <= MAX_PIECES).then(|| Self::of(lines, pieces))
    }

    fn of(lines: &[BareLine<'_>], pieces: Vec<Piece>) -> Self {
        let has = |side| lines.iter().any(|line| line.side == Some(side));
        let signs = match (has(Side::New), has(Side::Old)) {
            (true, true) => Signs::Both,
            (true, false) => Signs::Only(Side::New),
            (false, true) => Signs::Only(Side::Old),
            (false, false) => Signs::None,
        };
        let first = lines.iter().find(|line| !line.text.trim().is_empty());
        let number = first.and_then(|line| Some(Number { line: line.number?, side: line.side }));
        Self { pieces, number, signs }
    }

    /// The quote as one text, if it has no gaps.
    pub fn text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [only] => Some(&only.text),
            _ => None,
        }
    }

    /// Does it stand in a text that is folded by [`fold_code`]?
    fn stands_in(&self, folded: &str) -> bool {
        let mut from = 0;
        self.pieces.iter().all(|piece| match whole_tokens(&folded[from..], &piece.text).next() {
            Some(at) => {
                from += at + piece.text.len();
                true
            }
            None => false,
        })
    }

    /// Does it name enough to be told from other code?
    pub fn is_enough(&self) -> bool {
        self.pieces.iter().any(|piece| Substance::of(&piece.text).is_enough_for_part())
    }
}

/// A quote of a whole text, such as a file or a spec.
pub struct Quote(Vec<Reading>);

impl Quote {
    pub fn new(evidence: &str) -> Self {
        Self(readings(evidence))
    }

    /// Does it stand there in whole tokens, and say enough? A line of its own is enough if it names anything.
    pub fn stands_in(&self, text: &str) -> bool {
        let is_line = |reading: &Reading| {
            let names = |quote: &&str| Substance::of(quote).has_long_name;
            reading.text().filter(names).is_some_and(|quote| text.lines().any(|line| fold_code(line) == quote))
        };
        let folded = fold_code(text);
        self.0.iter().any(|reading| reading.stands_in(&folded) && (reading.is_enough() || is_line(reading)))
    }
}

/// The places where a quote stands in whole tokens.
pub fn whole_tokens<'a>(text: &'a str, quote: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_whole = |at: &usize| !splits_token(text, *at) && !splits_token(text, at + quote.len());
    text.match_indices(quote).map(|(at, _)| at).filter(is_whole)
}

/// White space of any kind and length becomes one blank, the ends are trimmed, and quotation marks are those of a keyboard.
pub fn fold_code(text: &str) -> String {
    let folded = super::anchor::fold(text);
    if folded.is_ascii() {
        return folded;
    }
    let plain = |c| match c {
        '‘' | '’' | '‛' => '\'',
        '“' | '”' | '„' | '‟' => '"',
        _ => c,
    };
    folded.chars().map(plain).collect()
}

/// `&lt;` and its like, as the characters that they stand for.
fn without_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').filter(|end| *end <= LONGEST_ENTITY);
        match end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

const LONGEST_ENTITY: usize = 9;

fn entity(name: &str) -> Option<char> {
    let code = |digits, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => match name.strip_prefix('#')?.strip_prefix(['x', 'X']) {
            Some(hex) => code(hex, 16),
            None => code(&name[1..], 10),
        },
    }
}

/// Escapes of a JSON string that were written twice: `\n`, `\t`, `\"`.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut after = rest[at + 1..].chars();
        match after.next() {
            Some('n') => out.push('\n'),
            Some('r') => {}
            Some('t') => out.push('\t'),
            Some(c @ ('"' | '\'' | '\\' | '/')) => out.push(c),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
        rest = after.as_str();
    }
    out + rest
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_of_prose_and_code_are_looked_up_in_whole_texts() {
        let text = "def f(items):\n    if not items:\n        return None\n    return items[0]\n";
        let stands = |evidence: &str| Quote::new(evidence).stands_in(text);
        for shown in [
            "if not items:",
            "    3 if not items:\n    4     return None",
            "`return items[0]`",
            "def f(items):\n...\nreturn items[0]",
        ] {
            assert!(stands(shown), "{shown}");
        }
        for not in ["return", "return None", "items", "if not item", "return items[0]\n...\ndef f(items):", "", "else:"] {
            assert!(!stands(not), "{not}");
        }
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert!(!readings(&"ä".repeat(MAX_EVIDENCE_BYTES)).is_empty());
        assert!(readings(" \n\t").is_empty());
    }

    proptest! {
        /// Any text can be read, and its first reading is the text itself.
        #[test]
        fn the_first_reading_is_the_text_itself(text in "(?s).{0,80}") {
            let readings = readings(&text);
            prop_assert_eq!(readings.first().and_then(Reading::text).unwrap_or_default(), fold_code(&text));
        }
    }
}
