//! Reviews and the threads that come with them.

use super::act::{Refusal, worded};
use super::{Desk, Said};
use crate::findings::anchor::Side;
use crate::ids::Sha;
use crate::procedure::Millis;
use crate::pull::facts::{Account, PullState};
use crate::pull::talk::{NewComment, ReviewEvent, ReviewState};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewNote {
    pub id: u64,
    pub by: Account,
    pub state: ReviewState,
    pub body: String,
    /// The head that was read.
    pub commit: Sha,
    pub at: Millis,
}

/// A conversation, with the code that it is about: the branch may be gone when somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadNote {
    pub id: u64,
    pub review: u64,
    pub place: Spot,
    pub resolved: Option<Resolved>,
    /// Never empty.
    pub said: Vec<Said>,
}

/// Lines of one version of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    pub path: String,
    pub old_path: String,
    pub side: Side,
    /// The last line; 0 when it is about the file.
    pub line: u32,
    pub start_line: Option<u32>,
    /// The version that the lines are counted in: the head on the new side, what it is compared with on the old one.
    pub commit: Sha,
    /// The lines as they were.
    pub code: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    pub by: Account,
    pub at: Millis,
}

/// A review as its author hands it in; the places were looked up in git before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub commit: Sha,
    pub body: String,
    pub comments: Vec<(Spot, String)>,
}

impl Written {
    pub fn comment(comment: &NewComment, commit: &Sha, code: Vec<String>) -> (Spot, String) {
        let spot = Spot {
            path: comment.path.clone(),
            old_path: comment.old_path.clone(),
            side: comment.side,
            line: comment.line,
            start_line: comment.start_line.filter(|start| *start < comment.line),
            commit: commit.clone(),
            code,
        };
        (spot, comment.body.to_string())
    }
}

impl ThreadNote {
    pub(super) fn resolve(&mut self, by: Account, at: Millis) {
        // Who resolved it first resolved it.
        self.resolved.get_or_insert(Resolved { by, at });
    }
}

impl Desk {
    pub(super) fn begin_review(&mut self, by: Account, written: Written, now: Millis) -> Result<u64, Refusal> {
        self.pull()?;
        if !written.body.is_empty() {
            worded(written.body.clone())?;
        }
        let comments =
            written.comments.into_iter().map(|(spot, body)| Ok((spot, worded(body)?))).collect::<Result<Vec<_>, Refusal>>()?;
        let id = self.next_id();
        let mut threads = Vec::new();
        for (place, body) in comments {
            let said = Said { id: self.next_id(), by: by.clone(), at: now, edited_at: None, body };
            threads.push(ThreadNote { id: self.next_id(), review: id, place, resolved: None, said: vec![said] });
        }
        let pull = self.pull_mut()?;
        let state = ReviewState::Pending;
        pull.reviews.push(ReviewNote { id, by, state, body: written.body, commit: written.commit, at: now });
        pull.threads.extend(threads);
        Ok(id)
    }

    pub(super) fn submit_review(&mut self, by: &Account, id: u64, event: ReviewEvent, now: Millis) -> Result<(), Refusal> {
        let state = self.pull()?.state();
        let has_threads = self.pull()?.threads.iter().any(|thread| thread.review == id);
        let review = self.pending_mut(by, id)?;
        match event {
            // What is no longer open can be talked about, not judged.
            ReviewEvent::Approve | ReviewEvent::RequestChanges if state != PullState::Open => {
                return Err(Refusal::NotOpen(state));
            }
            ReviewEvent::Comment | ReviewEvent::RequestChanges if review.body.trim().is_empty() && !has_threads => {
                return Err(Refusal::EmptyReview);
            }
            ReviewEvent::Approve | ReviewEvent::Comment | ReviewEvent::RequestChanges => {}
        }
        review.state = match event {
            ReviewEvent::Comment => ReviewState::Commented,
            ReviewEvent::Approve => ReviewState::Approved,
            ReviewEvent::RequestChanges => ReviewState::ChangesRequested,
        };
        review.at = now;
        self.pull_mut()?.asked.remove(&by.login);
        Ok(())
    }

    pub(super) fn drop_review(&mut self, by: &Account, id: u64) -> Result<(), Refusal> {
        self.pending_mut(by, id)?;
        let pull = self.pull_mut()?;
        pull.reviews.retain(|review| review.id != id);
        pull.threads.retain(|thread| thread.review != id);
        Ok(())
    }

    fn pending_mut(&mut self, by: &Account, id: u64) -> Result<&mut ReviewNote, Refusal> {
        let reviews = &mut self.pull_mut()?.reviews;
        let review = reviews.iter_mut().find(|review| review.id == id).ok_or(Refusal::Unknown { what: "review", id })?;
        match review.state {
            ReviewState::Pending if review.by.is(by) => Ok(review),
            // Somebody else's draft does not exist for anybody but him.
            ReviewState::Pending => Err(Refusal::Unknown { what: "review", id }),
            ReviewState::Commented | ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Dismissed => {
                Err(Refusal::Submitted)
            }
        }
    }

    pub(super) fn reply(&mut self, by: Account, thread: u64, body: String, now: Millis) -> Result<u64, Refusal> {
        self.thread_mut(thread, &by)?;
        let id = self.next_id();
        self.thread_mut(thread, &by)?.said.push(Said { id, by, at: now, edited_at: None, body });
        Ok(id)
    }

    /// A thread that this account may see.
    pub(super) fn thread_mut(&mut self, id: u64, by: &Account) -> Result<&mut ThreadNote, Refusal> {
        let pull = self.pull_mut()?;
        let hidden = |review: &ReviewNote| review.state == ReviewState::Pending && !review.by.is(by);
        let hidden: Vec<u64> = pull.reviews.iter().filter(|review| hidden(review)).map(|review| review.id).collect();
        let seen = |thread: &&mut ThreadNote| thread.id == id && !hidden.contains(&thread.review);
        pull.threads.iter_mut().find(seen).ok_or(Refusal::Unknown { what: "thread", id })
    }
}
