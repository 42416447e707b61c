//! git, called hardened.
//!
//! A change can try to hide from its reviewer, or to run something on his machine: external diff drivers, text converters,
//! attributes, hooks, file-system monitors, odd file names, tags that shadow branches. Only plumbing commands are used, with
//! every such door shut; names are resolved to full ids first, and paths never reach git as patterns.

mod base_facts;
pub mod change;
pub mod commit;
pub mod definitions;
pub mod fetch;
pub mod look;
pub mod merge;
mod records;
pub mod refs;
pub mod snapshot;
mod stream;
pub mod work_tree;
pub mod write;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tribunal_core::ids::{RepoPath, Sha};

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed, or not on the PATH")]
    NoGit,
    #[error("{0} is not inside a git repository")]
    NotARepository(PathBuf),
    #[error("`{0}` names no commit here")]
    UnknownRevision(String),
    #[error("branch `{0}` has no commit yet")]
    Unborn(String),
    #[error("no base to compare with: neither a remote's default branch nor main, master, trunk or develop exists here")]
    NoBase,
    #[error("`{base}` and `{head}` have no common history here")]
    NoMergeBase { base: String, head: String, shallow: bool },
    #[error("the parent of {} is not here: this clone is shallow, and its history ends there", .0.short())]
    NoParent(Sha),
    #[error("this is a bare repository, which has no working tree")]
    Bare,
    #[error("the index holds a merge that is not resolved: {}", named(.0))]
    Unmerged(Vec<RepoPath>),
    #[error("git {command} failed: {message}")]
    Failed { command: String, message: String },
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
    /// Where snapshots go, when not beside the ledger.
    snapshots: Option<PathBuf>,
    /// The forge that a clone of ours was made from.
    remote: Option<Arc<fetch::Remote>>,
    /// Trees that were compared. They never change, and one review asks for the same ones again and again.
    compared: Arc<change::Compared>,
}

/// Settings that no repository's own configuration may override.
const HARDENED: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.pager=cat",
    // A snapshot writes no file, so line ends cannot be harmed by it; a check of them would only refuse to read.
    "core.safecrlf=false",
    "core.attributesFile=/dev/null",
    "diff.suppressBlankEmpty=false",
    "protocol.file.allow=never",
    "submodule.recurse=false",
];

/// Variables that git needs from outside; everything else stays outside.
const PASSED_ON: [&str; 9] = [
    "PATH",
    "HOME",
    "USER",
    "XDG_CONFIG_HOME",
    "TMPDIR",
    "SYSTEMROOT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES",
];

fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    // Taken away one by one: a command whose `PATH` is its own is found by a copy of this whole process, which takes longer than git.
    for (name, _) in std::env::vars_os().filter(|(name, _)| !PASSED_ON.iter().any(|passed| name == passed)) {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0");
    command.arg("-C").arg(directory).arg("--literal-pathspecs");
    for setting in HARDENED {
        command.arg("-c").arg(setting);
    }
    command
}

struct Output {
    success: bool,
    stdout: Vec<u8>,
    stderr: String,
}

fn output(mut command: Command, input: Option<&[u8]>) -> Result<Output, GitError> {
    let io = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => GitError::NoGit,
        _ => GitError::Io { what: "git could not be run".into(), source },
    };
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(io)?;
    // A writer of its own: git may fill its output pipe before it has read all of its input.
    let writer = input.map(|bytes| {
        let mut stdin = child.stdin.take();
        let bytes = bytes.to_vec();
        std::thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(&bytes)))
    });
    let output = child.wait_with_output().map_err(io)?;
    if let Some(writer) = writer {
        // A broken pipe here shows as git's own failure below.
        let _ = writer.join();
    }
    Ok(Output {
        success: output.status.success(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

impl Repository {
    /// Finds the repository around a folder.
    pub fn discover(start: &Path) -> Result<Self, GitError> {
        let ask = |more: &[&str]| {
            let mut asked = command(start);
            asked.args(["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"]).args(more);
            output(asked, None)
        };
        // A bare repository has no top level and fails the first question.
        let mut answer = ask(&["--show-toplevel"])?;
        if !answer.success {
            answer = ask(&[])?;
        }
        if !answer.success {
            if answer.stderr.contains("not a git repository") {
                return Err(GitError::NotARepository(start.to_path_buf()));
            }
            return Err(GitError::Failed { command: "rev-parse".into(), message: answer.stderr });
        }
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        let (Some(git_dir), Some(common_dir)) = (lines.next(), lines.next()) else {
            return Err(GitError::Hollow("rev-parse named no folder".into()));
        };
        Ok(Self { work_tree: lines.next(), git_dir, common_dir, snapshots: None, remote: None, compared: Arc::default() })
    }

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

    fn top(&self) -> &Path {
        self.work_tree.as_deref().unwrap_or(&self.git_dir)
    }

    /// A git command in this repository that also sees the snapshots we keep outside of it.
    fn git(&self) -> Command {
        let mut command = self.git_here();
        if let Some(remote) = &self.remote {
            remote.apply(&mut command);
        }
        command
    }

    /// Knows of no remote, so it cannot fetch what is missing.
    fn git_here(&self) -> Command {
        let mut command = command(self.top());
        command.env("GIT_DIR", &self.git_dir).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.objects_dir());
        if let Some(work_tree) = &self.work_tree {
            command.env("GIT_WORK_TREE", work_tree);
        }
        command
    }

    fn run<I, S>(&self, args: I) -> Result<Vec<u8>, GitError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let mut asked = self.git();
        asked.args(&args);
        Self::checked(args.first(), output(asked, None)?)
    }

    fn checked(name: Option<&OsString>, answer: Output) -> Result<Vec<u8>, GitError> {
        if answer.success {
            return Ok(answer.stdout);
        }
        let command = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Err(GitError::Failed { command, message: answer.stderr })
    }

    fn run_text<I, S>(&self, args: I) -> Result<String, GitError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Ok(String::from_utf8_lossy(&self.run(args)?).trim_end().to_owned())
    }
}
