//! What an answer means.

use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tribunal_core::findings::admit::one_line;
use tribunal_core::pull::fault::ForgeFault;

/// Without a word on how long to wait, a secondary limit wants at least this.
const UNSTATED_WAIT: u64 = 60;
/// Of a refusal, more than this explains nothing.
const MAX_MESSAGE: usize = 300;

#[derive(Debug, Clone)]
pub struct Answer {
    pub host: String,
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Reads the body as what it should be. Anything else is hollow, not empty.
    pub fn json<T: DeserializeOwned>(&self, what: &str) -> Result<T, ForgeFault> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let message = format!("{what}: {}", one_line(&error.to_string()));
            ForgeFault::Hollow { host: self.host.clone(), message }
        })
    }

    /// The address of the next page, as the forge gives it.
    pub fn next_page(&self) -> Option<String> {
        next_link(self.header("link")?)
    }

    /// What is wrong with it, if anything. `unix_now` only serves to read a reset time.
    pub fn fault(&self, what: &str, is_write: bool, unix_now: u64) -> Option<ForgeFault> {
        let host = self.host.clone();
        let message = self.message();
        if let Some(seconds) = self.limit(&message, unix_now) {
            return Some(ForgeFault::Limited { host, seconds });
        }
        Some(match self.status {
            200..=299 | 304 => return None,
            301 | 302 | 303 | 307 | 308 => {
                ForgeFault::Moved { what: what.to_owned(), to: self.header("location").unwrap_or("another address").to_owned() }
            }
            401 => ForgeFault::Unauthorized { host, message },
            403 => ForgeFault::Forbidden { host, needs: self.needs(&message), message },
            404 => ForgeFault::NotFound { host, what: what.to_owned() },
            409 => ForgeFault::Conflict { host, message },
            // A failing server may have done it all the same.
            500..=599 if is_write => ForgeFault::Uncertain { host, message: format!("HTTP {}: {message}", self.status) },
            500..=599 => ForgeFault::Failing { host, status: self.status, message },
            status => ForgeFault::Refused { host, status, message },
        })
    }

    /// Seconds to wait, when this is a limit and no refusal.
    fn limit(&self, message: &str, unix_now: u64) -> Option<Option<u64>> {
        let number = |name: &str| self.header(name).and_then(|text| text.trim().parse::<u64>().ok());
        let after = number("retry-after");
        let used_up = number("x-ratelimit-remaining") == Some(0);
        let lower = message.to_ascii_lowercase();
        let says_limit = lower.contains("rate limit") || lower.contains("abuse detection");
        match self.status {
            429 => {}
            403 if after.is_some() || used_up || says_limit => {}
            // A plain 403 is about rights.
            _ => return None,
        }
        let reset = number("x-ratelimit-reset").or_else(|| number("ratelimit-reset")).filter(|_| used_up || self.status == 429);
        Some(Some(after.or_else(|| reset.map(|at| at.saturating_sub(unix_now).max(1))).unwrap_or(UNSTATED_WAIT)))
    }

    /// The forge's own words, in one line.
    fn message(&self) -> String {
        let Ok(value) = serde_json::from_slice::<Value>(&self.body) else {
            // A page of a proxy explains nothing.
            return String::new();
        };
        let mut parts = Vec::new();
        collect(&value["message"], &mut parts);
        collect(&value["error_description"], &mut parts);
        collect(&value["error"], &mut parts);
        collect(&value["errors"], &mut parts);
        parts.dedup();
        let text = one_line(&parts.join("; "));
        text.chars().take(MAX_MESSAGE).collect()
    }

    /// The right that is missing, where the forge names it.
    fn needs(&self, message: &str) -> Option<String> {
        let header = |name: &str| self.header(name).map(str::trim).filter(|text| !text.is_empty());
        // Gitea and Forgejo: `… required=[write:repository], token scope=…`.
        let in_text = || message.split_once("required=[").and_then(|(_, rest)| rest.split(']').next()).map(str::to_owned);
        let gitlab = || {
            let value: Value = serde_json::from_slice(&self.body).ok()?;
            Some(value["scope"].as_str()?.to_owned())
        };
        if let Some(permissions) = header("x-accepted-github-permissions") {
            return Some(format!("the permission {}", permissions.replace(['=', ':'], ": ")));
        }
        let scope = in_text().or_else(gitlab).or_else(|| header("x-accepted-oauth-scopes").map(str::to_owned))?;
        Some(format!("the scope {scope}"))
    }
}

