//! `[sweep]`: how a set of pull requests is gone through.

use super::span::Span;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepConfig {
    /// Reviewer-responder pairs that work at the same time. Default 2, at most 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u32>,
    /// How long the answer to a question is waited for; then what is safe holds. Default 10m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_within: Option<Span>,
    /// How long running checks are waited for. Default 15m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<Span>,
    /// Between two iterations of `--loop`. Default 5m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// Regular expressions; what they match in questions and answers is struck out of the history of a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
}

impl SweepConfig {
    /// A pattern that nobody can read would strike out everything.
    pub fn check(&self) -> Result<(), String> {
        match self.redact.iter().find_map(|pattern| Regex::new(pattern).err().map(|_| pattern)) {
            Some(pattern) => Err(format!("[sweep] redact: `{pattern}` is no regular expression")),
            None if self.pairs == Some(0) => Err("[sweep] pairs must be at least 1".to_owned()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_refused() {
        let of = |text: &str| toml::from_str::<SweepConfig>(text).unwrap().check();
        assert_eq!(of("pairs = 3\nredact = ['sk-\\w+']\nevery = \"1m\""), Ok(()));
        assert!(of("redact = ['(']").unwrap_err().contains("`(`"));
        assert!(of("pairs = 0").is_err());
    }
}
