//! One call to the API: who asks, about which project, with which words.

use crate::state::Quirk;
use fake_forge_base::{Base, Level, Paged, Reply, Repository, Request, User, page};
use serde_json::{Value, json};

pub struct Call<'a> {
    pub base: &'a mut Base<Quirk>,
    pub request: &'a Request,
    /// Nobody, when no token was sent.
    pub caller: Option<User>,
    /// Nothing for calls outside of a project.
    pub project: u64,
    pub path: String,
}

impl Call<'_> {
    /// A parameter, from the body or the query: GitLab takes either.
    pub fn value(&self, name: &str) -> Option<Value> {
        let in_body = self.request.json().and_then(|body| body.get(name).cloned());
        in_body.or_else(|| self.request.query_value(name).map(Value::String)).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.value(name)?.as_str().map(str::to_owned)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Bool(value) => Some(value),
            Value::String(text) => Some(text == "true"),
            _ => None,
        }
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

    /// A list in pages of 20, at most 100, with all the headers that GitLab sends.
    pub fn paged(&mut self, items: Vec<Value>) -> Reply {
        let paged: Paged<Value> = page(items, self.request, &self.base.url, &["per_page"], 20, 100);
        let next = if paged.page < paged.pages { (paged.page + 1).to_string() } else { String::new() };
        let mut reply = Reply::json(200, &Value::Array(paged.items))
            .header("x-page", &paged.page.to_string())
            .header("x-per-page", &paged.per_page.to_string())
            .header("x-total", &paged.total.to_string())
            .header("x-total-pages", &paged.pages.to_string())
            .header("x-next-page", &next);
        if let Some(link) = paged.link {
            reply = reply.header("link", &link);
            if self.base.faults.fires(Quirk::LinkedPages) {
                reply.headers.remove("x-next-page");
            }
        }
        reply
    }
}

pub fn refuse(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "message": message }))
}

pub fn not_found(what: &str) -> Reply {
    refuse(404, &format!("404 {what} Not Found"))
}

pub fn forbidden() -> Reply {
    refuse(403, "403 Forbidden")
}

pub fn unauthorized() -> Reply {
    refuse(401, "401 Unauthorized")
}

pub fn missing(name: &str) -> Reply {
    Reply::json(400, &json!({ "error": format!("{name} is missing") }))
}
