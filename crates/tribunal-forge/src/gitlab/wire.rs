//! What GitLab sends, as far as it is read. A field that must be there and is not makes the answer hollow.

use serde::Deserialize;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;

#[derive(Debug, Clone, Deserialize)]
pub struct User {
    pub id: u64,
    pub username: String,
    /// Only where a user is asked for by id; not where it stands as an author.
    pub bot: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub struct Job {
    pub user: User,
}

#[derive(Debug, Deserialize)]
pub struct Version {
    pub version: String,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Request {
    pub iid: u64,
    pub title: String,
    pub description: Option<String>,
    pub author: User,
    pub state: String,
    #[serde(default)]
    pub draft: bool,
    /// The head; missing while a request is still being prepared.
    pub sha: Option<Sha>,
    pub source_branch: String,
    pub target_branch: String,
    /// Nothing when the fork was deleted.
    pub source_project_id: Option<u64>,
    pub target_project_id: u64,
    pub labels: Vec<String>,
    pub web_url: String,
    pub updated_at: String,
    pub detailed_merge_status: Option<String>,
    pub merge_status: Option<String>,
    #[serde(default)]
    pub has_conflicts: bool,
    /// A text, because it may be `1000+`.
    pub changes_count: Option<String>,
    /// Only where one request is asked for, and not while it is being prepared.
    pub diff_refs: Option<DiffRefs>,
    #[serde(default)]
    pub reviewers: Vec<User>,
    #[serde(default)]
    pub rebase_in_progress: bool,
    pub merge_error: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DiffRefs {
    /// Tip of the target branch when the diff was made.
    pub start_sha: Sha,
    pub head_sha: Sha,
}

#[derive(Debug, Clone, Deserialize)]
pub struct DiffVersion {
    pub id: u64,
    pub base_commit_sha: Sha,
    pub start_commit_sha: Sha,
    pub head_commit_sha: Sha,
    #[serde(default)]
    pub created_at: String,
}

#[derive(Debug, Deserialize)]
pub struct DiffOfVersion {
    pub diffs: Vec<FileDiff>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct FileDiff {
    pub old_path: String,
    pub new_path: String,
    /// Hunks without a header; empty where the file was too large to be shown.
    #[serde(default)]
    pub diff: String,
}

#[derive(Debug, Deserialize)]
pub struct Branch {
    pub commit: Commit,
}

#[derive(Debug, Deserialize)]
pub struct Commit {
    pub id: Sha,
}

#[derive(Debug, Deserialize)]
pub struct ProjectFacts {
    pub path_with_namespace: String,
    /// None while the project is empty.
    pub default_branch: Option<String>,
    pub visibility: Option<String>,
    /// `merge`, `rebase_merge` or `ff`: a setting of the project, not of one merge.
    pub merge_method: Option<String>,
    /// `never`, `always`, `default_on` or `default_off`.
    pub squash_option: Option<String>,
    pub only_allow_merge_if_pipeline_succeeds: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub struct ApprovalRule {
    pub approvals_required: u32,
    /// For these alone; for all, if there are none.
    #[serde(default)]
    protected_branches: Vec<NamedBranch>,
}

#[derive(Debug, Deserialize)]
struct NamedBranch {
    name: String,
}

impl ApprovalRule {
    /// A name with a `*` in it covers what it may cover: too many approvals are asked for rather than too few.
    pub fn covers(&self, branch: &str) -> bool {
        let fits = |name: &str| name == branch || name.split_once('*').is_some_and(|(start, _)| branch.starts_with(start));
        self.protected_branches.is_empty() || self.protected_branches.iter().any(|protected| fits(&protected.name))
    }
}

#[derive(Debug, Deserialize)]
pub struct Member {
    pub access_level: u32,
    pub state: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Note {
    pub id: u64,
    pub body: String,
    pub author: User,
    pub created_at: String,
    pub updated_at: Option<String>,
    pub system: bool,
    #[serde(default)]
    pub resolvable: bool,
    #[serde(default)]
    pub resolved: bool,
    pub resolved_by: Option<User>,
    pub position: Option<Position>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Position {
    pub head_sha: Option<Sha>,
    pub old_path: Option<String>,
    pub new_path: Option<String>,
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    pub line_range: Option<LineRange>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LineRange {
    pub start: RangeEnd,
}

#[derive(Debug, Clone, Deserialize)]
pub struct RangeEnd {
    line_code: Option<String>,
    old_line: Option<u32>,
    new_line: Option<u32>,
}

impl RangeEnd {
    /// Some versions give the numbers, all of them a code that ends in both: `<hash>_12_14`.
    pub fn line(&self, side: Side) -> Option<u32> {
        let mut coded = self.line_code.as_deref().unwrap_or_default().rsplit('_').map(|number| number.parse().ok());
        let (new, old) = (coded.next().flatten(), coded.next().flatten());
        match side {
            Side::New => self.new_line.or(new),
            Side::Old => self.old_line.or(old),
        }
    }
}

impl Position {
    pub fn path(&self) -> Option<&str> {
        self.new_path.as_deref().or(self.old_path.as_deref()).filter(|path| !path.is_empty())
    }
}

#[derive(Debug, Deserialize)]
pub struct Discussion {
    pub id: String,
    pub notes: Vec<Note>,
}

#[derive(Debug, Deserialize)]
pub struct DraftNote {
    pub id: u64,
    pub note: String,
    /// Always there, and full of nothing where the draft stands on no line.
    pub position: Option<Position>,
}

/// Somebody who was asked to review, or did.
#[derive(Debug, Deserialize)]
pub struct Reviewer {
    pub user: User,
    pub state: String,
    pub created_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Approvals {
    #[serde(default)]
    pub user_has_approved: bool,
    /// Nothing where an older GitLab does not say.
    pub user_can_approve: Option<bool>,
    pub approved_by: Vec<Approval>,
}

#[derive(Debug, Deserialize)]
pub struct Approval {
    pub user: User,
    pub approved_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Status {
    pub id: u64,
    pub name: String,
    pub status: String,
    #[serde(default)]
    pub allow_failure: bool,
    pub description: Option<String>,
    pub target_url: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Issue {
    pub iid: u64,
    pub title: String,
    pub description: Option<String>,
    pub author: User,
    pub state: String,
    pub labels: Vec<String>,
    pub web_url: String,
    #[serde(default)]
    pub assignees: Vec<User>,
    #[serde(default)]
    pub created_at: String,
    #[serde(default)]
    pub updated_at: String,
    #[serde(default)]
    pub closed_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Award {
    pub name: String,
    pub user: User,
}

#[derive(Debug, Deserialize)]
pub struct Numbered {
    pub iid: u64,
}
