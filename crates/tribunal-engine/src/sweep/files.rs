//! The files of a loop: the budget, replaced whole, and the history, one line for each tick (SL sections 18 and 22). They are made of
//! what the ledger knows; what somebody else left there is refused with its reason, never mended (SL-128).

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use tribunal_core::procedure::sweep::history::{BudgetFile, HistoryLine};

/// More than this at the end of a history is no line of one.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// Replaces the budget, whole or not at all.
pub fn put_budget(path: &Path, budget: &BudgetFile) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = serde_json::to_string_pretty(budget).map_err(|error| told(&error))? + "\n";
    let temporary = path.with_extension("json.tmp");
    let write = || -> std::io::Result<()> {
        make_folder(path)?;
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| told(&error))
}

/// Appends a line unless it stands there. Says whether the file is a new one.
pub fn put_line(path: &Path, line: &HistoryLine) -> Result<bool, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = serde_json::to_string(line).map_err(|error| told(&error))? + "\n";
    let write = || -> std::io::Result<bool> {
        make_folder(path)?;
        let is_new = !path.exists();
        let mut file = File::options().create(true).append(true).read(true).open(path)?;
        let end = ending(&mut file)?;
        let last = end.lines().next_back().and_then(|last| serde_json::from_str::<HistoryLine>(last).ok());
        if last.is_some_and(|last| last.run == line.run && last.tick == line.tick) {
            return Ok(false);
        }
        // Cut off in the middle of a line: what comes next must not become part of it.
        let gap = if end.is_empty() || end.ends_with('\n') { "" } else { "\n" };
        file.write_all(format!("{gap}{text}").as_bytes())?;
        file.sync_all()?;
        Ok(is_new)
    };
    write().map_err(|error| told(&error))
}

/// What is there; nothing when there is no such file.
pub fn text(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}

/// The end of a file, as much as a line can be.
fn ending(file: &mut File) -> std::io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST_LINE)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
