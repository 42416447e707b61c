//! Reviews and what stands on lines. A review is taken whole or not at all, and the refusal does not say which entry it was (quirk 1).

use crate::Base;
use crate::model::{Anchor, Draft, Key, Note};
use crate::pulls::known;
use crate::route::{Visit, list as paged, refuse, unprocessable};
use crate::site::Site;
use crate::view;
use fake_forge_base::{Diff, Level, Mark, Reply};
use serde_json::Value;

type Answered = Result<Reply, Reply>;

pub fn list(site: &Site, base: &Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let shown = site.world.reviews.iter().filter(|review| review.on == key && site.world.is_shown(review.id, visit.caller.id()));
    Ok(paged(base, visit.request, shown.map(|review| view::review(base, review)).collect()))
}

/// Every comment on lines, of all reviews.
pub fn comments(site: &Site, base: &Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let shown = |note: &&Note| {
        let thread = site.world.thread_of(note);
        thread.on == key && !thread.invisible && site.world.review(note.review).is_some_and(|review| review.state != "PENDING")
    };
    let notes = site.world.notes.iter().filter(shown).map(|note| view::note(site, base, note)).collect();
    Ok(paged(base, visit.request, notes))
}

/// Why GitHub would not take a comment there.
pub fn refusal(diff: &Diff, anchor: &Anchor) -> Option<&'static str> {
    let Some(file) = diff.file(&anchor.path).filter(|file| file.new_path == anchor.path) else {
        return Some("Pull request review thread path is invalid");
    };
    let line = anchor.line?;
    if file.hunks.is_empty() {
        return Some("Pull request review thread diff hunk can't be blank");
    }
    // Unchanged lines are counted on the right; on the left only what was deleted is.
    let hunk_of = |line: u32| {
        file.hunks.iter().position(|hunk| {
            hunk.lines.iter().any(|entry| match anchor.side.as_str() {
                "LEFT" => entry.mark == Mark::Deleted && entry.old == Some(line),
                _ => entry.new == Some(line),
            })
        })
    };
    let Some(hunk) = hunk_of(line) else { return Some("Pull request review thread line must be part of the diff") };
    match anchor.start_line {
        None => None,
        Some(start) if start >= line => Some("Pull request review thread start line must precede the end line."),
        Some(start) if hunk_of(start) != Some(hunk) => {
            Some("Pull request review thread start line must be part of the same hunk as the line.")
        }
        Some(_) => None,
    }
}

pub fn hunk_text(diff: &Diff, anchor: &Anchor) -> String {
    let Some((file, line)) = diff.file(&anchor.path).zip(anchor.line) else { return String::new() };
    let index = if anchor.side == "LEFT" { file.hunk_of_old(line) } else { file.hunk_of_new(line) };
    let Some(hunk) = index.and_then(|index| file.hunks.get(index)) else { return String::new() };
    let mut text = hunk.header.clone();
    for entry in &hunk.lines {
        let sign = match entry.mark {
            Mark::Context => ' ',
            Mark::Added => '+',
            Mark::Deleted => '-',
        };
        text.push_str(&format!("\n{sign}{}", entry.text));
        if (if anchor.side == "LEFT" { entry.old } else { entry.new }) == Some(line) {
            break;
        }
    }
    text
}

fn draft(entry: &Value) -> Result<Draft, Reply> {
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    let number = |name: &str| entry[name].as_u64().and_then(|line| u32::try_from(line).ok());
    let (Some(path), Some(body)) = (text("path"), text("body").filter(|body| !body.is_empty())) else {
        return Err(unprocessable("Pull request review thread body can't be blank"));
    };
    let side = text("side").unwrap_or_else(|| "RIGHT".into());
    if text("start_side").is_some_and(|start| start != side) {
        return Err(unprocessable("Pull request review thread start side must be the side of the line."));
    }
    let Some(line) = number("line") else { return Err(unprocessable("Pull request review thread position is invalid")) };
    Ok(Draft { anchor: Anchor { path, side, line: Some(line), start_line: number("start_line") }, body })
}

