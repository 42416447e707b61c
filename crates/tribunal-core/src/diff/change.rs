//! The change under review, as data.

use super::language::{self, Language};
use super::purpose::{self, FilePurpose};
use crate::ids::RepoPath;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Every file that differs between base and head, in the order of the diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub files: Vec<ChangedFile>,
    /// Does the repository have test files at all? Unknown, and so false, for a bare diff.
    pub repository_has_tests: bool,
    /// Changed files after which a test file of the repository is named.
    pub tested: BTreeSet<RepoPath>,
    /// Addresses in added lines that lead to a script of this repository itself.
    pub own_addresses: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: RepoPath,
    /// Where it came from, for a rename or a copy.
    pub old_path: Option<RepoPath>,
    pub status: FileStatus,
    pub content: FileContent,
    /// `100755` and the like, where the diff states it.
    pub new_mode: Option<String>,
    pub old_mode: Option<String>,
    pub hunks: Vec<Hunk>,
    /// The whole file after the change, where it could be had. Without it only the hunks are known.
    pub new_text: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileStatus {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
}

impl FileStatus {
    pub fn word(self) -> &'static str {
        match self {
            FileStatus::Added => "added",
            FileStatus::Deleted => "deleted",
            FileStatus::Modified => "modified",
            FileStatus::Renamed => "renamed",
            FileStatus::Copied => "copied",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileContent {
    Text,
    Binary,
    Submodule,
    Symlink,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old_start: u32,
    pub new_start: u32,
    /// What git prints after `@@`: usually the enclosing function's first line.
    pub heading: String,
    pub lines: Vec<DiffLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub origin: Origin,
    pub text: String,
    /// 1-based; absent on the side where the line does not exist.
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Added,
    Removed,
    Context,
}

impl ChangedFile {
    pub fn language(&self) -> Option<Language> {
        Language::of(&self.path)
    }

    pub fn is_test(&self) -> bool {
        language::is_test_path(&self.path)
    }

    pub fn is_sample(&self) -> bool {
        language::is_sample_path(&self.path)
    }

    pub fn purpose(&self) -> FilePurpose {
        FilePurpose::of(&self.path)
    }

    pub fn is_prose(&self) -> bool {
        language::is_prose_path(&self.path)
    }

    pub fn lines(&self) -> impl Iterator<Item = &DiffLine> + Clone {
        self.hunks.iter().flat_map(|hunk| &hunk.lines)
    }

    pub fn added_lines(&self) -> impl Iterator<Item = &DiffLine> + Clone {
        self.lines().filter(|line| line.origin == Origin::Added)
    }

    pub fn removed_lines(&self) -> impl Iterator<Item = &DiffLine> + Clone {
        self.lines().filter(|line| line.origin == Origin::Removed)
    }

    /// Line numbers of the new file that this change wrote, ascending.
    pub fn added_numbers(&self) -> AddedLines {
        AddedLines(self.added_lines().filter_map(|line| line.new_line).collect())
    }

    /// Takes every line of a moved file as added where its new name makes something else of it: what was data, prose or a test under the old
    /// name was never reviewed as the code that it is now.
    pub fn reread_if_repurposed(&mut self) {
        let Some(old) = &self.old_path else { return };
        let becomes_product = self.purpose().is_production() && !FilePurpose::of(old).is_production();
        let is_repurposed = language::form(old) != language::form(&self.path) || becomes_product || self.becomes_pipeline(old);
        let Some(text) = self.new_text.as_deref().filter(|_| is_repurposed && self.content == FileContent::Text) else { return };
        self.hunks = vec![all_added(text)];
    }

    /// Treats the file as a symbolic link. A diff names the mode only where it changes, so an edited or moved link looks like a text file.
    /// The diff of a moved link has no target either, and from its new folder the target is another one: it counts as added.
    pub fn take_for_link(&mut self) {
        self.content = FileContent::Symlink;
        if let Some(target) = self.new_text.take().filter(|_| self.hunks.is_empty()) {
            self.hunks = vec![all_added(&target)];
        }
    }

    /// Whether the hunks are those of [`all_added`]: a moved file that had lines has no hunk before its first one.
    pub fn is_reread(&self) -> bool {
        self.old_path.is_some() && self.hunks.first().is_some_and(|hunk| hunk.old_start == 0)
    }

    fn becomes_pipeline(&self, old: &RepoPath) -> bool {
        purpose::is_pipeline(&self.path) && !purpose::is_pipeline(old)
    }

    /// `heading` of the hunk that holds a line of the new file: git's own idea of the enclosing symbol.
    pub fn hunk_heading(&self, new_line: u32) -> Option<&str> {
        // Hunks are ascending, and only the last one that begins at or before a line can hold it.
        let after = self.hunks.partition_point(|hunk| hunk.new_start <= new_line);
        let hunk = self.hunks.get(after.checked_sub(1)?)?;
        hunk.lines.iter().any(|line| line.new_line == Some(new_line)).then_some(hunk.heading.as_str())
    }
}

/// A whole text as one hunk that adds it.
fn all_added(text: &str) -> Hunk {
    let line = |(text, number): (&str, u32)| DiffLine {
        origin: Origin::Added,
        text: text.to_owned(),
        old_line: None,
        new_line: Some(number),
    };
    let lines = text.split_terminator('\n').zip(1..).map(line).collect();
    Hunk { old_start: 0, new_start: 1, heading: String::new(), lines }
}

/// Ascending line numbers; made from hunks, which are ordered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedLines(Vec<u32>);

impl AddedLines {
    pub fn contains(&self, line: u32) -> bool {
        self.0.binary_search(&line).is_ok()
    }

    pub fn touches(&self, start: u32, end: u32) -> bool {
        self.first_in(start, end).is_some()
    }

    pub fn first_in(&self, start: u32, end: u32) -> Option<u32> {
        let first = self.0.partition_point(|&line| line < start);
        self.0.get(first).copied().filter(|&line| line <= end)
    }

    pub fn count_in(&self, start: u32, end: u32) -> usize {
        self.0.partition_point(|&line| line <= end) - self.0.partition_point(|&line| line < start)
    }

    pub fn numbers(&self) -> &[u32] {
        &self.0
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<u32> for AddedLines {
    fn from_iter<I: IntoIterator<Item = u32>>(lines: I) -> Self {
        let mut lines: Vec<u32> = lines.into_iter().collect();
        lines.sort_unstable();
        lines.dedup();
        Self(lines)
    }
}

impl Change {
    pub fn file(&self, path: &RepoPath) -> Option<&ChangedFile> {
        self.files.iter().find(|file| &file.path == path)
    }

    pub fn added_count(&self) -> usize {
        self.files.iter().map(|file| file.added_lines().count()).sum()
    }

    pub fn removed_count(&self) -> usize {
        self.files.iter().map(|file| file.removed_lines().count()).sum()
    }
}
