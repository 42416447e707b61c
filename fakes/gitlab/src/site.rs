//! Which call goes where.

use crate::call::{Call, forbidden, not_found, unauthorized};
use crate::state::{Quirk, Rules, State, Status};
use crate::{drafts, issues, merging, notes, people, requests, statuses};
use fake_forge_base::{Base, Level, Reply, Request, Site, User};
use serde_json::json;

/// A GitLab with any number of projects.
#[derive(Debug, Default)]
pub struct GitLab {
    pub(crate) state: State,
}

impl GitLab {
    pub fn new(rules: Rules) -> GitLab {
        GitLab { state: State { rules, ..State::default() } }
    }

    pub fn rules(&mut self) -> &mut Rules {
        &mut self.state.rules
    }

    /// Takes up what a test committed past the server.
    pub fn look(&mut self, base: &mut Base<Quirk>) {
        requests::catch_up(&mut self.state, base);
    }

    /// A job of a pipeline fails at a commit, and has printed this.
    pub fn fail_job(&mut self, base: &mut Base<Quirk>, path: &str, sha: &str, name: &str, log: &str, by: &User) {
        let (id, project) = (base.ids.fresh(), base.project(path).expect("a project").id);
        self.state.statuses.push(Status {
            id,
            project,
            sha: sha.to_owned(),
            name: name.to_owned(),
            state: "failed".into(),
            description: None,
            target_url: Some(format!("{}/{path}/-/jobs/{id}", base.url)),
            author: by.clone(),
            log: Some(log.to_owned()),
        });
    }

    /// Something else than a conflict or a draft holds a request up: `ci_still_running`, `not_approved`.
    pub fn hold_up(&mut self, project: u64, number: u64, reason: Option<&str>) {
        if let Some(request) = self.state.requests.get_mut(&(project, number)) {
            request.held_up = reason.map(str::to_owned);
        }
    }
}

impl Site for GitLab {
    type Fault = Quirk;

    fn answer(&mut self, base: &mut Base<Quirk>, request: &Request) -> Option<Reply> {
        let segments = request.segments();
        let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        let ["api", "v4", rest @ ..] = parts.as_slice() else { return None };
        let is_write = request.method != "GET";
        let caller = base.caller(request);
        if (request.token().is_some() || is_write) && caller.is_none() {
            return Some(unauthorized());
        }
        if is_write && let Some(refusal) = may_not_write(base, request) {
            return Some(refusal);
        }
        let mut call = Call { base, request, caller, project: 0, path: String::new() };
        match rest {
            ["projects", name, rest @ ..] => {
                let found = match name.parse::<u64>() {
                    Ok(id) => call.base.project_by_id(id),
                    Err(_) => call.base.project(name),
                };
                let Some((project, path)) = found.map(|project| (project.id, project.path.clone())) else {
                    return Some(elsewhere(&call, name));
                };
                (call.project, call.path) = (project, path);
                if call.level() == Level::None {
                    return Some(not_found("Project"));
                }
                self.in_project(&mut call, rest)
            }
            rest => people::answer(&mut call, rest, &self.state.rules),
        }
    }

    fn pushed(&mut self, base: &mut Base<Quirk>, _project: &str) {
        requests::catch_up(&mut self.state, base);
    }
}

impl GitLab {
    fn in_project(&mut self, call: &mut Call<'_>, rest: &[&str]) -> Option<Reply> {
        let state = &mut self.state;
        let method = call.request.method.clone();
        match (method.as_str(), rest) {
            ("GET", []) => Some(requests::project(state, call)),
            ("GET", ["approval_rules"]) => Some(requests::approval_rules(state, call)),
            ("GET", ["members", "all", id]) => Some(people::member(call, id)),
            ("GET", ["repository", "branches", name]) => Some(requests::branch(call, name)),
            ("GET", ["repository", "commits", sha, "statuses"]) => Some(statuses::list(state, call, sha)),
            ("GET", ["jobs", id, "trace"]) => Some(statuses::trace(state, call, id)),
            ("POST", ["statuses", sha]) => Some(statuses::set(state, call, sha)),
            ("GET", ["merge_requests"]) => Some(requests::list(state, call)),
            ("POST", ["merge_requests"]) => Some(requests::create(state, call)),
            (_, ["merge_requests", number, rest @ ..]) => {
                let key = (call.project, number.parse().ok()?);
                if !state.requests.contains_key(&key) {
                    return Some(not_found("Merge Request"));
                }
                of_request(state, call, key, method.as_str(), rest)
            }
            (_, ["issues", rest @ ..]) => issues::answer(state, call, rest),
            _ => None,
        }
    }
}

fn of_request(state: &mut State, call: &mut Call<'_>, key: (u64, u64), method: &str, rest: &[&str]) -> Option<Reply> {
    Some(match (method, rest) {
        ("GET", []) => requests::show(state, call, key),
        ("PUT", []) => requests::update(state, call, key),
        ("GET", ["reviewers"]) => requests::reviewers(state, call, key),
        ("GET", ["versions"]) => requests::versions(state, call, key),
        ("GET", ["versions", id]) => requests::version(state, call, key, id),
        ("PUT", ["merge"]) => merging::merge(state, call, key),
        ("PUT", ["rebase"]) => merging::rebase(state, call, key),
        ("POST", ["cancel_merge_when_pipeline_succeeds"]) => merging::cancel(call, false),
        ("POST", ["cancel_auto_merge"]) => merging::cancel(call, true),
        ("GET", ["approvals"]) => merging::approvals(state, call, key),
        ("POST", ["approve"]) => merging::approve(state, call, key),
        (_, ["notes" | "discussions" | "award_emoji", ..]) => return notes::answer(state, call, key, rest),
        (_, ["draft_notes", rest @ ..]) => return drafts::answer(state, call, key, rest),
        _ => return None,
    })
}

/// A job's token only looks; any other needs the scope.
fn may_not_write(base: &Base<Quirk>, request: &Request) -> Option<Reply> {
    if request.header("job-token").is_some() {
        return Some(forbidden());
    }
    let token = request.token()?;
    let scopes = &base.people.find_token(&token, base.clock.now())?.scopes;
    if scopes.contains("api") {
        return None;
    }
    let said = "The request requires higher privileges than provided by the access token.";
    Some(Reply::json(403, &json!({ "error": "insufficient_scope", "error_description": said, "scope": "api" })))
}

/// 18: a project that was renamed answers where it is now.
fn elsewhere(call: &Call<'_>, name: &str) -> Reply {
    let Some(to) = call.base.new_name(name) else { return not_found("Project") };
    let Some(id) = call.base.project(to).map(|project| project.id) else { return not_found("Project") };
    let old = call.request.path.split('/').nth(4).unwrap_or_default();
    let moved = call.request.path.replacen(old, &id.to_string(), 1);
    let query = if call.request.query.is_empty() { String::new() } else { format!("?{}", call.request.query) };
    let location = format!("{}{moved}{query}", call.base.url);
    Reply::json(301, &json!({ "message": "This resource has been moved permanently" })).header("location", &location)
}
