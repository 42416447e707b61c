//! The ledger: what was asked, what happened, what came out.
//!
//! Rows go in and come out as text that the caller made; nothing here decides or understands anything. A step of a procedure is
//! one transaction: its input, the new state and the effects it asked for are stored together or not at all.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use sqlx::Row;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use std::path::{Path, PathBuf};
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
    #[error(
        "the ledger {path} does not carry the seal of this account: it was made elsewhere, edited, or put back as it was before"
    )]
    NotOurs { path: String },
    #[error("the ledger {path} was changed by something other than Tribunal ({what})")]
    Changed { path: String, what: String },
}

impl StoreError {
    /// Is the file no ledger any more? Nothing that this program does would mend it.
    pub fn is_damaged(&self) -> bool {
        match self {
            StoreError::Open { source: sqlx::Error::Database(error), .. } | StoreError::Query(sqlx::Error::Database(error)) => {
                // SQLITE_CORRUPT and SQLITE_NOTADB.
                error.code().is_some_and(|code| code == "11" || code == "26")
            }
            StoreError::Open { .. }
            | StoreError::TooNew { .. }
            | StoreError::Query(_)
            | StoreError::Conflict(_)
            | StoreError::NotOurs { .. }
            | StoreError::Changed { .. } => false,
        }
    }
}

/// Layout of the tables. Raised with every change; each step is a migration below.
const LAYOUT: i64 = 7;

/// Ledgers of an earlier layout have no seal, so nobody can tell who wrote them. They are set aside and not taken along.
const FIRST_SEALED: i64 = 6;

const MIGRATIONS: [&str; 7] = [
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
    seal::TABLES,
    r"
CREATE TABLE hold (
    case_id TEXT NOT NULL, head TEXT NOT NULL, source TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (case_id, head, source)
) STRICT;
",
];

pub struct Ledger {
    pool: SqlitePool,
    path: PathBuf,
    key: SealKey,
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
pub mod folder;
mod gates;
mod holds;
mod seal;

pub use calls::{CallRow, SpendBy, Spending, Totals};
pub use desks::{DeskRow, Stored};
pub use gates::GateRow;
pub use seal::SealKey;

use seal::Table;

/// Connections trust no function that the file itself names.
fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).pragma("trusted_schema", "OFF")
}

