//! Reading pull requests, their files and their diff.

use crate::Base;
use crate::model::Key;
use crate::route::{Visit, list as paged, refuse};
use crate::site::{Quirk, Site};
use crate::view;
use fake_forge_base::{FileStatus, Reply};
use serde_json::{Value, json};

type Answered = Result<Reply, Reply>;

pub fn known(site: &Site, key: Key) -> Result<(), Reply> {
    if site.world.pulls.contains_key(&key) { Ok(()) } else { Err(refuse(404, "Not Found")) }
}

pub fn list(site: &Site, base: &Base, visit: &Visit<'_>) -> Answered {
    let state = visit.request.query_value("state").unwrap_or_else(|| "open".into());
    let head = visit.request.query_value("head");
    let wanted = |key: &&Key| {
        let (pull, issue) = (&site.world.pulls[key], &site.world.issues[key]);
        let of_state = match state.as_str() {
            "all" => true,
            "closed" => !issue.open,
            _ => issue.open,
        };
        let of_head = head.as_ref().is_none_or(|head| *head == format!("{}:{}", pull.head_owner, pull.head_branch));
        key.0 == visit.project_id && of_state && of_head
    };
    let found: Vec<Value> =
        site.world.pulls.keys().rev().filter(wanted).map(|key| view::pull_in_list(site, base, *key)).collect();
    Ok(paged(base, visit.request, found))
}

pub fn one(site: &Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    if visit.request.header("accept").is_some_and(|accept| accept.contains("diff")) {
        return diff(site, base, visit, key);
    }
    let unknown = base.faults.fires(Quirk::MergeableUnknown);
    Ok(Reply::json(200, &view::pull(site, base, key, unknown)))
}

/// Quirk 3: the diff of a large pull request cannot be had.
fn diff(site: &Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    let too_large = |what: &str| {
        let message = format!("Sorry, the diff exceeded the maximum number of {what}.");
        let errors = json!([{ "resource": "PullRequest", "field": "diff", "code": "too_large" }]);
        Reply::json(406, &json!({ "message": message, "errors": errors, "documentation_url": "https://docs.github.com/rest" }))
    };
    for (quirk, reply) in [
        (
            Quirk::DiffTooManyFiles,
            too_large("files (300). Consider using 'List pull requests files' API or locally cloning the repository instead"),
        ),
        (Quirk::DiffTooManyLines, too_large("lines (20000)")),
        (Quirk::DiffTooSlow, refuse(422, "Sorry, this diff is taking too long to generate.")),
        (Quirk::DiffTimeout, Reply::new(504, "text/html", "<html><body><h1>504 Gateway Timeout</h1></body></html>")),
    ] {
        if base.faults.fires(quirk) {
            return Err(reply);
        }
    }
    let pull = &site.world.pulls[&key];
    let text = base.repository(&visit.project).diff_text(&pull.base_sha, &pull.head_sha);
    Ok(Reply::new(200, "application/vnd.github.diff; charset=utf-8", text))
}

pub fn files(site: &Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let pull = &site.world.pulls[&key];
    let diff = base.repository(&visit.project).diff(&pull.base_sha, &pull.head_sha);
    let mut entries = Vec::new();
    for file in &diff.files {
        let status = match file.status {
            FileStatus::Added => "added",
            FileStatus::Deleted => "removed",
            FileStatus::Modified => "modified",
            FileStatus::Renamed => "renamed",
            FileStatus::Copied => "copied",
        };
        let link = |kind: &str| format!("{}/{}/{kind}/{}/{}", base.url, visit.project, pull.head_sha, file.new_path);
        let mut entry = json!({
            "sha": file.new_blob, "filename": file.new_path, "status": status,
            "additions": file.additions(), "deletions": file.deletions(), "changes": file.additions() + file.deletions(),
            "blob_url": link("blob"), "raw_url": link("raw"), "contents_url": link("contents"),
        });
        if file.old_path != file.new_path {
            entry["previous_filename"] = json!(file.old_path);
        }
        // Quirk 4; a binary file has none either.
        if !file.patch.is_empty() && !base.faults.fires(Quirk::Patchless) {
            entry["patch"] = json!(file.patch);
        }
        entries.push(entry);
    }
    Ok(paged(base, visit.request, entries))
}
