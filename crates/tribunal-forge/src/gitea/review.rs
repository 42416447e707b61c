//! Reviews: writing them, and cleaning up after one that was cut off.
//!
//! The server stores a review's comments one by one as a draft and then publishes it. Whatever stops it in between leaves the draft,
//! and the next review of the same account takes its comments along. So a review that is not exactly what was sent is never reported
//! as done.

use super::read::HIDDEN_PAGES;
use super::wire;
use super::{Gitea, Hides, MAX_PAGES, PagesRead};
use crate::http::whole::Whole;
use crate::port::{Answered, Resolve, ReviewPull};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::{Value, json};
use tribunal_core::findings::anchor::Side;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewComment, NewReview, Review, ReviewEvent, ReviewState, Submitted, Thread};

#[async_trait]
impl ReviewPull for Gitea {
    async fn reviews(&self, number: u64) -> Answered<Vec<Review>> {
        self.reviews_of(self.listed_reviews(number).await?).await
    }

    async fn threads(&self, number: u64) -> Answered<Vec<Thread>> {
        self.threads_of(number, self.listed_reviews(number).await?).await
    }

    async fn reviews_and_threads(&self, number: u64) -> Answered<(Vec<Review>, Vec<Thread>)> {
        let listed = self.listed_reviews(number).await?;
        tokio::try_join!(self.reviews_of(listed.clone()), self.threads_of(number, listed))
    }

    async fn submit(&self, number: u64, review: &NewReview) -> Answered<Submitted> {
        let several_lines = match review.comments.iter().any(|comment| comment.start_line.is_some()) {
            true => self.abilities().await?.several_lines,
            false => false,
        };
        let comments: Vec<Value> = review.comments.iter().map(|comment| line_comment(comment, several_lines)).collect();
        let body = json!({
            "event": event_word(review.event),
            "body": review.body,
            "commit_id": review.commit.as_str(),
            "comments": comments,
        });
        let stored = self.post_review(number, &body).await?;
        if stored.comments_count != comments.len() {
            let message = format!("{} comments were sent, and the review holds {}", comments.len(), stored.comments_count);
            return Err(self.uncertain(message));
        }
        Ok(Submitted { review: stored.id.to_string(), url: stored.html_url, refused: Vec::new() })
    }

    async fn drafted(&self, number: u64, review: &str) -> Answered<Vec<String>> {
        let draft =
            self.http.get(&self.repo(&format!("/pulls/{number}/reviews/{review}")), &format!("the draft {review}")).await?;
        Ok(self.line_comments(number, &draft).await?.into_iter().map(|comment| comment.body).collect())
    }

    /// Comments on lines are comments like any other here.
    async fn delete_inline(&self, _number: u64, comment: &str) -> Answered<()> {
        self.tell(Method::DELETE, &self.repo(&format!("/issues/comments/{comment}")), None, &format!("comment {comment}")).await
    }

    async fn delete_pending(&self, number: u64, review: &str) -> Answered<()> {
        let what = format!("review {review}");
        let path = self.repo(&format!("/pulls/{number}/reviews/{review}"));
        let made_here = self.made_here().await?;
        let found =
            self.http.get::<wire::Review>(&path, &what).await?.words(made_here).map_err(|message| self.hollow(message))?;
        let me = self.find_identity().await?;
        // The server would delete a submitted one just as gladly, and for an administrator anybody's.
        if !found.is_some_and(|found| found.state == ReviewState::Pending && found.author.is(me)) {
            let message = format!("{what} is not a draft of {}", me.login);
            return Err(ForgeFault::Refused { host: self.http.host().to_owned(), status: 422, message });
        }
        self.tell(Method::DELETE, &path, None, &what).await
    }

