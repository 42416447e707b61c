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
mod teams;
mod threads;
mod wire;

use crate::http::answer::Answer;
use crate::http::client::{Http, Settings, segment};
use crate::http::credential::{AuthScheme, Credential};
use crate::http::limits::{Limits, Pages};
use crate::http::pace::Pace;
use crate::http::shelf::Shelf;
use crate::http::whole::Whole;
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
    made_here: OnceCell<wire::MadeHere>,
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
        Ok(Gitea {
            http,
            project,
            flavour,
            token,
            shelf,
            abilities: OnceCell::new(),
            identity: OnceCell::new(),
            made_here: OnceCell::new(),
        })
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

    /// A list with a count of all that is in it.
    async fn list<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<Vec<T>> {
        let read = self.first_pages(path, what, MAX_PAGES, Hides::Nothing).await?;
        self.ended(&read, what)?;
        Ok(Whole::counted(self.http.host(), what, read.items, read.total)?.into_items())
    }

    /// A list that the server sends without a count, all at once. Nothing may rest on what is not in it.
    async fn uncounted<T: DeserializeOwned>(&self, path: &str, what: &str) -> Answered<Vec<T>> {
        self.http.get::<Option<Vec<T>>>(path, what).await.map(Option::unwrap_or_default)
    }

    fn ended<T>(&self, read: &PagesRead<T>, what: &str) -> Answered<()> {
        if read.ended { Ok(()) } else { Err(self.hollow(format!("{what} has more than {MAX_PAGES} pages"))) }
    }

    /// The first so many pages, and whether that is all.
    ///
    /// Neither a missing link nor a short page means the end: some lists have no links, the server may cap pages lower than we ask,
    /// and other people's drafts are counted and then left out. The end is when we have as many as there are, or an empty page.
    async fn first_pages<T: DeserializeOwned>(
        &self,
        path: &str,
        what: &str,
        most: usize,
        hides: Hides,
    ) -> Answered<PagesRead<T>> {
        let (mut items, mut total, mut empty) = (Vec::new(), None, 0);
        let mut pages = Pages::new(self.http.host(), what, self.http.limits());
        let sign = if path.contains('?') { '&' } else { '?' };
        for page in 1..=most {
            let address = format!("{path}{sign}page={page}&limit={PAGE}");
            pages.turn_to(&address)?;
            let answer = self.http.read(&address, what).await?;
            pages.count(answer.body.len())?;
            total = total_count(&answer).or(total);
            let found = match (answer.json::<Option<Vec<T>>>(what)?, hides) {
                (Some(found), _) => found,
                // An empty list is written as null in places; without a count to confirm it, it is no answer.
                (None, Hides::Nothing | Hides::Drafts) if total == Some(items.len()) => Vec::new(),
                (None, Hides::Kinds { .. }) if total == Some(0) => Vec::new(),
                (None, _) => return Err(self.hollow(format!("{what}: nothing where a list belongs"))),
            };
            empty = if found.is_empty() { empty + 1 } else { 0 };
            items.extend(found);
            let ended = match (hides, total) {
                (Hides::Nothing, total) => empty > 0 || total.is_some_and(|total| items.len() >= total),
                (Hides::Drafts, Some(total)) => items.len() >= total || (empty > 0 && page * PAGE >= total),
                (Hides::Drafts, None) => empty > 0,
                (Hides::Kinds { empty_pages }, _) => empty >= empty_pages,
            };
            if ended {
                return Ok(PagesRead { items, total, ended });
            }
        }
        Ok(PagesRead { items, total, ended: false })
    }
}

/// What a list leaves out after its pages were cut, so that a page may be short or empty before the end.
#[derive(Debug, Clone, Copy)]
enum Hides {
    Nothing,
    /// Other people's drafts, which its count includes.
    Drafts,
    /// Entries of some kinds. It has no count of the whole, only of each page; so many pages in a row without an entry end it.
    Kinds {
        empty_pages: usize,
    },
}

struct PagesRead<T> {
    items: Vec<T>,
    total: Option<usize>,
    ended: bool,
}

fn total_count(answer: &Answer) -> Option<usize> {
    answer.header("x-total-count").and_then(|total| total.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    /// A list becomes one of ours by its count, or by the one function that says that it has none.
    #[test]
    fn no_list_is_read_past_its_count() {
        let files = [
            include_str!("gitea/checks.rs"),
            include_str!("gitea/discuss.rs"),
            include_str!("gitea/issues.rs"),
            include_str!("gitea/logs.rs"),
            include_str!("gitea/merge.rs"),
            include_str!("gitea/probe.rs"),
            include_str!("gitea/react.rs"),
            include_str!("gitea/read.rs"),
            include_str!("gitea/review.rs"),
            include_str!("gitea/threads.rs"),
        ];
        for line in files.into_iter().flat_map(str::lines) {
            let is_list = line.contains("Vec<") && (line.contains("http.get") || line.contains("http.pages"));
            assert!(!is_list, "a list that nothing counts: {line}");
        }
    }
}
