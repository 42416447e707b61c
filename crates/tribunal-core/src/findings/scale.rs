//! The scales of the finding contract (PR-54, PR-55, PR-57, PR-61, PR-75), as closed sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a reviewer may say about weight. Only [`crate::combine`] turns it into a [`Priority`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    #[serde(alias = "❓")]
    Question,
    #[serde(alias = "💡")]
    Suggestion,
    #[serde(alias = "⚠️", alias = "⚠")]
    Factual,
    #[serde(alias = "🚨")]
    Blocker,
}

impl Severity {
    pub fn emoji(self) -> &'static str {
        match self {
            Severity::Blocker => "🚨",
            Severity::Factual => "⚠️",
            Severity::Suggestion => "💡",
            Severity::Question => "❓",
        }
    }
}

/// The merged weight of a finding. `Q` is a question and stands apart from the tiers (PR-76).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Priority {
    P0,
    P1,
    P2,
    P3,
    Q,
}

impl Priority {
    pub const ALL: [Priority; 5] = [Priority::P0, Priority::P1, Priority::P2, Priority::P3, Priority::Q];

    pub fn code(self) -> &'static str {
        match self {
            Priority::P0 => "P0",
            Priority::P1 => "P1",
            Priority::P2 => "P2",
            Priority::P3 => "P3",
            Priority::Q => "Q",
        }
    }

    pub fn emoji(self) -> &'static str {
        match self {
            Priority::P0 => "🚨",
            Priority::P1 => "⚠️",
            Priority::P2 => "💡",
            Priority::P3 => "🔧",
            Priority::Q => "❓",
        }
    }

    /// What the tier asks of the author.
    pub fn meaning(self) -> &'static str {
        match self {
            Priority::P0 => "must be fixed in this change",
            Priority::P1 => "should be fixed",
            Priority::P2 => "worth considering",
            Priority::P3 => "minor; listed, never posted inline",
            Priority::Q => "a question, not a defect claim",
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl std::str::FromStr for Priority {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Priority::ALL
            .into_iter()
            .find(|priority| priority.code().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("`{text}` is not a priority; use P0, P1, P2, P3 or Q"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

impl Confidence {
    /// One level down, for what could not be verified (PR-54).
    pub fn lowered(self) -> Self {
        match self {
            Confidence::High => Confidence::Medium,
            Confidence::Medium | Confidence::Low => Confidence::Low,
        }
    }

    /// One level up, for what others confirm.
    pub fn raised(self) -> Self {
        match self {
            Confidence::Low => Confidence::Medium,
            Confidence::Medium | Confidence::High => Confidence::High,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// How far the damage reaches. The finding contract writes `Cross-service` and `Data layer`, the merge rule of the original
/// compared `cross-service` and `data-layer` and never fired (PR-78); one type with lenient reading ends that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blast {
    #[serde(alias = "Local")]
    Local,
    #[serde(alias = "Local (unverified)", alias = "local (unverified)")]
    LocalUnverified,
    #[serde(alias = "Module")]
    Module,
    #[serde(alias = "Cross-service", alias = "cross service")]
    CrossService,
    #[serde(alias = "Data layer", alias = "data layer")]
    DataLayer,
}

impl Blast {
    pub fn word(self) -> &'static str {
        match self {
            Blast::Local => "Local",
            Blast::LocalUnverified => "Local (unverified)",
            Blast::Module => "Module",
            Blast::CrossService => "Cross-service",
            Blast::DataLayer => "Data layer",
        }
    }

    pub fn is_wide(self) -> bool {
        match self {
            Blast::CrossService | Blast::DataLayer => true,
            Blast::Local | Blast::LocalUnverified | Blast::Module => false,
        }
    }
}

/// Why a finding deserves to be said at all (PR-61). `Hygiene` is what has no such reason; it is only ever batched (PR-65).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Justification {
    #[serde(alias = "Hygiene")]
    Hygiene,
    #[serde(alias = "Historical")]
    Historical,
    #[serde(alias = "Precedent")]
    Precedent,
    #[serde(alias = "Reachable")]
    Reachable,
    #[serde(alias = "Asymmetric")]
    Asymmetric,
}

impl Justification {
    pub fn word(self) -> &'static str {
        match self {
            Justification::Hygiene => "Hygiene",
            Justification::Historical => "Historical",
            Justification::Precedent => "Precedent",
            Justification::Reachable => "Reachable",
            Justification::Asymmetric => "Asymmetric",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PR-78: the two spellings are one value.
    #[test]
    fn blast_reads_both_spellings() {
        for text in ["\"Data layer\"", "\"data-layer\"", "\"data layer\""] {
            assert_eq!(serde_json::from_str::<Blast>(text).unwrap(), Blast::DataLayer);
        }
    }

    #[test]
    fn severity_reads_emoji_and_words() {
        assert_eq!(serde_json::from_str::<Severity>("\"🚨\"").unwrap(), Severity::Blocker);
        assert_eq!(serde_json::from_str::<Severity>("\"blocker\"").unwrap(), Severity::Blocker);
    }

    /// PR-76: P0 outranks P1 outranks P2; Q comes last.
    #[test]
    fn priorities_sort_most_urgent_first() {
        let mut all = Priority::ALL.to_vec();
        all.reverse();
        all.sort();
        assert_eq!(all, Priority::ALL);
    }
}
