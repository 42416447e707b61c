//! A role: what a reviewer is told, what it owns, and when it is called (PR-42, PR-47).
//!
//! Roles are files with front matter. The four built-in ones and those a repository adds are read by the same function.

use super::category::{Category, is_category_code};
use crate::ids::{CategoryCode, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    pub name: RoleName,
    pub title: String,
    pub about: String,
    pub when: When,
    pub reads: Vec<RoleInput>,
    pub categories: Vec<Category>,
    /// The text after the front matter.
    pub prompt: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    Always,
    UnlessTrivial,
    HasSpec,
}

/// What only some roles are given (PR-43).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoleInput {
    Spec,
    TestDirection,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("role {origin}: {problem}")]
pub struct RoleError {
    pub origin: String,
    pub problem: String,
}

/// The front matter's keys, closed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tribunal role file front matter, version 1")]
pub struct FrontMatter {
    pub name: RoleName,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub about: String,
    #[serde(default = "always")]
    pub when: When,
    #[serde(default)]
    pub reads: Vec<RoleInput>,
    pub categories: Vec<Category>,
}

fn always() -> When {
    When::Always
}

const BUILT_IN: [(&str, &str); 4] = [
    ("roles/security-reviewer.md", include_str!("../../../../roles/security-reviewer.md")),
    ("roles/staff-engineer.md", include_str!("../../../../roles/staff-engineer.md")),
    ("roles/sdet.md", include_str!("../../../../roles/sdet.md")),
    ("roles/spec-auditor.md", include_str!("../../../../roles/spec-auditor.md")),
];

/// The panel that every repository starts with, in the order of dispatch.
pub fn built_in_roles() -> Result<Vec<Role>, RoleError> {
    BUILT_IN.iter().map(|(origin, text)| parse_role(origin, text)).collect()
}

pub fn parse_role(origin: &str, text: &str) -> Result<Role, RoleError> {
    let fail = |problem: String| RoleError { origin: origin.to_owned(), problem };
    let text = text.replace("\r\n", "\n");
    let (front, prompt) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .ok_or_else(|| fail("must begin with front matter between two `---` lines".into()))?;
    let front: FrontMatter = serde_saphyr::from_str(front).map_err(|error| fail(error.to_string()))?;
    if front.categories.is_empty() {
        return Err(fail("owns no category".into()));
    }
    for category in &front.categories {
        if !is_category_code(category.code.as_str()) {
            return Err(fail(format!("`{}` is not a category code such as S1", category.code)));
        }
    }
    if prompt.trim().is_empty() {
        return Err(fail("has no prompt text".into()));
    }
    let title = if front.title.is_empty() { front.name.0.clone() } else { front.title };
    Ok(Role {
        name: front.name,
        title,
        about: front.about,
        when: front.when,
        reads: front.reads,
        categories: front.categories,
        prompt: prompt.trim().to_owned(),
    })
}

/// Puts added roles over the built-in ones: the same name overrides, a new name joins. No category has two owners (PR-47).
pub fn merge_roles(built_in: Vec<Role>, added: Vec<(String, Role)>) -> Result<Vec<Role>, RoleError> {
    let mut roles = built_in;
    for (_, role) in &added {
        match roles.iter_mut().find(|existing| existing.name == role.name) {
            Some(existing) => *existing = role.clone(),
            None => roles.push(role.clone()),
        }
    }
    for (index, role) in roles.iter().enumerate() {
        for category in &role.categories {
            if let Some(owner) = roles[..index].iter().find(|other| other.owns(&category.code)) {
                let origin = added
                    .iter()
                    .find(|(_, candidate)| candidate.name == role.name || candidate.name == owner.name)
                    .map_or_else(|| role.name.0.clone(), |(origin, _)| origin.clone());
                let problem = format!("category {} already belongs to {}; a category has one owner", category.code, owner.name);
                return Err(RoleError { origin, problem });
            }
        }
    }
    Ok(roles)
}

impl Role {
    pub fn owns(&self, code: &CategoryCode) -> bool {
        self.categories.iter().any(|category| &category.code == code)
    }

    pub fn category(&self, code: &CategoryCode) -> Option<&Category> {
        self.categories.iter().find(|category| &category.code == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, code: &str) -> (String, Role) {
        let text =
            format!("---\nname: {name}\ncategories:\n  - {{code: {code}, name: N, slug: n, severity: factual}}\n---\nLook.\n");
        (format!(".tribunal/reviewers/{name}.md"), parse_role("x", &text).unwrap())
    }

    /// PR-48 to PR-51: the four roles own these categories and no others.
    #[test]
    fn the_built_in_panel_owns_the_contract_s_categories() {
        let owned: Vec<(String, Vec<String>)> = built_in_roles()
            .unwrap()
            .into_iter()
            .map(|role| (role.name.0, role.categories.into_iter().map(|category| category.code.0).collect()))
            .collect();
        let expect = |name: &str, letter: char, count: u32| {
            (name.to_owned(), (1..=count).map(|n| format!("{letter}{n}")).collect::<Vec<_>>())
        };
        assert_eq!(
            owned,
            vec![
                expect("security-reviewer", 'S', 5),
                expect("staff-engineer", 'E', 9),
                expect("sdet", 'T', 4),
                expect("spec-auditor", 'C', 4)
            ]
        );
    }

    /// PR-50: tests never block.
    #[test]
    fn test_categories_are_capped_below_blocker() {
        use crate::findings::scale::Severity;
        let sdet = built_in_roles().unwrap().into_iter().find(|role| role.name.as_str() == "sdet").unwrap();
        assert!(sdet.categories.iter().all(|category| category.cap == Some(Severity::Factual)));
    }

    /// PR-45: the threshold is written out in every prompt, in the same words.
    #[test]
    fn every_prompt_carries_the_same_threshold() {
        let section = |text: &str, name: &str| {
            let start = text.find(&format!("<!-- keep-in-sync: {name} -->")).unwrap();
            let end = text.find(&format!("<!-- end: {name} -->")).unwrap();
            text[start..end].to_owned()
        };
        let roles = built_in_roles().unwrap();
        let first = section(&roles[0].prompt, "inclusion-threshold");
        assert!(first.len() > 400);
        assert!(roles.iter().all(|role| section(&role.prompt, "inclusion-threshold") == first));
        assert_eq!(section(&roles[0].prompt, "race-tag"), section(&roles[1].prompt, "race-tag"));
    }

    #[test]
    fn a_repository_may_add_and_override_roles() {
        let merged = merge_roles(vec![role("a", "A1").1], vec![role("a", "A2"), role("b", "B1")]).unwrap();
        assert_eq!(merged.len(), 2);
        assert!(merged[0].owns(&"A2".into()));
    }

    /// PR-47: a category has one owner.
    #[test]
    fn two_owners_of_a_category_are_refused() {
        let error = merge_roles(vec![role("a", "A1").1], vec![role("b", "A1")]).unwrap_err();
        assert!(error.to_string().contains("already belongs to a"), "{error}");
    }
}
