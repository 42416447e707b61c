//! Notes, discussions and reactions.

use crate::call::{Call, forbidden, missing, not_found};
use crate::position::{self, Unfit};
use crate::requests::discussion_id;
use crate::shape;
use crate::state::{Award, Discussion, MergeRequest, Note, NoteKind, Quirk, State};
use fake_forge_base::{Fate, Level, Reply};
use serde_json::{Value, json};

type Key = (u64, u64);

pub fn answer(state: &mut State, call: &mut Call<'_>, key: Key, rest: &[&str]) -> Option<Reply> {
    let request = state.requests.get_mut(&key)?;
    let method = call.request.method.clone();
    Some(match (method.as_str(), rest) {
        ("GET", ["notes"]) => list(call, request),
        ("POST", ["notes"]) => create(call, request),
        ("PUT" | "DELETE", ["notes", id]) => change(call, request, id),
        ("GET" | "POST", ["award_emoji"]) => awards(call, &mut request.awards),
        ("GET" | "POST", ["notes", id, "award_emoji"]) => match id.parse().ok().and_then(|id| request.note_mut(id)) {
            Some(note) => awards(call, &mut note.awards),
            None => not_found("Note"),
        },
        ("GET", ["discussions"]) => {
            let items = request.discussions.iter().map(|discussion| shape::discussion(call, request, discussion)).collect();
            call.paged(items)
        }
        ("POST", ["discussions"]) => discuss(call, request),
        ("PUT", ["discussions", id]) => resolve(call, request, id),
        ("POST", ["discussions", id, "notes"]) => reply(call, request, id),
        _ => return None,
    })
}

/// Newest first unless asked otherwise.
fn list(call: &mut Call<'_>, request: &MergeRequest) -> Reply {
    let mut notes: Vec<&Note> = request.notes().collect();
    notes.sort_by_key(|note| note.id);
    if call.request.query_value("sort").as_deref() != Some("asc") {
        notes.reverse();
    }
    let items = notes.into_iter().map(|note| shape::note(call, request, note)).collect();
    call.paged(items)
}

pub fn new_note(call: &mut Call<'_>, kind: NoteKind, body: String, position: Option<Value>) -> Note {
    let now = call.base.clock.tick();
    let (id, author) = (call.base.ids.fresh(), call.user());
    Note { id, kind, body, author, created_at: now.clone(), updated_at: now, resolved_by: None, position, awards: Vec::new() }
}

/// 14: asks for patience, before anything is stored.
pub fn too_fast(call: &mut Call<'_>) -> Option<Reply> {
    let said = json!({ "message": { "error": "This endpoint has been requested too many times. Try again later." } });
    call.base.faults.fires(Quirk::NoteLimit).then(|| Reply::json(429, &said).header("retry-after", "1"))
}

fn create(call: &mut Call<'_>, request: &mut MergeRequest) -> Reply {
    let Some(body) = call.text("body") else { return missing("body") };
    // A note that is nothing but a command is obeyed, and is no note.
    if body.trim() == "/request_changes" {
        let (user, now) = (call.user(), call.base.clock.tick());
        request.approvals.retain(|(by, _)| by.id != user.id);
        request.asking.insert(user.id, now);
        return Reply::json(
            202,
            &json!({ "commands_changes": {}, "summary": ["Changes requested to the current merge request."] }),
        );
    }
    if let Some(refusal) = too_fast(call) {
        return refusal;
    }
    let note = new_note(call, NoteKind::Plain, body, None);
    request.updated_at = note.created_at.clone();
    let shape = shape::note(call, request, &note);
    request.discussions.push(Discussion { id: discussion_id(note.id), notes: vec![note] });
    let fate = if call.base.faults.fires(Quirk::LostNote) { Fate::Lost } else { Fate::Sent };
    Reply::json(201, &shape).fate(fate)
}

