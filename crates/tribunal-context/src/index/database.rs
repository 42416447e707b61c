//! The SQLite file of one collection: made, opened, and told apart from what is none of ours.

use super::IndexError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Says that a file is ours: `TrbI`.
const APPLICATION: i32 = 0x5472_6249;
/// Raised when the tables change: an index file of another version is rebuilt.
const VERSION: i32 = 1;
/// Nobody who reads waits for a writer; this is for the moments in which another process opens or closes the file.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// `words` cuts only at the spaces that stand between stems: for the tokenizer `ascii` every character beyond ASCII belongs to a word.
/// It keeps no text, because the page has it. `postings` lists where each stem stands. The lengths have an index of their own, so that
/// reading all of them does not read all pages.
const TABLES: &str = "
    CREATE TABLE pages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        source TEXT NOT NULL,
        hash TEXT NOT NULL,
        title_length INTEGER NOT NULL,
        text_length INTEGER NOT NULL,
        page TEXT NOT NULL
    ) STRICT;
    CREATE INDEX pages_by_source ON pages (source);
    CREATE INDEX pages_by_hash ON pages (hash);
    CREATE INDEX pages_by_length ON pages (title_length, text_length);
    CREATE VIRTUAL TABLE words USING fts5 (title, text, content = '', contentless_delete = 1, tokenize = 'ascii');
    CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);
    CREATE TABLE state (value TEXT NOT NULL) STRICT;
    INSERT INTO state VALUES ('');
";

fn file(folder: &Path) -> PathBuf {
    folder.join("words.db")
}

/// In a folder that has none yet.
pub fn create(folder: &Path) -> Result<Connection, IndexError> {
    make_private(folder)?;
    // SQLite gives the files that it makes beside this one the same rights.
    private_file(&file(folder))?;
    let connection = connect(folder)?;
    // Readers are not blocked by a writer. A write that is lost in a power failure is repeated by the next refresh.
    connection.pragma_update(None, "journal_mode", "wal")?;
    let whole = connection.unchecked_transaction()?;
    whole.execute_batch(TABLES)?;
    whole.pragma_update(None, "application_id", APPLICATION)?;
    whole.pragma_update(None, "user_version", VERSION)?;
    whole.commit()?;
    Ok(connection)
}

/// Nothing where there is none, or none that this version can read.
pub fn open(folder: &Path) -> Result<Option<Connection>, IndexError> {
    // A link may lead anywhere, and a rebuild replaces the link itself.
    if folder.is_symlink() || file(folder).is_symlink() || !file(folder).is_file() {
        return Ok(None);
    }
    match connect(folder).and_then(|connection| Ok(is_ours(&connection)?.then_some(connection))) {
        Err(error) if is_of_the_system(&error) => Err(error.into()),
        opened => Ok(opened.ok().flatten()),
    }
}

fn connect(folder: &Path) -> rusqlite::Result<Connection> {
    let connection =
        Connection::open_with_flags(file(folder), OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    // The file may come with somebody else's checkout: what its tables define calls no function with side effects.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Reads the tables too, as far as that costs nothing: a file may have our name and nothing behind it.
fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if number("application_id")? != APPLICATION || number("user_version")? != VERSION {
        return Ok(false);
    }
    connection.query_row("SELECT value FROM state", [], |row| row.get::<_, String>(0))?;
    connection.prepare("SELECT doc, col FROM postings WHERE term = ?1")?.exists(["any"])?;
    Ok(true)
}

/// Says nothing of what is in the file: another time it can be read.
fn is_of_the_system(error: &rusqlite::Error) -> bool {
    let passing = matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::OutOfMemory
        )
    );
    passing || is_busy(error)
}

pub fn is_damaged(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What issues and code say is for this account alone, whatever the umask is.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
