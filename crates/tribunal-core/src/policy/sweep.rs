//! `[sweep]`: how a set of pull requests is worked through. Whether anything is merged stands in `[merge]`.

use super::span::Span;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepConfig {
    /// Pairs of a reviewer and a responder that work at the same time, 4 at most. Default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u32>,
    /// Between two ticks of `--loop`. Default 5m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// How long the answer to a gate is waited for; then what is safe holds. Default 10m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_within: Option<Span>,
    /// How long pending checks are waited for, before a review and after a push. Default 15m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Span>,
    /// Regular expressions: what they match is struck out of questions and answers in reports and in the history of a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
}

impl SweepConfig {
    /// What cannot be meant.
    pub fn problem(&self) -> Option<String> {
        if self.pairs == Some(0) {
            return Some("[sweep] pairs must be at least 1".to_owned());
        }
        let bad = self.redact.iter().find_map(|pattern| Regex::new(pattern).err().map(|error| (pattern, error)));
        bad.map(|(pattern, error)| format!("[sweep] redact: `{pattern}` is no regular expression: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        let of = |text: &str| toml::from_str::<SweepConfig>(text).unwrap().problem();
        assert_eq!(of("pairs = 3\nredact = ['sk-\\w+']\nevery = \"1m\""), None);
        assert!(of("redact = ['(']").unwrap().contains("`(`"));
        assert!(of("pairs = 0").is_some());
    }
}
