//! The race tag (PR-68): how long the window is, what it breaks, whether it heals. Parsed strictly, because loops act on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaceTag {
    pub window: Window,
    pub damage: Damage,
    pub recovers: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Window {
    #[serde(rename = "ms")]
    Milliseconds,
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "min")]
    Minutes,
    #[serde(rename = "hr")]
    Hours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    Marginal,
    Latency,
    Inconsistency,
    Deadlock,
    DataLoss,
}

/// Reads `[window=…, damage=…, recovery=…]` from the end of a mitigation. Any other vocabulary is no tag.
pub fn race_tag(mitigation: &str) -> Option<RaceTag> {
    let text = mitigation.trim_end().strip_suffix(']')?;
    let inner = &text[text.rfind('[')? + 1..];
    let mut parts = inner.split(',').map(str::trim);
    let window = match parts.next()?.strip_prefix("window=")? {
        "ms" => Window::Milliseconds,
        "s" => Window::Seconds,
        "min" => Window::Minutes,
        "hr" => Window::Hours,
        _ => return None,
    };
    let damage = match parts.next()?.strip_prefix("damage=")? {
        "data-loss" => Damage::DataLoss,
        "deadlock" => Damage::Deadlock,
        "inconsistency" => Damage::Inconsistency,
        "latency" => Damage::Latency,
        "marginal" => Damage::Marginal,
        _ => return None,
    };
    let recovers = match parts.next()?.strip_prefix("recovery=")? {
        "has" => true,
        "no" => false,
        _ => return None,
    };
    parts.next().is_none().then_some(RaceTag { window, damage, recovers })
}

/// Words that make a claim a race claim whatever its category is called.
const RACE_WORDS: [&str; 9] = [
    "race condition",
    "data race",
    "toctou",
    "deadlock",
    "double-checked",
    "lost update",
    "lock held",
    "race window",
    "non-atomic",
];

/// Does this text speak of a race? E2 always does; elsewhere the words decide.
pub fn is_race(category: &str, failure_mode: &str, slug: &str) -> bool {
    let failure_mode = failure_mode.to_lowercase();
    category == "E2"
        || RACE_WORDS.iter().any(|word| failure_mode.contains(word))
        || slug.split('-').any(|word| matches!(word, "race" | "toctou" | "deadlock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PR-68: the tag stands at the end, in this vocabulary and no other.
    #[test]
    fn only_the_exact_vocabulary_is_a_tag() {
        let tag = race_tag("Take the lock. [window=ms, damage=data-loss, recovery=no]").unwrap();
        assert_eq!((tag.window, tag.damage, tag.recovers), (Window::Milliseconds, Damage::DataLoss, false));
        assert_eq!(race_tag("[window=ms, damage=data-loss, recovery=no] Take the lock."), None);
        assert_eq!(race_tag("Take it. [window=days, damage=data-loss, recovery=no]"), None);
        assert_eq!(race_tag("Take it. [window=ms, damage=data-loss]"), None);
    }
}
