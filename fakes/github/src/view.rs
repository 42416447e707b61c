//! GitHub's JSON, with every field that its own description calls required: a client that reads one of them must find it.

mod repository;
mod talk;

use crate::Base;
use crate::model::Key;
use crate::site::Site;
pub use repository::{repository, whole_repository};
use serde_json::{Value, json};
pub use talk::{annotation, check_run, comment, liking, note, review, status};

/// What hangs below a user's address, field by field.
const OF_USER: [&str; 10] = [
    "events",
    "followers",
    "following",
    "gists",
    "organizations",
    "received_events",
    "repos",
    "starred",
    "subscriptions",
    "avatar",
];

pub fn api(base: &Base) -> String {
    format!("{}/api/v3", base.url)
}

pub fn user(base: &Base, id: u64) -> Value {
    let Some(user) = base.people.by_id(id) else { return Value::Null };
    let url = format!("{}/users/{}", api(base), user.login.replace(['[', ']'], ""));
    let mut shown = json!({
        "id": id, "login": user.login, "node_id": format!("U_{id}"), "gravatar_id": "", "site_admin": false,
        "type": if user.kind == fake_forge_base::Kind::Bot { "Bot" } else { "User" },
        "html_url": format!("{}/{}", base.url, user.login.replace(['[', ']'], "")), "url": url,
    });
    for name in OF_USER {
        shown[format!("{name}_url")] = json!(format!("{url}/{name}"));
    }
    shown
}

/// Whoever asks for themselves sees more.
pub fn public_user(base: &Base, id: u64) -> Value {
    let mut shown = user(base, id);
    for name in ["bio", "blog", "company", "email", "hireable", "location", "name"] {
        shown[name] = Value::Null;
    }
    for name in ["followers", "following", "public_gists", "public_repos"] {
        shown[name] = json!(0);
    }
    (shown["created_at"], shown["updated_at"], shown["user_view_type"]) =
        (json!(base.clock.text()), json!(base.clock.text()), json!("public"));
    shown
}

pub fn path_of(base: &Base, key: Key) -> String {
    base.project_by_id(key.0).map(|project| project.path.clone()).unwrap_or_default()
}

pub fn label(base: &Base, project: &str, name: &str) -> Value {
    json!({
        "id": name.bytes().map(u64::from).sum::<u64>(), "node_id": format!("LA_{name}"), "name": name, "description": "",
        "url": format!("{}/repos/{project}/labels/{}", api(base), name.replace(' ', "%20")), "color": "ededed", "default": false,
    })
}

fn association(site: &Site, base: &Base, key: Key) -> &'static str {
    let author = site.world.issues[&key].author;
    let merged = |(other, pull): (&Key, &crate::model::Pull)| {
        other.0 == key.0 && pull.merged_at.is_some() && site.world.issues[other].author == author
    };
    match base.people.level(&path_of(base, key), author) {
        fake_forge_base::Level::Admin => "OWNER",
        fake_forge_base::Level::Write | fake_forge_base::Level::Triage => "COLLABORATOR",
        _ if site.world.pulls.iter().any(merged) => "CONTRIBUTOR",
        _ => "NONE",
    }
}

/// As it stands in a list: without what must be computed.
pub fn pull_in_list(site: &Site, base: &Base, key: Key) -> Value {
    let (pull, issue) = (&site.world.pulls[&key], &site.world.issues[&key]);
    let project = path_of(base, key);
    let url = format!("{}/repos/{project}/pulls/{}", api(base), key.1);
    let issue_url = format!("{}/repos/{project}/issues/{}", api(base), key.1);
    let html = format!("{}/{project}/pull/{}", base.url, key.1);
    let statuses = format!("{}/repos/{project}/statuses/{}", api(base), pull.head_sha);
    let base_sha = if issue.open { base.repository(&project).rev(&pull.base_branch) } else { None };
    let end = |path: Option<&str>, owner: &str, branch: &str, sha: &str| {
        let shown = path.map_or(Value::Null, |path| repository(base, path));
        let user = if shown.is_null() { json!(null) } else { shown["owner"].clone() };
        json!({ "label": format!("{owner}:{branch}"), "ref": branch, "sha": sha, "repo": shown, "user": user })
    };
    let owner = project.split('/').next().unwrap_or_default();
    let link = |href: &str| json!({ "href": href });
    json!({
        "id": issue.id, "node_id": format!("PR_{}", issue.id), "number": key.1, "title": issue.title, "body": issue.body,
        "user": user(base, issue.author), "state": if issue.open { "open" } else { "closed" }, "locked": false, "draft": pull.draft,
        "assignee": null, "milestone": null, "auto_merge": null, "author_association": association(site, base, key),
        "labels": issue.labels.iter().map(|name| label(base, &project, name)).collect::<Vec<Value>>(),
        "requested_reviewers": pull.reviewers.iter().map(|id| user(base, *id)).collect::<Vec<Value>>(),
        "head": end(pull.head_project.as_deref(), &pull.head_owner, &pull.head_branch, &pull.head_sha),
        "base": end(Some(&project), owner, &pull.base_branch, base_sha.as_ref().unwrap_or(&pull.base_sha)),
        "created_at": issue.created_at, "updated_at": issue.updated_at, "closed_at": issue.closed_at, "merged_at": pull.merged_at,
        "merge_commit_sha": null, "url": url, "html_url": html, "issue_url": issue_url,
        "diff_url": format!("{html}.diff"), "patch_url": format!("{html}.patch"), "statuses_url": statuses,
        "comments_url": format!("{issue_url}/comments"), "commits_url": format!("{url}/commits"),
        "review_comment_url": format!("{url}/comments{{/number}}"), "review_comments_url": format!("{url}/comments"),
        "_links": {
            "self": link(&url), "html": link(&html), "issue": link(&issue_url), "comments": link(&format!("{issue_url}/comments")),
            "review_comments": link(&format!("{url}/comments")), "review_comment": link(&format!("{url}/comments{{/number}}")),
            "commits": link(&format!("{url}/commits")), "statuses": link(&statuses),
        },
    })
}

