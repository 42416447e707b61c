//! Issues, labels, and asking people to review.

use super::shapes::{Found, IssueShape, Label};
use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::{Answered, Issues};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::merge::epic::belongs;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::Issue;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::NewIssue;

#[async_trait]
impl Issues for GitHub {
    async fn issue(&self, number: u64) -> Answered<Issue> {
        let shape: IssueShape = self.get(&self.path(&format!("/issues/{number}")), &format!("issue {number}")).await?;
        Ok(shape.into())
    }

    async fn find_issues(&self, words: &str) -> Answered<Vec<Issue>> {
        let found = self.search_issues(words).await?;
        if found.incomplete_results && found.items.is_empty() {
            return Err(self.hollow("the search for issues was cut short"));
        }
        Ok(self.of_here(found.items))
    }

    /// Pull requests are in the list too, and are left out.
    async fn issues_since(&self, since: Option<&str>) -> Answered<Vec<Issue>> {
        let since = since.map(|since| format!("&since={}", segment(since))).unwrap_or_default();
        let path = self.path(&format!("/issues?state=all&sort=updated&direction=asc&per_page=100{since}"));
        let listed = self.pages::<IssueShape>(&path, "the issues").await?;
        Ok(listed.into_iter().filter(|issue| issue.pull_request.is_none()).map(Issue::from).collect())
    }

    /// Those that say so, and the sub-issues. A search that was cut short may have left out the one that matters.
    async fn issue_children(&self, number: u64, keyword: &str) -> Answered<Vec<Issue>> {
        let words = format!("{keyword} {number}");
        let path = self.path(&format!("/issues/{number}/sub_issues?per_page=100"));
        let what = format!("sub-issues of {number}");
        let (found, below) = tokio::join!(self.search_issues(&words), self.pages::<IssueShape>(&path, &what));
        let found = found?;
        if found.incomplete_results || found.total_count > found.items.len() as u64 {
            return Err(self.hollow("the search for the parts of an issue was cut short"));
        }
        let below = match below {
            Ok(below) => below,
            // A server from before there were any.
            Err(ForgeFault::NotFound { .. }) => Vec::new(),
            Err(fault) => return Err(fault),
        };
        let says = |issue: &Issue| belongs(&issue.body, keyword, number);
        let mut children: Vec<Issue> = self.of_here(found.items).into_iter().filter(says).collect();
        // A sub-issue may be in another repository, where its number means nothing here; it counts with its own state all the same.
        children.extend(below.into_iter().map(Issue::from));
        children.retain(|issue| issue.number != number);
        children.sort_by_key(|one| (one.number, !one.open));
        children.dedup_by_key(|issue| issue.number);
        Ok(children)
    }

    async fn create_issue(&self, issue: &NewIssue) -> Answered<Issue> {
        let body = json!({ "title": issue.title, "body": issue.body, "labels": issue.labels });
        let answer = self.write(Phase::Publish, Method::POST, &self.path("/issues"), Some(&body), "an issue").await?;
        Ok(self.made::<IssueShape>(&answer, "an issue")?.into())
    }

    async fn close_issue(&self, number: u64) -> Answered<()> {
        let body = json!({ "state": "closed", "state_reason": "completed" });
        let path = self.path(&format!("/issues/{number}"));
        self.write(Phase::Publish, Method::PATCH, &path, Some(&body), &format!("issue {number}")).await.map(drop)
    }

    async fn add_label(&self, number: u64, label: &Outgoing) -> Answered<()> {
        let path = self.path(&format!("/issues/{number}/labels"));
        self.write(Phase::Publish, Method::POST, &path, Some(&json!({ "labels": [label] })), &format!("the label {label}"))
            .await
            .map(drop)
    }

    async fn remove_label(&self, number: u64, label: &str) -> Answered<()> {
        let path = self.path(&format!("/issues/{number}/labels/{}", segment(label)));
        match self.write(Phase::Publish, Method::DELETE, &path, None, &format!("the label {label}")).await {
            // Either the label is not on it, which is what was wanted, or there is no such thing to take it from.
            Err(fault @ ForgeFault::NotFound { .. }) => {
                let path = self.path(&format!("/issues/{number}/labels?per_page=100"));
                let labels: Vec<Label> = self.pages(&path, &format!("labels of {number}")).await?;
                if labels.iter().any(|found| found.name.eq_ignore_ascii_case(label)) { Err(fault) } else { Ok(()) }
            }
            other => other.map(drop),
        }
    }

    /// A team is asked for as `organisation/team`.
    async fn request_review(&self, number: u64, logins: &[String]) -> Answered<()> {
        let (teams, people): (Vec<&String>, Vec<&String>) = logins.iter().partition(|login| login.contains('/'));
        let teams: Vec<&str> = teams.iter().filter_map(|team| team.rsplit('/').next()).collect();
        let body = json!({ "reviewers": people, "team_reviewers": teams });
        let path = self.path(&format!("/pulls/{number}/requested_reviewers"));
        self.write(Phase::Publish, Method::POST, &path, Some(&body), &format!("reviewers of {number}")).await.map(drop)
    }
}

impl GitHub {
    async fn search_issues(&self, words: &str) -> Answered<Found> {
        // A colon makes a word a condition and a quote binds words together: neither may come from whatever is searched for.
        let plain: String = words.chars().map(|c| if matches!(c, ':' | '"' | '\\') { ' ' } else { c }).collect();
        let query = segment(&format!("repo:{} is:issue {}", self.project.path, plain.trim()));
        self.get(&format!("/search/issues?q={query}&per_page=100"), "issues").await
    }

    fn of_here(&self, items: Vec<IssueShape>) -> Vec<Issue> {
        let here = format!("{}{}", super::roots(&self.project.origin).0, self.repository);
        let ours = |item: &IssueShape| item.pull_request.is_none() && item.repository_url.eq_ignore_ascii_case(&here);
        items.into_iter().filter(ours).map(Issue::from).collect()
    }
}
