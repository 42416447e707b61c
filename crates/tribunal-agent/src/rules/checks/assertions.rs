//! Pairs an assertion that named its value with the one that replaced it, to see whether it still does.
//!
//! Only a pair about the same expression counts, in one block of removed and added lines, and only if no other assertion of
//! the block took the value over.

use super::pattern::Pattern;
use std::collections::BTreeSet;
use tribunal_core::diff::change::{DiffLine, Hunk, Origin};

/// An equality: everything between its parentheses.
static EQUALITY: Pattern = Pattern::new(
    r"(?:\bassertEquals?|\bassert_eq!|\bassert_equal|\bassertSame|\bassertStrictEquals?|\b[Aa]ssert\.(?:[Ee]quals?|AreEqual|strictEqual|deepEqual|deepStrictEqual|Same)|\brequire\.Equal)\s*\((.*)\)\s*;?\s*$",
);
static EXPECT_EQUALITY: Pattern = Pattern::new(r"\bexpect\((.*)\)\.(?:toBe|toEqual|toStrictEqual)\((.+)\)\s*;?\s*$");
static BARE_EQUALITY: Pattern = Pattern::new(r"^\s*assert\s+([^=!<>,]+?)\s*==\s*(.+)$");

/// Only that there is something: everything between its parentheses.
static PRESENCE: Pattern = Pattern::new(
    r"(?:\bassertTrue|\bassertIsNotNone|\bassertNotNull|\bassert_not_nil|\b[Aa]ssert\.(?:ok|NotNil|NotNull|IsNotNull|NotEmpty|isOk|exists)|\brequire\.(?:NotNil|NotEmpty))\s*\((.*)\)\s*;?\s*$",
);
static RUST_PRESENCE: Pattern = Pattern::new(r"\bassert!\((.*)\.is_(?:ok|some)\(\)\s*\)\s*;?\s*$");
static EXPECT_PRESENCE: Pattern = Pattern::new(
    r"\bexpect\((.*)\)\.(?:toBeDefined\(\)|toBeTruthy\(\)|not\.toBeNull\(\)|not\.toBeUndefined\(\)|toEqual\(expect\.anything\(\)\))\s*;?\s*$",
);
static BARE_PRESENCE: Pattern = Pattern::new(r"^\s*assert\s+([\w.()\[\]'\x22]+?)(?:\s+is\s+not\s+None)?\s*$");

/// The added lines that ask less than the removed line they replace.
pub fn weakened(hunk: &Hunk) -> Vec<&DiffLine> {
    let mut found = Vec::new();
    for block in hunk.lines.chunk_by(|a, b| (a.origin == Origin::Context) == (b.origin == Origin::Context)) {
        let of = |origin: Origin| block.iter().filter(move |line| line.origin == origin);
        let before: Vec<Vec<String>> = of(Origin::Removed).filter_map(|line| equality(&line.text)).collect();
        if before.is_empty() || before.len() <= of(Origin::Added).filter(|line| EQUAL_ANYWHERE.is_match(&line.text)).count() {
            continue;
        }
        let before = asked_values(&before);
        let added: Vec<&DiffLine> = of(Origin::Added).collect();
        found.extend(added.iter().enumerate().filter_map(|(index, line)| {
            // Where the expression must raise, its value is not what is asked for.
            let raises = index.checked_sub(1).is_some_and(|above| RAISES.is_match(&added[above].text));
            (!raises && presence(&line.text).is_some_and(|subject| before.contains(subject.as_str()))).then_some(*line)
        }));
    }
    found
}

static RAISES: Pattern = Pattern::new(r"^\s*(?:async\s+)?with\b.*(?i:raises|warns)");

/// An equality that spans lines still takes a value over.
static EQUAL_ANYWHERE: Pattern =
    Pattern::new(r"[Ee]qual|assert_eq!|assertSame|\.toBe\(|toContain|toMatch|==|assertIn\b|\.Same\(");

/// The expressions for whose value an equality asked, where that was more than yes, no or nothing.
fn asked_values(before: &[Vec<String>]) -> BTreeSet<&str> {
    let is_telling =
        |side: &String| !matches!(side.as_str(), "true" | "false" | "True" | "False" | "null" | "nil" | "None" | "undefined");
    let telling = before.iter().filter(|sides| sides.iter().all(is_telling));
    telling.flatten().map(|side| value_of(side)).collect()
}

/// The expression whose presence `is_ok` would test.
fn value_of(side: &str) -> &str {
    let side = side.trim_start_matches('&');
    [".unwrap()", "?"].iter().find_map(|tail| side.strip_suffix(tail)).unwrap_or(side)
}

fn equality(line: &str) -> Option<Vec<String>> {
    for pattern in [&EXPECT_EQUALITY, &BARE_EQUALITY] {
        if let Some(sides) = pattern.captures(line) {
            return Some(sides.iter().skip(1).flatten().map(|side| squeeze(side.as_str())).collect());
        }
    }
    let sides = arguments(EQUALITY.group(line)?);
    (sides.len() >= 2).then_some(sides)
}

fn presence(line: &str) -> Option<String> {
    for pattern in [&EXPECT_PRESENCE, &RUST_PRESENCE, &BARE_PRESENCE] {
        if let Some(subject) = pattern.group(line) {
            return Some(squeeze(subject));
        }
    }
    // Go passes its test first; a message may come last.
    arguments(PRESENCE.group(line)?).into_iter().find(|argument| argument != "t" && !argument.starts_with(['"', '\'']))
}

/// Splits at the commas that stand outside parentheses and quotes.
fn arguments(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0i32;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            (None, _) => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| squeeze(part)).filter(|part| !part.is_empty()).collect()
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
