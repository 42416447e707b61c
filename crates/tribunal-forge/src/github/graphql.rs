//! The few questions that REST cannot answer. The documents are files, so that a test can hold them against GitHub's schema.
//!
//! GraphQL says "no" in an answer of 200. Whatever stands under `errors` is a fault, also beside data: half an answer must not pass for
//! a whole one.

use super::{GitHub, Phase};
use crate::http::answer::Answer;
use crate::port::Answered;
use reqwest::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tribunal_core::findings::admit::one_line;
use tribunal_core::pull::fault::ForgeFault;

pub const THREADS: &str = include_str!("queries/threads.graphql");
pub const THREAD_COMMENTS: &str = include_str!("queries/thread_comments.graphql");
pub const CHECKS: &str = include_str!("queries/checks.graphql");
pub const BASE_CHANGES: &str = include_str!("queries/base_changes.graphql");
pub const COMMENT_EDITS: &str = include_str!("queries/comment_edits.graphql");
pub const PROTECTION: &str = include_str!("queries/protection.graphql");
pub const VIEWER: &str = include_str!("queries/viewer.graphql");
pub const RESOLVE: &str = include_str!("queries/resolve.graphql");
pub const UNRESOLVE: &str = include_str!("queries/unresolve.graphql");

/// All of them, by name.
pub const DOCUMENTS: [(&str, &str); 9] = [
    ("threads", THREADS),
    ("thread_comments", THREAD_COMMENTS),
    ("checks", CHECKS),
    ("base_changes", BASE_CHANGES),
    ("comment_edits", COMMENT_EDITS),
    ("protection", PROTECTION),
    ("viewer", VIEWER),
    ("resolve", RESOLVE),
    ("unresolve", UNRESOLVE),
];

/// Without a word on how long, GitHub wants at least this.
const UNSTATED_WAIT: u64 = 60;

#[derive(Deserialize)]
struct Said<T> {
    data: Option<T>,
    #[serde(default)]
    errors: Vec<Wrong>,
}

#[derive(Debug, Deserialize)]
struct Wrong {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

impl GitHub {
    /// Where the next page begins; a page that says there is more and not where is no last page.
    pub(super) fn next(&self, info: PageInfo, what: &str) -> Answered<Option<String>> {
        match (info.has_next_page, info.end_cursor) {
            (false, _) => Ok(None),
            (true, Some(cursor)) => Ok(Some(cursor)),
            (true, None) => Err(self.hollow(format!("{what}: there is more, and no word on where"))),
        }
    }

    pub(super) async fn query<T: DeserializeOwned>(&self, document: &str, variables: Value, what: &str) -> Answered<T> {
        let body = json!({ "query": document, "variables": variables });
        let http = self.sessions.http(Phase::Read).await?;
        let answer = match http.ask(&self.graphql, &body, what).await {
            Err(ForgeFault::Unauthorized { .. }) if self.sessions.renew(Phase::Read, &http).await => {
                self.sessions.http(Phase::Read).await?.ask(&self.graphql, &body, what).await
            }
            other => other,
        };
        read(&answer.map_err(super::clear)?, what, false)
    }

    pub(super) async fn mutate<T: DeserializeOwned>(&self, document: &str, variables: Value, what: &str) -> Answered<T> {
        let body = json!({ "query": document, "variables": variables });
        let answer = self.write(Phase::Publish, Method::POST, &self.graphql, Some(&body), what).await?;
        read(&answer, what, true)
    }
}

fn read<T: DeserializeOwned>(answer: &Answer, what: &str, is_write: bool) -> Answered<T> {
    // Errors first: data that stands beside them may be of any shape.
    let loose: Said<Value> = answer.json(what)?;
    if let Some(wrong) = loose.errors.first() {
        return Err(fault(answer, wrong, what, is_write));
    }
    let said: Said<T> = answer.json(what)?;
    said.data.ok_or_else(|| ForgeFault::Hollow { host: answer.host.clone(), message: format!("{what}: neither data nor errors") })
}

fn fault(answer: &Answer, wrong: &Wrong, what: &str, is_write: bool) -> ForgeFault {
    let host = answer.host.clone();
    let message: String = one_line(&wrong.message).chars().take(300).collect();
    let lower = message.to_ascii_lowercase();
    let says_limit = lower.contains("rate limit") || lower.contains("submitted too quickly") || lower.contains("abuse detection");
    match wrong.kind.as_deref() {
        Some("RATE_LIMITED" | "RATE_LIMIT") => ForgeFault::Limited { host, seconds: Some(wait(answer)) },
        _ if says_limit => ForgeFault::Limited { host, seconds: Some(wait(answer)) },
        Some("FORBIDDEN") => ForgeFault::Forbidden { host, needs: None, message },
        Some("INSUFFICIENT_SCOPES") => ForgeFault::Forbidden { host, needs: Some("another scope".into()), message },
        Some("NOT_FOUND") => ForgeFault::NotFound { host, what: what.to_owned() },
        // The words of a server that gave up half-way; it may have done it.
        _ if lower.contains("something went wrong") || lower.contains("timed out") || lower.contains("timeout") => {
            if is_write {
                ForgeFault::Uncertain { host, message }
            } else {
                ForgeFault::Failing { host, status: answer.status, message }
            }
        }
        _ => ForgeFault::Refused { host, status: answer.status, message },
    }
}

fn wait(answer: &Answer) -> u64 {
    let number = |name: &str| answer.header(name).and_then(|text| text.trim().parse::<u64>().ok());
    let reset = number("x-ratelimit-reset").filter(|_| number("x-ratelimit-remaining") == Some(0));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    number("retry-after").or_else(|| reset.map(|at| at.saturating_sub(now).max(1))).unwrap_or(UNSTATED_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str, is_write: bool) -> Answered<Value> {
        let answer = Answer { host: "h".into(), status: 200, headers: Default::default(), body: body.into() };
        read(&answer, "threads", is_write)
    }

    /// forges.md 2.5: a limit arrives as a 200. Errors beside data are errors all the same, and nothing at all is not an empty list.
    #[test]
    fn a_refusal_in_a_200_is_a_fault() {
        let wrong =
            |kind: &str, message: &str| format!(r#"{{"data":{{"x":1}},"errors":[{{"type":"{kind}","message":"{message}"}}]}}"#);
        let of = |kind, message| said(&wrong(kind, message), true).unwrap_err();
        assert!(matches!(of("RATE_LIMITED", "API rate limit exceeded"), ForgeFault::Limited { seconds: Some(60), .. }));
        assert!(matches!(of("", "was submitted too quickly"), ForgeFault::Limited { .. }));
        assert!(matches!(of("FORBIDDEN", "Resource not accessible"), ForgeFault::Forbidden { .. }));
        assert!(matches!(of("NOT_FOUND", "Could not resolve"), ForgeFault::NotFound { .. }));
        assert!(of("", "Something went wrong while executing your query").is_uncertain());
        assert!(matches!(of("UNPROCESSABLE", "no"), ForgeFault::Refused { .. }));
        assert!(matches!(said("{}", false), Err(ForgeFault::Hollow { .. })));
        assert!(matches!(said(r#"{"data":null}"#, false), Err(ForgeFault::Hollow { .. })));
        assert!(said(r#"{"data":{}}"#, false).is_ok());
    }
}
