//! The log of a check that failed: which part of it is shown to whoever fixes it, and how.
//!
//! A log is written for a terminal, is long, and holds whatever the change under review printed. So the control codes go, and what
//! looks like a key; of the rest the end is kept and the places that speak of errors. It is untrusted like everything else, but it
//! is full of commands by nature: a line that would stop the loop in a comment only costs the log its place here.

pub(crate) mod clean;
mod places;

use super::injection::scan_log;
use crate::findings::admit::one_line;
pub use places::places;
use std::collections::BTreeSet;

/// Bytes of its end that are read at all.
pub const READ: usize = 64 * 1024;
/// Lines that are shown.
const LINES: usize = 120;
/// Of these so many belong to the end, whatever stands there.
const END: usize = 60;
/// Lines above and below one that speaks of an error.
const AROUND: usize = 3;
/// Characters in all; a model is shown no more of an item (`prompt::remedy`).
const CHARACTERS: usize = 8_000;
/// Characters of one line.
const WIDTH: usize = 400;

/// What came of asking for a log: its end, or nothing where there is none, or why it cannot be had.
pub type Asked = Result<Option<String>, String>;

/// What a failed check says, together with its log. A log that cannot be had is said, and costs nothing else.
pub fn told(words: &str, asked: &Asked) -> String {
    let text = match asked {
        Ok(Some(text)) => excerpt(text),
        Ok(None) => return format!("{words}\n\nThere is no log of it that could be read."),
        Err(why) => return format!("{words}\n\nIts log cannot be read: {}.", one_line(why).trim_end_matches('.')),
    };
    if text.is_empty() {
        return format!("{words}\n\nIts log is empty.");
    }
    if let Some(suspicion) = scan_log(&text) {
        return format!("{words}\n\nIts log is left out ({}): it {}.", suspicion.category, suspicion.why);
    }
    let fence = fence(&text);
    format!("{words}\n\nFrom the end of its log:\n\n{fence}text\n{text}\n{fence}")
}

/// Longer than any that stands in the text.
fn fence(text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest + 1)
}

/// The useful part of a log: its end, and what stands around errors, in the order of the log.
pub fn excerpt(raw: &str) -> String {
    let lines = clean::lines(raw);
    let mut kept = BTreeSet::new();
    let mut left = CHARACTERS;
    for at in by_worth(&lines) {
        let cost = lines[at].chars().take(WIDTH).count() + 1;
        if kept.len() >= LINES || cost > left {
            break;
        }
        if kept.insert(at) {
            left -= cost;
        }
    }
    shown(&lines, &kept)
}

/// The lines by how much they tell: the last ones, then errors from the first on, since one often brings about the next, then whatever
/// stands before the end.
fn by_worth(lines: &[String]) -> Vec<usize> {
    let count = lines.len();
    let around = |at: usize| at.saturating_sub(AROUND)..(at + AROUND + 1).min(count);
    let end = (count.saturating_sub(END)..count).rev();
    let errors = (0..count).filter(|at| speaks_of_error(&lines[*at])).flat_map(around);
    end.chain(errors).chain((0..count).rev()).collect()
}

/// Words by which tools say that something went wrong.
const ERRORS: [&str; 12] = [
    "error",
    "fail",
    "panicked",
    "assert",
    "exception",
    "traceback",
    "fatal",
    "expected",
    "undefined",
    "not found",
    "denied",
    "not ok",
];

fn speaks_of_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    // `0 errors` and `0 failed` are good news.
    ERRORS.iter().any(|word| lower.contains(word)) && !lower.contains("0 error") && !lower.contains("0 fail")
}

/// A gap is shown as one.
fn shown(lines: &[String], kept: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    let mut next = 0;
    for at in kept {
        if *at > next {
            text.push_str("…\n");
        }
        let line = &lines[*at];
        text.extend(line.chars().take(WIDTH));
        text.push_str(if line.chars().count() > WIDTH { "…\n" } else { "\n" });
        next = at + 1;
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
