//! One diff, or several commits one after the other? A patch series (`git format-patch`, `git log -p`) may name a file more than
//! once; read as one change, all but one of its states would be lost. Such input is refused, never read by half (design rule 13).

use super::change::{ChangedFile, FileStatus};
use crate::ids::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

/// A file that became a link (or back) is shown as deleted and created, one after the other; it is one changed file.
pub fn merge_type_changes(files: Vec<ChangedFile>) -> Vec<ChangedFile> {
    let mut merged: Vec<ChangedFile> = Vec::with_capacity(files.len());
    for file in files {
        if merged.last().is_some_and(|before| is_type_change(before, &file)) {
            merged.pop();
        }
        merged.push(file);
    }
    merged
}

fn is_type_change(before: &ChangedFile, after: &ChangedFile) -> bool {
    // `100644` and `100755` are files, `120000` links, `160000` submodules.
    let kind = |mode: &Option<String>| mode.as_ref().and_then(|mode| mode.get(..3).map(str::to_owned));
    before.path == after.path
        && (before.status, after.status) == (FileStatus::Deleted, FileStatus::Added)
        && kind(&before.old_mode) != kind(&after.new_mode)
}

/// The first path that stands in the diff in more than one state.
pub fn repeated<'a>(bytes: &[u8], files: &'a [ChangedFile]) -> Option<&'a RepoPath> {
    let mut seen: BTreeSet<&RepoPath> = BTreeSet::new();
    if let Some(twice) = files.iter().find(|file| !seen.insert(&file.path)) {
        return Some(&twice.path);
    }
    let (mut commits, mut rewrites) = (0, false);
    for line in bytes.split(|byte| *byte == b'\n') {
        commits += u32::from(begins_a_commit(line));
        rewrites |= line.starts_with(b"dissimilarity index ");
    }
    // In one diff a file that was renamed is gone under its old name, unless `-B` took a rewrite apart.
    let is_chained = |source: &ChangedFile| match source.status {
        FileStatus::Modified | FileStatus::Deleted => commits > 1 || !rewrites,
        FileStatus::Added | FileStatus::Renamed | FileStatus::Copied => commits > 1,
    };
    let by_path: BTreeMap<&RepoPath, &ChangedFile> = files.iter().map(|file| (&file.path, file)).collect();
    files
        .iter()
        .filter(|file| file.status == FileStatus::Renamed || commits > 1)
        .filter_map(|file| file.old_path.as_ref().filter(|old| seen.contains(old)))
        .find(|old| by_path.get(old).is_some_and(|source| is_chained(source)))
}

/// `From <id> <date>` of a mail, `commit <id>` of a log. Lines of a hunk begin with a sign, so none of them looks so.
fn begins_a_commit(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"From ").or_else(|| line.strip_prefix(b"commit "));
    rest.is_some_and(|rest| {
        let id = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        id >= 7 && rest.get(id).is_none_or(|byte| byte.is_ascii_whitespace())
    })
}
