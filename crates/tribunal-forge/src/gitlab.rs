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
use crate::http::client::{Http, Settings, segment};
use crate::http::credential::{AuthScheme, Credential, for_git};
use crate::http::limits::{Limits, Pages};
use crate::http::pace::Pace;
use crate::port::Answered;
use people::People;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use tokio::sync::OnceCell;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::capability::Capabilities;
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;

/// Who the token speaks for decides how it is sent.
#[derive(Clone)]
pub enum Token {
    /// Of a person, a project or a group; a project's or group's has a bot user of its own.
    Access(BoundToken),
    /// `CI_JOB_TOKEN` of a running pipeline. It reads the merge request and fetches with git; it may not write notes or drafts,
    /// approve, resolve, label, set a status or merge, and it cannot ask who it is except by its job.
    Job(BoundToken),
}

impl Token {
    fn credential(&self) -> Answered<Credential> {
        match self {
            Token::Access(token) => Credential::new(token.clone(), AuthScheme::PrivateToken),
            Token::Job(token) => Credential::new(token.clone(), AuthScheme::JobToken),
        }
    }

    /// For git over HTTP, which knows neither of the two headers.
    fn for_git(&self, url: &str) -> Option<String> {
        match self {
            Token::Access(token) => for_git(token, &AuthScheme::Basic { user: "oauth2".to_owned() }, url),
            Token::Job(token) => for_git(token, &AuthScheme::Basic { user: "gitlab-ci-token".to_owned() }, url),
        }
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
        let api = format!("{}/api/v4", project.origin);
        let credential = Some(token.credential()?);
        let http = Http::new(Settings { api, headers: HeaderMap::new(), credential, pace, cache, limits: Limits::default() })?;
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
        let mut pages = Pages::new(self.http.host(), what, self.http.limits());
        let mut next = Some(first.clone());
        while let Some(address) = next {
            pages.turn_to(&address)?;
            let answer = self.http.read(&address, what).await?;
            pages.count(answer.body.len())?;
            all.extend(answer.json::<Vec<T>>(what)?);
            next = match answer.header("x-next-page").map(str::trim) {
                Some("") => None,
                Some(page) => Some(format!("{first}&page={}", segment(page))),
                None => answer.next_page(),
            };
        }
        Ok(all)
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
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    fn bound(text: &str) -> BoundToken {
        BoundToken::given_for_url("http://127.0.0.1:1", text).unwrap()
    }

    /// forges.md 4: a token is told by where it comes from, never by its shape; 600 bytes are fine (quirk 17).
    #[test]
    fn git_gets_the_token_as_a_password() {
        let long = "x".repeat(600);
        let url = "http://127.0.0.1:1/a/b.git";
        for (token, user) in [(Token::Access(bound(&long)), "oauth2"), (Token::Job(bound(&long)), "gitlab-ci-token")] {
            let header = token.for_git(url).unwrap();
            let decoded = BASE64_STANDARD.decode(header.strip_prefix("Basic ").unwrap()).unwrap();
            assert_eq!(String::from_utf8(decoded).unwrap(), format!("{user}:{long}"));
            assert_eq!(token.for_git("http://127.0.0.1:2/a/b.git"), None);
        }
        assert_eq!(Token::Access(bound("")).for_git(url), None);
    }

    #[test]
    fn a_path_is_one_segment() {
        let project = Project { origin: "http://127.0.0.1:1".into(), path: "group/sub/name".into() };
        let gitlab = GitLab::new(project, Token::Access(bound("t")), Pace::NONE, None).unwrap();
        assert_eq!(gitlab.of_request(7, "/notes"), "/projects/group%2Fsub%2Fname/merge_requests/7/notes");
        assert_eq!(gitlab.note_url(7, 9), "http://127.0.0.1:1/group/sub/name/-/merge_requests/7#note_9");
    }
}
