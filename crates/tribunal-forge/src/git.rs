//! git, called hardened.
//!
//! A change can try to hide from its reviewer, or to run something on his machine: external diff drivers, text converters,
//! attributes, hooks, file-system monitors, odd file names, tags that shadow branches. So can a repository whose git directory
//! somebody else wrote. Only plumbing commands are used; each has a class that says what it may touch ([`class`]), and none reads
//! the configuration of a person's repository ([`view`]). Names are resolved to full ids first, and paths never reach git as
//! patterns.

mod base_facts;
mod bounded;
pub mod change;
mod class;
pub mod commit;
mod export;
pub mod fetch;
mod git_folder;
mod known_paths;
mod listed;
pub mod look;
pub mod merge;
mod object_cache;
mod own_folder;
mod program;
mod records;
pub mod refs;
pub mod search;
mod settings;
pub mod snapshot;
mod stream;
mod untracked;
mod view;
pub mod work_file;
pub mod work_tree;
pub mod write;

pub use class::{git_in_demo, git_version};

use class::UntrustedTree;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tribunal_core::ids::{RepoPath, Sha};

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed, or not on the PATH, whose relative entries and those inside the checkout do not count")]
    NoGit,
    #[error("{0} is not inside a git repository")]
    NotARepository(PathBuf),
    #[error("`{0}` names no commit here")]
    UnknownRevision(String),
    #[error("branch `{0}` has no commit yet")]
    Unborn(String),
    #[error(
        "no base to compare with: neither the default branch of `origin` or `upstream` nor main, master, trunk or develop exists here"
    )]
    NoBase,
    #[error("`{base}` and `{head}` have no common history here")]
    NoMergeBase { base: String, head: String, shallow: bool },
    #[error("the parent of {} is not here: this clone is shallow, and its history ends there", .0.short())]
    NoParent(Sha),
    #[error("this is a bare repository, which has no working tree")]
    Bare,
    #[error("the index holds a merge that is not resolved: {}", named(.0))]
    Unmerged(Vec<RepoPath>),
    #[error("core.worktree of this repository names {}, but its git directory is in {}", .named.display(), .holder.display())]
    ForeignWorkTree { named: PathBuf, holder: PathBuf },
    #[error("the `.git` here leads to {}, which does not belong to this folder", .0.display())]
    Redirected(PathBuf),
    #[error("this folder is a bare repository inside {}, another repository", .inside.display())]
    Embedded { inside: PathBuf },
    #[error("this repository borrows objects from {} (objects/info/alternates)", .0.display())]
    Alternates(PathBuf),
    #[error("{} is a link to {}, which does not belong to this repository", .link.display(), .target.display())]
    LinkedAway { link: PathBuf, target: PathBuf },
    #[error("{} is neither a file nor a folder, and opening it could wait for ever", .0.display())]
    SpecialFile(PathBuf),
    #[error("{} is a symbolic link, and nothing is written through links in a git directory", .0.display())]
    Link(PathBuf),
    #[error(
        "this is a partial clone, and files that are needed are still on its server (git {command}: {message}); nothing is fetched \
         through the settings of a checkout, so let git bring them: git fetch --refetch --no-filter"
    )]
    Partial { command: String, message: String },
    #[error("git {command} failed: {message}")]
    Failed { command: String, message: String },
    #[error("there are more than {limit} files in it, and git does not compare that many here; split the change")]
    TooManyFiles { limit: u64 },
    #[error("the change could not be fetched: {0}")]
    Fetch(String),
    #[error("git gave an answer that does not add up: {0}")]
    Hollow(String),
    #[error(transparent)]
    Diff(#[from] tribunal_core::diff::parse::DiffError),
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

/// The first few paths, and how many there are beyond them.
fn named(paths: &[RepoPath]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<&str> = paths.iter().take(SHOWN).map(RepoPath::as_str).collect();
    match paths.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A git repository, by the folders that matter.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Top of the working tree; absent in a bare repository.
    pub work_tree: Option<PathBuf>,
    pub git_dir: PathBuf,
    /// Shared by all work trees of a repository: the ledger lives here.
    pub common_dir: PathBuf,
    /// What git is shown instead of the configuration of a person's repository. A clone of our own has a configuration of our own.
    view: Option<Arc<view::View>>,
    /// Where snapshots go, when not beside the ledger.
    snapshots: Option<PathBuf>,
    /// The forge that a clone of ours was made from.
    remote: Option<Arc<fetch::Remote>>,
    cache: Arc<Mutex<object_cache::ObjectCache>>,
}

impl Repository {
    /// Our own folder: ledger, snapshots, locks. Never in the work tree.
    pub fn tribunal_dir(&self) -> PathBuf {
        self.common_dir.join("tribunal")
    }

    /// The same repository, with its snapshots in a folder of the caller's: who only looks leaves nothing in the git directory,
    /// and need not be able to write there.
    pub fn with_snapshots_in(&self, folder: &Path) -> Self {
        Self { snapshots: Some(folder.to_path_buf()), ..self.clone() }
    }

    fn snapshot_dir(&self) -> PathBuf {
        self.snapshots.clone().unwrap_or_else(|| self.tribunal_dir())
    }

    fn objects_dir(&self) -> PathBuf {
        self.snapshot_dir().join("objects")
    }

    /// Asks about objects and refs.
    fn ask<I, S>(&self, what: UntrustedTree, args: I) -> Result<Vec<u8>, GitError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.on_tree(what).args(args).run(None).map_err(|error| self.explained(error))
    }

    fn ask_text<I, S>(&self, what: UntrustedTree, args: I) -> Result<String, GitError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Ok(String::from_utf8_lossy(&self.ask(what, args)?).trim_end().to_owned())
    }

    /// Is it a clone of our own, which may not have every file yet?
    fn is_clone(&self) -> bool {
        self.remote.is_some()
    }

    fn is_partial(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.settings.is_partial_clone())
    }

    /// An object that is missing in a partial clone is no damage: git left it on the server, and we do not fetch it from there.
    fn explained(&self, error: GitError) -> GitError {
        match error {
            GitError::Failed { command, message } if self.is_partial() => GitError::Partial { command, message },
            other => other,
        }
    }
}
