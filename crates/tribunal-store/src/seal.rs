//! The seal of a ledger: what is read from it is what this account wrote last, row by row and as a whole.
//!
//! Every row has a message authentication code over its columns (table `seal`). The ledger has one over the sum of all of them, over
//! the number of writes and over its own tables (table `sealed`), which is brought up to date in the same transaction as the rows. So
//! a row that was edited, put in, taken out or put back as it was before is noticed, without reading the whole ledger: the sums are
//! compared when it is opened, and each row when it is read. The number of writes is also kept outside, in the person's state folder: a
//! whole ledger of an earlier day is noticed by it.

use crate::folder::hex;
use crate::{Ledger, StoreError};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Row as _, Sqlite, Transaction};
use std::path::{Path, PathBuf};

/// The key of one ledger.
#[derive(Clone)]
pub struct SealKey {
    key: [u8; 32],
    /// Where the number of writes is kept outside of the ledger.
    mark: Option<PathBuf>,
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SealKey({:?})", self.mark)
    }
}

/// A code as six numbers of 40 bits: SQLite can add millions of them up.
type Code = [i64; 6];

impl SealKey {
    pub fn new(secret: &[u8; 32], ledger: &str, mark: Option<PathBuf>) -> Self {
        let key = Self { key: *secret, mark: None }.mac(&[b"ledger", ledger.as_bytes()]);
        Self { key, mark }
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).unwrap_or_else(|_| unreachable!("a key of any length is taken"));
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    fn of_row(&self, table: Table, id: &str, columns: &str) -> Code {
        let mac = self.mac(&[b"row", table.name().as_bytes(), id.as_bytes(), columns.as_bytes()]);
        let limb = |n: usize| mac[n * 5..n * 5 + 5].iter().fold(0_i64, |sum, byte| (sum << 8) | i64::from(*byte));
        std::array::from_fn(limb)
    }

    fn of_whole(&self, whole: &Whole, tables: &str) -> String {
        let numbers = format!("{} {} {:?}", whole.writes, whole.rows, whole.sums);
        hex(&self.mac(&[b"whole", numbers.as_bytes(), tables.as_bytes()]))
    }

    /// How many writes this account knows of. To be asked before a transaction begins: what other processes store after that is
    /// counted here and not seen there.
    pub(crate) fn known_writes(&self) -> i64 {
        let text = self.mark.as_ref().and_then(|mark| std::fs::read_to_string(mark).ok());
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// A mark that lags behind, because a process was killed before it wrote it, is no harm.
    fn note_writes(&self, writes: i64) {
        let Some(mark) = &self.mark else { return };
        let Some(folder) = mark.parent() else { return };
        let aside = mark.with_extension(std::process::id().to_string());
        let written = crate::folder::make_private(folder)
            .and_then(|()| std::fs::write(&aside, writes.to_string()))
            .and_then(|()| std::fs::rename(&aside, mark));
        let _ = written;
    }
}

/// What is sealed together. A new table of the ledger needs an entry here; a test fails without it. Calls and documents are sealed in
/// two parts: which ones there are is asked for often, of all of them, and their texts are long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Run,
    Input,
    Effect,
    Document,
    DocumentText,
    FindingName,
    Blob,
    Call,
    CallText,
    Dismissal,
    Desk,
    Status,
    Gate,
    Hold,
}

impl Table {
    pub const ALL: [Table; 14] = [
        Table::Run,
        Table::Input,
        Table::Effect,
        Table::Document,
        Table::DocumentText,
        Table::FindingName,
        Table::Blob,
        Table::Call,
        Table::CallText,
        Table::Dismissal,
        Table::Desk,
        Table::Status,
        Table::Gate,
        Table::Hold,
    ];

