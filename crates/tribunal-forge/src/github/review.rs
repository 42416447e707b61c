//! Reviews over REST, threads over GraphQL: REST has no word for a thread, nor for whether it is resolved.

use super::graphql::{self, PageInfo};
use super::shapes::{ReviewShape, number_as_text};
use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::{Answered, Resolve, ReviewPull};
use async_trait::async_trait;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::{Account, AccountKind};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewComment, NewReview, Review, ReviewEvent, Submitted, Thread, ThreadComment};

/// Enough for the largest conversation, and an end to a cursor that goes in circles.
const MAX_PAGES: usize = 200;

#[derive(Deserialize)]
struct Page<T> {
    #[serde(rename = "pageInfo")]
    info: PageInfo,
    nodes: Vec<T>,
}

#[derive(Deserialize)]
struct OfRepository {
    repository: Option<OfPull>,
}

#[derive(Deserialize)]
struct OfPull {
    #[serde(rename = "pullRequest")]
    pull: Option<OfThreads>,
}

#[derive(Deserialize)]
struct OfThreads {
    #[serde(rename = "reviewThreads")]
    threads: Page<ThreadShape>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadShape {
    id: String,
    path: String,
    line: Option<u32>,
    start_line: Option<u32>,
    diff_side: String,
    is_resolved: bool,
    is_outdated: bool,
    viewer_can_resolve: bool,
    viewer_can_unresolve: bool,
    resolved_by: Option<Actor>,
    comments: Page<CommentShape>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentShape {
    #[serde(deserialize_with = "number_as_text")]
    full_database_id: Option<String>,
    body: String,
    created_at: String,
    /// The time of an update says less: a comment of a pending review is updated when that is submitted.
    last_edited_at: Option<String>,
    url: String,
    state: String,
    author: Option<Actor>,
    pull_request_review: Option<OfReview>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfReview {
    #[serde(deserialize_with = "number_as_text")]
    full_database_id: Option<String>,
}

#[derive(Deserialize)]
struct OfNode {
    node: Option<OfComments>,
}

#[derive(Deserialize)]
struct OfComments {
    comments: Page<CommentShape>,
}

#[derive(Deserialize)]
struct Actor {
    #[serde(rename = "__typename")]
    kind: Option<String>,
    login: String,
    #[serde(rename = "databaseId")]
    id: Option<u64>,
}

fn account(actor: Option<Actor>) -> Account {
    let nobody = || Account { id: "ghost".into(), login: "ghost".into(), kind: AccountKind::Unknown };
    let Some(actor) = actor else { return nobody() };
    let Some(id) = actor.id else { return Account { login: actor.login, ..nobody() } };
    // REST puts `[bot]` behind the name of an App, GraphQL does not.
    let (login, kind) = match actor.kind.as_deref() {
        Some("Bot") => (format!("{}[bot]", actor.login.trim_end_matches("[bot]")), AccountKind::Bot),
        Some("User") => (actor.login, AccountKind::Person),
        Some(_) | None => (actor.login, AccountKind::Unread),
    };
    Account { id: id.to_string(), login, kind }
}

impl GitHub {
    /// Every comment of a thread, of which the question for all threads brings the first.
    async fn comments_of(&self, thread: &str, path: &str, first: Page<CommentShape>) -> Answered<Vec<CommentShape>> {
        let mut said = first.nodes;
        let what = format!("comments of the thread on {path}");
        let mut next = self.next(first.info, &what)?;
        let mut pages = 0;
        while let Some(after) = next {
            pages += 1;
            if pages > MAX_PAGES {
                return Err(self.hollow(format!("{what} have more than {MAX_PAGES} pages")));
            }
            let variables = json!({ "thread": thread, "after": after });
            let more: OfNode = self.query(graphql::THREAD_COMMENTS, variables, &what).await?;
            let page = more.node.ok_or_else(|| self.hollow("a thread that is gone"))?.comments;
            said.extend(page.nodes);
            next = self.next(page.info, &what)?;
        }
        Ok(said)
    }

    async fn thread(&self, shape: ThreadShape) -> Answered<Option<Thread>> {
        let can_resolve = if shape.is_resolved { shape.viewer_can_unresolve } else { shape.viewer_can_resolve };
        let said = self.comments_of(&shape.id, &shape.path, shape.comments).await?;
        let mut comments = Vec::new();
        // What is pending nobody but us can see; it was not said yet.
        for comment in said.into_iter().filter(|comment| comment.state != "PENDING") {
            comments.push(ThreadComment {
                id: comment.full_database_id.ok_or_else(|| self.hollow("a comment without an id"))?,
                author: account(comment.author),
                body: comment.body,
                created_at: comment.created_at,
                url: comment.url,
                review: comment.pull_request_review.and_then(|review| review.full_database_id),
                edited: comment.last_edited_at.is_some(),
            });
        }
        Ok((!comments.is_empty()).then(|| Thread {
            id: shape.id,
            path: shape.path,
            // An outdated thread may still carry a line, of the code as it was.
            line: shape.line.filter(|_| !shape.is_outdated),
            start_line: shape.start_line.filter(|start| !shape.is_outdated && shape.line.is_some_and(|line| *start < line)),
            side: if shape.diff_side == "LEFT" { Side::Old } else { Side::New },
            resolved: shape.is_resolved,
            resolved_by: shape.resolved_by.map(|actor| account(Some(actor))),
            outdated: Some(shape.is_outdated),
            can_resolve: Some(can_resolve),
            comments,
        }))
    }

    async fn thread_shapes(&self, number: u64) -> Answered<Vec<ThreadShape>> {
        let (owner, name) = self.project.owner_and_name();
        let what = format!("threads of {number}");
        let mut threads = Vec::new();
        let mut after = None;
        for _ in 0..MAX_PAGES {
            let variables = json!({ "owner": owner, "name": name, "number": number, "after": after });
            let said: OfRepository = self.query(graphql::THREADS, variables, &what).await?;
            let pull = said.repository.and_then(|repository| repository.pull);
            let page = pull.ok_or_else(|| self.hollow(format!("{what}: no pull request")))?.threads;
            threads.extend(page.nodes);
            after = self.next(page.info, &what)?;
            if after.is_none() {
                return Ok(threads);
            }
        }
        Err(self.hollow(format!("{what} have more than {MAX_PAGES} pages")))
    }

    async fn set_resolved(&self, document: &str, name: &str, thread: &Thread, wanted: bool) -> Answered<()> {
        let said: Value =
            self.mutate(document, json!({ "thread": thread.id }), &format!("the thread on {}", thread.path)).await?;
        match said[name]["thread"]["isResolved"].as_bool() {
            Some(is) if is == wanted => Ok(()),
            Some(_) | None => Err(self.hollow(format!("{name} was answered without the thread it should have changed"))),
        }
    }
}

impl GitHub {
    /// Which of these comments GitHub would not put on their lines. Found by halves, as drafts that nobody sees and that are removed
    /// again; so the review itself is still one.
    async fn unplaceable(&self, number: u64, commit: &Sha, comments: &[Value]) -> Answered<Vec<usize>> {
        let path = self.path(&format!("/pulls/{number}/reviews"));
        let what = format!("a draft on {number}");
        let mut found = Vec::new();
        let mut open = vec![(0, comments.len())];
        while let Some((from, to)) = open.pop() {
            let body = json!({ "commit_id": commit, "comments": comments[from..to] });
            match self.write(Phase::Publish, Method::POST, &path, Some(&body), &what).await {
                Ok(answer) => {
                    let draft: ReviewShape = self.made(&answer, &what)?;
                    self.delete_pending(number, &draft.id.to_string()).await?;
                }
                Err(ForgeFault::Refused { status: 422, .. }) if to - from == 1 => found.push(from),
                Err(ForgeFault::Refused { status: 422, .. }) => {
                    let middle = from + (to - from) / 2;
                    open.extend([(from, middle), (middle, to)]);
                }
                Err(fault) => return Err(fault),
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

#[async_trait]
impl ReviewPull for GitHub {
    async fn reviews(&self, number: u64) -> Answered<Vec<Review>> {
        let path = self.path(&format!("/pulls/{number}/reviews?per_page=100"));
        let shapes: Vec<ReviewShape> = self.pages(&path, &format!("reviews of {number}")).await?;
        let known = |shape: ReviewShape| {
            let state = shape.state.clone();
            shape.review().ok_or_else(|| self.hollow(format!("a review in the state `{state}`")))
        };
        shapes.into_iter().map(known).collect()
    }

    async fn threads(&self, number: u64) -> Answered<Vec<Thread>> {
        let mut threads = Vec::new();
        for shape in self.thread_shapes(number).await? {
            threads.extend(self.thread(shape).await?);
        }
        Ok(threads)
    }

    /// From the threads, of which our own pending comments are part.
    async fn drafted(&self, number: u64, review: &str) -> Answered<Vec<String>> {
        let is_of = |comment: &CommentShape| {
            let of = comment.pull_request_review.as_ref().and_then(|of| of.full_database_id.as_deref());
            comment.state == "PENDING" && of == Some(review)
        };
        let mut drafted = Vec::new();
        for shape in self.thread_shapes(number).await? {
            // A person's reply in a long thread is its last comment, and makes the draft one that is not ours.
            let comments = self.comments_of(&shape.id, &shape.path, shape.comments).await?;
            drafted.extend(comments.into_iter().filter(is_of).map(|comment| comment.body));
        }
        Ok(drafted)
    }

    async fn submit(&self, number: u64, review: &NewReview) -> Answered<Submitted> {
        let event = match review.event {
            ReviewEvent::Comment => "COMMENT",
            ReviewEvent::Approve => "APPROVE",
            ReviewEvent::RequestChanges => "REQUEST_CHANGES",
        };
        let comments: Vec<Value> = review.comments.iter().map(entry).collect();
        let mut body = json!({ "commit_id": review.commit, "event": event, "comments": comments });
        if !review.body.is_empty() {
            body["body"] = json!(review.body);
        }
        let what = format!("a review of {number}");
        let path = self.path(&format!("/pulls/{number}/reviews"));
        let mut refused = Vec::new();
        let answer = match self.write(Phase::Publish, Method::POST, &path, Some(&body), &what).await {
            // Taken whole, or refused whole; the refusal does not say which comment it is about.
            Err(ForgeFault::Refused { status: 422, .. }) if !comments.is_empty() => {
                refused = self.unplaceable(number, &review.commit, &comments).await?;
                let placed = comments.iter().enumerate().filter(|(at, _)| !refused.contains(at)).map(|(_, comment)| comment);
                body["comments"] = placed.cloned().collect();
                self.write(Phase::Publish, Method::POST, &path, Some(&body), &what).await?
            }
            other => other?,
        };
        let shape: ReviewShape = self.made(&answer, &what)?;
        Ok(Submitted { review: shape.id.to_string(), url: shape.html_url, refused })
    }

    async fn delete_pending(&self, number: u64, review: &str) -> Answered<()> {
        let path = self.path(&format!("/pulls/{number}/reviews/{}", segment(review)));
        self.write(Phase::Publish, Method::DELETE, &path, None, &format!("review {review}")).await.map(drop)
    }

    async fn reply(&self, number: u64, thread: &Thread, body: &Outgoing) -> Answered<()> {
        // Only the top comment takes replies; a reply to a reply is refused.
        let top = thread.first().ok_or_else(|| self.hollow("a thread without a comment"))?;
        let path = self.path(&format!("/pulls/{number}/comments/{}/replies", segment(&top.id)));
        let what = format!("a reply on {}", thread.path);
        self.write(Phase::Publish, Method::POST, &path, Some(&json!({ "body": body })), &what).await.map(drop)
    }

    async fn delete_inline(&self, _number: u64, comment: &str) -> Answered<()> {
        let path = self.path(&format!("/pulls/comments/{}", segment(comment)));
        self.write(Phase::Publish, Method::DELETE, &path, None, &format!("comment {comment}")).await.map(drop)
    }
}

fn entry(comment: &NewComment) -> Value {
    let side = match comment.side {
        Side::New => "RIGHT",
        Side::Old => "LEFT",
    };
    let mut entry = json!({ "path": comment.path, "line": comment.line, "side": side, "body": comment.body });
    if let Some(start) = comment.start_line.filter(|start| *start < comment.line) {
        entry["start_line"] = json!(start);
        entry["start_side"] = json!(side);
    }
    entry
}

#[async_trait]
impl Resolve for GitHub {
    async fn resolve(&self, _number: u64, thread: &Thread) -> Answered<()> {
        self.set_resolved(graphql::RESOLVE, "resolveReviewThread", thread, true).await
    }

    async fn unresolve(&self, _number: u64, thread: &Thread) -> Answered<()> {
        self.set_resolved(graphql::UNRESOLVE, "unresolveReviewThread", thread, false).await
    }
}
