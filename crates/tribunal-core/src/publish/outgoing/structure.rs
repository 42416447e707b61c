//! Masking must not change how Markdown reads what is left. The filter runs over finished text, in which foreign words stand raw inside
//! of code spans and fences and escaped outside of them, so a mask that took a backtick, a line end or half of an escape would let
//! them out.

use crate::publish::markdown::JOINER;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// What is replaced of a secret: it is cut at line ends and at backticks, which all stay. Beside them stay a backslash that escapes
/// what follows it, and what a line begins and ends with inside a secret of several lines: quote marks, list marks, fences, cells.
pub(super) fn pieces(text: &str, secret: &Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = secret.start;
    for line in text[secret.clone()].split(['\n', '\r']) {
        let mut at = if start == secret.start { start } else { start + line_start(line) };
        let end = start + line.len();
        let last = if end == secret.end { end } else { start + line.trim_end_matches([' ', '\t', '|', '*']).len() };
        while at < last {
            let cut = text[at..last].find('`').map_or(last, |found| at + found);
            pieces.push(at..before_escape(text, at, cut));
            at = cut + 1;
        }
        start = end + 1;
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// How long the marks of blocks are that a line begins with. None of them holds a letter or digit.
fn line_start(line: &str) -> usize {
    let mut rest = line;
    loop {
        let next = rest.trim_start_matches([' ', '\t', '>', '|', '*', '#', '~']);
        let next = next.strip_prefix("- ").or_else(|| next.strip_prefix("+ ")).unwrap_or(next);
        if next.len() == rest.len() {
            return line.len() - rest.len();
        }
        rest = next;
    }
}

/// The end of a piece, before a backslash that takes away the meaning of what follows the piece.
fn before_escape(text: &str, start: usize, end: usize) -> usize {
    let slashes = text[..end].len() - text[..end].trim_end_matches('\\').len();
    let is_escaped = slashes % 2 == 1 && text[end..].starts_with(['`', '[', ']', '*', '|', '~', '_', '<', '&', '!', '#', '\\']);
    if is_escaped { start.max(end - 1) } else { end }
}

static MASK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"…\([0-9]+ masked(?:, [0-9a-f]{2})?\)[@_]").ok());

/// Behind a letter or digit, `@` is part of an address and `_` part of a name; behind the mask of that letter they would call
/// somebody and begin emphasis.
pub(super) fn without_new_signs(text: &str) -> String {
    let Some(mask) = MASK.as_ref().filter(|mask| mask.is_match(text)) else { return text.to_owned() };
    let mut out = String::with_capacity(text.len() + JOINER.len());
    let mut at = 0;
    for found in mask.find_iter(text) {
        let sign = found.end() - 1;
        let is_joined = text[found.end()..].starts_with(JOINER);
        let place = match &text[sign..found.end()] {
            "@" if is_joined => continue,
            "@" => found.end(),
            _ => sign,
        };
        out.push_str(&text[at..place]);
        out.push_str(JOINER);
        at = place;
    }
    out + &text[at..]
}

#[cfg(test)]
mod tests;
