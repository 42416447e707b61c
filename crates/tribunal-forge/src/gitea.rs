//! Gitea and Forgejo: one client, since one grew out of the other and most routes are the same. Where they differ the server's own
//! description of its routes decides ([`probe`]), not its name.
//!
//! What these servers do not do, and this client therefore must: they keep half-made reviews as drafts, know no threads, move no
//! comment when code moves, page without links, and answer a write to a renamed repository with a redirect.

mod checks;
mod discuss;
mod issues;
mod logs;
mod merge;
mod probe;
mod react;
mod read;
mod review;
mod threads;
mod wire;

use crate::http::answer::Answer;
use crate::http::client::{Http, Settings, segment};
use crate::http::credential::{AuthScheme, Credential};
use crate::http::limits::{Limits, Pages};
use crate::http::pace::Pace;
use crate::http::shelf::Shelf;
use crate::port::Answered;
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use tokio::sync::OnceCell;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::{ForgeKind, Project};

/// The most that a page may hold; a server may be set to fewer.
const PAGE: usize = 50;
const MAX_PAGES: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Gitea,
    Forgejo,
}

impl Flavour {
    pub fn kind(self) -> ForgeKind {
        match self {
            Flavour::Gitea => ForgeKind::Gitea,
            Flavour::Forgejo => ForgeKind::Forgejo,
        }
    }
}

pub struct Gitea {
    http: Http,
    project: Project,
    flavour: Flavour,
    token: Option<BoundToken>,
    shelf: Shelf,
    abilities: OnceCell<probe::Abilities>,
    identity: OnceCell<Account>,
}

impl Gitea {
    pub fn new(project: Project, flavour: Flavour, token: Option<BoundToken>, cache_folder: Option<PathBuf>) -> Answered<Gitea> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let credential = token.clone().map(|token| Credential::new(token, AuthScheme::Token)).transpose()?;
        let http = Http::new(Settings {
            api: format!("{}/api/v1", project.origin),
            headers,
            credential,
            pace: Pace::NONE,
            // No answer of theirs has a tag.
            cache: None,
            limits: Limits::default(),
        })?;
        let shelf = Shelf::new(cache_folder);
        Ok(Gitea { http, project, flavour, token, shelf, abilities: OnceCell::new(), identity: OnceCell::new() })
    }

    /// Requests sent so far: reads, writes.
    pub fn counts(&self) -> (u64, u64) {
        self.http.counts()
    }

    /// A path inside our repository.
    fn repo(&self, rest: &str) -> String {
        let (owner, name) = self.project.owner_and_name();
        format!("/repos/{}/{}{rest}", segment(owner), segment(name))
    }

    fn hollow(&self, message: impl Into<String>) -> ForgeFault {
        ForgeFault::Hollow { host: self.http.host().to_owned(), message: message.into() }
    }

    fn unsupported(&self, what: &str) -> ForgeFault {
        ForgeFault::Unsupported { kind: self.flavour.kind().name().to_owned(), what: what.to_owned() }
    }

    /// An answer that we do not need.
    async fn tell(&self, method: Method, path: &str, body: Option<&Value>, what: &str) -> Answered<()> {
        self.http.write(method, path, body, what).await.map(drop)
    }

    /// What a write answered. It was done; if the answer cannot be read, what came of it is for the caller to look up.
    fn written<T: DeserializeOwned>(&self, answer: &Answer, what: &str) -> Answered<T> {
        answer.json(what).map_err(|fault| self.uncertain(fault.to_string()))
    }

    fn uncertain(&self, message: impl Into<String>) -> ForgeFault {
        ForgeFault::Uncertain { host: self.http.host().to_owned(), message: message.into() }
    }

    async fn list<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<Vec<T>> {
        let (all, complete) = self.first_pages(path, what, MAX_PAGES).await?;
        if complete { Ok(all) } else { Err(self.hollow(format!("{what} has more than {MAX_PAGES} pages"))) }
    }

    /// The first so many pages, and whether that is all.
    ///
    /// Neither a missing link nor a short page means the end: some lists have no links, the server may cap pages lower than we ask,
    /// and other people's drafts are counted and then left out. The end is when we have as many as there are, or an empty page.
    async fn first_pages<T: DeserializeOwned>(&self, path: &str, what: &str, most: usize) -> Answered<(Vec<T>, bool)> {
        let mut all = Vec::new();
        let mut pages = Pages::new(self.http.host(), what, self.http.limits());
        let sign = if path.contains('?') { '&' } else { '?' };
        for page in 1..=most {
            let address = format!("{path}{sign}page={page}&limit={PAGE}");
            pages.turn_to(&address)?;
            let answer = self.http.read(&address, what).await?;
            pages.count(answer.body.len())?;
            let total = answer.header("x-total-count").and_then(|total| total.parse::<usize>().ok());
            let items = match answer.json::<Option<Vec<T>>>(what)? {
                Some(items) => items,
                // An empty list is written as null in places; without a count to confirm it, it is no answer.
                None if total == Some(all.len()) => Vec::new(),
                None => return Err(self.hollow(format!("{what}: nothing where a list belongs"))),
            };
            let ended = items.is_empty();
            all.extend(items);
            if ended || total.is_some_and(|total| all.len() >= total) {
                return Ok((all, true));
            }
        }
        Ok((all, false))
    }
}
