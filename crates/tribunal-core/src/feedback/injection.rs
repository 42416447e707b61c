//! Words that want to steer whoever reads them (WL-60, WL-86, CF-11). Looked for before anything else is thought about an item; a
//! hit stops remediation and is shown to a person.
//!
//! Reviewers give orders all day: run the tests, ignore this warning, remove that line. So nothing is suspicious for being an order.
//! Suspicious is what speaks to a machine about its own rules, wants it to hand something out or to act outside of the change, or is
//! hidden. A text that gets past this search is still only data; this is a tripwire, not the wall.

mod fold;
mod patterns;

use super::words::{hidden_words, shown_words};
use crate::prompt::hides;
use crate::publish::markdown::inert;
use crate::publish::visible::visible_line;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use fold::{folded, unhidden};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The categories of WL-86.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Category {
    /// An order to the reader itself, another role, or borrowed authority.
    P1,
    /// Tools, reach beyond the change, or orders for others.
    P2,
    /// Rules that shall not hold.
    P3,
    /// Something hidden.
    P4,
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Category::P1 => "P1",
            Category::P2 => "P2",
            Category::P3 => "P3",
            Category::P4 => "P4",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suspicion {
    pub category: Category,
    /// The place, up to 200 characters, harmless in Markdown and with everything visible.
    pub quote: String,
    pub why: String,
}

/// Characters of a quote.
const QUOTE: usize = 200;
/// What one text may cost us; behind it nobody reads either.
const MOST: usize = 200_000;
/// A run of characters that cannot be seen, this long, is a message.
const HIDDEN_RUN: usize = 8;

/// The first reason to distrust a raw text, hidden parts included.
pub fn scan(text: &str) -> Option<Suspicion> {
    let text: String = text.chars().take(MOST).collect();
    let shown = shown_words(&text);
    plainly(&shown).or_else(|| in_disguise(&text, &shown)).or_else(|| in_comments(&text)).or_else(|| encoded(&text))
}

/// The same for the log of a check. Logs are made of commands, addresses and base64, so only words that speak to a reader about itself
/// or its rules are suspicious there (P1, P3), in letters that look like others too.
pub fn scan_log(text: &str) -> Option<Suspicion> {
    let text: String = text.chars().take(MOST).collect();
    let speaks = |text: &str| {
        let hit = patterns::find_among(&text.to_lowercase(), &[Category::P1, Category::P3])?;
        Some(Suspicion { category: hit.category, quote: quoted(text, hit.at), why: hit.why.to_owned() })
    };
    speaks(&text).or_else(|| speaks(&folded(&unhidden(&text))))
}

fn plainly(text: &str) -> Option<Suspicion> {
    let hit = patterns::find(&text.to_lowercase())?;
    Some(Suspicion { category: hit.category, quote: quoted(text, hit.at), why: hit.why.to_owned() })
}

fn hiding(text: &str, at: usize, why: String) -> Option<Suspicion> {
    Some(Suspicion { category: Category::P4, quote: quoted(text, at), why })
}

/// Characters that no reader sees, and letters that look like others.
fn in_disguise(text: &str, shown: &str) -> Option<Suspicion> {
    if let Some(at) = hidden_message(text) {
        return hiding(text, at, "holds characters that nobody can see".to_owned());
    }
    if let Some(at) = text.find(['\u{202d}', '\u{202e}']) {
        return hiding(text, at, "turns the direction of its text around".to_owned());
    }
    for (bare, how) in [(unhidden(shown), "behind invisible characters"), (folded(&unhidden(shown)), "in look-alike letters")] {
        if let Some(hit) = patterns::find(&bare.to_lowercase()) {
            return hiding(&bare, hit.at, format!("{} {how}", hit.why));
        }
    }
    None
}

/// A long run of invisible characters, or tags that spell ASCII. Flags of regions are spelled with tags, too.
fn hidden_message(text: &str) -> Option<usize> {
    let mut run = 0;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let is_tag = matches!(c, '\u{e0000}'..='\u{e007f}');
        let in_flag =
            is_tag && (previous == '\u{1f3f4}' || (run > 0 && run <= 6 && !matches!(previous, '\u{e0000}'..='\u{e001f}')));
        if is_tag && !in_flag {
            return Some(at);
        }
        run = if hides(c) && c != '\r' { run + 1 } else { 0 };
        if run >= HIDDEN_RUN {
            return Some(at);
        }
        previous = c;
    }
    None
}

/// In an HTML comment even a plain order to a machine is one that people shall not see.
fn in_comments(text: &str) -> Option<Suspicion> {
    hidden_words(text).into_iter().find_map(|hidden| {
        let lower = folded(&unhidden(hidden)).to_lowercase();
        let hit = patterns::find(&lower).or_else(|| patterns::find_hidden(&lower))?;
        hiding(hidden, hit.at, format!("{} in a hidden comment", hit.why))
    })
}

/// Base64 that decodes to one of the above. Other base64 is what bots keep for themselves.
fn encoded(text: &str) -> Option<Suspicion> {
    let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    text.split(|c| !is_code(c)).filter(|run| run.len() >= 24).find_map(|run| {
        let decoded = STANDARD_NO_PAD.decode(run).or_else(|_| URL_SAFE_NO_PAD.decode(run)).ok()?;
        let words = String::from_utf8(decoded).ok()?;
        let hit = patterns::find(&words.to_lowercase()).or_else(|| patterns::find_hidden(&words.to_lowercase()))?;
        hiding(&words, hit.at, format!("{} in base64", hit.why))
    })
}

/// From the line of the hit on. Lower case may have other lengths, so the place is a hint and nothing is cut inside a character.
fn quoted(text: &str, at: usize) -> String {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let start = text[..at].trim_end().rfind('\n').map_or(0, |line| line + 1);
    let start = if text[start..at].chars().count() > QUOTE / 2 { at } else { start };
    let quote: String = text[start..].trim().chars().take(QUOTE).collect();
    inert(&visible_line(&quote))
}

#[cfg(test)]
mod tests;
