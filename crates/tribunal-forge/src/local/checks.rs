//! What is said about commits.

use super::fault::{HOST, LocalFault};
use super::{Local, Locally, blocking, malformed, now};
use crate::port::{Answered, CheckCommit};
use async_trait::async_trait;
use tribunal_core::ids::Sha;
use tribunal_core::pull::desk::status::Status;
use tribunal_core::pull::facts::Check;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewCheckRun, NewStatus};

impl Local {
    pub async fn checks_of(&self, sha: &Sha) -> Locally<Vec<Check>> {
        let bodies = self.book.statuses(sha.as_str()).await?;
        bodies.iter().map(|body| Ok(status(body)?.check(sha))).collect()
    }

    /// `log` is what the check printed; its end is kept.
    pub async fn put_status(&self, sha: &Sha, status: &NewStatus, log: Option<&str>) -> Locally<()> {
        let (repository, commit) = (self.repository.clone(), sha.clone());
        // By its full id only: a check that is meant for one commit must not land on another.
        let is_here = blocking(move || Ok(repository.commit(commit.as_str()).is_ok_and(|found| found == commit))).await?;
        if !is_here {
            return Err(LocalFault::NoCommit(sha.clone()));
        }
        let status = Status::new(status, &self.me, now()).map_err(malformed)?.with_log(log);
        let body =
            serde_json::to_string(&status).map_err(|error| LocalFault::Unreadable { number: 0, problem: error.to_string() })?;
        Ok(self.book.put_status(sha.as_str(), &status.name, &body).await?)
    }
}

fn status(body: &str) -> Locally<Status> {
    serde_json::from_str(body).map_err(|error| LocalFault::Unreadable { number: 0, problem: error.to_string() })
}

#[async_trait]
impl CheckCommit for Local {
    async fn checks(&self, sha: &Sha) -> Answered<Vec<Check>> {
        Ok(self.checks_of(sha).await?)
    }

    async fn set_status(&self, sha: &Sha, status: &NewStatus) -> Answered<()> {
        Ok(self.put_status(sha, status, None).await?)
    }

    async fn check_log(&self, check: &Check) -> Answered<Option<String>> {
        let Some(sha) = &check.run else { return Ok(None) };
        let bodies = self.book.statuses(sha).await.map_err(LocalFault::from)?;
        for body in &bodies {
            let status = status(body)?;
            if status.name == check.name {
                return Ok(status.log);
            }
        }
        Ok(None)
    }

    async fn check_run(&self, _: &Sha, _: &NewCheckRun) -> Answered<()> {
        Err(ForgeFault::Unsupported { kind: HOST.to_owned(), what: "check runs with annotations".to_owned() })
    }
}
