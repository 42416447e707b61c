//! What the server writes, as far as we read it. A field without a default must be there: an answer without it is hollow.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;
use tribunal_core::calendar::millis_of;
use tribunal_core::ids::Sha;
use tribunal_core::procedure::Millis;
use tribunal_core::pull::facts::{self, Account, AccountKind, CheckState, MergeMethod, Mergeable, PullState, Tip};
use tribunal_core::pull::talk::{self, ReviewState};

/// `null` for what is empty.
fn or_empty<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[derive(Debug, Clone, Deserialize)]
pub struct User {
    id: i64,
    login: String,
}

/// The account that built-in workflows act as.
const WORKFLOWS: i64 = -2;

impl User {
    pub fn is(&self, account: &Account) -> bool {
        self.id.to_string() == account.id
    }

    /// A bot is an ordinary user here, so nothing is known about it.
    pub fn account(self) -> Account {
        let kind = if self.id == WORKFLOWS { AccountKind::Bot } else { AccountKind::Unknown };
        Account { id: self.id.to_string(), login: self.login, kind }
    }
}

/// When our repository was made on this server. Something in it that is dated earlier was brought along from another one.
#[derive(Debug, Clone, Copy, Default)]
pub struct MadeHere(pub Option<Millis>);

impl MadeHere {
    fn is_after(self, date: &str) -> bool {
        matches!((self.0, millis_of(date)), (Some(made), Some(date)) if date < made)
    }
}

/// What was brought along from another server stands under the name of whoever imported it; it is not theirs, and has none of their
/// rights. Most shapes do not say who wrote it there, and some servers leave it out where they could, so the date tells it, too.
fn author(user: User, original: &str, date: &str, made_here: MadeHere) -> Account {
    let imported = |name: &str| Account { id: format!("imported:{name}"), login: name.to_owned(), kind: AccountKind::Unknown };
    match original {
        "" if made_here.is_after(date) => imported(&user.login),
        "" => user.account(),
        name => imported(name),
    }
}

#[derive(Debug, Deserialize)]
pub struct TokenInfo {
    pub user: User,
}

#[derive(Debug, Deserialize)]
pub struct Version {
    pub version: String,
}

#[derive(Debug, Deserialize)]
pub struct Label {
    pub id: i64,
    pub name: String,
}

fn names(labels: Vec<Label>) -> Vec<String> {
    labels.into_iter().map(|label| label.name).collect()
}

#[derive(Debug, Deserialize)]
pub struct Repository {
    pub full_name: String,
    pub default_branch: Option<String>,
    #[serde(default)]
    pub created_at: Option<String>,
    allow_squash_merge: Option<bool>,
    allow_merge_commits: Option<bool>,
    allow_rebase: Option<bool>,
}

impl Repository {
    /// Nothing where the server does not say.
    pub fn methods(&self) -> Option<BTreeSet<MergeMethod>> {
        let allowed = [
            (MergeMethod::Squash, self.allow_squash_merge?),
            (MergeMethod::Merge, self.allow_merge_commits?),
            (MergeMethod::Rebase, self.allow_rebase?),
        ];
        Some(allowed.into_iter().filter(|(_, allowed)| *allowed).map(|(method, _)| method).collect())
    }
}

