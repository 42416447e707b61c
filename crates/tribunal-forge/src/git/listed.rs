//! Lists that grow with a change, read as git writes them and only up to a limit.
//!
//! Ten entries that all lead to one folder, eight folders deep, are a hundred million files in a few hundred bytes: nobody may
//! make this process, or git itself, keep a list of them.

use super::change::{DIFF, RawEntry, Sides};
use super::class::{Git, UntrustedTree};
use super::stream::Running;
use super::{GitError, Repository};
use std::io::BufRead as _;
use std::sync::Arc;
use tribunal_core::diff::parse::text_of;
use tribunal_core::ids::{RepoPath, Sha};

/// Files of one comparison, of which a review reads far fewer.
const MAX_ENTRIES: usize = 200_000;
/// Bytes that git may write about them: a path can be long.
const MAX_ENTRY_BYTES: usize = 128 << 20;
/// Paths of one tree.
const MAX_PATHS: usize = 1_000_000;
const MAX_PATH_BYTES: usize = 200 << 20;
/// So many files more than the other side may a tree have: git keeps all that differ in memory before it writes the first.
const MAX_GROWTH: u64 = 1_000_000;

/// Trees beyond this are not counted to their end.
const MAX_COUNTED: u64 = 16 * MAX_GROWTH;

/// What differs between two trees, or the beginning of it.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub entries: Vec<RawEntry>,
    pub is_cut: bool,
}

impl Repository {
    /// What differs between two trees; an error where that is too much for a list.
    pub(super) fn raw_entries(&self, sides: Sides<'_>) -> Result<Arc<Listed>, GitError> {
        let listed = self.first_entries(sides)?;
        if listed.is_cut { Err(GitError::TooManyFiles { limit: MAX_ENTRIES as u64 }) } else { Ok(listed) }
    }

    /// The same, or the beginning of it.
    pub(super) fn first_entries(&self, sides: Sides<'_>) -> Result<Arc<Listed>, GitError> {
        let key = (sides.old.clone(), sides.new.clone(), sides.renames);
        if let Some(kept) = self.cache().compared.get(&key) {
            return Ok(Arc::clone(kept));
        }
        self.check_growth(sides.old, sides.new)?;
        let ask = || self.read_entries(self.on_tree(UntrustedTree::DiffTree).args(DIFF).args(["--raw", "-z"]).args(sides.args()));
        let listed = match ask() {
            // What a clone does not have is brought once it is known to be needed.
            Err(GitError::Failed { .. }) if self.remote.is_some() => {
                self.bring_changed(sides.old, sides.new)?;
                ask()?
            }
            answer => answer.map_err(|error| self.explained(error))?,
        };
        let listed = Arc::new(listed);
        self.cache().compared.insert(key, Arc::clone(&listed));
        Ok(listed)
    }

    /// `:<old mode> <new mode> <old id> <new id> <status>\0<path>\0[<new path>\0]`
    pub(super) fn read_entries(&self, asked: Git<UntrustedTree>) -> Result<Listed, GitError> {
        let mut git = Running::start(asked, "diff-tree", None)?;
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while let Some(header) = field(&mut git)? {
            let header = String::from_utf8_lossy(&header).into_owned();
            let hollow = || GitError::Hollow(format!("diff-tree said `{header}`"));
            let words: Vec<&str> = header.strip_prefix(':').ok_or_else(hollow)?.split(' ').collect();
            let [old_mode, new_mode, old_id, new_id, status] = words.as_slice() else { return Err(hollow()) };
            let status = status.chars().next().ok_or_else(hollow)?;
            let first = field(&mut git)?.ok_or_else(hollow)?;
            let (old_path, path) = match status {
                'R' | 'C' => (Some(RepoPath(text_of(&first))), field(&mut git)?.ok_or_else(hollow)?),
                _ => (None, first),
            };
            bytes += header.len() + path.len();
            if entries.len() == MAX_ENTRIES || bytes > MAX_ENTRY_BYTES {
                git.stop();
                return Ok(Listed { entries, is_cut: true });
            }
            entries.push(RawEntry {
                path: RepoPath(text_of(&path)),
                path_bytes: path,
                old_path,
                old_mode: (*old_mode).to_owned(),
                new_mode: (*new_mode).to_owned(),
                old_id: (*old_id).to_owned(),
                new_id: (*new_id).to_owned(),
                status,
            });
        }
        git.finish()?;
        Ok(Listed { entries, is_cut: false })
    }

