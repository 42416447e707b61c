//! The git that is run: found once on the entries of `PATH` that count, started by its whole path, and given those entries alone, because
//! git looks for its own helpers there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The program and its `PATH`.
#[derive(Clone)]
struct Found {
    git: Option<PathBuf>,
    path: OsString,
}

/// For a command that works in this folder: neither its checkout nor that of the current folder chooses a program.
fn find(folder: &Path) -> Found {
    static KNOWN: Mutex<BTreeMap<PathBuf, Found>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(folder) {
        return found.clone();
    }
    let (git, path) = tribunal_programs::find_for(folder, "git");
    let found = Found { git, path };
    known.insert(folder.to_owned(), found.clone());
    found
}

/// git by its whole path, with a `PATH` that the change has no part in. Nothing if it is not installed.
pub(super) fn command_in(folder: &Path) -> Option<Command> {
    let found = find(folder);
    let mut command = Command::new(found.git?);
    command.env("PATH", found.path);
    Some(command)
}
