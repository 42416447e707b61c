//! Where desks are kept: numbered texts that change under a version. Who keeps them, and how, is the engine's affair.

use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a number stands for. Pull requests and issues share one row of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pull,
    Issue,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Pull => "pull",
            Kind::Issue => "issue",
        }
    }

    pub fn noun(self) -> &'static str {
        match self {
            Kind::Pull => "pull request",
            Kind::Issue => "issue",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub number: u64,
    pub version: u64,
    pub body: String,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrote {
    /// A new page has this number.
    Done(u64),
    /// Somebody else was faster; look again.
    Late,
    /// The page of this number holds the claim.
    Claimed(u64),
}

/// Why the book could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BookFault {
    #[error("{0}")]
    Failed(String),
    /// A page is not the one that this account wrote.
    #[error("{0}")]
    Changed(String),
}

#[async_trait]
pub trait Book: Send + Sync {
    async fn load(&self, number: u64) -> Result<Option<Page>, BookFault>;
    /// By number.
    async fn list(&self, kind: Kind) -> Result<Vec<Page>, BookFault>;
    /// Puts a page under the next number. At most one page holds a claim at a time.
    async fn add(&self, kind: Kind, claim: Option<&str>, body: &str) -> Result<Wrote, BookFault>;
    /// Replaces a page that is still at this version.
    async fn swap(&self, page: &Page, claim: Option<&str>, body: &str) -> Result<Wrote, BookFault>;
    /// What was said about a commit, the latest of each name.
    async fn statuses(&self, sha: &str) -> Result<Vec<String>, BookFault>;
    async fn put_status(&self, sha: &str, name: &str, body: &str) -> Result<(), BookFault>;
}

/// A book that is gone when it is dropped: the plainest one there is, for tests, and for looking where there is none yet.
#[derive(Default)]
pub struct Memory {
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    pages: BTreeMap<u64, (Kind, Option<String>, Page)>,
    statuses: BTreeMap<(String, String), String>,
}

impl Inside {
    fn holder(&self, claim: Option<&str>, but: u64) -> Option<u64> {
        let claim = claim?;
        self.pages
            .iter()
            .find(|(number, (_, held, _))| **number != but && held.as_deref() == Some(claim))
            .map(|(number, _)| *number)
    }
}

impl Memory {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        // Every change below is whole before its lock is given back.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Book for Memory {
    async fn load(&self, number: u64) -> Result<Option<Page>, BookFault> {
        Ok(self.inside().pages.get(&number).map(|(_, _, page)| page.clone()))
    }

    async fn list(&self, kind: Kind) -> Result<Vec<Page>, BookFault> {
        let inside = self.inside();
        Ok(inside.pages.values().filter(|(found, _, _)| *found == kind).map(|(_, _, page)| page.clone()).collect())
    }

    async fn add(&self, kind: Kind, claim: Option<&str>, body: &str) -> Result<Wrote, BookFault> {
        let mut inside = self.inside();
        if let Some(number) = inside.holder(claim, 0) {
            return Ok(Wrote::Claimed(number));
        }
        let number = inside.pages.keys().last().map_or(1, |last| last + 1);
        inside.pages.insert(number, (kind, claim.map(str::to_owned), Page { number, version: 1, body: body.to_owned() }));
        Ok(Wrote::Done(number))
    }

    async fn swap(&self, page: &Page, claim: Option<&str>, body: &str) -> Result<Wrote, BookFault> {
        let mut inside = self.inside();
        if let Some(number) = inside.holder(claim, page.number) {
            return Ok(Wrote::Claimed(number));
        }
        match inside.pages.get_mut(&page.number) {
            Some((_, held, found)) if found.version == page.version => {
                *held = claim.map(str::to_owned);
                *found = Page { number: page.number, version: page.version + 1, body: body.to_owned() };
                Ok(Wrote::Done(page.number))
            }
            Some(_) | None => Ok(Wrote::Late),
        }
    }

    async fn statuses(&self, sha: &str) -> Result<Vec<String>, BookFault> {
        let inside = self.inside();
        Ok(inside.statuses.iter().filter(|((commit, _), _)| commit == sha).map(|(_, body)| body.clone()).collect())
    }

    async fn put_status(&self, sha: &str, name: &str, body: &str) -> Result<(), BookFault> {
        self.inside().statuses.insert((sha.to_owned(), name.to_owned()), body.to_owned());
        Ok(())
    }
}

/// A book that is read and never written: every write is said to be done. For a dry run.
pub struct Rehearsal(pub Arc<dyn Book>);

#[async_trait]
impl Book for Rehearsal {
    async fn load(&self, number: u64) -> Result<Option<Page>, BookFault> {
        self.0.load(number).await
    }

    async fn list(&self, kind: Kind) -> Result<Vec<Page>, BookFault> {
        self.0.list(kind).await
    }

    async fn add(&self, _: Kind, _: Option<&str>, _: &str) -> Result<Wrote, BookFault> {
        let mut last = 0;
        for kind in [Kind::Pull, Kind::Issue] {
            last = last.max(self.0.list(kind).await?.last().map_or(0, |page| page.number));
        }
        Ok(Wrote::Done(last + 1))
    }

    async fn swap(&self, page: &Page, _: Option<&str>, _: &str) -> Result<Wrote, BookFault> {
        Ok(Wrote::Done(page.number))
    }

    async fn statuses(&self, sha: &str) -> Result<Vec<String>, BookFault> {
        self.0.statuses(sha).await
    }

    async fn put_status(&self, _: &str, _: &str, _: &str) -> Result<(), BookFault> {
        Ok(())
    }
}
