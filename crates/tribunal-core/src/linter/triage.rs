//! What a linter's rule weighs: the reviewed table of a profile, from rule names to our categories and severities.

use crate::findings::category::is_category_code;
use crate::findings::scale::{Justification, Severity};
use crate::ids::CategoryCode;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Category and weight of a rule, written `E5 factual`; or `off`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Triage {
    /// Its results are no findings here.
    Off,
    Finding {
        category: CategoryCode,
        weight: Weight,
    },
}

/// A linter never blocks alone, so there is nothing above `Factual`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// P1
    Factual,
    /// P2
    Suggestion,
    /// Q
    Question,
    /// Batched with others of the same file.
    Hygiene,
}

impl Weight {
    pub fn word(self) -> &'static str {
        match self {
            Weight::Factual => "factual",
            Weight::Suggestion => "suggestion",
            Weight::Question => "question",
            Weight::Hygiene => "hygiene",
        }
    }

    pub fn severity(self) -> Severity {
        match self {
            Weight::Factual => Severity::Factual,
            Weight::Suggestion | Weight::Hygiene => Severity::Suggestion,
            Weight::Question => Severity::Question,
        }
    }
}

impl Triage {
    /// For a rule that no table knows.
    pub fn unknown() -> Self {
        Triage::Finding { category: "E8".into(), weight: Weight::Hygiene }
    }
}

/// Why the finding deserves to be said.
pub fn justification(category: &CategoryCode, weight: Weight) -> Justification {
    match weight {
        Weight::Hygiene => Justification::Hygiene,
        _ if category.as_str().starts_with('S') => Justification::Asymmetric,
        Weight::Factual | Weight::Suggestion | Weight::Question => Justification::Reachable,
    }
}

impl TryFrom<String> for Triage {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "off" {
            return Ok(Triage::Off);
        }
        let wrong = || {
            format!(
                "`{text}` is no weight of a rule; write `off`, or a category and one of factual, suggestion, question, hygiene, such as `E5 factual`"
            )
        };
        let (category, word) = text.split_once(' ').ok_or_else(wrong)?;
        let weights = [Weight::Factual, Weight::Suggestion, Weight::Question, Weight::Hygiene];
        let weight = weights.into_iter().find(|weight| weight.word() == word).ok_or_else(wrong)?;
        if !is_category_code(category) {
            return Err(wrong());
        }
        Ok(Triage::Finding { category: category.into(), weight })
    }
}

impl std::fmt::Display for Triage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Triage::Off => f.write_str("off"),
            Triage::Finding { category, weight } => write!(f, "{category} {}", weight.word()),
        }
    }
}

/// Names of rules, or beginnings of names that end in `*`.
pub type TriageTable = BTreeMap<String, Triage>;

/// The entry that fits a name best: the name itself, else the longest beginning.
pub fn find<'a>(table: &'a TriageTable, name: &str) -> Option<&'a Triage> {
    table.get(name).or_else(|| {
        let beginnings = table.iter().filter_map(|(pattern, triage)| Some((pattern.strip_suffix('*')?, triage)));
        let fitting = beginnings.filter(|(beginning, _)| name.starts_with(beginning));
        fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, triage)| triage)
    })
}

/// The table of a person's configuration.
pub fn read_table(table: &BTreeMap<String, String>) -> Result<TriageTable, String> {
    table.iter().map(|(pattern, text)| Ok((pattern.clone(), Triage::try_from(text.clone())?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(entries: &[(&str, &str)]) -> TriageTable {
        entries.iter().map(|(name, text)| ((*name).to_owned(), Triage::try_from((*text).to_owned()).unwrap())).collect()
    }

    /// Issue 18, section 2: a rule's own entry wins over that of its family, and a longer beginning over a shorter one.
    #[test]
    fn the_nearest_entry_wins() {
        let table = table(&[("S*", "S1 suggestion"), ("S60*", "S1 factual"), ("S608", "S2 factual"), ("E501", "off")]);
        let found = |name: &str| find(&table, name).map(ToString::to_string);
        assert_eq!(found("S608").as_deref(), Some("S2 factual"));
        assert_eq!(found("S602").as_deref(), Some("S1 factual"));
        assert_eq!(found("S101").as_deref(), Some("S1 suggestion"));
        assert_eq!(found("E501").as_deref(), Some("off"));
        assert_eq!(found("F401"), None);
    }

    #[test]
    fn a_linter_cannot_block() {
        for wrong in ["S1 blocker", "S1", "factual", "x1 factual", ""] {
            assert!(Triage::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
