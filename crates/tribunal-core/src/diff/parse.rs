//! From the bytes of `git diff` to a [`Change`].
//!
//! diffy reads the format; this module turns its borrowed view into ours, numbers the lines, and makes text of bytes.
//! Input may be hostile or cut off, so every failure is an error with the place, never a panic and never a shorter change.

use super::change::{Change, ChangedFile, DiffLine, FileContent, FileStatus, Hunk, Origin};
use super::prefix::Prefixes;
use super::series;
use crate::ids::RepoPath;
use diffy::Line;
use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    #[error("the diff cannot be read: {0}")]
    Malformed(String),
    #[error("the diff is a combined diff (`diff --cc`), which has more than one old side")]
    Combined,
    #[error("the input holds text but no diff: the first line is `{0}`")]
    NotADiff(String),
    #[error("the diff is coloured: its lines begin with a terminal's colour codes")]
    Coloured,
    #[error("the diff holds several commits and not one change: {0} stands in it more than once")]
    Series(RepoPath),
}

/// Reads a whole diff. An empty input is an empty change; input without any file header is an error.
pub fn parse_diff(bytes: &[u8]) -> Result<Change, DiffError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Change::default());
    }
    if has_line_start(bytes, b"diff --cc ") || has_line_start(bytes, b"diff --combined ") {
        return Err(DiffError::Combined);
    }
    let is_git = has_line_start(bytes, b"diff --git ");
    if !is_git && !has_line_start(bytes, b"--- ") {
        if bytes.starts_with(b"\x1b[") {
            return Err(DiffError::Coloured);
        }
        let first = bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or(bytes);
        return Err(DiffError::NotADiff(text_of(&first[..first.len().min(80)])));
    }
    let options = if is_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let prefixes = Prefixes::of(bytes);
    let files = PatchSet::parse_bytes(bytes, options)
        .map(|patch| changed_file(&patch.map_err(|error| DiffError::Malformed(error.to_string()))?, is_git, &prefixes))
        .collect::<Result<Vec<_>, _>>()?;
    let (stand, read) = (hunk_headers(bytes), files.iter().map(|file| file.hunks.len()).sum::<usize>());
    if read < stand {
        return Err(DiffError::Malformed(format!("{stand} hunks stand in it, but only {read} belong to a file")));
    }
    let files = series::merge_type_changes(files);
    if let Some(path) = series::repeated(bytes, &files) {
        return Err(DiffError::Series(path.clone()));
    }
    Ok(Change { files, ..Change::default() })
}

/// Lines of a hunk begin with a sign, so a line that begins like a header is one. The parser skips what it takes for a mail's
/// text or a signature; a hunk that it skipped would be a part of the change that nobody reads.
fn hunk_headers(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"@@ -")).count()
}

fn has_line_start(bytes: &[u8], start: &[u8]) -> bool {
    bytes.starts_with(start) || bytes.windows(start.len() + 1).any(|window| window[0] == b'\n' && &window[1..] == start)
}

fn changed_file(patch: &FilePatch<'_, [u8]>, is_git: bool, prefixes: &Prefixes) -> Result<ChangedFile, DiffError> {
    let (path, old_path, status) = operation(patch.operation(), is_git, prefixes);
    let hunks = match patch.patch() {
        PatchKind::Text(text) => text.hunks().iter().map(hunk).collect::<Result<_, _>>()?,
        PatchKind::Binary(_) => Vec::new(),
    };
    let mode = patch.new_mode().or(patch.old_mode());
    let content = match (patch.patch(), mode) {
        (_, Some(FileMode::Gitlink)) => FileContent::Submodule,
        (_, Some(FileMode::Symlink)) => FileContent::Symlink,
        (PatchKind::Binary(_), _) => FileContent::Binary,
        (PatchKind::Text(_), _) if is_submodule_hunk(&hunks) => FileContent::Submodule,
        (PatchKind::Text(_), _) => FileContent::Text,
    };
    Ok(ChangedFile {
        path,
        old_path,
        status,
        content,
        new_mode: patch.new_mode().map(mode_text),
        old_mode: patch.old_mode().map(mode_text),
        hunks,
        new_text: None,
    })
}

