//! The pages of one collection, and where their words stand.

use super::ranking::Matches;
use super::stems::stems;
use super::{IndexError, database};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use std::path::Path;
use std::time::Duration;
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::library::page::Page;
use tribunal_core::library::words::words;

/// How long a writer waits for another one before it reports `Busy`. The caller tries again.
const MOMENT: Duration = Duration::from_millis(100);

pub struct Collection {
    connection: Connection,
}

/// What it holds at one moment, whatever others write meanwhile.
pub struct Snapshot<'a>(Transaction<'a>);

/// A page, and where the collection has it.
pub struct Placed {
    pub page: Page,
    pub id: i64,
}

/// What makes a page the same page: where it is from, and what it says.
pub fn hash(page: &Page) -> String {
    let text = format!("{}\0{}\0{}\0{}\0{}", page.source, page.line, page.title, page.in_force, page.text);
    sha256_hex(text.as_bytes())[..32].to_owned()
}

impl Collection {
    pub fn create(folder: &Path) -> Result<Self, IndexError> {
        Ok(Self { connection: database::create(folder)? })
    }

    /// Nothing where there is none, or none that this version can read.
    pub fn open(folder: &Path) -> Result<Option<Self>, IndexError> {
        Ok(database::open(folder)?.map(|connection| Self { connection }))
    }

    /// One at a time, over all processes.
    pub fn writer(&self) -> Result<Transaction<'_>, IndexError> {
        self.connection.busy_timeout(MOMENT)?;
        let writer = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        self.connection.busy_timeout(database::PATIENCE)?;
        Ok(writer?)
    }

    /// Takes out everything of these sources and puts the pages in, at once.
    pub fn replace<'a>(&self, sources: &[&str], pages: impl Iterator<Item = &'a Page>) -> Result<(), IndexError> {
        let writer = self.writer()?;
        let mut state: String = writer.query_row("SELECT value FROM state", [], |row| row.get(0))?;
        let mut words_out = writer.prepare("DELETE FROM words WHERE rowid IN (SELECT id FROM pages WHERE source = ?1)")?;
        let mut pages_out = writer.prepare("DELETE FROM pages WHERE source = ?1")?;
        for source in sources {
            words_out.execute([source])?;
            pages_out.execute([source])?;
            state = sha256_hex(format!("{state}-{source}").as_bytes());
        }
        let mut pages_in =
            writer.prepare("INSERT INTO pages (source, hash, title_length, text_length, page) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let mut words_in = writer.prepare("INSERT INTO words (rowid, title, text) VALUES (?1, ?2, ?3)")?;
        for page in pages {
            let title = stems(&words(&format!("{} {} {}", page.name, page.title, page.section)));
            let text = stems(&words(&page.text));
            let (hash, json) = (hash(page), serde_json::to_string(page).map_err(std::io::Error::from)?);
            pages_in.execute(params![page.source, hash, title.len() as i64, text.len() as i64, json])?;
            words_in.execute(params![writer.last_insert_rowid(), title.join(" "), text.join(" ")])?;
            state = sha256_hex(format!("{state}+{hash}").as_bytes());
        }
        drop((words_out, pages_out, pages_in, words_in));
        writer.execute("UPDATE state SET value = ?1", [state])?;
        Ok(writer.commit()?)
    }

    pub fn snapshot(&self) -> Result<Snapshot<'_>, IndexError> {
        Ok(Snapshot(self.connection.unchecked_transaction()?))
    }

    /// A hash over every page that was added or removed so far. It changes with every change of the collection.
    pub fn state(&self) -> Result<String, IndexError> {
        Ok(self.connection.query_row("SELECT value FROM state", [], |row| row.get(0))?)
    }
}

impl Snapshot<'_> {
    pub fn matches(&self, words: &[String]) -> Result<Matches, IndexError> {
        Ok(Matches::of(&self.0, words)?)
    }

    pub fn page(&self, id: i64) -> Result<Option<Placed>, IndexError> {
        self.one("SELECT id, page FROM pages WHERE id = ?1", id)
    }

    pub fn by_hash(&self, hash: &str) -> Result<Option<Placed>, IndexError> {
        self.one("SELECT id, page FROM pages WHERE hash = ?1 LIMIT 1", hash)
    }

    /// A page that cannot be read is as if it were not there.
    fn one(&self, query: &str, key: impl rusqlite::ToSql) -> Result<Option<Placed>, IndexError> {
        let found = self.0.query_row(query, [key], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()?;
        Ok(found.and_then(|(id, json)| Some(Placed { page: serde_json::from_str(&json).ok()?, id })))
    }
}
