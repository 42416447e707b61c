//! Which path leads where. What is not here a test may not ask for.

use crate::gate::{self, Caller};
use crate::site::Site;
use crate::{Base, app, checks, graphql, issues, merge, pulls, reviews, rules, talk};
use fake_forge_base::{Level, Reply, Request, page};
use serde_json::{Value, json};

/// A request that got as far as a repository.
pub struct Visit<'a> {
    pub request: &'a Request,
    pub caller: Caller,
    pub project: String,
    pub project_id: u64,
    pub body: Value,
}

impl Visit<'_> {
    pub fn may(&self, base: &Base, level: Level, permission: &str) -> Result<(), Reply> {
        self.caller.may(base, &self.project, level, permission)
    }

    /// Whoever writes is somebody: the right to was checked before.
    pub fn user(&self) -> u64 {
        self.caller.id().expect("a caller")
    }
}

pub fn refuse(status: u16, message: &str) -> Reply {
    let body = json!({ "message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string() });
    Reply::json(status, &body)
}

pub fn unprocessable(message: &str) -> Reply {
    let errors = json!([message]);
    let body = json!({
        "message": "Unprocessable Entity", "errors": errors, "documentation_url": "https://docs.github.com/rest", "status": "422",
    });
    Reply::json(422, &body)
}

/// The errors of most routes are objects, with the words inside.
pub fn invalid(resource: &str, field: &str, message: &str) -> Reply {
    let errors = json!([{ "resource": resource, "code": "custom", "field": field, "message": message }]);
    let body = json!({
        "message": "Validation Failed", "errors": errors, "documentation_url": "https://docs.github.com/rest", "status": "422",
    });
    Reply::json(422, &body)
}

/// A list, thirty to a page unless asked otherwise.
pub fn list(base: &Base, request: &Request, items: Vec<Value>) -> Reply {
    let paged = page(items, request, &base.url, &["per_page"], 30, 100);
    let reply = Reply::json(200, &Value::Array(paged.items));
    paged.link.iter().fold(reply, |reply, link| reply.header("link", link))
}

pub fn answer(site: &mut Site, base: &mut Base, request: &Request) -> Option<Reply> {
    if let Some(trouble) = gate::trouble(base, request) {
        return Some(trouble);
    }
    let reply = decide(site, base, request)?;
    Some(gate::leave(base, request, reply))
}

fn decide(site: &mut Site, base: &mut Base, request: &Request) -> Option<Reply> {
    let segments = request.segments();
    let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
    let rest = match parts.as_slice() {
        ["api", "graphql"] => {
            return Some(match gate::caller(base, request) {
                Ok(caller) => graphql::answer(site, base, request, &caller),
                Err(reply) => reply,
            });
        }
        ["signed-logs", id] => return Some(checks::signed_log(site, request, id.parse().ok()?)),
        ["api", "v3", rest @ ..] => rest,
        _ => return None,
    };
    match (request.method.as_str(), rest) {
        ("GET", ["repos", owner, name, "installation"]) if app::is_note(request) => {
            return Some(app::installation(site, base, request, &format!("{owner}/{name}")));
        }
        ("POST", ["app", "installations", id, "access_tokens"]) => {
            return Some(app::access_token(site, base, request, id.parse().ok()?));
        }
        _ => {}
    }
    let caller = match gate::caller(base, request) {
        Ok(caller) => caller,
        Err(reply) => return Some(reply),
    };
    let (project, path) = match rest {
        ["meta"] => return Some(meta()),
        ["user"] => return Some(whoami(base, &caller)),
        ["search", "issues"] => return Some(issues::search(site, base, request)),
        ["repos", owner, name, rest @ ..] => (format!("{owner}/{name}"), rest),
        ["repositories", id, rest @ ..] => (base.project_by_id(id.parse().ok()?)?.path.clone(), rest),
        _ => return None,
    };
    if base.project(&project).is_none() {
        let tail: String = path.iter().map(|part| format!("/{part}")).collect();
        return Some(gate::moved(base, request, &project, &tail).unwrap_or_else(|| refuse(404, "Not Found")));
    }
    let seen = match &caller.permissions {
        Some(permissions) => permissions.contains(&format!("repository={project}")),
        None => base.level(&project, caller.user.as_ref()) >= Level::Read,
    };
    if !seen {
        // Whoever may not see it is not told that it is there.
        return Some(refuse(404, "Not Found"));
    }
    let found = base.project(&project).expect("just seen");
    let (project, project_id) = (found.path.clone(), found.id);
    let visit = Visit { request, caller, project, project_id, body: request.json().unwrap_or_default() };
    within(site, base, &visit, path).map(|answered| answered.unwrap_or_else(|refusal| refusal))
}

type Answered = Result<Reply, Reply>;

/// Routes of one repository.
fn within(site: &mut Site, base: &mut Base, visit: &Visit<'_>, path: &[&str]) -> Option<Answered> {
    let number = |text: &str| text.parse::<u64>().ok();
    let id = visit.project_id;
    Some(match (visit.request.method.as_str(), path) {
        ("GET", []) => {
            let may_write = visit.may(base, Level::Write, "contents=write").is_ok();
            Ok(Reply::json(200, &crate::view::whole_repository(base, &visit.project, may_write)))
        }
        ("GET", ["rules", "branches", branch]) => rules::of_branch(base, visit, branch),
        ("GET", ["pulls"]) => pulls::list(site, base, visit),
        ("POST", ["pulls"]) => merge::open(site, base, visit),
        ("GET", ["pulls", n]) => pulls::one(site, base, visit, (id, number(n)?)),
        ("PATCH", ["pulls", n]) => merge::edit(site, base, visit, (id, number(n)?)),
        ("GET", ["pulls", n, "files"]) => pulls::files(site, base, visit, (id, number(n)?)),
        ("PUT", ["pulls", n, "merge"]) => merge::merge(site, base, visit, (id, number(n)?)),
        ("PUT", ["pulls", n, "update-branch"]) => merge::update_branch(site, base, visit, (id, number(n)?)),
        ("POST", ["pulls", n, "requested_reviewers"]) => merge::request_reviewers(site, base, visit, (id, number(n)?)),
        ("GET", ["pulls", n, "reviews"]) => reviews::list(site, base, visit, (id, number(n)?)),
        ("POST", ["pulls", n, "reviews"]) => reviews::create(site, base, visit, (id, number(n)?)),
        ("DELETE", ["pulls", n, "reviews", review]) => reviews::delete(site, base, visit, (id, number(n)?), number(review)?),
        ("GET", ["pulls", n, "comments"]) => reviews::comments(site, base, visit, (id, number(n)?)),
        ("POST", ["pulls", n, "comments", note, "replies"]) => reviews::reply(site, base, visit, (id, number(n)?), number(note)?),
        ("DELETE", ["pulls", "comments", note]) => reviews::delete_comment(site, base, visit, number(note)?),
        (_, ["pulls", "comments", note, "reactions"]) => {
            talk::reactions(site, base, visit, &crate::model::Liked::Note(number(note)?))?
        }
        ("GET", ["issues"]) => issues::list(site, base, visit),
        ("POST", ["issues"]) => issues::create(site, base, visit),
        ("GET", ["issues", n]) => issues::one(site, base, (id, number(n)?)),
        ("PATCH", ["issues", n]) => issues::edit(site, base, visit, (id, number(n)?)),
        ("GET", ["issues", n, "sub_issues"]) => issues::sub_issues(site, base, visit, (id, number(n)?)),
        ("POST", ["issues", n, "sub_issues"]) => issues::add_sub_issue(site, base, visit, (id, number(n)?)),
        ("GET", ["issues", n, "labels"]) => issues::labels(site, base, visit, (id, number(n)?)),
        ("POST", ["issues", n, "labels"]) => issues::add_labels(site, base, visit, (id, number(n)?)),
        ("DELETE", ["issues", n, "labels", label]) => issues::remove_label(site, base, visit, (id, number(n)?), label),
        ("GET", ["issues", n, "comments"]) => talk::list(site, base, visit, (id, number(n)?)),
        ("POST", ["issues", n, "comments"]) => talk::create(site, base, visit, (id, number(n)?)),
        ("PATCH", ["issues", "comments", comment]) => talk::edit(site, base, visit, number(comment)?),
        ("DELETE", ["issues", "comments", comment]) => talk::delete(site, base, visit, number(comment)?),
        (_, ["issues", "comments", comment, "reactions"]) => {
            talk::reactions(site, base, visit, &crate::model::Liked::Comment(number(comment)?))?
        }
        (_, ["issues", n, "reactions"]) => talk::reactions(site, base, visit, &crate::model::Liked::Issue((id, number(n)?)))?,
        ("POST", ["statuses", sha]) => checks::set_status(site, base, visit, sha),
        ("GET", ["commits", sha, "statuses"]) => Ok(checks::list_statuses(site, base, visit, sha)),
        ("POST", ["check-runs"]) => checks::create_run(site, base, visit),
        ("GET", ["check-runs", run]) => checks::one_run(site, base, visit, number(run)?),
        ("GET", ["check-runs", run, "annotations"]) => checks::annotations(site, base, visit, number(run)?),
        ("GET", ["actions", "jobs", job, "logs"]) => checks::job_log(site, base, visit, number(job)?),
        ("PATCH", ["check-runs", run]) => checks::update_run(site, base, visit, number(run)?),
        ("GET", ["collaborators", login, "permission"]) => issues::permission(base, visit, login),
        _ => return None,
    })
}

fn meta() -> Reply {
    Reply::json(200, &json!({ "verifiable_password_authentication": true, "installed_version": "3.20.1" }))
}

fn whoami(base: &Base, caller: &Caller) -> Reply {
    match (&caller.user, &caller.permissions) {
        (None, _) => refuse(401, "Requires authentication"),
        // An installation is no user.
        (Some(_), Some(_)) => refuse(403, "Resource not accessible by integration"),
        (Some(user), None) => Reply::json(200, &crate::view::public_user(base, user.id)),
    }
}