    fn name(self) -> &'static str {
        match self {
            Table::Run => "run",
            Table::Input => "input",
            Table::Effect => "effect",
            Table::Document => "document",
            Table::DocumentText => "document text",
            Table::FindingName => "finding_name",
            Table::Blob => "blob",
            Table::Call => "call",
            Table::CallText => "call text",
            Table::Dismissal => "dismissal",
            Table::Desk => "desk",
            Table::Status => "status",
            Table::Gate => "gate",
            Table::Hold => "hold",
        }
    }

    fn rows(self) -> &'static str {
        match self {
            Table::CallText => "call",
            Table::DocumentText => "document",
            other => other.name(),
        }
    }

    fn id(self) -> &'static [&'static str] {
        match self {
            Table::Run | Table::Gate => &["id"],
            Table::Input => &["run", "seq"],
            Table::Effect => &["run", "key"],
            Table::Call | Table::CallText => &["key"],
            Table::Document | Table::DocumentText => &["run"],
            Table::FindingName => &["case_id", "key"],
            Table::Blob => &["digest"],
            Table::Dismissal => &["case_id", "finding"],
            Table::Desk => &["number"],
            Table::Status => &["sha", "name"],
            Table::Hold => &["case_id", "head", "source"],
        }
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Table::Run => &["id", "case_id", "procedure", "created_at", "seq", "state", "settled"],
            Table::Input => &["run", "seq", "at", "body"],
            Table::Effect => &["key", "run", "body", "done"],
            Table::Document => &["run", "case_id", "at", "base", "head", "subject", "outcome", "verdict", "findings"],
            Table::DocumentText => &["run", "body"],
            Table::FindingName => &["case_id", "key", "n"],
            Table::Blob => &["digest", "bytes"],
            Table::Call => {
                &["key", "run", "case_id", "month", "at", "slot", "agent", "question_hash", "reserved", "cost", "tokens"]
            }
            Table::CallText => &["key", "question", "answer"],
            Table::Dismissal => &["case_id", "finding", "at", "body"],
            Table::Desk => &["number", "kind", "version", "claim", "body"],
            Table::Status => &["sha", "name", "body"],
            Table::Gate => &["id", "run", "case_id", "asked_at", "until", "question", "answer"],
            Table::Hold => &["case_id", "head", "source", "body"],
        }
    }

    /// Type and bytes of these columns, in a form that no other row has.
    fn canonical(columns: &[&str]) -> String {
        let column = |name: &&str| format!("typeof(t.{name}) || ':' || hex(CAST(t.{name} AS BLOB))");
        columns.iter().map(column).collect::<Vec<_>>().join(" || ',' || ")
    }

    /// The rows of a condition, each with its id, its content and its seal. The condition names columns of `t`.
    fn query(self, condition: &str) -> String {
        format!(
            "SELECT {id} AS sealed_id, {content} AS content, s.m0, s.m1, s.m2, s.m3, s.m4, s.m5
             FROM {rows} AS t LEFT JOIN seal AS s ON s.sealed = '{name}' AND s.id = {id} WHERE {condition}",
            id = Self::canonical(self.id()),
            content = Self::canonical(self.columns()),
            rows = self.rows(),
            name = self.name(),
        )
    }
}

/// A value to compare with in a condition.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(i64),
    Nothing,
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Number(number)
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Value::Nothing, Value::Text)
    }
}

/// What the ledger as a whole is sealed with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Whole {
    writes: i64,
    rows: i64,
    sums: Code,
}

