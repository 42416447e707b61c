//! The git that is run: found once on the entries of `PATH` that count, started by its whole path, and given those entries alone, because
//! git looks for its own helpers there.

use super::work_file::read_regular_file;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use tribunal_core::program_path::{FileSystem, ProgramPath};

/// More than any file that says where a git directory is.
const MAX_LINE_BYTES: u64 = 16 * 1024;

/// Tells the pure part what is on the disk.
struct Disk;

impl FileSystem for Disk {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn is_program(&self, path: &Path) -> bool {
        #[cfg(unix)]
        let runs = |about: &std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
        #[cfg(not(unix))]
        let runs = |_: &std::fs::Metadata| true;
        path.metadata().is_ok_and(|about| about.is_file() && runs(&about))
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn text(&self, path: &Path) -> Option<String> {
        let bytes = read_regular_file(path, MAX_LINE_BYTES).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn names(&self, folder: &Path) -> Vec<OsString> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
    }
}

/// The entries of `PATH`; without the variable, what the C library searches.
fn entries() -> Vec<PathBuf> {
    let usual = || OsString::from("/usr/bin:/bin");
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_else(usual)).collect()
}

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
    let programs = ProgramPath::new(entries(), &[Path::new("."), folder], &Disk);
    let names = if cfg!(windows) { ["git.exe".to_owned()] } else { ["git".to_owned()] };
    let found = Found { git: programs.find(&names, &Disk), path: std::env::join_paths(programs.folders()).unwrap_or_default() };
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
