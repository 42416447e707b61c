//! The merge request, and who may do what.

use super::wire::{Branch, Member, Numbered, ProjectFacts, Request, Version};
use super::{GitLab, Token, named};
use crate::http::client::segment;
use crate::port::{Answered, GitSource, Read};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::sleep;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::facts::{Account, Mergeable, Permission, Pull, PullFilter, PullState, Tip};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::{ForgeKind, Project};

/// A request is made in the background: its diff comes seconds after its number.
const PREPARING: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(400), Duration::from_millis(800), Duration::from_millis(1600)];
/// Bytes of a note; GitLab counts a million characters.
const BODY_LIMIT: usize = 1_000_000;
/// Comments on a whole file came with this version.
const FILE_LEVEL_SINCE: (u32, u32) = (16, 4);

#[async_trait]
impl Read for GitLab {
    fn project(&self) -> &Project {
        &self.project
    }

    async fn capabilities(&self) -> Answered<Capabilities> {
        let found = self.capabilities.get_or_try_init(|| self.find_capabilities()).await?;
        Ok(found.clone())
    }

    async fn identity(&self) -> Answered<Account> {
        self.who_am_i().await.cloned()
    }

    async fn trunk(&self) -> Answered<String> {
        let hollow = || ForgeFault::Hollow { host: self.host(), message: "the project names no default branch".into() };
        self.facts().await?.default_branch.ok_or_else(hollow)
    }

    async fn pull(&self, number: u64) -> Answered<Pull> {
        let request = self.prepared(number).await?;
        let base = match &request.diff_refs {
            Some(refs) => refs.start_sha.clone(),
            None => self.branch(&request.target_branch).await?,
        };
        self.understood(request, base).await
    }

    async fn pulls(&self, filter: &PullFilter) -> Answered<Vec<Pull>> {
        let state = if filter.all_states { "all" } else { "opened" };
        let mut path = self.of_project(&format!("/merge_requests?state={state}&order_by=created_at&sort=asc"));
        if let Some(branch) = &filter.head_branch {
            path.push_str(&format!("&source_branch={}", segment(branch)));
        }
        if let Some(label) = &filter.label {
            path.push_str(&format!("&labels={}", segment(label)));
        }
        let requests: Vec<Request> = self.list(&path, "the merge requests").await?;
        let mut tips: BTreeMap<String, Sha> = BTreeMap::new();
        let mut pulls = Vec::new();
        for request in requests {
            // A list has no diff references: the tip is asked for once per branch, or with the request where the branch is gone.
            let base = match tips.get(&request.target_branch) {
                Some(tip) => tip.clone(),
                None => match self.branch(&request.target_branch).await {
                    Ok(tip) => {
                        tips.insert(request.target_branch.clone(), tip.clone());
                        tip
                    }
                    Err(ForgeFault::NotFound { .. }) => {
                        pulls.extend(Some(self.pull(request.iid).await?).filter(|pull| filter.passes(pull)));
                        continue;
                    }
                    Err(fault) => return Err(fault),
                },
            };
            pulls.extend(Some(self.understood(request, base).await?).filter(|pull| filter.passes(pull)));
        }
        Ok(pulls)
    }

    async fn permission(&self, account: &Account) -> Answered<Permission> {
        let path = self.of_project(&format!("/members/all/{}", segment(&account.id)));
        match self.http.get::<Member>(&path, "a member").await {
            Ok(member) => Ok(permission(&member)),
            // No member: then what everybody may.
            Err(ForgeFault::NotFound { .. }) => {
                let project = self.facts().await?;
                let open = matches!(project.visibility.as_deref(), Some("public" | "internal"));
                Ok(if open { Permission::Read } else { Permission::None })
            }
            Err(fault) => Err(fault),
        }
    }

    async fn base_changed_at(&self, number: u64) -> Answered<Option<String>> {
        self.last_base_change(number).await
    }

    async fn has_contributed(&self, account: &Account) -> Answered<bool> {
        let query = format!("/merge_requests?state=merged&author_id={}&per_page=1", segment(&account.id));
        let merged: Vec<Numbered> = self.http.get(&self.of_project(&query), "merged requests").await?;
        Ok(merged.iter().any(|request| request.iid > 0))
    }

    fn source(&self, pull: &Pull) -> GitSource {
        let url = format!("{}/{}.git", self.project.origin, self.project.path);
        GitSource {
            authorization: self.token.for_git(&url),
            url,
            head_ref: format!("refs/merge-requests/{}/head", pull.number),
            base_ref: format!("refs/heads/{}", pull.base.branch),
        }
    }
}

impl GitLab {
    pub(super) async fn request(&self, number: u64) -> Answered<Request> {
        self.http.get(&self.of_request(number, ""), &named(number)).await
    }

    /// The request, once its diff is there. After a short wait it is given as it is: whoever needs the diff finds it missing.
    pub(super) async fn prepared(&self, number: u64) -> Answered<Request> {
        let mut request = self.request(number).await?;
        for pause in PREPARING {
            let preparing = request.detailed_merge_status.as_deref() == Some("preparing");
            if !preparing && request.diff_refs.is_some() {
                break;
            }
            sleep(pause).await;
            request = self.request(number).await?;
        }
        Ok(request)
    }

    pub(super) async fn facts(&self) -> Answered<ProjectFacts> {
        self.http.get(&self.of_project(""), &self.project.path).await
    }

    async fn branch(&self, name: &str) -> Answered<Sha> {
        let path = self.of_project(&format!("/repository/branches/{}", segment(name)));
        Ok(self.http.get::<Branch>(&path, &format!("branch {name}")).await?.commit.id)
    }

