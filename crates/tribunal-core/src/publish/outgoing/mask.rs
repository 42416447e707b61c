//! Keys in text, found by their shape. A key is shown by its first characters, its length and a short check value, so that a person
//! recognises it and nobody can use it: a comment that quotes a key outlives the push that takes the key out of the branch.
//!
//! Masking is a pure function of the text, and masking twice changes nothing. Findings are compared by their masked code, so the
//! same key gives the same finding on every machine.

mod pattern_set;

use super::structure::pieces;
use pattern_set::PatternSet;
use regex::Regex;
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use std::sync::LazyLock;

/// Keys with a prefix of their own. What follows `secret` in a pattern is only context.
static SHAPES: LazyLock<PatternSet> = LazyLock::new(|| {
    PatternSet::new([
        r"(?P<secret>gh[pousr]_[A-Za-z0-9_]{20,})",
        r"(?P<secret>github_pat_[A-Za-z0-9_]{20,})",
        r"(?P<secret>gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{16,})",
        r"(?P<secret>sk-(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{16,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>sk-[A-Za-z0-9_-]{32,})",
        r"(?P<secret>(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})",
        r"(?P<secret>xox[abceoprs](?:\.[a-z]+)?-[A-Za-z0-9-]{12,})",
        r"(?P<secret>xapp-[A-Za-z0-9-]{16,})",
        r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{24,})",
        r"(?P<secret>AIza[A-Za-z0-9_-]{30,})",
        r"(?P<secret>GOCSPX-[A-Za-z0-9_-]{20,})",
        r"(?P<secret>ya29\.[A-Za-z0-9_.-]{20,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>eyJ[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{12,}(?:\.[A-Za-z0-9_-]*)?)",
        r"(?:^|[^A-Za-z0-9])(?P<secret>eyJ[A-Za-z0-9_.-]{60,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>hf_[A-Za-z0-9]{30,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>gsk_[A-Za-z0-9]{40,})",
        r"(?P<secret>(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,})",
        r"(?P<secret>whsec_[A-Za-z0-9+/=]{20,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>npm_[A-Za-z0-9]{30,})",
        r"//[^\s=]+:_(?:authToken|password)\s*=\s*\x22?(?P<secret>[A-Za-z0-9_+/=-]{20,})",
        r"(?P<secret>pypi-AgE[A-Za-z0-9_-]{40,})",
        r"(?P<secret>dckr_pat_[A-Za-z0-9_-]{20,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
        r"(?P<secret>do[por]_v1_[a-f0-9]{40,})",
        r"(?P<secret>shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>hv[sbr]\.[A-Za-z0-9_-]{24,})",
        r"(?:^|[^A-Za-z0-9])(?P<secret>dapi[a-f0-9]{32,})",
        r"(?i:AccountKey|SharedAccessKey|sig)=(?P<secret>[A-Za-z0-9+/%]{40,}={0,2})",
        r"(?:^|[^0-9])[0-9]{8,10}:(?P<secret>AA[A-Za-z0-9_-]{32,})",
        r"(?P<secret>AGE-SECRET-KEY-1[A-Z0-9]{30,})",
        r"(?P<secret>b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/=]{16,})",
    ])
});

/// Credentials that a header or an address announces.
static ANNOUNCED: LazyLock<PatternSet> = LazyLock::new(|| {
    PatternSet::new([
        r"(?i:authorization)\x22?'?\s*[:=]\s*\x22?'?(?i:bearer|basic|token)\s+(?P<secret>[A-Za-z0-9+/=_.~-]{12,})",
        r"(?i:bearer)\s+(?P<secret>[A-Za-z0-9+/=_~-]{8,}[0-9][A-Za-z0-9+/=_.~-]{8,})",
        r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@'\x22{}$<>]*:(?P<secret>[^/\s:@'\x22{}$<>…]{6,})@",
    ])
});

/// A value that is given to something with the name of a credential: quoted, or bare to the end of its line. The borders of `pass` are
/// those of ASCII: with one of all letters of the world, a text with one other character is searched a hundred times as slowly.
static ASSIGNED: LazyLock<PatternSet> = LazyLock::new(|| {
    const NAME: &str = r"(?i:passwd|password|passphrase|(?:(?-u:\b)|_)(?:pass|pwd|pat|jwt)(?-u:\b)|secret|token|api_?key|apikey|access_?key|private_?key|signing_?key|encryption_?key|account_?key|auth_?key|credential)[A-Za-z0-9_]*";
    PatternSet::new([
        format!(
            r#"{NAME}["'`]?\]?\)?\s*(?::\s*[A-Za-z&<>\[\]]+\s*)?(?:=>|:=|==|=|:|,)\s*[brfuR@]{{0,2}}"(?P<secret>[^"\s]{{8,}})""#
        ),
        format!(
            r"{NAME}[\x22'`]?\]?\)?\s*(?::\s*[A-Za-z&<>\[\]]+\s*)?(?:=>|:=|==|=|:|,)\s*[brfuR@]{{0,2}}'(?P<secret>[^'\s]{{8,}})'"
        ),
        format!(r"{NAME}[\x22'`]?\]?\)?\s*(?::\s*[A-Za-z&<>\[\]]+\s*)?(?:=>|:=|==|=|:|,)\s*`(?P<secret>[^`\s]{{8,}})`"),
        format!(r"(?m){NAME}[\x22']?\s*[=:]\s*(?P<secret>[A-Za-z0-9+/_=.~!@#%^&*-]{{12,}})\s*$"),
    ])
});