/// A changed submodule keeps its mode, so git prints none; the one-line `Subproject commit` body gives it away.
fn is_submodule_hunk(hunks: &[Hunk]) -> bool {
    matches!(hunks, [hunk] if hunk.lines.len() <= 2
        && hunk.lines.iter().all(|line| line.text.strip_prefix("Subproject commit ")
            .is_some_and(|id| id.len() >= 40 && id.trim_end_matches("-dirty").chars().all(|c| c.is_ascii_hexdigit()))))
}

fn mode_text(mode: &FileMode) -> String {
    match mode {
        FileMode::Regular => "100644",
        FileMode::Executable => "100755",
        FileMode::Symlink => "120000",
        FileMode::Gitlink => "160000",
    }
    .to_owned()
}

fn operation(operation: &FileOperation<'_, [u8]>, is_git: bool, prefixes: &Prefixes) -> (RepoPath, Option<RepoPath>, FileStatus) {
    let bare = |path: &[u8]| RepoPath(text_of(path));
    // Rename and copy headers carry no prefix; the others may.
    let old = |path: &[u8]| bare(prefixes.old_path(name_of(path, is_git)));
    let new = |path: &[u8]| bare(prefixes.new_path(name_of(path, is_git)));
    match operation {
        FileOperation::Create(path) => (new(path), None, FileStatus::Added),
        FileOperation::Delete(path) => (old(path), None, FileStatus::Deleted),
        // With a prefix the two sides would differ in it.
        FileOperation::Modify { original, modified } if original == modified => {
            (bare(name_of(modified, is_git)), None, FileStatus::Modified)
        }
        FileOperation::Modify { original, modified } => {
            let (from, to) = (old(original), new(modified));
            if from == to { (to, None, FileStatus::Modified) } else { (to, Some(from), FileStatus::Renamed) }
        }
        FileOperation::Rename { from, to } => (bare(to), Some(bare(from)), FileStatus::Renamed),
        FileOperation::Copy { from, to } => (bare(to), Some(bare(from)), FileStatus::Copied),
    }
}

/// git puts a tab behind a name with blanks; other tools put a tab and a date.
fn name_of(path: &[u8], is_git: bool) -> &[u8] {
    if is_git {
        return path.strip_suffix(b"\t").unwrap_or(path);
    }
    path.split(|&byte| byte == b'\t').next().unwrap_or(path)
}

fn hunk(hunk: &diffy::Hunk<'_, [u8]>) -> Result<Hunk, DiffError> {
    let (mut old, mut new) = (first_line(hunk.old_range())?, first_line(hunk.new_range())?);
    let (old_start, new_start) = (old, new);
    let lines = hunk
        .lines()
        .iter()
        .map(|line| {
            let (origin, bytes) = match line {
                Line::Context(bytes) => (Origin::Context, bytes),
                Line::Delete(bytes) => (Origin::Removed, bytes),
                Line::Insert(bytes) => (Origin::Added, bytes),
            };
            let old_line = (origin != Origin::Added).then_some(old);
            let new_line = (origin != Origin::Removed).then_some(new);
            old += u32::from(old_line.is_some());
            new += u32::from(new_line.is_some());
            DiffLine { origin, text: line_text(bytes), old_line, new_line }
        })
        .collect();
    let heading = hunk.function_context().map(line_text).unwrap_or_default();
    Ok(Hunk { old_start, new_start, heading, lines })
}

/// Lines count from one; only a side without lines may begin at zero. Findings are posted by these numbers.
fn first_line(range: diffy::HunkRange) -> Result<u32, DiffError> {
    let wrong = || DiffError::Malformed(format!("a hunk of {} lines begins at line {}", range.len(), range.start()));
    if range.start() == 0 && !range.is_empty() {
        return Err(wrong());
    }
    let end = range.start().checked_add(range.len()).and_then(|end| u32::try_from(end).ok()).ok_or_else(wrong)?;
    Ok(end - range.len() as u32)
}

fn line_text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path's bytes as text that stays unique: what is not UTF-8 is escaped instead of replaced.
pub fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests;
