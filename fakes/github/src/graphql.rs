//! The part of GraphQL that our client and its tests use. Which question it is, is told by the field it asks for; that the documents
//! themselves are right is checked against GitHub's schema elsewhere.

use crate::Base;
use crate::gate::Caller;
use crate::model::{Anchor, Comment, Draft, Key, Note, Thread};
use crate::site::{Quirk, Site};
use fake_forge_base::{Kind, Level, Reply, Request};
use serde_json::{Value, json};

fn said(data: Value) -> Reply {
    Reply::json(200, &json!({ "data": data }))
}

/// GraphQL says no with a 200.
fn wrong(kind: &str, message: &str, path: &str) -> Reply {
    let error = json!({ "type": kind, "message": message, "path": [path], "locations": [{ "line": 1, "column": 1 }] });
    Reply::json(200, &json!({ "data": { path: null }, "errors": [error] }))
}

pub fn answer(site: &mut Site, base: &mut Base, request: &Request, caller: &Caller) -> Reply {
    let body = request.json().unwrap_or_default();
    let document = body["query"].as_str().unwrap_or_default();
    let is_mutation = document.trim_start().starts_with("mutation");
    let reply = if caller.user.is_none() {
        crate::route::refuse(401, "This endpoint requires you to be authenticated.")
    } else if base.faults.fires(Quirk::GraphqlLimited) {
        Reply::json(200, &json!({ "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1." }] }))
    } else if base.faults.fires(Quirk::GraphqlHollow) {
        Reply::json(200, &json!({ "data": null }))
    } else {
        let reply = decide(site, base, document, &body["variables"], caller);
        if base.faults.fires(Quirk::GraphqlHalf) { with_error(reply) } else { reply }
    };
    if is_mutation { reply } else { reply.as_read() }
}

fn with_error(reply: Reply) -> Reply {
    let mut body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    body["errors"] =
        json!([{ "type": "FORBIDDEN", "message": "Resource not accessible by integration", "path": ["repository"] }]);
    Reply::json(200, &body)
}

fn decide(site: &mut Site, base: &mut Base, document: &str, variables: &Value, caller: &Caller) -> Reply {
    let asks = |field: &str| document.contains(field);
    if asks("query CommentEdits") {
        comment_edits(site, base, variables, caller)
    } else if asks("unresolveReviewThread") {
        set_resolved(site, base, variables, caller, "unresolveReviewThread", false)
    } else if asks("resolveReviewThread") {
        set_resolved(site, base, variables, caller, "resolveReviewThread", true)
    } else if asks("addPullRequestReviewThread") {
        add_thread(site, base, variables, caller)
    } else if asks("refUpdateRule") {
        protection(base, variables, caller)
    } else if asks("statusCheckRollup") {
        checks(site, base, variables, caller)
    } else if asks("timelineItems") {
        base_changes(site, base, variables, caller)
    } else if asks("reviewThreads") {
        threads(site, base, variables, caller)
    } else if asks("node(id:") {
        thread_comments(site, base, variables, caller)
    } else if asks("viewer") {
        let user = caller.user.as_ref().expect("checked before");
        said(json!({ "viewer": { "databaseId": user.id, "login": user.login } }))
    } else {
        wrong("", "Field doesn't exist on type 'Query'", "query")
    }
}

/// The repository that a question is about, if the caller may see it. A renamed one is found without a word.
fn seen(base: &Base, variables: &Value, caller: &Caller) -> Option<(u64, String)> {
    let path = format!("{}/{}", variables["owner"].as_str()?, variables["name"].as_str()?);
    let path = base.new_name(&path).unwrap_or(&path).to_owned();
    let project = base.project(&path)?;
    let visible = match &caller.permissions {
        Some(permissions) => permissions.contains(&format!("repository={path}")),
        None => base.level(&path, caller.user.as_ref()) >= Level::Read,
    };
    visible.then(|| (project.id, project.path.clone()))
}

fn no_repository() -> Reply {
    wrong("NOT_FOUND", "Could not resolve to a Repository with the name given.", "repository")
}

/// Cuts a page out of a list; a cursor is the number of things before it.
fn connection(site: &Site, items: Vec<Value>, after: &Value, most: usize) -> Value {
    let start: usize = after.as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    let size = site.graphql_page.unwrap_or(most).min(most);
    let total = items.len();
    let nodes: Vec<Value> = items.into_iter().skip(start).take(size).collect();
    let end = start + nodes.len();
    json!({ "pageInfo": { "hasNextPage": end < total, "endCursor": end.to_string() }, "nodes": nodes })
}

fn threads(site: &Site, base: &Base, variables: &Value, caller: &Caller) -> Reply {
    let Some((project, path)) = seen(base, variables, caller) else { return no_repository() };
    let key: Key = (project, variables["number"].as_u64().unwrap_or_default());
    if !site.world.pulls.contains_key(&key) {
        return wrong("NOT_FOUND", "Could not resolve to a PullRequest with the number given.", "repository");
    }
    let mine = site.world.threads.iter().filter(|thread| thread.on == key && !thread.invisible);
    let shown: Vec<Value> = mine
        .filter(|thread| !notes(site, base, thread, caller).is_empty())
        .map(|thread| show(site, base, thread, &path, caller))
        .collect();
    said(json!({ "repository": { "pullRequest": { "reviewThreads": connection(site, shown, &variables["after"], 50) } } }))
}

