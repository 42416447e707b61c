//! What GitHub asks of a merge into a branch. Three places say it: the repository's settings, its rulesets, and the older protection of
//! branches, whose own page only administrators see; what binds everybody stands in GraphQL for everybody.

use super::graphql::PROTECTION;
use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::Answered;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tribunal_core::pull::facts::{BaseRules, MergeMethod, Obstacle, RequiredChecks};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::told::Told;

/// Only there for a token that may write.
#[derive(Deserialize)]
struct Settings {
    allow_squash_merge: Option<bool>,
    allow_merge_commit: Option<bool>,
    allow_rebase_merge: Option<bool>,
}

#[derive(Deserialize)]
struct Rule {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: Value,
}

#[derive(Deserialize)]
struct Found {
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    #[serde(rename = "ref")]
    reference: Option<Reference>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    ref_update_rule: Option<Protection>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Protection {
    required_approving_review_count: Option<u32>,
    required_status_check_contexts: Option<Vec<Option<String>>>,
    requires_linear_history: bool,
}

impl GitHub {
    pub(super) async fn rules_of(&self, branch: &str) -> Answered<BaseRules> {
        let path = self.path(&format!("/rules/branches/{}?per_page=100", segment(branch)));
        let (settings, rules, protection) =
            tokio::join!(self.settings(), self.pages::<Rule>(&path, "the rules of the branch"), self.protection(branch),);
        let settings = settings?;
        // One without the other is half an answer, and half of what is asked for.
        let both = match (rules, protection) {
            (Ok(rules), Ok(protection)) => Told::Is((rules, protection)),
            (Err(fault), _) | (_, Err(fault)) if fault.may_pass() => return Err(fault),
            (Err(fault), _) | (_, Err(fault)) => Told::Unknown(fault.to_string()),
        };
        let asked = both.map(|(rules, protection)| asked(&rules, protection.as_ref()));
        Ok(BaseRules {
            methods: methods(&settings, asked.as_ref()),
            approvals: asked.as_ref().map(|asked| asked.approvals),
            checks: asked.as_ref().map(|asked| asked.checks.clone()),
            obstacle: asked.known().and_then(|asked| asked.queue.then_some(Obstacle::MergeQueue)),
        })
    }

    /// Shown to whoever may write; so it is asked for with the token that merges, where an App has one for each purpose.
    async fn settings(&self) -> Answered<Settings> {
        let (path, what) = (self.path(""), &self.project.path);
        let merging = match self.sessions.http(Phase::Merge).await {
            Ok(http) => http,
            Err(fault) if fault.may_pass() => return Err(fault),
            // An App that may not merge at all.
            Err(_) => return self.get(&path, what).await,
        };
        match merging.get(&path, what).await {
            Err(ForgeFault::Unauthorized { .. }) if self.sessions.renew(Phase::Merge, &merging).await => {
                self.sessions.http(Phase::Merge).await?.get(&path, what).await
            }
            other => other,
        }
    }

