//! Users, members, and the server itself.

use crate::call::{Call, not_found, unauthorized};
use crate::shape;
use crate::state::{Quirk, Rules};
use fake_forge_base::{Kind, Level, Reply, User};
use serde_json::{Value, json};

pub fn answer(call: &mut Call<'_>, rest: &[&str], rules: &Rules) -> Option<Reply> {
    if call.request.method != "GET" {
        return None;
    }
    let Some(caller) = call.caller.clone() else { return Some(unauthorized()) };
    let is_job = call.request.header("job-token").is_some();
    Some(match rest {
        ["job"] if is_job => Reply::json(200, &json!({ "id": 1, "status": "running", "user": whole(call, &caller) })),
        _ if is_job => unauthorized(),
        ["version"] => Reply::json(200, &json!({ "version": rules.version, "revision": "0123abcd" })),
        ["user"] => Reply::json(200, &whole(call, &caller)),
        ["users"] => {
            let login = call.request.query_value("username").unwrap_or_default();
            let found: Vec<Value> =
                call.base.people.by_login(&login).map(|user| shape::user(&call.base.url, user)).into_iter().collect();
            Reply::json(200, &Value::Array(found))
        }
        ["users", _] if call.base.faults.fires(Quirk::BrokenUser) => Reply::json(500, &json!({ "message": "500 Internal" })),
        ["users", id] => match id.parse().ok().and_then(|id| call.base.people.by_id(id)) {
            Some(user) => Reply::json(200, &whole(call, user)),
            None => not_found("User"),
        },
        _ => return None,
    })
}

/// Only where a user is asked for by itself does GitLab say whether it is a bot.
fn whole(call: &Call<'_>, user: &User) -> Value {
    let mut whole = shape::user(&call.base.url, user);
    whole["bot"] = (user.kind == Kind::Bot).into();
    whole
}

pub fn member(call: &Call<'_>, id: &str) -> Reply {
    let user = id.parse().ok().and_then(|id| call.base.people.by_id(id));
    let level = user.map_or(Level::None, |user| call.base.people.level(&call.path, user.id));
    let access = match level {
        Level::None => return refuse_member(),
        Level::Read => 10,
        Level::Triage => 20,
        Level::Write => 30,
        Level::Admin => 40,
    };
    let Some(user) = user else { return refuse_member() };
    let mut member = shape::user(&call.base.url, user);
    member["access_level"] = access.into();
    member["expires_at"] = Value::Null;
    Reply::json(200, &member)
}

fn refuse_member() -> Reply {
    Reply::json(404, &json!({ "message": "404 Not found" }))
}
