//! Which call goes where.

use crate::call::{Call, forbidden, not_found, refuse};
use crate::paths::{PATHS, SINCE_17};
use crate::state::{Quirk, Rules, State};
use crate::{comments, issues, jobs, merging, pulls, reviews, shape, statuses};
use fake_forge_base::{Base, Level, Reply, Request, Site};
use serde_json::{Value, json};

/// A Forgejo with any number of repositories.
#[derive(Debug, Default)]
pub struct Forgejo {
    pub(crate) state: State,
}

impl Forgejo {
    pub fn new(rules: Rules) -> Forgejo {
        Forgejo { state: State { rules, ..State::default() } }
    }

    pub fn rules(&mut self) -> &mut Rules {
        &mut self.state.rules
    }

    /// Takes up what a test committed past the server.
    pub fn look(&mut self, base: &mut Base<Quirk>) {
        pulls::catch_up(&mut self.state, base);
    }
}

impl Site for Forgejo {
    type Fault = Quirk;

    fn answer(&mut self, base: &mut Base<Quirk>, request: &Request) -> Option<Reply> {
        let segments = request.segments();
        let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        let rest = match parts.as_slice() {
            ["swagger.v1.json"] if self.state.rules.has_swagger => {
                return Some(Reply::json(200, &description(&self.state.rules)));
            }
            ["swagger.v1.json"] => return Some(Reply::text(404, "Not found.")),
            ["api", "forgejo", "v1", "version"] => {
                return Some(Reply::json(200, &json!({ "version": self.state.rules.version })));
            }
            ["api", "v1", rest @ ..] => rest,
            _ => return None,
        };
        let caller = base.caller(request);
        if (request.token().is_some() || request.method != "GET") && caller.is_none() {
            return Some(refuse(401, "user does not exist [uid: 0, name: ]"));
        }
        if let Some(refusal) = lacks_scope(base, request, rest) {
            return Some(refusal);
        }
        let body = request.json().unwrap_or(Value::Null);
        let mut call = Call { base, request, caller, project: 0, path: String::new(), body };
        match rest {
            ["version"] => Some(Reply::json(200, &json!({ "version": self.state.rules.version }))),
            ["user"] => Some(match &call.caller {
                Some(user) => Reply::json(200, &shape::user(&call.base.url, user)),
                None => refuse(401, "token is required"),
            }),
            ["users", login] => Some(match call.base.people.by_login(login) {
                Some(user) => Reply::json(200, &shape::user(&call.base.url, user)),
                None => not_found(),
            }),
            ["teams", id] => Some(issues::team(&self.state, &call, id, None)),
            ["teams", id, "members", login] => Some(issues::team(&self.state, &call, id, Some(login))),
            ["repos", owner, name, rest @ ..] => {
                let path = format!("{owner}/{name}");
                let Some(project) = call.base.project(&path) else { return Some(elsewhere(&call, &path)) };
                (call.project, call.path) = (project.id, project.path.clone());
                if call.level() == Level::None {
                    return Some(not_found());
                }
                let reply = in_repository(&mut self.state, &mut call, rest)?;
                let is_list = request.method == "GET" && reply.status == 200 && reply.body.starts_with(b"[{");
                let empty = is_list && call.base.faults.fires(Quirk::EmptyList);
                Some(if empty { Reply { body: b"[]".to_vec(), ..reply } } else { reply })
            }
            _ => None,
        }
    }

    fn pushed(&mut self, base: &mut Base<Quirk>, _project: &str) {
        pulls::catch_up(&mut self.state, base);
    }
}

fn in_repository(state: &mut State, call: &mut Call<'_>, rest: &[&str]) -> Option<Reply> {
    let method = call.request.method.clone();
    Some(match (method.as_str(), rest) {
        ("GET", []) => Reply::json(200, &shape::repository(call, &call.path.clone())),
        ("GET", ["branches", name]) => pulls::branch(call, name),
        ("GET", ["collaborators", login, "permission"]) => issues::permission(state, call, login),
        ("GET", ["collaborators", login]) => issues::collaborator(call, login),
        ("GET", ["teams"]) => issues::teams(state),
        ("GET", ["assignees"]) => issues::assignees(call),
        ("GET", ["commits", name, "status"]) => statuses::combined(state, call, name),
        ("POST", ["statuses", sha]) => statuses::set(state, call, sha),
        ("GET", ["statuses", sha]) | ("GET", ["commits", sha, "statuses"]) => statuses::list(state, call, sha),
        ("GET", ["actions", rest @ ..]) if release(&state.rules) >= Some(17) => return jobs::answer(state, call, rest),
        ("GET", ["pulls"]) => pulls::list(state, call),
        ("POST", ["pulls"]) => pulls::create(state, call),
        (_, ["pulls", number, rest @ ..]) => {
            let key = (call.project, number.parse().ok()?);
            if state.issues.get(&key).is_none_or(|issue| issue.pull.is_none()) {
                return Some(not_found());
            }
            return of_pull(state, call, key, method.as_str(), rest);
        }
        ("GET" | "POST", ["labels"]) => issues::labels(state, call),
        (_, ["issues", "comments", id, rest @ ..]) => return comments::one(state, call, id.parse().ok()?, rest),
        ("GET", ["issues"]) => issues::list(state, call),
        ("POST", ["issues"]) => issues::create(state, call),
        (_, ["issues", number, rest @ ..]) => {
            let key = (call.project, number.parse().ok()?);
            if !state.issues.contains_key(&key) {
                return Some(not_found());
            }
            return of_issue(state, call, key, method.as_str(), rest);
        }
        _ => return None,
    })
}

