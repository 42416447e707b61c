//! The programs that are run: found on the entries of `PATH` that count, and started by their whole path, in an environment whose `PATH`
//! has those entries alone. A program that somebody named by a path is taken by it.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tribunal_core::program_path::{FileSystem, ProgramPath, is_plain};

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
        // A pipe would be waited for.
        let file = path.metadata().ok().filter(std::fs::Metadata::is_file).and_then(|_| std::fs::File::open(path).ok())?;
        let mut text = String::new();
        file.take(MAX_LINE_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
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

/// Where the checkout of the current folder has no part in what is run.
fn here() -> &'static ProgramPath {
    static HERE: OnceLock<ProgramPath> = OnceLock::new();
    HERE.get_or_init(|| ProgramPath::new(entries(), &[Path::new(".")], &Disk))
}

/// The folders that programs are taken from.
pub fn folders() -> &'static [PathBuf] {
    here().folders()
}

/// Entries of `PATH` that do not count, because they are relative, lie in the checkout or do not exist.
pub fn ignored() -> &'static [PathBuf] {
    here().ignored()
}

/// What a child gets as its `PATH`.
pub fn path_variable() -> OsString {
    std::env::join_paths(folders()).unwrap_or_default()
}

/// Where a program is that was named without a folder, or by its whole path.
pub fn find(program: &str) -> Option<PathBuf> {
    if Path::new(program).is_absolute() {
        return Disk.is_program(Path::new(program)).then(|| PathBuf::from(program));
    }
    here().find(&names(program), &Disk)
}

/// The files that it may be.
fn names(program: &str) -> Vec<String> {
    if cfg!(windows) { vec![format!("{program}.exe"), format!("{program}.cmd")] } else { vec![program.to_owned()] }
}

/// A program for work in another folder, and the `PATH` for it: neither that folder's checkout nor that of the current one has a part in
/// them.
pub fn find_for(folder: &Path, program: &str) -> (Option<PathBuf>, OsString) {
    let programs = ProgramPath::new(entries(), &[Path::new("."), folder], &Disk);
    (programs.find(&names(program), &Disk), std::env::join_paths(programs.folders()).unwrap_or_default())
}

/// What is started for the first word of a command.
pub fn located(program: &str) -> io::Result<PathBuf> {
    if !is_plain(program) {
        return Ok(PathBuf::from(program));
    }
    let missing =
        || io::Error::new(io::ErrorKind::NotFound, "it is not on the PATH (relative entries and the checkout do not count)");
    find(program).ok_or_else(missing)
}

/// A program that is started outside of the sandbox, with our environment.
pub fn command(program: &str) -> io::Result<Command> {
    let mut command = Command::new(located(program)?);
    command.env("PATH", path_variable());
    Ok(command)
}
