//! The ledger: what was asked, what happened, what came out.
//!
//! Rows go in and come out as text that the caller made; nothing here decides or understands anything. A step of a procedure is
//! one transaction: its input, the new state and the effects it asked for are stored together or not at all.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Row, Sqlite, Transaction};
use std::path::Path;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the ledger {path} cannot be opened: {source}")]
    Open { path: String, source: sqlx::Error },
    #[error("the ledger was written by a newer version of Tribunal (layout {found}, this one knows {known})")]
    TooNew { found: i64, known: i64 },
    #[error("the ledger could not be read or written: {0}")]
    Query(#[from] sqlx::Error),
    #[error("another process moved run {0} on; nothing was changed")]
    Conflict(String),
}

impl StoreError {
    /// Is the file no ledger any more? Nothing that this program does would mend it.
    pub fn is_damaged(&self) -> bool {
        match self {
            StoreError::Open { source: sqlx::Error::Database(error), .. } | StoreError::Query(sqlx::Error::Database(error)) => {
                // SQLITE_CORRUPT and SQLITE_NOTADB.
                error.code().is_some_and(|code| code == "11" || code == "26")
            }
            StoreError::Open { .. } | StoreError::TooNew { .. } | StoreError::Query(_) | StoreError::Conflict(_) => false,
        }
    }
}

/// Layout of the tables. Raised with every change; each step is a migration below.
const LAYOUT: i64 = 5;

const MIGRATIONS: [&str; 5] = [
    r"
CREATE TABLE run (
    id TEXT PRIMARY KEY, case_id TEXT NOT NULL, procedure TEXT NOT NULL, created_at INTEGER NOT NULL,
    seq INTEGER NOT NULL, state TEXT NOT NULL, settled INTEGER NOT NULL
) STRICT;
CREATE INDEX run_by_case ON run (case_id, created_at);
CREATE TABLE input (run TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, seq)) STRICT;
CREATE TABLE effect (key TEXT PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL, done INTEGER NOT NULL) STRICT;
CREATE INDEX effect_by_run ON effect (run);
CREATE TABLE document (
    run TEXT PRIMARY KEY, case_id TEXT NOT NULL, at INTEGER NOT NULL, base TEXT NOT NULL, head TEXT NOT NULL, subject TEXT NOT NULL,
    outcome TEXT NOT NULL, verdict TEXT NOT NULL, findings INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX document_by_case ON document (case_id, at);
CREATE TABLE finding_name (case_id TEXT NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (case_id, key)) STRICT;
CREATE TABLE blob (digest TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
",
    r"
CREATE TABLE call (
    key TEXT PRIMARY KEY, run TEXT NOT NULL, case_id TEXT NOT NULL, month TEXT NOT NULL, at INTEGER NOT NULL, slot TEXT NOT NULL,
    agent TEXT NOT NULL, question_hash TEXT NOT NULL, question TEXT,
    reserved INTEGER NOT NULL, cost INTEGER, tokens INTEGER NOT NULL, answer TEXT
) STRICT;
CREATE INDEX call_by_run ON call (run);
CREATE INDEX call_by_case ON call (case_id);
CREATE INDEX call_by_month ON call (month);
",
    r"
CREATE TABLE dismissal (
    case_id TEXT NOT NULL, finding TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (case_id, finding)
) STRICT;
",
    r"
CREATE TABLE desk (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, version INTEGER NOT NULL, claim TEXT UNIQUE, body TEXT NOT NULL
) STRICT;
CREATE INDEX desk_by_kind ON desk (kind, number);
CREATE TABLE status (sha TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (sha, name)) STRICT;
",
    r"
CREATE TABLE gate (
    id TEXT PRIMARY KEY, run TEXT NOT NULL, case_id TEXT NOT NULL, asked_at INTEGER NOT NULL, until INTEGER NOT NULL,
    question TEXT NOT NULL, answer TEXT
) STRICT;
CREATE INDEX gate_by_time ON gate (asked_at);
",
];

pub struct Ledger {
    pool: SqlitePool,
}

/// A run as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub id: String,
    pub case_id: String,
    pub procedure: String,
    pub created_at: i64,
    pub seq: i64,
    pub state: String,
    pub settled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRow {
    pub at: i64,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRow {
    pub key: String,
    pub body: String,
}

/// A finished review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRow {
    pub run: String,
    pub case_id: String,
    pub at: i64,
    pub base: String,
    pub head: String,
    pub subject: String,
    pub outcome: String,
    pub verdict: String,
    pub findings: i64,
    pub body: String,
}

/// One step of a procedure, stored as a whole.
pub struct StepRow<'a> {
    pub run: &'a str,
    pub case_id: &'a str,
    pub procedure: &'a str,
    /// Number of inputs taken before this one; the guard against two processes stepping the same run.
    pub seq: i64,
    pub at: i64,
    pub input: &'a str,
    /// The effect that gave the input, now done.
    pub finished_effect: Option<&'a str>,
    pub state: &'a str,
    pub settled: bool,
    pub effects: &'a [EffectRow],
    pub document: Option<&'a DocumentRow>,
    pub names: &'a [(String, i64)],
}

