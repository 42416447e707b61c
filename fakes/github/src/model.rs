//! What is on this GitHub. Projects are named by id, so that a renamed one keeps everything.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Project id and number.
pub type Key = (u64, u64);

#[derive(Debug, Clone)]
pub struct Pull {
    /// Nothing when the fork was deleted.
    pub head_project: Option<String>,
    pub head_owner: String,
    pub head_branch: String,
    pub head_sha: String,
    pub base_branch: String,
    /// When it was last aimed at another branch.
    pub base_changed_at: Option<String>,
    /// Frozen when it is closed.
    pub base_sha: String,
    pub draft: bool,
    pub merged_at: Option<String>,
    pub reviewers: BTreeSet<u64>,
}

/// An issue, or the half of a pull request that is one.
#[derive(Debug, Clone)]
pub struct Issue {
    pub id: u64,
    pub title: String,
    pub body: String,
    pub author: u64,
    pub open: bool,
    pub labels: Vec<String>,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Comment {
    pub id: u64,
    pub on: Key,
    pub author: u64,
    pub body: String,
    pub created_at: String,
    pub updated_at: String,
    pub edited_at: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Review {
    pub id: u64,
    pub on: Key,
    pub author: u64,
    pub body: String,
    /// `PENDING` and so on.
    pub state: String,
    /// Frozen, whatever is pushed later.
    pub commit: String,
    pub submitted_at: Option<String>,
}

/// Where somebody wants a comment, in GitHub's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anchor {
    pub path: String,
    /// `LEFT` or `RIGHT`.
    pub side: String,
    /// Nothing for a file as a whole.
    pub line: Option<u32>,
    pub start_line: Option<u32>,
}

/// A comment of a review that is not stored yet.
#[derive(Debug, Clone)]
pub struct Draft {
    pub anchor: Anchor,
    pub body: String,
}

#[derive(Debug, Clone)]
pub struct Thread {
    pub id: u64,
    pub on: Key,
    pub original: Anchor,
    pub original_commit: String,
    /// Where it stands at the head; nothing when it is out of date.
    pub line: Option<u32>,
    pub start_line: Option<u32>,
    pub outdated: bool,
    pub resolved_by: Option<u64>,
    /// Taken over GraphQL for a line outside the diff: stored, answered with success, shown to nobody.
    pub invisible: bool,
    pub hunk: String,
}

/// One comment of a thread.
#[derive(Debug, Clone)]
pub struct Note {
    pub id: u64,
    pub thread: u64,
    pub review: u64,
    pub author: u64,
    pub body: String,
    pub created_at: String,
    pub reply_to: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct Status {
    pub id: u64,
    pub sha: String,
    pub context: String,
    pub state: String,
    pub description: Option<String>,
    pub target_url: Option<String>,
    pub creator: u64,
    pub created_at: String,
}

#[derive(Debug, Clone)]
pub struct CheckRun {
    pub id: u64,
    pub sha: String,
    pub name: String,
    pub status: String,
    pub conclusion: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub annotations: Vec<Value>,
    pub started_at: String,
    /// The app that made it, and its suite there.
    pub app: u64,
    pub suite: u64,
    /// The page of the job that it is, and what that printed.
    pub job: Option<Job>,
}

#[derive(Debug, Clone)]
pub struct Job {
    pub page: String,
    pub log: String,
}

/// What a reaction stands on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liked {
    Issue(Key),
    Comment(u64),
    Note(u64),
}

#[derive(Debug, Clone)]
pub struct Liking {
    pub id: u64,
    pub on: Liked,
    pub user: u64,
    pub content: String,
    pub created_at: String,
}

#[derive(Debug, Default)]
pub struct World {
    pub pulls: BTreeMap<Key, Pull>,
    pub issues: BTreeMap<Key, Issue>,
    /// Parent and child.
    pub sub_issues: BTreeSet<(Key, Key)>,
    pub comments: Vec<Comment>,
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    pub notes: Vec<Note>,
    pub statuses: Vec<Status>,
    pub runs: Vec<CheckRun>,
    pub likings: Vec<Liking>,
}

impl World {
    /// Issues and pull requests share their numbers.
    pub fn next_number(&self, project: u64) -> u64 {
        self.issues.keys().filter(|(id, _)| *id == project).map(|(_, number)| number + 1).max().unwrap_or(1)
    }

    pub fn thread_of(&self, note: &Note) -> &Thread {
        self.threads.iter().find(|thread| thread.id == note.thread).expect("a thread for each comment")
    }

    pub fn review(&self, id: u64) -> Option<&Review> {
        self.reviews.iter().find(|review| review.id == id)
    }

    /// What is pending only its author sees.
    pub fn is_shown(&self, review: u64, viewer: Option<u64>) -> bool {
        self.review(review).is_some_and(|review| review.state != "PENDING" || Some(review.author) == viewer)
    }
}
