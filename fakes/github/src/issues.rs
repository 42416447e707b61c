//! Issues, labels, search, and what somebody may do.

use crate::Base;
use crate::model::{Issue, Key};
use crate::route::{Visit, invalid, list as paged, refuse};
use crate::site::{Quirk, Site};
use crate::view;
use fake_forge_base::{Level, Reply, Request};
use serde_json::{Value, json};

type Answered = Result<Reply, Reply>;

fn known(site: &Site, key: Key) -> Result<(), Reply> {
    if site.world.issues.contains_key(&key) { Ok(()) } else { Err(refuse(404, "Not Found")) }
}

fn names(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

pub fn one(site: &Site, base: &Base, key: Key) -> Answered {
    known(site, key)?;
    Ok(Reply::json(200, &view::issue(site, base, key)))
}

pub fn create(site: &mut Site, base: &mut Base, visit: &Visit<'_>) -> Answered {
    visit.may(base, Level::Read, "issues=write")?;
    let title = visit.body["title"].as_str().unwrap_or_default().to_owned();
    if title.is_empty() {
        return Err(invalid("Issue", "title", "title is missing"));
    }
    let (id, now) = (base.ids.fresh(), base.clock.tick());
    // Labels of somebody without the right to set them are dropped without a word.
    let may_label = visit.may(base, Level::Triage, "issues=write").is_ok();
    let labels = if may_label { names(&visit.body["labels"]) } else { Vec::new() };
    let body = visit.body["body"].as_str().unwrap_or_default().to_owned();
    let key = (visit.project_id, site.world.next_number(visit.project_id));
    let (author, open, closed_at) = (visit.user(), true, None);
    let issue = Issue { id, title, body, author, open, labels, created_at: now.clone(), updated_at: now, closed_at };
    site.world.issues.insert(key, issue);
    Ok(Reply::json(201, &view::issue(site, base, key)))
}

pub fn change(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) {
    let now = base.clock.tick();
    let issue = site.world.issues.get_mut(&key).expect("the issue");
    issue.updated_at.clone_from(&now);
    let text = |name: &str| visit.body[name].as_str().map(str::to_owned);
    if let Some(title) = text("title") {
        issue.title = title;
    }
    if let Some(body) = text("body") {
        issue.body = body;
    }
    match text("state").as_deref() {
        Some("closed") => (issue.open, issue.closed_at) = (false, Some(now)),
        Some("open") => (issue.open, issue.closed_at) = (true, None),
        Some(_) | None => {}
    }
}

pub fn edit(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    if visit.caller.id() != Some(site.world.issues[&key].author) || visit.caller.permissions.is_some() {
        visit.may(base, Level::Triage, "issues=write")?;
    }
    change(site, base, visit, key);
    Ok(Reply::json(200, &view::issue(site, base, key)))
}

pub fn labels(site: &Site, base: &Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let labels = site.world.issues[&key].labels.iter().map(|name| view::label(base, &visit.project, name)).collect();
    Ok(paged(base, visit.request, labels))
}

/// A label that nobody made yet is made.
pub fn add_labels(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Triage, "issues=write|pull_requests=write")?;
    let issue = site.world.issues.get_mut(&key).expect("the issue");
    for name in names(&visit.body["labels"]) {
        if !issue.labels.contains(&name) {
            issue.labels.push(name);
        }
    }
    issue.updated_at = base.clock.tick();
    labels(site, base, visit, key)
}

pub fn remove_label(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key, label: &str) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Triage, "issues=write|pull_requests=write")?;
    let issue = site.world.issues.get_mut(&key).expect("the issue");
    let Some(index) = issue.labels.iter().position(|name| name.eq_ignore_ascii_case(label)) else {
        return Err(refuse(404, "Label does not exist"));
    };
    issue.labels.remove(index);
    labels(site, base, visit, key)
}

/// Pull requests are issues too.
pub fn list(site: &Site, base: &Base, visit: &Visit<'_>) -> Answered {
    let asked = |name: &str| visit.request.query_value(name);
    let fits = |key: &&Key| {
        let issue = &site.world.issues[key];
        let of_state = match asked("state").as_deref() {
            Some("all") => true,
            Some("closed") => !issue.open,
            Some(_) | None => issue.open,
        };
        key.0 == visit.project_id && of_state && asked("since").is_none_or(|since| issue.updated_at >= since)
    };
    let mut found: Vec<&Key> = site.world.issues.keys().filter(fits).collect();
    let by_update = asked("sort").as_deref() == Some("updated");
    found.sort_by_key(|key| {
        let issue = &site.world.issues[key];
        if by_update { issue.updated_at.clone() } else { issue.created_at.clone() }
    });
    if asked("direction").as_deref() != Some("asc") {
        found.reverse();
    }
    Ok(paged(base, visit.request, found.into_iter().map(|key| view::issue(site, base, *key)).collect()))
}

