//! Opening, merging, updating, closing.

use crate::Base;
use crate::model::Key;
use crate::pulls::known;
use crate::route::{Visit, invalid, refuse, unprocessable};
use crate::site::{Quirk, Site};
use crate::view;
use fake_forge_base::{Level, MergeWay, Reply, closing};
use serde_json::json;

type Answered = Result<Reply, Reply>;

pub fn open(site: &mut Site, base: &mut Base, visit: &Visit<'_>) -> Answered {
    let text = |name: &str| visit.body[name].as_str().unwrap_or_default().to_owned();
    let (head, into) = (text("head"), text("base"));
    let (head_project, branch) = match head.split_once(':') {
        Some((owner, branch)) => {
            let name = visit.project.rsplit('/').next().unwrap_or_default();
            (format!("{owner}/{name}"), branch.to_owned())
        }
        None => (visit.project.clone(), head),
    };
    // Whoever opens it must be able to write to the branch it is about.
    visit.caller.may(base, &head_project, Level::Write, "pull_requests=write")?;
    if base.project(&head_project).is_none() || base.repository(&head_project).rev(&branch).is_none() {
        return Err(invalid("PullRequest", "head", "head is invalid"));
    }
    if base.repository(&visit.project).rev(&into).is_none() {
        return Err(invalid("PullRequest", "base", "base is invalid"));
    }
    let same = |(key, pull): (&Key, &crate::model::Pull)| {
        let open = site.world.issues[key].open && key.0 == visit.project_id;
        open && pull.head_project.as_deref() == Some(&head_project) && pull.head_branch == branch && pull.base_branch == into
    };
    if site.world.pulls.iter().any(same) {
        let owner = head_project.split('/').next().unwrap_or_default();
        return Err(invalid("PullRequest", "head", &format!("A pull request already exists for {owner}:{branch}.")));
    }
    let tip = base.repository(&head_project).rev(&branch);
    if tip == base.repository(&visit.project).rev(&into) {
        return Err(invalid("PullRequest", "head", &format!("No commits between {into} and {branch}")));
    }
    let number = site.open(base, &visit.project, (&head_project, &branch), &into, visit.user(), &text("title"));
    let key = (visit.project_id, number);
    site.world.issues.get_mut(&key).expect("just made").body = text("body");
    site.world.pulls.get_mut(&key).expect("just made").draft = visit.body["draft"].as_bool().unwrap_or_default();
    Ok(Reply::json(201, &view::pull(site, base, key, true)))
}

pub fn edit(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let author = site.world.issues[&key].author;
    if visit.caller.id() != Some(author) {
        visit.may(base, Level::Triage, "pull_requests=write")?;
    }
    if let Some(into) = visit.body["base"].as_str() {
        let Some(tip) = base.repository(&visit.project).rev(into) else {
            return Err(invalid("PullRequest", "base", "Proposed base branch was not found"));
        };
        let changed_at = base.clock.tick();
        let pull = site.world.pulls.get_mut(&key).expect("known before");
        (pull.base_branch, pull.base_sha, pull.base_changed_at) = (into.to_owned(), tip, Some(changed_at));
    }
    crate::issues::change(site, base, visit, key);
    Ok(Reply::json(200, &view::pull(site, base, key, false)))
}

