//! Statuses and check runs: two things on GitHub, one to whoever waits for them.

use super::graphql::{self, PageInfo};
use super::shapes::{StatusShape, account};
use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::{Answered, CheckCommit};
use async_trait::async_trait;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Check, CheckState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::reports::{CheckReport, Reporter, counted};
use tribunal_core::pull::talk::{Annotation, AnnotationLevel, NewCheckRun, NewStatus};

const MAX_PAGES: usize = 50;
/// One call takes no more; the rest is appended.
const ANNOTATIONS: usize = 50;
const DESCRIPTION: usize = 140;
const SUMMARY: usize = 65_000;

#[derive(Deserialize)]
struct OfRepository {
    repository: Option<OfObject>,
}

#[derive(Deserialize)]
struct OfObject {
    object: Option<Commit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    /// Null where nothing reported anything.
    status_check_rollup: Option<Rollup>,
}

#[derive(Deserialize)]
struct Rollup {
    contexts: Contexts,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contexts {
    page_info: PageInfo,
    nodes: Vec<Context>,
}

#[derive(Deserialize)]
#[serde(tag = "__typename")]
enum Context {
    #[serde(rename_all = "camelCase")]
    CheckRun {
        database_id: Option<u64>,
        name: String,
        status: String,
        conclusion: Option<String>,
        title: Option<String>,
        details_url: Option<String>,
        started_at: Option<String>,
        check_suite: CheckSuite,
    },
    #[serde(rename_all = "camelCase")]
    StatusContext { context: String, state: String, description: Option<String>, target_url: Option<String>, created_at: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckSuite {
    database_id: Option<u64>,
    app: Option<App>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct App {
    database_id: Option<u64>,
}

impl CheckSuite {
    /// Where GitHub does not name the app, the suite alone tells reporters apart.
    fn reporter(self) -> Reporter {
        let number = |id: Option<u64>| id.map(|id| id.to_string()).unwrap_or_default();
        let suite = number(self.database_id);
        let app = self.app.and_then(|app| app.database_id).map_or_else(|| format!("suite {suite}"), |id| id.to_string());
        Reporter::App { app, suite }
    }
}

impl Context {
    fn report(self) -> CheckReport {
        match self {
            Context::CheckRun { database_id, name, status, conclusion, title, details_url, started_at, check_suite } => {
                let state = match (status.as_str(), conclusion.as_deref()) {
                    ("COMPLETED", Some("SUCCESS" | "NEUTRAL")) => CheckState::Success,
                    ("COMPLETED", Some("SKIPPED")) => CheckState::Skipped,
                    ("COMPLETED", Some("FAILURE" | "ACTION_REQUIRED" | "TIMED_OUT")) => CheckState::Failure,
                    // Cancelled, stale, not started, and whatever is added later: no result.
                    ("COMPLETED", _) => CheckState::Error,
                    _ => CheckState::Pending,
                };
                let made = (started_at.unwrap_or_default(), database_id.unwrap_or_default());
                let (description, url) = (title.unwrap_or_default(), details_url.unwrap_or_default());
                let check = Check { name, state, description, url, run: database_id.map(|id| id.to_string()) };
                CheckReport { check, reporter: check_suite.reporter(), made }
            }
            Context::StatusContext { context, state, description, target_url, created_at } => {
                let (description, url) = (description.unwrap_or_default(), target_url.unwrap_or_default());
                let check = Check { name: context, state: status_state(&state), description, url, run: None };
                // By nobody in particular: the list of statuses names who set it.
                CheckReport { check, reporter: Reporter::Account(String::new()), made: (created_at, 0) }
            }
        }
    }
}

/// GraphQL writes the words large, REST small.
fn status_state(word: &str) -> CheckState {
    match word.to_ascii_uppercase().as_str() {
        "SUCCESS" => CheckState::Success,
        "FAILURE" => CheckState::Failure,
        "PENDING" | "EXPECTED" => CheckState::Pending,
        _ => CheckState::Error,
    }
}

impl GitHub {
    /// What was set at a commit, by everybody who set something: the rollup has only the newest of each name, whoever set it.
    async fn statuses(&self, sha: &Sha, what: &str) -> Answered<Vec<CheckReport>> {
        let path = self.path(&format!("/commits/{}/statuses?per_page=100", segment(sha.as_str())));
        let listed: Vec<StatusShape> = self.pages(&path, what).await?;
        Ok(listed.into_iter().map(StatusShape::report).collect())
    }
}

impl StatusShape {
    fn report(self) -> CheckReport {
        let reporter = Reporter::Account(account(self.creator).id);
        let (description, url) = (self.description.unwrap_or_default(), self.target_url.unwrap_or_default());
        let check = Check { name: self.context, state: status_state(&self.state), description, url, run: None };
        CheckReport { check, reporter, made: (self.created_at, self.id) }
    }
}

#[async_trait]
impl CheckCommit for GitHub {
    async fn checks(&self, sha: &Sha) -> Answered<Vec<Check>> {
        let (owner, name) = self.project.owner_and_name();
        let what = format!("checks of {}", sha.short());
        let (mut reports, mut rollup_statuses) = (Vec::new(), Vec::new());
        let mut after: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let variables = json!({ "owner": owner, "name": name, "sha": sha, "after": after });
            let said: OfRepository = self.query(graphql::CHECKS, variables, &what).await?;
            let object = said.repository.ok_or_else(|| self.hollow(format!("{what}: no repository")))?.object;
            let Some(commit) = object else {
                return Err(ForgeFault::NotFound {
                    host: self.project.host().to_owned(),
                    what: format!("commit {}", sha.short()),
                });
            };
            let Some(rollup) = commit.status_check_rollup else { break };
            for context in rollup.contexts.nodes {
                match context {
                    run @ Context::CheckRun { .. } => reports.push(run.report()),
                    status @ Context::StatusContext { .. } => rollup_statuses.push(status.report()),
                }
            }
            after = self.next(rollup.contexts.page_info, &what)?;
            if after.is_none() {
                break;
            }
        }
        if after.is_some() {
            return Err(self.hollow(format!("{what} have more than {MAX_PAGES} pages")));
        }
        if !rollup_statuses.is_empty() {
            let listed = self.statuses(sha, &what).await?;
            let names: BTreeSet<&str> = listed.iter().map(|report| report.check.name.as_str()).collect();
            // A status that is expected was set by nobody and is in no list.
            rollup_statuses.retain(|report| !names.contains(report.check.name.as_str()));
            reports.extend(rollup_statuses);
            reports.extend(listed);
        }
        Ok(counted(reports))
    }

    async fn set_status(&self, sha: &Sha, status: &NewStatus) -> Answered<()> {
        let state = match status.state {
            CheckState::Pending => "pending",
            CheckState::Success | CheckState::Skipped => "success",
            CheckState::Failure => "failure",
            CheckState::Error => "error",
        };
        let mut body = json!({ "state": state, "context": status.context, "description": cut(&status.description, DESCRIPTION) });
        if let Some(url) = &status.url {
            body["target_url"] = json!(url);
        }
        let path = self.path(&format!("/statuses/{}", segment(sha.as_str())));
        self.write(Phase::Publish, Method::POST, &path, Some(&body), &format!("the status {}", status.context)).await.map(drop)
    }

    async fn check_log(&self, check: &Check) -> Answered<Option<String>> {
        self.log_of(check).await
    }

    async fn check_run(&self, sha: &Sha, run: &NewCheckRun) -> Answered<()> {
        if !self.sessions.is_app() {
            let what = "check runs, which only a GitHub App can make".to_owned();
            return Err(ForgeFault::Unsupported { kind: "GitHub".into(), what });
        }
        let what = format!("the check run {}", run.name);
        let mut parts = run.annotations.chunks(ANNOTATIONS);
        let first = parts.next().unwrap_or_default();
        let rest: Vec<&[Annotation]> = parts.collect();
        // The result comes with the last part: a run that is not whole must not look settled.
        let mut body = output(run, first, rest.is_empty());
        body["head_sha"] = json!(sha);
        let answer = self.write(Phase::Publish, Method::POST, &self.path("/check-runs"), Some(&body), &what).await?;
        if rest.is_empty() {
            return Ok(());
        }
        let half = |fault: ForgeFault| ForgeFault::Uncertain {
            host: self.project.host().to_owned(),
            message: format!("a part of {what} is there: {fault}"),
        };
        let id = answer.json::<Value>(&what).map_err(half)?["id"].as_u64();
        let id = id.ok_or_else(|| half(self.hollow("a check run without an id")))?;
        let count = rest.len();
        for (index, part) in rest.into_iter().enumerate() {
            let body = output(run, part, index + 1 == count);
            let path = self.path(&format!("/check-runs/{id}"));
            self.write(Phase::Publish, Method::PATCH, &path, Some(&body), &what).await.map_err(half)?;
        }
        Ok(())
    }
}

fn output(run: &NewCheckRun, annotations: &[Annotation], is_last: bool) -> Value {
    let annotations: Vec<Value> = annotations.iter().map(annotation).collect();
    let output = json!({ "title": cut(&run.title, 255), "summary": cut(&run.summary, SUMMARY), "annotations": annotations });
    let conclusion = match run.state {
        CheckState::Pending => None,
        CheckState::Success => Some("success"),
        CheckState::Failure => Some("failure"),
        CheckState::Error => Some("cancelled"),
        CheckState::Skipped => Some("skipped"),
    };
    match conclusion.filter(|_| is_last) {
        Some(conclusion) => json!({ "name": run.name, "status": "completed", "conclusion": conclusion, "output": output }),
        None => json!({ "name": run.name, "status": "in_progress", "output": output }),
    }
}

fn annotation(annotation: &Annotation) -> Value {
    let level = match annotation.level {
        AnnotationLevel::Notice => "notice",
        AnnotationLevel::Warning => "warning",
        AnnotationLevel::Failure => "failure",
    };
    json!({
        "path": annotation.path,
        "start_line": annotation.start_line,
        "end_line": annotation.end_line,
        "annotation_level": level,
        "title": cut(&annotation.title, 255),
        "message": cut(&annotation.message, SUMMARY),
    })
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}