mod calls;
mod desks;
mod gates;

pub use calls::{CallRow, SpendBy, Spending, Totals};
pub use desks::{DeskRow, Stored};
pub use gates::GateRow;

impl Ledger {
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Open { path: path.display().to_string(), source };
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // NORMAL may lose the last commits when the power goes, and so run an effect twice that was done.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30));
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.map_err(failed)?;
        let ledger = Self { pool };
        ledger.migrate().await?;
        Ok(ledger)
    }

    /// For those who only look: nothing is made, and where nothing can be written the file is read as it lies there. No ledger, no
    /// reviews.
    pub async fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        match Self::open(path).await {
            Err(error @ (StoreError::Open { .. } | StoreError::Query(_))) if !error.is_damaged() => {
                Self::open_read_only(path).await.map(Some).map_err(|_| error)
            }
            opened => opened.map(Some),
        }
    }

    async fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let as_it_is = SqliteConnectOptions::new().filename(path).read_only(true);
        let mut last = None;
        // With its log first, for the newest reviews are there; without it where even the log's index cannot be made.
        for options in [as_it_is.clone(), as_it_is.immutable(true)] {
            match SqlitePoolOptions::new().max_connections(1).connect_with(options).await {
                Ok(pool) => match sqlx::query_scalar("PRAGMA user_version").fetch_one(&pool).await {
                    Ok(LAYOUT) => return Ok(Self { pool }),
                    Ok(found) => return Err(StoreError::TooNew { found, known: LAYOUT }),
                    Err(error) => last = Some(error),
                },
                Err(error) => last = Some(error),
            }
        }
        Err(StoreError::Query(last.unwrap_or(sqlx::Error::PoolClosed)))
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&self.pool).await?;
        if found == LAYOUT {
            return Ok(());
        }
        if found > LAYOUT {
            return Err(StoreError::TooNew { found, known: LAYOUT });
        }
        // Immediate, so that two processes that open a new ledger at once migrate it once.
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
        for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
            sqlx::raw_sql(*migration).execute(&mut *transaction).await?;
        }
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {LAYOUT}"))).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Stores a step, or says that another process was faster.
    pub async fn store_step(&self, step: &StepRow<'_>) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let moved = if step.seq == 0 {
            sqlx::query("INSERT OR IGNORE INTO run (id, case_id, procedure, created_at, seq, state, settled) VALUES (?, ?, ?, ?, 1, ?, ?)")
                .bind(step.run)
                .bind(step.case_id)
                .bind(step.procedure)
                .bind(step.at)
                .bind(step.state)
                .bind(step.settled)
                .execute(&mut *transaction)
                .await?
        } else {
            sqlx::query("UPDATE run SET seq = seq + 1, state = ?, settled = ? WHERE id = ? AND seq = ?")
                .bind(step.state)
                .bind(step.settled)
                .bind(step.run)
                .bind(step.seq)
                .execute(&mut *transaction)
                .await?
        };
        if moved.rows_affected() != 1 {
            return Err(StoreError::Conflict(step.run.to_owned()));
        }
        sqlx::query("INSERT INTO input (run, seq, at, body) VALUES (?, ?, ?, ?)")
            .bind(step.run)
            .bind(step.seq)
            .bind(step.at)
            .bind(step.input)
            .execute(&mut *transaction)
            .await?;
        if let Some(key) = step.finished_effect {
            sqlx::query("UPDATE effect SET done = 1 WHERE key = ?").bind(key).execute(&mut *transaction).await?;
        }
        for effect in step.effects {
            sqlx::query("INSERT OR IGNORE INTO effect (key, run, body, done) VALUES (?, ?, ?, 0)")
                .bind(&effect.key)
                .bind(step.run)
                .bind(&effect.body)
                .execute(&mut *transaction)
                .await?;
        }
        if let Some(document) = step.document {
            insert_document(&mut transaction, document).await?;
        }
        for (key, n) in step.names {
            sqlx::query("INSERT OR IGNORE INTO finding_name (case_id, key, n) VALUES (?, ?, ?)")
                .bind(step.case_id)
                .bind(key)
                .bind(n)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    pub async fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        let row = sqlx::query("SELECT * FROM run WHERE id = ?").bind(id).fetch_optional(&self.pool).await?;
        Ok(row.as_ref().map(run_row))
    }

    /// The newest run that was begun and never settled, of one case or of all.
    pub async fn unsettled(&self, procedure: &str, case_id: Option<&str>) -> Result<Option<RunRow>, StoreError> {
        let row = sqlx::query(
            "SELECT * FROM run WHERE settled = 0 AND procedure = ?1 AND (?2 IS NULL OR case_id = ?2) \
             ORDER BY created_at DESC, id DESC LIMIT 1",
        )
        .bind(procedure)
        .bind(case_id)
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.as_ref().map(run_row))
    }

    pub async fn inputs(&self, run: &str) -> Result<Vec<InputRow>, StoreError> {
        let rows = sqlx::query("SELECT at, body FROM input WHERE run = ? ORDER BY seq").bind(run).fetch_all(&self.pool).await?;
        Ok(rows.iter().map(|row| InputRow { at: row.get("at"), body: row.get("body") }).collect())
    }

    pub async fn open_effects(&self, run: &str) -> Result<Vec<EffectRow>, StoreError> {
        let rows = sqlx::query("SELECT key, body FROM effect WHERE run = ? AND done = 0 ORDER BY key")
            .bind(run)
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.iter().map(|row| EffectRow { key: row.get("key"), body: row.get("body") }).collect())
    }

    pub async fn document(&self, run: &str) -> Result<Option<DocumentRow>, StoreError> {
        let row = sqlx::query("SELECT * FROM document WHERE run = ?").bind(run).fetch_optional(&self.pool).await?;
        Ok(row.as_ref().map(document_row))
    }

    pub async fn last_document(&self, case_id: &str) -> Result<Option<DocumentRow>, StoreError> {
        let row = sqlx::query("SELECT * FROM document WHERE case_id = ? ORDER BY at DESC, run DESC LIMIT 1")
            .bind(case_id)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.as_ref().map(document_row))
    }

    pub async fn count_documents(&self, case_id: &str) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("SELECT count(*) FROM document WHERE case_id = ?").bind(case_id).fetch_one(&self.pool).await?)
    }

    /// Newest first.
    pub async fn history(&self, limit: i64) -> Result<Vec<DocumentRow>, StoreError> {
        let rows =
            sqlx::query("SELECT * FROM document ORDER BY at DESC, run DESC LIMIT ?").bind(limit).fetch_all(&self.pool).await?;
        Ok(rows.iter().map(document_row).collect())
    }

    pub async fn names(&self, case_id: &str) -> Result<Vec<(String, i64)>, StoreError> {
        let rows = sqlx::query("SELECT key, n FROM finding_name WHERE case_id = ? ORDER BY n")
            .bind(case_id)
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.iter().map(|row| (row.get("key"), row.get("n"))).collect())
    }

    /// Findings of a case that somebody waved away, as given.
    pub async fn dismissals(&self, case_id: &str) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT body FROM dismissal WHERE case_id = ? ORDER BY at, finding")
            .bind(case_id)
            .fetch_all(&self.pool)
            .await?)
    }

    /// The last word on a finding is the one that counts.
    pub async fn put_dismissal(&self, case_id: &str, finding: &str, at: i64, body: &str) -> Result<(), StoreError> {
        sqlx::query("INSERT OR REPLACE INTO dismissal (case_id, finding, at, body) VALUES (?, ?, ?, ?)")
            .bind(case_id)
            .bind(finding)
            .bind(at)
            .bind(body)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub async fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
        sqlx::query("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?, ?)")
            .bind(digest)
            .bind(bytes)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub async fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT bytes FROM blob WHERE digest = ?").bind(digest).fetch_optional(&self.pool).await?)
    }
}

