//! Merge requests: what they are, and how their diff follows the branch.

use crate::call::{Call, forbidden, missing, not_found, refuse};
use crate::issues::relabel;
use crate::position::carry;
use crate::shape;
use crate::state::{Condition, Discussion, MergeRequest, Note, NoteKind, Quirk, State, Version};
use fake_forge_base::{Base, Fault, Level, Reply, User};
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Key = (u64, u64);

pub fn project(state: &State, call: &Call<'_>) -> Reply {
    let private = call.base.project(&call.path).is_some_and(|project| project.private);
    Reply::json(
        200,
        &json!({
            "id": call.project,
            "path_with_namespace": call.path,
            "default_branch": "main",
            "visibility": if private { "private" } else { "public" },
            "merge_method": state.rules.merge_method,
            "squash_option": state.rules.squash_option,
            "only_allow_merge_if_pipeline_succeeds": state.rules.pipeline_must_succeed,
            "web_url": format!("{}/{}", call.base.url, call.path),
        }),
    )
}

/// The rule that counts for every branch. Where approvals are not part of this GitLab there is no such page.
pub fn approval_rules(state: &State, call: &mut Call<'_>) -> Reply {
    match state.rules.approvals {
        None => refuse(404, "404 Not Found"),
        Some(wanted) => call.paged(vec![json!({
            "id": 1, "name": "All Members", "rule_type": "any_approver", "approvals_required": wanted, "protected_branches": [],
        })]),
    }
}

pub fn branch(call: &Call<'_>, name: &str) -> Reply {
    match call.repository().rev(&format!("refs/heads/{name}")) {
        Some(sha) => Reply::json(200, &json!({ "name": name, "commit": { "id": sha } })),
        None => not_found("Branch"),
    }
}

pub fn list(state: &State, call: &mut Call<'_>) -> Reply {
    let asked = |name: &str| call.request.query_value(name);
    let fits = |request: &&MergeRequest| {
        request.project == call.project
            && asked("state").is_none_or(|wanted| wanted == "all" || wanted == request.condition.word())
            && asked("source_branch").is_none_or(|wanted| wanted == request.source_branch)
            && asked("author_id").is_none_or(|wanted| wanted == request.author.id.to_string())
            && asked("labels").is_none_or(|wanted| wanted.split(',').all(|label| request.labels.iter().any(|own| own == label)))
    };
    let mut found: Vec<&MergeRequest> = state.requests.values().filter(fits).collect();
    if asked("sort").as_deref() != Some("asc") {
        found.reverse();
    }
    let items = found.into_iter().map(|request| shape::request(call, request, status(call.base, request))).collect();
    call.paged(items)
}

pub fn show(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let Some(request) = state.requests.get_mut(&key) else { return not_found("Merge Request") };
    let preparing = call.base.faults.fires(Quirk::Preparing);
    let hollow = call.base.faults.fires(Quirk::Hollow);
    let status = if preparing { "preparing" } else { status(call.base, request) };
    let mut shape = shape::request(call, request, status);
    let version = request.version();
    let files = call.repository().diff_between(&version.base, &version.head).files.len();
    shape["changes_count"] = if preparing { Value::Null } else { files.to_string().into() };
    let refs = json!({ "base_sha": version.base, "start_sha": version.start, "head_sha": version.head });
    shape["diff_refs"] = if preparing { Value::Null } else { refs };
    if call.flag("include_rebase_in_progress") == Some(true) {
        shape["rebase_in_progress"] = (request.rebasing > 0).into();
        request.rebasing = request.rebasing.saturating_sub(1);
    }
    if hollow && let Some(fields) = shape.as_object_mut() {
        fields.remove("sha");
    }
    Reply::json(200, &shape)
}

