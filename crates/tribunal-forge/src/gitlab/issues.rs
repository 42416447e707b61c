//! Issues, labels and reviewers.
//!
//! Issues and merge requests are numbered apart here. Where a number may mean either, the merge request comes first: that is what a
//! review is about.

use super::wire::{Issue as Found, Note, User};
use super::{GitLab, named};
use crate::http::client::segment;
use crate::port::{Answered, Issues};
use async_trait::async_trait;
use serde_json::{Value, json};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::Issue;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{Comment, NewIssue};

#[async_trait]
impl Issues for GitLab {
    async fn issue(&self, number: u64) -> Answered<Issue> {
        let found: Found = self.http.get(&self.issue_path(number), &format!("issue #{number}")).await?;
        self.understood_issue(found).await
    }

    async fn find_issues(&self, words: &str) -> Answered<Vec<Issue>> {
        let path = self.of_project(&format!("/issues?scope=all&in=title,description&search={}", segment(words)));
        let mut issues = Vec::new();
        for found in self.list::<Found>(&path, "the issues").await? {
            issues.push(self.understood_issue(found).await?);
        }
        Ok(issues)
    }

    async fn issues_since(&self, since: Option<&str>) -> Answered<Vec<Issue>> {
        let since = since.map(|since| format!("&updated_after={}", segment(since))).unwrap_or_default();
        let path = self.of_project(&format!("/issues?scope=all&order_by=updated_at&sort=asc{since}"));
        let mut issues = Vec::new();
        for found in self.list::<Found>(&path, "the issues").await? {
            issues.push(self.understood_issue(found).await?);
        }
        Ok(issues)
    }

    async fn issue_comments(&self, number: u64) -> Answered<Vec<Comment>> {
        let path = format!("{}/notes?sort=asc&order_by=created_at", self.issue_path(number));
        let mut comments = Vec::new();
        for note in self.list::<Note>(&path, "the notes").await?.into_iter().filter(|note| !note.system) {
            comments.push(self.understood_note(number, note).await);
        }
        Ok(comments)
    }

    async fn comment_on_issue(&self, number: u64, body: &Outgoing) -> Answered<()> {
        let path = format!("{}/notes", self.issue_path(number));
        self.post(&path, &json!({ "body": body }), &format!("issue #{number}")).await.map(drop)
    }

    async fn create_issue(&self, issue: &NewIssue) -> Answered<Issue> {
        let labels: Vec<&str> = issue.labels.iter().map(Outgoing::as_str).collect();
        let body = json!({ "title": issue.title, "description": issue.body, "labels": labels.join(",") });
        let answer = self.post(&self.of_project("/issues"), &body, "the new issue").await?;
        self.understood_issue(self.written(&answer, "the new issue")?).await.map_err(|fault| self.unknown(&fault))
    }

    async fn close_issue(&self, number: u64) -> Answered<()> {
        self.put(&self.issue_path(number), &json!({ "state_event": "close" }), &format!("issue #{number}")).await.map(drop)
    }

    async fn add_label(&self, number: u64, label: &Outgoing) -> Answered<()> {
        self.change_either(number, &json!({ "add_labels": label })).await
    }

    async fn remove_label(&self, number: u64, label: &str) -> Answered<()> {
        self.change_either(number, &json!({ "remove_labels": label })).await
    }

    /// The list is replaced as a whole, so those who were asked before are sent along.
    async fn request_review(&self, number: u64, logins: &[String]) -> Answered<()> {
        let mut ids: Vec<u64> = self.request(number).await?.reviewers.iter().map(|user| user.id).collect();
        for login in logins {
            let path = format!("/users?username={}", segment(login));
            let users: Vec<User> = self.http.get(&path, "a user").await?;
            let named = users.iter().find(|user| user.username.eq_ignore_ascii_case(login));
            let missing = || ForgeFault::NotFound { host: self.host(), what: format!("user {login}") };
            let id = named.ok_or_else(missing)?.id;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        self.put(&self.of_request(number, ""), &json!({ "reviewer_ids": ids }), &named(number)).await.map(drop)
    }
}

impl GitLab {
    fn issue_path(&self, number: u64) -> String {
        self.of_project(&format!("/issues/{number}"))
    }

    async fn change_either(&self, number: u64, change: &Value) -> Answered<()> {
        match self.put(&self.of_request(number, ""), change, &named(number)).await {
            Err(ForgeFault::NotFound { .. }) => {
                self.put(&self.issue_path(number), change, &format!("issue #{number}")).await.map(drop)
            }
            other => other.map(drop),
        }
    }

    async fn understood_issue(&self, found: Found) -> Answered<Issue> {
        let open = match found.state.as_str() {
            "opened" => true,
            "closed" => false,
            other => {
                let message = format!("issue #{} is {other:?}", found.iid);
                return Err(ForgeFault::Hollow { host: self.host(), message });
            }
        };
        Ok(Issue {
            number: found.iid,
            author: self.account(&found.author).await,
            open,
            title: found.title,
            body: found.description.unwrap_or_default(),
            labels: found.labels,
            url: found.web_url,
            assignees: found.assignees.into_iter().map(|user| user.username).collect(),
            created_at: found.created_at,
            updated_at: found.updated_at,
            closed_at: found.closed_at,
        })
    }
}
