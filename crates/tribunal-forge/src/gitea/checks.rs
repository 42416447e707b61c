//! Statuses of a commit. There are no check runs here.

use super::wire::Statuses;
use super::{Gitea, MAX_PAGES, PAGE, total_count};
use crate::http::whole::Whole;
use crate::port::{Answered, CheckCommit};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Check, CheckState};
use tribunal_core::pull::talk::{NewCheckRun, NewStatus};

#[async_trait]
impl CheckCommit for Gitea {
    /// Of the two lists of statuses this one has the latest of each name; the other is a log, oldest first.
    async fn checks(&self, sha: &Sha) -> Answered<Vec<Check>> {
        let what = format!("the status of {}", sha.short());
        let (mut checks, mut most) = (Vec::new(), 0);
        for page in 1..=MAX_PAGES {
            let path = self.repo(&format!("/commits/{sha}/status?page={page}&limit={PAGE}"));
            let answer = self.http.read(&path, &what).await?;
            let total = total_count(&answer);
            let found: Statuses = answer.json(&what)?;
            // Its own count is of the page in some versions, of all in others; the header is of all.
            most = most.max(found.total_count);
            let ended = found.statuses.is_empty();
            checks.extend(found.statuses.into_iter().map(super::wire::Status::check));
            if ended || total.is_some_and(|total| checks.len() >= total) {
                return Ok(Whole::counted(self.http.host(), &what, checks, total.or(Some(most)))?.into_items());
            }
        }
        Err(self.hollow(format!("{what} has more than {MAX_PAGES} pages")))
    }

    async fn set_status(&self, sha: &Sha, status: &NewStatus) -> Answered<()> {
        // Any word is stored, known or not, so only such go out as every version knows.
        let state = match status.state {
            CheckState::Pending => "pending",
            CheckState::Success | CheckState::Skipped => "success",
            CheckState::Failure => "failure",
            CheckState::Error => "error",
        };
        let body = json!({
            "state": state,
            "context": status.context,
            "description": status.description,
            "target_url": status.url.as_deref().unwrap_or_default(),
        });
        let what = format!("a status of {}", sha.short());
        self.tell(Method::POST, &self.repo(&format!("/statuses/{sha}")), Some(&body), &what).await
    }

    async fn check_log(&self, check: &Check) -> Answered<Option<String>> {
        self.log_of(check).await
    }

    async fn check_run(&self, _sha: &Sha, _run: &NewCheckRun) -> Answered<()> {
        Err(self.unsupported("check runs"))
    }
}
