//! Commit statuses: only ever added. The combined answer knows the latest of each name.

use crate::call::{Call, forbidden, not_found, refuse};
use crate::shape;
use crate::state::{State, Status};
use fake_forge_base::{Level, Reply, page};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// From bad to good: the worst one is that of all.
const ORDER: [&str; 6] = ["error", "failure", "warning", "pending", "success", "skipped"];

fn of_commit<'a>(state: &'a State, call: &Call<'_>, sha: &str) -> Vec<&'a Status> {
    state.statuses.iter().filter(|status| status.project == call.project && status.sha == sha).collect()
}

pub fn combined(state: &State, call: &Call<'_>, name: &str) -> Reply {
    let Some(sha) = call.repository().rev(name) else { return not_found() };
    let mut latest: BTreeMap<&str, &Status> = BTreeMap::new();
    for status in of_commit(state, call, &sha) {
        latest.insert(&status.context, status);
    }
    let worst = ORDER.iter().find(|word| latest.values().any(|status| status.state == **word));
    let shaped: Vec<Value> = latest.values().map(|status| shape::status(call, status)).collect();
    let paged = page(shaped, call.request, &call.base.url, &["limit"], 30, 50);
    let body = json!({
        // Without any status the word is missing, which is sent as an empty text.
        "state": worst.copied().unwrap_or("pending"),
        "sha": sha,
        "total_count": paged.total,
        "statuses": paged.items,
        "repository": shape::repository(call, &call.path),
        "commit_url": format!("{}/commits/{sha}", call.api()),
        "url": format!("{}/commits/{sha}/status", call.api()),
    });
    let reply = Reply::json(200, &body).header("x-total-count", &paged.total.to_string());
    match paged.link {
        Some(link) => reply.header("link", &link),
        None => reply,
    }
}

/// Oldest first.
pub fn list(state: &State, call: &Call<'_>, sha: &str) -> Reply {
    let Some(sha) = call.repository().rev(sha) else { return not_found() };
    call.paged(of_commit(state, call, &sha).into_iter().map(|status| shape::status(call, status)).collect())
}

/// 3.x.11: a commit that is not there is a failure of the server.
pub fn set(state: &mut State, call: &mut Call<'_>, sha: &str) -> Reply {
    if call.level() < Level::Write {
        return forbidden("user should have write permission");
    }
    let Some(sha) = call.repository().rev(sha) else { return refuse(500, "object does not exist") };
    let text = |name: &str| call.text(name).unwrap_or_default();
    let (context, wanted, description, target_url) = (text("context"), text("state"), text("description"), text("target_url"));
    let status = Status {
        id: call.base.ids.fresh(),
        project: call.project,
        sha,
        context: if context.is_empty() { "default".into() } else { context },
        state: wanted,
        description,
        target_url,
        creator: call.user(),
        created_at: call.base.clock.tick(),
    };
    let reply = Reply::json(201, &shape::status(call, &status));
    state.statuses.push(status);
    reply
}