    async fn understood(&self, request: Request, base: Sha) -> Answered<Pull> {
        let missing = |what: &str| ForgeFault::Hollow { host: self.host(), message: format!("!{}: {what}", request.iid) };
        let head = request.sha.clone().filter(|sha| !sha.as_str().is_empty()).ok_or_else(|| missing("no head"))?;
        let state = match request.state.as_str() {
            // Locked is the moment of merging.
            "opened" | "locked" => PullState::Open,
            "closed" => PullState::Closed,
            "merged" => PullState::Merged,
            other => return Err(missing(&format!("unknown state {other:?}"))),
        };
        let is_fork = request.source_project_id != Some(request.target_project_id);
        let repository = match request.source_project_id {
            Some(_) if !is_fork => Some(self.project.path.clone()),
            Some(id) => self.path_of(id).await?,
            None => None,
        };
        Ok(Pull {
            number: request.iid,
            author: self.account(&request.author).await,
            state,
            draft: request.draft,
            head: Tip { branch: request.source_branch.clone(), sha: head, repository },
            base: Tip { branch: request.target_branch.clone(), sha: base, repository: Some(self.project.path.clone()) },
            is_fork,
            mergeable: mergeable(&request),
            changed_files: request.changes_count.as_deref().and_then(|count| count.trim_end_matches('+').parse().ok()),
            title: request.title,
            body: request.description.unwrap_or_default(),
            labels: request.labels,
            url: request.web_url,
            updated_at: request.updated_at,
        })
    }

    /// Where a fork is; nothing when it is gone or hidden from us, which GitLab does not tell apart.
    async fn path_of(&self, id: u64) -> Answered<Option<String>> {
        let known = || self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = known().get(&id) {
            return Ok(path.clone());
        }
        let path = match self.http.get::<ProjectFacts>(&format!("/projects/{id}"), "the fork").await {
            Ok(project) => Some(project.path_with_namespace),
            Err(ForgeFault::NotFound { .. } | ForgeFault::Forbidden { .. }) => None,
            Err(fault) => return Err(fault),
        };
        known().insert(id, path.clone());
        Ok(path)
    }

    async fn find_capabilities(&self) -> Answered<Capabilities> {
        let version = match (&self.token, self.http.get::<Version>("/version", "the version").await) {
            (_, Ok(found)) => found.version,
            // A job may not ask.
            (
                Token::Job(_),
                Err(ForgeFault::Unauthorized { .. } | ForgeFault::Forbidden { .. } | ForgeFault::NotFound { .. }),
            ) => String::new(),
            (_, Err(fault)) => return Err(fault),
        };
        let can = capabilities_of(&self.token, &version);
        Ok(Capabilities { kind: ForgeKind::GitLab, version, can, body_limit: BODY_LIMIT })
    }
}

/// What a GitLab of this version can do for a token.
fn capabilities_of(token: &Token, version: &str) -> BTreeSet<Capability> {
    use Capability as C;
    match token {
        Token::Job(_) => BTreeSet::from([C::Outdated]),
        Token::Access(_) => {
            let since_16_4 = Some(C::FileLevel).filter(|_| release(version) >= Some(FILE_LEVEL_SINCE));
            let always = [
                C::MultiLine,
                C::Suggestions,
                C::Reply,
                C::Resolve,
                C::Outdated,
                C::CommitStatus,
                C::Approve,
                C::Reactions,
                C::GuardedMerge,
                C::UpdateBranch,
                C::Issues,
                C::CheckLogs,
            ];
            always.into_iter().chain(since_16_4).collect()
        }
    }
}

/// `19.5.0-ee` → 19, 5.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn mergeable(request: &Request) -> Mergeable {
    match request.detailed_merge_status.as_deref() {
        Some("mergeable") => Mergeable::Yes,
        Some("conflict") => Mergeable::Conflict,
        Some("checking" | "unchecked" | "preparing" | "approvals_syncing") => Mergeable::Unknown,
        Some("need_rebase") => Mergeable::Behind,
        Some(_) => Mergeable::Blocked,
        // Servers before 15.6.
        None if request.has_conflicts => Mergeable::Conflict,
        None if request.merge_status.as_deref() == Some("can_be_merged") => Mergeable::Yes,
        None => Mergeable::Unknown,
    }
}

fn permission(member: &Member) -> Permission {
    if member.state.as_deref().is_some_and(|state| state != "active") {
        return Permission::None;
    }
    match member.access_level {
        0..10 => Permission::None,
        10..20 => Permission::Read,
        20..30 => Permission::Triage,
        30..40 => Permission::Write,
        _ => Permission::Admin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_from_less_to_more() {
        let of = |access_level, state: &str| permission(&Member { access_level, state: Some(state.into()) });
        let levels = [(5, Permission::None), (10, Permission::Read), (15, Permission::Read), (20, Permission::Triage)];
        for (level, expected) in
            levels.into_iter().chain([(30, Permission::Write), (40, Permission::Admin), (50, Permission::Admin)])
        {
            assert_eq!(of(level, "active"), expected, "{level}");
        }
        assert_eq!(of(50, "blocked"), Permission::None);
    }

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(release("16.11.0-pre"), Some((16, 11)));
        assert!(release("16.11.0") >= Some(FILE_LEVEL_SINCE));
        assert!(release("16.3.9-ee") < Some(FILE_LEVEL_SINCE));
        assert!(release("") < Some(FILE_LEVEL_SINCE));
    }
}