/// The tables of the seal itself; part of the ledger's layout.
pub(crate) const TABLES: &str = r"
CREATE TABLE seal (
    sealed TEXT NOT NULL, id TEXT NOT NULL, m0 INTEGER NOT NULL, m1 INTEGER NOT NULL, m2 INTEGER NOT NULL, m3 INTEGER NOT NULL,
    m4 INTEGER NOT NULL, m5 INTEGER NOT NULL, PRIMARY KEY (sealed, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE sealed (
    one INTEGER PRIMARY KEY CHECK (one = 1), writes INTEGER NOT NULL, rows INTEGER NOT NULL, s0 INTEGER NOT NULL, s1 INTEGER NOT NULL,
    s2 INTEGER NOT NULL, s3 INTEGER NOT NULL, s4 INTEGER NOT NULL, s5 INTEGER NOT NULL, mac TEXT NOT NULL
) STRICT;
";

/// The definitions of all tables, indexes and whatever else somebody may have put in: a trigger could rewrite what is stored.
async fn tables(connection: &mut SqliteConnection) -> Result<String, StoreError> {
    let rows =
        sqlx::query("SELECT type || ' ' || name || ' ' || coalesce(sql, '') AS said FROM sqlite_schema ORDER BY type, name");
    let rows = rows.fetch_all(connection).await?;
    Ok(rows.iter().map(|row| row.get::<String, _>("said")).collect::<Vec<_>>().join("\n"))
}

/// What the ledger says of itself, if the seal on it is ours.
async fn whole(connection: &mut SqliteConnection, key: &SealKey) -> Result<Option<Whole>, StoreError> {
    let tables = tables(&mut *connection).await?;
    let Some(row) = sqlx::query("SELECT * FROM sealed").fetch_optional(connection).await? else { return Ok(None) };
    let sums = ["s0", "s1", "s2", "s3", "s4", "s5"].map(|name| row.get::<i64, _>(name));
    let whole = Whole { writes: row.get("writes"), rows: row.get("rows"), sums };
    let is_ours = row.get::<String, _>("mac") == key.of_whole(&whole, &tables);
    Ok(is_ours.then_some(whole))
}

/// Seals a ledger that has no rows yet.
pub(crate) async fn seal_new(connection: &mut SqliteConnection, key: &SealKey) -> Result<(), StoreError> {
    // A ledger of the same id that is gone had more writes; the new one goes on from there.
    let whole = Whole { writes: key.known_writes(), ..Whole::default() };
    put_whole(connection, key, &whole).await
}

/// Seals a ledger of ours whose tables have just been changed.
pub(crate) async fn seal_again(connection: &mut SqliteConnection, key: &SealKey) -> Result<(), StoreError> {
    let row = sqlx::query("SELECT * FROM sealed").fetch_one(&mut *connection).await?;
    let sums = ["s0", "s1", "s2", "s3", "s4", "s5"].map(|name| row.get::<i64, _>(name));
    put_whole(connection, key, &Whole { writes: row.get("writes"), rows: row.get("rows"), sums }).await
}

async fn put_whole(connection: &mut SqliteConnection, key: &SealKey, whole: &Whole) -> Result<(), StoreError> {
    let mac = key.of_whole(whole, &tables(&mut *connection).await?);
    let mut query =
        sqlx::query("INSERT OR REPLACE INTO sealed VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)").bind(whole.writes).bind(whole.rows);
    for sum in whole.sums {
        query = query.bind(sum);
    }
    query.bind(mac).execute(connection).await?;
    Ok(())
}

/// Is the ledger the one that this account wrote last? `known` are the writes that were known before the transaction began.
pub(crate) async fn is_ours(connection: &mut SqliteConnection, key: &SealKey, known: i64) -> Result<bool, StoreError> {
    let Some(whole) = whole(&mut *connection, key).await? else { return Ok(false) };
    let sums = "SELECT count(*) AS rows, coalesce(sum(m0), 0) AS s0, coalesce(sum(m1), 0) AS s1, coalesce(sum(m2), 0) AS s2,
                coalesce(sum(m3), 0) AS s3, coalesce(sum(m4), 0) AS s4, coalesce(sum(m5), 0) AS s5 FROM seal";
    let row = sqlx::query(sums).fetch_one(&mut *connection).await?;
    let found = Whole {
        writes: whole.writes,
        rows: row.get("rows"),
        sums: ["s0", "s1", "s2", "s3", "s4", "s5"].map(|name| row.get::<i64, _>(name)),
    };
    // An older layout lacks the newer tables. Which tables there are is sealed, too.
    let there: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table'").fetch_all(&mut *connection).await?;
    let counts = Table::ALL.into_iter().filter(|table| there.iter().any(|name| name == table.rows()));
    let counts: Vec<String> = counts.map(|table| format!("(SELECT count(*) FROM {})", table.rows())).collect();
    let counts = counts.join(" + ");
    let rows: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT {counts}"))).fetch_one(connection).await?;
    Ok(found == whole && rows == whole.rows && whole.writes >= known)
}

/// A write of one transaction, whose rows are sealed with it.
pub(crate) struct Write<'l> {
    pub transaction: Transaction<'l, Sqlite>,
    key: &'l SealKey,
    whole: Whole,
}

impl Ledger {
    /// Immediate, so that what is read before the write is still true when it is stored.
    pub(crate) async fn write(&self) -> Result<Write<'_>, StoreError> {
        let mut transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        match whole(&mut transaction, &self.key).await? {
            Some(whole) => Ok(Write { transaction, key: &self.key, whole }),
            None => Err(self.changed("the seal of the ledger")),
        }
    }

    /// Leaves a mark, so that whoever opens the ledger next sets it aside instead of meeting the same row again.
    pub(crate) fn changed(&self, what: &str) -> StoreError {
        let _ = std::fs::write(changed_mark(&self.path), what);
        StoreError::Changed { path: self.path.display().to_string(), what: what.to_owned() }
    }

    /// Holds every row of a condition against its seal. In the same transaction as the question that it is for.
    pub(crate) async fn verify(
        &self,
        connection: &mut SqliteConnection,
        table: Table,
        condition: &str,
        values: &[Value<'_>],
    ) -> Result<(), StoreError> {
        let rows = fetch(&mut *connection, table, condition, values).await?;
        let sealed = match (values.first(), condition.strip_prefix(&format!("t.{} = ?", table.id()[0]))) {
            (Some(value), Some("")) => seals_below(connection, table, value).await?,
            _ => rows.len() as i64,
        };
        // A row that now has another name leaves its seal behind.
        if sealed == rows.len() as i64 && rows.iter().all(|row| row.is_sealed(&self.key, table)) {
            return Ok(());
        }
        Err(self.changed(table.name()))
    }
}

/// How many rows with this value in the first column of their id were sealed.
async fn seals_below(connection: &mut SqliteConnection, table: Table, value: &Value<'_>) -> Result<i64, StoreError> {
    let (kind, text) = match value {
        Value::Text(text) => ("text", (*text).to_owned()),
        Value::Number(number) => ("integer", number.to_string()),
        Value::Nothing => return Ok(0),
    };
    let first = format!("{kind}:{}", hex(text.as_bytes()).to_uppercase());
    // The parts of an id are hexadecimal numbers and words, so that a tilde comes behind all of them.
    let (from, to) = if table.id().len() == 1 { (first.clone(), first) } else { (format!("{first},"), format!("{first},~")) };
    let count = sqlx::query_scalar("SELECT count(*) FROM seal WHERE sealed = ? AND id BETWEEN ? AND ?");
    Ok(count.bind(table.name()).bind(from).bind(to).fetch_one(connection).await?)
}

pub(crate) fn changed_mark(ledger: &Path) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(".changed");
    PathBuf::from(name)
}

