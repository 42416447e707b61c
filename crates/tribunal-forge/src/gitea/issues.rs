//! Issues, labels and requests to review.

use super::Gitea;
use super::wire::{self, Label};
use crate::http::client::segment;
use crate::port::{Answered, Issues};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::Issue;
use tribunal_core::pull::talk::NewIssue;

/// A label must have a colour.
const COLOUR: &str = "#6e7781";

#[async_trait]
impl Issues for Gitea {
    async fn issue(&self, number: u64) -> Answered<Issue> {
        let path = self.repo(&format!("/issues/{number}"));
        Ok(self.http.get::<wire::Issue>(&path, &format!("issue {number}")).await?.facts(self.made_here().await?))
    }

    async fn find_issues(&self, words: &str) -> Answered<Vec<Issue>> {
        let path = self.repo(&format!("/issues?type=issues&state=all&q={}", segment(words)));
        let found: Vec<wire::Issue> = self.list(&path, "the issues").await?;
        let made_here = self.made_here().await?;
        Ok(found.into_iter().map(|issue| issue.facts(made_here)).collect())
    }

    async fn issues_since(&self, since: Option<&str>) -> Answered<Vec<Issue>> {
        let since = since.map(|since| format!("&since={}", segment(since))).unwrap_or_default();
        let found: Vec<wire::Issue> =
            self.list(&self.repo(&format!("/issues?type=issues&state=all{since}")), "the issues").await?;
        let made_here = self.made_here().await?;
        Ok(found.into_iter().map(|issue| issue.facts(made_here)).collect())
    }

    async fn create_issue(&self, issue: &NewIssue) -> Answered<Issue> {
        // Labels first: if they cannot be had, nothing was created that would be created again.
        let mut labels = Vec::new();
        for label in &issue.labels {
            labels.push(self.label_id(label).await?);
        }
        let body = json!({ "title": issue.title, "body": issue.body, "labels": labels });
        let answer = self.http.write(Method::POST, &self.repo("/issues"), Some(&body), "an issue").await?;
        // We have just made it.
        self.written::<wire::Issue>(&answer, "an issue").map(|issue| issue.facts(wire::MadeHere::default()))
    }

    async fn close_issue(&self, number: u64) -> Answered<()> {
        let path = self.repo(&format!("/issues/{number}"));
        self.tell(Method::PATCH, &path, Some(&json!({ "state": "closed" })), &format!("issue {number}")).await
    }

    async fn add_label(&self, number: u64, label: &Outgoing) -> Answered<()> {
        let id = self.label_id(label).await?;
        let path = self.repo(&format!("/issues/{number}/labels"));
        self.tell(Method::POST, &path, Some(&json!({ "labels": [id] })), &format!("label {label}")).await
    }

    async fn remove_label(&self, number: u64, label: &str) -> Answered<()> {
        let path = self.repo(&format!("/issues/{number}/labels"));
        let labels: Vec<Label> = self.uncounted(&path, &format!("the labels of {number}")).await?;
        match labels.into_iter().find(|found| found.name == label) {
            Some(found) => self.tell(Method::DELETE, &format!("{path}/{}", found.id), None, &format!("label {label}")).await,
            None => Ok(()),
        }
    }

    async fn request_review(&self, number: u64, logins: &[String]) -> Answered<()> {
        let path = self.repo(&format!("/pulls/{number}/requested_reviewers"));
        self.tell(Method::POST, &path, Some(&json!({ "reviewers": logins })), &format!("reviewers of {number}")).await
    }
}

impl Gitea {
    /// By number: a name that is unknown would be left out without a word.
    async fn label_id(&self, name: &str) -> Answered<i64> {
        let labels: Vec<Label> = self.list(&self.repo("/labels"), "the labels").await?;
        if let Some(label) = labels.into_iter().find(|label| label.name == name) {
            return Ok(label.id);
        }
        let body = json!({ "name": name, "color": COLOUR });
        let what = format!("label {name}");
        let answer = self.http.write(Method::POST, &self.repo("/labels"), Some(&body), &what).await?;
        self.written::<Label>(&answer, &what).map(|label| label.id)
    }
}
