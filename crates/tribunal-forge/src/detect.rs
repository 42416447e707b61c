//! Which forge is behind an address. No token is sent: whatever answers may be anything.

use crate::http::answer::Answer;
use crate::http::client::{Http, Settings, host_of};
use crate::port::Answered;
use serde_json::Value;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;

/// Hosts that everybody knows need not be asked.
const WELL_KNOWN: [(&str, ForgeKind); 4] = [
    ("github.com", ForgeKind::GitHub),
    ("gitlab.com", ForgeKind::GitLab),
    ("codeberg.org", ForgeKind::Forgejo),
    ("gitea.com", ForgeKind::Gitea),
];

/// The questions that each kind answers in its own way. A refusal tells as much: its headers name the server.
const QUESTIONS: [&str; 5] = ["/api/v1/version", "/api/v4/version", "/api/v4/metadata", "/api/v3/meta", "/meta"];

pub async fn detect(origin: &str) -> Answered<ForgeKind> {
    let host = host_of(origin);
    if let Some((_, kind)) = WELL_KNOWN.iter().find(|(known, _)| host.eq_ignore_ascii_case(known)) {
        return Ok(*kind);
    }
    let mut settings = Settings::anonymous(origin.trim_end_matches('/').to_owned());
    // A version is a line.
    settings.limits.body = 1024 * 1024;
    let http = Http::new(settings)?;
    let mut failing = None;
    for question in QUESTIONS {
        let answer = http.look(question).await?;
        if let Some(kind) = told(question, &answer) {
            return Ok(kind);
        }
        failing = failing.or((answer.status >= 500).then_some(answer.status));
    }
    Err(match failing {
        // A server that is down is no proof that it is none.
        Some(status) => ForgeFault::Failing { host, status, message: "it did not say which forge it is".into() },
        None => ForgeFault::Hollow { host, message: "it is none of the forges we know".into() },
    })
}

fn told(question: &str, answer: &Answer) -> Option<ForgeKind> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if answer.header("x-github-request-id").is_some() {
        return Some(ForgeKind::GitHub);
    }
    if answer.header("x-gitlab-meta").is_some() {
        return Some(ForgeKind::GitLab);
    }
    match (question, answer.status) {
        ("/api/v1/version", 200) => {
            let version = body["version"].as_str()?;
            Some(if version.contains("+gitea-") { ForgeKind::Forgejo } else { ForgeKind::Gitea })
        }
        ("/api/v4/version" | "/api/v4/metadata", 200) => {
            (body["version"].is_string() && body["revision"].is_string()).then_some(ForgeKind::GitLab)
        }
        // Without a token it says no, in words of its own.
        ("/api/v4/version" | "/api/v4/metadata", 401) => (body["message"] == "401 Unauthorized").then_some(ForgeKind::GitLab),
        ("/api/v3/meta" | "/meta", 200) => body["verifiable_password_authentication"].is_boolean().then_some(ForgeKind::GitHub),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn kind(question: &str, status: u16, header: Option<&'static str>, body: &str) -> Option<ForgeKind> {
        let headers = header.map(|name| (HeaderName::from_static(name), HeaderValue::from_static("1"))).into_iter().collect();
        told(question, &Answer { host: "h".into(), status, headers, body: body.into() })
    }

    /// forges.md 0, forge detection.
    #[test]
    fn each_forge_gives_itself_away() {
        let v1 = "/api/v1/version";
        assert_eq!(kind(v1, 200, None, r#"{"version":"1.27.3"}"#), Some(ForgeKind::Gitea));
        assert_eq!(kind(v1, 200, None, r#"{"version":"16.0.0+gitea-1.22.0"}"#), Some(ForgeKind::Forgejo));
        assert_eq!(kind(v1, 404, Some("x-github-request-id"), "{}"), Some(ForgeKind::GitHub));
        assert_eq!(kind(v1, 404, Some("x-gitlab-meta"), "{}"), Some(ForgeKind::GitLab));
        assert_eq!(kind("/api/v4/version", 401, None, r#"{"message":"401 Unauthorized"}"#), Some(ForgeKind::GitLab));
        assert_eq!(kind("/api/v4/version", 200, None, r#"{"version":"19.5.0","revision":"abc"}"#), Some(ForgeKind::GitLab));
        assert_eq!(kind("/meta", 200, None, r#"{"verifiable_password_authentication":true}"#), Some(ForgeKind::GitHub));
        for (question, status, body) in [(v1, 200, "<html>"), ("/api/v4/version", 401, "{}"), ("/meta", 200, "{}"), (v1, 500, "")]
        {
            assert_eq!(kind(question, status, None, body), None, "{question} {body}");
        }
    }

    #[tokio::test]
    async fn well_known_hosts_are_not_asked() {
        assert_eq!(detect("https://codeberg.org").await, Ok(ForgeKind::Forgejo));
        assert_eq!(detect("https://GitHub.com").await, Ok(ForgeKind::GitHub));
    }
}
