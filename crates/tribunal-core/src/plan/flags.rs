//! Capability flags (PR-39 to PR-41): facts about a change that decide who is called and what can be verified.

use super::files::{ContentKind, FileSummary};
use crate::diff::change::FileStatus;
use crate::diff::language::is_prose_path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flags {
    pub has_spec: bool,
    pub has_repo: bool,
    pub is_trivial: bool,
}

/// Fewer changed lines than this, and nothing but prose, renames or types: trivial.
const TRIVIAL_LINES: u32 = 50;
/// A line can be of any length, so a trivial file is small as well.
const MAX_TRIVIAL_BYTES: u64 = 256 * 1024;

pub fn flags(files: &[FileSummary], has_spec: bool, has_repo: bool) -> Flags {
    Flags { has_spec, has_repo, is_trivial: is_trivial(files) }
}

fn is_trivial(files: &[FileSummary]) -> bool {
    let lines: u32 = files.iter().map(|file| file.added + file.removed).sum();
    let all = |holds: fn(&FileSummary) -> bool| files.iter().all(holds);
    lines < TRIVIAL_LINES && !files.is_empty() && (all(is_docs) || all(is_pure_rename) || all(is_types_only))
}

/// Read, and text: a name alone makes nothing harmless, and lines that nobody counted are not few.
fn is_plain_text(file: &FileSummary) -> bool {
    let is_small = file.bytes.is_none_or(|bytes| bytes < MAX_TRIVIAL_BYTES);
    file.content == ContentKind::Text && is_small && !file.too_large && !file.over_total && !file.became_executable
}

fn is_docs(file: &FileSummary) -> bool {
    is_plain_text(file) && is_prose_path(&file.path)
}

fn is_pure_rename(file: &FileSummary) -> bool {
    is_plain_text(file) && file.status == FileStatus::Renamed && file.added + file.removed == 0
}

fn is_types_only(file: &FileSummary) -> bool {
    let path = file.path.as_str();
    is_plain_text(file) && (path.ends_with(".d.ts") || path.ends_with(".pyi") || path.ends_with(".d.mts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, status: FileStatus, added: u32) -> FileSummary {
        FileSummary { added, ..FileSummary::new(path.into(), status, ContentKind::Text) }
    }

    /// PR-41: small, and docs only, or pure renames, or types only.
    #[test]
    fn trivial_is_small_and_harmless() {
        let trivial = |files: &[FileSummary]| flags(files, false, true).is_trivial;
        assert!(trivial(&[file("README.md", FileStatus::Modified, 10)]));
        assert!(trivial(&[file("b.rs", FileStatus::Renamed, 0)]));
        assert!(trivial(&[file("a.d.ts", FileStatus::Modified, 3)]));
        assert!(!trivial(&[file("README.md", FileStatus::Modified, 50)]));
        assert!(!trivial(&[file("README.md", FileStatus::Modified, 1), file("a.rs", FileStatus::Modified, 1)]));
        assert!(!trivial(&[]));
    }

    /// A name makes nothing harmless: what is no text, or was not counted, is never trivial.
    #[test]
    fn trivial_is_text_that_was_counted() {
        let trivial = |file: FileSummary| flags(&[file], false, true).is_trivial;
        let rename = file("b.rs", FileStatus::Renamed, 0);
        assert!(trivial(rename.clone()));
        assert!(!trivial(FileSummary { content: ContentKind::Binary, ..rename.clone() }));
        assert!(!trivial(FileSummary { became_executable: true, ..rename.clone() }));
        assert!(!trivial(FileSummary { over_total: true, ..rename }));
        let readme = file("README.md", FileStatus::Modified, 1);
        assert!(!trivial(FileSummary { content: ContentKind::Symlink, ..readme.clone() }));
        assert!(!trivial(FileSummary { bytes: Some(1 << 20), ..readme }));
    }
}
