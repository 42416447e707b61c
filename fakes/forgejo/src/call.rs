//! One call to the API: who asks, about which repository, with which words.

use crate::state::Quirk;
use fake_forge_base::{Base, Level, Reply, Repository, Request, User, page};
use serde_json::{Value, json};

pub struct Call<'a> {
    pub base: &'a mut Base<Quirk>,
    pub request: &'a Request,
    pub caller: Option<User>,
    pub project: u64,
    pub path: String,
    pub body: Value,
}

impl Call<'_> {
    pub fn text(&self, name: &str) -> Option<String> {
        self.body.get(name)?.as_str().map(str::to_owned)
    }

    pub fn level(&self) -> Level {
        self.base.level(&self.path, self.caller.as_ref())
    }

    /// Whoever writes has a name: the site has seen to that.
    pub fn user(&self) -> User {
        self.caller.clone().expect("a write has a caller")
    }

    pub fn is(&self, user: &User) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.id == user.id)
    }

    pub fn repository(&self) -> Repository {
        self.base.repository(&self.path)
    }

    /// `http://…/owner/name`
    pub fn web(&self) -> String {
        format!("{}/{}", self.base.url, self.path)
    }

    pub fn api(&self) -> String {
        format!("{}/api/v1/repos/{}", self.base.url, self.path)
    }

    /// Pages of 30, at most 50.
    pub fn paged(&self, items: Vec<Value>) -> Reply {
        let paged = page(items, self.request, &self.base.url, &["limit"], 30, 50);
        let reply = Reply::json(200, &Value::Array(paged.items)).header("x-total-count", &paged.total.to_string());
        match paged.link {
            Some(link) => reply.header("link", &link),
            None => reply,
        }
    }
}

pub fn refuse(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "message": message, "url": "/api/swagger" }))
}

pub fn not_found() -> Reply {
    Reply::json(404, &json!({ "message": "The target couldn't be found.", "url": "/api/swagger", "errors": [] }))
}

pub fn forbidden(message: &str) -> Reply {
    refuse(403, message)
}
