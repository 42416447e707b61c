//! Categories: who owns them, what they weigh by default, and what they are called on a page (PR-47 to PR-51, PR-88).

use super::scale::Severity;
use crate::ids::CategoryCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of defect a role looks for. Read from the role's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Category {
    pub code: CategoryCode,
    pub name: String,
    /// Kebab case, without the owner's letter: says what kind of problem it is.
    pub slug: String,
    /// What a finding of this category weighs unless the reviewer says otherwise.
    pub severity: Severity,
    /// The most it may ever weigh: tests never block (PR-50).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Severity>,
    /// Race findings live here, so `Mitigation` must end with the race tag (PR-68).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub race: bool,
    /// Needs the repository beyond the diff; not applicable without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_repo: bool,
    /// Shown by `tribunal explain`.
    #[serde(default)]
    pub about: String,
}

impl Category {
    /// `[S1 Input validation / trust boundary]`, as the finding contract heads a finding.
    pub fn heading(&self) -> String {
        format!("[{} {}]", self.code, self.name)
    }
}

impl CategoryCode {
    /// The letters before the number. Categories of one owner are related; each owner sees a defect in a way of its own.
    pub fn family(&self) -> &str {
        self.as_str().trim_end_matches(|c: char| c.is_ascii_digit())
    }
}

/// A code is one to three capitals and one or two digits, so that it can stand in a heading and in a file name.
pub fn is_category_code(text: &str) -> bool {
    let letters = text.chars().take_while(char::is_ascii_uppercase).count();
    let digits = text.len() - letters;
    (1..=3).contains(&letters) && (1..=2).contains(&digits) && text[letters..].chars().all(|c| c.is_ascii_digit())
}

/// Lower case, words joined by single dashes; anything else is dropped.
pub fn slugify(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(60);
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_letters_then_digits() {
        assert!(is_category_code("S1") && is_category_code("ACC12"));
        assert!(!is_category_code("s1") && !is_category_code("S") && !is_category_code("1S") && !is_category_code(""));
    }

    #[test]
    fn a_family_is_named_by_letters() {
        assert_eq!((CategoryCode::from("E5").family(), CategoryCode::from("ACC12").family()), ("E", "ACC"));
    }

    /// PR-88: slugs are kebab case.
    #[test]
    fn slugs_are_kebab_case() {
        assert_eq!(slugify("Auth / authz -- Check"), "auth-authz-check");
    }
}
