//! Commit statuses. A state machine: what waits cannot be set to waiting, and what is over is followed by a new one.

use crate::call::{Call, forbidden, missing, not_found, refuse};
use crate::shape;
use crate::state::{State, Status};
use fake_forge_base::{Level, Reply};
use std::collections::BTreeMap;

const STATES: [&str; 6] = ["pending", "running", "success", "failed", "canceled", "skipped"];

pub fn list(state: &State, call: &mut Call<'_>, sha: &str) -> Reply {
    let Some(sha) = call.repository().rev(sha) else { return not_found("Commit") };
    let mut newest: BTreeMap<&str, &Status> = BTreeMap::new();
    for status in state.statuses.iter().filter(|status| status.project == call.project && status.sha == sha) {
        newest.insert(&status.name, status);
    }
    let items = newest.into_values().map(|status| shape::status(&call.base.url, status)).collect();
    call.paged(items)
}

/// What a job printed. A status that somebody set is none.
pub fn trace(state: &State, call: &Call<'_>, id: &str) -> Reply {
    let job = state.statuses.iter().find(|status| status.project == call.project && status.id.to_string() == id);
    match job.and_then(|job| job.log.as_deref()) {
        Some(log) => Reply::text(200, log),
        None => not_found("Not Found"),
    }
}

pub fn set(state: &mut State, call: &mut Call<'_>, sha: &str) -> Reply {
    if call.level() < Level::Write {
        return forbidden();
    }
    let Some(wanted) = call.text("state") else { return missing("state") };
    if !STATES.contains(&wanted.as_str()) {
        return refuse(400, "state does not have a valid value");
    }
    let repository = call.repository();
    let Some(sha) = repository.rev(sha) else { return not_found("Commit") };
    if repository.run(&["for-each-ref", "--contains", &sha, "refs/heads"]).is_empty() {
        return not_found("References for commit");
    }
    let name = call.text("name").or_else(|| call.text("context")).unwrap_or_else(|| "default".into());
    let (project, author) = (call.project, call.user());
    let same = |status: &&mut Status| status.project == project && status.sha == sha && status.name == name;
    let waiting = state.statuses.iter_mut().filter(same).find(|status| matches!(status.state.as_str(), "pending" | "running"));
    let (description, target_url) = (call.text("description"), call.text("target_url"));
    let status = match waiting {
        Some(status) => {
            let event = if wanted == "pending" { "enqueue" } else { "run" };
            if wanted == "pending" || status.state == wanted {
                let from = &status.state;
                let why = format!(
                    "Cannot transition status via :{event} from :{from} (Reason(s): Status cannot transition via \"{event}\")"
                );
                return refuse(400, &why);
            }
            (status.state, status.description, status.target_url) = (wanted, description, target_url);
            status.clone()
        }
        None => {
            let id = call.base.ids.fresh();
            let made = Status {
                id,
                project,
                sha: sha.clone(),
                name: name.clone(),
                state: wanted,
                description,
                target_url,
                author,
                log: None,
            };
            state.statuses.push(made.clone());
            made
        }
    };
    Reply::json(201, &shape::status(&call.base.url, &status))
}
