//! Conversations, put together from comments: the server knows none.
//!
//! Comments belong together when they stand on the same line of the same side of the same file *at the same commit*. A reply joins
//! the review of what it answers, and where we had to reply by a review of our own it is written for the same commit. A comment on
//! the same line number of a later head is about other code, and has a resolution of its own.

use super::Gitea;
use super::wire::{LineComment, MadeHere, Review};
use crate::http::whole::Whole;
use crate::port::Answered;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use std::collections::BTreeMap;
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::talk::{Thread, ThreadComment};

/// Reviews whose comments are asked for at the same time: each has a list of its own.
const AT_ONCE: usize = 4;

impl Gitea {
    pub(super) async fn threads_of(&self, number: u64, reviews: Vec<Review>) -> Answered<Vec<Thread>> {
        // A draft was said to nobody.
        let spoken = reviews.into_iter().filter(|review| review.comments_count > 0 && review.state != "PENDING");
        let comments: Vec<(Review, Vec<LineComment>)> =
            stream::iter(spoken).map(|review| self.with_comments(number, review)).buffered(AT_ONCE).try_collect().await?;
        Ok(grouped(comments, self.made_here().await?))
    }

    async fn with_comments(&self, number: u64, review: Review) -> Answered<(Review, Vec<LineComment>)> {
        let comments = self.line_comments(number, &review).await?;
        Ok((review, comments))
    }

    /// As many as the review says that it has. One may have been deleted since it was listed: then it says fewer now.
    pub(super) async fn line_comments(&self, number: u64, review: &Review) -> Answered<Vec<LineComment>> {
        let what = format!("the comments of review {}", review.id);
        let path = self.repo(&format!("/pulls/{number}/reviews/{}", review.id));
        let comments: Vec<LineComment> = self.uncounted(&format!("{path}/comments"), &what).await?;
        let count = match comments.len() < review.comments_count {
            true => self.http.get::<Review>(&path, &what).await?.comments_count,
            false => review.comments_count,
        };
        Ok(Whole::counted(self.http.host(), &what, comments, Some(count))?.into_items())
    }
}

/// Where a conversation stands.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    path: String,
    side: Side,
    line: u32,
    commit: String,
}

fn grouped(reviews: Vec<(Review, Vec<LineComment>)>, made_here: MadeHere) -> Vec<Thread> {
    let mut groups: BTreeMap<Spot, Vec<(i64, LineComment)>> = BTreeMap::new();
    for (review, comments) in reviews {
        for comment in comments {
            let (side, line) = match (comment.position, comment.original_position) {
                (0, old) => (Side::Old, old),
                (new, _) => (Side::New, new),
            };
            let spot = Spot { path: comment.path.clone(), side, line, commit: review.commit_id.clone() };
            groups.entry(spot).or_default().push((review.id, comment));
        }
    }
    let mut threads: Vec<(i64, Thread)> =
        groups.into_iter().filter_map(|(spot, comments)| thread(spot, comments, made_here)).collect();
    threads.sort_by_key(|(first, _)| *first);
    threads.into_iter().map(|(_, thread)| thread).collect()
}

fn thread(spot: Spot, mut comments: Vec<(i64, LineComment)>, made_here: MadeHere) -> Option<(i64, Thread)> {
    // They come in any order.
    comments.sort_by_key(|(_, comment)| comment.id);
    let (_, first) = comments.first_mut()?;
    let id = first.id;
    let resolved_by = first.resolver.take().map(super::wire::User::account);
    let last_line = spot.line + first.extra_lines_count;
    let said = |(review, comment): (i64, LineComment)| ThreadComment {
        id: comment.id.to_string(),
        author: comment.author(made_here),
        body: comment.body,
        // Going out of date is an update, too: in doubt it was edited.
        edited: comment.updated_at != comment.created_at,
        created_at: comment.created_at,
        url: comment.html_url,
        review: Some(review.to_string()),
    };
    let thread = Thread {
        id: id.to_string(),
        path: spot.path,
        line: Some(last_line).filter(|line| *line > 0),
        start_line: Some(spot.line).filter(|start| *start > 0 && *start < last_line),
        side: spot.side,
        resolved: resolved_by.is_some(),
        resolved_by,
        outdated: None,
        can_resolve: None,
        comments: comments.into_iter().map(said).collect(),
    };
    Some((id, thread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn review(id: i64, commit: &str, comments: &[(i64, u32, u32, bool)]) -> (Review, Vec<LineComment>) {
        let user = json!({ "id": 1, "login": "ada" });
        let review = json!({
            "id": id, "user": user, "state": "COMMENT", "body": "", "commit_id": commit, "comments_count": comments.len(),
            "submitted_at": "", "html_url": ""
        });
        let line = |(id, new, old, resolved): &(i64, u32, u32, bool)| {
            json!({
                "id": id, "user": user, "resolver": resolved.then_some(&user), "body": format!("c{id}"), "path": "a.rs",
                "position": new, "original_position": old, "created_at": "", "updated_at": "", "html_url": ""
            })
        };
        let comments = comments.iter().map(|comment| serde_json::from_value(line(comment)).unwrap()).collect();
        (serde_json::from_value(review).unwrap(), comments)
    }

    fn shown(threads: &[Thread]) -> Vec<String> {
        let bodies = |thread: &Thread| thread.comments.iter().map(|comment| comment.body.clone()).collect::<Vec<_>>().join(" ");
        threads.iter().map(|thread| format!("{:?} {:?} {}", thread.side, thread.line, bodies(thread))).collect()
    }

    /// forges.md 3.x, 5: in any order within a review, and a line of the old side is another place.
    #[test]
    fn comments_on_a_line_are_one_thread_in_the_order_they_were_said() {
        let comments = vec![review(1, "A", &[(12, 5, 0, false), (11, 0, 5, false), (10, 5, 0, true)])];
        let threads = grouped(comments, MadeHere::default());
        assert_eq!(shown(&threads), ["New Some(5) c10 c12", "Old Some(5) c11"]);
        assert!(threads[0].resolved && threads[0].id == "10" && !threads[1].resolved);
    }

    /// A reply by a review of its own joins; the same number at another head is another line, and another resolution.
    #[test]
    fn another_head_begins_another_thread() {
        let comments =
            vec![review(1, "A", &[(10, 5, 0, true)]), review(2, "A", &[(20, 5, 0, false)]), review(3, "B", &[(30, 5, 0, false)])];
        let threads = grouped(comments, MadeHere::default());
        assert_eq!(shown(&threads), ["New Some(5) c10 c20", "New Some(5) c30"]);
        assert!(threads[0].resolved && !threads[1].resolved);
    }
}
