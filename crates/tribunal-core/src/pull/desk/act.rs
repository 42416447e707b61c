//! What can be asked of a desk, and why it may be refused.

use super::review::Written;
use super::{BODY_LIMIT, Landing, TITLE_LIMIT};
use crate::ids::Sha;
use crate::pull::facts::{Account, PullState};
use crate::pull::talk::{Emoji, ReviewEvent};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub by: Account,
    pub act: Act,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Comment {
        body: String,
    },
    /// Of a comment, or of a comment in a thread.
    Edit {
        id: u64,
        body: String,
    },
    Delete {
        id: u64,
    },
    Describe {
        title: Option<String>,
        body: Option<String>,
    },
    Draft(bool),
    /// A review that nobody else sees until it is submitted.
    Begin(Written),
    Submit {
        review: u64,
        event: ReviewEvent,
    },
    /// Begun and submitted at once.
    Review {
        written: Written,
        event: ReviewEvent,
    },
    DropReview {
        review: u64,
    },
    Reply {
        thread: u64,
        body: String,
    },
    Resolve {
        thread: u64,
    },
    Unresolve {
        thread: u64,
    },
    Label {
        label: String,
    },
    Unlabel {
        label: String,
    },
    React {
        on: Option<u64>,
        emoji: Emoji,
    },
    Ask {
        logins: Vec<String>,
    },
    Close,
    Reopen,
    /// Written down before the base branch is moved, so that a merge is known as one even if its process dies right after.
    BeginLanding(Landing),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is nothing in it: a comment needs words")]
    Empty,
    #[error("a review needs words: a body, or a comment on a line")]
    EmptyReview,
    #[error("a title or label is one line of 1 to {TITLE_LIMIT} characters")]
    NotOneLine,
    #[error("{bytes} bytes are too many for one text; {limit} is the most")]
    TooLong { bytes: usize, limit: usize },
    #[error("there is no {what} {id} here")]
    Unknown { what: &'static str, id: u64 },
    #[error("that {what} is {whose}'s")]
    NotYours { what: &'static str, whose: String },
    #[error("that review was submitted already")]
    Submitted,
    #[error("it is an issue, not a pull request")]
    NotAPull,
    #[error("it is {}", .0.word())]
    NotOpen(PullState),
    #[error("it is a draft")]
    Draft,
    #[error("the head is {}, not {}", .found.short(), .expected.short())]
    HeadMoved { expected: Sha, found: Sha },
}

/// A text with something in it that is not too long.
pub(super) fn worded(body: String) -> Result<String, Refusal> {
    if body.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if body.len() > BODY_LIMIT {
        return Err(Refusal::TooLong { bytes: body.len(), limit: BODY_LIMIT });
    }
    Ok(body)
}

pub(super) fn one_line(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    let fine = !text.is_empty() && text.chars().count() <= TITLE_LIMIT && !text.contains(['\n', '\r', '\0']);
    if fine { Ok(text.to_owned()) } else { Err(Refusal::NotOneLine) }
}