/// When comments under an issue or a pull request were edited.
fn comment_edits(site: &Site, base: &Base, variables: &Value, caller: &Caller) -> Reply {
    let Some((project, _)) = seen(base, variables, caller) else { return no_repository() };
    let key: Key = (project, variables["number"].as_u64().unwrap_or_default());
    let of_key = site.world.comments.iter().filter(|comment| comment.on == key);
    let show = |comment: &Comment| json!({ "fullDatabaseId": comment.id.to_string(), "lastEditedAt": comment.edited_at });
    let page = connection(site, of_key.map(show).collect(), &variables["after"], 100);
    said(json!({ "repository": { "issueOrPullRequest": { "comments": page } } }))
}

/// When it was last aimed at another branch.
fn base_changes(site: &Site, base: &Base, variables: &Value, caller: &Caller) -> Reply {
    let Some((project, _)) = seen(base, variables, caller) else { return no_repository() };
    let key: Key = (project, variables["number"].as_u64().unwrap_or_default());
    let Some(pull) = site.world.pulls.get(&key) else {
        return wrong("NOT_FOUND", "Could not resolve to a PullRequest with the number given.", "repository");
    };
    let nodes: Vec<Value> = pull.base_changed_at.iter().map(|at| json!({ "createdAt": at })).collect();
    said(json!({ "repository": { "pullRequest": { "timelineItems": { "nodes": nodes } } } }))
}

/// Only who can write, or the author of the pull request; an App's token without the right to contents cannot (quirk 9).
fn may_resolve(site: &Site, base: &Base, thread: &Thread, path: &str, caller: &Caller) -> bool {
    let allowed = match &caller.permissions {
        Some(permissions) => permissions.iter().any(|have| have == "contents=write"),
        None => {
            let author = site.world.issues[&thread.on].author;
            base.level(path, caller.user.as_ref()) >= Level::Write || caller.id() == Some(author)
        }
    };
    allowed && !base.faults.is_armed(Quirk::ResolveDenied)
}

fn show(site: &Site, base: &Base, thread: &Thread, path: &str, caller: &Caller) -> Value {
    let can = may_resolve(site, base, thread, path, caller);
    let resolved = thread.resolved_by.is_some();
    let height = thread.original.line.zip(thread.original.start_line).map(|(line, start)| line - start);
    let start_line = thread.line.zip(height).map(|(line, height)| line.saturating_sub(height));
    let resolver = thread.resolved_by.and_then(|id| base.people.by_id(id)).filter(|user| user.kind == Kind::Person);
    json!({
        "id": format!("PRRT_{}", thread.id), "path": thread.original.path, "line": thread.line, "startLine": start_line,
        "diffSide": thread.original.side, "subjectType": if thread.original.line.is_some() { "LINE" } else { "FILE" },
        "isResolved": resolved, "isOutdated": thread.outdated,
        "viewerCanResolve": can && !resolved, "viewerCanUnresolve": can && resolved,
        "resolvedBy": resolver.map(|user| json!({ "databaseId": user.id, "login": user.login })),
        "comments": connection(site, notes(site, base, thread, caller), &Value::Null, 50),
    })
}

fn notes(site: &Site, base: &Base, thread: &Thread, caller: &Caller) -> Vec<Value> {
    let of_thread = |note: &&Note| note.thread == thread.id && site.world.is_shown(note.review, caller.id());
    let show = |note: &Note| {
        let pending = site.world.review(note.review).is_some_and(|review| review.state == "PENDING");
        let shown = crate::view::note(site, base, note);
        let author = base.people.by_id(note.author).map(|user| {
            // GraphQL knows an App by its bare name.
            let (kind, login) = match user.kind {
                Kind::Person => ("User", user.login.as_str()),
                Kind::Bot => ("Bot", user.login.trim_end_matches("[bot]")),
            };
            json!({ "__typename": kind, "login": login, "databaseId": user.id })
        });
        json!({
            "fullDatabaseId": note.id.to_string(), "body": note.body, "createdAt": note.created_at, "url": shown["html_url"],
            // Comments of a review are never edited here.
            "lastEditedAt": null,
            "state": if pending { "PENDING" } else { "SUBMITTED" }, "author": author,
            "pullRequestReview": { "fullDatabaseId": note.review.to_string() },
        })
    };
    site.world.notes.iter().filter(of_thread).map(show).collect()
}

fn find<'a>(site: &'a Site, value: &Value) -> Option<&'a Thread> {
    let id: u64 = value.as_str()?.strip_prefix("PRRT_")?.parse().ok()?;
    site.world.threads.iter().find(|thread| thread.id == id)
}

