//! The end of a text of any length, such as a log. Forges keep those elsewhere and answer with a redirect, which is followed as a
//! stranger: another host is told nothing about us.

use super::answer::Answer;
use super::client::{Http, innermost, now};
use crate::port::Answered;
use reqwest::header::LOCATION;
use reqwest::{Method, Response, Url};
use std::time::Duration;
use tribunal_core::policy::credentials::origin::HttpOrigin;
use tribunal_core::pull::fault::ForgeFault;

/// For the whole of it.
const PATIENCE: Duration = Duration::from_secs(60);
const MAX_REDIRECTS: usize = 3;
/// Of a text that is longer only so much is looked at; its end is then not the end.
const MAX_READ: usize = 64 * 1024 * 1024;
/// A refusal explains itself in less.
const MAX_REFUSAL: usize = 64 * 1024;

impl Http {
    /// The last `most` bytes of what stands at `path`. Asked once: nothing depends on it.
    pub async fn tail(&self, path: &str, what: &str, most: usize) -> Answered<Vec<u8>> {
        let home = self.url(path)?;
        let mut url = home.clone();
        let mut away = false;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.visit(&url, away).await?;
            if !response.status().is_redirection() {
                return self.end_of(response, what, most).await;
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).and_then(|to| url.join(to).ok());
            let Some(to) = to.filter(|to| is_safe(&home, to)) else {
                return Err(ForgeFault::Hollow { host: self.host().to_owned(), message: format!("{what} leads nowhere") });
            };
            // Whoever was sent away comes back as a stranger, too.
            away |= to.origin() != home.origin();
            url = to;
        }
        Err(ForgeFault::Hollow { host: self.host().to_owned(), message: format!("{what} is redirected without an end") })
    }

    async fn visit(&self, url: &Url, away: bool) -> Answered<Response> {
        self.count_read()?;
        let request = if away { self.request_as_stranger(url) } else { self.request(Method::GET, url) };
        request.timeout(PATIENCE).send().await.map_err(|error| self.unreachable(url, &error))
    }

    async fn end_of(&self, mut response: Response, what: &str, most: usize) -> Answered<Vec<u8>> {
        let (status, headers, url) = (response.status(), response.headers().clone(), response.url().clone());
        let (keep, stop) = if status.is_success() { (most, MAX_READ) } else { (MAX_REFUSAL, MAX_REFUSAL) };
        let (mut kept, mut read) = (Vec::new(), 0);
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&url, &error))? {
            read += chunk.len();
            kept.extend_from_slice(&chunk);
            // Seldom, since each time all that is kept moves.
            if kept.len() > 4 * keep {
                kept.drain(..kept.len() - keep);
            }
            if read > stop {
                break;
            }
        }
        if status.is_success() {
            kept.drain(..kept.len().saturating_sub(keep));
            return Ok(kept);
        }
        let answer = Answer { host: self.host().to_owned(), status: status.as_u16(), headers, body: kept };
        let nothing = || ForgeFault::Hollow { host: self.host().to_owned(), message: format!("{what}: HTTP {status}") };
        Err(answer.fault(what, false, now()).unwrap_or_else(nothing))
    }

    /// An address of a log is signed, so that it opens the log for everybody: only its host is named.
    fn unreachable(&self, url: &Url, error: &reqwest::Error) -> ForgeFault {
        ForgeFault::Unreachable { host: url.authority().to_owned(), message: self.masked(&innermost(error)) }
    }
}

/// What was asked for in secret is not fetched in the open, and a server outside does not send us into the network that we are in.
fn is_safe(home: &Url, to: &Url) -> bool {
    let (Some(home), Some(there)) = (HttpOrigin::of(home.as_str()), HttpOrigin::of(to.as_str())) else { return false };
    let is_as_private = home.is_internal() || !there.is_internal();
    is_as_private && (to.scheme() == "https" || !home.to_string().starts_with("https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Design rule 5: a log is not fetched over a worse connection than its address was.
    #[test]
    fn a_redirect_does_not_leave_tls() {
        let url = |text: &str| Url::parse(text).unwrap();
        assert!(is_safe(&url("https://h"), &url("https://other")));
        assert!(!is_safe(&url("https://h"), &url("http://h")));
        assert!(is_safe(&url("http://127.0.0.1:1"), &url("http://localhost:1")));
        assert!(!is_safe(&url("http://h"), &url("file:///etc/passwd")));
        for inside in ["https://127.0.0.1", "https://169.254.169.254/latest", "https://10.0.0.1", "https://[::1]"] {
            assert!(!is_safe(&url("https://h"), &url(inside)), "{inside}");
        }
        assert!(is_safe(&url("https://10.0.0.2"), &url("https://10.0.0.1")));
    }
}
