//! What Forgejo's answers look like. Held against its swagger by [`crate::Contract`].

use crate::call::Call;
use crate::state::{CodeComment, Comment, Issue, Label, Pull, Reaction, Review, ReviewKind, State, Status};
use fake_forge_base::{Level, User};
use serde_json::{Value, json};

/// There is no word for bots.
pub fn user(url: &str, user: &User) -> Value {
    json!({
        "id": user.id,
        "login": user.login,
        "login_name": "",
        "full_name": "",
        "email": format!("{}@noreply.example.org", user.login),
        "avatar_url": "",
        "html_url": format!("{url}/{}", user.login),
        "is_admin": false,
        "active": true,
        "created": "2026-01-01T00:00:00Z",
    })
}

pub fn repository(call: &Call<'_>, path: &str) -> Value {
    let Some(project) = call.base.project(path) else { return Value::Null };
    let (owner, name) = path.split_once('/').unwrap_or_default();
    let level = call.base.level(path, call.caller.as_ref());
    let owner = User { id: 1, login: owner.to_owned(), kind: fake_forge_base::Kind::Person };
    json!({
        "id": project.id,
        "owner": user(&call.base.url, &owner),
        "name": name,
        "full_name": path,
        "private": project.private,
        "fork": false,
        "default_branch": "main",
        "html_url": format!("{}/{path}", call.base.url),
        "clone_url": format!("{}/{path}.git", call.base.url),
        "permissions": { "admin": level >= Level::Admin, "push": level >= Level::Write, "pull": level >= Level::Read },
        "allow_merge_commits": true,
        "allow_rebase": true,
        "allow_squash_merge": true,
        "has_issues": true,
        "has_pull_requests": true,
    })
}

/// A conflict, a draft and "not known yet" all look the same: not mergeable.
pub fn pull(state: &State, call: &Call<'_>, issue: &Issue, pull: &Pull) -> Value {
    let repository = call.repository();
    let base_sha = repository.rev(&format!("refs/heads/{}", pull.base_branch)).unwrap_or_default();
    let merge_base = repository.merge_base(&base_sha, &pull.head).unwrap_or_default();
    let source = call.base.project_by_id(pull.source_project).map(|project| project.path.clone());
    let open = issue.open && pull.merged.is_none();
    let mergeable = open && !is_draft(issue) && !repository.conflicts(&base_sha, &pull.head);
    let diff = repository.diff(&base_sha, &pull.head);
    let visible = pull.reviews.iter().filter(|review| review.kind != ReviewKind::Pending).count();
    json!({
        "id": issue.id,
        "number": issue.number,
        "url": format!("{}/pulls/{}", call.web(), issue.number),
        "html_url": format!("{}/pulls/{}", call.web(), issue.number),
        "diff_url": format!("{}/pulls/{}.diff", call.web(), issue.number),
        "patch_url": format!("{}/pulls/{}.patch", call.web(), issue.number),
        "title": issue.title,
        "body": issue.body,
        "user": user(&call.base.url, &issue.author),
        "labels": state.labels_of(issue).into_iter().map(|entry| label(call, entry)).collect::<Vec<_>>(),
        "assignees": null,
        "requested_reviewers": pull.reviewers.iter().map(|entry| user(&call.base.url, entry)).collect::<Vec<_>>(),
        "state": if open { "open" } else { "closed" },
        "draft": is_draft(issue),
        "is_locked": false,
        "comments": issue.comments.len() + visible,
        "review_comments": pull.reviews.iter().map(|review| review.comments.len()).sum::<usize>(),
        "additions": diff.files.iter().map(fake_forge_base::FileDiff::additions).sum::<usize>(),
        "deletions": diff.files.iter().map(fake_forge_base::FileDiff::deletions).sum::<usize>(),
        "changed_files": diff.files.len(),
        "mergeable": mergeable,
        "merged": pull.merged.is_some(),
        "merged_at": pull.merged.as_ref().map(|_| &issue.updated_at),
        "merge_commit_sha": pull.merged,
        "merge_base": merge_base,
        "base": {
            "label": pull.base_branch, "ref": pull.base_branch, "sha": base_sha, "repo_id": call.project,
            "repo": self::repository(call, &call.path),
        },
        "head": {
            "label": pull.head_branch,
            "ref": if source.is_some() { pull.head_branch.clone() } else { format!("refs/pull/{}/head", issue.number) },
            "sha": pull.head,
            "repo_id": pull.source_project,
            "repo": source.map_or(Value::Null, |path| self::repository(call, &path)),
        },
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "flow": 0,
    })
}

