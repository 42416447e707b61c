//! The local forge's desks, kept in the ledger.

use async_trait::async_trait;
use std::sync::Arc;
use tribunal_forge::local::book::{Book, BookFault, Kind, Page, Wrote};
use tribunal_store::{DeskRow, Ledger, StoreError, Stored};

pub struct LedgerBook(pub Arc<Ledger>);

fn fault(error: StoreError) -> BookFault {
    let text = error.to_string();
    match error {
        StoreError::NotOurs { .. } | StoreError::Changed { .. } => BookFault::Changed(text),
        _ => BookFault::Failed(text),
    }
}

/// Numbers and versions are counted up from one; beyond this the ledger would be full long before.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn page(row: DeskRow) -> Page {
    Page { number: unsigned(row.number), version: unsigned(row.version), body: row.body }
}

#[async_trait]
impl Book for LedgerBook {
    async fn load(&self, number: u64) -> Result<Option<Page>, BookFault> {
        Ok(self.0.desk(signed(number)).await.map_err(fault)?.map(page))
    }

    async fn list(&self, kind: Kind) -> Result<Vec<Page>, BookFault> {
        Ok(self.0.desks(kind.word()).await.map_err(fault)?.into_iter().map(page).collect())
    }

    async fn add(&self, kind: Kind, claim: Option<&str>, body: &str) -> Result<Wrote, BookFault> {
        let stored = self.0.add_desk(kind.word(), claim, body).await.map_err(fault)?;
        Ok(match stored {
            Stored::Done(number) => Wrote::Done(unsigned(number)),
            Stored::Late => Wrote::Late,
            Stored::Claimed(number) => Wrote::Claimed(unsigned(number)),
        })
    }

    async fn swap(&self, page: &Page, claim: Option<&str>, body: &str) -> Result<Wrote, BookFault> {
        let stored = self.0.swap_desk(signed(page.number), signed(page.version), claim, body).await.map_err(fault)?;
        Ok(match stored {
            Stored::Done(_) => Wrote::Done(page.number),
            Stored::Late => Wrote::Late,
            Stored::Claimed(number) => Wrote::Claimed(unsigned(number)),
        })
    }

    async fn statuses(&self, sha: &str) -> Result<Vec<String>, BookFault> {
        self.0.statuses(sha).await.map_err(fault)
    }

    async fn put_status(&self, sha: &str, name: &str, body: &str) -> Result<(), BookFault> {
        self.0.put_status(sha, name, body).await.map_err(fault)
    }
}