pub fn sub_issues(site: &Site, base: &Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let below = site.world.sub_issues.iter().filter(|(parent, _)| *parent == key);
    Ok(paged(base, visit.request, below.map(|(_, child)| view::issue(site, base, *child)).collect()))
}

/// By id, not by number.
pub fn add_sub_issue(site: &mut Site, base: &Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Triage, "issues=write")?;
    let wanted = visit.body["sub_issue_id"].as_u64();
    let Some(child) = site.world.issues.iter().find(|(_, issue)| Some(issue.id) == wanted).map(|(key, _)| *key) else {
        return Err(refuse(404, "Not Found"));
    };
    site.world.sub_issues.insert((key, child));
    Ok(Reply::json(201, &view::issue(site, base, key)))
}

pub fn permission(base: &Base, visit: &Visit<'_>, login: &str) -> Answered {
    visit.may(base, Level::Write, "metadata=read")?;
    let Some(user) = base.people.by_login(login).filter(|user| user.kind == fake_forge_base::Kind::Person) else {
        return Err(refuse(404, &format!("{login} is not a user")));
    };
    let (role, old) = match base.level(&visit.project, Some(user)) {
        Level::None => ("none", "none"),
        Level::Read => ("read", "read"),
        Level::Triage => ("triage", "read"),
        Level::Write => ("write", "write"),
        Level::Admin => ("admin", "admin"),
    };
    let mut shown = view::user(base, user.id);
    shown["role_name"] = json!(role);
    Ok(Reply::json(200, &json!({ "permission": old, "role_name": role, "user": shown })))
}

pub fn search(site: &Site, base: &mut Base, request: &Request) -> Reply {
    let query = request.query_value("q").unwrap_or_default();
    let (mut conditions, mut words) = (Vec::new(), Vec::new());
    for word in query.split_whitespace() {
        match word.split_once(':') {
            Some((name, value)) => conditions.push((name, value)),
            None => words.push(word.to_lowercase()),
        }
    }
    let value = |wanted: &str| conditions.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let is = |wanted: &str| conditions.contains(&("is", wanted));
    let author = value("author").map(|login| {
        let login = login.strip_prefix("app/").map_or_else(|| login.to_owned(), |app| format!("{app}[bot]"));
        base.people.by_login(&login).map(|user| user.id)
    });
    if author == Some(None) {
        return invalid(
            "Search",
            "q",
            "The listed users cannot be searched either because the users do not exist or you do not have permission to view the users.",
        );
    }
    if !is("issue") && !is("pr") && !is("pull-request") {
        return invalid("Search", "q", "Query must include 'is:issue' or 'is:pull-request'");
    }
    let project = value("repo").and_then(|path| base.project(path)).map(|project| project.id);
    let found: Vec<Key> = site
        .world
        .issues
        .iter()
        .filter(|((home, _), _)| Some(*home) == project)
        .filter(|(key, _)| site.world.pulls.contains_key(key) != is("issue"))
        .filter(|(key, _)| !is("merged") || site.world.pulls.get(key).is_some_and(|pull| pull.merged_at.is_some()))
        .filter(|(_, issue)| author.flatten().is_none_or(|id| issue.author == id))
        .filter(|(_, issue)| {
            let text = format!("{}\n{}", issue.title, issue.body).to_lowercase();
            words.iter().all(|word| text.contains(word))
        })
        .map(|(key, _)| *key)
        .collect();
    let cut_short = base.faults.fires(Quirk::SearchCutShort);
    let kept = if cut_short { Vec::new() } else { found };
    let items: Vec<Value> = kept
        .iter()
        .map(|key| {
            let mut item = view::issue(site, base, *key);
            item["score"] = json!(1.0);
            item
        })
        .collect();
    let count = items.len();
    Reply::json(200, &json!({ "total_count": count, "incomplete_results": cut_short, "search_type": "lexical", "items": items }))
}
