//! Issues, which are numbered apart from merge requests.

use crate::call::{Call, forbidden, missing, not_found};
use crate::notes::new_note;
use crate::shape;
use crate::state::{Issue, NoteKind, State};
use fake_forge_base::{Level, Reply};

pub fn answer(state: &mut State, call: &mut Call<'_>, rest: &[&str]) -> Option<Reply> {
    Some(match (call.request.method.as_str(), rest) {
        ("GET", []) => list(state, call),
        ("POST", []) => create(state, call),
        ("GET" | "PUT", [number]) => {
            let number: u64 = number.parse().ok()?;
            let found = state.issues.iter_mut().find(|issue| issue.project == call.project && issue.iid == number);
            let Some(issue) = found else { return Some(not_found("Issue")) };
            if call.request.method == "PUT" {
                if call.level() < Level::Triage && !call.is(&issue.author) {
                    return Some(forbidden());
                }
                change(call, issue);
            }
            Reply::json(200, &shape::issue(call, issue))
        }
        ("GET" | "POST", [number, "notes"]) => {
            let number: u64 = number.parse().ok()?;
            let found = state.issues.iter_mut().find(|issue| issue.project == call.project && issue.iid == number);
            let Some(issue) = found else { return Some(not_found("Issue")) };
            notes(call, issue)
        }
        _ => return None,
    })
}

fn list(state: &State, call: &mut Call<'_>) -> Reply {
    let words = call.request.query_value("search").unwrap_or_default().to_lowercase();
    let fits = |issue: &&Issue| {
        let text = format!("{} {}", issue.title, issue.description).to_lowercase();
        let recent = call.request.query_value("updated_after").is_none_or(|since| issue.updated_at >= since);
        issue.project == call.project && recent && words.split_whitespace().all(|word| text.contains(word))
    };
    // Newest first, as everywhere in lists of issues.
    let items = state.issues.iter().rev().filter(fits).map(|issue| shape::issue(call, issue)).collect();
    call.paged(items)
}

fn create(state: &mut State, call: &mut Call<'_>) -> Reply {
    let Some(title) = call.text("title") else { return missing("title") };
    let iid = state.issues.iter().filter(|issue| issue.project == call.project).count() as u64 + 1;
    let (id, description) = (call.base.ids.fresh(), call.text("description").unwrap_or_default());
    let labels = split(&call.text("labels").unwrap_or_default());
    let now = call.base.clock.tick();
    let issue = Issue {
        id,
        iid,
        project: call.project,
        title,
        description,
        author: call.user(),
        open: true,
        labels,
        notes: Vec::new(),
        created_at: now.clone(),
        updated_at: now,
        closed_at: None,
    };
    let reply = Reply::json(201, &shape::issue(call, &issue));
    state.issues.push(issue);
    reply
}

/// Newest first unless asked otherwise.
fn notes(call: &mut Call<'_>, issue: &mut Issue) -> Reply {
    if call.request.method == "POST" {
        let Some(body) = call.text("body") else { return missing("body") };
        let note = new_note(call, NoteKind::Plain, body, None);
        let reply = Reply::json(201, &shape::issue_note(call, issue, &note));
        issue.notes.push(note);
        return reply;
    }
    let mut shown: Vec<_> = issue.notes.iter().map(|note| shape::issue_note(call, issue, note)).collect();
    if call.request.query_value("sort").as_deref() != Some("asc") {
        shown.reverse();
    }
    call.paged(shown)
}

fn change(call: &mut Call<'_>, issue: &mut Issue) {
    let now = call.base.clock.tick();
    issue.updated_at.clone_from(&now);
    match call.text("state_event").as_deref() {
        Some("close") => (issue.open, issue.closed_at) = (false, Some(now)),
        Some("reopen") => (issue.open, issue.closed_at) = (true, None),
        _ => {}
    }
    relabel(call, &mut issue.labels);
}

/// `add_labels` and `remove_labels`, which are lists with commas.
pub fn relabel(call: &Call<'_>, labels: &mut Vec<String>) {
    let removed = split(&call.text("remove_labels").unwrap_or_default());
    labels.retain(|label| !removed.contains(label));
    for label in split(&call.text("add_labels").unwrap_or_default()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
}

fn split(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned).collect()
}
