//! `[merge]`: whether anything is merged at all, how, and on whose word (CF-1, CF-21, CF-27, CF-28, CF-30).

use crate::pull::facts::MergeMethod;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The labels that keep a pull request from being merged when nobody names others.
const HOLD: [&str; 6] = ["do-not-merge", "no-merge", "wip", "work-in-progress", "hold", "on-hold"];
/// The words by which a story names its epic (SL-70).
const PART_OF: &str = "Part of";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeConfig {
    /// Whether `settle` and `sweep` merge: `never`, or `approved`, when every condition is met. Default `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// How. Default `squash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MergeMethod>,
    /// Who must have looked: `agent`, a model or an agent other than the one that fixed, or a person; or `rules`, for which the
    /// built-in rules are enough. Default `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_by: Option<VerifiedBy>,
    /// Is a change without any check held back? Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_checks: Option<bool>,
    /// Labels that keep a pull request from being merged, in place of the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub do_not_merge: Option<Vec<String>>,
    /// Is a person asked before each merge? `auto`: only where the order of several is shown on a terminal; or `always`. Default
    /// `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<Confirm>,
    /// How many people other than the author must have approved the head, besides what the forge asks for. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<u32>,
    /// The words by which a story names its epic, in its description. Default `Part of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    #[default]
    Never,
    Approved,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerifiedBy {
    #[default]
    Agent,
    Rules,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confirm {
    #[default]
    Auto,
    Always,
}

/// The settled answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergePolicy {
    pub when: When,
    pub method: MergeMethod,
    pub verified_by: VerifiedBy,
    pub require_checks: bool,
    pub do_not_merge: Vec<String>,
    pub confirm: Confirm,
    pub approvals: u32,
    pub part_of: String,
}

impl Default for MergePolicy {
    fn default() -> Self {
        MergeConfig::default().policy()
    }
}

impl MergeConfig {
    pub fn policy(&self) -> MergePolicy {
        let usual = || HOLD.iter().map(|label| (*label).to_owned()).collect();
        MergePolicy {
            when: self.when.unwrap_or_default(),
            method: self.method.unwrap_or(MergeMethod::Squash),
            verified_by: self.verified_by.unwrap_or_default(),
            require_checks: self.require_checks.unwrap_or(false),
            do_not_merge: self.do_not_merge.clone().unwrap_or_else(usual),
            confirm: self.confirm.unwrap_or_default(),
            approvals: self.approvals.unwrap_or(0),
            part_of: self.part_of.clone().unwrap_or_else(|| PART_OF.to_owned()),
        }
    }
}

impl MergePolicy {
    /// The label that holds a pull request back, if one does. Spelling is not what people agree on: `Do not merge`, `do_not_merge`
    /// and `do-not-merge/hold` say the same.
    pub fn holding<'a>(&self, labels: &'a [String]) -> Option<&'a String> {
        let holding: Vec<String> = self.do_not_merge.iter().map(|label| spelled(label)).collect();
        labels.iter().find(|label| {
            let label = spelled(label);
            holding.iter().any(|hold| label == *hold || label.split(['/', ':']).any(|part| part.trim_matches('-') == hold))
        })
    }
}

fn spelled(label: &str) -> String {
    let label = label.trim().to_lowercase().replace(['\'', '’'], "").replace([' ', '_'], "-");
    label.replace("dont-merge", "do-not-merge")
}

/// Whether this run is to merge at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// What `[merge] when` says.
    AsConfigured,
    /// `--merge`, or automation level 2.
    Asked,
    /// `--no-merge`, automation level 0 or 1, or a command that never merges.
    Refused,
}

impl Wanted {
    pub fn is_allowed(self, policy: &MergePolicy) -> bool {
        match self {
            Wanted::AsConfigured => policy.when == When::Approved,
            Wanted::Asked => true,
            Wanted::Refused => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CF-1, CF-21, TS-103: merging is off, everywhere, until somebody turns it on; and then it squashes.
    #[test]
    fn nothing_is_merged_unless_somebody_says_so() {
        let policy = MergePolicy::default();
        assert_eq!((policy.when, policy.method, policy.verified_by), (When::Never, MergeMethod::Squash, VerifiedBy::Agent));
        assert!(!Wanted::AsConfigured.is_allowed(&policy));
        assert!(Wanted::Asked.is_allowed(&policy));
        let on = MergePolicy { when: When::Approved, ..policy };
        assert!(Wanted::AsConfigured.is_allowed(&on));
        assert!(!Wanted::Refused.is_allowed(&on));
    }

    /// CF-1: a label that says so holds it back, however it is spelled.
    #[test]
    fn labels_hold_back_in_every_spelling() {
        let policy = MergePolicy::default();
        for label in
            ["do-not-merge", "Do not merge", "do_not_merge", "don't merge", "do-not-merge/needs-work", "status: WIP", "hold"]
        {
            assert!(policy.holding(&[label.to_owned()]).is_some(), "{label}");
        }
        for label in ["household", "merge", "not-wip", "bug"] {
            assert_eq!(policy.holding(&[label.to_owned()]), None, "{label}");
        }
        let own = MergeConfig { do_not_merge: Some(vec!["frozen".into()]), ..MergeConfig::default() }.policy();
        assert!(own.holding(&["Frozen".into()]).is_some());
        assert_eq!(own.holding(&["wip".into()]), None);
    }
}
