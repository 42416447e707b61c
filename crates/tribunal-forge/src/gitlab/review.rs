//! Reviews and threads, put together from what GitLab has instead: drafts, approvals, marked notes and discussions.

use super::wire::{DiffVersion, Discussion, Note, Reviewer};
use super::{GitLab, summary};
use crate::http::client::segment;
use crate::port::{Answered, Resolve, ReviewPull};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewReview, Review, ReviewEvent, ReviewState, Submitted, Thread, ThreadComment};

/// All drafts of ours are one review that was never submitted.

#[async_trait]
impl ReviewPull for GitLab {
    async fn reviews(&self, number: u64) -> Answered<Vec<Review>> {
        let me = self.who_am_i().await?.clone();
        let approvals = self.approvals(number).await?;
        let mut reviews = Vec::new();
        let mut told_by_note = false;
        for note in self.notes(number).await? {
            let Some((body, event, commit)) = summary::read(&note.body).filter(|_| note.author.id.to_string() == me.id) else {
                continue;
            };
            let state = match event {
                ReviewEvent::Approve if approvals.user_has_approved => ReviewState::Approved,
                // An approval that was taken back, by us or by a push, is only a comment.
                ReviewEvent::Approve | ReviewEvent::Comment => ReviewState::Commented,
                // For GitLab a comment; that more was meant only the mark knows.
                ReviewEvent::RequestChanges => ReviewState::ChangesRequested,
            };
            told_by_note |= state == ReviewState::Approved;
            reviews.push(Review {
                id: note.id.to_string(),
                author: me.clone(),
                state,
                body: body.to_owned(),
                commit: Some(commit),
                submitted_at: note.created_at.clone(),
                url: self.note_url(number, note.id),
            });
        }
        let versions: Vec<DiffVersion> = match approvals.approved_by.is_empty() {
            true => Vec::new(),
            false => self.list(&self.of_request(number, "/versions"), "the diff's versions").await?,
        };
        for approval in approvals.approved_by {
            let author = self.account(&approval.user).await;
            let commit = approval.approved_at.as_deref().and_then(|at| head_at(&versions, at));
            if author.is(&me) && told_by_note {
                continue;
            }
            reviews.push(Review {
                id: format!("approval-{}", author.id),
                author,
                state: ReviewState::Approved,
                body: String::new(),
                commit,
                submitted_at: approval.approved_at.unwrap_or_default(),
                url: self.request_url(number),
            });
        }
        reviews.extend(self.changes_requested(number).await?);
        reviews.sort_by(|one, other| one.submitted_at.cmp(&other.submitted_at));
        // Each is shown by itself: under one account there may be ours, left behind by a crash, and a person's, still being written.
        for draft in self.drafts(number).await? {
            let (body, commit) = match summary::read(&draft.note) {
                Some((body, _, commit)) => (body.to_owned(), Some(commit)),
                None => (draft.note.clone(), draft.position.as_ref().and_then(|position| position.head_sha.clone())),
            };
            reviews.push(Review {
                id: draft.id.to_string(),
                author: me.clone(),
                state: ReviewState::Pending,
                body,
                commit,
                submitted_at: String::new(),
                url: self.request_url(number),
            });
        }
        Ok(reviews)
    }

    async fn threads(&self, number: u64) -> Answered<Vec<Thread>> {
        let head = self.request(number).await?.diff_refs.map(|refs| refs.head_sha);
        let discussions: Vec<Discussion> = self.list(&self.of_request(number, "/discussions"), "the discussions").await?;
        let mut threads = Vec::new();
        for discussion in discussions {
            threads.extend(self.thread(number, discussion, head.as_ref()).await);
        }
        Ok(threads)
    }

    async fn submit(&self, number: u64, review: &NewReview) -> Answered<Submitted> {
        self.publish(number, review).await
    }

    async fn delete_inline(&self, number: u64, comment: &str) -> Answered<()> {
        self.delete(&self.of_request(number, &format!("/notes/{}", segment(comment))), &format!("note {comment}")).await
    }

    /// A review is the note that holds its words.
    async fn delete_review(&self, number: u64, review: &str) -> Answered<()> {
        self.delete_inline(number, review).await
    }

    async fn delete_pending(&self, number: u64, review: &str) -> Answered<()> {
        let path = self.of_request(number, &format!("/draft_notes/{}", segment(review)));
        self.delete(&path, &format!("pending review {review}")).await
    }

