//! GitHub and GitHub Enterprise Server.
//!
//! REST for almost everything; GraphQL for what REST has not (threads, resolving, checks of both kinds in one question). The version
//! of the API is pinned: a later one takes fields away. Tokens are opaque: of any length and any form.

pub mod app;
mod checks;
pub mod graphql;
mod identity;
mod issues;
mod logs;
mod merge;
mod read;
mod review;
mod rules;
mod session;
mod shapes;
mod talk;

use crate::http::answer::Answer;
use crate::http::client::{Http, segment};
use crate::http::pace::Pace;
use crate::port::Answered;
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;
use session::Sessions;
use std::path::PathBuf;
use std::sync::Arc;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;

pub const API_VERSION: &str = "2022-11-28";

/// How we prove who we are.
#[derive(Clone)]
pub enum Auth {
    /// A person's token, or one that was minted elsewhere, as in GitHub Actions.
    Token(BoundToken),
    App(app::App),
}

pub struct Settings {
    pub project: Project,
    pub auth: Auth,
    /// Where answers and the account of a token are kept between runs.
    pub cache: Option<PathBuf>,
    pub pace: Pace,
    /// The longest wait, in seconds, that is sat out when GitHub asks for one; the caller hears of longer ones.
    pub patience: u64,
}

impl Settings {
    /// At GitHub's pace, with nothing kept between runs.
    pub fn new(project: Project, auth: Auth) -> Self {
        Settings { project, auth, cache: None, pace: Pace::GITHUB, patience: 60 }
    }
}

/// What is done, for a token that can do no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Read,
    /// Logs of workflows want a right that reviewing does not, and that an App may have been given or not.
    Logs,
    Publish,
    Merge,
}

pub struct GitHub {
    project: Project,
    sessions: Sessions,
    /// `/repos/owner/name`
    repository: String,
    /// GraphQL lives beside the REST root, not below it.
    graphql: String,
    cache: Option<PathBuf>,
}

/// The roots of REST and GraphQL of a host.
pub fn roots(origin: &str) -> (String, String) {
    match origin {
        "https://github.com" => ("https://api.github.com".to_owned(), "https://api.github.com/graphql".to_owned()),
        other => (format!("{other}/api/v3"), format!("{other}/api/graphql")),
    }
}

impl GitHub {
    pub fn new(settings: Settings) -> Answered<Self> {
        let (rest, graphql) = roots(&settings.project.origin);
        let (owner, name) = settings.project.owner_and_name();
        let repository = format!("/repos/{}/{}", segment(owner), segment(name));
        let (project, cache) = (settings.project.clone(), settings.cache.clone());
        let sessions = Sessions::new(&rest, settings)?;
        Ok(GitHub { project, sessions, repository, graphql, cache })
    }

    fn path(&self, rest: &str) -> String {
        format!("{}{rest}", self.repository)
    }

    /// Requests sent so far: reads, writes.
    pub async fn counts(&self) -> (u64, u64) {
        self.sessions.counts().await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<T> {
        let http = self.sessions.http(Phase::Read).await?;
        match http.get(path, what).await {
            Err(ForgeFault::Unauthorized { .. }) if self.sessions.renew(Phase::Read, &http).await => {
                self.sessions.http(Phase::Read).await?.get(path, what).await
            }
            other => other,
        }
        .map_err(clear)
    }

    async fn pages<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<Vec<T>> {
        let http = self.sessions.http(Phase::Read).await?;
        match http.pages(path, what).await {
            Err(ForgeFault::Unauthorized { .. }) if self.sessions.renew(Phase::Read, &http).await => {
                self.sessions.http(Phase::Read).await?.pages(path, what).await
            }
            other => other,
        }
        .map_err(clear)
    }

    /// Writes once. A token that ran out is the one case in which it is sent again: 401 says that nothing was done.
    async fn write(&self, phase: Phase, method: Method, path: &str, body: Option<&Value>, what: &str) -> Answered<Answer> {
        let http: Arc<Http> = self.sessions.http(phase).await?;
        match http.write(method.clone(), path, body, what).await {
            Err(ForgeFault::Unauthorized { .. }) if self.sessions.renew(phase, &http).await => {
                self.sessions.http(phase).await?.write(method, path, body, what).await
            }
            other => other,
        }
        .map_err(clear)
    }

    /// Reads the answer to a write that was taken. When it makes no sense, the thing is there and we do not know what it is called.
    fn made<T: DeserializeOwned>(&self, answer: &Answer, what: &str) -> Answered<T> {
        let unnamed = |fault: ForgeFault| ForgeFault::Uncertain { host: answer.host.clone(), message: fault.to_string() };
        answer.json(what).map_err(unnamed)
    }

    fn hollow(&self, message: impl Into<String>) -> ForgeFault {
        ForgeFault::Hollow { host: self.project.host().to_owned(), message: message.into() }
    }
}

/// Says what to do about a refusal whose own words do not.
fn clear(fault: ForgeFault) -> ForgeFault {
    match fault {
        // The same status says that issues are switched off; only this one is about us.
        ForgeFault::Refused { host, status: 410, message } if message.to_ascii_lowercase().contains("version") => {
            let message =
                format!("it no longer speaks version {API_VERSION} of its API, so this tribunal is too old for it ({message})");
            ForgeFault::Refused { host, status: 410, message }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enterprise_server_has_its_api_below_its_own_address() {
        assert_eq!(roots("https://github.com"), ("https://api.github.com".into(), "https://api.github.com/graphql".into()));
        let (rest, graphql) = roots("https://ghe.example.org");
        assert_eq!((rest.as_str(), graphql.as_str()), ("https://ghe.example.org/api/v3", "https://ghe.example.org/api/graphql"));
    }

    #[test]
    fn only_a_410_about_the_version_blames_the_version() {
        let gone =
            |message: &str| clear(ForgeFault::Refused { host: "h".into(), status: 410, message: message.into() }).to_string();
        assert!(gone("API version is no longer supported").contains("too old"));
        assert!(!gone("Issues has been disabled in this repository").contains("too old"));
    }
}