pub fn is_draft(issue: &Issue) -> bool {
    let title = issue.title.to_ascii_uppercase();
    title.starts_with("WIP:") || title.starts_with("[WIP]")
}

pub fn label(call: &Call<'_>, label: &Label) -> Value {
    json!({
        "id": label.id,
        "name": label.name,
        "color": label.color,
        "description": "",
        "exclusive": false,
        "is_archived": false,
        "url": format!("{}/labels/{}", call.api(), label.id),
    })
}

pub fn issue(state: &State, call: &Call<'_>, issue: &Issue) -> Value {
    let meta = issue.pull.as_ref().map(|pull| json!({ "draft": is_draft(issue), "merged": pull.merged.is_some() }));
    json!({
        "id": issue.id,
        "number": issue.number,
        "url": format!("{}/issues/{}", call.api(), issue.number),
        "html_url": format!("{}/issues/{}", call.web(), issue.number),
        "title": issue.title,
        "body": issue.body,
        "user": user(&call.base.url, &issue.author),
        "labels": state.labels_of(issue).into_iter().map(|entry| label(call, entry)).collect::<Vec<_>>(),
        "state": if issue.open { "open" } else { "closed" },
        "comments": issue.comments.len(),
        "created_at": issue.created_at,
        "updated_at": issue.updated_at,
        "closed_at": (!issue.open).then_some(&issue.updated_at),
        "pull_request": meta,
    })
}

pub fn comment(call: &Call<'_>, number: u64, comment: &Comment) -> Value {
    json!({
        "id": comment.id,
        "html_url": format!("{}/pulls/{number}#issuecomment-{}", call.web(), comment.id),
        "issue_url": format!("{}/issues/{number}", call.web()),
        "pull_request_url": format!("{}/pulls/{number}", call.web()),
        "user": user(&call.base.url, &comment.author),
        "body": comment.body,
        "assets": [],
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
    })
}

pub fn review(call: &Call<'_>, number: u64, head: &str, review: &Review) -> Value {
    json!({
        "id": review.id,
        "user": user(&call.base.url, &review.author),
        "team": null,
        "state": review.kind.word(),
        "body": review.body,
        "commit_id": review.commit,
        "stale": review.commit != head,
        "official": false,
        "dismissed": false,
        "comments_count": review.comments.len(),
        "submitted_at": review.submitted_at,
        "updated_at": review.submitted_at,
        "html_url": format!("{}/pulls/{number}#issuecomment-{}", call.web(), review.id),
        "pull_request_url": format!("{}/pulls/{number}", call.web()),
    })
}

/// `position` is the line of the new file, `original_position` that of the old one; nobody ever resolves anything.
pub fn code_comment(call: &Call<'_>, number: u64, review: u64, comment: &CodeComment) -> Value {
    json!({
        "id": comment.id,
        "body": comment.body,
        "user": user(&call.base.url, &comment.author),
        "resolver": null,
        "pull_request_review_id": review,
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "path": comment.path,
        "commit_id": comment.blamed,
        "original_commit_id": "",
        "diff_hunk": comment.hunk,
        "position": comment.line.max(0),
        "original_position": (-comment.line).max(0),
        "extra_lines_count": comment.extra_lines,
        "html_url": format!("{}/pulls/{number}#issuecomment-{}", call.web(), comment.id),
        "pull_request_url": format!("{}/pulls/{number}", call.web()),
    })
}

pub fn reaction(url: &str, reaction: &Reaction) -> Value {
    json!({ "user": user(url, &reaction.user), "content": reaction.content, "created_at": reaction.created_at })
}

pub fn status(call: &Call<'_>, status: &Status) -> Value {
    json!({
        "id": status.id,
        "status": status.state,
        "context": status.context,
        "description": status.description,
        "target_url": status.target_url,
        "url": format!("{}/statuses/{}", call.api(), status.sha),
        "creator": user(&call.base.url, &status.creator),
        "created_at": status.created_at,
        "updated_at": status.created_at,
    })
}
