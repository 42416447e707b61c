//! A log without what only a terminal or a runner needs, and without keys.

use crate::prompt::hides;
use crate::publish::outgoing::masked;
use regex::Regex;
use std::sync::LazyLock;

/// Runners write the time before each line; GitLab also writes which stream it came from.
static STAMP: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\u{feff}?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z (?:[0-9a-f]{2}[OE][ +])?").ok());
/// `password=…`, `Authorization: Bearer …` and the like: what is written out after the name is nobody's business here.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b((?:[\w-]*(?:passwd|password|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)|authorization)['"]?\s*[:=]\s*['"]?(?:bearer |basic |token )?)([^\s'"*$<{][^\s'"*]{7,})"#,
    )
    .ok()
});
static IN_ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(://[^/\s:@]+:)([^/\s@]{3,})@").ok());

/// Its lines without blank ones at both ends.
pub fn lines(raw: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut in_key = false;
    for line in raw.split('\n') {
        let line = without_stamp(&plain(line)).trim_end().to_owned();
        if in_key || line.contains("PRIVATE KEY-----") {
            let is_first = !in_key;
            in_key = !(line.contains("-----END"));
            if is_first {
                lines.push("[key removed]".to_owned());
            }
            continue;
        }
        lines.push(without_secrets(&line));
    }
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(first, |at| at + 1);
    lines.drain(first..last).collect()
}

/// What a terminal would show of the line in the end: a return begins it anew.
fn plain(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or_default();
    let mut out = String::with_capacity(line.len());
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\t' => out.push_str("    "),
            // The introducer of sequences in eight bits, and every other control code.
            c if c.is_control() || hides(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// `ESC [ … letter`, `ESC ] … BEL`, or `ESC` and one character.
fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next() {
        Some('[') => {
            for c in rest.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(c) = rest.next() {
                if c == '\u{7}' || (c == '\u{1b}' && rest.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

fn without_stamp(line: &str) -> &str {
    let stamp = STAMP.as_ref().and_then(|pattern| pattern.find(line)).map_or(0, |found| found.end());
    &line[stamp..]
}

fn without_secrets(line: &str) -> String {
    let mut line = masked(line);
    for (pattern, put) in [(&NAMED, "${1}[key removed]"), (&IN_ADDRESS, "${1}[key removed]@")] {
        if let Some(pattern) = pattern.as_ref() {
            line = pattern.replace_all(&line, put).into_owned();
        }
    }
    line
}