/// Everybody who sees a branch sees what protects it.
#[derive(Debug, Deserialize)]
pub struct Branch {
    pub protected: bool,
    #[serde(default)]
    pub required_approvals: u32,
    #[serde(default)]
    pub enable_status_check: bool,
    /// Patterns.
    #[serde(default, deserialize_with = "or_empty")]
    pub status_check_contexts: Vec<String>,
    pub user_can_merge: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub struct End {
    /// The branch's name; empty for a change pushed without a branch.
    #[serde(default)]
    label: String,
    /// The branch, or `refs/pull/N/head` once the branch is gone.
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    sha: String,
    repo: Option<Repository>,
}

#[derive(Debug, Deserialize)]
pub struct Pull {
    pub number: u64,
    title: String,
    #[serde(default, deserialize_with = "or_empty")]
    body: String,
    pub user: User,
    #[serde(default)]
    original_author: String,
    state: String,
    #[serde(default)]
    draft: bool,
    merged: bool,
    mergeable: bool,
    #[serde(default)]
    merge_base: String,
    pub head: End,
    pub base: End,
    #[serde(default, deserialize_with = "or_empty")]
    labels: Vec<Label>,
    html_url: String,
    #[serde(default)]
    created_at: String,
    updated_at: String,
    #[serde(default)]
    changed_files: Option<u64>,
}

impl Pull {
    pub fn facts(self, made_here: MadeHere) -> Result<facts::Pull, String> {
        let number = self.number;
        let state = match (self.state.as_str(), self.merged) {
            (_, true) => PullState::Merged,
            ("open", false) => PullState::Open,
            ("closed", false) => PullState::Closed,
            (other, false) => return Err(format!("pull request {number} is `{other}`")),
        };
        // "Not mergeable" also stands for "not looked at yet", and nothing tells the two apart.
        let mergeable = match (state, self.draft, self.mergeable) {
            (PullState::Closed | PullState::Merged, _, _) | (PullState::Open, true, _) => Mergeable::Blocked,
            (PullState::Open, false, true) => Mergeable::Yes,
            (PullState::Open, false, false) => Mergeable::Unknown,
        };
        // A base branch that was deleted since has no commit of its own any more.
        let base_sha = if self.base.sha.is_empty() { self.merge_base } else { self.base.sha };
        if self.head.sha.is_empty() || base_sha.is_empty() {
            return Err(format!("pull request {number} has no commit"));
        }
        // Pushed to `refs/for/…` (AGit), which a reader may do, or its branch is gone: the head is in this repository and is no branch
        // of it. Nothing can be pushed to it, and nothing says that its author may write here.
        let has_no_branch = state == PullState::Open && self.head.reference.starts_with("refs/");
        let head_name = self.head.repo.map(|repo| repo.full_name);
        let base_name = self.base.repo.map(|repo| repo.full_name);
        Ok(facts::Pull {
            number,
            title: self.title,
            body: self.body,
            author: author(self.user, &self.original_author, &self.created_at, made_here),
            state,
            draft: self.draft,
            is_fork: head_name.is_none() || head_name != base_name || has_no_branch,
            head: Tip {
                branch: if self.head.label.is_empty() { self.head.reference } else { self.head.label },
                sha: Sha::new(self.head.sha),
                repository: head_name,
            },
            base: Tip { branch: self.base.reference, sha: Sha::new(base_sha), repository: base_name },
            labels: names(self.labels),
            url: self.html_url,
            updated_at: self.updated_at,
            mergeable,
            changed_files: self.changed_files,
        })
    }
}

/// Something that happened to a pull request.
#[derive(Debug, Deserialize)]
pub struct Event {
    #[serde(rename = "type", default)]
    kind: String,
    user: Option<User>,
    #[serde(default)]
    review_id: i64,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    body: String,
}

/// What the body of a push says.
#[derive(Deserialize)]
struct PushBody {
    #[serde(default)]
    is_force_push: bool,
}

impl Event {
    /// Whoever pushed, if that is what happened.
    pub fn pusher(self) -> Option<Account> {
        self.user.filter(|_| self.kind == "pull_push").map(User::account)
    }

    /// Whether the server forgot at this moment who pushed before: a push by force takes the entries of the commits that it replaces with
    /// it, and a change of the base writes one entry for all, in the name of whoever changed it.
    pub fn hides_earlier_pushers(&self) -> bool {
        let by_force = || serde_json::from_str::<PushBody>(&self.body).is_ok_and(|body| body.is_force_push);
        self.kind == "change_target_branch" || (self.kind == "pull_push" && by_force())
    }

    /// When it was aimed at another branch, if that is what happened.
    pub fn base_change(self) -> Option<String> {
        (self.kind == "change_target_branch").then_some(self.created_at)
    }

