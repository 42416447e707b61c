//! What stands before every route: limits, the version, who it is, renamed repositories, what an App's token may do, and tags.

use crate::Base;
use crate::route::refuse;
use crate::site::Quirk;
use fake_forge_base::{Fate, Level, Reply, Request, User};
use serde_json::json;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Who asks, with which rights beside their own.
pub struct Caller {
    pub user: Option<User>,
    /// What an installation's token was given; nothing for a person's.
    pub permissions: Option<Vec<String>>,
}

impl Caller {
    pub fn id(&self) -> Option<u64> {
        self.user.as_ref().map(|user| user.id)
    }

    /// An installation acts in its repositories by permission alone, a person by their level.
    pub fn may(&self, base: &Base, project: &str, level: Level, permission: &str) -> Result<(), Reply> {
        let Some(permissions) = &self.permissions else {
            if self.user.is_none() {
                return Err(refuse(401, "Requires authentication"));
            }
            if base.level(project, self.user.as_ref()) >= level {
                return Ok(());
            }
            return Err(refuse(403, "Must have push access to the repository."));
        };
        let wanted = |have: &String| *have == permission || have.replace("=write", "=read") == permission;
        let inside = permissions.iter().any(|have| *have == format!("repository={project}"));
        if inside && permission.split('|').any(|one| permissions.iter().any(|have| wanted(have) || have == one)) {
            return Ok(());
        }
        let names = permission.replace('|', "; ");
        Err(refuse(403, "Resource not accessible by integration").header("x-accepted-github-permissions", &names))
    }
}

/// Everything that may go wrong before anybody has read the request.
pub fn trouble(base: &mut Base, request: &Request) -> Option<Reply> {
    let is_get = request.method == "GET";
    if request.header("x-github-api-version").is_some() && base.faults.fires(Quirk::VersionGone) {
        return Some(refuse(
            410,
            "The API version requested is no longer supported. See https://docs.github.com/rest/about-the-rest-api/api-versions",
        ));
    }
    if is_get && base.faults.fires(Quirk::BadGateway) {
        return Some(Reply::new(502, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>"));
    }
    if base.faults.fires(Quirk::SecondaryLimit) {
        return Some(refuse(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."));
    }
    if base.faults.fires(Quirk::PrimaryLimit) {
        let reset = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |now| now.as_secs()) + 1800;
        let limited = refuse(403, "API rate limit exceeded for user ID 1.");
        return Some(limited.header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", &reset.to_string()));
    }
    None
}

pub fn caller(base: &mut Base, request: &Request) -> Result<Caller, Reply> {
    let Some(text) = request.token() else { return Ok(Caller { user: None, permissions: None }) };
    let now = base.clock.now();
    let Some(token) = base.people.find_token(&text, now).cloned() else { return Err(refuse(401, "Bad credentials")) };
    let installation = token.scopes.contains("installation");
    if installation && base.faults.fires(Quirk::TokenOver) {
        return Err(refuse(401, "Bad credentials"));
    }
    let user = base.people.by_id(token.user).cloned();
    Ok(Caller { user, permissions: installation.then(|| token.scopes.into_iter().collect()) })
}

/// 301 to the same thing by the repository's number (quirk 18). Writes are redirected just the same; following is up to the client.
pub fn moved(base: &Base, request: &Request, project: &str, rest: &str) -> Option<Reply> {
    let id = base.project(base.new_name(project)?)?.id;
    let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
    let to = format!("{}/api/v3/repositories/{id}{rest}{query}", base.url);
    let body = json!({ "message": "Moved Permanently", "url": to, "documentation_url": "https://docs.github.com/rest" });
    Some(Reply::json(if request.method == "GET" { 301 } else { 307 }, &body).header("location", &to))
}

/// What becomes of an answer on its way out.
pub fn leave(base: &mut Base, request: &Request, reply: Reply) -> Reply {
    let is_write = reply.is_write.unwrap_or(request.method != "GET");
    if is_write && (200..300).contains(&reply.status) {
        if base.faults.fires(Quirk::AnswerLost) {
            return reply.fate(Fate::Lost);
        }
        if base.faults.fires(Quirk::StoredThenBadGateway) {
            return Reply::new(502, "text/html", "<html><body><h1>502 Bad Gateway</h1></body></html>");
        }
    }
    if request.method != "GET" || reply.status != 200 {
        return reply;
    }
    // A tag belongs to the token it was given to (quirk 8).
    let mut hash = DefaultHasher::new();
    (&reply.body, request.token()).hash(&mut hash);
    let tag = format!("\"{:016x}\"", hash.finish());
    if request.header("if-none-match") == Some(tag.as_str()) {
        return Reply::empty(304).header("etag", &tag);
    }
    reply.header("etag", &tag)
}
