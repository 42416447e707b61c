//! What the base says of each changed file: its attributes, and the file as it was there.

use super::change::{ChangeBase, RawEntry, Sides};
use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::attributes::Attributes;
use tribunal_core::plan::base::{BaseFacts, FileBefore, binary_format};
use tribunal_core::plan::files::{BINARY_TEST_BYTES, ContentKind, FileSummary, looks_binary, says_generated};
use tribunal_core::plan::pointer;

/// An attribute file that people wrote is smaller.
const MAX_ATTRIBUTE_BYTES: u64 = 256 * 1024;

/// What the first bytes of a blob show.
struct Start {
    is_binary: bool,
    is_pointer: bool,
    format: Option<String>,
    says_generated: bool,
}

impl Repository {
    pub(super) fn add_base_facts(
        &self,
        base: ChangeBase<'_>,
        entries: &[RawEntry],
        files: &mut [FileSummary],
        has_attributes: bool,
    ) -> Result<(), GitError> {
        let attributes_at =
            |commit| if has_attributes { self.base_attributes(commit, entries) } else { Ok(Attributes::default()) };
        let (attributes, at_tip) = (attributes_at(base.commit)?, attributes_at(base.tip)?);
        let entries: BTreeMap<&RepoPath, &RawEntry> = entries.iter().map(|entry| (&entry.path, entry)).collect();
        let since = if base.tip == base.commit { Vec::new() } else { self.changed_on_base(base, &entries)? };
        let since: BTreeMap<&RepoPath, &RawEntry> = since.iter().map(|entry| (&entry.path, entry)).collect();
        let starts = self.starts(&entries, &since, files)?;
        for file in files {
            let Some(entry) = entries.get(&file.path) else { continue };
            if file.content == ContentKind::Binary && entry.has_new_blob() {
                file.format = starts.get(&entry.new_id).and_then(|start| start.format.clone());
            }
            let before = (entry.status != 'A').then(|| before(entry, starts.get(&entry.old_id)));
            let is_so_at_tip = |before: &FileBefore| match since.get(&before.path) {
                None => true,
                Some(now) => after(now, starts.get(&now.new_id)).as_ref() == Some(before),
            };
            let attributes = attributes.of(&file.path).and(at_tip.of(&file.path));
            file.base = Some(BaseFacts { attributes, before: before.filter(is_so_at_tip) });
        }
        Ok(())
    }

    /// Files of the change that the base branch has changed, too, since the head left it.
    fn changed_on_base(&self, base: ChangeBase<'_>, entries: &BTreeMap<&RepoPath, &RawEntry>) -> Result<Vec<RawEntry>, GitError> {
        let old_paths: BTreeSet<&RepoPath> =
            entries.values().map(|entry| entry.old_path.as_ref().unwrap_or(&entry.path)).collect();
        let all = self.raw_entries(Sides { old: base.commit, new: base.tip, renames: false })?;
        Ok(all.entries.iter().filter(|entry| old_paths.contains(&entry.path)).cloned().collect())
    }

    /// The first bytes of the blobs that they matter for: binary ones, and those in whose place a header says that a tool wrote them.
    fn starts(
        &self,
        entries: &BTreeMap<&RepoPath, &RawEntry>,
        since: &BTreeMap<&RepoPath, &RawEntry>,
        files: &[FileSummary],
    ) -> Result<BTreeMap<String, Start>, GitError> {
        let mut ids: BTreeSet<&str> = BTreeSet::new();
        for file in files.iter().filter(|file| !file.too_large) {
            let Some(entry) = entries.get(&file.path) else { continue };
            let is_binary = matches!(file.content, ContentKind::Binary | ContentKind::Pointer);
            if is_binary && entry.has_new_blob() {
                ids.insert(&entry.new_id);
            }
            if (is_binary || file.says_generated) && entry.has_old_blob() {
                ids.insert(&entry.old_id);
                let now = since.get(entry.old_path.as_ref().unwrap_or(&entry.path)).filter(|now| now.has_new_blob());
                ids.extend(now.map(|now| now.new_id.as_str()));
            }
        }
        let mut starts = BTreeMap::new();
        self.each_object(&ids, BINARY_TEST_BYTES as u64, |id, bytes| {
            let text = std::str::from_utf8(bytes).unwrap_or_default();
            let start = Start {
                is_binary: looks_binary(bytes),
                is_pointer: pointer::begins(text),
                format: pointer::format(text).or_else(|| binary_format(bytes)).map(str::to_owned),
                says_generated: says_generated(&String::from_utf8_lossy(bytes)),
            };
            starts.insert(id.to_owned(), start);
            Ok(())
        })?;
        Ok(starts)
    }

    /// The base's `.gitattributes` of every folder that a changed file lies in.
    fn base_attributes(&self, base: &Sha, entries: &[RawEntry]) -> Result<Attributes, GitError> {
        let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
        for entry in entries {
            let mut path = entry.path.as_str();
            while let Some((folder, _)) = path.rsplit_once('/') {
                // A line of the question is a name.
                if folder.contains('\n') || !folders.insert(folder) {
                    break;
                }
                path = folder;
            }
        }
        let folders: Vec<&str> = folders.into_iter().collect();
        let name = |folder: &&str| match *folder {
            "" => format!("{base}:.gitattributes"),
            folder => format!("{base}:{folder}/.gitattributes"),
        };
        let names: Vec<String> = folders.iter().map(name).collect();
        let mut attributes = Attributes::default();
        // Sorted, a folder comes before those inside it.
        self.each_blob(&names, MAX_ATTRIBUTE_BYTES, |blob| {
            attributes.add(folders[blob.index], &String::from_utf8_lossy(blob.bytes));
            Ok(())
        })?;
        Ok(attributes)
    }
}

fn before(entry: &RawEntry, start: Option<&Start>) -> FileBefore {
    version(entry.old_path.as_ref().unwrap_or(&entry.path), &entry.old_mode, start)
}

/// What is there after a change of the base branch, if anything is.
fn after(entry: &RawEntry, start: Option<&Start>) -> Option<FileBefore> {
    (entry.status != 'D').then(|| version(&entry.path, &entry.new_mode, start))
}

fn version(path: &RepoPath, mode: &str, start: Option<&Start>) -> FileBefore {
    let content = match mode {
        "160000" => ContentKind::Submodule,
        "120000" => ContentKind::Symlink,
        _ if start.is_some_and(|start| start.is_binary) => ContentKind::Binary,
        _ if start.is_some_and(|start| start.is_pointer) => ContentKind::Pointer,
        _ => ContentKind::Text,
    };
    FileBefore {
        path: path.clone(),
        content,
        says_generated: start.is_some_and(|start| start.says_generated),
        format: start.and_then(|start| start.format.clone()),
    }
}
