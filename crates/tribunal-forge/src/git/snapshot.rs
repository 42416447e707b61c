//! Uncommitted work as a tree of its own, so that a review of it is bound to an id like any other.
//!
//! The objects go into a folder of ours beside the ledger; the user's index, objects and work tree stay as they are. git is not asked
//! to `add`: that would look into submodules, under their own configuration. It says which files differ, and those are hashed.

use super::class::{PersonsCheckout, UntrustedTree, os_path};
use super::fetch::private_folder;
use super::{GitError, Repository};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use tribunal_core::diff::parse::text_of;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::files::{BINARY_TEST_BYTES, LeftOut, looks_binary};
use tribunal_core::plan::untracked::{UntrackedRules, WithheldFile, WithheldReason, is_secret_content, is_secret_name};

pub struct Snapshot {
    pub tree: Sha,
    /// Untracked files that were too large to take in.
    pub left_out: Vec<LeftOut>,
    /// Files that are no part of the change until the person says so.
    pub withheld: Vec<WithheldFile>,
}

/// A tracked file that differs from the index.
struct Edited {
    path: Vec<u8>,
    /// What the index has.
    id: String,
}

impl Repository {
    /// Tracked and untracked work. Ignored files stay out, by the rules of the branch and by those of its base.
    pub fn snapshot_work_tree(&self, base: Option<&Sha>, rules: &UntrackedRules) -> Result<Snapshot, GitError> {
        let work_tree = self.work_tree.as_ref().ok_or(GitError::Bare)?;
        let index = self.index_copy(None)?;
        let edited = self.edited(&index)?;
        let untracked = self.untracked()?;
        let paths = edited.iter().map(|edited| &edited.path).chain(&untracked);
        let filtered = self.filtered(&paths.collect::<Vec<_>>(), &index)?;
        let mut taken = Taken::default();
        for edited in edited {
            let filter = filtered.get(&edited.path);
            let pointer = match filter.map(String::as_str) {
                Some("lfs") => self.large_file_pointer(&edited.id, &work_tree.join(os_path(&edited.path)))?,
                Some(_) | None => None,
            };
            match (pointer, filter) {
                (Some(pointer), _) => taken.pointers.push((edited.path, pointer)),
                (None, Some(filter)) if filter != "lfs" => taken.withhold(&edited.path, WithheldReason::Filter(filter.clone())),
                (None, _) => taken.wanted.push(edited.path),
            }
        }
        let ignored = base.map(|base| self.ignored_by(base, &untracked)).transpose()?.unwrap_or_default();
        for path in untracked {
            let name = RepoPath(text_of(&path));
            let file = work_tree.join(os_path(&path));
            let Ok(found) = fs::symlink_metadata(&file) else { continue };
            // Sockets and pipes have no content; a file that vanished meanwhile is no part of the change.
            if !found.is_file() && !found.is_symlink() {
                continue;
            }
            let is_large = found.is_file() && found.len() > rules.max_bytes;
            let is_asked_for = rules.includes(&name);
            match filtered.get(&path) {
                Some(filter) if filter != "lfs" => taken.withhold(&path, WithheldReason::Filter(filter.clone())),
                _ if is_asked_for && !is_large => taken.wanted.push(path),
                _ if ignored.contains(&path) => taken.withhold(&path, WithheldReason::IgnoredByBase),
                _ if is_secret_name(&name) => taken.withhold(&path, WithheldReason::SecretName),
                _ if is_large => taken.left_out.push(LeftOut { path: name, is_binary: looks_binary(&first_bytes(&file)) }),
                // A link is stored as the path that it leads to; what is there is not read.
                _ if found.is_file() && fs::read(&file).is_ok_and(|bytes| is_secret_content(&bytes)) => {
                    taken.withhold(&path, WithheldReason::SecretContent);
                }
                _ => taken.wanted.push(path),
            }
        }
        let tree = self.write_snapshot(&index, &taken)?;
        Ok(Snapshot { tree, left_out: taken.left_out, withheld: taken.withheld })
    }