fn thread_comments(site: &Site, base: &Base, variables: &Value, caller: &Caller) -> Reply {
    let Some(thread) = find(site, &variables["thread"]) else {
        return wrong("NOT_FOUND", "Could not resolve to a node with the global id given.", "node");
    };
    let notes = notes(site, base, thread, caller);
    said(json!({ "node": { "comments": connection(site, notes, &variables["after"], 100) } }))
}

fn set_resolved(site: &mut Site, base: &mut Base, variables: &Value, caller: &Caller, name: &str, wanted: bool) -> Reply {
    let Some(thread) = find(site, &variables["thread"]).cloned() else {
        return wrong("NOT_FOUND", "Could not resolve to a node with the global id given.", name);
    };
    let path = crate::view::path_of(base, thread.on);
    let denied = base.faults.fires(Quirk::ResolveDenied);
    if denied || !may_resolve(site, base, &thread, &path, caller) {
        return wrong("FORBIDDEN", "Resource not accessible by integration", name);
    }
    let stored = site.world.threads.iter_mut().find(|other| other.id == thread.id).expect("just found");
    stored.resolved_by = caller.id().filter(|_| wanted);
    said(json!({ name: { "thread": { "id": format!("PRRT_{}", thread.id), "isResolved": wanted } } }))
}

/// Quirk 2: a line outside the diff is taken, and then shown to nobody.
fn add_thread(site: &mut Site, base: &mut Base, variables: &Value, caller: &Caller) -> Reply {
    let Some((project, path)) = seen(base, variables, caller) else { return no_repository() };
    let key: Key = (project, variables["number"].as_u64().unwrap_or_default());
    let Some(pull) = site.world.pulls.get(&key).cloned() else { return no_repository() };
    let line = variables["line"].as_u64().and_then(|line| u32::try_from(line).ok());
    let text = |name: &str| variables[name].as_str().unwrap_or_default().to_owned();
    let anchor = Anchor { path: text("path"), side: "RIGHT".into(), line, start_line: None };
    let diff = base.repository(&path).diff(&pull.base_branch, &pull.head_sha);
    let outside = crate::reviews::refusal(&diff, &anchor).is_some();
    let drafts = [Draft { anchor, body: text("body") }];
    let review = site.store_review(base, key, caller.id().expect("a caller"), "", "COMMENTED", &pull.head_sha, &drafts);
    let thread = site.world.notes.iter().find(|note| note.review == review).expect("just made").thread;
    let stored = site.world.threads.iter_mut().find(|other| other.id == thread).expect("just made");
    if outside {
        (stored.invisible, stored.line) = (true, None);
    }
    let shown = json!({ "id": format!("PRRT_{thread}"), "line": stored.line });
    said(json!({ "addPullRequestReviewThread": { "thread": shown } }))
}

fn protection(base: &Base, variables: &Value, caller: &Caller) -> Reply {
    let Some((_, path)) = seen(base, variables, caller) else { return no_repository() };
    let branch = variables["branch"].as_str().and_then(|name| name.strip_prefix("refs/heads/")).unwrap_or_default();
    if base.repository(&path).rev(&format!("refs/heads/{branch}")).is_none() {
        return said(json!({ "repository": { "ref": null } }));
    }
    said(json!({ "repository": { "ref": { "refUpdateRule": crate::rules::update_rule(base, &path, branch) } } }))
}

fn checks(site: &Site, base: &Base, variables: &Value, caller: &Caller) -> Reply {
    let Some((_, path)) = seen(base, variables, caller) else { return no_repository() };
    let sha = variables["sha"].as_str().unwrap_or_default();
    if base.repository(&path).rev(sha).is_none() {
        return said(json!({ "repository": { "object": null } }));
    }
    let mut contexts: Vec<Value> = site
        .world
        .runs
        .iter()
        .filter(|run| run.sha == sha)
        .map(|run| {
            json!({
                "__typename": "CheckRun", "databaseId": run.id, "name": run.name, "status": run.status.to_uppercase(),
                "conclusion": run.conclusion.as_ref().map(|word| word.to_uppercase()), "title": run.title, "detailsUrl": run.job.as_ref().map(|job| &job.page),
                "startedAt": run.started_at, "checkSuite": { "databaseId": run.suite, "app": { "databaseId": run.app } },
            })
        })
        .collect();
    // Of statuses the latest of each context stands there; of check runs all do.
    for (index, status) in site.world.statuses.iter().enumerate().filter(|(_, status)| status.sha == sha) {
        let later = |other: &&crate::model::Status| other.sha == sha && other.context == status.context;
        if site.world.statuses[index + 1..].iter().any(|other| later(&other)) {
            continue;
        }
        contexts.push(json!({
            "__typename": "StatusContext", "context": status.context, "state": status.state.to_uppercase(),
            "description": status.description, "targetUrl": status.target_url, "createdAt": status.created_at,
        }));
    }
    let rollup = if contexts.is_empty() {
        Value::Null
    } else {
        json!({ "contexts": connection(site, contexts, &variables["after"], 100) })
    };
    said(json!({ "repository": { "object": { "__typename": "Commit", "statusCheckRollup": rollup } } }))
}