fn collect(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(entries) => match entries.get("message").or_else(|| entries.get("code")) {
            Some(inner) => collect(inner, into),
            None => entries.iter().for_each(|(key, inner)| {
                let mut words = Vec::new();
                collect(inner, &mut words);
                into.push(format!("{key} {}", words.join(", ")).trim().to_owned());
            }),
        },
        _ => {}
    }
}

/// `<https://…?page=2>; rel="next", …`
fn next_link(header: &str) -> Option<String> {
    header.split(',').find_map(|part| {
        let (address, words) = part.split_once(';')?;
        let next = words.split(';').any(|word| matches!(word.trim(), "rel=\"next\"" | "rel=next"));
        next.then(|| address.trim().trim_start_matches('<').trim_end_matches('>').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).collect();
        Answer { host: "h".into(), status, headers, body: body.into() }
    }

    fn fault(status: u16, headers: &[(&'static str, &str)], body: &str) -> ForgeFault {
        answer(status, headers, body).fault("pull 1", false, 1000).unwrap()
    }

    /// forges.md 2.5: `retry-after`, then the reset, then a minute; a plain 403 is about rights.
    #[test]
    fn limits_are_told_from_refusals() {
        let wait = |headers: &[(&'static str, &str)], status, body| match fault(status, headers, body) {
            ForgeFault::Limited { seconds, .. } => seconds,
            _ => None,
        };
        assert_eq!(wait(&[("retry-after", "7")], 403, "{}"), Some(7));
        assert_eq!(wait(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")], 403, "{}"), Some(30));
        assert_eq!(wait(&[], 403, r#"{"message":"You have exceeded a secondary rate limit."}"#), Some(60));
        assert_eq!(wait(&[], 429, ""), Some(60));
        assert!(matches!(fault(403, &[], r#"{"message":"Resource not accessible"}"#), ForgeFault::Forbidden { .. }));
    }

    /// Issue 5, build 2: the permission that is missing is named.
    #[test]
    fn the_missing_right_is_named() {
        for (headers, body, needs) in [
            (vec![("x-accepted-github-permissions", "pull_requests=write")], "{}", "the permission pull_requests: write"),
            (
                vec![],
                r#"{"message":"token does not have at least one of required scope(s), required=[write:repository], token scope=read:user"}"#,
                "the scope write:repository",
            ),
            (vec![], r#"{"error":"insufficient_scope","scope":"api"}"#, "the scope api"),
        ] {
            let found = fault(403, &headers, body);
            assert!(found.to_string().contains(needs), "{found}");
        }
    }

    /// Design rule 9: a write that met a failing server may have been done; a read was not.
    #[test]
    fn only_writes_are_uncertain() {
        let broken = answer(502, &[], "<html>");
        assert!(broken.fault("x", true, 0).unwrap().is_uncertain());
        assert!(!broken.fault("x", false, 0).unwrap().is_uncertain());
        assert!(broken.json::<Value>("x").is_err());
    }

    #[test]
    fn pages_are_followed_by_their_link() {
        let link = r#"<https://h/a?page=1>; rel="prev", <https://h/a?page=3>; rel="next", <https://h/a?page=9>; rel="last""#;
        assert_eq!(next_link(link).as_deref(), Some("https://h/a?page=3"));
        assert_eq!(next_link(r#"<https://h/a?page=1>; rel="first""#), None);
    }
}