    /// The review that was submitted, if that is what happened.
    pub fn review(&self) -> Option<i64> {
        Some(self.review_id).filter(|id| self.kind == "review" && *id != 0)
    }
}

#[derive(Debug, Deserialize)]
pub struct Comment {
    id: i64,
    user: User,
    #[serde(default)]
    original_author: String,
    body: String,
    created_at: String,
    updated_at: String,
    html_url: String,
}

impl Comment {
    pub fn words(self, made_here: MadeHere) -> talk::Comment {
        talk::Comment {
            id: self.id.to_string(),
            author: author(self.user, &self.original_author, &self.created_at, made_here),
            body: self.body,
            // Whoever may write here can edit it, and nothing tells who did.
            edited: self.updated_at != self.created_at,
            created_at: self.created_at,
            updated_at: self.updated_at,
            url: self.html_url,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct Review {
    pub id: i64,
    /// Nobody, when a team is asked to review.
    pub user: Option<User>,
    #[serde(default)]
    original_author: String,
    pub state: String,
    body: String,
    #[serde(default)]
    pub commit_id: String,
    #[serde(default)]
    dismissed: bool,
    pub comments_count: usize,
    submitted_at: String,
    pub html_url: String,
}

impl Review {
    /// A review that was submitted, and not asked for or kept as a draft.
    pub fn is_submitted(&self) -> bool {
        matches!(self.state.as_str(), "APPROVED" | "REQUEST_CHANGES" | "COMMENT")
    }

    /// Nothing for a mere request to review, which this server lists as a review.
    pub fn words(self, made_here: MadeHere) -> Result<Option<talk::Review>, String> {
        let state = match (self.state.as_str(), self.dismissed) {
            ("REQUEST_REVIEW", _) => return Ok(None),
            ("PENDING", _) => ReviewState::Pending,
            ("APPROVED" | "REQUEST_CHANGES", true) => ReviewState::Dismissed,
            ("APPROVED", false) => ReviewState::Approved,
            ("REQUEST_CHANGES", false) => ReviewState::ChangesRequested,
            ("COMMENT", _) => ReviewState::Commented,
            (other, _) => return Err(format!("review {} is `{other}`", self.id)),
        };
        let Some(user) = self.user else { return Err(format!("review {} is nobody's", self.id)) };
        Ok(Some(talk::Review {
            id: self.id.to_string(),
            author: author(user, &self.original_author, &self.submitted_at, made_here),
            state,
            body: self.body,
            commit: Some(self.commit_id).filter(|sha| !sha.is_empty()).map(Sha::new),
            submitted_at: self.submitted_at,
            url: self.html_url,
        }))
    }
}

/// A comment on a line. The field names come from another forge, and mean something else here: both are plain line numbers.
#[derive(Debug, Deserialize)]
pub struct LineComment {
    pub id: i64,
    user: User,
    #[serde(default)]
    original_author: String,
    pub resolver: Option<User>,
    pub body: String,
    pub path: String,
    /// A line of the new file, or 0.
    pub position: u32,
    /// A line of the old file, or 0.
    pub original_position: u32,
    /// Lines behind the first, where the server knows of several.
    #[serde(default)]
    pub extra_lines_count: u32,
    pub created_at: String,
    pub updated_at: String,
    pub html_url: String,
}

impl LineComment {
    pub fn author(&self, made_here: MadeHere) -> Account {
        author(self.user.clone(), &self.original_author, &self.created_at, made_here)
    }
}

#[derive(Debug, Deserialize)]
pub struct Statuses {
    #[serde(default, deserialize_with = "or_empty")]
    pub statuses: Vec<Status>,
    pub total_count: usize,
}

#[derive(Debug, Deserialize)]
pub struct Status {
    pub context: String,
    status: String,
    #[serde(default, deserialize_with = "or_empty")]
    description: String,
    #[serde(default, deserialize_with = "or_empty")]
    target_url: String,
}

impl Status {
    pub fn check(self) -> facts::Check {
        let state = match self.status.as_str() {
            "pending" => CheckState::Pending,
            "success" => CheckState::Success,
            // The server itself counts a warning as a failure when it sums up.
            "failure" | "warning" => CheckState::Failure,
            "skipped" => CheckState::Skipped,
            // Any word is accepted and stored; one that we do not know is no success.
            _ => CheckState::Error,
        };
        facts::Check { name: self.context, state, description: self.description, url: self.target_url, run: None }
    }
}

/// A team of an organisation that has something to do with the repository.
#[derive(Debug, Deserialize)]
pub struct Team {
    pub id: i64,
    pub name: String,
    permission: String,
    #[serde(default, deserialize_with = "or_empty")]
    units_map: std::collections::BTreeMap<String, String>,
}

impl Team {
    /// Can it make an account a writer, of whatever part?
    pub fn writes(&self) -> bool {
        let can = |access: &str| matches!(access, "write" | "admin" | "owner");
        can(&self.permission) || self.units_map.values().any(|access| can(access))
    }

    /// What a server does not tell of the code is nothing.
    pub fn writes_code(&self) -> bool {
        matches!(self.permission.as_str(), "admin" | "owner")
            || self.units_map.get("repo.code").is_some_and(|access| matches!(access.as_str(), "write" | "admin" | "owner"))
    }
}

#[derive(Debug, Deserialize)]
pub struct Permission {
    pub permission: String,
    pub user: User,
}

#[derive(Debug, Deserialize)]
pub struct Issue {
    pub number: u64,
    title: String,
    #[serde(default, deserialize_with = "or_empty")]
    body: String,
    pub user: User,
    #[serde(default)]
    original_author: String,
    state: String,
    #[serde(default, deserialize_with = "or_empty")]
    labels: Vec<Label>,
    html_url: String,
    #[serde(default, deserialize_with = "or_empty")]
    assignees: Vec<User>,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    updated_at: String,
    #[serde(default)]
    closed_at: Option<String>,
    #[serde(default)]
    pub pull_request: Option<MergedOrNot>,
}

#[derive(Debug, Deserialize)]
pub struct MergedOrNot {
    pub merged: bool,
}

impl Issue {
    pub fn facts(self, made_here: MadeHere) -> facts::Issue {
        facts::Issue {
            number: self.number,
            title: self.title,
            body: self.body,
            author: author(self.user, &self.original_author, &self.created_at, made_here),
            open: self.state == "open",
            labels: names(self.labels),
            url: self.html_url,
            assignees: self.assignees.into_iter().map(|user| user.login).collect(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            closed_at: self.closed_at,
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct Reaction {
    pub user: User,
    pub content: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Whoever imports a repository lends nobody their rights: what is older than the repository is nobody's here, in every shape.
    #[test]
    fn what_is_older_than_the_repository_is_not_its_importers() {
        let made_here = MadeHere(millis_of("2026-11-19T10:00:00+01:00"));
        let user = json!({ "id": 1, "login": "importer" });
        let end = json!({ "label": "a", "ref": "a", "sha": "1111", "repo": null });
        let shown = |at: &str| {
            let shape = json!({
                "id": 5, "number": 5, "title": "", "user": user, "state": "open", "merged": false, "mergeable": true, "head": end,
                "base": end, "html_url": "", "created_at": at, "updated_at": at, "submitted_at": at, "body": "", "comments_count": 0,
                "path": "a", "position": 1, "original_position": 0
            });
            let review = json!({ "id": 5, "user": user, "state": "APPROVED", "body": "", "comments_count": 0, "submitted_at": at, "html_url": "" });
            let read = |shape: &serde_json::Value| shape.clone();
            [
                serde_json::from_value::<Pull>(read(&shape)).unwrap().facts(made_here).unwrap().author,
                serde_json::from_value::<Comment>(read(&shape)).unwrap().words(made_here).author,
                serde_json::from_value::<Review>(review).unwrap().words(made_here).unwrap().unwrap().author,
                serde_json::from_value::<LineComment>(read(&shape)).unwrap().author(made_here),
                serde_json::from_value::<Issue>(read(&shape)).unwrap().facts(made_here).author,
            ]
        };
        assert_eq!(shown("2026-11-19T08:59:59Z").map(|account| account.id), ["imported:importer"; 5]);
        assert_eq!(shown("2026-11-19T09:00:00Z").map(|account| account.id), ["1"; 5]);
    }
}