async fn insert_document(transaction: &mut Transaction<'_, Sqlite>, document: &DocumentRow) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT OR REPLACE INTO document (run, case_id, at, base, head, subject, outcome, verdict, findings, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&document.run)
    .bind(&document.case_id)
    .bind(document.at)
    .bind(&document.base)
    .bind(&document.head)
    .bind(&document.subject)
    .bind(&document.outcome)
    .bind(&document.verdict)
    .bind(document.findings)
    .bind(&document.body)
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

fn run_row(row: &sqlx::sqlite::SqliteRow) -> RunRow {
    RunRow {
        id: row.get("id"),
        case_id: row.get("case_id"),
        procedure: row.get("procedure"),
        created_at: row.get("created_at"),
        seq: row.get("seq"),
        state: row.get("state"),
        settled: row.get::<i64, _>("settled") != 0,
    }
}

fn document_row(row: &sqlx::sqlite::SqliteRow) -> DocumentRow {
    DocumentRow {
        run: row.get("run"),
        case_id: row.get("case_id"),
        at: row.get("at"),
        base: row.get("base"),
        head: row.get("head"),
        subject: row.get("subject"),
        outcome: row.get("outcome"),
        verdict: row.get("verdict"),
        findings: row.get("findings"),
        body: row.get("body"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(seq: i64) -> StepRow<'static> {
        StepRow {
            run: "r1",
            case_id: "c",
            procedure: "review",
            seq,
            at: 1,
            input: "{}",
            finished_effect: None,
            state: "{}",
            settled: false,
            effects: &[],
            document: None,
            names: &[],
        }
    }

    /// Two processes that step the same run: the second learns that it was late, and nothing is stored twice.
    #[tokio::test]
    async fn a_late_step_is_refused_whole() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).await.unwrap();
        ledger.store_step(&step(0)).await.unwrap();
        ledger.store_step(&step(1)).await.unwrap();
        assert!(matches!(ledger.store_step(&step(1)).await, Err(StoreError::Conflict(_))));
        assert_eq!(ledger.inputs("r1").await.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn effects_are_open_until_their_result_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&folder.path().join("ledger.db")).await.unwrap();
        let effects = [EffectRow { key: "r1/a".into(), body: "{}".into() }];
        ledger.store_step(&StepRow { effects: &effects, ..step(0) }).await.unwrap();
        assert_eq!(ledger.open_effects("r1").await.unwrap().len(), 1);
        ledger.store_step(&StepRow { finished_effect: Some("r1/a"), ..step(1) }).await.unwrap();
        assert!(ledger.open_effects("r1").await.unwrap().is_empty());
    }

    /// Who only looks needs no right to write, and leaves nothing behind.
    #[tokio::test]
    async fn a_ledger_can_be_read_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        assert!(Ledger::open_existing(&path).await.unwrap().is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let ledger = Ledger::open(&path).await.unwrap();
        ledger.store_step(&step(0)).await.unwrap();
        ledger.pool.close().await;
        let reader = Ledger::open_read_only(&path).await.unwrap();
        assert!(reader.run("r1").await.unwrap().is_some());
        assert!(matches!(reader.store_step(&step(1)).await, Err(StoreError::Query(_))));
    }

    #[tokio::test]
    async fn what_is_no_database_is_called_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        std::fs::write(&path, "no database\n".repeat(1000)).unwrap();
        assert!(Ledger::open(&path).await.err().unwrap().is_damaged());
    }

    #[tokio::test]
    async fn a_ledger_of_a_later_release_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let ledger = Ledger::open(&path).await.unwrap();
        sqlx::raw_sql("PRAGMA user_version = 99").execute(&ledger.pool).await.unwrap();
        drop(ledger);
        assert!(matches!(Ledger::open(&path).await, Err(StoreError::TooNew { found: 99, .. })));
    }
}
