//! Issues, labels, and who may do what.

use crate::call::{Call, forbidden, not_found, refuse};
use crate::shape;
use crate::state::{Issue, Label, State, Team};
use fake_forge_base::{Level, Reply};
use serde_json::{Value, json};
use std::collections::BTreeSet;

type Key = (u64, u64);

/// An answer for admins of the repository and for oneself.
pub fn permission(state: &State, call: &Call<'_>, login: &str) -> Reply {
    let Some(user) = call.base.people.by_login(login) else { return not_found() };
    if !call.is(user) && call.level() < Level::Admin {
        return forbidden("Only admins can query all permissions, repo admins can query all repo permissions");
    }
    let word = match call.base.level(&call.path, Some(user)) {
        Level::None | Level::Read | Level::Triage
            if state.rules.teams.iter().any(|team| team.writes() && team.members.contains(login)) =>
        {
            "write"
        }
        Level::None => "none",
        // There is no step between reading and writing.
        Level::Read | Level::Triage => "read",
        Level::Write => "write",
        Level::Admin => "admin",
    };
    Reply::json(200, &json!({ "permission": word, "role_name": word, "user": shape::user(&call.base.url, user) }))
}

/// Has somebody been given something in the repository, other than by a team?
pub fn collaborator(call: &Call<'_>, login: &str) -> Reply {
    match call.base.people.members(&call.path).iter().any(|(user, _)| user.login == login) {
        true => Reply::new(204, "application/json", ""),
        false => not_found(),
    }
}

pub fn teams(state: &State) -> Reply {
    match state.rules.teams.is_empty() {
        true => refuse(405, "repo is not owned by an organization"),
        false => Reply::json(200, &Value::Array(state.rules.teams.iter().map(team_shape).collect())),
    }
}

fn team_shape(team: &Team) -> Value {
    let permission = if team.writes() { "write" } else { "read" };
    json!({ "id": team.id, "name": team.name, "permission": permission, "units_map": team.units })
}

/// A team, or one of its members.
pub fn team(state: &State, call: &Call<'_>, id: &str, member: Option<&str>) -> Reply {
    let Some(team) = state.rules.teams.iter().find(|team| team.id.to_string() == id) else { return not_found() };
    let is_inside = call.caller.as_ref().is_some_and(|caller| team.members.contains(&caller.login));
    if team.is_hidden && !is_inside {
        return not_found();
    }
    match member {
        None => Reply::json(200, &team_shape(team)),
        Some(login) => match call.base.people.by_login(login).filter(|_| team.members.contains(login)) {
            Some(user) => Reply::json(200, &shape::user(&call.base.url, user)),
            None => not_found(),
        },
    }
}

/// Who may write, by a list that everybody may see.
pub fn assignees(call: &Call<'_>) -> Reply {
    let members = call.base.people.members(&call.path);
    let writers = members.iter().filter(|(_, level)| *level >= Level::Write);
    Reply::json(200, &Value::Array(writers.map(|(user, _)| shape::user(&call.base.url, user)).collect()))
}

pub fn list(state: &State, call: &Call<'_>) -> Reply {
    let asked = |name: &str| call.request.query_value(name).unwrap_or_default();
    let words = asked("q").to_lowercase();
    let fits = |issue: &&Issue| {
        let text = format!("{} {}", issue.title, issue.body).to_lowercase();
        let kind = match asked("type").as_str() {
            "issues" => issue.pull.is_none(),
            "pulls" => issue.pull.is_some(),
            _ => true,
        };
        let open = match asked("state").as_str() {
            "all" => true,
            "closed" => !issue.open,
            _ => issue.open,
        };
        let by = asked("created_by");
        let author = by.is_empty() || by.eq_ignore_ascii_case(&issue.author.login);
        let since = asked("since");
        let recent = since.is_empty() || issue.updated_at >= since;
        issue.project == call.project && kind && open && author && recent && text.contains(&words)
    };
    call.paged(state.issues.values().rev().filter(fits).map(|issue| shape::issue(state, call, issue)).collect())
}

pub fn show(state: &State, call: &Call<'_>, key: Key) -> Reply {
    Reply::json(200, &shape::issue(state, call, &state.issues[&key]))
}

pub fn create(state: &mut State, call: &mut Call<'_>) -> Reply {
    let Some(title) = call.text("title") else { return refuse(422, "[Title]: Required") };
    let number = state.next_number(call.project);
    let now = call.base.clock.tick();
    let ids = call.body["labels"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let issue = Issue {
        id: call.base.ids.fresh(),
        number,
        project: call.project,
        title,
        body: call.text("body").unwrap_or_default(),
        author: call.user(),
        open: true,
        // Whoever may not write labels nothing, and is not told.
        labels: ids.filter(|_| call.level() >= Level::Write).collect(),
        created_at: now.clone(),
        updated_at: now,
        comments: Vec::new(),
        reactions: Vec::new(),
        pull: None,
    };
    let reply = Reply::json(201, &shape::issue(state, call, &issue));
    state.issues.insert((call.project, number), issue);
    reply
}

pub fn update(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let issue = state.issues.get_mut(&key).expect("looked up before");
    if call.level() < Level::Write && !call.is(&issue.author) {
        return forbidden("user should have permission to write the issue");
    }
    if let Some(word) = call.text("state") {
        issue.open = word == "open";
    }
    issue.updated_at = call.base.clock.tick();
    Reply::json(201, &shape::issue(state, call, &state.issues[&key]))
}

pub fn labels(state: &mut State, call: &mut Call<'_>) -> Reply {
    if call.request.method == "GET" {
        let own = state.labels.iter().filter(|label| label.project == call.project);
        return call.paged(own.map(|label| shape::label(call, label)).collect());
    }
    if call.level() < Level::Write {
        return forbidden("user should have permission to write labels");
    }
    let [Some(name), Some(color)] = ["name", "color"].map(|word| call.text(word)) else {
        return refuse(422, "[Name]: Required");
    };
    let label = Label { id: call.base.ids.fresh(), project: call.project, name, color: color.trim_start_matches('#').into() };
    let reply = Reply::json(201, &shape::label(call, &label));
    state.labels.push(label);
    reply
}

/// Labels by id or by name.
pub fn relabel(state: &mut State, call: &mut Call<'_>, key: Key, rest: &[&str]) -> Option<Reply> {
    let known = |word: &Value| {
        let fits = |label: &&Label| {
            label.project == call.project
                && (word.as_u64() == Some(label.id)
                    || word.as_str().is_some_and(|text| text == label.name || text == label.id.to_string()))
        };
        state.labels.iter().find(fits).map(|label| label.id)
    };
    if call.request.method != "GET" && call.level() < Level::Write {
        return Some(forbidden("user should have permission to write labels"));
    }
    match (call.request.method.as_str(), rest) {
        ("GET", []) => {}
        ("POST", []) => {
            let wanted = call.body["labels"].as_array().cloned().unwrap_or_default();
            let ids: Option<BTreeSet<u64>> = wanted.iter().map(known).collect();
            let Some(ids) = ids else { return Some(not_found()) };
            state.issues.get_mut(&key)?.labels.extend(ids);
        }
        ("DELETE", [word]) => {
            let Some(id) = known(&json!(word)) else { return Some(refuse(422, "label does not exist")) };
            state.issues.get_mut(&key)?.labels.remove(&id);
            return Some(Reply::empty(204));
        }
        _ => return None,
    }
    let issue = &state.issues[&key];
    let shaped = state.labels_of(issue).into_iter().map(|label| shape::label(call, label));
    Some(Reply::json(200, &Value::Array(shaped.collect())))
}