    async fn reply(&self, number: u64, thread: &Thread, body: &Outgoing) -> Answered<()> {
        let path = self.of_request(number, &format!("/discussions/{}/notes", segment(&thread.id)));
        self.post(&path, &json!({ "body": body }), "the reply").await.map(drop)
    }
}

#[async_trait]
impl Resolve for GitLab {
    async fn resolve(&self, number: u64, thread: &Thread) -> Answered<()> {
        self.set_resolved(number, thread, true).await
    }

    async fn unresolve(&self, number: u64, thread: &Thread) -> Answered<()> {
        self.set_resolved(number, thread, false).await
    }
}

impl GitLab {
    /// Who asks for changes says so by a state of his own, and takes it back by another; of which head it was, nobody knows.
    async fn changes_requested(&self, number: u64) -> Answered<Vec<Review>> {
        let reviewers: Vec<Reviewer> = match self.list(&self.of_request(number, "/reviewers"), "the reviewers").await {
            Ok(reviewers) => reviewers,
            // A server from before there were such states.
            Err(ForgeFault::NotFound { .. }) => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut reviews = Vec::new();
        for reviewer in reviewers.into_iter().filter(|reviewer| reviewer.state == "requested_changes") {
            let author = self.account(&reviewer.user).await;
            reviews.push(Review {
                id: format!("reviewer-{}", author.id),
                author,
                state: ReviewState::ChangesRequested,
                body: String::new(),
                commit: None,
                submitted_at: reviewer.created_at.unwrap_or_default(),
                url: self.request_url(number),
            });
        }
        Ok(reviews)
    }

    async fn set_resolved(&self, number: u64, thread: &Thread, resolved: bool) -> Answered<()> {
        let path = self.of_request(number, &format!("/discussions/{}?resolved={resolved}", segment(&thread.id)));
        self.http.write(Method::PUT, &path, None, "the thread").await.map(drop)
    }

    /// A conversation on a line or a file, or one about the whole request that can be resolved; that one has no path.
    async fn thread(&self, number: u64, discussion: Discussion, head: Option<&Sha>) -> Option<Thread> {
        let notes: Vec<Note> = discussion.notes.into_iter().filter(|note| !note.system).collect();
        let first = notes.first()?;
        let position = first.position.clone().filter(|position| position.path().is_some());
        if !first.resolvable && position.is_none() {
            return None;
        }
        // GitLab moves a position along with every push for as long as it finds the line.
        let outdated = position.as_ref().zip(head).map(|(position, head)| position.head_sha.as_ref() != Some(head));
        let (line, side) = match position.as_ref().map(|position| (position.new_line, position.old_line)) {
            Some((Some(line), _)) => (Some(line), Side::New),
            Some((None, Some(line))) => (Some(line), Side::Old),
            Some((None, None)) | None => (None, Side::New),
        };
        let start = position.as_ref().and_then(|position| position.line_range.as_ref()).map(|range| &range.start);
        let start_line = start.and_then(|start| start.line(side));
        let resolvable: Vec<&Note> = notes.iter().filter(|note| note.resolvable).collect();
        let resolved = !resolvable.is_empty() && resolvable.iter().all(|note| note.resolved);
        let resolved_by = match resolvable.iter().find_map(|note| note.resolved_by.as_ref()).filter(|_| resolved) {
            Some(user) => Some(self.account(user).await),
            None => None,
        };
        let can_resolve = if resolvable.is_empty() { Some(false) } else { None };
        let mut comments = Vec::new();
        for note in &notes {
            comments.push(ThreadComment {
                id: note.id.to_string(),
                author: self.account(&note.author).await,
                body: note.body.clone(),
                created_at: note.created_at.clone(),
                url: self.note_url(number, note.id),
                review: None,
                edited: false,
            });
        }
        Some(Thread {
            id: discussion.id,
            path: position.as_ref().and_then(|position| position.path()).unwrap_or_default().to_owned(),
            line: line.filter(|_| outdated != Some(true)),
            start_line: start_line.filter(|start| outdated != Some(true) && line.is_some_and(|line| *start < line)),
            side,
            resolved,
            resolved_by,
            outdated,
            can_resolve,
            comments,
        })
    }
}

/// An approval names no commit; the version that was there when it was given does. Times that are not written alike tell nothing.
fn head_at(versions: &[DiffVersion], at: &str) -> Option<Sha> {
    let before = versions.iter().filter(|version| version.created_at.len() == at.len() && version.created_at.as_str() <= at);
    before.max_by(|one, other| one.created_at.cmp(&other.created_at)).map(|version| version.head_commit_sha.clone())
}
