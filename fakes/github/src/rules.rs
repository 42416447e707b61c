//! What a branch asks of a merge. Half of it is said by a ruleset and half by the older protection, as in a repository that moves from
//! one to the other: a client that reads one of the two misses the rest.

use crate::Base;
use crate::model::Key;
use crate::route::{Visit, list as paged};
use crate::site::Site;
use fake_forge_base::Reply;
use serde_json::{Value, json};

/// The ruleset has the checks.
pub fn of_branch(base: &Base, visit: &Visit<'_>, branch: &str) -> Result<Reply, Reply> {
    let protection = base.protection(&visit.project, branch).filter(|protection| !protection.checks.is_empty());
    let rules = protection.into_iter().map(|protection| {
        let checks: Vec<Value> = protection.checks.iter().map(|name| json!({ "context": name })).collect();
        json!({
            "type": "required_status_checks", "ruleset_source_type": "Repository", "ruleset_source": visit.project, "ruleset_id": 42,
            "parameters": { "required_status_checks": checks, "strict_required_status_checks_policy": false },
        })
    });
    Ok(paged(base, visit.request, rules.collect()))
}

/// The older protection has the approvals.
pub fn update_rule(base: &Base, project: &str, branch: &str) -> Value {
    base.protection(project, branch).map_or(Value::Null, |protection| {
        json!({
            "requiredApprovingReviewCount": protection.approvals, "requiredStatusCheckContexts": [],
            "requiresLinearHistory": false,
        })
    })
}

/// What keeps a pull request from being merged into its base, in GitHub's words.
pub fn missing(site: &Site, base: &Base, key: Key) -> Option<String> {
    let pull = site.world.pulls.get(&key)?;
    let protection = base.protection(&base.project_by_id(key.0)?.path, &pull.base_branch)?;
    let mut approved: Vec<u64> = Vec::new();
    for review in site.world.reviews.iter().filter(|review| review.on == key && review.state != "COMMENTED") {
        approved.retain(|author| *author != review.author);
        approved.extend((review.state == "APPROVED").then_some(review.author));
    }
    if approved.len() < protection.approvals as usize {
        return Some(format!("At least {} approving review is required by reviewers with write access.", protection.approvals));
    }
    let green = |name: &String| {
        let at_head = site.world.statuses.iter().rfind(|status| status.sha == pull.head_sha && status.context == *name);
        let run = site
            .world
            .runs
            .iter()
            .any(|run| run.sha == pull.head_sha && run.name == *name && run.conclusion.as_deref() == Some("success"));
        run || at_head.is_some_and(|status| status.state == "success")
    };
    let check = protection.checks.iter().find(|name| !green(name))?;
    Some(format!("Required status check \"{check}\" is expected."))
}
