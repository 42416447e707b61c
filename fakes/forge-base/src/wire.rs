//! A request as a fake sees it, and what it answers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[derive(Debug, Clone)]
pub struct Request {
    /// In capitals.
    pub method: String,
    /// As it was sent, still encoded, without the query.
    pub path: String,
    pub query: String,
    /// Names in small letters.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    /// The parts of the path, decoded one by one: `group%2Fname` stays one part.
    pub fn segments(&self) -> Vec<String> {
        self.path.split('/').filter(|part| !part.is_empty()).map(decode).collect()
    }

    pub fn query_pairs(&self) -> Vec<(String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        let plain = |text: &str| decode(&text.replace('+', " "));
        pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(name, value)| (plain(name), plain(value))).collect()
    }

    pub fn query_value(&self, name: &str) -> Option<String> {
        self.query_pairs().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The body as JSON; nothing when it is none.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The token, in whichever of the usual ways it came: `Bearer`, `token`, `Basic` (as git sends it), or GitLab's own headers.
    pub fn token(&self) -> Option<String> {
        if let Some(own) = self.header("private-token").or_else(|| self.header("job-token")) {
            return Some(own.to_owned());
        }
        let (scheme, rest) = self.header("authorization")?.split_once(' ')?;
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" | "token" => Some(rest.to_owned()),
            "basic" => {
                let pair = String::from_utf8(BASE64_STANDARD.decode(rest).ok()?).ok()?;
                let (name, password) = pair.split_once(':')?;
                Some(if password.is_empty() || password == "x-oauth-basic" { name } else { password }.to_owned())
            }
            _ => None,
        }
    }
}

/// What becomes of an answer on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Sent,
    /// The connection is closed without a word, after the request was acted upon.
    Lost,
    Late(Duration),
}

#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    pub fate: Fate,
    /// When the method says the wrong thing: a GraphQL query is a `POST` that reads.
    pub is_write: Option<bool>,
}

impl Reply {
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
        let headers = BTreeMap::from([("content-type".to_owned(), content_type.to_owned())]);
        Reply { status, headers, body: body.into(), fate: Fate::Sent, is_write: None }
    }

    pub fn json(status: u16, body: &Value) -> Reply {
        Reply::new(status, "application/json; charset=utf-8", body.to_string())
    }

    pub fn text(status: u16, body: &str) -> Reply {
        Reply::new(status, "text/plain; charset=utf-8", body)
    }

    /// Without a body, as a 204.
    pub fn empty(status: u16) -> Reply {
        Reply { status, headers: BTreeMap::new(), body: Vec::new(), fate: Fate::Sent, is_write: None }
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.insert(name.to_ascii_lowercase(), value.to_owned());
        self
    }

    #[must_use]
    pub fn fate(mut self, fate: Fate) -> Reply {
        self.fate = fate;
        self
    }

    #[must_use]
    pub fn as_read(mut self) -> Reply {
        self.is_write = Some(false);
        self
    }
}
