//! Opening, updating, merging and closing.

use super::Gitea;
use super::wire;
use crate::http::client::segment;
use crate::port::{Answered, Merge, Read as _};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::pull::facts::{BaseRules, MergeMethod, MergeOrder, Obstacle, Pull, RequiredChecks};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::NewPull;
use tribunal_core::pull::told::Told;

/// A draft is a title that begins like this; a server can be told other words, but these stay the default.
const DRAFT: &str = "WIP: ";
/// How it says that it has not looked at the pull request yet, or that it found a conflict.
const NOT_YET: &str = "try again later";

#[async_trait]
impl Merge for Gitea {
    async fn open(&self, pull: &NewPull) -> Answered<Pull> {
        let title = if pull.draft { format!("{DRAFT}{}", pull.title) } else { pull.title.to_string() };
        let body = json!({ "title": title, "body": pull.body, "head": pull.head_branch, "base": pull.base_branch });
        let what = format!("a pull request for {}", pull.head_branch);
        let answer = self.http.write(Method::POST, &self.repo("/pulls"), Some(&body), &what).await?;
        let opened: wire::Pull = self.written(&answer, &what)?;
        // We have just opened it.
        opened.facts(wire::MadeHere::default()).map_err(|message| self.uncertain(message))
    }

    /// At once and bound to the head. Never when checks have passed: that way the server forgets the head, and merges whatever was
    /// pushed since.
    async fn merge(&self, number: u64, order: &MergeOrder) -> Answered<()> {
        let body = json!({
            "Do": match order.method {
                MergeMethod::Squash => "squash",
                MergeMethod::Merge => "merge",
                MergeMethod::Rebase => "rebase",
            },
            "head_commit_id": order.head.as_str(),
            "MergeTitleField": order.title,
            "MergeMessageField": order.message,
        });
        let path = self.repo(&format!("/pulls/{number}/merge"));
        match self.tell(Method::POST, &path, Some(&body), &format!("pull request {number}")).await {
            // After every push it works out anew whether there is a conflict, and until then does nothing.
            Err(ForgeFault::Refused { host, status: 405, message }) if message.contains(NOT_YET) => {
                Err(ForgeFault::Failing { host, status: 405, message })
            }
            other => other,
        }
    }

    /// The server takes no head here, so it is read right before; what is added is only the base.
    async fn update_branch(&self, branch: &Pushable) -> Answered<()> {
        let (number, head) = (branch.number(), branch.head());
        let found = self.pull(number).await?.head.sha;
        if found != *head {
            let message = format!("the head is {}, not {}", found.short(), head.short());
            return Err(ForgeFault::Conflict { host: self.http.host().to_owned(), message });
        }
        let path = self.repo(&format!("/pulls/{number}/update?style=merge"));
        self.tell(Method::POST, &path, None, &format!("the branch of pull request {number}")).await
    }

    async fn base_rules(&self, branch: &str) -> Answered<BaseRules> {
        let (repository, branch_path) = (self.repo(""), self.repo(&format!("/branches/{}", segment(branch))));
        let what = format!("branch {branch}");
        let (repository, branch) = tokio::join!(
            self.http.get::<wire::Repository>(&repository, &self.project.path),
            self.http.get::<wire::Branch>(&branch_path, &what),
        );
        let (repository, branch) = (repository?, branch?);
        let unsaid = || Told::Unknown("the server does not say which ways of merging the repository allows".into());
        // A switch that is off leaves its list as it was.
        let required = if branch.protected && branch.enable_status_check { branch.status_check_contexts } else { Vec::new() };
        let any = branch.protected && branch.enable_status_check && required.is_empty();
        let not_ours = branch.protected && branch.user_can_merge == Some(false);
        Ok(BaseRules {
            methods: repository.methods().map_or_else(unsaid, Told::Is),
            approvals: Told::Is(if branch.protected { branch.required_approvals } else { 0 }),
            checks: Told::Is(RequiredChecks { patterns: required.into_iter().collect(), any, ..RequiredChecks::default() }),
            obstacle: not_ours.then_some(Obstacle::NotAllowed),
        })
    }

    async fn close(&self, number: u64) -> Answered<()> {
        let path = self.repo(&format!("/pulls/{number}"));
        self.tell(Method::PATCH, &path, Some(&json!({ "state": "closed" })), &format!("pull request {number}")).await
    }
}