    async fn protection(&self, branch: &str) -> Answered<Option<Protection>> {
        let (owner, name) = self.project.owner_and_name();
        let variables = json!({ "owner": owner, "name": name, "branch": format!("refs/heads/{branch}") });
        let what = format!("the protection of {branch}");
        let answered: Found = self.query(PROTECTION, variables, &what).await?;
        let repository = answered.repository.ok_or_else(|| self.hollow(format!("{what}: no repository")))?;
        Ok(repository.reference.and_then(|reference| reference.ref_update_rule))
    }
}

/// Rulesets and protection, put together: what any of them asks for is asked for.
#[derive(Default)]
struct Asked {
    approvals: u32,
    checks: RequiredChecks,
    /// Only these, if anything says so.
    methods: Option<BTreeSet<MergeMethod>>,
    linear: bool,
    queue: bool,
}

fn asked(rules: &[Rule], protection: Option<&Protection>) -> Asked {
    let mut asked = Asked::default();
    if let Some(protection) = protection {
        asked.approvals = protection.required_approving_review_count.unwrap_or(0);
        asked.checks.names = protection.required_status_check_contexts.iter().flatten().flatten().cloned().collect();
        asked.linear = protection.requires_linear_history;
    }
    for rule in rules {
        let parameters = &rule.parameters;
        match rule.kind.as_str() {
            "pull_request" => {
                let wanted = parameters["required_approving_review_count"].as_u64().unwrap_or(0);
                asked.approvals = asked.approvals.max(u32::try_from(wanted).unwrap_or(u32::MAX));
                if let Some(allowed) = parameters["allowed_merge_methods"].as_array() {
                    let allowed: BTreeSet<MergeMethod> =
                        MergeMethod::ALL.into_iter().filter(|method| allowed.contains(&json!(method.word()))).collect();
                    asked.methods = Some(match asked.methods.take() {
                        Some(before) => before.intersection(&allowed).copied().collect(),
                        None => allowed,
                    });
                }
            }
            "required_status_checks" => {
                let checks = parameters["required_status_checks"].as_array().into_iter().flatten();
                asked.checks.names.extend(checks.filter_map(|check| Some(check["context"].as_str()?.to_owned())));
            }
            "required_linear_history" => asked.linear = true,
            "merge_queue" => asked.queue = true,
            // The rest is about what is pushed, and GitHub refuses by itself.
            _ => {}
        }
    }
    asked
}

fn methods(settings: &Settings, asked: Told<&Asked>) -> Told<BTreeSet<MergeMethod>> {
    let (Some(squash), Some(merge), Some(rebase)) =
        (settings.allow_squash_merge, settings.allow_merge_commit, settings.allow_rebase_merge)
    else {
        return Told::Unknown("the token may not see how the repository merges; it needs the right to write".into());
    };
    asked.map(|asked| {
        let allowed =
            [(MergeMethod::Squash, squash), (MergeMethod::Merge, merge && !asked.linear), (MergeMethod::Rebase, rebase)];
        let by_settings = allowed.into_iter().filter(|(_, allowed)| *allowed).map(|(method, _)| method);
        by_settings.filter(|method| asked.methods.as_ref().is_none_or(|only| only.contains(method))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Asked {
        asked(&serde_json::from_str::<Vec<Rule>>(text).expect("rules"), None)
    }

    /// TS-103: a ruleset that allows only squash is known before the first merge.
    #[test]
    fn rulesets_narrow_what_the_settings_allow() {
        let all = Settings { allow_squash_merge: Some(true), allow_merge_commit: Some(true), allow_rebase_merge: Some(true) };
        let squash = rules(
            r#"[{"type":"pull_request","parameters":{"allowed_merge_methods":["squash"],"required_approving_review_count":2}}]"#,
        );
        assert_eq!(methods(&all, Told::Is(&squash)), Told::Is(BTreeSet::from([MergeMethod::Squash])));
        assert_eq!(squash.approvals, 2);
        let linear = rules(r#"[{"type":"required_linear_history"},{"type":"deletion"},{"type":"merge_queue","parameters":{}}]"#);
        assert_eq!(methods(&all, Told::Is(&linear)), Told::Is(BTreeSet::from([MergeMethod::Squash, MergeMethod::Rebase])));
        assert!(linear.queue);
        let blind = Settings { allow_squash_merge: None, allow_merge_commit: None, allow_rebase_merge: None };
        assert!(matches!(methods(&blind, Told::Is(&linear)), Told::Unknown(_)));
    }

    #[test]
    fn rulesets_and_protection_add_up() {
        let protection = Protection {
            required_approving_review_count: Some(3),
            required_status_check_contexts: Some(vec![Some("a".into()), None]),
            requires_linear_history: false,
        };
        let ruleset = r#"[{"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"b"}]}},
            {"type":"pull_request","parameters":{"required_approving_review_count":1}}]"#;
        let asked = asked(&serde_json::from_str::<Vec<Rule>>(ruleset).expect("rules"), Some(&protection));
        assert_eq!((asked.approvals, asked.checks.names), (3, BTreeSet::from(["a".into(), "b".into()])));
    }
}
