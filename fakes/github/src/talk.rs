//! Comments under a pull request or an issue, and reactions.

use crate::Base;
use crate::model::{Comment, Key, Liked, Liking};
use crate::route::{Visit, list as paged, refuse, unprocessable};
use crate::site::{Quirk, Site};
use crate::view;
use fake_forge_base::{Level, Reply};

type Answered = Result<Reply, Reply>;

fn known(site: &Site, key: Key) -> Result<(), Reply> {
    if site.world.issues.contains_key(&key) { Ok(()) } else { Err(refuse(404, "Not Found")) }
}

pub fn list(site: &Site, base: &Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    let comments = site.world.comments.iter().filter(|comment| comment.on == key);
    Ok(paged(base, visit.request, comments.map(|comment| view::comment(base, comment)).collect()))
}

fn text(visit: &Visit<'_>) -> Result<String, Reply> {
    let body = visit.body["body"].as_str().unwrap_or_default();
    match body.chars().count() {
        0 => Err(unprocessable("Body can't be blank")),
        1..=65_536 => Ok(body.to_owned()),
        _ => Err(unprocessable("Body is too long (maximum is 65536 characters)")),
    }
}

pub fn create(site: &mut Site, base: &mut Base, visit: &Visit<'_>, key: Key) -> Answered {
    known(site, key)?;
    visit.may(base, Level::Read, "issues=write|pull_requests=write")?;
    let body = text(visit)?;
    let (id, now) = (base.ids.fresh(), base.clock.tick());
    let comment =
        Comment { id, on: key, author: visit.user(), body, created_at: now.clone(), updated_at: now.clone(), edited_at: None };
    site.world.issues.get_mut(&key).expect("the issue").updated_at = now;
    let shown = view::comment(base, &comment);
    site.world.comments.push(comment);
    Ok(Reply::json(201, &shown))
}

/// One's own, or anybody's with the right to write.
fn own(site: &Site, base: &Base, visit: &Visit<'_>, id: u64) -> Result<usize, Reply> {
    let found = site.world.comments.iter().position(|comment| comment.id == id && comment.on.0 == visit.project_id);
    let Some(index) = found else { return Err(refuse(404, "Not Found")) };
    let mine = visit.caller.id() == Some(site.world.comments[index].author);
    visit.may(base, if mine { Level::Read } else { Level::Write }, "issues=write|pull_requests=write")?;
    Ok(index)
}

pub fn edit(site: &mut Site, base: &mut Base, visit: &Visit<'_>, id: u64) -> Answered {
    let index = own(site, base, visit, id)?;
    let (text, now) = (text(visit)?, base.clock.tick());
    let comment = &mut site.world.comments[index];
    comment.body = text;
    // GitHub tells times in whole seconds.
    if !base.faults.fires(Quirk::SameSecond) {
        comment.updated_at = now.clone();
    }
    comment.edited_at = Some(now);
    Ok(Reply::json(200, &view::comment(base, comment)))
}

pub fn delete(site: &mut Site, base: &mut Base, visit: &Visit<'_>, id: u64) -> Answered {
    let index = own(site, base, visit, id)?;
    site.world.comments.remove(index);
    Ok(Reply::empty(204))
}

/// Reactions on a pull request are an App's only with the right to issues.
pub fn reactions(site: &mut Site, base: &mut Base, visit: &Visit<'_>, on: &Liked) -> Option<Answered> {
    let there = match on {
        Liked::Issue(key) => site.world.issues.contains_key(key),
        Liked::Comment(id) => site.world.comments.iter().any(|comment| comment.id == *id),
        Liked::Note(id) => site.world.notes.iter().any(|note| note.id == *id),
    };
    if !there {
        return Some(Err(refuse(404, "Not Found")));
    }
    match visit.request.method.as_str() {
        "GET" => {
            let mine = site.world.likings.iter().filter(|liking| liking.on == *on);
            Some(Ok(paged(base, visit.request, mine.map(|liking| view::liking(base, liking)).collect())))
        }
        "POST" => Some(react(site, base, visit, on)),
        _ => None,
    }
}

fn react(site: &mut Site, base: &mut Base, visit: &Visit<'_>, on: &Liked) -> Answered {
    visit.may(base, Level::Read, if matches!(on, Liked::Note(_)) { "pull_requests=write" } else { "issues=write" })?;
    let content = visit.body["content"].as_str().unwrap_or_default().to_owned();
    if !["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"].contains(&content.as_str()) {
        return Err(unprocessable("content is not included in the list"));
    }
    let same = |liking: &&Liking| liking.on == *on && liking.user == visit.user() && liking.content == content;
    // Twice the same is one, and says so.
    if let Some(liking) = site.world.likings.iter().find(same) {
        return Ok(Reply::json(200, &view::liking(base, liking)));
    }
    let (id, created_at) = (base.ids.fresh(), base.clock.tick());
    let liking = Liking { id, on: on.clone(), user: visit.user(), content, created_at };
    let shown = view::liking(base, &liking);
    site.world.likings.push(liking);
    Ok(Reply::json(201, &shown))
}
