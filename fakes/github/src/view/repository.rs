//! A repository, with its ninety addresses.

use super::api;
use crate::Base;
use serde_json::{Value, json};

const ADDRESSES: [&str; 36] = [
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "hooks",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
];

pub fn repository(base: &Base, path: &str) -> Value {
    let Some(project) = base.project(path) else { return Value::Null };
    let (owner, name) = path.split_once('/').unwrap_or(("", path));
    let url = format!("{}/repos/{path}", api(base));
    let html = format!("{}/{path}", base.url);
    // An organisation owns what no person of that name is here for.
    let holder = base.people.by_login(owner).map_or_else(|| organisation(base, owner), |user| super::user(base, user.id));
    let mut shown = json!({
        "id": project.id, "node_id": format!("R_{}", project.id), "name": name, "full_name": path, "owner": holder,
        "private": project.private, "fork": false, "description": null, "homepage": null, "language": null, "license": null,
        "mirror_url": null, "default_branch": "main", "archived": false, "disabled": false,
        "html_url": html, "url": url, "clone_url": format!("{html}.git"), "git_url": format!("{html}.git"),
        "ssh_url": format!("git@127.0.0.1:{path}.git"), "svn_url": html, "size": 1,
        "created_at": base.clock.text(), "updated_at": base.clock.text(), "pushed_at": base.clock.text(),
    });
    for name in ["has_downloads", "has_issues", "has_projects", "has_wiki", "has_pages"] {
        shown[name] = json!(name == "has_issues");
    }
    for name in ["forks", "forks_count", "open_issues", "open_issues_count", "stargazers_count", "watchers", "watchers_count"] {
        shown[name] = json!(0);
    }
    for name in ADDRESSES {
        shown[format!("{name}_url")] = json!(format!("{url}/{name}"));
    }
    shown
}

/// A repository asked for by itself says a little more, and to whoever may write how it merges.
pub fn whole_repository(base: &Base, path: &str, may_write: bool) -> Value {
    let mut shown = repository(base, path);
    if may_write {
        for name in ["allow_squash_merge", "allow_merge_commit", "allow_rebase_merge"] {
            shown[name] = json!(true);
        }
    }
    for name in ["network_count", "subscribers_count"] {
        shown[name] = json!(0);
    }
    shown["has_discussions"] = json!(false);
    shown
}

fn organisation(base: &Base, login: &str) -> Value {
    let url = format!("{}/users/{login}", api(base));
    let mut shown = json!({
        "id": 1, "login": login, "node_id": "O_1", "gravatar_id": "", "site_admin": false, "type": "Organization",
        "html_url": format!("{}/{login}", base.url), "url": url,
    });
    for name in super::OF_USER {
        shown[format!("{name}_url")] = json!(format!("{url}/{name}"));
    }
    shown
}
