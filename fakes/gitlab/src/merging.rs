//! Approving, merging, rebasing.

use crate::call::{Call, forbidden, refuse, unauthorized};
use crate::requests::{catch_up, said_by_itself, status};
use crate::shape;
use crate::state::{Condition, MergeRequest, Quirk, State};
use fake_forge_base::{Level, MergeWay, Reply, closing};
use serde_json::{Value, json};

type Key = (u64, u64);

pub fn approvals(state: &State, call: &Call<'_>, key: Key) -> Reply {
    Reply::json(200, &shaped(call, &state.requests[&key]))
}

fn shaped(call: &Call<'_>, request: &MergeRequest) -> Value {
    let by = request.approvals.iter().map(|(user, at)| json!({ "user": shape::user(&call.base.url, user), "approved_at": at }));
    json!({
        "id": request.id,
        "iid": request.iid,
        "project_id": request.project,
        "approved": !request.approvals.is_empty(),
        "user_has_approved": request.approvals.iter().any(|(user, _)| call.is(user)),
        "user_can_approve": call.level() >= Level::Write,
        "approved_by": by.collect::<Vec<Value>>(),
    })
}

/// Whoever may not, or has already, is told so with 401.
pub fn approve(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let request = state.requests.get_mut(&key).expect("looked up before");
    if call.level() < Level::Write || request.approvals.iter().any(|(user, _)| call.is(user)) {
        return unauthorized();
    }
    if call.text("sha").is_some_and(|sha| sha != request.version().head) {
        return refuse(409, "SHA does not match HEAD of source branch");
    }
    let now = call.base.clock.tick();
    let user = call.user();
    request.discussions.push(said_by_itself(call.base, &user, "approved this merge request", &now));
    request.asking.remove(&user.id);
    request.approvals.push((user, now));
    Reply::json(201, &shaped(call, request))
}

/// 13: one status for everything that stands in the way; the reason is in the request.
pub fn merge(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let rules = state.rules.clone();
    let request = state.requests.get_mut(&key).expect("looked up before");
    if call.level() < Level::Write {
        return unauthorized();
    }
    match call.text("sha") {
        None if rules.require_sha => return refuse(400, "SHA must be provided when merging"),
        Some(sha) if sha != request.version().head => return refuse(409, "SHA does not match HEAD of source branch"),
        Some(_) | None => {}
    }
    if status(call.base, request) != "mergeable" {
        return refuse(405, "405 Method Not Allowed");
    }
    let squash = call.flag("squash") == Some(true);
    let message = call.text(if squash { "squash_commit_message" } else { "merge_commit_message" });
    let message = message.unwrap_or_else(|| format!("Merge branch '{}' into '{}'", request.source_branch, request.target_branch));
    let way = match (squash, rules.merge_method.as_str()) {
        (true, _) => MergeWay::Squash,
        (false, "ff" | "rebase_merge") => MergeWay::Rebase,
        (false, _) => MergeWay::Merge,
    };
    let merged = call.repository().merge(&request.target_branch, &request.version().head, way, &message);
    let Some(commit) = merged else { return refuse(422, "Branch cannot be merged") };
    request.condition = Condition::Merged;
    request.updated_at = call.base.clock.tick();
    let linked = if request.target_branch == "main" { closing(&request.description) } else { Vec::new() };
    let mut shape = shape::request(call, &request.clone(), "not_open");
    for issue in state.issues.iter_mut().filter(|issue| issue.project == key.0 && linked.contains(&issue.iid)) {
        (issue.open, issue.closed_at) = (false, Some(request.updated_at.clone()));
        issue.updated_at.clone_from(&request.updated_at);
    }
    shape["merge_commit_sha"] = commit.into();
    Reply::json(200, &shape)
}

/// Takes its time: the answer only says that it has begun.
pub fn rebase(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let looks = state.rules.rebase_looks;
    let request = state.requests.get_mut(&key).expect("looked up before");
    if call.level() < Level::Write && !call.is(&request.author) {
        return forbidden();
    }
    request.rebasing = looks;
    let head = request.version().head.clone();
    let (source, target) = (request.source_branch.clone(), request.target_branch.clone());
    let repository = call.repository();
    let broken = call.base.faults.fires(Quirk::BrokenRebase) || repository.conflicts(&format!("refs/heads/{target}"), &head);
    if broken {
        request.merge_error = Some("Rebase failed: Rebase locally, resolve all conflicts, then push the branch.".into());
    } else {
        request.merge_error = None;
        let tip = repository.rev(&format!("refs/heads/{target}")).expect("a target");
        // On a branch of its own, since what is there must not move before it is done.
        repository.set_ref(&format!("refs/heads/{source}"), &tip);
        repository.merge(&source, &head, MergeWay::Rebase, "").expect("there is no conflict");
        catch_up(state, call.base);
    }
    Reply::json(202, &json!({ "rebase_in_progress": true }))
}

/// The old way says 201 whatever happened; the new one says what did.
pub fn cancel(call: &mut Call<'_>, is_new: bool) -> Reply {
    let failed = call.base.faults.fires(Quirk::UncancellableMerge);
    match (failed, is_new) {
        (true, true) => refuse(409, "Can't cancel the automatic merge"),
        (true, false) => Reply::json(201, &json!({ "status": "error", "message": "Can't cancel the automatic merge" })),
        (false, _) => Reply::json(201, &json!({ "status": "success" })),
    }
}