/// A row as it is sealed.
struct SealedRow {
    id: String,
    content: String,
    code: Option<Code>,
}

impl SealedRow {
    fn is_sealed(&self, key: &SealKey, table: Table) -> bool {
        self.code == Some(key.of_row(table, &self.id, &self.content))
    }
}

async fn fetch(
    connection: &mut SqliteConnection,
    table: Table,
    condition: &str,
    values: &[Value<'_>],
) -> Result<Vec<SealedRow>, StoreError> {
    // Made of the names above and of conditions that are written in this crate.
    let text = table.query(condition);
    let mut query = sqlx::query(AssertSqlSafe(text));
    for value in values {
        query = match value {
            Value::Text(text) => query.bind((*text).to_owned()),
            Value::Number(number) => query.bind(*number),
            Value::Nothing => query.bind(None::<String>),
        };
    }
    let row = |row: &sqlx::sqlite::SqliteRow| {
        let limbs = ["m0", "m1", "m2", "m3", "m4", "m5"].map(|name| row.get::<Option<i64>, _>(name));
        let code = limbs.iter().all(Option::is_some).then(|| limbs.map(Option::unwrap_or_default));
        SealedRow { id: row.get("sealed_id"), content: row.get("content"), code }
    };
    Ok(query.fetch_all(connection).await?.iter().map(row).collect())
}

impl Write<'_> {
    /// Before rows are changed or replaced: they must be ours, or the change would seal what somebody else wrote. Takes their seals off.
    pub async fn open(&mut self, table: Table, condition: &str, values: &[Value<'_>], ledger: &Ledger) -> Result<(), StoreError> {
        for row in fetch(&mut self.transaction, table, condition, values).await? {
            let Some(code) = row.code.filter(|_| row.is_sealed(self.key, table)) else {
                return Err(ledger.changed(table.name()));
            };
            for (sum, limb) in self.whole.sums.iter_mut().zip(code) {
                *sum -= limb;
            }
            self.whole.rows -= 1;
            sqlx::query("DELETE FROM seal WHERE sealed = ? AND id = ?")
                .bind(table.name())
                .bind(&row.id)
                .execute(&mut *self.transaction)
                .await?;
        }
        Ok(())
    }

    /// After rows were written: seals those that have no seal.
    pub async fn close(&mut self, table: Table, condition: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        for row in fetch(&mut self.transaction, table, condition, values).await?.iter().filter(|row| row.code.is_none()) {
            let code = self.key.of_row(table, &row.id, &row.content);
            let mut query = sqlx::query("INSERT INTO seal VALUES (?, ?, ?, ?, ?, ?, ?, ?)").bind(table.name()).bind(&row.id);
            for limb in code {
                query = query.bind(limb);
            }
            query.execute(&mut *self.transaction).await?;
            for (sum, limb) in self.whole.sums.iter_mut().zip(code) {
                *sum += limb;
            }
            self.whole.rows += 1;
        }
        Ok(())
    }

    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.whole.writes += 1;
        put_whole(&mut self.transaction, self.key, &self.whole).await?;
        self.transaction.commit().await?;
        self.key.note_writes(self.whole.writes);
        Ok(())
    }
}
