//! Merging, and bringing a branch up to date.

use crate::call::{Call, forbidden, not_found, refuse};
use crate::pulls::catch_up;
use crate::shape::is_draft;
use crate::state::{Pull, Quirk, ReviewKind, State, Status};
use fake_forge_base::{Level, MergeWay, Reply, closing};

type Key = (u64, u64);

pub fn merge(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let issue = state.issues.get_mut(&key).expect("looked up before");
    let is_draft = is_draft(issue);
    let pull = issue.pull.as_mut().expect("looked up before");
    let way = match call.text("Do").as_deref() {
        Some("merge") => MergeWay::Merge,
        Some("squash") => MergeWay::Squash,
        Some("rebase" | "rebase-merge" | "fast-forward-only") => MergeWay::Rebase,
        _ => return refuse(422, "[Do]: Required"),
    };
    if pull.merged.is_some() {
        return refuse(405, "The PR is already merged");
    }
    if !issue.open {
        return not_found();
    }
    if call.level() < Level::Write {
        return refuse(405, "User not allowed to merge PR");
    }
    if call.base.faults.fires(Quirk::StillChecking) {
        return refuse(405, "Please try again later");
    }
    if is_draft {
        return refuse(405, "Work in progress PRs cannot be merged");
    }
    if call.text("head_commit_id").is_some_and(|sha| !sha.is_empty() && sha != pull.head) {
        return refuse(409, "head out of date");
    }
    if let Some(message) = missing(&state.statuses, call, pull) {
        return refuse(405, &message);
    }
    let title = call.text("MergeTitleField").filter(|title| !title.is_empty()).unwrap_or_else(|| match way {
        MergeWay::Squash => format!("{} (#{})", issue.title, key.1),
        MergeWay::Merge | MergeWay::Rebase => {
            format!("Merge pull request '{}' (#{}) from {} into {}", issue.title, key.1, pull.head_branch, pull.base_branch)
        }
    });
    let message = format!("{title}\n\n{}", call.text("MergeMessageField").unwrap_or_default());
    match call.repository().merge(&pull.base_branch, &pull.head, way, message.trim()) {
        Some(commit) => {
            pull.merged = Some(commit);
            issue.open = false;
            let now = call.base.clock.tick();
            issue.updated_at.clone_from(&now);
            let linked = if pull.base_branch == "main" { closing(&issue.body) } else { Vec::new() };
            for number in linked {
                if let Some(issue) = state.issues.get_mut(&(key.0, number)).filter(|issue| issue.pull.is_none()) {
                    issue.open = false;
                    issue.updated_at.clone_from(&now);
                }
            }
            Reply::empty(200)
        }
        None => refuse(409, "merge conflict"),
    }
}

/// What the protection of the base asks for and is not there.
fn missing(statuses: &[Status], call: &Call<'_>, pull: &Pull) -> Option<String> {
    let protection = call.base.protection(&call.path, &pull.base_branch)?;
    let mut approved: Vec<u64> = Vec::new();
    for review in pull.reviews.iter().filter(|review| matches!(review.kind, ReviewKind::Approved | ReviewKind::RequestChanges)) {
        approved.retain(|author| *author != review.author.id);
        approved.extend((review.kind == ReviewKind::Approved).then_some(review.author.id));
    }
    if approved.len() < protection.approvals as usize {
        return Some("Does not have enough approvals".into());
    }
    let green = |name: &String| {
        let last = statuses.iter().rfind(|status| status.sha == pull.head && status.context == *name);
        last.is_some_and(|status| status.state == "success")
    };
    protection.checks.iter().any(|name| !green(name)).then(|| "Not all required status checks successful".into())
}

/// Merges the base into the branch, or puts the branch on top of it.
pub fn update(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let issue = state.issues.get_mut(&key).expect("looked up before");
    if call.level() < Level::Write && !call.is(&issue.author) {
        return forbidden("user should have permission to update the branch");
    }
    if !issue.open {
        return refuse(422, "the pull request is closed");
    }
    let pull = issue.pull.as_mut().expect("looked up before");
    let repository = call.repository();
    let Some(base) = repository.rev(&format!("refs/heads/{}", pull.base_branch)) else { return not_found() };
    if repository.conflicts(&base, &pull.head) {
        return refuse(409, "merge failed because of conflict");
    }
    let rebase = call.request.query_value("style").as_deref() == Some("rebase");
    let (branch, head) = (pull.head_branch.clone(), pull.head.clone());
    if rebase {
        repository.set_ref(&format!("refs/heads/{branch}"), &base);
        repository.merge(&branch, &head, MergeWay::Rebase, "").expect("there is no conflict");
    } else {
        let message = format!("Merge branch '{}' into {branch}", pull.base_branch);
        repository.merge(&branch, &base, MergeWay::Merge, &message).expect("there is no conflict");
    }
    catch_up(state, call.base);
    Reply::empty(200)
}
