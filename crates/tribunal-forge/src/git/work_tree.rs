//! Work trees that have a branch checked out which is about to move. Uncommitted work is never touched: where there is any, the
//! branch does not move.

use super::class::{PersonsCheckout, UntrustedTree, os_path};
use super::work_file::{MAX_TEXT_BYTES, read_regular_file};
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
        let mut standing = Vec::new();
        for path in self.work_trees()? {
            let repository = match Repository::discover(&path) {
                // A folder that a hostile or stale list names belongs to another repository, or to none.
                Err(GitError::Redirected(_) | GitError::NotARepository(_)) => continue,
                found => found?,
            };
            let is_ours = repository.common_dir == self.common_dir;
            if is_ours && repository.work_tree.is_some() && repository.current_branch().as_deref() == Some(branch) {
                standing.push(Standing { path, repository });
            }
        }
        Ok(standing)
    }

    /// Folders with files of this repository: the main one, and those that are linked to it. Read from the git directory itself: git
    /// would look for them around the configuration that it is shown.
    fn work_trees(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut found: Vec<PathBuf> = self.work_tree.iter().cloned().collect();
        let is_main = self.common_dir.file_name().is_some_and(|name| name == ".git");
        found.extend(self.common_dir.parent().filter(|_| is_main).map(Path::to_path_buf));
        for entry in std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten().flatten() {
            let Ok(text) = read_regular_file(&entry.path().join("gitdir"), MAX_TEXT_BYTES) else { continue };
            let link = entry.path().join(os_path(text.trim_ascii_end()));
            found.extend(link.parent().map(Path::to_path_buf));
        }
        // A work tree whose folder is gone, or whose way back is gone, has no files.
        found.retain(|folder| folder.join(".git").exists());
        let mut found: Vec<PathBuf> = found.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        found.sort();
        found.dedup();
        Ok(found)
    }
}

impl Standing {
    /// Can index and files go from one commit to another without taking anything that is nowhere else?
    pub(super) fn is_fit(&self, old: &Sha, new: &Sha) -> Result<(), MoveError> {
        // git writes an index through a link, beside whatever the link leads to.
        self.repository.refuse_links(&["index", "logs/HEAD"])?;
        for (name, what) in UNDER_WAY {
            if self.repository.git_dir.join(name).exists() {
                return Err(MoveError::Busy { work_tree: self.path.clone(), what });
            }
        }
        if self.is_there_already(new) {
            return Ok(());
        }
        // What only looks touched (another time stamp) is not dirty; an answer of "needs update" is read from the status.
        let _ = self.files(PersonsCheckout::UpdateIndex, &["-q", "--refresh"]);
        let compare = ["--name-only", "-z", "--no-renames", "--ignore-submodules=dirty", "--no-ext-diff", "HEAD"];
        let paths = paths(&self.files(PersonsCheckout::DiffIndex, &compare)?);
        if !paths.is_empty() {
            return Err(MoveError::Dirty { work_tree: self.path.clone(), paths });
        }
        let paths = self.in_the_way(old, new)?;
        if paths.is_empty() { Ok(()) } else { Err(MoveError::InTheWay { work_tree: self.path.clone(), paths }) }
    }

    /// A move that was killed after the files were written and before the branch moved left exactly this.
    fn is_there_already(&self, new: &Sha) -> bool {
        let unchanged = ["--quiet", "--no-ext-diff", "--ignore-submodules=dirty"];
        let is_clean = self.files(PersonsCheckout::DiffFiles, &unchanged).is_ok();
        let same = self.files(PersonsCheckout::DiffIndex, &["--cached", "--quiet", "--no-ext-diff", new.as_str()]).is_ok();
        is_clean && same
    }

    fn files(&self, what: PersonsCheckout, args: &[&str]) -> Result<Vec<u8>, GitError> {
        self.repository.in_checkout(what)?.args(args).run(None)
    }

    /// Files that the move would write and that are there without git knowing them, ignored ones too: git itself takes those for
    /// worthless.
    fn in_the_way(&self, old: &Sha, new: &Sha) -> Result<Vec<RepoPath>, GitError> {
        let args = ["-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", old.as_str(), new.as_str()];
        let added = self.repository.ask(UntrustedTree::DiffTree, args)?;
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
        let is_known = self.repository.ask(UntrustedTree::CatFile, ["-e", &format!("{old}:{name}")]).is_ok();
        (!is_known).then_some(name)
    }

    pub(super) fn go(&self, old: &Sha, new: &Sha) -> Result<(), MoveError> {
        if self.is_there_already(new) {
            return Ok(());
        }
        self.files(PersonsCheckout::ReadTree, &["-m", "-u", old.as_str(), new.as_str()])?;
        Ok(())
    }
}

/// Paths of a NUL-separated list.
fn paths(listed: &[u8]) -> Vec<RepoPath> {
    listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(|path| RepoPath(text_of(path))).collect()
}
