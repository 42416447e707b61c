//! Commit statuses: those of pipelines and those that others set, in one list.
//!
//! A status is hung on a branch that holds the commit. For a fork's commit the project has none, and GitLab answers 404 unless the
//! fork's pipeline ran here.

use super::GitLab;
use super::wire::Status;
use crate::http::client::segment;
use crate::port::{Answered, CheckCommit, or_none};
use async_trait::async_trait;
use serde_json::json;
use std::collections::BTreeMap;
use tribunal_core::feedback::log::READ;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Check, CheckState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewCheckRun, NewStatus};

#[async_trait]
impl CheckCommit for GitLab {
    async fn checks(&self, sha: &Sha) -> Answered<Vec<Check>> {
        let mut newest: BTreeMap<String, Status> = BTreeMap::new();
        for status in self.statuses(sha).await? {
            if newest.get(&status.name).is_none_or(|kept| kept.id < status.id) {
                newest.insert(status.name.clone(), status);
            }
        }
        Ok(newest.into_values().map(check).collect())
    }

    async fn set_status(&self, sha: &Sha, status: &NewStatus) -> Answered<()> {
        let mut body = json!({ "state": word(status.state), "name": status.context, "description": status.description });
        if let Some(url) = &status.url {
            body["target_url"] = url.clone().into();
        }
        let path = self.of_project(&format!("/statuses/{}", segment(sha.as_str())));
        match self.post(&path, &body, &format!("the status of {}", sha.short())).await {
            Ok(_) => Ok(()),
            // What waits cannot be made to wait once more; it does so already.
            Err(fault @ ForgeFault::Refused { status: 400, .. }) if status.state == CheckState::Pending => {
                let there = self.checks(sha).await?;
                let waits = there.iter().any(|check| check.name == status.context && check.state == CheckState::Pending);
                if waits { Ok(()) } else { Err(fault) }
            }
            Err(fault) => Err(fault),
        }
    }

    /// The numbers of statuses and of jobs are one row; only for a job does GitLab keep what it printed.
    async fn check_log(&self, check: &Check) -> Answered<Option<String>> {
        let Some(job) = check.run.as_deref().filter(|run| is_job(&check.url, run)) else { return Ok(None) };
        let path = self.of_project(&format!("/jobs/{}/trace", segment(job)));
        or_none(self.http.tail(&path, &format!("the log of {}", check.name), READ).await)
    }

    async fn check_run(&self, _sha: &Sha, _run: &NewCheckRun) -> Answered<()> {
        Err(self.unsupported("check runs with annotations"))
    }
}

impl GitLab {
    async fn statuses(&self, sha: &Sha) -> Answered<Vec<Status>> {
        let path = self.of_project(&format!("/repository/commits/{}/statuses", segment(sha.as_str())));
        self.list(&path, &format!("the statuses of {}", sha.short())).await
    }
}

/// Is this the page of the job with this number?
fn is_job(url: &str, number: &str) -> bool {
    ["/jobs/", "/builds/"].iter().any(|kind| url.ends_with(&format!("{kind}{number}")))
}

fn check(status: Status) -> Check {
    let state = match status.status.as_str() {
        "success" => CheckState::Success,
        // A job that may fail holds nothing up.
        "failed" if status.allow_failure => CheckState::Skipped,
        "failed" => CheckState::Failure,
        "canceled" => CheckState::Error,
        "skipped" => CheckState::Skipped,
        "manual" if status.allow_failure => CheckState::Skipped,
        // Created, waiting, preparing, running, scheduled, and whatever a newer server calls what is not over.
        _ => CheckState::Pending,
    };
    Check {
        name: status.name,
        state,
        description: status.description.unwrap_or_default(),
        url: status.target_url.unwrap_or_default(),
        run: Some(status.id.to_string()),
    }
}

fn word(state: CheckState) -> &'static str {
    match state {
        CheckState::Pending => "pending",
        CheckState::Success => "success",
        CheckState::Failure => "failed",
        CheckState::Error => "canceled",
        CheckState::Skipped => "skipped",
    }
}
