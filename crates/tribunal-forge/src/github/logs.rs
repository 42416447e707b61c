//! What a check run says beyond its title: its output and annotations, and what a job of a workflow printed.

use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::{Answered, or_none};
use serde::Deserialize;
use tribunal_core::feedback::log::READ;
use tribunal_core::pull::facts::Check;
use tribunal_core::pull::fault::ForgeFault;

/// More than a fixer is shown.
const ANNOTATIONS: usize = 50;

#[derive(Deserialize)]
struct Run {
    output: Output,
}

#[derive(Deserialize)]
struct Output {
    summary: Option<String>,
    text: Option<String>,
    annotations_count: u64,
}

#[derive(Deserialize)]
struct Annotation {
    path: String,
    start_line: u32,
    annotation_level: Option<String>,
    title: Option<String>,
    message: Option<String>,
}

impl Annotation {
    /// As compilers write it.
    fn line(&self) -> String {
        let words = [self.annotation_level.as_deref().unwrap_or("notice"), self.title.as_deref().unwrap_or_default()];
        let words: Vec<&str> =
            words.into_iter().chain([self.message.as_deref().unwrap_or_default()]).filter(|word| !word.is_empty()).collect();
        format!("{}:{}: {}", self.path, self.start_line, words.join(": "))
    }
}

impl GitHub {
    /// The annotations come last: they name the places, and the end is what is kept.
    pub(super) async fn log_of(&self, check: &Check) -> Answered<Option<String>> {
        let Some(run) = check.run.as_deref() else { return Ok(None) };
        let output = self.output_of(run, &check.name).await?;
        let job = self.job_of(check);
        let printed = match job {
            // Without the right to logs, what the run says of itself is still something.
            Some(job) => match self.printed(job, &check.name).await {
                Err(fault) if output.is_empty() => return Err(fault),
                printed => printed.ok().flatten(),
            },
            None => None,
        };
        let parts: Vec<String> = printed.into_iter().chain(output).collect();
        Ok((!parts.is_empty()).then(|| parts.join("\n")))
    }

    /// The number of a workflow's job, which its own page names; what another App made has none.
    fn job_of<'a>(&self, check: &'a Check) -> Option<&'a str> {
        let runs = format!("{}/{}/actions/runs/", self.project.origin, self.project.path);
        let (begin, rest) = check.url.split_at_checked(runs.len())?;
        let (_, job) = rest.split_once("/job/").filter(|_| begin.eq_ignore_ascii_case(&runs))?;
        let job = job.split(['?', '#', '/']).next()?;
        (!job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit())).then_some(job)
    }

    async fn printed(&self, job: &str, name: &str) -> Answered<Option<String>> {
        let http = self.sessions.http(Phase::Logs).await?;
        let path = self.path(&format!("/actions/jobs/{}/logs", segment(job)));
        or_none(http.tail(&path, &format!("the log of {name}"), READ).await)
    }

    async fn output_of(&self, run: &str, name: &str) -> Answered<Vec<String>> {
        let what = format!("the check run {name}");
        let path = self.path(&format!("/check-runs/{}", segment(run)));
        let output = match self.get::<Run>(&path, &what).await {
            Ok(run) => run.output,
            Err(ForgeFault::NotFound { .. }) => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut parts: Vec<String> = [output.summary, output.text].into_iter().flatten().collect();
        if output.annotations_count > 0 {
            let path = format!("{path}/annotations?per_page={ANNOTATIONS}");
            let annotations: Vec<Annotation> = self.get(&path, &what).await?;
            parts.extend(annotations.iter().map(Annotation::line));
        }
        parts.retain(|part| !part.trim().is_empty());
        Ok(parts)
    }
}
