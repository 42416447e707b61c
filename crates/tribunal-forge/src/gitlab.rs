//! GitLab, on gitlab.com and on a server of one's own, by its REST API (v4).
//!
//! What differs most from the other forges: a review is no object. Comments are drafted one by one, visible to nobody, and published
//! together; what stays of "the review" is the note with its summary, which [`summary`] marks so that it can be found again. An
//! approval is a thing of its own.

mod check;
mod discuss;
mod draft;
mod issues;
mod lines;
mod merge;
mod people;
mod read;
mod review;
mod summary;
mod wire;

use crate::http::answer::Answer;
use crate::http::client::{Http, Settings, secret_header, segment};
use crate::http::pace::Pace;
use crate::port::Answered;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use people::People;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use tokio::sync::OnceCell;
use tribunal_core::pull::capability::Capabilities;
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;

/// A list that goes on for longer than this has lost its end.
const MAX_PAGES: usize = 500;

/// Who the token speaks for decides how it is sent.
#[derive(Clone, PartialEq, Eq)]
pub enum Token {
    /// Of a person, a project or a group; a project's or group's has a bot user of its own.
    Access(String),
    /// `CI_JOB_TOKEN` of a running pipeline. It reads the merge request and fetches with git; it may not write notes or drafts,
    /// approve, resolve, label, set a status or merge, and it cannot ask who it is except by its job.
    Job(String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::Access(text) | Token::Job(text) => text,
        }
    }

    fn header(&self) -> &'static str {
        match self {
            Token::Access(_) => "private-token",
            Token::Job(_) => "job-token",
        }
    }

    /// For git over HTTP, which knows neither of the two headers.
    fn for_git(&self) -> Option<String> {
        let user = match self {
            Token::Access(_) => "oauth2",
            Token::Job(_) => "gitlab-ci-token",
        };
        let text = self.text();
        (!text.is_empty()).then(|| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{text}"))))
    }
}

/// One project on one GitLab, with one token.
pub struct GitLab {
    project: Project,
    http: Http,
    token: Token,
    capabilities: OnceCell<Capabilities>,
    identity: OnceCell<Account>,
    people: People,
    /// Paths of other projects, by id; nothing for one that is gone or hidden.
    projects: Mutex<BTreeMap<u64, Option<String>>>,
}

impl GitLab {
    pub fn new(project: Project, token: Token, pace: Pace, cache: Option<PathBuf>) -> Answered<Self> {
        let mut headers = HeaderMap::new();
        if !token.text().is_empty() {
            let (name, value) = secret_header(token.header(), token.text())?;
            headers.insert(name, value);
        }
        let api = format!("{}/api/v4", project.origin);
        let http = Http::new(Settings { api, headers, token: token.text().to_owned(), pace, cache })?;
        Ok(GitLab {
            project,
            http,
            token,
            capabilities: OnceCell::new(),
            identity: OnceCell::new(),
            people: People::default(),
            projects: Mutex::default(),
        })
    }

    /// Requests sent so far: reads, writes.
    pub fn counts(&self) -> (u64, u64) {
        self.http.counts()
    }

    fn host(&self) -> String {
        self.http.host().to_owned()
    }

    /// The project's part of the API. Its whole path is one segment.
    fn of_project(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", segment(&self.project.path))
    }

    fn of_request(&self, number: u64, rest: &str) -> String {
        self.of_project(&format!("/merge_requests/{number}{rest}"))
    }

    fn request_url(&self, number: u64) -> String {
        format!("{}/{}/-/merge_requests/{number}", self.project.origin, self.project.path)
    }

    fn note_url(&self, number: u64, note: u64) -> String {
        format!("{}#note_{note}", self.request_url(number))
    }

    /// Every page. The number of the next page is taken before its address: a server behind a proxy often writes addresses under a
    /// name of its own, which may be given no token.
    async fn list<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<Vec<T>> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{sign}per_page=100");
        let mut all = Vec::new();
        let mut next = Some(first.clone());
        for _ in 0..MAX_PAGES {
            let Some(address) = next else { return Ok(all) };
            let answer = self.http.read(&address, what).await?;
            all.extend(answer.json::<Vec<T>>(what)?);
            next = match answer.header("x-next-page").map(str::trim) {
                Some("") => None,
                Some(page) => Some(format!("{first}&page={}", segment(page))),
                None => answer.next_page(),
            };
        }
        Err(ForgeFault::Hollow { host: self.host(), message: format!("{what} has more than {MAX_PAGES} pages") })
    }

    async fn post(&self, path: &str, body: &Value, what: &str) -> Answered<Answer> {
        self.http.write(Method::POST, path, Some(body), what).await
    }

    async fn put(&self, path: &str, body: &Value, what: &str) -> Answered<Answer> {
        self.http.write(Method::PUT, path, Some(body), what).await
    }

    async fn delete(&self, path: &str, what: &str) -> Answered<()> {
        self.http.write(Method::DELETE, path, None, what).await.map(drop)
    }

    /// What a write answered. It was done: when the answer cannot be read, what came of it must be looked up.
    fn written<T: DeserializeOwned>(&self, answer: &Answer, what: &str) -> Answered<T> {
        answer.json(what).map_err(|fault| self.unknown(&fault))
    }

    /// A fault after a write that was taken leaves its outcome open.
    fn unknown(&self, fault: &ForgeFault) -> ForgeFault {
        ForgeFault::Uncertain { host: self.host(), message: fault.to_string() }
    }

    fn unsupported(&self, what: &str) -> ForgeFault {
        ForgeFault::Unsupported { kind: "GitLab".into(), what: what.into() }
    }
}

/// Approving and merging answer 401 to a token that is fine and may not do just that.
fn not_about_the_token(fault: ForgeFault, needs: &str) -> ForgeFault {
    match fault {
        ForgeFault::Unauthorized { host, message } => ForgeFault::Forbidden { host, needs: Some(needs.to_owned()), message },
        other => other,
    }
}

fn named(number: u64) -> String {
    format!("merge request !{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// forges.md 4: a token is told by where it comes from, never by its shape; 600 bytes are fine (quirk 17).
    #[test]
    fn git_gets_the_token_as_a_password() {
        let long = "x".repeat(600);
        for (token, user) in [(Token::Access(long.clone()), "oauth2"), (Token::Job(long.clone()), "gitlab-ci-token")] {
            let header = token.for_git().unwrap();
            let decoded = BASE64_STANDARD.decode(header.strip_prefix("Basic ").unwrap()).unwrap();
            assert_eq!(String::from_utf8(decoded).unwrap(), format!("{user}:{long}"));
        }
        assert_eq!(Token::Access(String::new()).for_git(), None);
    }

    #[test]
    fn a_path_is_one_segment() {
        let project = Project { origin: "http://127.0.0.1:1".into(), path: "group/sub/name".into() };
        let gitlab = GitLab::new(project, Token::Access("t".into()), Pace::NONE, None).unwrap();
        assert_eq!(gitlab.of_request(7, "/notes"), "/projects/group%2Fsub%2Fname/merge_requests/7/notes");
        assert_eq!(gitlab.note_url(7, 9), "http://127.0.0.1:1/group/sub/name/-/merge_requests/7#note_9");
    }
}