    /// The server would delete its comments along with it, and the answers to them: only one without any is deleted.
    async fn delete_review(&self, number: u64, review: &str) -> Answered<()> {
        let what = format!("review {review}");
        let path = self.repo(&format!("/pulls/{number}/reviews/{review}"));
        let found = self.http.get::<wire::Review>(&path, &what).await?;
        let is_empty = found.comments_count == 0;
        let found = found.words(self.made_here().await?).map_err(|message| self.hollow(message))?;
        let me = self.find_identity().await?;
        if !is_empty || !found.is_some_and(|found| found.author.is(me)) {
            let message = format!("{what} is not an empty one of {}", me.login);
            return Err(ForgeFault::Refused { host: self.http.host().to_owned(), status: 422, message });
        }
        self.tell(Method::DELETE, &path, None, &what).await
    }

    async fn reply(&self, number: u64, thread: &Thread, body: &Outgoing) -> Answered<()> {
        let abilities = self.abilities().await?;
        let what = format!("thread {} of pull request {number}", thread.id);
        if abilities.reply {
            let path = self.repo(&format!("/pulls/{number}/comments/{}/replies", thread.id));
            return self.tell(Method::POST, &path, Some(&json!({ "body": body })), &what).await;
        }
        let Some(line) = thread.line else { return Err(self.unsupported("a reply to a comment without a line")) };
        let first_review = thread.first().and_then(|first| first.review.as_deref());
        let line = match first_review {
            Some(review) if abilities.several_lines => self.first_line(number, review, thread).await?.unwrap_or(line),
            Some(_) | None => line,
        };
        let same_line = json!({ "path": thread.path, "body": body, position(thread.side): line });
        if let (true, Some(review)) = (abilities.add_to_review, first_review) {
            let path = self.repo(&format!("/pulls/{number}/reviews/{review}/comments"));
            return self.tell(Method::POST, &path, Some(&same_line), &what).await;
        }
        // A line means the same only at the commit that the thread was written on.
        let reviews = self.reviews(number).await?;
        let commit =
            reviews.iter().find(|review| Some(review.id.as_str()) == first_review).and_then(|review| review.commit.clone());
        let commit = commit.map(|commit| commit.0).unwrap_or_default();
        let review = json!({ "event": "COMMENT", "body": "", "commit_id": commit, "comments": [same_line] });
        self.post_review(number, &review).await.map(drop)
    }
}

#[async_trait]
impl Resolve for Gitea {
    async fn resolve(&self, _number: u64, thread: &Thread) -> Answered<()> {
        self.settle(thread, "resolve").await
    }

    async fn unresolve(&self, _number: u64, thread: &Thread) -> Answered<()> {
        self.settle(thread, "unresolve").await
    }
}

impl Gitea {
    async fn reviews_of(&self, listed: Vec<wire::Review>) -> Answered<Vec<Review>> {
        let made_here = self.made_here().await?;
        let mut reviews = Vec::new();
        for review in listed {
            reviews.extend(review.words(made_here).map_err(|message| self.hollow(message))?);
        }
        // An administrator is shown other people's drafts as well.
        if reviews.iter().any(|review| review.state == ReviewState::Pending) {
            let me = self.find_identity().await?;
            reviews.retain(|review| review.state != ReviewState::Pending || review.author.is(me));
        }
        Ok(reviews)
    }

    pub(super) async fn listed_reviews(&self, number: u64) -> Answered<Vec<wire::Review>> {
        let what = format!("the reviews of pull request {number}");
        let path = self.repo(&format!("/pulls/{number}/reviews"));
        let read = self.shown_reviews(number).await?;
        let whole = match read.total {
            // Other people's drafts may be what is missing. What was submitted stands among the events as well; a draft may too, but
            // cannot be read by itself.
            Some(total) if read.items.len() < total => {
                let submitted: Vec<i64> =
                    self.events(number, HIDDEN_PAGES).await?.iter().filter_map(wire::Event::review).collect();
                let mut readable = Vec::new();
                for id in submitted.into_iter().filter(|id| !read.items.iter().any(|review| review.id == *id)) {
                    match self.http.get::<wire::Review>(&format!("{path}/{id}"), &what).await {
                        Ok(review) => readable.push(review.id),
                        Err(ForgeFault::NotFound { .. }) => {}
                        Err(fault) => return Err(fault),
                    }
                }
                Whole::naming(self.http.host(), &what, read.items, readable, |review| review.id)?
            }
            total => Whole::counted(self.http.host(), &what, read.items, total)?,
        };
        Ok(whole.into_items())
    }