    /// Every path of a tree, or the first million of them: enough to tell whether a repository has tests, and where its own files of a
    /// name are.
    pub fn all_paths(&self, id: &Sha) -> Result<Vec<RepoPath>, GitError> {
        if let Some(kept) = self.cache().paths.as_ref().filter(|(of, _)| of == id) {
            return Ok(kept.1.clone());
        }
        let mut git = self.list_names(id)?;
        let (mut paths, mut bytes) = (Vec::new(), 0);
        loop {
            let Some(path) = field(&mut git)? else {
                git.finish().map_err(|error| self.explained(error))?;
                break;
            };
            bytes += path.len();
            if paths.len() == MAX_PATHS || bytes > MAX_PATH_BYTES {
                git.stop();
                break;
            }
            paths.push(RepoPath(text_of(&path)));
        }
        if id.is_full() && bytes <= MAX_KEPT_BYTES {
            self.cache().paths = Some((id.clone(), paths.clone()));
        }
        Ok(paths)
    }

    /// Fails where one of two trees has so many files more than the other that git could not compare them.
    pub(super) fn check_growth(&self, old: &Sha, new: &Sha) -> Result<(), GitError> {
        let mut limit = MAX_GROWTH;
        while limit <= MAX_COUNTED {
            let (Some(before), Some(after)) = (self.count_files(old, limit)?, self.count_files(new, limit)?) else {
                return Ok(());
            };
            let (smaller, larger) = if before <= after { (before, new) } else { (after, old) };
            if smaller <= limit {
                // One tree was counted to its end; the other one may go on for ever.
                let most = smaller + MAX_GROWTH;
                let fits = self.count_files(larger, most)?.is_none_or(|count| count <= most);
                return if fits { Ok(()) } else { Err(GitError::TooManyFiles { limit: MAX_GROWTH }) };
            }
            limit *= 4;
        }
        Err(GitError::TooManyFiles { limit: MAX_COUNTED })
    }

    fn list_names(&self, id: &Sha) -> Result<Running, GitError> {
        Running::start(self.on_tree(UntrustedTree::LsTree).args(["-r", "-z", "--name-only", id.as_str()]), "ls-tree", None)
    }

    /// How many files a tree has, counted up to one more than a limit; nothing where git cannot tell.
    fn count_files(&self, id: &Sha, limit: u64) -> Result<Option<u64>, GitError> {
        if let Some(count) = self.cache().file_counts.get(id).filter(|count| **count <= limit) {
            return Ok(Some(*count));
        }
        let mut git = self.list_names(id)?;
        let mut count = 0;
        loop {
            let buffer = git.stdout.fill_buf().map_err(super::stream::unreadable)?;
            if buffer.is_empty() {
                break;
            }
            count += buffer.iter().filter(|byte| **byte == 0).count() as u64;
            let length = buffer.len();
            git.stdout.consume(length);
            if count > limit {
                git.stop();
                return Ok(Some(count));
            }
        }
        // What is missing in a clone is brought by whoever compares.
        if git.finish().is_err() {
            return Ok(None);
        }
        if id.is_full() {
            self.cache().file_counts.insert(id.clone(), count);
        }
        Ok(Some(count))
    }
}

/// Bytes of a list of paths that is kept for the next question.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The next field that ends with a NUL.
fn field(git: &mut Running) -> Result<Option<Vec<u8>>, GitError> {
    let mut field = Vec::new();
    git.stdout.read_until(0, &mut field).map_err(super::stream::unreadable)?;
    Ok(match field.pop() {
        None => None,
        Some(0) => Some(field),
        Some(last) => {
            field.push(last);
            Some(field)
        }
    })
}
