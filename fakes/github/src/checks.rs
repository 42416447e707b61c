//! Statuses and check runs.

use crate::Base;
use crate::model::{CheckRun, Job, Status};
use crate::route::{Visit, invalid, list as paged, refuse, unprocessable};
use crate::site::Site;
use crate::view;
use fake_forge_base::{Level, Reply, Request};
use serde_json::Value;

type Answered = Result<Reply, Reply>;

/// The number of the app whose workflows are those of the forge itself.
const ACTIONS: u64 = 15_368;
/// The number that every other app has here.
const OWN_APP: u64 = 1;

pub fn set_status(site: &mut Site, base: &mut Base, visit: &Visit<'_>, sha: &str) -> Answered {
    visit.may(base, Level::Write, "statuses=write")?;
    if base.repository(&visit.project).rev(sha).is_none() {
        return Err(unprocessable(&format!("No commit found for SHA: {sha}")));
    }
    let text = |name: &str| visit.body[name].as_str().map(str::to_owned);
    if text("description").is_some_and(|words| words.chars().count() > 140) {
        return Err(invalid("Status", "description", "description is too long (maximum is 140 characters)"));
    }
    let state = text("state").unwrap_or_default();
    if !["error", "failure", "pending", "success"].contains(&state.as_str()) {
        return Err(invalid("Status", "state", "state is not included in the list"));
    }
    let status = Status {
        id: base.ids.fresh(),
        sha: sha.to_owned(),
        context: text("context").unwrap_or_else(|| "default".into()),
        state,
        description: text("description"),
        target_url: text("target_url"),
        creator: visit.user(),
        created_at: base.clock.tick(),
    };
    let shown = view::status(base, &visit.project, &status);
    site.world.statuses.push(status);
    Ok(Reply::json(201, &shown))
}

/// All of them, newest first.
pub fn list_statuses(site: &Site, base: &Base, visit: &Visit<'_>, sha: &str) -> Reply {
    let of_commit = site.world.statuses.iter().rev().filter(|status| status.sha == sha);
    paged(base, visit.request, of_commit.map(|status| view::status(base, &visit.project, status)).collect())
}

/// Only an App makes check runs.
fn app_only(base: &Base, visit: &Visit<'_>) -> Result<(), Reply> {
    if visit.caller.permissions.is_none() {
        return Err(refuse(403, "You must authenticate via a GitHub App."));
    }
    visit.may(base, Level::Write, "checks=write")
}

fn fill(run: &mut CheckRun, body: &Value) -> Result<(), Reply> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let annotations: Vec<Value> = body["output"]["annotations"].as_array().cloned().unwrap_or_default();
    if annotations.len() > 50 {
        return Err(unprocessable("No more than 50 annotations may be submitted at once."));
    }
    run.annotations.extend(annotations);
    run.title = text(&body["output"]["title"]).or(run.title.take());
    run.summary = text(&body["output"]["summary"]).or(run.summary.take());
    run.conclusion = text(&body["conclusion"]).or(run.conclusion.take());
    run.status =
        if run.conclusion.is_some() { "completed".into() } else { text(&body["status"]).unwrap_or_else(|| "queued".into()) };
    if run.status == "completed" && run.conclusion.is_none() {
        return Err(unprocessable("conclusion is required when status is completed"));
    }
    Ok(())
}

pub fn create_run(site: &mut Site, base: &mut Base, visit: &Visit<'_>) -> Answered {
    app_only(base, visit)?;
    let text = |name: &str| visit.body[name].as_str().unwrap_or_default().to_owned();
    let sha = text("head_sha");
    if base.repository(&visit.project).rev(&sha).is_none() {
        return Err(unprocessable(&format!("No commit found for SHA: {sha}")));
    }
    let mut run = CheckRun {
        id: base.ids.fresh(),
        sha,
        name: text("name"),
        status: String::new(),
        conclusion: None,
        title: None,
        summary: None,
        annotations: Vec::new(),
        started_at: base.clock.tick(),
        app: OWN_APP,
        suite: OWN_APP,
        job: None,
    };
    fill(&mut run, &visit.body)?;
    let shown = view::check_run(base, &visit.project, &run);
    site.world.runs.push(run);
    Ok(Reply::json(201, &shown))
}

