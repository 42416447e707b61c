//! A finding's identity (design rule 4): path, enclosing symbol, normalised code at the anchor, category.
//!
//! Prose never enters, so a reworded finding is the same finding; neither do line numbers, so a moved one is too.

use crate::ids::{CategoryCode, FindingKey, RepoPath};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A named region of a file, with 1-based inclusive lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    pub name: String,
    pub start_line: u32,
    pub end_line: u32,
}

/// The symbols of one file, outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    symbols: Vec<Symbol>,
    /// For each symbol the one that it lies in.
    parents: Vec<Option<usize>>,
}

impl Outline {
    pub fn new(mut symbols: Vec<Symbol>) -> Self {
        symbols.sort_by_key(|symbol| (symbol.start_line, std::cmp::Reverse(symbol.end_line)));
        let mut around: Vec<usize> = Vec::new();
        let mut parents = Vec::with_capacity(symbols.len());
        for (index, symbol) in symbols.iter().enumerate() {
            while around.last().is_some_and(|outer| symbols[*outer].end_line < symbol.start_line) {
                around.pop();
            }
            parents.push(around.last().copied());
            around.push(index);
        }
        Self { symbols, parents }
    }

    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    pub fn begins_at(&self, line: u32) -> bool {
        self.symbols.binary_search_by_key(&line, |symbol| symbol.start_line).is_ok()
    }

    /// The smallest symbol around a line, found without a walk over all of them: a file may hold half a million, and each of its
    /// lines may ask.
    pub fn innermost(&self, line: u32) -> Option<&Symbol> {
        let begun = self.symbols.partition_point(|symbol| symbol.start_line <= line);
        let mut index = begun.checked_sub(1)?;
        while self.symbols[index].end_line < line {
            index = self.parents[index]?;
        }
        Some(&self.symbols[index])
    }

    /// `Class.method` for a line, or nothing outside every symbol.
    pub fn enclosing(&self, line: u32) -> String {
        let names: Vec<&str> = self
            .symbols
            .iter()
            .take_while(|symbol| symbol.start_line <= line)
            .filter(|symbol| symbol.end_line >= line)
            .map(|symbol| symbol.name.as_str())
            .collect();
        names.join(".")
    }
}

/// What a formatter may change without changing the code: white space, quotes' style, commas before a closing bracket,
/// semicolons at the end, brackets around nothing.
pub fn normalise_code(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for c in code.chars() {
        match c {
            c if c.is_whitespace() => {}
            ')' | ']' | '}' => {
                while out.ends_with([',', ';']) {
                    out.pop();
                }
                out.push(c);
            }
            '\'' | '`' => out.push('"'),
            _ => out.push(c),
        }
    }
    while out.ends_with([',', ';']) {
        out.pop();
    }
    out
}

/// `occurrence` tells apart equal code in one symbol: 0 for the first from the top.
pub fn finding_key(path: &RepoPath, symbol: &str, code: &str, category: &CategoryCode, occurrence: u32) -> FindingKey {
    let mut hash = Sha256::new();
    for part in [path.as_str(), symbol, &normalise_code(code), category.as_str()] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(occurrence.to_le_bytes());
    FindingKey(hex(&hash.finalize()[..12]))
}

/// Keys of findings that a receipt of another job brought along. They are kept apart from ours: whoever wrote the receipt chose the words
/// and the weight, and neither may ever stand for a finding that was made here.
const BROUGHT: &str = "receipt-";

/// The key of such a finding, from where it stands in the change as it was read here.
pub fn brought_key(path: &RepoPath, code: &str, category: &CategoryCode, occurrence: u32) -> FindingKey {
    FindingKey(format!("{BROUGHT}{}", finding_key(path, "", code, category, occurrence)))
}

impl FindingKey {
    pub fn is_brought(&self) -> bool {
        self.as_str().starts_with(BROUGHT)
    }
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_formatter_does_not_change_the_key() {
        let flat = "call(first, 'second', third);";
        let tall = "call(\n    first,\n    \"second\",\n    third,\n)";
        assert_eq!(normalise_code(flat), normalise_code(tall));
    }

    #[test]
    fn other_code_changes_the_key() {
        let key = |code: &str| finding_key(&"a.py".into(), "f", code, &"S1".into(), 0);
        assert_ne!(key("eval(a)"), key("eval(b)"));
    }

    proptest! {
        /// Design rule 4: moved, re-indented and re-wrapped code keeps its key.
        #[test]
        fn white_space_never_changes_the_key(words in prop::collection::vec("[a-z0-9_.()=+]{1,8}", 1..12), gaps in prop::collection::vec("[ \t\n]{1,4}", 12)) {
            let spaced: String = words.iter().zip(gaps.iter()).flat_map(|(word, gap)| [word.as_str(), gap.as_str()]).collect();
            let joined = words.join(" ");
            let key = |code: &str| finding_key(&"src/a.rs".into(), "f", code, &"E5".into(), 0);
            prop_assert_eq!(key(&spaced), key(&joined));
        }
    }
}
