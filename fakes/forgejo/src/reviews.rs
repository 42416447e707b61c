//! Reviews. There is one pending review for each user, into which comments are put one by one; whatever is in it when a review is
//! submitted goes out with it.

use crate::call::{Call, forbidden, not_found, refuse};
use crate::shape;
use crate::state::{CodeComment, Issue, Pull, Quirk, Review, ReviewKind, State};
use fake_forge_base::{Fate, Level, Reply, User};
use serde_json::{Value, json};

type Key = (u64, u64);

pub fn answer(state: &mut State, call: &mut Call<'_>, key: Key, rest: &[&str]) -> Option<Reply> {
    let issue = state.issues.get_mut(&key)?;
    let method = call.request.method.clone();
    Some(match (method.as_str(), rest) {
        ("GET", []) => list(call, issue),
        ("POST", []) => create(call, issue),
        (_, [id, rest @ ..]) => {
            let id: u64 = id.parse().ok()?;
            let sees = |review: &&Review| review.id == id && is_seen(call, review);
            let Some(review) = issue.pull.as_ref()?.reviews.iter().find(sees).cloned() else { return Some(not_found()) };
            match (method.as_str(), rest) {
                ("GET", []) => Reply::json(200, &shape::review(call, issue.number, head(issue), &review)),
                ("POST", []) => submit_later(call, issue, id),
                ("DELETE", []) => remove(call, issue, &review),
                ("GET", ["comments"]) => comments(call, issue.number, &review),
                ("POST", ["comments"]) => add(call, issue, &review),
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn head(issue: &Issue) -> &str {
    issue.pull.as_ref().map_or("", |pull| &pull.head)
}

/// What was never submitted is seen by its author and by those who run the place.
fn is_seen(call: &Call<'_>, review: &Review) -> bool {
    review.kind != ReviewKind::Pending || call.is(&review.author) || call.level() >= Level::Admin
}

/// 3.x.10: in pages, but without a link to the next; the total counts other people's drafts.
fn list(call: &Call<'_>, issue: &Issue) -> Reply {
    let reviews = issue.pull.as_ref().map_or(&[][..], |pull| &pull.reviews);
    let seen = reviews.iter().filter(|review| is_seen(call, review));
    let mut reply = call.paged(seen.map(|review| shape::review(call, issue.number, head(issue), review)).collect());
    reply.headers.remove("link");
    reply.header("x-total-count", &reviews.len().to_string())
}

/// What was submitted. Each page is counted by itself. Nobody pushes through this server by name: the
/// tests' own git does, and that is nobody's event.
pub fn events(call: &Call<'_>, issue: &Issue) -> Reply {
    let reviews = issue.pull.as_ref().map_or(&[][..], |pull| &pull.reviews);
    let submitted = reviews.iter().filter(|review| review.kind != ReviewKind::Pending);
    let event = |review: &Review| json!({ "id": review.id, "type": "review", "user": shape::user(&call.base.url, &review.author), "review_id": review.id });
    let change = |(at, by): &(String, User)| json!({ "type": "change_target_branch", "created_at": at, "user": shape::user(&call.base.url, by) });
    let changes = issue.pull.iter().flat_map(|pull| &pull.base_changes).map(change);
    let page = call.paged(submitted.map(event).chain(changes).collect());
    let shown: Vec<Value> = serde_json::from_slice(&page.body).unwrap_or_default();
    let count = shown.len().to_string();
    Reply::json(200, &Value::Array(shown)).header("x-total-count", &count)
}

/// 3.x.5: in no order.
fn comments(call: &Call<'_>, number: u64, review: &Review) -> Reply {
    let shaped = review.comments.iter().rev().map(|comment| shape::code_comment(call, number, review.id, comment));
    Reply::json(200, &Value::Array(shaped.collect()))
}

fn create(call: &mut Call<'_>, issue: &mut Issue) -> Reply {
    let kind = ReviewKind::read(&call.text("event").unwrap_or_default());
    let body = call.text("body").unwrap_or_default();
    let wanted = call.body["comments"].as_array().cloned().unwrap_or_default();
    if let Some(refusal) = refused(call, issue, kind, &body, !wanted.is_empty()) {
        return refusal;
    }
    let number = issue.number;
    let pull = issue.pull.as_mut().expect("looked up before");
    let commit = call.text("commit_id").filter(|sha| !sha.is_empty()).unwrap_or_else(|| pull.head.clone());
    let at = pending(call, pull, &commit);
    // 3.x.3: a commit that is not there fails after the pending review was made.
    let known = call.repository().rev(&commit).is_some();
    let broken = !wanted.is_empty() && call.base.faults.fires(Quirk::HalfReview);
    let cut = !wanted.is_empty() && call.base.faults.fires(Quirk::CutReview);
    let stop = if broken || cut { wanted.len() / 2 } else { wanted.len() };
    let mixed = call.base.faults.fires(Quirk::MixedReview);
    for entry in wanted.iter().take(if known { stop } else { 0 }) {
        match code_comment(call, &commit, entry) {
            Some(comment) => pull.reviews[at].comments.push(comment),
            None => return failed(),
        }
    }
    if cut {
        return failed().fate(Fate::Lost);
    }
    if broken || !known {
        return failed();
    }
    if mixed {
        // The other one's: it was quicker to submit what we had put there.
        let (mut other, user) = (pull.reviews.remove(at), call.user());
        (other.kind, other.submitted_at) = (ReviewKind::Comment, call.base.clock.tick());
        pull.reviews.push(other);
        let id = call.base.ids.fresh();
        pull.reviews.push(new_review(id, user, &commit));
    }
    let at = pending(call, pull, &commit);
    let now = call.base.clock.tick();
    let mut review = pull.reviews.remove(at);
    (review.kind, review.body, review.commit, review.submitted_at) = (kind, body, commit, now.clone());
    let (head, shape) = (pull.head.clone(), review.clone());
    pull.reviews.push(review);
    issue.updated_at = now;
    let fate = if call.base.faults.fires(Quirk::LostReview) { Fate::Lost } else { Fate::Sent };
    Reply::json(200, &shape::review(call, number, &head, &shape)).fate(fate)
}

fn failed() -> Reply {
    refuse(500, "Internal Server Error")
}

fn refused(call: &Call<'_>, issue: &Issue, kind: ReviewKind, body: &str, has_comments: bool) -> Option<Reply> {
    let own = call.is(&issue.author);
    let said = match kind {
        ReviewKind::Approved if own => "approve your own pull is not allowed",
        ReviewKind::RequestChanges if own => "reject your own pull is not allowed",
        ReviewKind::Approved | ReviewKind::RequestChanges if !issue.open => "you can't approve or reject a closed pull",
        ReviewKind::RequestChanges if body.trim().is_empty() => "review event REQUEST_CHANGES requires a body",
        ReviewKind::Comment if body.trim().is_empty() && !has_comments => "review event COMMENT requires a body or a comment",
        ReviewKind::Approved | ReviewKind::RequestChanges | ReviewKind::Comment | ReviewKind::Pending => return None,
    };
    Some(Reply::json(422, &json!({ "message": said, "url": "/api/swagger" })))
}

fn new_review(id: u64, author: User, commit: &str) -> Review {
    let (commit, submitted_at) = (commit.to_owned(), "0001-01-01T00:00:00Z".to_owned());
    Review { id, author, kind: ReviewKind::Pending, body: String::new(), commit, submitted_at, comments: Vec::new() }
}

/// Where the caller's pending review is; it is made when there is none.
fn pending(call: &mut Call<'_>, pull: &mut Pull, commit: &str) -> usize {
    let own = |review: &Review| review.kind == ReviewKind::Pending && call.is(&review.author);
    if let Some(at) = pull.reviews.iter().position(own) {
        return at;
    }
    let (id, user) = (call.base.ids.fresh(), call.user());
    pull.reviews.push(new_review(id, user, commit));
    pull.reviews.len() - 1
}

/// Nothing when the line lies behind the end of its file. A path that does not exist is fine.
fn code_comment(call: &mut Call<'_>, commit: &str, entry: &Value) -> Option<CodeComment> {
    let number = |name: &str| entry[name].as_i64().unwrap_or_default();
    let line = if number("old_position") > 0 { -number("old_position") } else { number("new_position") };
    let path = entry["path"].as_str().unwrap_or_default().to_owned();
    let repository = call.repository();
    let mut blamed = commit.to_owned();
    if line > 0 && repository.file(commit, &path).is_some() {
        let range = format!("{line},{line}");
        let blame = repository.try_run(&["blame", "--porcelain", "-L", &range, commit, "--", &path])?;
        blamed = blame.split(' ').next()?.to_owned();
    }
    let now = call.base.clock.tick();
    Some(CodeComment {
        id: call.base.ids.fresh(),
        author: call.user(),
        path,
        line,
        extra_lines: entry["extra_lines_count"].as_u64().unwrap_or_default(),
        body: entry["body"].as_str().unwrap_or_default().to_owned(),
        blamed,
        hunk: String::new(),
        created_at: now.clone(),
        updated_at: now,
        reactions: Vec::new(),
    })
}

fn submit_later(call: &mut Call<'_>, issue: &mut Issue, id: u64) -> Reply {
    let kind = ReviewKind::read(&call.text("event").unwrap_or_default());
    let body = call.text("body").unwrap_or_default();
    let review = issue.pull.as_ref().and_then(|pull| pull.reviews.iter().find(|review| review.id == id)).cloned();
    let Some(review) = review.filter(|review| review.kind == ReviewKind::Pending) else {
        return refuse(422, "only a pending review can be submitted");
    };
    if let Some(refusal) = refused(call, issue, kind, &body, !review.comments.is_empty()) {
        return refusal;
    }
    let number = issue.number;
    let pull = issue.pull.as_mut().expect("looked up before");
    let review = pull.reviews.iter_mut().find(|review| review.id == id).expect("looked up before");
    (review.kind, review.body, review.submitted_at) = (kind, body, call.base.clock.tick());
    let review = review.clone();
    Reply::json(200, &shape::review(call, number, &pull.head, &review))
}

fn remove(call: &Call<'_>, issue: &mut Issue, review: &Review) -> Reply {
    if !call.is(&review.author) && call.level() < Level::Admin {
        return forbidden("only the author or an admin may delete a review");
    }
    if let Some(pull) = &mut issue.pull {
        pull.reviews.retain(|kept| kept.id != review.id);
    }
    Reply::empty(204)
}

/// What Gitea has not: a comment for a review that is already there, by anybody. On the same line it joins the conversation.
fn add(call: &mut Call<'_>, issue: &mut Issue, review: &Review) -> Reply {
    let entry = call.body.clone();
    let Some(comment) = code_comment(call, &review.commit, &entry) else { return failed() };
    let shape = shape::code_comment(call, issue.number, review.id, &comment);
    let pull = issue.pull.as_mut().expect("looked up before");
    if let Some(kept) = pull.reviews.iter_mut().find(|kept| kept.id == review.id) {
        kept.comments.push(comment);
    }
    issue.updated_at = call.base.clock.tick();
    Reply::json(200, &shape)
}

pub fn ask(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let issue = state.issues.get_mut(&key).expect("looked up before");
    if call.level() < Level::Write && !call.is(&issue.author) {
        return forbidden("user should have permission to request a review");
    }
    let pull = issue.pull.as_mut().expect("looked up before");
    for login in call.body["reviewers"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let Some(user) = call.base.people.by_login(login) else { return not_found() };
        if user.id == issue.author.id {
            return refuse(422, "poster of pr can't be reviewer");
        }
        if !pull.reviewers.iter().any(|known| known.id == user.id) {
            pull.reviewers.push(user.clone());
        }
    }
    Reply::json(201, &json!([]))
}
