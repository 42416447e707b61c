//! A desk in the words that all forges share, as one account sees it.

use super::position::Moved;
use super::review::{ReviewNote, ThreadNote};
use super::{Desk, Live, PullDesk, Subject};
use crate::calendar::rfc3339;
use crate::pull::facts::{Account, Issue, Mergeable, Pull, PullState, Tip};
use crate::pull::talk::{Comment, Reaction, Review, ReviewState, Thread, ThreadComment};
use std::collections::BTreeMap;

/// No server, so no address; this names it all the same.
pub fn address(number: u64) -> String {
    format!("local:/{number}")
}

fn address_of(number: u64, id: u64) -> String {
    format!("local:/{number}#{id}")
}

/// What only git can answer about a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    pub mergeable: Mergeable,
    pub changed_files: Option<u64>,
}

impl Desk {
    pub fn comments(&self, number: u64) -> Vec<Comment> {
        let comment = |said: &super::Said| Comment {
            id: said.id.to_string(),
            author: said.by.clone(),
            body: said.body.clone(),
            created_at: rfc3339(said.at),
            updated_at: rfc3339(said.edited_at.unwrap_or(said.at)),
            url: address_of(number, said.id),
            edited: false,
        };
        self.comments.iter().map(comment).collect()
    }

    pub fn reactions_on(&self, on: Option<u64>) -> Vec<Reaction> {
        let here = self.reactions.iter().filter(|reaction| reaction.on == on);
        here.map(|reaction| Reaction { author: reaction.by.clone(), emoji: reaction.emoji }).collect()
    }

    pub fn issue(&self, number: u64) -> Option<Issue> {
        match &self.subject {
            Subject::Pull(_) => None,
            Subject::Issue { open } => Some(Issue {
                number,
                title: self.title.clone(),
                body: self.body.clone(),
                author: self.author.clone(),
                open: *open,
                labels: self.labels.iter().cloned().collect(),
                url: address(number),
                assignees: Vec::new(),
                created_at: rfc3339(self.opened_at),
                updated_at: rfc3339(self.updated_at),
                closed_at: (!open).then(|| rfc3339(self.updated_at)),
            }),
        }
    }

    /// Does every word stand in it, whatever the case?
    pub fn mentions(&self, words: &str) -> bool {
        let text = format!("{}\n{}", self.title, self.body).to_lowercase();
        words.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// The facts of a pull request. The desk was [`Desk::seen`] before.
    pub fn facts(&self, pull: &PullDesk, number: u64, live: &Live, weighed: Weighed) -> Pull {
        let head = self.head_now(live).unwrap_or_else(|| pull.head.sha.clone());
        let base = live.base.as_ref().unwrap_or(&pull.base.sha);
        let tip = |branch: &str, sha: &crate::ids::Sha| Tip {
            branch: branch.to_owned(),
            sha: sha.clone(),
            repository: Some(String::new()),
        };
        Pull {
            number,
            title: self.title.clone(),
            body: self.body.clone(),
            author: self.author.clone(),
            state: pull.state(),
            draft: pull.draft && pull.state() == PullState::Open,
            head: tip(&pull.head.name, &head),
            base: tip(&pull.base.name, base),
            is_fork: false,
            labels: self.labels.iter().cloned().collect(),
            url: address(number),
            // A push says something new without anybody touching the desk.
            updated_at: format!("{} {}", rfc3339(self.updated_at), head.short()),
            mergeable: weighed.mergeable,
            changed_files: weighed.changed_files,
        }
    }
}

impl PullDesk {
    /// Everybody's, but of those that were never submitted only one's own.
    pub fn reviews_for<'a>(&'a self, me: &'a Account) -> impl Iterator<Item = &'a ReviewNote> {
        self.reviews.iter().filter(|review| review.state != ReviewState::Pending || review.by.is(me))
    }

    /// What was said: a review that was not submitted has said nothing yet, to nobody.
    pub fn threads_said(&self) -> impl Iterator<Item = &ThreadNote> {
        let is_said = |thread: &ThreadNote| {
            self.reviews.iter().any(|review| review.id == thread.review && review.state != ReviewState::Pending)
        };
        self.threads.iter().filter(move |thread| is_said(thread))
    }
}

impl ReviewNote {
    pub fn shown(&self, number: u64) -> Review {
        Review {
            id: self.id.to_string(),
            author: self.by.clone(),
            state: self.state,
            body: self.body.clone(),
            commit: Some(self.commit.clone()),
            submitted_at: rfc3339(self.at),
            url: address_of(number, self.id),
        }
    }
}

impl ThreadNote {
    /// `moved` is where the line stands now; a version that git no longer has leaves it out of date.
    pub fn shown(&self, number: u64, moved: &BTreeMap<u64, Moved>) -> Thread {
        let about_file = self.place.line == 0;
        let now = moved.get(&self.id);
        let line = now.and_then(|moved| moved.line).filter(|_| !about_file);
        let comment = |said: &super::Said| ThreadComment {
            id: said.id.to_string(),
            author: said.by.clone(),
            body: said.body.clone(),
            created_at: rfc3339(said.at),
            url: address_of(number, said.id),
            // Only who said it can.
            edited: false,
            review: (said.id == self.said.first().map_or(0, |first| first.id)).then(|| self.review.to_string()),
        };
        Thread {
            id: self.id.to_string(),
            path: now.map_or_else(|| self.place.path.clone(), |moved| moved.path.clone()),
            line,
            start_line: line.zip(self.place.start_line).map(|(line, start)| line.saturating_sub(self.place.line - start)),
            side: self.place.side,
            resolved: self.resolved.is_some(),
            resolved_by: self.resolved.as_ref().map(|resolved| resolved.by.clone()),
            outdated: Some(if about_file { now.is_none_or(|moved| moved.line.is_none()) } else { line.is_none() }),
            can_resolve: Some(true),
            comments: self.said.iter().map(comment).collect(),
        }
    }
}