pub fn create(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    // Anybody who can see a pull request may comment on it; what an approval counts for is another matter.
    visit.may(base, Level::Read, "pull_requests=write")?;
    let user = visit.user();
    let pull = site.world.pulls[&key].clone();
    let is_author = site.world.issues[&key].author == user;
    let body = visit.body["body"].as_str().unwrap_or_default();
    let entries: Vec<&Value> = visit.body["comments"].as_array().into_iter().flatten().collect();
    let state = match visit.body["event"].as_str() {
        None => "PENDING",
        Some("APPROVE") if is_author => return Err(unprocessable("Can not approve your own pull request")),
        Some("REQUEST_CHANGES") if is_author => return Err(unprocessable("Can not request changes on your own pull request")),
        Some("APPROVE") => "APPROVED",
        Some("REQUEST_CHANGES") if !body.is_empty() => "CHANGES_REQUESTED",
        Some("COMMENT") if !body.is_empty() || !entries.is_empty() => "COMMENTED",
        Some(_) => return Err(unprocessable("Review body can't be blank")),
    };
    let pending = |review: &crate::model::Review| review.on == key && review.author == user && review.state == "PENDING";
    if site.world.reviews.iter().any(pending) {
        return Err(unprocessable("User can only have one pending review per pull request"));
    }
    let commit = visit.body["commit_id"].as_str().unwrap_or(&pull.head_sha).to_owned();
    let repository = base.repository(&visit.project);
    let reachable = repository.commits(&pull.base_branch, &pull.head_sha).contains(&commit) || repository.rev(&commit).is_some();
    if !reachable {
        return Err(unprocessable("The commit is not part of the pull request"));
    }
    let drafts = entries.iter().map(|entry| draft(entry)).collect::<Result<Vec<Draft>, Reply>>()?;
    let diff = repository.diff(&pull.base_branch, &commit);
    if let Some(words) = drafts.iter().find_map(|draft| refusal(&diff, &draft.anchor)) {
        return Err(unprocessable(words));
    }
    let id = site.store_review(base, key, user, body, state, &commit, &drafts);
    site.world.issues.get_mut(&key).expect("the pull").updated_at = base.clock.text();
    Ok(Reply::json(200, &view::review(base, site.world.review(id).expect("just made"))))
}

pub fn delete(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key, id: u64) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Read, "pull_requests=write")?;
    let shown = site.world.review(id).filter(|review| review.on == key && site.world.is_shown(id, visit.caller.id()));
    let Some(review) = shown.cloned() else { return Err(refuse(404, "Not Found")) };
    if review.state != "PENDING" {
        return Err(unprocessable("Can not delete a non-pending pull request review"));
    }
    let gone: Vec<u64> = site.world.notes.iter().filter(|note| note.review == id).map(|note| note.thread).collect();
    site.world.notes.retain(|note| note.review != id);
    let left: Vec<u64> = site.world.notes.iter().map(|note| note.thread).collect();
    site.world.threads.retain(|thread| !gone.contains(&thread.id) || left.contains(&thread.id));
    site.world.reviews.retain(|review| review.id != id);
    Ok(Reply::json(200, &view::review(base, &review)))
}

/// A reply is a review of its own, without a body.
pub fn reply(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key, top: u64) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Read, "pull_requests=write")?;
    let found = site.world.notes.iter().find(|note| note.id == top && site.world.thread_of(note).on == key).cloned();
    let Some(first) = found else { return Err(refuse(404, "Not Found")) };
    if first.reply_to.is_some() {
        return Err(unprocessable("Cannot reply to a reply"));
    }
    let body = visit.body["body"].as_str().unwrap_or_default().to_owned();
    if body.is_empty() {
        return Err(unprocessable("Body can't be blank"));
    }
    let commit = site.world.pulls[&key].head_sha.clone();
    let review = site.store_review(base, key, visit.user(), "", "COMMENTED", &commit, &[]);
    let (id, created_at) = (base.ids.fresh(), base.clock.text());
    let note = Note { id, thread: first.thread, review, author: visit.user(), body, created_at, reply_to: Some(top) };
    let shown = view::note(site, base, &note);
    site.world.notes.push(note);
    Ok(Reply::json(201, &shown))
}

/// One's own, or anybody's with the right to write. The thread goes with its last comment.
pub fn delete_comment(site: &mut Site, base: &mut Base, visit: &Visit<'_>, id: u64) -> Answered {
    let found = site.world.notes.iter().find(|note| note.id == id && site.world.thread_of(note).on.0 == visit.project_id);
    let Some(note) = found.cloned() else { return Err(refuse(404, "Not Found")) };
    let mine = visit.caller.id() == Some(note.author);
    visit.may(base, if mine { Level::Read } else { Level::Write }, "pull_requests=write")?;
    site.world.notes.retain(|other| other.id != id);
    if !site.world.notes.iter().any(|other| other.thread == note.thread) {
        site.world.threads.retain(|thread| thread.id != note.thread);
    }
    Ok(Reply::empty(204))
}