pub fn create(state: &mut State, call: &mut Call<'_>) -> Reply {
    let texts = ["source_branch", "target_branch", "title"].map(|name| call.text(name).ok_or(name));
    let [Ok(source_branch), Ok(target_branch), Ok(title)] = texts else {
        return missing("source_branch, target_branch or title");
    };
    let target = call.value("target_project_id").and_then(|id| id.as_u64()).unwrap_or(call.project);
    let Some(target_path) = call.base.project_by_id(target).map(|project| project.path.clone()) else {
        return not_found("Project");
    };
    let heads = call.repository().rev(&format!("refs/heads/{source_branch}"));
    let bases = call.base.repository(&target_path).rev(&format!("refs/heads/{target_branch}"));
    if heads.is_none() || bases.is_none() {
        return Reply::json(400, &json!({ "message": ["The source or the target branch does not exist"] }));
    }
    let twin = |request: &&MergeRequest| {
        request.condition == Condition::Opened
            && (request.source_project, request.project) == (call.project, target)
            && (&request.source_branch, &request.target_branch) == (&source_branch, &target_branch)
    };
    if let Some(twin) = state.requests.values().find(twin) {
        let message = format!("Another open merge request already exists for this source branch: !{}", twin.iid);
        return Reply::json(409, &json!({ "message": [message] }));
    }
    let iid = state.requests.keys().filter(|(project, _)| *project == target).count() as u64 + 1;
    let now = call.base.clock.tick();
    let request = MergeRequest {
        id: call.base.ids.fresh(),
        iid,
        project: target,
        source_project: call.project,
        source_branch,
        target_branch,
        title,
        description: call.text("description").unwrap_or_default(),
        author: call.user(),
        condition: Condition::Opened,
        labels: Vec::new(),
        reviewers: Vec::new(),
        asking: BTreeMap::new(),
        created_at: now.clone(),
        updated_at: now,
        versions: Vec::new(),
        discussions: Vec::new(),
        drafts: Vec::new(),
        approvals: Vec::new(),
        awards: Vec::new(),
        held_up: None,
        merge_error: None,
        rebasing: 0,
    };
    state.requests.insert((target, iid), request);
    catch_up(state, call.base);
    call.path = target_path;
    let request = &state.requests[&(target, iid)];
    Reply::json(201, &shape::request(call, request, "preparing"))
}

pub fn update(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let Some(request) = state.requests.get_mut(&key) else { return not_found("Merge Request") };
    if call.level() < Level::Write && !call.is(&request.author) {
        return forbidden();
    }
    match call.text("state_event").as_deref() {
        Some("close") if request.condition == Condition::Opened => request.condition = Condition::Closed,
        Some("reopen") if request.condition == Condition::Closed => request.condition = Condition::Opened,
        _ => {}
    }
    if let Some(title) = call.text("title") {
        request.title = title;
    }
    if let Some(target) = call.text("target_branch").filter(|target| *target != request.target_branch) {
        if call.repository().rev(&format!("refs/heads/{target}")).is_none() {
            return not_found("Branch");
        }
        let body = format!("changed target branch from `{}` to `{target}`", request.target_branch);
        let note = crate::notes::new_note(call, NoteKind::System, body, None);
        request.discussions.push(Discussion { id: discussion_id(note.id), notes: vec![note] });
        request.target_branch = target;
        // The same head is another diff now.
        let repository = call.repository();
        if let (Some(last), Some(start)) =
            (request.versions.last().cloned(), repository.rev(&format!("refs/heads/{}", request.target_branch)))
        {
            let base = repository.merge_base(&start, &last.head).unwrap_or_else(|| start.clone());
            let (id, created_at) = (call.base.ids.fresh(), call.base.clock.tick());
            request.versions.push(Version { id, base, start, created_at, ..last });
        }
    }
    relabel(call, &mut request.labels);
    if let Some(Value::Array(ids)) = call.value("reviewer_ids") {
        let known = ids.iter().filter_map(Value::as_u64).filter(|id| call.base.people.by_id(*id).is_some());
        request.reviewers = known.collect();
    }
    request.updated_at = call.base.clock.tick();
    let request = request.clone();
    Reply::json(200, &shape::request(call, &request, status(call.base, &request)))
}

