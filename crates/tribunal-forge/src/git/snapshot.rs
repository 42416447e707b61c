//! Uncommitted work as a tree of its own, so that a review of it is bound to an id like any other.
//!
//! The objects go into a folder of ours beside the ledger; the user's index, objects and work tree stay as they are.

use super::{GitError, Repository, output};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::files::{BINARY_TEST_BYTES, LeftOut, looks_binary};

pub struct Snapshot {
    pub tree: Sha,
    /// Untracked files that were too large to take in.
    pub left_out: Vec<LeftOut>,
}

impl Repository {
    /// Tracked and untracked work (ignored files stay out).
    pub fn snapshot_work_tree(&self, max_untracked_bytes: u64) -> Result<Snapshot, GitError> {
        let work_tree = self.work_tree.as_ref().ok_or(GitError::Bare)?;
        let index = self.index_copy(None)?;
        let mut update = self.with_index(&index);
        update.args(["add", "--update", "--", "."]);
        Self::checked(Some(&"add".into()), output(update, None)?)?;

        let untracked = self.run(["ls-files", "--others", "--exclude-standard", "-z"])?;
        let mut wanted = Vec::new();
        let mut left_out = Vec::new();
        for path in untracked.split(|byte| *byte == 0).filter(|path| !path.is_empty() && !path.ends_with(b"/")) {
            match fs::symlink_metadata(work_tree.join(os_path(path))) {
                Ok(found) if found.is_file() && found.len() > max_untracked_bytes => {
                    let start = first_bytes(&work_tree.join(os_path(path)));
                    left_out.push(LeftOut {
                        path: RepoPath(tribunal_core::diff::parse::text_of(path)),
                        is_binary: looks_binary(&start),
                    });
                }
                Ok(found) if found.is_file() || found.is_symlink() => {
                    wanted.extend_from_slice(path);
                    wanted.push(0);
                }
                // Sockets and pipes have no content; a file that vanished meanwhile is no part of the change.
                Ok(_) | Err(_) => {}
            }
        }
        if !wanted.is_empty() {
            let mut add = self.with_index(&index);
            add.args(["update-index", "--add", "-z", "--stdin"]);
            Self::checked(Some(&"update-index".into()), output(add, Some(&wanted))?)?;
        }
        Ok(Snapshot { tree: self.write_tree(&index)?, left_out })
    }

    /// What is staged. A hook runs with an index of its own, which is then the one that counts.
    pub fn snapshot_index(&self, hook_index: Option<PathBuf>) -> Result<Sha, GitError> {
        let index = self.index_copy(hook_index)?;
        let unmerged = self.unmerged(&index)?;
        if unmerged.is_empty() { self.write_tree(&index) } else { Err(GitError::Unmerged(unmerged)) }
    }

    /// Files of which the index holds several sides instead of one content.
    fn unmerged(&self, index: &Path) -> Result<Vec<RepoPath>, GitError> {
        let mut list = self.with_index(index);
        list.args(["ls-files", "--unmerged", "-z"]);
        let listed = Self::checked(Some(&"ls-files".into()), output(list, None)?)?;
        // `<mode> <id> <stage>\t<path>`, once for each side.
        let path = |entry: &[u8]| entry.splitn(2, |byte| *byte == b'\t').nth(1).map(tribunal_core::diff::parse::text_of);
        let mut paths: Vec<RepoPath> = listed.split(|byte| *byte == 0).filter_map(path).map(RepoPath).collect();
        paths.dedup();
        Ok(paths)
    }

    fn index_copy(&self, from: Option<PathBuf>) -> Result<tempfile::TempPath, GitError> {
        let io = |what: &str| {
            let what = what.to_owned();
            move |source| GitError::Io { what, source }
        };
        fs::create_dir_all(self.objects_dir()).map_err(io("the folder for snapshots cannot be made"))?;
        let copy = tempfile::Builder::new()
            .prefix("index-")
            .tempfile_in(self.snapshot_dir())
            .map_err(io("a temporary index cannot be made"))?
            .into_temp_path();
        let original = from.unwrap_or_else(|| self.git_dir.join("index"));
        if original.exists() {
            fs::copy(&original, &copy).map_err(io("the index cannot be copied"))?;
        } else {
            // git takes a missing index for an empty one, and an empty file for a broken one.
            fs::remove_file(&copy).map_err(io("a temporary index cannot be made"))?;
        }
        Ok(copy)
    }

    fn with_index(&self, index: &Path) -> Command {
        let mut command = self.git();
        command
            .env("GIT_INDEX_FILE", index)
            .env("GIT_OBJECT_DIRECTORY", self.objects_dir())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.common_dir.join("objects"));
        command
    }

    fn write_tree(&self, index: &Path) -> Result<Sha, GitError> {
        let mut write = self.with_index(index);
        write.arg("write-tree");
        let id = Self::checked(Some(&"write-tree".into()), output(write, None)?)?;
        Ok(Sha(String::from_utf8_lossy(&id).trim().to_owned()))
    }

    /// A throw-away copy of a tree, for a linter that wants files.
    pub fn export(&self, tree: &Sha, into: &Path) -> Result<(), GitError> {
        let index = self.index_copy(Some(PathBuf::from("/nonexistent")))?;
        let mut read = self.with_index(&index);
        read.args(["read-tree", tree.as_str()]).env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.common_dir.join("objects"));
        Self::checked(Some(&"read-tree".into()), output(read, None)?)?;
        let mut prefix = into.as_os_str().to_owned();
        prefix.push("/");
        let mut flag = std::ffi::OsString::from("--prefix=");
        flag.push(prefix);
        let mut checkout = self.with_index(&index);
        // A clone of our own has no work tree, and git wants one.
        checkout.args(["checkout-index", "--all", "--quiet"]).arg(flag).env("GIT_WORK_TREE", into);
        Self::checked(Some(&"checkout-index".into()), output(checkout, None)?)?;
        Ok(())
    }
}

/// What tells text from data; a file that cannot be opened counts as text, which is a hole in the review.
fn first_bytes(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(BINARY_TEST_BYTES as u64).read_to_end(&mut start));
    if read.is_err() { Vec::new() } else { start }
}

#[cfg(unix)]
fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