/// `unknown`: GitHub has not yet found out whether it can be merged.
pub fn pull(site: &Site, base: &Base, key: Key, unknown: bool) -> Value {
    let pull = &site.world.pulls[&key];
    let mut shown = pull_in_list(site, base, key);
    let repository = base.repository(&path_of(base, key));
    let from = shown["base"]["sha"].as_str().unwrap_or_default().to_owned();
    let diff = repository.diff(&from, &pull.head_sha);
    let open = site.world.issues[&key].open;
    let conflict = repository.conflicts(&from, &pull.head_sha);
    let (mergeable, state) = match (unknown || !open, conflict, pull.draft) {
        (true, ..) => (Value::Null, "unknown"),
        (false, true, _) => (json!(false), "dirty"),
        (false, false, true) => (json!(true), "draft"),
        (false, false, false) if crate::rules::missing(site, base, key).is_some() => (json!(true), "blocked"),
        (false, false, false) => (json!(true), "clean"),
    };
    let count = |of: fn(&fake_forge_base::FileDiff) -> usize| diff.files.iter().map(of).sum::<usize>();
    for (name, value) in [
        ("mergeable", mergeable),
        ("mergeable_state", json!(state)),
        ("merged", json!(pull.merged_at.is_some())),
        ("merged_by", Value::Null),
        ("maintainer_can_modify", json!(false)),
        ("additions", json!(count(fake_forge_base::FileDiff::additions))),
        ("deletions", json!(count(fake_forge_base::FileDiff::deletions))),
        ("changed_files", json!(diff.files.len())),
        ("commits", json!(repository.commits(&from, &pull.head_sha).len())),
        ("comments", json!(site.world.comments.iter().filter(|comment| comment.on == key).count())),
        ("review_comments", json!(site.world.notes.iter().filter(|note| site.world.thread_of(note).on == key).count())),
    ] {
        shown[name] = value;
    }
    shown
}

pub fn issue(site: &Site, base: &Base, key: Key) -> Value {
    let issue = &site.world.issues[&key];
    let project = path_of(base, key);
    let home = format!("{}/repos/{project}", api(base));
    let url = format!("{home}/issues/{}", key.1);
    let is_pull = site.world.pulls.contains_key(&key);
    let html = format!("{}/{project}/{}/{}", base.url, if is_pull { "pull" } else { "issues" }, key.1);
    let mut shown = json!({
        "id": issue.id, "node_id": format!("I_{}", issue.id), "number": key.1, "title": issue.title, "body": issue.body,
        "user": user(base, issue.author), "state": if issue.open { "open" } else { "closed" }, "locked": false,
        "assignee": null, "milestone": null, "author_association": association(site, base, key),
        "labels": issue.labels.iter().map(|name| label(base, &project, name)).collect::<Vec<Value>>(),
        "comments": site.world.comments.iter().filter(|comment| comment.on == key).count(),
        "created_at": issue.created_at, "updated_at": issue.updated_at, "closed_at": issue.closed_at,
        "url": url, "html_url": html, "repository_url": home, "comments_url": format!("{url}/comments"),
        "events_url": format!("{url}/events"), "labels_url": format!("{url}/labels{{/name}}"),
    });
    if is_pull {
        let pulls = format!("{home}/pulls/{}", key.1);
        shown["pull_request"] =
            json!({ "url": pulls, "html_url": html, "diff_url": format!("{html}.diff"), "patch_url": format!("{html}.patch") });
    }
    shown
}
