//! Gate B, the convergence audit (PR-121): fixes of races that bring new races.

use super::{History, Remembered, Signal, Touched};
use crate::findings::race::is_race;
use regex::Regex;
use std::sync::LazyLock;

const FIRST_ROUND: u32 = 3;
const ENOUGH: usize = 2;

/// What a person may choose when gate B holds.
pub const GATE_B_CHOICES: [&str; 4] = ["accept the template", "modify", "ship", "polish"];

/// Whole beginnings of words, so that `release` is no lease and `trace` no race.
static RACE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(race|toctou|concurren|sweep|lifecycle|state-transition|debounce|claim|lease|fence|stale|orphan)|\bwindow=|\batomic.*\brace|\brace.*\batomic",
    )
    .ok()
});

/// The tag, or the words of PR-121 in what the finding is called. `window` or `atomic` alone say nothing.
pub fn is_race_class(finding: &Remembered) -> bool {
    let category = finding.category.as_deref().unwrap_or_default();
    let slug = finding.slug.as_deref().unwrap_or_default();
    let named = |text: &str| RACE_WORDS.as_ref().is_some_and(|words| words.is_match(text));
    finding.race || named(category) || named(slug) || is_race(category, "", slug)
}

/// From the third round on: two new findings or more on lines that our own fixes wrote, two of them about races, none asymmetric.
/// Without a fix that was pushed there are no such lines, and the gate is off (PR-119).
pub fn gate_b(history: &History) -> Signal {
    if history.last().is_none_or(|round| round.number < FIRST_ROUND) {
        return Signal::default();
    }
    let fixes: Vec<&Touched> = history.earlier().iter().flat_map(|round| &round.touched).collect();
    let inside: Vec<&Remembered> = history
        .newest()
        .into_iter()
        .filter(|finding| finding.span().is_some_and(|span| fixes.iter().any(|fix| fix.overlaps(&span))))
        .collect();
    let races: Vec<&&Remembered> = inside.iter().filter(|finding| is_race_class(finding)).collect();
    let asymmetric = inside.iter().any(|finding| finding.nature == Some(super::Nature::Asymmetric));
    if races.len() < ENOUGH || asymmetric {
        return Signal::default();
    }
    Signal::from_evidence(races.iter().map(|finding| format!("{} is a race on lines that a fix wrote", finding.name())).collect())
}
