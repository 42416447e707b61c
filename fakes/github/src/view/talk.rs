//! What was said, and what checks say.

use super::{api, path_of, user};
use crate::Base;
use crate::model::{CheckRun, Comment, Liking, Note, Review, Status};
use crate::site::Site;
use serde_json::{Value, json};

pub fn comment(base: &Base, comment: &Comment) -> Value {
    let project = path_of(base, comment.on);
    let home = format!("{}/repos/{project}/issues", api(base));
    json!({
        "id": comment.id, "node_id": format!("IC_{}", comment.id), "body": comment.body, "user": user(base, comment.author),
        "author_association": "NONE", "created_at": comment.created_at, "updated_at": comment.updated_at,
        "url": format!("{home}/comments/{}", comment.id), "issue_url": format!("{home}/{}", comment.on.1),
        "html_url": format!("{}/{project}/pull/{}#issuecomment-{}", base.url, comment.on.1, comment.id),
    })
}

pub fn review(base: &Base, review: &Review) -> Value {
    let project = path_of(base, review.on);
    let html = format!("{}/{project}/pull/{}#pullrequestreview-{}", base.url, review.on.1, review.id);
    let pull = format!("{}/repos/{project}/pulls/{}", api(base), review.on.1);
    let mut shown = json!({
        "id": review.id, "node_id": format!("PRR_{}", review.id), "user": user(base, review.author), "body": review.body,
        "state": review.state, "commit_id": review.commit, "html_url": html, "pull_request_url": pull,
        "author_association": "NONE", "_links": { "html": { "href": html }, "pull_request": { "href": pull } },
    });
    // A pending one has no such field at all.
    if let Some(at) = &review.submitted_at {
        shown["submitted_at"] = json!(at);
    }
    shown
}

/// Quirk 5: after a push the commit is the new head, while the original one stays; the line is null when it is gone.
pub fn note(site: &Site, base: &Base, note: &Note) -> Value {
    let thread = site.world.thread_of(note);
    let project = path_of(base, thread.on);
    let url = format!("{}/repos/{project}/pulls/comments/{}", api(base), note.id);
    let html = format!("{}/{project}/pull/{}#discussion_r{}", base.url, thread.on.1, note.id);
    let pull = format!("{}/repos/{project}/pulls/{}", api(base), thread.on.1);
    let head = if thread.outdated { &thread.original_commit } else { &site.world.pulls[&thread.on].head_sha };
    let mut shown = json!({
        "id": note.id, "node_id": format!("PRRC_{}", note.id), "pull_request_review_id": note.review, "body": note.body,
        "user": user(base, note.author), "path": thread.original.path, "diff_hunk": thread.hunk,
        "commit_id": head, "original_commit_id": thread.original_commit,
        "line": thread.line, "original_line": thread.original.line, "side": thread.original.side,
        "start_line": thread.start_line, "original_start_line": thread.original.start_line,
        "start_side": thread.original.start_line.map(|_| &thread.original.side),
        "position": 1, "original_position": 1, "subject_type": if thread.original.line.is_some() { "line" } else { "file" },
        "created_at": note.created_at, "updated_at": note.created_at, "author_association": "NONE",
        "url": url, "html_url": html, "pull_request_url": pull,
        "_links": { "self": { "href": url }, "html": { "href": html }, "pull_request": { "href": pull } },
    });
    if let Some(top) = note.reply_to {
        shown["in_reply_to_id"] = json!(top);
    }
    shown
}

pub fn liking(base: &Base, liking: &Liking) -> Value {
    json!({
        "id": liking.id, "node_id": format!("REA_{}", liking.id), "user": user(base, liking.user), "content": liking.content,
        "created_at": liking.created_at,
    })
}

pub fn status(base: &Base, project: &str, status: &Status) -> Value {
    json!({
        "id": status.id, "node_id": format!("SC_{}", status.id), "state": status.state, "context": status.context,
        "description": status.description, "target_url": status.target_url, "avatar_url": null,
        "url": format!("{}/repos/{project}/statuses/{}", api(base), status.sha), "creator": user(base, status.creator),
        "created_at": status.created_at, "updated_at": status.created_at,
    })
}

pub fn annotation(base: &Base, project: &str, run: &CheckRun, annotation: &Value) -> Value {
    let path = annotation["path"].as_str().unwrap_or_default();
    let mut shown = json!({ "blob_href": format!("{}/{project}/blob/{}/{path}", base.url, run.sha) });
    for name in
        ["path", "start_line", "end_line", "start_column", "end_column", "annotation_level", "title", "message", "raw_details"]
    {
        shown[name] = annotation[name].clone();
    }
    shown
}

pub fn check_run(base: &Base, project: &str, run: &CheckRun) -> Value {
    let url = format!("{}/repos/{project}/check-runs/{}", api(base), run.id);
    json!({
        "id": run.id, "node_id": format!("CR_{}", run.id), "head_sha": run.sha, "name": run.name, "url": url,
        "html_url": format!("{}/{project}/runs/{}", base.url, run.id), "details_url": run.job.as_ref().map(|job| &job.page), "external_id": "",
        "status": run.status, "conclusion": run.conclusion, "started_at": run.started_at,
        "completed_at": run.conclusion.as_ref().map(|_| &run.started_at), "check_suite": { "id": 1 }, "app": null,
        "pull_requests": [],
        "output": {
            "title": run.title, "summary": run.summary, "text": null, "annotations_count": run.annotations.len(),
            "annotations_url": format!("{url}/annotations"),
        },
    })
}
