//! What was said on a pull request, and what is to be said.

use super::facts::{Account, CheckState};
use crate::findings::anchor::Side;
use crate::ids::Sha;
use crate::publish::outgoing::Outgoing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A comment under the pull request as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    pub id: String,
    pub author: Account,
    pub body: String,
    /// RFC 3339, as the forge writes it.
    pub created_at: String,
    pub updated_at: String,
    pub url: String,
    /// Perhaps changed by somebody else than its author: it was edited, and the forge lets others do that.
    #[serde(default)]
    pub edited: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    pub id: String,
    pub author: Account,
    pub state: ReviewState,
    pub body: String,
    /// The head it was written for.
    pub commit: Option<Sha>,
    pub submitted_at: String,
    pub url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewState {
    /// Written and not yet shown to anybody.
    Pending,
    Commented,
    Approved,
    ChangesRequested,
    Dismissed,
}

/// A conversation on a line or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    pub id: String,
    pub path: String,
    /// Where it stands now; nothing when the line is gone or the thread is about the file.
    pub line: Option<u32>,
    /// The first of its lines, when it stands on several.
    #[serde(default)]
    pub start_line: Option<u32>,
    pub side: Side,
    pub resolved: bool,
    /// Who resolved it, where the forge says so.
    pub resolved_by: Option<Account>,
    /// The forge shows it as out of date; nothing when it does not say.
    pub outdated: Option<bool>,
    /// May we resolve it? Nothing when the forge does not say.
    pub can_resolve: Option<bool>,
    /// Oldest first, never empty.
    pub comments: Vec<ThreadComment>,
}

impl Thread {
    pub fn first(&self) -> Option<&ThreadComment> {
        self.comments.first()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadComment {
    pub id: String,
    pub author: Account,
    pub body: String,
    pub created_at: String,
    pub url: String,
    /// The review that it came with.
    pub review: Option<String>,
    /// As for a [`Comment`].
    #[serde(default)]
    pub edited: bool,
}

/// A review to be submitted in one go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewReview {
    /// The head that was read; never another one (CF-16).
    pub commit: Sha,
    pub event: ReviewEvent,
    pub body: Outgoing,
    pub comments: Vec<NewComment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewEvent {
    Comment,
    Approve,
    RequestChanges,
}

/// A comment on lines of the diff. Its place was checked against the diff before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewComment {
    pub path: String,
    /// The path on the old side; the same one unless the file was renamed.
    pub old_path: String,
    pub side: Side,
    /// The last line.
    pub line: u32,
    /// The first line, when there is more than one.
    pub start_line: Option<u32>,
    pub body: Outgoing,
}

/// What was submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submitted {
    pub review: String,
    pub url: String,
    /// Comments, by their place in the list, that the forge would not put on their line. They are not posted.
    pub refused: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewStatus {
    /// `tribunal/review`.
    pub context: String,
    pub state: CheckState,
    /// At most 140 characters: GitHub refuses more.
    pub description: Outgoing,
    pub url: Option<String>,
}

/// A check run with annotations, which only a GitHub App can make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewCheckRun {
    pub name: String,
    pub state: CheckState,
    pub title: Outgoing,
    pub summary: Outgoing,
    pub annotations: Vec<Annotation>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Annotation {
    pub path: String,
    pub start_line: u32,
    pub end_line: u32,
    pub level: AnnotationLevel,
    pub title: Outgoing,
    pub message: Outgoing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnnotationLevel {
    Notice,
    Warning,
    Failure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Emoji {
    ThumbsUp,
    ThumbsDown,
    Eyes,
    Rocket,
    Hooray,
}

/// What a reaction is put on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReactionTarget {
    Pull,
    Comment(String),
    ThreadComment(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    pub author: Account,
    pub emoji: Emoji,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    pub title: Outgoing,
    pub body: Outgoing,
    pub labels: Vec<Outgoing>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    pub title: Outgoing,
    pub body: Outgoing,
    pub head_branch: String,
    pub base_branch: String,
    pub draft: bool,
}