static PRIVATE_KEY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|(?m)^Private-Lines: *\d+").ok());
/// A line of nothing but base64, as a private key is written: its first line may stand elsewhere.
static BARE_ARMOUR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t+>|\x22'-]*(?P<secret>[A-Za-z0-9+/]{60,76}={0,2})(?:\\n)?[\x22',;+\\ \t\r]*$").ok());
static ARMOUR: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/=_-]{16,}").ok());
/// Words of somebody who writes no real value.
const PLACEHOLDERS: [&str; 16] = [
    "example",
    "changeme",
    "change-me",
    "change_me",
    "your",
    "xxxx",
    "****",
    "placeholder",
    "dummy",
    "redacted",
    "${",
    "{{",
    "$(",
    "%s",
    "<",
    "…",
];

/// How much it takes for a value to count as a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspicion {
    /// A value without a key's shape must look random.
    Usual,
    /// The text is quoted because there is a credential in it: every value with a credential's name is one.
    AboutSecrets,
}

/// The text with every key in it masked. Lines stay lines.
pub fn mask(text: &str) -> String {
    mask_as(text, Suspicion::Usual)
}

pub fn mask_as(text: &str, suspicion: Suspicion) -> String {
    let spans = secret_spans(text, suspicion);
    if spans.is_empty() { text.to_owned() } else { replace(text, &spans) }
}

/// Does the text hold something that looks like a key?
pub fn has_secret(text: &str) -> bool {
    !secret_spans(text, Suspicion::Usual).is_empty()
}

/// Does the text hold a key with a shape of its own, whatever it is called?
pub fn has_key_shape(text: &str) -> bool {
    SHAPES.is_match(text)
}

/// Where keys stand: in order, without overlaps, none over the end of a line.
pub fn secret_spans(text: &str, suspicion: Suspicion) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for region in regions(text) {
        let part = &text[region.clone()];
        let found = SHAPES.matching(part).chain(ANNOUNCED.matching(part)).flat_map(|(_, shape)| shape.captures_iter(part));
        let found = found.filter_map(|found| found.name("secret").map(|value| value.range())).chain(assigned(part, suspicion));
        spans.extend(found.chain(bare_armour(part)).map(|span| region.start + span.start..region.start + span.end));
    }
    spans.extend(private_keys(text));
    joined(spans)
}

/// Lines that may hold a key, each with the one above it: most text is prose, and the patterns are many.
fn regions(text: &str) -> Vec<Range<usize>> {
    let mut regions = Vec::new();
    let (mut at, mut above) = (0, 0);
    for line in text.split_inclusive('\n') {
        if may_hold_key(line) {
            regions.push(above..at + line.len());
        }
        above = at;
        at += line.len();
    }
    joined(regions)
}

/// A long run of what keys are made of, an address, or a part of a credential's name; every such name has one of these in it.
static CANDIDATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[A-Za-z0-9+/=_.%-]{12}|://|(?i-u:pass|pwd|secret|token|key|credential|(?:\b|_)(?:pat|jwt)\b)").ok()
});

fn may_hold_key(line: &str) -> bool {
    CANDIDATE.as_ref().is_none_or(|candidate| candidate.is_match(line))
}

fn assigned(text: &str, suspicion: Suspicion) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for (n, form) in ASSIGNED.matching(text) {
        let is_bare = n + 1 == ASSIGNED.len();
        for value in form.captures_iter(text).filter_map(|found| found.name("secret")) {
            let counts = match suspicion {
                Suspicion::AboutSecrets if !is_bare => !is_placeholder(value.as_str()),
                Suspicion::AboutSecrets | Suspicion::Usual => looks_random(value.as_str(), is_bare),
            };
            if counts {
                spans.push(value.range());
            }
        }
    }
    spans
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| lower.contains(word)) || value.contains("://") || value.starts_with(['/', '.', '~', '$', '@'])
}