/// Makes the file before SQLite does, which would leave its mode to the umask; its log gets the mode of the file.
fn make_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        Ok(_) | Err(_) => {}
    }
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match folder::make_file_private(Path::new(&name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

impl Ledger {
    /// The ledger in this file, made if there is none. One that this account did not write is refused.
    pub async fn open(path: &Path, key: SealKey) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Open { path: path.display().to_string(), source };
        make_file(path).map_err(|error| failed(sqlx::Error::Io(error)))?;
        let options = options(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // NORMAL may lose the last commits when the power goes, and so run an effect twice that was done.
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30));
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.map_err(failed)?;
        let ledger = Self { pool, path: path.to_path_buf(), key };
        ledger.migrate().await?;
        Ok(ledger)
    }

    /// For those who only look: nothing is made, and where nothing can be written the file is read as it lies there. No ledger, no
    /// reviews.
    pub async fn open_existing(path: &Path, key: SealKey) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        match Self::open(path, key.clone()).await {
            Err(error @ (StoreError::Open { .. } | StoreError::Query(_))) if !error.is_damaged() => {
                match Self::open_read_only(path, key).await {
                    Err(foreign @ StoreError::NotOurs { .. }) => Err(foreign),
                    opened => opened.map(Some).map_err(|_| error),
                }
            }
            opened => opened.map(Some),
        }
    }

    async fn open_read_only(path: &Path, key: SealKey) -> Result<Self, StoreError> {
        let as_it_is = options(path).read_only(true);
        let mut last = None;
        // With its log first, for the newest reviews are there; without it where even the log's index cannot be made.
        for options in [as_it_is.clone(), as_it_is.immutable(true)] {
            match SqlitePoolOptions::new().max_connections(1).connect_with(options).await {
                Ok(pool) => match sqlx::query_scalar("PRAGMA user_version").fetch_one(&pool).await {
                    Ok(LAYOUT) => {
                        let ledger = Self { pool, path: path.to_path_buf(), key };
                        ledger.check().await?;
                        return Ok(ledger);
                    }
                    Ok(found) => return Err(StoreError::TooNew { found, known: LAYOUT }),
                    Err(error) => last = Some(error),
                },
                Err(error) => last = Some(error),
            }
        }
        Err(StoreError::Query(last.unwrap_or(sqlx::Error::PoolClosed)))
    }

    fn not_ours(&self) -> StoreError {
        StoreError::NotOurs { path: self.path.display().to_string() }
    }

    /// Is every row there that this account wrote, and no other?
    async fn check(&self) -> Result<(), StoreError> {
        if seal::changed_mark(&self.path).exists() {
            return Err(self.not_ours());
        }
        let known = self.key.known_writes();
        let mut reading = self.pool.begin().await?;
        if seal::is_ours(&mut reading, &self.key, known).await? { Ok(()) } else { Err(self.not_ours()) }
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&self.pool).await?;
        if found == LAYOUT {
            return self.check().await;
        }
        if found > LAYOUT {
            return Err(StoreError::TooNew { found, known: LAYOUT });
        }
        let known = self.key.known_writes();
        // Immediate, so that two processes that open a new ledger at once migrate it once.
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
        if found == LAYOUT {
            drop(transaction);
            return self.check().await;
        }
        let definitions: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *transaction).await?;
        let is_new = found == 0 && definitions == 0;
        if !is_new && (found < FIRST_SEALED || !seal::is_ours(&mut transaction, &self.key, known).await?) {
            return Err(self.not_ours());
        }
        for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
            sqlx::raw_sql(*migration).execute(&mut *transaction).await?;
        }
        sqlx::raw_sql(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {LAYOUT}"))).execute(&mut *transaction).await?;
        if is_new {
            seal::seal_new(&mut transaction, &self.key).await?;
        } else {
            seal::seal_again(&mut transaction, &self.key).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Stores a step, or says that another process was faster.
    pub async fn store_step(&self, step: &StepRow<'_>) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        write.open(Table::Run, "t.id = ?", &[step.run.into()], self).await?;
        write.open(Table::Input, "t.run = ? AND t.seq = ?", &[step.run.into(), step.seq.into()], self).await?;
        let transaction = &mut write.transaction;
        let moved = if step.seq == 0 {
            sqlx::query("INSERT OR IGNORE INTO run (id, case_id, procedure, created_at, seq, state, settled) VALUES (?, ?, ?, ?, 1, ?, ?)")
                .bind(step.run)
                .bind(step.case_id)
                .bind(step.procedure)
                .bind(step.at)
                .bind(step.state)
                .bind(step.settled)
                .execute(&mut **transaction)
                .await?
        } else {
            sqlx::query("UPDATE run SET seq = seq + 1, state = ?, settled = ? WHERE id = ? AND seq = ?")
                .bind(step.state)
                .bind(step.settled)
                .bind(step.run)
                .bind(step.seq)
                .execute(&mut **transaction)
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
            .execute(&mut **transaction)
            .await?;
        write.close(Table::Run, "t.id = ?", &[step.run.into()]).await?;
        write.close(Table::Input, "t.run = ? AND t.seq = ?", &[step.run.into(), step.seq.into()]).await?;
        if let Some(key) = step.finished_effect {
            write.open(Table::Effect, "t.key = ?", &[key.into()], self).await?;
            sqlx::query("UPDATE effect SET done = 1 WHERE key = ?").bind(key).execute(&mut *write.transaction).await?;
            write.close(Table::Effect, "t.key = ?", &[key.into()]).await?;
        }
        for effect in step.effects {
            write.open(Table::Effect, "t.key = ?", &[effect.key.as_str().into()], self).await?;
            sqlx::query("INSERT OR IGNORE INTO effect (key, run, body, done) VALUES (?, ?, ?, 0)")
                .bind(&effect.key)
                .bind(step.run)
                .bind(&effect.body)
                .execute(&mut *write.transaction)
                .await?;
            write.close(Table::Effect, "t.key = ?", &[effect.key.as_str().into()]).await?;
        }
        if let Some(document) = step.document {
            self.insert_document(&mut write, document).await?;
        }
        for (key, n) in step.names {
            let values = [step.case_id.into(), key.as_str().into()];
            write.open(Table::FindingName, "t.case_id = ? AND t.key = ?", &values, self).await?;
            sqlx::query("INSERT OR IGNORE INTO finding_name (case_id, key, n) VALUES (?, ?, ?)")
                .bind(step.case_id)
                .bind(key)
                .bind(n)
                .execute(&mut *write.transaction)
                .await?;
            write.close(Table::FindingName, "t.case_id = ? AND t.key = ?", &values).await?;
        }
        write.commit().await
    }

    async fn insert_document(&self, write: &mut seal::Write<'_>, document: &DocumentRow) -> Result<(), StoreError> {
        let values = [document.run.as_str().into()];
        for table in [Table::Document, Table::DocumentText] {
            write.open(table, "t.run = ?", &values, self).await?;
        }
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
        .execute(&mut *write.transaction)
        .await?;
        for table in [Table::Document, Table::DocumentText] {
            write.close(table, "t.run = ?", &values).await?;
        }
        Ok(())
    }

    pub async fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Run, "t.id = ?", &[id.into()]).await?;
        let row = sqlx::query("SELECT * FROM run WHERE id = ?").bind(id).fetch_optional(&mut *reading).await?;
        Ok(row.as_ref().map(run_row))
    }

    /// The newest run that was begun and never settled, of one case or of all. Every run is held against its seal: one that was called
    /// settled, or given to another case, would not be found at all.
    pub async fn unsettled(&self, procedure: &str, case_id: Option<&str>) -> Result<Option<RunRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Run, "true", &[]).await?;
        let row = sqlx::query(
            "SELECT * FROM run WHERE settled = 0 AND procedure = ?1 AND (?2 IS NULL OR case_id = ?2) \
             ORDER BY created_at DESC, id DESC LIMIT 1",
        );
        let row = row.bind(procedure).bind(case_id).fetch_optional(&mut *reading).await?;
        Ok(row.as_ref().map(run_row))
    }

    pub async fn inputs(&self, run: &str) -> Result<Vec<InputRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Input, "t.run = ?", &[run.into()]).await?;
        let rows =
            sqlx::query("SELECT at, body FROM input WHERE run = ? ORDER BY seq").bind(run).fetch_all(&mut *reading).await?;
        Ok(rows.iter().map(|row| InputRow { at: row.get("at"), body: row.get("body") }).collect())
    }

    pub async fn open_effects(&self, run: &str) -> Result<Vec<EffectRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Effect, "t.run = ?", &[run.into()]).await?;
        let rows = sqlx::query("SELECT key, body FROM effect WHERE run = ? AND done = 0 ORDER BY key")
            .bind(run)
            .fetch_all(&mut *reading)
            .await?;
        Ok(rows.iter().map(|row| EffectRow { key: row.get("key"), body: row.get("body") }).collect())
    }

    pub async fn document(&self, run: &str) -> Result<Option<DocumentRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify_documents(&mut reading, "t.run = ?", &[run.into()]).await?;
        let row = sqlx::query("SELECT * FROM document WHERE run = ?").bind(run).fetch_optional(&mut *reading).await?;
        Ok(row.as_ref().map(document_row))
    }

    /// Which documents there are is held against the seals of all of them: one that was renamed is not the last one any more.
    async fn verify_documents(
        &self,
        reading: &mut sqlx::SqliteConnection,
        condition: &str,
        values: &[seal::Value<'_>],
    ) -> Result<(), StoreError> {
        self.verify(&mut *reading, Table::Document, "true", &[]).await?;
        self.verify(reading, Table::DocumentText, condition, values).await
    }

    pub async fn last_document(&self, case_id: &str) -> Result<Option<DocumentRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        let last = "t.run = (SELECT run FROM document WHERE case_id = ? ORDER BY at DESC, run DESC LIMIT 1)";
        self.verify_documents(&mut reading, last, &[case_id.into()]).await?;
        let row = sqlx::query("SELECT * FROM document WHERE case_id = ? ORDER BY at DESC, run DESC LIMIT 1")
            .bind(case_id)
            .fetch_optional(&mut *reading)
            .await?;
        Ok(row.as_ref().map(document_row))
    }

    pub async fn count_documents(&self, case_id: &str) -> Result<i64, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Document, "true", &[]).await?;
        let count = sqlx::query_scalar("SELECT count(*) FROM document WHERE case_id = ?").bind(case_id);
        Ok(count.fetch_one(&mut *reading).await?)
    }

    /// Newest first.
    pub async fn history(&self, limit: i64) -> Result<Vec<DocumentRow>, StoreError> {
        let mut reading = self.pool.begin().await?;
        let newest = "t.run IN (SELECT run FROM document ORDER BY at DESC, run DESC LIMIT ?)";
        self.verify_documents(&mut reading, newest, &[limit.into()]).await?;
        let rows = sqlx::query("SELECT * FROM document ORDER BY at DESC, run DESC LIMIT ?").bind(limit);
        Ok(rows.fetch_all(&mut *reading).await?.iter().map(document_row).collect())
    }

    pub async fn names(&self, case_id: &str) -> Result<Vec<(String, i64)>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::FindingName, "t.case_id = ?", &[case_id.into()]).await?;
        let rows = sqlx::query("SELECT key, n FROM finding_name WHERE case_id = ? ORDER BY n")
            .bind(case_id)
            .fetch_all(&mut *reading)
            .await?;
        Ok(rows.iter().map(|row| (row.get("key"), row.get("n"))).collect())
    }

    /// Findings of a case that somebody waved away, as given.
    pub async fn dismissals(&self, case_id: &str) -> Result<Vec<String>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Dismissal, "t.case_id = ?", &[case_id.into()]).await?;
        Ok(sqlx::query_scalar("SELECT body FROM dismissal WHERE case_id = ? ORDER BY at, finding")
            .bind(case_id)
            .fetch_all(&mut *reading)
            .await?)
    }

    /// The same of every case, each with its case.
    pub async fn all_dismissals(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Dismissal, "true", &[]).await?;
        let rows =
            sqlx::query("SELECT case_id, body FROM dismissal ORDER BY case_id, at, finding").fetch_all(&mut *reading).await?;
        Ok(rows.iter().map(|row| (row.get("case_id"), row.get("body"))).collect())
    }

    /// The last word on a finding is the one that counts.
    pub async fn put_dismissal(&self, case_id: &str, finding: &str, at: i64, body: &str) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let (condition, values) = ("t.case_id = ? AND t.finding = ?", [case_id.into(), finding.into()]);
        write.open(Table::Dismissal, condition, &values, self).await?;
        sqlx::query("INSERT OR REPLACE INTO dismissal (case_id, finding, at, body) VALUES (?, ?, ?, ?)")
            .bind(case_id)
            .bind(finding)
            .bind(at)
            .bind(body)
            .execute(&mut *write.transaction)
            .await?;
        write.close(Table::Dismissal, condition, &values).await?;
        write.commit().await
    }

    pub async fn put_blob(&self, digest: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        write.open(Table::Blob, "t.digest = ?", &[digest.into()], self).await?;
        sqlx::query("INSERT OR IGNORE INTO blob (digest, bytes) VALUES (?, ?)")
            .bind(digest)
            .bind(bytes)
            .execute(&mut *write.transaction)
            .await?;
        write.close(Table::Blob, "t.digest = ?", &[digest.into()]).await?;
        write.commit().await
    }

    pub async fn blob(&self, digest: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut reading = self.pool.begin().await?;
        self.verify(&mut reading, Table::Blob, "t.digest = ?", &[digest.into()]).await?;
        Ok(sqlx::query_scalar("SELECT bytes FROM blob WHERE digest = ?").bind(digest).fetch_optional(&mut *reading).await?)
    }
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
mod tests;
