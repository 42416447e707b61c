//! Every route that is served here. A contract test holds the list against the real one.

pub const PATHS: [(&str, &[&str]); 32] = [
    ("/version", &["get"]),
    ("/user", &["get"]),
    ("/users/{username}", &["get"]),
    ("/repos/{owner}/{repo}", &["get"]),
    ("/repos/{owner}/{repo}/assignees", &["get"]),
    ("/repos/{owner}/{repo}/teams", &["get"]),
    ("/teams/{id}", &["get"]),
    ("/teams/{id}/members/{username}", &["get"]),
    ("/repos/{owner}/{repo}/collaborators/{collaborator}", &["get"]),
    ("/repos/{owner}/{repo}/branches/{branch}", &["get"]),
    ("/repos/{owner}/{repo}/collaborators/{collaborator}/permission", &["get"]),
    ("/repos/{owner}/{repo}/issues/{index}/timeline", &["get"]),
    ("/repos/{owner}/{repo}/commits/{ref}/status", &["get"]),
    ("/repos/{owner}/{repo}/commits/{ref}/statuses", &["get"]),
    ("/repos/{owner}/{repo}/statuses/{sha}", &["get", "post"]),
    ("/repos/{owner}/{repo}/pulls", &["get", "post"]),
    ("/repos/{owner}/{repo}/pulls/{index}", &["get", "patch"]),
    ("/repos/{owner}/{repo}/pulls/{index}/merge", &["post"]),
    ("/repos/{owner}/{repo}/pulls/{index}/update", &["post"]),
    ("/repos/{owner}/{repo}/pulls/{index}/requested_reviewers", &["post"]),
    ("/repos/{owner}/{repo}/pulls/{index}/reviews", &["get", "post"]),
    ("/repos/{owner}/{repo}/pulls/{index}/reviews/{id}", &["get", "post", "delete"]),
    ("/repos/{owner}/{repo}/pulls/{index}/reviews/{id}/comments", &["get", "post"]),
    ("/repos/{owner}/{repo}/labels", &["get", "post"]),
    ("/repos/{owner}/{repo}/issues", &["get", "post"]),
    ("/repos/{owner}/{repo}/issues/{index}", &["get", "patch"]),
    ("/repos/{owner}/{repo}/issues/{index}/comments", &["get", "post"]),
    ("/repos/{owner}/{repo}/issues/{index}/labels", &["get", "post"]),
    ("/repos/{owner}/{repo}/issues/{index}/labels/{identifier}", &["delete"]),
    ("/repos/{owner}/{repo}/issues/{index}/reactions", &["get", "post"]),
    ("/repos/{owner}/{repo}/issues/comments/{id}", &["get", "patch", "delete"]),
    ("/repos/{owner}/{repo}/issues/comments/{id}/reactions", &["get", "post"]),
];

/// Routes that a server has from version 17 on.
pub const SINCE_17: [(&str, &[&str]); 3] = [
    ("/repos/{owner}/{repo}/actions/runs", &["get"]),
    ("/repos/{owner}/{repo}/actions/runs/{run_id}/jobs", &["get"]),
    ("/repos/{owner}/{repo}/actions/jobs/{job_id}/logs", &["get"]),
];