/// Everybody who reviews, with how far they are.
pub fn reviewers(state: &State, call: &mut Call<'_>, key: Key) -> Reply {
    let request = &state.requests[&key];
    let asked =
        request.reviewers.iter().filter(|id| !request.asking.contains_key(id)).map(|id| (*id, "unreviewed", &request.created_at));
    let asking = request.asking.iter().map(|(id, since)| (*id, "requested_changes", since));
    let shown = asked.chain(asking).filter_map(|(id, word, since)| {
        let user = call.base.people.by_id(id)?;
        Some(json!({ "user": shape::user(&call.base.url, user), "state": word, "created_at": since }))
    });
    let shown = shown.collect();
    call.paged(shown)
}

pub fn versions(state: &State, call: &mut Call<'_>, key: Key) -> Reply {
    if call.base.faults.fires(Quirk::Preparing) {
        return call.paged(Vec::new());
    }
    let items = state.requests[&key].versions.iter().rev().map(shape::version).collect();
    call.paged(items)
}

pub fn version(state: &State, call: &Call<'_>, key: Key, id: &str) -> Reply {
    let Some(version) = state.requests[&key].versions.iter().find(|version| version.id.to_string() == id) else {
        return refuse(404, "404 Not found");
    };
    let diff = call.repository().diff_between(&version.base, &version.head);
    let mut shape = shape::version(version);
    shape["diffs"] = diff.files.iter().map(shape::file).collect();
    Reply::json(200, &shape)
}

/// The first thing that stands in the way of merging.
pub fn status<F: Fault>(base: &Base<F>, request: &MergeRequest) -> &'static str {
    let Some(project) = base.project_by_id(request.project) else { return "not_open" };
    if request.condition != Condition::Opened {
        return "not_open";
    }
    if request.is_draft() {
        return "draft_status";
    }
    if project.repository.conflicts(&format!("refs/heads/{}", request.target_branch), &request.version().head) {
        return "conflict";
    }
    match request.held_up.as_deref() {
        None => "mergeable",
        Some("ci_still_running") => "ci_still_running",
        Some("not_approved") => "not_approved",
        Some("discussions_not_resolved") => "discussions_not_resolved",
        Some("checking") => "checking",
        Some(_) => "merge_request_blocked",
    }
}

/// Gives every open request whose branch has moved a new version of its diff, and moves its comments along.
pub fn catch_up(state: &mut State, base: &mut Base<Quirk>) {
    for request in state.requests.values_mut().filter(|request| request.condition == Condition::Opened) {
        let Some(target) = base.project_by_id(request.project).map(|project| project.path.clone()) else { continue };
        let Some(source) = base.project_by_id(request.source_project).map(|project| project.path.clone()) else { continue };
        let Some(head) = base.repository(&source).rev(&format!("refs/heads/{}", request.source_branch)) else { continue };
        if request.versions.last().is_some_and(|version| version.head == head) {
            continue;
        }
        base.bring(&source, &head, &target, &format!("refs/merge-requests/{}/head", request.iid));
        let repository = base.repository(&target);
        let start = repository.rev(&format!("refs/heads/{}", request.target_branch)).unwrap_or_else(|| head.clone());
        let merge_base = repository.merge_base(&start, &head).unwrap_or_else(|| start.clone());
        let now = base.clock.tick();
        let version = Version { id: base.ids.fresh(), base: merge_base, start, head, created_at: now.clone() };
        if let Some(before) = request.versions.last() {
            for note in request.discussions.iter_mut().flat_map(|discussion| &mut discussion.notes) {
                if let Some(position) = &mut note.position {
                    carry(&repository, before, &version, position);
                }
            }
            let discussion = said_by_itself(base, &request.author, "added 1 commit", &now);
            request.discussions.push(discussion);
        }
        request.versions.push(version);
        request.updated_at = now;
    }
}

/// What GitLab writes down among the notes of people.
pub fn said_by_itself(base: &mut Base<Quirk>, author: &User, body: &str, now: &str) -> Discussion {
    let id = base.ids.fresh();
    let note = Note {
        id,
        kind: NoteKind::System,
        body: body.to_owned(),
        author: author.clone(),
        created_at: now.to_owned(),
        updated_at: now.to_owned(),
        resolved_by: None,
        position: None,
        awards: Vec::new(),
    };
    Discussion { id: discussion_id(id), notes: vec![note] }
}

pub fn discussion_id(number: u64) -> String {
    format!("{number:040x}")
}