    /// The reviews that the server shows, with its count of all.
    pub(super) async fn shown_reviews(&self, number: u64) -> Answered<PagesRead<wire::Review>> {
        let what = format!("the reviews of pull request {number}");
        let read = self.first_pages(&self.repo(&format!("/pulls/{number}/reviews")), &what, MAX_PAGES, Hides::Drafts).await?;
        self.ended(&read, &what)?;
        Ok(read)
    }

    async fn post_review(&self, number: u64, body: &Value) -> Answered<wire::Review> {
        let what = format!("a review of pull request {number}");
        let path = self.repo(&format!("/pulls/{number}/reviews"));
        let answer = self.http.write(Method::POST, &path, Some(body), &what).await?;
        let stored: wire::Review = self.written(&answer, &what)?;
        // A word that it does not know makes a draft, and is answered like a success.
        if stored.state == "PENDING" {
            return Err(self.uncertain(format!("{what} was stored as a draft")));
        }
        Ok(stored)
    }

    /// A thread stands on the last of its lines, but the server knows it by the first.
    async fn first_line(&self, number: u64, review: &str, thread: &Thread) -> Answered<Option<u32>> {
        let path = self.repo(&format!("/pulls/{number}/reviews/{review}/comments"));
        let comments: Vec<wire::LineComment> = self.uncounted(&path, &format!("the comments of review {review}")).await?;
        let first = comments.into_iter().find(|comment| comment.id.to_string() == thread.id);
        Ok(first.map(|first| match thread.side {
            Side::New => first.position,
            Side::Old => first.original_position,
        }))
    }

    /// The mark sits on one comment; the first one is where everybody looks for it.
    async fn settle(&self, thread: &Thread, verb: &str) -> Answered<()> {
        if !self.abilities().await?.resolve {
            return Err(self.unsupported("resolving a thread"));
        }
        let path = self.repo(&format!("/pulls/comments/{}/{verb}", thread.id));
        self.tell(Method::POST, &path, None, &format!("thread {}", thread.id)).await
    }
}

fn event_word(event: ReviewEvent) -> &'static str {
    match event {
        ReviewEvent::Comment => "COMMENT",
        ReviewEvent::Approve => "APPROVED",
        ReviewEvent::RequestChanges => "REQUEST_CHANGES",
    }
}

/// Only one of the two is ever sent: with both, the old side wins.
fn position(side: Side) -> &'static str {
    match side {
        Side::New => "new_position",
        Side::Old => "old_position",
    }
}

/// Several lines are given as the first one and how many follow; a server that cannot do that gets the last line.
fn line_comment(comment: &NewComment, several_lines: bool) -> Value {
    let mut sent = json!({ "path": comment.path, "body": comment.body });
    match comment.start_line.filter(|start| several_lines && *start < comment.line) {
        Some(start) => {
            sent[position(comment.side)] = json!(start);
            sent["extra_lines_count"] = json!(comment.line - start);
        }
        None => sent[position(comment.side)] = json!(comment.line),
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    /// forges.md 1.2: several lines are the anchor and those after it; elsewhere the last line.
    #[test]
    fn several_lines_begin_at_the_first() {
        let comment = NewComment {
            path: "a".into(),
            old_path: "a".into(),
            side: Side::New,
            line: 9,
            start_line: Some(7),
            body: "b".into(),
        };
        assert_eq!(line_comment(&comment, true), json!({ "path": "a", "body": "b", "new_position": 7, "extra_lines_count": 2 }));
        assert_eq!(line_comment(&comment, false), json!({ "path": "a", "body": "b", "new_position": 9 }));
        let old = NewComment { side: Side::Old, start_line: None, ..comment };
        assert_eq!(line_comment(&old, true), json!({ "path": "a", "body": "b", "old_position": 9 }));
    }
}