/// Quirk 6: 409 when the head moved, 405 when it cannot be merged as things are.
pub fn merge(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Write, "contents=write")?;
    let (pull, issue) = (site.world.pulls[&key].clone(), site.world.issues[&key].clone());
    if !issue.open || pull.draft || base.faults.fires(Quirk::NotMergeable) {
        return Err(refuse(405, "Pull Request is not mergeable"));
    }
    if visit.body["sha"].as_str().is_some_and(|sha| sha != pull.head_sha) {
        return Err(refuse(409, "Head branch was modified. Review and try the merge again."));
    }
    if let Some(message) = crate::rules::missing(site, base, key) {
        return Err(refuse(405, &message));
    }
    let way = match visit.body["merge_method"].as_str() {
        Some("squash") => MergeWay::Squash,
        Some("rebase") => MergeWay::Rebase,
        _ => MergeWay::Merge,
    };
    let title = visit.body["commit_title"].as_str().map_or_else(|| format!("{} (#{})", issue.title, key.1), str::to_owned);
    let message = format!("{title}\n\n{}", visit.body["commit_message"].as_str().unwrap_or_default());
    let repository = base.repository(&visit.project);
    let before = repository.rev(&pull.base_branch).expect("the base");
    let Some(merged) = repository.merge(&pull.base_branch, &pull.head_sha, way, message.trim()) else {
        return Err(refuse(405, "Pull Request is not mergeable"));
    };
    let now = base.clock.tick();
    let pull = site.world.pulls.get_mut(&key).expect("the pull");
    (pull.merged_at, pull.base_sha) = (Some(now.clone()), before);
    let issue = site.world.issues.get_mut(&key).expect("the pull");
    let (linked, into_main) = (closing(&issue.body), site.world.pulls[&key].base_branch == "main");
    let issue = site.world.issues.get_mut(&key).expect("the pull");
    (issue.open, issue.closed_at, issue.updated_at) = (false, Some(now.clone()), now.clone());
    // Only what reaches the default branch closes anything, and only issues.
    for number in linked.into_iter().filter(|_| into_main) {
        let other = (key.0, number);
        let is_issue = !site.world.pulls.contains_key(&other);
        if let Some(issue) = site.world.issues.get_mut(&other).filter(|issue| issue.open && is_issue) {
            (issue.open, issue.closed_at, issue.updated_at) = (false, Some(now.clone()), now.clone());
        }
    }
    site.follow(base, &visit.project);
    Ok(Reply::json(200, &json!({ "sha": merged, "merged": true, "message": "Pull Request successfully merged" })))
}

pub fn update_branch(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Write, "pull_requests=write")?;
    let pull = site.world.pulls[&key].clone();
    if visit.body["expected_head_sha"].as_str().is_some_and(|sha| sha != pull.head_sha) {
        return Err(invalid("PullRequest", "expected_head_sha", "expected head sha didn’t match current head ref."));
    }
    let Some(head_project) = pull.head_project.clone() else { return Err(refuse(422, "The head repository is gone.")) };
    let repository = base.repository(&head_project);
    let from = base.repository(&visit.project).rev(&pull.base_branch).expect("the base");
    base.bring(&visit.project, &from, &head_project, "refs/fake/base");
    let message = format!("Merge branch '{}' into {}", pull.base_branch, pull.head_branch);
    if repository.merge(&pull.head_branch, &from, MergeWay::Merge, &message).is_none() {
        return Err(invalid("PullRequest", "base", "merge conflict between base and head"));
    }
    repository.delete_ref("refs/fake/base");
    site.follow(base, &head_project);
    let url = format!("{}/api/v3/repos/{}/pulls/{}", base.url, visit.project, key.1);
    Ok(Reply::json(202, &json!({ "message": "Updating pull request branch.", "url": url })))
}

pub fn request_reviewers(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Triage, "pull_requests=write")?;
    let author = site.world.issues[&key].author;
    let logins = visit.body["reviewers"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
    let mut ids = Vec::new();
    for login in logins {
        let Some(user) =
            base.people.by_login(login).cloned().filter(|user| base.people.level(&visit.project, user.id) >= Level::Read)
        else {
            return Err(unprocessable(
                "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the repository.",
            ));
        };
        if user.id == author {
            return Err(unprocessable("Review cannot be requested from pull request author."));
        }
        ids.push(user.id);
    }
    site.world.pulls.get_mut(&key).expect("the pull").reviewers.extend(ids);
    Ok(Reply::json(201, &view::pull_in_list(site, base, key)))
}
