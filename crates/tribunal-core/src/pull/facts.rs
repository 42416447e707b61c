//! What a forge says about a pull request, its author, its checks and its issues.

use super::told::Told;
use crate::ids::Sha;
use crate::publish::outgoing::Outgoing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Who did something. Ids, because a login can be renamed and given to somebody else (CF-10).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    pub id: String,
    pub login: String,
    pub kind: AccountKind,
}

impl Account {
    /// The same account, whatever it is called today.
    pub fn is(&self, other: &Account) -> bool {
        self.id == other.id
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccountKind {
    Person,
    /// An App of the forge, or a built-in account: nobody else can get its login.
    Bot,
    /// A machine's account whose login somebody chose, such as a service account or the account of an access token. Its login proves
    /// nothing.
    #[serde(rename = "service-account")]
    ServiceAccount,
    /// The forge tells nobody what an account is. Treated as a person (CF-10).
    Unknown,
    /// The forge tells persons from machines, and what it says of this account could not be read. Such an account decides nothing; what
    /// it objects to still holds.
    Unread,
}

impl AccountKind {
    /// Does the forge say that no person speaks through it?
    pub fn is_machine(self) -> bool {
        match self {
            AccountKind::Bot | AccountKind::ServiceAccount => true,
            AccountKind::Person | AccountKind::Unknown | AccountKind::Unread => false,
        }
    }

    /// May its word decide something that only a person decides (design rule 11)? A failed look-up makes nobody a person.
    pub fn may_decide(self) -> bool {
        match self {
            AccountKind::Person | AccountKind::Unknown => true,
            AccountKind::Bot | AccountKind::ServiceAccount | AccountKind::Unread => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pull {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub author: Account,
    pub state: PullState,
    pub draft: bool,
    pub head: Tip,
    pub base: Tip,
    /// Head and base are in different repositories, the head's is gone, or the head is no branch of this one (AGit).
    pub is_fork: bool,
    pub labels: Vec<String>,
    pub url: String,
    /// As the forge writes it; only ever compared with itself.
    pub updated_at: String,
    pub mergeable: Mergeable,
    /// How many files the forge counts, where it does; a diff of none must not pass for an empty one.
    pub changed_files: Option<u64>,
}

/// One end of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tip {
    pub branch: String,
    pub sha: Sha,
    /// `owner/name`; nothing when the fork was deleted.
    pub repository: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PullState {
    Open,
    Closed,
    Merged,
}

impl PullState {
    pub fn word(self) -> &'static str {
        match self {
            PullState::Open => "open",
            PullState::Closed => "closed",
            PullState::Merged => "merged",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mergeable {
    Yes,
    Conflict,
    /// The forge merges only what is up to date with its base, and this is not.
    Behind,
    /// Draft, missing approval, protected branch, and whatever else a forge calls blocked.
    Blocked,
    /// Not computed yet.
    Unknown,
}

/// What an account may do in a repository, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    None,
    Read,
    Triage,
    Write,
    Admin,
}

impl Permission {
    pub fn may_write(self) -> bool {
        self >= Permission::Write
    }
}

/// A status or a check run at a commit: the latest of its name by its reporter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub state: CheckState,
    pub description: String,
    pub url: String,
    /// What the forge calls the run behind it, where it has a name for that; its log is found by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    Pending,
    Success,
    Failure,
    /// It did not come to a result.
    Error,
    /// Left out on purpose; counts as met.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    pub number: u64,
    pub title: String,
    pub body: String,
    pub author: Account,
    pub open: bool,
    pub labels: Vec<String>,
    pub url: String,
    /// Logins.
    #[serde(default)]
    pub assignees: Vec<String>,
    #[serde(default)]
    pub created_at: String,
    #[serde(default)]
    pub updated_at: String,
    #[serde(default)]
    pub closed_at: Option<String>,
}

/// Which pull requests to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullFilter {
    /// Branch of the same repository that is asked to be merged.
    pub head_branch: Option<String>,
    pub label: Option<String>,
    /// Words that the title or the description holds, all of them.
    pub search: Option<String>,
    /// Closed and merged ones too.
    pub all_states: bool,
}

impl PullFilter {
    /// Does a pull request that was listed pass? Most forges filter by less than this.
    pub fn passes(&self, pull: &Pull) -> bool {
        let text = || format!("{}\n{}", pull.title, pull.body).to_lowercase();
        let says = |words: &String| {
            let text = text();
            words.to_lowercase().split_whitespace().all(|word| text.contains(word))
        };
        (self.all_states || pull.state == PullState::Open)
            && self.head_branch.as_ref().is_none_or(|branch| !pull.is_fork && pull.head.branch == *branch)
            && self.label.as_ref().is_none_or(|label| pull.labels.contains(label))
            && self.search.as_ref().is_none_or(says)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeMethod {
    Squash,
    Merge,
    Rebase,
}

impl MergeMethod {
    pub const ALL: [MergeMethod; 3] = [MergeMethod::Squash, MergeMethod::Merge, MergeMethod::Rebase];

    pub fn word(self) -> &'static str {
        match self {
            MergeMethod::Squash => "squash",
            MergeMethod::Merge => "merge",
            MergeMethod::Rebase => "rebase",
        }
    }
}

/// What a forge itself asks of a merge into one branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BaseRules {
    pub methods: Told<BTreeSet<MergeMethod>>,
    /// Approvals that are wanted.
    pub approvals: Told<u32>,
    pub checks: Told<RequiredChecks>,
    /// What keeps us from merging whatever the pull request is like, where the forge says so beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
}

impl BaseRules {
    /// A branch that asks for nothing.
    pub fn none() -> Self {
        BaseRules {
            methods: Told::Is(MergeMethod::ALL.into()),
            approvals: Told::Is(0),
            checks: Told::Is(RequiredChecks::default()),
            obstacle: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// Everything goes through the forge's own queue.
    MergeQueue,
    /// Our account is not among those who may.
    NotAllowed,
}

/// Checks without which a forge does not merge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequiredChecks {
    pub names: BTreeSet<String>,
    /// Names with `*` in them, where a forge has such.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub patterns: BTreeSet<String>,
    /// Some check must be there, whatever it is called.
    pub any: bool,
}

/// A merge is always bound to the head that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeOrder {
    pub head: Sha,
    pub method: MergeMethod,
    pub title: Outgoing,
    pub message: Outgoing,
}