fn of_pull(state: &mut State, call: &mut Call<'_>, key: (u64, u64), method: &str, rest: &[&str]) -> Option<Reply> {
    Some(match (method, rest) {
        ("GET", []) => pulls::show(state, call, key),
        ("PATCH", []) => pulls::update(state, call, key),
        ("POST", ["merge"]) => merging::merge(state, call, key),
        ("POST", ["update"]) => merging::update(state, call, key),
        ("POST", ["requested_reviewers"]) => reviews::ask(state, call, key),
        (_, ["reviews", rest @ ..]) => return reviews::answer(state, call, key, rest),
        _ => return None,
    })
}

fn of_issue(state: &mut State, call: &mut Call<'_>, key: (u64, u64), method: &str, rest: &[&str]) -> Option<Reply> {
    Some(match (method, rest) {
        ("GET", []) => issues::show(state, call, key),
        ("PATCH", []) => issues::update(state, call, key),
        ("GET", ["comments"]) => comments::list(state, call, key),
        ("GET", ["timeline"]) => reviews::events(call, state.issues.get(&key)?),
        ("POST", ["comments"]) => comments::create(state, call, key),
        (_, ["labels", rest @ ..]) => return issues::relabel(state, call, key, rest),
        (_, ["reactions"]) => comments::react(call, &mut state.issues.get_mut(&key)?.reactions),
        _ => return None,
    })
}

/// What the server says about itself: its routes, and which fields a comment may have.
fn description(rules: &Rules) -> Value {
    let mut paths = serde_json::Map::new();
    let release = release(rules);
    let later = SINCE_17.into_iter().filter(|_| release >= Some(17));
    for (path, methods) in PATHS.into_iter().chain(later) {
        let methods: serde_json::Map<String, Value> = methods.iter().map(|method| ((*method).to_owned(), json!({}))).collect();
        paths.insert(path.to_owned(), Value::Object(methods));
    }
    let mut comment = json!({ "body": {}, "path": {}, "new_position": {}, "old_position": {} });
    if release >= Some(16) {
        comment["extra_lines_count"] = json!({});
    }
    json!({
        "swagger": "2.0",
        "basePath": "/api/v1",
        "paths": paths,
        "definitions": { "CreatePullReviewComment": { "properties": comment } },
    })
}

fn release(rules: &Rules) -> Option<u32> {
    rules.version.split(['.', '-']).next()?.parse().ok()
}

/// Rights go by the first word of the route: comments, labels and reactions of a pull request are issues.
fn lacks_scope(base: &Base<Quirk>, request: &Request, rest: &[&str]) -> Option<Reply> {
    let token = base.people.find_token(&request.token()?, base.clock.now())?;
    let verb = if request.method == "GET" { "read" } else { "write" };
    let group = match rest {
        ["repos", _, _, "issues" | "labels", ..] => "issue",
        ["repos", ..] => "repository",
        ["user" | "users", ..] => "user",
        _ => return None,
    };
    let has = |verb: &str| token.scopes.contains(&format!("{verb}:{group}"));
    if token.scopes.contains("all") || has(verb) || has("write") {
        return None;
    }
    let own: Vec<&str> = token.scopes.iter().map(String::as_str).collect();
    let said = format!(
        "token does not have at least one of required scope(s), required=[{verb}:{group}], token scope={}",
        own.join(",")
    );
    Some(forbidden(&said))
}

/// 18: a repository that was renamed answers where it is now.
fn elsewhere(call: &Call<'_>, path: &str) -> Reply {
    let Some(to) = call.base.new_name(path) else { return not_found() };
    let moved = call.request.path.replacen(path, to, 1);
    let query = if call.request.query.is_empty() { String::new() } else { format!("?{}", call.request.query) };
    Reply::text(301, "").header("location", &format!("{moved}{query}"))
}
