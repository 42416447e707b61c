//! What a Forgejo remembers. Issues and pull requests are numbered together; a pull request is an issue with branches.

use fake_forge_base::User;
use std::collections::{BTreeMap, BTreeSet};

/// What goes wrong once armed. Numbers are those of forges.md 8 and of its section 3.x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quirk {
    /// 10 and 3.x.1: the server fails after half of a review's comments, which stay in a pending review.
    HalfReview,
    /// 3.x.1: the same, and the caller is gone before an answer could reach it.
    CutReview,
    /// 3.x.2: another review of the same user at the same moment takes the comments of this one.
    MixedReview,
    /// 16: a review is stored, and its answer never arrives.
    LostReview,
    /// 16: a comment is stored, and its answer never arrives.
    LostComment,
    /// Whether it can be merged is still being found out.
    StillChecking,
    /// A pull request without its head.
    Hollow,
    /// A list comes empty, with its count.
    EmptyList,
}

/// Settings of the server.
#[derive(Debug, Clone)]
pub struct Rules {
    pub version: String,
    /// `/swagger.v1.json` can be switched off.
    pub has_swagger: bool,
    /// With one, every repository is an organisation's.
    pub teams: Vec<Team>,
}

/// What a team may do, by parts of a repository. The server makes one word of it all for each member.
#[derive(Debug, Clone)]
pub struct Team {
    pub id: u64,
    pub name: String,
    /// `repo.code` and the like.
    pub units: BTreeMap<String, String>,
    pub members: BTreeSet<String>,
    /// From whoever is not in it.
    pub is_hidden: bool,
}

impl Team {
    pub fn writes(&self) -> bool {
        self.units.values().any(|access| access == "write")
    }
}

impl Default for Rules {
    fn default() -> Self {
        Rules { version: "16.0.2+gitea-1.22.0".into(), has_swagger: true, teams: Vec::new() }
    }
}

#[derive(Debug, Clone)]
pub struct Issue {
    pub id: u64,
    pub number: u64,
    pub project: u64,
    pub title: String,
    pub body: String,
    pub author: User,
    pub open: bool,
    pub labels: BTreeSet<u64>,
    pub created_at: String,
    pub updated_at: String,
    pub comments: Vec<Comment>,
    pub reactions: Vec<Reaction>,
    pub pull: Option<Pull>,
}

#[derive(Debug, Clone)]
pub struct Pull {
    pub source_project: u64,
    pub head_branch: String,
    pub base_branch: String,
    /// When it was aimed at another branch, and by whom.
    pub base_changes: Vec<(String, User)>,
    pub head: String,
    pub merged: Option<String>,
    pub reviewers: Vec<User>,
    pub reviews: Vec<Review>,
}

#[derive(Debug, Clone)]
pub struct Comment {
    pub id: u64,
    pub author: User,
    pub body: String,
    pub created_at: String,
    pub updated_at: String,
    pub reactions: Vec<Reaction>,
}

#[derive(Debug, Clone)]
pub struct Reaction {
    pub user: User,
    pub content: String,
    pub created_at: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewKind {
    Pending,
    Approved,
    Comment,
    RequestChanges,
}

impl ReviewKind {
    /// A word that is not known makes no error, but a review that nobody sees.
    pub fn read(word: &str) -> ReviewKind {
        match word {
            "APPROVED" => ReviewKind::Approved,
            "COMMENT" => ReviewKind::Comment,
            "REQUEST_CHANGES" => ReviewKind::RequestChanges,
            _ => ReviewKind::Pending,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            ReviewKind::Pending => "PENDING",
            ReviewKind::Approved => "APPROVED",
            ReviewKind::Comment => "COMMENT",
            ReviewKind::RequestChanges => "REQUEST_CHANGES",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Review {
    pub id: u64,
    pub author: User,
    pub kind: ReviewKind,
    pub body: String,
    pub commit: String,
    pub submitted_at: String,
    pub comments: Vec<CodeComment>,
}

#[derive(Debug, Clone)]
pub struct CodeComment {
    pub id: u64,
    pub author: User,
    pub path: String,
    /// Below nothing for the old side.
    pub line: i64,
    pub extra_lines: u64,
    pub body: String,
    /// The commit that last wrote the line, not the one that was reviewed.
    pub blamed: String,
    pub hunk: String,
    pub created_at: String,
    pub updated_at: String,
    pub reactions: Vec<Reaction>,
}

#[derive(Debug, Clone)]
pub struct Label {
    pub id: u64,
    pub project: u64,
    pub name: String,
    pub color: String,
}

#[derive(Debug, Clone)]
pub struct Status {
    pub id: u64,
    pub project: u64,
    pub sha: String,
    pub context: String,
    pub state: String,
    pub description: String,
    pub target_url: String,
    pub creator: User,
    pub created_at: String,
}

/// A job of a workflow's run: the run has a number of its own in each repository, the job a place in the run.
#[derive(Debug, Clone)]
pub struct Job {
    pub id: u64,
    pub project: u64,
    pub run: u64,
    pub run_number: u64,
    pub place: u64,
    pub name: String,
    pub log: String,
}

#[derive(Debug, Default)]
pub struct State {
    pub rules: Rules,
    /// By project and number.
    pub issues: BTreeMap<(u64, u64), Issue>,
    pub labels: Vec<Label>,
    pub statuses: Vec<Status>,
    pub jobs: Vec<Job>,
}

impl State {
    pub fn next_number(&self, project: u64) -> u64 {
        self.issues.keys().filter(|(own, _)| *own == project).count() as u64 + 1
    }

    /// The names of labels, in their order.
    pub fn labels_of(&self, issue: &Issue) -> Vec<&Label> {
        self.labels.iter().filter(|label| issue.labels.contains(&label.id)).collect()
    }
}
