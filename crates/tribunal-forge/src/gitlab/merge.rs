//! Opening, merging, rebasing and closing.

use super::wire::{ApprovalRule, Numbered, ProjectFacts, Request};
use super::{GitLab, named, not_about_the_token};
use crate::port::{Answered, Merge, Read as _};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;
use tribunal_core::pull::facts::{BaseRules, MergeMethod, MergeOrder, Pull, RequiredChecks};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::NewPull;
use tribunal_core::pull::told::Told;

/// A rebase is done in the background.
const REBASE_LOOKS: u32 = 20;
const REBASE_PAUSE: Duration = Duration::from_millis(500);

#[async_trait]
impl Merge for GitLab {
    async fn open(&self, pull: &NewPull) -> Answered<Pull> {
        let title = if pull.draft { format!("Draft: {}", pull.title) } else { pull.title.to_string() };
        let body = json!({
            "source_branch": pull.head_branch,
            "target_branch": pull.base_branch,
            "title": title,
            "description": pull.body,
        });
        let answer = self.post(&self.of_project("/merge_requests"), &body, "the new merge request").await?;
        let opened: Numbered = self.written(&answer, "the new merge request")?;
        self.pull(opened.iid).await.map_err(|fault| self.unknown(&fault))
    }

    async fn merge(&self, number: u64, order: &MergeOrder) -> Answered<()> {
        if order.method == MergeMethod::Rebase && self.facts().await?.merge_method.as_deref() == Some("merge") {
            return Err(self.unsupported("rebasing, in a project that is set to merge commits"));
        }
        let message = [order.title.as_str(), order.message.as_str()].join("\n\n").trim().to_owned();
        let mut body = json!({ "sha": order.head, "squash": order.method == MergeMethod::Squash });
        match order.method {
            MergeMethod::Squash if !message.is_empty() => body["squash_commit_message"] = message.into(),
            MergeMethod::Merge if !message.is_empty() => body["merge_commit_message"] = message.into(),
            MergeMethod::Squash | MergeMethod::Merge | MergeMethod::Rebase => {}
        }
        match self.put(&self.of_request(number, "/merge"), &body, &named(number)).await {
            Ok(_) => Ok(()),
            // One status for a draft, a conflict, a failed pipeline, a missing approval: the request itself says which.
            Err(ForgeFault::Refused { host, status: status @ (400 | 405 | 406 | 422), message }) => {
                let reason = self.request(number).await.ok().and_then(|request| request.detailed_merge_status);
                let message = match reason.filter(|reason| reason != "mergeable") {
                    Some(reason) => format!("{message} ({})", reason.replace('_', " ")),
                    None => message,
                };
                Err(ForgeFault::Refused { host, status, message })
            }
            Err(fault) => Err(not_about_the_token(fault, "the right to merge")),
        }
    }

    /// Rebases the branch, which is what GitLab has for this. The call itself knows no guard, so the head is read before.
    async fn update_branch(&self, branch: &Pushable) -> Answered<()> {
        let (number, head) = (branch.number(), branch.head());
        let request = self.request(number).await?;
        if request.sha.as_ref() != Some(head) {
            let message = format!("{} is no longer at {}", named(number), head.short());
            return Err(ForgeFault::Conflict { host: self.host(), message });
        }
        self.http.write(Method::PUT, &self.of_request(number, "/rebase"), None, &named(number)).await?;
        let path = self.of_request(number, "?include_rebase_in_progress=true");
        for _ in 0..REBASE_LOOKS {
            let request: Request = self.http.get(&path, &named(number)).await.map_err(|fault| self.unknown(&fault))?;
            match (request.rebase_in_progress, request.merge_error) {
                (true, _) => sleep(REBASE_PAUSE).await,
                (false, Some(message)) => return Err(ForgeFault::Refused { host: self.host(), status: 422, message }),
                (false, None) => return Ok(()),
            }
        }
        Err(ForgeFault::Uncertain { host: self.host(), message: "the rebase is still running".into() })
    }

    /// Settings of the project; where approvals are not part of this GitLab, none are wanted.
    async fn base_rules(&self, branch: &str) -> Answered<BaseRules> {
        let project = self.facts().await?;
        let path = self.of_project("/approval_rules");
        let approvals = match self.list::<ApprovalRule>(&path, "the rules for approvals").await {
            Ok(rules) => {
                let of_branch = rules.iter().filter(|rule| rule.covers(branch));
                Told::Is(of_branch.map(|rule| rule.approvals_required).max().unwrap_or(0))
            }
            Err(ForgeFault::NotFound { .. }) => Told::Is(0),
            Err(fault) if fault.may_pass() => return Err(fault),
            Err(fault) => Told::Unknown(fault.to_string()),
        };
        let any = project.only_allow_merge_if_pipeline_succeeds.map(|any| RequiredChecks { any, ..RequiredChecks::default() });
        let hidden = || Told::Unknown("the token may not see the project's settings for merging".into());
        Ok(BaseRules {
            methods: methods(&project).map_or_else(hidden, Told::Is),
            approvals,
            checks: any.map_or_else(|| Told::Unknown("the token may not see whether a pipeline must succeed".into()), Told::Is),
            obstacle: None,
        })
    }

    async fn close(&self, number: u64) -> Answered<()> {
        self.put(&self.of_request(number, ""), &json!({ "state_event": "close" }), &named(number)).await.map(drop)
    }
}

/// One setting says how commits are joined, another whether they are squashed before; nothing where neither can be seen.
fn methods(project: &ProjectFacts) -> Option<BTreeSet<MergeMethod>> {
    let joined: &[MergeMethod] = match project.merge_method.as_deref()? {
        "ff" => &[MergeMethod::Rebase],
        "rebase_merge" => &[MergeMethod::Merge, MergeMethod::Rebase],
        _ => &[MergeMethod::Merge],
    };
    let squash = project.squash_option.as_deref();
    let kept = joined.iter().copied().filter(|_| squash != Some("always"));
    Some(kept.chain((squash != Some("never")).then_some(MergeMethod::Squash)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CF-21: what a project is set to decides which methods there are.
    #[test]
    fn methods_follow_the_project() {
        let of = |merge: &str, squash: &str| {
            let facts = serde_json::json!({ "path_with_namespace": "a/b", "merge_method": merge, "squash_option": squash });
            methods(&serde_json::from_value(facts).expect("a project")).expect("methods")
        };
        use MergeMethod::{Merge, Rebase, Squash};
        assert_eq!(of("merge", "default_off"), BTreeSet::from([Merge, Squash]));
        assert_eq!(of("merge", "never"), BTreeSet::from([Merge]));
        assert_eq!(of("ff", "always"), BTreeSet::from([Squash]));
        assert_eq!(of("ff", "never"), BTreeSet::from([Rebase]));
        assert_eq!(of("rebase_merge", "default_on"), BTreeSet::from([Merge, Rebase, Squash]));
    }
}
