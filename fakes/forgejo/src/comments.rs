//! Plain comments and reactions. Code comments can be read, edited and deleted by the same routes.

use crate::call::{Call, forbidden, not_found};
use crate::shape;
use crate::state::{Comment, Quirk, Reaction, State};
use fake_forge_base::{Fate, Level, Reply, User};
use serde_json::Value;

type Key = (u64, u64);

/// 3.x.10: everything at once, whatever page was asked for.
pub fn list(state: &State, call: &Call<'_>, key: Key) -> Reply {
    let issue = &state.issues[&key];
    let shaped: Vec<Value> = issue.comments.iter().map(|comment| shape::comment(call, issue.number, comment)).collect();
    let total = shaped.len().to_string();
    Reply::json(200, &Value::Array(shaped)).header("x-total-count", &total)
}

pub fn create(state: &mut State, call: &mut Call<'_>, key: Key) -> Reply {
    let now = call.base.clock.tick();
    let comment = Comment {
        id: call.base.ids.fresh(),
        author: call.user(),
        body: call.text("body").unwrap_or_default(),
        created_at: now.clone(),
        updated_at: now.clone(),
        reactions: Vec::new(),
    };
    let shape = shape::comment(call, key.1, &comment);
    let issue = state.issues.get_mut(&key).expect("looked up before");
    issue.comments.push(comment);
    issue.updated_at = now;
    let fate = if call.base.faults.fires(Quirk::LostComment) { Fate::Lost } else { Fate::Sent };
    Reply::json(201, &shape).fate(fate)
}

/// What a plain comment and a code comment have in common.
struct Found<'a> {
    author: User,
    body: &'a mut String,
    updated_at: &'a mut String,
    reactions: &'a mut Vec<Reaction>,
    number: u64,
    created_at: String,
}

fn find(state: &mut State, project: u64, id: u64) -> Option<Found<'_>> {
    for issue in state.issues.values_mut().filter(|issue| issue.project == project) {
        let number = issue.number;
        if let Some(comment) = issue.comments.iter_mut().find(|comment| comment.id == id) {
            let (author, created_at) = (comment.author.clone(), comment.created_at.clone());
            let Comment { body, updated_at, reactions, .. } = comment;
            return Some(Found { author, body, updated_at, reactions, number, created_at });
        }
        let code = issue.pull.iter_mut().flat_map(|pull| &mut pull.reviews).flat_map(|review| &mut review.comments);
        if let Some(comment) = { code }.find(|comment| comment.id == id) {
            let (author, created_at) = (comment.author.clone(), comment.created_at.clone());
            let (body, updated_at, reactions) = (&mut comment.body, &mut comment.updated_at, &mut comment.reactions);
            return Some(Found { author, body, updated_at, reactions, number, created_at });
        }
    }
    None
}

/// 3.x.7: whoever may write may also change what others said, and it still shows their name.
pub fn one(state: &mut State, call: &mut Call<'_>, id: u64, rest: &[&str]) -> Option<Reply> {
    let Some(found) = find(state, call.project, id) else { return Some(not_found()) };
    let may = call.is(&found.author) || call.level() >= Level::Write;
    Some(match (call.request.method.as_str(), rest) {
        (_, ["reactions"]) => react(call, found.reactions),
        ("PATCH" | "DELETE", []) if !may => forbidden("user should have permission to edit the comment"),
        ("DELETE", []) => {
            drop_comment(state, id);
            Reply::empty(204)
        }
        ("GET" | "PATCH", []) => {
            if call.request.method == "PATCH" {
                *found.body = call.text("body").unwrap_or_default();
                *found.updated_at = call.base.clock.tick();
            }
            let (body, updated_at) = (found.body.clone(), found.updated_at.clone());
            let comment =
                Comment { id, author: found.author, body, created_at: found.created_at, updated_at, reactions: Vec::new() };
            Reply::json(200, &shape::comment(call, found.number, &comment))
        }
        _ => return None,
    })
}

fn drop_comment(state: &mut State, id: u64) {
    for issue in state.issues.values_mut() {
        issue.comments.retain(|comment| comment.id != id);
        for review in issue.pull.iter_mut().flat_map(|pull| &mut pull.reviews) {
            review.comments.retain(|comment| comment.id != id);
        }
    }
}

/// 201 for a new one, 200 for one that was there.
pub fn react(call: &mut Call<'_>, reactions: &mut Vec<Reaction>) -> Reply {
    if call.request.method == "GET" {
        return call.paged(reactions.iter().map(|reaction| shape::reaction(&call.base.url, reaction)).collect());
    }
    let content = call.text("content").unwrap_or_default();
    if !["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"].contains(&content.as_str()) {
        return forbidden("content is not an allowed reaction");
    }
    let there = reactions.iter().find(|reaction| reaction.content == content && call.is(&reaction.user));
    if let Some(there) = there {
        return Reply::json(200, &shape::reaction(&call.base.url, there));
    }
    let reaction = Reaction { user: call.user(), content, created_at: call.base.clock.tick() };
    let shape = shape::reaction(&call.base.url, &reaction);
    reactions.push(reaction);
    Reply::json(201, &shape)
}
