//! Capability flags (PR-39 to PR-41): facts about a change that decide who is called and what can be verified.

use super::files::FileSummary;
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

pub fn flags(files: &[FileSummary], has_spec: bool, has_repo: bool) -> Flags {
    Flags { has_spec, has_repo, is_trivial: is_trivial(files) }
}

fn is_trivial(files: &[FileSummary]) -> bool {
    let lines: u32 = files.iter().map(|file| file.added + file.removed).sum();
    let all = |holds: fn(&FileSummary) -> bool| files.iter().all(holds);
    lines < TRIVIAL_LINES && !files.is_empty() && (all(is_docs) || all(is_pure_rename) || all(is_types_only))
}

fn is_docs(file: &FileSummary) -> bool {
    is_prose_path(&file.path)
}

fn is_pure_rename(file: &FileSummary) -> bool {
    file.status == FileStatus::Renamed && file.added + file.removed == 0
}

fn is_types_only(file: &FileSummary) -> bool {
    let path = file.path.as_str();
    path.ends_with(".d.ts") || path.ends_with(".pyi") || path.ends_with(".d.mts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::files::ContentKind;

    fn file(path: &str, status: FileStatus, added: u32) -> FileSummary {
        FileSummary {
            path: path.into(),
            old_path: None,
            status,
            content: ContentKind::Text,
            added,
            removed: 0,
            bytes: None,
            says_generated: false,
            too_large: false,
        }
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
}