impl Site {
    /// An app reports a result, in one of its suites.
    pub fn report_run(&mut self, base: &mut Base, sha: &str, name: &str, conclusion: &str, (app, suite): (u64, u64)) {
        self.world.runs.push(CheckRun {
            id: base.ids.fresh(),
            sha: sha.to_owned(),
            name: name.to_owned(),
            status: "completed".into(),
            conclusion: Some(conclusion.into()),
            title: None,
            summary: None,
            annotations: Vec::new(),
            started_at: base.clock.tick(),
            app,
            suite,
            job: None,
        });
    }

    /// A job of a workflow fails at a commit, and has printed this.
    pub fn fail_job(&mut self, base: &mut Base, project: &str, sha: &str, name: &str, log: &str) {
        let (id, run) = (base.ids.fresh(), base.ids.fresh());
        let page = format!("{}/{project}/actions/runs/{run}/job/{id}", base.url);
        let annotation = serde_json::json!({
            "path": ".github", "start_line": 1, "end_line": 1, "annotation_level": "failure",
            "message": "Process completed with exit code 1.",
        });
        self.world.runs.push(CheckRun {
            id,
            sha: sha.to_owned(),
            name: name.to_owned(),
            status: "completed".into(),
            conclusion: Some("failure".into()),
            title: None,
            summary: None,
            annotations: vec![annotation],
            started_at: base.clock.tick(),
            app: ACTIONS,
            suite: run,
            job: Some(Job { page, log: log.to_owned() }),
        });
    }
}

fn run_of(site: &Site, id: u64) -> Result<&CheckRun, Reply> {
    site.world.runs.iter().find(|run| run.id == id).ok_or_else(|| refuse(404, "Not Found"))
}

pub fn one_run(site: &Site, base: &Base, visit: &Visit<'_>, id: u64) -> Answered {
    visit.may(base, Level::Read, "checks=read")?;
    Ok(Reply::json(200, &view::check_run(base, &visit.project, run_of(site, id)?)))
}

pub fn annotations(site: &Site, base: &Base, visit: &Visit<'_>, id: u64) -> Answered {
    visit.may(base, Level::Read, "checks=read")?;
    let run = run_of(site, id)?;
    let shown = run.annotations.iter().map(|annotation| view::annotation(base, &visit.project, run, annotation)).collect();
    Ok(crate::route::list(base, visit.request, shown))
}

/// A log lies on another host, at an address that is good for a minute.
pub fn job_log(site: &Site, base: &Base, visit: &Visit<'_>, id: u64) -> Answered {
    visit.may(base, Level::Read, "actions=read")?;
    run_of(site, id)?.job.as_ref().ok_or_else(|| refuse(404, "Not Found"))?;
    let elsewhere = base.url.replace("127.0.0.1", "localhost");
    Ok(Reply::empty(302).header("location", &format!("{elsewhere}/signed-logs/{id}?sig=good-for-a-minute")))
}

/// The other host: whoever shows it a token is refused, as the real one does.
pub fn signed_log(site: &Site, request: &Request, id: u64) -> Reply {
    if request.header("authorization").is_some() || request.query_value("sig").is_none() {
        return Reply::text(400, "InvalidAuthenticationInfo");
    }
    match run_of(site, id).ok().and_then(|run| run.job.as_ref()) {
        Some(job) => Reply::text(200, &job.log),
        None => Reply::text(404, "BlobNotFound"),
    }
}

pub fn update_run(site: &mut Site, base: &mut Base, visit: &Visit<'_>, id: u64) -> Answered {
    app_only(base, visit)?;
    let Some(run) = site.world.runs.iter_mut().find(|run| run.id == id) else { return Err(refuse(404, "Not Found")) };
    fill(run, &visit.body)?;
    Ok(Reply::json(200, &view::check_run(base, &visit.project, run)))
}
