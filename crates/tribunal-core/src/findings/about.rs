//! What kind of claim a finding makes, without its prose. Our own findings carry it in their sealed mark, because anybody with write
//! access can edit the words of a comment; of a foreign reviewer's item the assessor says it.

use super::admit::one_line;
use super::category::slugify;
use super::plain::plain;
use super::report::FixKind;
use super::scale::Justification;
use crate::combine::finding::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct About {
    /// The kind of problem, in one or two words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// A short name of the problem, in lower case with hyphens: the same for the same problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// It is about a race: things that happen at the same time, or a check that is old when it is relied on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub race: bool,
    /// Why it deserves to be raised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nature: Option<Justification>,
    /// Whether the change that the comment shows may be made unattended.
    #[serde(skip_serializing_if = "FixKind::is_safe")]
    #[schemars(skip)]
    pub fix: FixKind,
}

impl About {
    pub fn of(finding: &Finding) -> Self {
        About {
            category: Some(finding.category_code.to_string()),
            slug: Some(finding.slug.clone()),
            race: finding.race.is_some(),
            nature: Some(finding.justification),
            fix: finding.fix.as_ref().map(|fix| fix.kind).unwrap_or_default(),
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == About::default()
    }

    /// As an agent's word may be kept: one line each, and a slug that is one.
    pub fn harmless(self) -> Self {
        let category = self.category.map(|text| one_line(&plain(&text))).filter(|text| !text.is_empty());
        About { category, slug: self.slug.as_deref().map(slugify).filter(|slug| !slug.is_empty()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An assessor may leave all of it out, and a mark of an earlier release has none.
    #[test]
    fn all_of_it_may_be_missing() {
        assert!(serde_json::from_str::<About>("{}").unwrap().is_empty());
        assert_eq!(serde_json::to_string(&About::default()).unwrap(), "{}");
        let said = About { slug: Some("Stale Lease!".into()), category: Some(" \n".into()), ..About::default() };
        assert_eq!(said.harmless(), About { slug: Some("stale-lease".into()), ..About::default() });
    }
}