    fn write_snapshot(&self, index: &Path, taken: &Taken) -> Result<Sha, GitError> {
        let mut wanted = Vec::new();
        for path in &taken.wanted {
            wanted.extend_from_slice(path);
            wanted.push(0);
        }
        if !wanted.is_empty() {
            let add = self.in_checkout_beside(PersonsCheckout::UpdateIndex, index)?;
            add.args(["--add", "--remove", "-z", "--stdin"]).run(Some(&wanted))?;
        }
        for (path, pointer) in &taken.pointers {
            let store = self.on_tree_beside(UntrustedTree::HashObject, index).args(["-w", "--stdin", "--no-filters"]);
            let id = store.run_text(Some(pointer.as_bytes()))?;
            let mut entry = format!("100644 {id}\t").into_bytes();
            entry.extend_from_slice(path);
            entry.push(0);
            self.on_tree_beside(UntrustedTree::UpdateIndex, index).args(["-z", "--index-info"]).run(Some(&entry))?;
        }
        self.write_tree(index)
    }

    /// Tracked files that look touched, by size and time. Submodules are compared by their commit; nobody looks into them.
    fn edited(&self, index: &Path) -> Result<Vec<Edited>, GitError> {
        let asked = self.in_checkout_beside(PersonsCheckout::DiffFiles, index)?;
        let asked = asked.args(["--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=dirty", "--no-ext-diff"]);
        let listed = asked.run(None).map_err(|error| self.explained(error))?;
        let mut fields = listed.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let mut edited = BTreeMap::new();
        while let (Some(header), Some(path)) = (fields.next(), fields.next()) {
            // `:<old mode> <new mode> <old id> <new id> <status>`
            let header = String::from_utf8_lossy(header).into_owned();
            let id = header.split(' ').nth(2).ok_or_else(|| GitError::Hollow(format!("diff-files said `{header}`")))?;
            edited.insert(path.to_vec(), id.to_owned());
        }
        Ok(edited.into_iter().map(|(path, id)| Edited { path, id }).collect())
    }

