//! Pull requests, and how they follow their branch.

use crate::call::{Call, forbidden, not_found, refuse};
use crate::shape;
use crate::state::{Issue, Pull, Quirk, State};
use fake_forge_base::{Base, Level, Reply};
use serde_json::{Value, json};
use std::collections::BTreeSet;

type Key = (u64, u64);

/// Everybody who sees a branch sees what protects it.
pub fn branch(call: &Call<'_>, name: &str) -> Reply {
    let Some(sha) = call.repository().rev(&format!("refs/heads/{name}")) else { return not_found() };
    let mut shape =
        json!({ "name": name, "commit": { "id": sha }, "protected": false, "user_can_push": true, "user_can_merge": true });
    if let Some(protection) = call.base.protection(&call.path, name) {
        shape["protected"] = true.into();
        shape["required_approvals"] = protection.approvals.into();
        shape["enable_status_check"] = (!protection.checks.is_empty()).into();
        shape["status_check_contexts"] = json!(protection.checks);
        shape["user_can_merge"] = (call.level() >= Level::Write).into();
    }
    Reply::json(200, &shape)
}

pub fn list(state: &State, call: &Call<'_>) -> Reply {
    let asked = |name: &str| call.request.query_value(name).filter(|value| !value.is_empty());
    let open = match asked("state").as_deref() {
        Some("all") => None,
        Some("closed") => Some(false),
        _ => Some(true),
    };
    let wanted: BTreeSet<u64> =
        call.request.query_pairs().iter().filter(|(name, _)| name == "labels").filter_map(|(_, id)| id.parse().ok()).collect();
    let fits = |issue: &&Issue| {
        issue.project == call.project
            && issue.pull.is_some()
            && open.is_none_or(|open| open == issue.open)
            && wanted.is_subset(&issue.labels)
            && asked("poster").is_none_or(|login| login.eq_ignore_ascii_case(&issue.author.login))
    };
    // Newest first, unless asked otherwise.
    let mut found: Vec<&Issue> = state.issues.values().filter(fits).collect();
    if asked("sort").as_deref() != Some("oldest") {
        found.reverse();
    }
    let shaped = found.into_iter().filter_map(|issue| Some(shape::pull(state, call, issue, issue.pull.as_ref()?)));
    call.paged(shaped.collect())
}

pub fn show(state: &State, call: &mut Call<'_>, key: Key) -> Reply {
    let issue = &state.issues[&key];
    let Some(pull) = &issue.pull else { return not_found() };
    let mut shape = shape::pull(state, call, issue, pull);
    if call.base.faults.fires(Quirk::StillChecking) {
        shape["mergeable"] = false.into();
    }
    if call.base.faults.fires(Quirk::Hollow) {
        shape["head"] = Value::Null;
    }
    Reply::json(200, &shape)
}

pub fn create(state: &mut State, call: &mut Call<'_>) -> Reply {
    let [Some(head), Some(base), Some(title)] = ["head", "base", "title"].map(|name| call.text(name)) else {
        return refuse(422, "[Head]: Required");
    };
    // `user:branch` is a branch of that user's fork.
    let (source, head_branch) = match head.split_once(':') {
        Some((owner, branch)) => {
            let name = call.path.split_once('/').map(|(_, name)| name).unwrap_or_default();
            (format!("{owner}/{name}"), branch.to_owned())
        }
        None => (call.path.clone(), head),
    };
    let Some(source_project) = call.base.project(&source).map(|project| project.id) else { return not_found() };
    let tip = call.base.repository(&source).rev(&format!("refs/heads/{head_branch}"));
    if tip.is_none() || call.repository().rev(&format!("refs/heads/{base}")).is_none() {
        return not_found();
    }
    let twin = |issue: &&Issue| {
        let same =
            |pull: &Pull| (&pull.head_branch, &pull.base_branch, pull.source_project) == (&head_branch, &base, source_project);
        issue.project == call.project && issue.open && issue.pull.as_ref().is_some_and(same)
    };
    if state.issues.values().any(|issue| twin(&issue)) {
        return refuse(409, "pull request already exists for these targets");
    }
    let number = state.next_number(call.project);
    let now = call.base.clock.tick();
    let pull = Pull {
        source_project,
        head_branch,
        base_branch: base,
        base_changes: Vec::new(),
        head: String::new(),
        merged: None,
        reviewers: Vec::new(),
        reviews: Vec::new(),
    };
    let issue = Issue {
        id: call.base.ids.fresh(),
        number,
        project: call.project,
        title,
        body: call.text("body").unwrap_or_default(),
        author: call.user(),
        open: true,
        labels: BTreeSet::new(),
        created_at: now.clone(),
        updated_at: now,
        comments: Vec::new(),
        reactions: Vec::new(),
        pull: Some(pull),
    };
    let key = (call.project, number);
    state.issues.insert(key, issue);
    catch_up(state, call.base);
    let issue = &state.issues[&key];
    let pull = issue.pull.as_ref().expect("just made");
    Reply::json(201, &shape::pull(state, call, issue, pull))
}

pub fn update(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let may = call.level() >= Level::Write;
    let issue = state.issues.get_mut(&key).expect("looked up before");
    if !may && !call.is(&issue.author) {
        return forbidden("user should have permission to write the pull request");
    }
    let merged = issue.pull.as_ref().is_some_and(|pull| pull.merged.is_some());
    match call.text("state").as_deref() {
        Some(_) if merged => return refuse(412, "cannot change state of this pull request, it was already merged"),
        Some("closed") => issue.open = false,
        Some("open") => issue.open = true,
        Some(_) | None => {}
    }
    if let Some(base) = call.text("base") {
        if call.repository().rev(&format!("refs/heads/{base}")).is_none() {
            return not_found();
        }
        let change = (call.base.clock.tick(), call.user());
        if let Some(pull) = issue.pull.as_mut().filter(|pull| pull.base_branch != base) {
            pull.base_branch = base;
            pull.base_changes.push(change);
        }
    }
    if let Some(title) = call.text("title") {
        issue.title = title;
    }
    if let Some(body) = call.text("body") {
        issue.body = body;
    }
    issue.updated_at = call.base.clock.tick();
    let issue = &state.issues[&key];
    let pull = issue.pull.as_ref().expect("looked up before");
    Reply::json(201, &shape::pull(state, call, issue, pull))
}

/// The head is kept in the base repository, where it outlives its branch and its fork.
pub fn catch_up(state: &mut State, base: &mut Base<Quirk>) {
    for issue in state.issues.values_mut().filter(|issue| issue.open) {
        let Some(pull) = &mut issue.pull else { continue };
        let Some(target) = base.project_by_id(issue.project).map(|project| project.path.clone()) else { continue };
        let Some(source) = base.project_by_id(pull.source_project).map(|project| project.path.clone()) else { continue };
        let Some(head) = base.repository(&source).rev(&format!("refs/heads/{}", pull.head_branch)) else { continue };
        if head != pull.head {
            base.bring(&source, &head, &target, &format!("refs/pull/{}/head", issue.number));
            pull.head = head;
            issue.updated_at = base.clock.tick();
        }
    }
}
