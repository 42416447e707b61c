//! Pull requests and issues of the local forge: numbered texts that change under a version, and texts by commit and name.

use super::seal::Table;
use super::{Ledger, StoreError};
use sqlx::Row;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeskRow {
    pub number: i64,
    pub kind: String,
    /// Raised with every change; the guard against two processes changing the same one.
    pub version: i64,
    pub body: String,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Under this number, or with this version.
    Done(i64),
    /// Another process was faster, or there is no such number.
    Late,
    /// The row of this number holds the same claim.
    Claimed(i64),
}

impl Ledger {
    pub async fn desk(&self, number: i64) -> Result<Option<DeskRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Desk, "t.number = ?", &[number.into()]).await?;
        let row = sqlx::query("SELECT * FROM desk WHERE number = ?").bind(number).fetch_optional(&mut *reading).await?;
        Ok(row.as_ref().map(desk_row))
    }

    /// By number.
    pub async fn desks(&self, kind: &str) -> Result<Vec<DeskRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Desk, "true", &[]).await?;
        let rows = sqlx::query("SELECT * FROM desk WHERE kind = ? ORDER BY number").bind(kind).fetch_all(&mut *reading).await?;
        Ok(rows.iter().map(desk_row).collect())
    }

    /// Stores a new one under the next number, whatever its kind.
    pub async fn add_desk(&self, kind: &str, claim: Option<&str>, body: &str) -> Result<Stored, StoreError> {
        let mut write = self.write().await?;
        let transaction = &mut write.transaction;
        let holder: Option<i64> =
            sqlx::query_scalar("SELECT number FROM desk WHERE claim = ?").bind(claim).fetch_optional(&mut **transaction).await?;
        if let Some(number) = holder {
            return Ok(Stored::Claimed(number));
        }
        let number: i64 =
            sqlx::query_scalar("SELECT coalesce(max(number), 0) + 1 FROM desk").fetch_one(&mut **transaction).await?;
        sqlx::query("INSERT INTO desk (number, kind, version, claim, body) VALUES (?, ?, 1, ?, ?)")
            .bind(number)
            .bind(kind)
            .bind(claim)
            .bind(body)
            .execute(&mut **transaction)
            .await?;
        write.close(Table::Desk, "t.number = ?", &[number.into()]).await?;
        write.commit().await?;
        Ok(Stored::Done(number))
    }

    /// Replaces a text if it is still at this version.
    pub async fn swap_desk(&self, number: i64, version: i64, claim: Option<&str>, body: &str) -> Result<Stored, StoreError> {
        let mut write = self.write().await?;
        let holder: Option<i64> = sqlx::query_scalar("SELECT number FROM desk WHERE claim = ? AND number <> ?")
            .bind(claim)
            .bind(number)
            .fetch_optional(&mut *write.transaction)
            .await?;
        if let Some(number) = holder {
            return Ok(Stored::Claimed(number));
        }
        write.open(Table::Desk, "t.number = ?", &[number.into()], self).await?;
        let swapped = sqlx::query("UPDATE desk SET version = version + 1, claim = ?, body = ? WHERE number = ? AND version = ?")
            .bind(claim)
            .bind(body)
            .bind(number)
            .bind(version)
            .execute(&mut *write.transaction)
            .await?;
        write.close(Table::Desk, "t.number = ?", &[number.into()]).await?;
        write.commit().await?;
        Ok(if swapped.rows_affected() == 1 { Stored::Done(version + 1) } else { Stored::Late })
    }

    /// By name.
    pub async fn statuses(&self, sha: &str) -> Result<Vec<String>, StoreError> {
        let mut reading = self.pool.begin().await?;
        // All of them: one that was moved to another commit is missing at this one.
        self.verify(&mut reading, Table::Status, "true", &[]).await?;
        let rows = sqlx::query_scalar("SELECT body FROM status WHERE sha = ? ORDER BY name");
        Ok(rows.bind(sha).fetch_all(&mut *reading).await?)
    }

    /// The latest of a name takes the place of the one before.
    pub async fn put_status(&self, sha: &str, name: &str, body: &str) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let (condition, values) = ("t.sha = ? AND t.name = ?", [sha.into(), name.into()]);
        write.open(Table::Status, condition, &values, self).await?;
        sqlx::query("INSERT OR REPLACE INTO status (sha, name, body) VALUES (?, ?, ?)")
            .bind(sha)
            .bind(name)
            .bind(body)
            .execute(&mut *write.transaction)
            .await?;
        write.close(Table::Status, condition, &values).await?;
        write.commit().await
    }
}