    /// Paths whose attributes name a filter that is defined on this machine, and the filter.
    fn filtered(&self, paths: &[&Vec<u8>], index: &Path) -> Result<BTreeMap<Vec<u8>, String>, GitError> {
        let known: BTreeSet<String> = self.filters()?;
        if known.is_empty() || paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path);
            input.push(0);
        }
        let asked = self.in_checkout_beside(PersonsCheckout::CheckAttr, index)?;
        let listed = asked.args(["-z", "--stdin", "filter"]).run(Some(&input))?;
        let fields: Vec<&[u8]> = listed.split(|byte| *byte == 0).collect();
        // `<path> NUL filter NUL <value> NUL`
        let named = fields.chunks_exact(3).map(|field| (field[0].to_vec(), String::from_utf8_lossy(field[2]).into_owned()));
        Ok(named.filter(|(_, filter)| known.contains(filter)).collect())
    }

    /// What git-lfs would store for a file that it keeps already: a pointer, made here because filters are not run.
    fn large_file_pointer(&self, id: &str, file: &Path) -> Result<Option<String>, GitError> {
        const FIRST_LINE: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
        let is_pointer = self.sizes_of(&[id].into())?.get(id).is_some_and(|size| *size < 1024)
            && self.blobs(&[id].into())?.get(id).is_some_and(|blob| blob.starts_with(FIRST_LINE));
        let is_plain = fs::symlink_metadata(file).is_ok_and(|found| found.is_file());
        if !is_pointer || !is_plain {
            return Ok(None);
        }
        let Ok(mut content) = File::open(file) else { return Ok(None) };
        let io = |source| GitError::Io { what: format!("{} cannot be read", file.display()), source };
        let mut start = vec![0; FIRST_LINE.len()];
        let read = content.read(&mut start).map_err(io)?;
        // Somebody who has no git-lfs has the pointers themselves as files.
        if start[..read] == *FIRST_LINE {
            return Ok(None);
        }
        let (mut digest, mut size) = (Sha256::new(), read as u64);
        digest.update(&start[..read]);
        let mut part = vec![0; 1 << 16];
        loop {
            let read = content.read(&mut part).map_err(io)?;
            if read == 0 {
                break;
            }
            digest.update(&part[..read]);
            size += read as u64;
        }
        let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Some(format!("{}oid sha256:{hex}\nsize {size}\n", String::from_utf8_lossy(FIRST_LINE))))
    }

    /// What is staged. A hook runs with an index of its own, which is then the one that counts.
    pub fn snapshot_index(&self, hook_index: Option<PathBuf>) -> Result<Sha, GitError> {
        let index = self.index_copy(hook_index)?;
        let unmerged = self.unmerged(&index)?;
        if unmerged.is_empty() { self.write_tree(&index) } else { Err(GitError::Unmerged(unmerged)) }
    }

    /// Files of which the index holds several sides instead of one content.
    fn unmerged(&self, index: &Path) -> Result<Vec<RepoPath>, GitError> {
        let listed = self.in_checkout_beside(PersonsCheckout::LsFiles, index)?.args(["--unmerged", "-z"]).run(None)?;
        // `<mode> <id> <stage>\t<path>`, once for each side.
        let path = |entry: &[u8]| entry.splitn(2, |byte| *byte == b'\t').nth(1).map(text_of);
        let mut paths: Vec<RepoPath> = listed.split(|byte| *byte == 0).filter_map(path).map(RepoPath).collect();
        paths.dedup();
        Ok(paths)
    }

    fn index_copy(&self, from: Option<PathBuf>) -> Result<tempfile::TempPath, GitError> {
        let io = |what: &str| {
            let what = what.to_owned();
            move |source| GitError::Io { what, source }
        };
        private_folder(&self.objects_dir()).map_err(io("the folder for snapshots cannot be made"))?;
        let copy = tempfile::Builder::new()
            .prefix("index-")
            .tempfile_in(self.snapshot_dir())
            .map_err(io("a temporary index cannot be made"))?
            .into_temp_path();
        let original = from.unwrap_or_else(|| self.git_dir.join("index"));
        match fs::symlink_metadata(&original) {
            Ok(found) if found.is_file() => {
                let content = fs::read(&original).map_err(io("the index cannot be read"))?;
                fs::write(&copy, content).map_err(io("the index cannot be copied"))?;
                // A file that was written after its index is compared by content; git tells that by the time of the index.
                let time = found.modified().and_then(|time| File::options().write(true).open(&copy)?.set_modified(time));
                time.map_err(io("the index cannot be copied"))?;
            }
            // A pipe would never end, and a link leads to a file that is no index of this repository.
            Ok(_) => return Err(GitError::Link(original)),
            // git takes a missing index for an empty one, and an empty file for a broken one.
            Err(_) => fs::remove_file(&copy).map_err(io("a temporary index cannot be made"))?,
        }
        Ok(copy)
    }

    fn write_tree(&self, index: &Path) -> Result<Sha, GitError> {
        Ok(Sha(self.on_tree_beside(UntrustedTree::WriteTree, index).run_text(None).map_err(|error| self.explained(error))?))
    }
}

/// What goes into a snapshot, and what does not.
#[derive(Default)]
struct Taken {
    wanted: Vec<Vec<u8>>,
    pointers: Vec<(Vec<u8>, String)>,
    left_out: Vec<LeftOut>,
    withheld: Vec<WithheldFile>,
}

impl Taken {
    fn withhold(&mut self, path: &[u8], reason: WithheldReason) {
        self.withheld.push(WithheldFile { path: RepoPath(text_of(path)), reason });
    }
}

/// What tells text from data; a file that cannot be opened counts as text, which is a hole in the review.
fn first_bytes(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BINARY_TEST_BYTES as u64).read_to_end(&mut start));
    if read.is_err() { Vec::new() } else { start }
}
