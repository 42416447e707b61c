//! What a GitLab remembers.

use fake_forge_base::User;
use serde_json::Value;
use std::collections::BTreeMap;

/// What goes wrong once armed. Numbers are those of forges.md 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// 13: the request was made a moment ago, and its diff is not there yet.
    Preparing,
    /// 14: too many notes this minute. Asks to come back in a second, which keeps a test short.
    NoteLimit,
    /// 16: a note is stored, and its answer never arrives.
    LostNote,
    /// 16: the drafts are published, and the answer never arrives.
    LostPublish,
    /// A draft meets a failing server and is not stored.
    BrokenDraft,
    /// A draft is taken, but loses its place.
    PlacelessDraft,
    /// A list whose answer names its next page only by a link.
    LinkedPages,
    /// A look-up of a user meets a failing server.
    BrokenUser,
    /// A merge request without its head.
    Hollow,
    /// A rebase that stops at a conflict.
    BrokenRebase,
    /// Auto-merge cannot be cancelled any more.
    UncancellableMerge,
}

/// Settings of the server or of its projects.
#[derive(Debug, Clone)]
pub struct Rules {
    pub version: String,
    /// 13: a merge without a head is refused with 400 (19.2 and later).
    pub require_sha: bool,
    /// `merge`, `rebase_merge` or `ff`.
    pub merge_method: String,
    /// `never`, `always`, `default_on` or `default_off`.
    pub squash_option: String,
    pub pipeline_must_succeed: bool,
    /// Approvals that projects want; nothing where this GitLab has no such rules.
    pub approvals: Option<u32>,
    /// How many looks a rebase takes.
    pub rebase_looks: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            version: "19.5.0-ee".into(),
            require_sha: true,
            merge_method: "merge".into(),
            squash_option: "default_off".into(),
            pipeline_must_succeed: false,
            approvals: None,
            rebase_looks: 1,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Opened,
    Closed,
    Merged,
}

impl Condition {
    pub fn word(self) -> &'static str {
        match self {
            Condition::Opened => "opened",
            Condition::Closed => "closed",
            Condition::Merged => "merged",
        }
    }
}

#[derive(Debug, Clone)]
pub struct MergeRequest {
    pub id: u64,
    pub iid: u64,
    pub project: u64,
    pub source_project: u64,
    pub source_branch: String,
    pub target_branch: String,
    pub title: String,
    pub description: String,
    pub author: User,
    pub condition: Condition,
    pub labels: Vec<String>,
    pub reviewers: Vec<u64>,
    /// Who asks for changes, and since when.
    pub asking: BTreeMap<u64, String>,
    pub created_at: String,
    pub updated_at: String,
    /// Oldest first; the last one is what is shown.
    pub versions: Vec<Version>,
    pub discussions: Vec<Discussion>,
    pub drafts: Vec<Draft>,
    pub approvals: Vec<(User, String)>,
    pub awards: Vec<Award>,
    /// What else holds it up, in the words of `detailed_merge_status`.
    pub held_up: Option<String>,
    pub merge_error: Option<String>,
    pub rebasing: u32,
}

impl MergeRequest {
    pub fn version(&self) -> &Version {
        self.versions.last().expect("a request has a version from the start")
    }

    pub fn is_draft(&self) -> bool {
        let title = self.title.to_ascii_lowercase();
        ["draft:", "[draft]", "(draft)"].iter().any(|prefix| title.starts_with(prefix))
    }

    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.discussions.iter().flat_map(|discussion| &discussion.notes)
    }

    pub fn note_mut(&mut self, id: u64) -> Option<&mut Note> {
        self.discussions.iter_mut().flat_map(|discussion| &mut discussion.notes).find(|note| note.id == id)
    }
}

#[derive(Debug, Clone)]
pub struct Version {
    pub id: u64,
    pub base: String,
    pub start: String,
    pub head: String,
    pub created_at: String,
}

#[derive(Debug, Clone)]
pub struct Discussion {
    /// 40 hexadecimal digits.
    pub id: String,
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Stands alone and cannot be resolved.
    Plain,
    /// In a conversation about the whole request.
    Discussion,
    Diff,
    /// Written by GitLab itself.
    System,
}

#[derive(Debug, Clone)]
pub struct Note {
    pub id: u64,
    pub kind: NoteKind,
    pub body: String,
    pub author: User,
    pub created_at: String,
    pub updated_at: String,
    pub resolved_by: Option<User>,
    pub position: Option<Value>,
    pub awards: Vec<Award>,
}

impl Note {
    pub fn resolvable(&self) -> bool {
        matches!(self.kind, NoteKind::Diff | NoteKind::Discussion)
    }
}

#[derive(Debug, Clone)]
pub struct Draft {
    pub id: u64,
    pub author: User,
    pub body: String,
    pub position: Option<Value>,
    pub reply_to: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Award {
    pub id: u64,
    pub name: String,
    pub user: User,
}

#[derive(Debug, Clone)]
pub struct Issue {
    pub id: u64,
    pub iid: u64,
    pub project: u64,
    pub title: String,
    pub description: String,
    pub author: User,
    pub open: bool,
    pub labels: Vec<String>,
    pub notes: Vec<Note>,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Status {
    pub id: u64,
    pub project: u64,
    pub sha: String,
    pub name: String,
    pub state: String,
    pub description: Option<String>,
    pub target_url: Option<String>,
    pub author: User,
    /// What it printed, if it is a job of a pipeline.
    pub log: Option<String>,
}

#[derive(Debug, Default)]
pub struct State {
    pub rules: Rules,
    /// By project and number.
    pub requests: BTreeMap<(u64, u64), MergeRequest>,
    pub issues: Vec<Issue>,
    pub statuses: Vec<Status>,
}