fn desk_row(row: &sqlx::sqlite::SqliteRow) -> DeskRow {
    DeskRow { number: row.get("number"), kind: row.get("kind"), version: row.get("version"), body: row.get("body") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MIGRATIONS;
    use std::sync::Arc;

    async fn ledger(folder: &tempfile::TempDir) -> Ledger {
        Ledger::open(&folder.path().join("ledger.db"), crate::tests::key()).await.unwrap()
    }

    #[tokio::test]
    async fn a_late_change_is_told_so_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        assert_eq!(ledger.add_desk("pull", None, "one").await.unwrap(), Stored::Done(1));
        assert_eq!(ledger.add_desk("issue", None, "two").await.unwrap(), Stored::Done(2));
        assert_eq!(ledger.swap_desk(1, 1, None, "newer").await.unwrap(), Stored::Done(2));
        assert_eq!(ledger.swap_desk(1, 1, None, "late").await.unwrap(), Stored::Late);
        assert_eq!(ledger.swap_desk(9, 1, None, "nowhere").await.unwrap(), Stored::Late);
        assert_eq!(ledger.desk(1).await.unwrap().unwrap().body, "newer");
        assert_eq!(ledger.desks("pull").await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_claim_is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        ledger.add_desk("pull", Some("a b"), "one").await.unwrap();
        assert_eq!(ledger.add_desk("pull", Some("a b"), "two").await.unwrap(), Stored::Claimed(1));
        assert_eq!(ledger.swap_desk(1, 1, None, "closed").await.unwrap(), Stored::Done(2));
        assert_eq!(ledger.add_desk("pull", Some("a b"), "two").await.unwrap(), Stored::Done(2));
        assert_eq!(ledger.swap_desk(1, 2, Some("a b"), "reopened").await.unwrap(), Stored::Claimed(2));
    }

    /// Two connections, as two processes have them.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn numbers_are_given_out_once() {
        let folder = tempfile::tempdir().unwrap();
        let ledgers = [Arc::new(ledger(&folder).await), Arc::new(ledger(&folder).await)];
        let adding: Vec<_> = (0..20)
            .map(|at: usize| {
                let ledger = Arc::clone(&ledgers[at % 2]);
                tokio::spawn(async move { ledger.add_desk("issue", None, "x").await.unwrap() })
            })
            .collect();
        let mut given = Vec::new();
        for add in adding {
            given.push(add.await.unwrap());
        }
        given.sort_by_key(|stored| if let Stored::Done(number) = stored { *number } else { 0 });
        assert_eq!(given, (1..=20).map(Stored::Done).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn the_latest_status_of_a_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        for (name, body) in [("lint", "pending"), ("build", "ok"), ("lint", "ok too")] {
            ledger.put_status("abc", name, body).await.unwrap();
        }
        assert_eq!(ledger.statuses("abc").await.unwrap(), ["ok", "ok too"]);
        assert!(ledger.statuses("def").await.unwrap().is_empty());
    }

    /// Issue 16, point 9: a ledger of an earlier release has no seal, so nobody can tell who wrote it.
    #[tokio::test]
    async fn a_ledger_of_layout_two_is_not_taken_along() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
            let pool = sqlx::sqlite::SqlitePool::connect_with(options).await.unwrap();
            for migration in &MIGRATIONS[..2] {
                sqlx::raw_sql(*migration).execute(&pool).await.unwrap();
            }
            sqlx::raw_sql("PRAGMA user_version = 2; INSERT INTO blob VALUES ('d', x'01')").execute(&pool).await.unwrap();
            pool.close().await;
        }
        let opened = Ledger::open(&path, crate::tests::key()).await;
        assert!(matches!(opened.err(), Some(crate::StoreError::NotOurs { .. })));
    }
}