fn change(call: &mut Call<'_>, request: &mut MergeRequest, id: &str) -> Reply {
    let Some(note) = id.parse().ok().and_then(|id| request.note_mut(id)) else { return not_found("Note") };
    if !call.is(&note.author) && call.level() < Level::Admin {
        return forbidden();
    }
    let id = note.id;
    if call.request.method == "DELETE" {
        for discussion in &mut request.discussions {
            discussion.notes.retain(|note| note.id != id);
        }
        request.discussions.retain(|discussion| !discussion.notes.is_empty());
        return Reply::empty(204);
    }
    let Some(body) = call.text("body") else { return missing("body") };
    (note.body, note.updated_at) = (body, call.base.clock.tick());
    let note = note.clone();
    Reply::json(200, &shape::note(call, request, &note))
}

fn discuss(call: &mut Call<'_>, request: &mut MergeRequest) -> Reply {
    let Some(body) = call.text("body") else { return missing("body") };
    if let Some(refusal) = too_fast(call) {
        return refusal;
    }
    let mut position = call.value("position");
    if let Some(place) = &mut position {
        if let Err(unfit) = position::check(&call.repository(), request, place) {
            return unfitting(&unfit);
        }
        position::bring_up_to_date(&call.repository(), request, place);
    }
    let kind = if position.is_some() { NoteKind::Diff } else { NoteKind::Discussion };
    let note = new_note(call, kind, body, position);
    let discussion = Discussion { id: discussion_id(note.id), notes: vec![note] };
    let shape = shape::discussion(call, request, &discussion);
    request.discussions.push(discussion);
    Reply::json(201, &shape)
}

pub fn unfitting(unfit: &Unfit) -> Reply {
    match unfit {
        Unfit::Shas => Reply::json(500, &json!({ "message": "500 Internal Server Error" })),
        Unfit::Place(field, said) => Reply::json(400, &json!({ "message": { *field: [said] } })),
    }
}

/// Developers and the author of the request.
fn resolve(call: &mut Call<'_>, request: &mut MergeRequest, id: &str) -> Reply {
    let Some(resolved) = call.flag("resolved") else { return missing("resolved") };
    let may = call.level() >= Level::Write || call.is(&request.author);
    let by = call.user();
    let Some(discussion) = request.discussions.iter_mut().find(|discussion| discussion.id == id) else {
        return not_found("Discussion");
    };
    if !may || !discussion.notes.iter().any(Note::resolvable) {
        return forbidden();
    }
    for note in discussion.notes.iter_mut().filter(|note| note.resolvable()) {
        note.resolved_by = if resolved { note.resolved_by.take().or_else(|| Some(by.clone())) } else { None };
    }
    let discussion = discussion.clone();
    Reply::json(200, &shape::discussion(call, request, &discussion))
}

/// A reply to a note that stands alone makes a conversation of it, which can be resolved.
fn reply(call: &mut Call<'_>, request: &mut MergeRequest, id: &str) -> Reply {
    let Some(body) = call.text("body") else { return missing("body") };
    if let Some(refusal) = too_fast(call) {
        return refusal;
    }
    let Some(at) = request.discussions.iter().position(|discussion| discussion.id == id) else { return not_found("Discussion") };
    let first = &mut request.discussions[at].notes[0];
    if first.kind == NoteKind::Plain {
        first.kind = NoteKind::Discussion;
    }
    let (kind, position, resolved_by) = (first.kind, first.position.clone(), first.resolved_by.clone());
    let note = Note { resolved_by, ..new_note(call, kind, body, position) };
    let shape = shape::note(call, request, &note);
    request.discussions[at].notes.push(note);
    Reply::json(201, &shape)
}

/// One of a kind for each user; the second is answered with 404.
fn awards(call: &mut Call<'_>, awards: &mut Vec<Award>) -> Reply {
    if call.request.method == "GET" {
        let items = awards.iter().map(|award| shape::award(&call.base.url, award)).collect();
        return call.paged(items);
    }
    let Some(name) = call.text("name") else { return missing("name") };
    if awards.iter().any(|award| award.name == name && call.is(&award.user)) {
        return not_found("Award Emoji Name has already been taken");
    }
    let award = Award { id: call.base.ids.fresh(), name, user: call.user() };
    let shape = shape::award(&call.base.url, &award);
    awards.push(award);
    Reply::json(201, &shape)
}