/// A value that somebody made up for a program and not for a reader: digits among letters, many different characters.
fn looks_random(value: &str, is_bare: bool) -> bool {
    if is_placeholder(value) {
        return false;
    }
    let has = |fits: fn(&char) -> bool| value.chars().any(|c| fits(&c));
    let has_digit = has(char::is_ascii_digit);
    let has_sign = value.chars().any(|c| "!@#%^&*+=".contains(c));
    let is_mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    if is_bare {
        // Bare code looks like this too: calls, fields, constants.
        return has_digit && entropy(value) >= 3.3 && (is_mixed || value.len() >= 32) && !value.contains(['.', '(', '[']);
    }
    // `user_v2.token_name` is a name: words of letters between its signs.
    let words: Vec<&str> = value.split(['-', '_', '.', ':', '/']).collect();
    let is_name = words.len() > 1
        && words.iter().all(|word| word.chars().skip_while(char::is_ascii_alphabetic).all(|c| c.is_ascii_digit()));
    (has_digit || has_sign || is_mixed && value.len() >= 16) && entropy(value) >= KEY_ENTROPY && !is_name
}

/// Bits for each letter, where the name says that it is a key. What has fewer repeats a few letters.
pub(super) const KEY_ENTROPY: f64 = 2.8;

/// Bits per character.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    value.bytes().for_each(|byte| *counts.entry(byte).or_insert(0u32) += 1);
    let length = value.len() as f64;
    counts.values().map(|count| f64::from(*count) / length).map(|share| -share * share.log2()).sum()
}

/// The lines of a private key below its first line, however they are set in: in a diff, in a string, in a comment.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    let (Some(opening), Some(armour)) = (PRIVATE_KEY.as_ref(), ARMOUR.as_ref()) else { return Vec::new() };
    let mut spans = Vec::new();
    let (mut at, mut is_inside) = (0, false);
    for line in text.split_inclusive('\n') {
        // Each part of a line is read once, however many keys begin in it: whoever wrote the text must not choose how long this takes.
        let mut from = 0;
        loop {
            if !is_inside {
                let Some(begin) = opening.find_at(line, from) else { break };
                (from, is_inside) = (begin.end(), true);
            } else if !is_armour(line.split("-----END").next().unwrap_or(line)) {
                is_inside = false;
                continue;
            }
            let body = line[from..].split("-----END").next().unwrap_or_default();
            spans.extend(armour.find_iter(body).map(|run| at + from + run.start()..at + from + run.end()));
            from += body.len();
            if from == line.len() {
                break;
            }
            is_inside = false;
        }
        at += line.len();
    }
    spans
}

fn bare_armour(text: &str) -> Vec<Range<usize>> {
    let Some(pattern) = BARE_ARMOUR.as_ref() else { return Vec::new() };
    let is_key = |line: &str| {
        let has = |fits: fn(&u8) -> bool| line.as_bytes().iter().any(fits);
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit) && entropy(line) >= 4.0
    };
    let found = pattern.captures_iter(text).filter_map(|found| found.name("secret"));
    found.filter(|line| is_key(line.as_str())).map(|line| line.range()).collect()
}

/// A line of a private key, an empty one, or one of the headers above it.
fn is_armour(line: &str) -> bool {
    let line = line.replace("\\n", "").replace("\\r", "");
    let line = line.trim_matches(|c: char| c.is_whitespace() || "+-\"'`,;>|#*\\.()".contains(c));
    let is_header = ["Proc-Type:", "DEK-Info:", "Comment:", "Version:", "Private-MAC:"].iter().any(|name| line.starts_with(name));
    is_header || line.chars().all(|c| c.is_ascii_alphanumeric() || "+/=_-".contains(c))
}

/// In order, and joined where they touch each other.
pub(super) fn joined(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.retain(|span| !span.is_empty());
    spans.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// The text with a token in place of each span, or of each of its pieces. Only the first piece shows how the value begins.
pub(super) fn replace(text: &str, spans: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        for piece in pieces(text, span) {
            out.push_str(&text[at..piece.start]);
            out.push_str(&token(&text[piece.clone()], piece.start == span.start));
            at = piece.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// `AKIA…(20 masked, 3f)`: at most a quarter of the value, and never more than four characters. The check value tells two keys of
/// one vendor apart; one byte of a hash opens nothing.
fn token(value: &str, shows_start: bool) -> String {
    let length = value.chars().count();
    let shown = if shows_start { 4.min(length / 4) } else { 0 };
    let start: String = value.chars().take(shown).take_while(|c| c.is_ascii_alphanumeric() || "_-+/=.".contains(*c)).collect();
    match length {
        16.. => format!("{start}…({length} masked, {:02x})", Sha256::digest(value.as_bytes())[0]),
        _ => format!("{start}…({length} masked)"),
    }
}

#[cfg(test)]
mod tests;
