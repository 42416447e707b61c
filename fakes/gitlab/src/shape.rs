//! What GitLab's answers look like, after its documentation.

use crate::call::Call;
use crate::state::{Award, Condition, Discussion, Draft, Issue, MergeRequest, Note, NoteKind, Status, Version};
use fake_forge_base::{FileDiff, FileStatus, User};
use serde_json::{Value, json};

/// A user as it stands beside what it did.
pub fn user(url: &str, user: &User) -> Value {
    json!({
        "id": user.id,
        "username": user.login,
        "name": user.login,
        "state": "active",
        "locked": false,
        "avatar_url": null,
        "web_url": format!("{url}/{}", user.login),
    })
}

pub fn request(call: &Call<'_>, request: &MergeRequest, status: &str) -> Value {
    let url = &call.base.url;
    let alive = call.base.project_by_id(request.source_project).map(|project| project.id);
    let reviewers: Vec<Value> =
        request.reviewers.iter().filter_map(|id| call.base.people.by_id(*id)).map(|found| user(url, found)).collect();
    json!({
        "id": request.id,
        "iid": request.iid,
        "project_id": request.project,
        "title": request.title,
        "description": request.description,
        "state": request.condition.word(),
        "created_at": request.created_at,
        "updated_at": request.updated_at,
        "target_branch": request.target_branch,
        "source_branch": request.source_branch,
        "source_project_id": alive,
        "target_project_id": request.project,
        "author": user(url, &request.author),
        "reviewers": reviewers,
        "assignees": [],
        "labels": request.labels,
        "draft": request.is_draft(),
        "work_in_progress": request.is_draft(),
        "merge_status": if status == "mergeable" { "can_be_merged" } else { "cannot_be_merged" },
        "detailed_merge_status": status,
        "has_conflicts": status == "conflict",
        "sha": request.version().head,
        "merge_commit_sha": null,
        "merge_error": request.merge_error,
        "user_notes_count": request.notes().filter(|note| note.kind != NoteKind::System).count(),
        "web_url": format!("{url}/{}/-/merge_requests/{}", call.path, request.iid),
        "references": { "short": format!("!{}", request.iid), "full": format!("{}!{}", call.path, request.iid) },
    })
}

pub fn version(version: &Version) -> Value {
    json!({
        "id": version.id,
        "head_commit_sha": version.head,
        "base_commit_sha": version.base,
        "start_commit_sha": version.start,
        "created_at": version.created_at,
        "state": "collected",
        "real_size": "1",
    })
}

pub fn file(file: &FileDiff) -> Value {
    json!({
        "old_path": file.old_path,
        "new_path": file.new_path,
        "a_mode": if file.status == FileStatus::Added { "0" } else { "100644" },
        "b_mode": if file.status == FileStatus::Deleted { "0" } else { "100644" },
        "diff": if file.patch.is_empty() { String::new() } else { format!("{}\n", file.patch) },
        "new_file": file.status == FileStatus::Added,
        "renamed_file": file.status == FileStatus::Renamed,
        "deleted_file": file.status == FileStatus::Deleted,
        "generated_file": false,
    })
}

pub fn note(call: &Call<'_>, request: &MergeRequest, note: &Note) -> Value {
    let kind = match note.kind {
        NoteKind::Plain | NoteKind::System => Value::Null,
        NoteKind::Discussion => "DiscussionNote".into(),
        NoteKind::Diff => "DiffNote".into(),
    };
    let mut shape = json!({
        "id": note.id,
        "type": kind,
        "body": note.body,
        "author": user(&call.base.url, &note.author),
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "system": note.kind == NoteKind::System,
        "noteable_id": request.id,
        "noteable_type": "MergeRequest",
        "noteable_iid": request.iid,
        "project_id": request.project,
        "resolvable": note.resolvable(),
        "confidential": false,
        "internal": false,
    });
    if note.resolvable() {
        shape["resolved"] = note.resolved_by.is_some().into();
        shape["resolved_by"] = note.resolved_by.as_ref().map(|by| user(&call.base.url, by)).into();
    }
    if let Some(position) = &note.position {
        shape["position"] = position.clone();
    }
    shape
}

pub fn discussion(call: &Call<'_>, request: &MergeRequest, discussion: &Discussion) -> Value {
    let notes: Vec<Value> = discussion.notes.iter().map(|entry| note(call, request, entry)).collect();
    let alone = discussion.notes.iter().all(|note| !note.resolvable());
    json!({ "id": discussion.id, "individual_note": alone, "notes": notes })
}

/// A draft on no line has a position all the same, full of nothing.
pub fn draft(request: &MergeRequest, draft: &Draft) -> Value {
    let empty = json!({
        "base_sha": null, "start_sha": null, "head_sha": null, "old_path": null, "new_path": null,
        "position_type": "text", "old_line": null, "new_line": null, "line_range": null,
    });
    json!({
        "id": draft.id,
        "author_id": draft.author.id,
        "merge_request_id": request.id,
        "resolve_discussion": false,
        "discussion_id": draft.reply_to,
        "note": draft.body,
        "commit_id": null,
        "line_code": null,
        "position": draft.position.clone().unwrap_or(empty),
    })
}

pub fn award(url: &str, award: &Award) -> Value {
    json!({ "id": award.id, "name": award.name, "user": user(url, &award.user), "awardable_type": "Note" })
}

pub fn issue_note(call: &Call<'_>, issue: &Issue, note: &Note) -> Value {
    json!({
        "id": note.id,
        "type": null,
        "body": note.body,
        "author": user(&call.base.url, &note.author),
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "system": false,
        "noteable_id": issue.id,
        "noteable_type": "Issue",
        "noteable_iid": issue.iid,
        "project_id": issue.project,
        "resolvable": false,
        "confidential": false,
        "internal": false,
    })
}

pub fn issue(call: &Call<'_>, issue: &Issue) -> Value {
    json!({
        "id": issue.id,
        "iid": issue.iid,
        "project_id": issue.project,
        "title": issue.title,
        "description": issue.description,
        "state": if issue.open { Condition::Opened } else { Condition::Closed }.word(),
        "author": user(&call.base.url, &issue.author),
        "labels": issue.labels,
        "assignees": [],
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": issue.closed_at,
        "web_url": format!("{}/{}/-/issues/{}", call.base.url, call.path, issue.iid),
    })
}

pub fn status(url: &str, status: &Status) -> Value {
    json!({
        "id": status.id,
        "sha": status.sha,
        "ref": "main",
        "status": status.state,
        "name": status.name,
        "target_url": status.target_url,
        "description": status.description,
        "allow_failure": false,
        "author": user(url, &status.author),
    })
}
