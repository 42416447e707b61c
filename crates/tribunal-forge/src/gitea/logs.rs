//! What a job of a workflow printed. A status names its job by an address, and the two flavours number jobs there differently: Gitea by
//! their id, which it did not always do, and Forgejo by their place in the run. So a job is only believed to be the right one when it
//! says itself that it lives at that address.

use super::{Flavour, Gitea};
use crate::port::{Answered, or_none};
use serde::Deserialize;
use tribunal_core::feedback::log::READ;
use tribunal_core::pull::facts::Check;
use tribunal_core::pull::fault::ForgeFault;

#[derive(Deserialize)]
struct Job {
    id: u64,
    #[serde(default)]
    html_url: String,
}

#[derive(Deserialize)]
struct Runs {
    workflow_runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    id: u64,
    index_in_repo: u64,
}

/// `/owner/name/actions/runs/3/jobs/7`, wherever the server lives.
struct Address<'a> {
    path: &'a str,
    run: u64,
    job: u64,
}

impl Gitea {
    pub(super) async fn log_of(&self, check: &Check) -> Answered<Option<String>> {
        if !self.abilities().await?.job_logs {
            return Err(self.unsupported("logs of checks"));
        }
        let Some(address) = address(&self.project.path, &check.url) else { return Ok(None) };
        let found = match self.flavour {
            Flavour::Gitea => self.job_by_id(&address).await,
            Flavour::Forgejo => self.job_in_run(&address).await,
        };
        match found {
            Ok(Some(id)) => {
                let path = self.repo(&format!("/actions/jobs/{id}/logs"));
                or_none(self.http.tail(&path, &format!("the log of {}", check.name), READ).await)
            }
            Ok(None) | Err(ForgeFault::NotFound { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    async fn job_by_id(&self, address: &Address<'_>) -> Answered<Option<u64>> {
        let job: Job = self.http.get(&self.repo(&format!("/actions/jobs/{}", address.job)), "a job").await?;
        Ok(address.is_of(&job).then_some(job.id))
    }

    async fn job_in_run(&self, address: &Address<'_>) -> Answered<Option<u64>> {
        let runs: Runs = self.http.get(&self.repo(&format!("/actions/runs?run_number={}", address.run)), "a run").await?;
        let Some(run) = runs.workflow_runs.into_iter().find(|run| run.index_in_repo == address.run) else { return Ok(None) };
        let jobs: Vec<Job> = self.uncounted(&self.repo(&format!("/actions/runs/{}/jobs", run.id)), "the jobs of a run").await?;
        Ok(jobs.into_iter().find(|job| address.is_of(job)).map(|job| job.id))
    }
}

impl Address<'_> {
    /// Forgejo adds which attempt it was.
    fn is_of(&self, job: &Job) -> bool {
        job.html_url.split_once(self.path).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The job that a status points at, if it is one of this repository.
fn address<'a>(project: &str, url: &'a str) -> Option<Address<'a>> {
    let runs = format!("/{project}/actions/runs/");
    // A person may write the name in other letters than the server does.
    let path = &url[url.to_ascii_lowercase().find(&runs.to_ascii_lowercase())?..];
    let (run, job) = path[runs.len()..].split_once("/jobs/")?;
    let job_digits = job.bytes().take_while(u8::is_ascii_digit).count();
    let end = path.len() - job.len() + job_digits;
    Some(Address { path: &path[..end], run: run.parse().ok()?, job: job[..job_digits].parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_told_by_its_address() {
        let found = address("acme/shop", "https://h/sub/acme/shop/actions/runs/3/jobs/7/attempt/2").unwrap();
        assert_eq!((found.path, found.run, found.job), ("/acme/shop/actions/runs/3/jobs/7", 3, 7));
        let job = |url: &str| Job { id: 1, html_url: url.into() };
        assert!(found.is_of(&job("https://h/sub/acme/shop/actions/runs/3/jobs/7")));
        assert!(found.is_of(&job("https://h/sub/acme/shop/actions/runs/3/jobs/7/attempt/1")));
        assert!(!found.is_of(&job("https://h/sub/acme/shop/actions/runs/3/jobs/71")));
        for other in ["", "https://ci.example.org/acme/shop/7", "/acme/other/actions/runs/3/jobs/7", "/acme/shop/actions/runs/3"]
        {
            assert!(address("acme/shop", other).is_none(), "{other}");
        }
    }
}
