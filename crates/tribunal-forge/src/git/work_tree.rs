//! Work trees that have a branch checked out which is about to move. Uncommitted work is never touched: where there is any, the
//! branch does not move.

use super::write::MoveError;
use super::{GitError, Repository};
use std::path::{Path, PathBuf};
use tribunal_core::diff::parse::text_of;
use tribunal_core::ids::{RepoPath, Sha};

/// A work tree on a branch.
pub struct Standing {
    path: PathBuf,
    repository: Repository,
}

/// Files in a git directory that say what is under way, and how people call it.
const UNDER_WAY: [(&str, &str); 5] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
];

impl Repository {
    pub(super) fn standing_on(&self, branch: &str) -> Result<Vec<Standing>, MoveError> {
        let listed = self.run(["worktree", "list", "--porcelain", "-z"])?;
        let full = format!("branch refs/heads/{branch}").into_bytes();
        let mut standing = Vec::new();
        for entry in entries(&listed) {
            let Some(path) = entry.first().and_then(|line| line.strip_prefix(b"worktree ")) else { continue };
            let path = os_path(path);
            // A bare repository has a head and no files; a work tree whose folder is gone has none either.
            let has_files = !entry.contains(&b"bare".as_slice()) && path.is_dir();
            if !has_files || !entry.contains(&full.as_slice()) {
                continue;
            }
            let repository = Repository::discover(&path)?;
            if repository.work_tree.is_some() {
                standing.push(Standing { path, repository });
            }
        }
        Ok(standing)
    }
}

/// Blocks of lines, each line ended by a NUL and each block by an empty line.
fn entries(listed: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut entries = vec![Vec::new()];
    for line in listed.split(|byte| *byte == 0) {
        match (line.is_empty(), entries.last_mut()) {
            (true, _) => entries.push(Vec::new()),
            (false, Some(entry)) => entry.push(line),
            (false, None) => {}
        }
    }
    entries
}

impl Standing {
    /// Can index and files go from one commit to another without taking anything that is nowhere else?
    pub(super) fn is_fit(&self, old: &Sha, new: &Sha) -> Result<(), MoveError> {
        for (name, what) in UNDER_WAY {
            if self.repository.git_dir.join(name).exists() {
                return Err(MoveError::Busy { work_tree: self.path.clone(), what });
            }
        }
        if self.is_there_already(new) {
            return Ok(());
        }
        // What only looks touched (another time stamp) is not dirty; an answer of "needs update" is read from the status.
        let _ = self.repository.run(["update-index", "-q", "--refresh"]);
        let status = self.repository.run(["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no"])?;
        let paths = paths(&status, 3);
        if !paths.is_empty() {
            return Err(MoveError::Dirty { work_tree: self.path.clone(), paths });
        }
        let paths = self.in_the_way(old, new)?;
        if paths.is_empty() { Ok(()) } else { Err(MoveError::InTheWay { work_tree: self.path.clone(), paths }) }
    }

    /// A move that was killed after the files were written and before the branch moved left exactly this.
    fn is_there_already(&self, new: &Sha) -> bool {
        let is_clean = self.repository.run(["diff-files", "--quiet", "--no-ext-diff"]).is_ok();
        let same = self.repository.run(["diff-index", "--cached", "--quiet", "--no-ext-diff", new.as_str()]).is_ok();
        is_clean && same
    }

    /// Files that the move would write and that are there without git knowing them, ignored ones too: git itself takes those for
    /// worthless.
    fn in_the_way(&self, old: &Sha, new: &Sha) -> Result<Vec<RepoPath>, GitError> {
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", old.as_str(), new.as_str()];
        let added = self.repository.run(args)?;
        let mut found = Vec::new();
        for path in added.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if let Some(there) = self.foreign(&os_path(path), old) {
                found.push(RepoPath(there));
            }
        }
        found.dedup();
        Ok(found)
    }

    /// What stands at a path, or as a file where the path needs a folder, unless the old commit has put it there.
    fn foreign(&self, path: &Path, old: &Sha) -> Option<String> {
        let mut steps: Vec<&Path> = path.ancestors().filter(|step| !step.as_os_str().is_empty()).collect();
        steps.reverse();
        let there = steps.into_iter().find(|step| {
            let found = std::fs::symlink_metadata(self.path.join(step));
            // A folder on the way is where the file goes; only at the end is it in the way.
            found.is_ok_and(|found| !found.is_dir() || *step == path)
        })?;
        let name = there.to_string_lossy().into_owned();
        let is_known = self.repository.run(["cat-file", "-e", &format!("{old}:{name}")]).is_ok();
        (!is_known).then_some(name)
    }

    pub(super) fn go(&self, old: &Sha, new: &Sha) -> Result<(), MoveError> {
        if self.is_there_already(new) {
            return Ok(());
        }
        self.repository.run(["read-tree", "-m", "-u", old.as_str(), new.as_str()])?;
        Ok(())
    }
}

/// Paths of a NUL-separated list, each behind a prefix of this length.
fn paths(listed: &[u8], prefix: usize) -> Vec<RepoPath> {
    let entries = listed.split(|byte| *byte == 0).filter_map(|entry| entry.get(prefix..)).filter(|path| !path.is_empty());
    entries.map(|path| RepoPath(text_of(path))).collect()
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
