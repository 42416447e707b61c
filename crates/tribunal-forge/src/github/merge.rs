//! Opening, merging, updating and closing.

use super::shapes::PullShape;
use super::{GitHub, Phase};
use crate::port::{Answered, Merge};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::{Value, json};
use tribunal_core::pull::facts::{BaseRules, MergeMethod, MergeOrder, Pull};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::NewPull;

#[async_trait]
impl Merge for GitHub {
    async fn open(&self, pull: &NewPull) -> Answered<Pull> {
        let body = json!({
            "title": pull.title, "body": pull.body, "head": pull.head_branch, "base": pull.base_branch, "draft": pull.draft,
        });
        let what = format!("a pull request for {}", pull.head_branch);
        let answer = self.write(Phase::Merge, Method::POST, &self.path("/pulls"), Some(&body), &what).await?;
        Ok(self.made::<PullShape>(&answer, &what)?.into())
    }

    /// 409 says that the head moved, 405 that it cannot be merged as things are.
    async fn merge(&self, number: u64, order: &MergeOrder) -> Answered<()> {
        let mut body = json!({ "sha": order.head });
        body["merge_method"] = json!(match order.method {
            MergeMethod::Squash => "squash",
            MergeMethod::Merge => "merge",
            MergeMethod::Rebase => "rebase",
        });
        // Rebased commits keep their own messages, and without words the repository's settings make them.
        if order.method != MergeMethod::Rebase && !order.title.is_empty() {
            body["commit_title"] = json!(order.title);
            body["commit_message"] = json!(order.message);
        }
        let path = self.path(&format!("/pulls/{number}/merge"));
        let answer = self.write(Phase::Merge, Method::PUT, &path, Some(&body), &format!("the merge of {number}")).await?;
        match self.made::<Value>(&answer, "the merge")?["merged"].as_bool() {
            Some(true) => Ok(()),
            Some(false) | None => Err(self.hollow("a merge was answered with success and without being merged")),
        }
    }

    async fn update_branch(&self, branch: &Pushable) -> Answered<()> {
        let (number, head) = (branch.number(), branch.head());
        let path = self.path(&format!("/pulls/{number}/update-branch"));
        let body = json!({ "expected_head_sha": head });
        match self.write(Phase::Merge, Method::PUT, &path, Some(&body), &format!("the branch of {number}")).await {
            Ok(_) => Ok(()),
            // The same status says that there is a conflict; the words tell them apart.
            Err(ForgeFault::Refused { host, status: 422, message }) if message.to_ascii_lowercase().contains("expected head") => {
                Err(ForgeFault::Conflict { host, message })
            }
            Err(fault) => Err(fault),
        }
    }

    async fn base_rules(&self, branch: &str) -> Answered<BaseRules> {
        self.rules_of(branch).await
    }

    async fn close(&self, number: u64) -> Answered<()> {
        let path = self.path(&format!("/pulls/{number}"));
        let body = json!({ "state": "closed" });
        self.write(Phase::Publish, Method::PATCH, &path, Some(&body), &format!("pull request {number}")).await.map(drop)
    }
}
