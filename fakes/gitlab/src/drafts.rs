//! Draft notes: seen by their author alone, published together.

use crate::call::{Call, missing, not_found};
use crate::notes::{new_note, too_fast, unfitting};
use crate::position::{self, bring_up_to_date};
use crate::requests::discussion_id;
use crate::shape;
use crate::state::{Discussion, Draft, MergeRequest, NoteKind, Quirk, State};
use fake_forge_base::{Fate, Reply};
use serde_json::json;

pub fn answer(state: &mut State, call: &mut Call<'_>, key: (u64, u64), rest: &[&str]) -> Option<Reply> {
    let request = state.requests.get_mut(&key)?;
    let method = call.request.method.clone();
    Some(match (method.as_str(), rest) {
        ("GET", []) => {
            let own = request.drafts.iter().filter(|draft| call.is(&draft.author));
            let items = own.map(|draft| shape::draft(request, draft)).collect();
            call.paged(items)
        }
        ("POST", []) => create(call, request),
        ("POST", ["bulk_publish"]) => publish(call, request),
        ("DELETE", [id]) => {
            let before = request.drafts.len();
            request.drafts.retain(|draft| draft.id.to_string() != *id || !call.is(&draft.author));
            if request.drafts.len() < before { Reply::empty(204) } else { not_found("DraftNote") }
        }
        _ => return None,
    })
}

fn create(call: &mut Call<'_>, request: &mut MergeRequest) -> Reply {
    let Some(body) = call.text("note") else { return missing("note") };
    if let Some(refusal) = too_fast(call) {
        return refusal;
    }
    if call.base.faults.fires(Quirk::BrokenDraft) {
        return Reply::json(500, &json!({ "message": "500 Internal Server Error" }));
    }
    let mut position = call.value("position");
    if let Some(place) = &position {
        if let Err(unfit) = position::check(&call.repository(), request, place) {
            return unfitting(&unfit);
        }
        if call.base.faults.fires(Quirk::PlacelessDraft) {
            position = None;
        }
    }
    let reply_to = call.text("in_reply_to_discussion_id");
    let draft = Draft { id: call.base.ids.fresh(), author: call.user(), body, position, reply_to };
    let shape = shape::draft(request, &draft);
    request.drafts.push(draft);
    Reply::json(201, &shape)
}

/// All of the caller's, whoever wrote them and why.
fn publish(call: &mut Call<'_>, request: &mut MergeRequest) -> Reply {
    let (own, others) = std::mem::take(&mut request.drafts).into_iter().partition::<Vec<_>, _>(|draft| call.is(&draft.author));
    request.drafts = others;
    for draft in own {
        let mut position = draft.position;
        if let Some(place) = &mut position {
            bring_up_to_date(&call.repository(), request, place);
        }
        let kind = if position.is_some() { NoteKind::Diff } else { NoteKind::Plain };
        let note = new_note(call, kind, draft.body, position);
        request.updated_at = note.created_at.clone();
        match request.discussions.iter_mut().find(|discussion| Some(&discussion.id) == draft.reply_to.as_ref()) {
            Some(discussion) => discussion.notes.push(note),
            None => request.discussions.push(Discussion { id: discussion_id(note.id), notes: vec![note] }),
        }
    }
    let fate = if call.base.faults.fires(Quirk::LostPublish) { Fate::Lost } else { Fate::Sent };
    Reply::empty(204).fate(fate)
}
