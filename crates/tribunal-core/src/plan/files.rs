//! Every file of the diff ends as reviewed or as skipped with a reason; nothing is left out in silence.

use crate::diff::change::{Change, ChangedFile, FileContent, FileStatus};
use crate::ids::RepoPath;
use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of a changed file without reading it: enough to plan with, small enough to keep in a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    pub path: RepoPath,
    pub old_path: Option<RepoPath>,
    pub status: FileStatus,
    pub content: ContentKind,
    pub added: u32,
    pub removed: u32,
    /// Size of the new version, where known.
    pub bytes: Option<u64>,
    /// Its first lines say that a tool wrote it.
    pub says_generated: bool,
    /// The diff of this file was not read, because it is larger than the limit.
    pub too_large: bool,
}

impl FileSummary {
    /// An untracked file that is there but was never read.
    pub fn left_out(left_out: &LeftOut) -> Self {
        FileSummary {
            path: left_out.path.clone(),
            old_path: None,
            status: FileStatus::Added,
            content: if left_out.is_binary { ContentKind::Binary } else { ContentKind::Text },
            added: 0,
            removed: 0,
            bytes: None,
            says_generated: false,
            too_large: true,
        }
    }
}

/// An untracked file that was too large to take in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredLeftOut")]
pub struct LeftOut {
    pub path: RepoPath,
    pub is_binary: bool,
}

/// Earlier states knew only its path.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredLeftOut {
    Path(RepoPath),
    Whole { path: RepoPath, is_binary: bool },
}

impl From<StoredLeftOut> for LeftOut {
    fn from(stored: StoredLeftOut) -> Self {
        match stored {
            StoredLeftOut::Path(path) => LeftOut { path, is_binary: false },
            StoredLeftOut::Whole { path, is_binary } => LeftOut { path, is_binary },
        }
    }
}

/// git's own test, which attributes of the repository cannot sway: a NUL among the first bytes.
pub fn looks_binary(start: &[u8]) -> bool {
    start.iter().take(BINARY_TEST_BYTES).any(|byte| *byte == 0)
}

pub const BINARY_TEST_BYTES: usize = 8000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentKind {
    Text,
    Binary,
    Submodule,
    Symlink,
}

impl From<FileContent> for ContentKind {
    fn from(content: FileContent) -> Self {
        match content {
            FileContent::Text => ContentKind::Text,
            FileContent::Binary => ContentKind::Binary,
            FileContent::Submodule => ContentKind::Submodule,
            FileContent::Symlink => ContentKind::Symlink,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    Binary,
    Submodule,
    LockFile,
    Vendored,
    Generated,
    /// A glob of `[files] skip`.
    Configured,
    /// Larger than `[files] max_bytes`; the one reason that makes a review incomplete.
    TooLarge,
}

impl SkipReason {
    pub fn words(self) -> &'static str {
        match self {
            SkipReason::Binary => "binary",
            SkipReason::Submodule => "submodule",
            SkipReason::LockFile => "lock file",
            SkipReason::Vendored => "vendored",
            SkipReason::Generated => "generated",
            SkipReason::Configured => "skipped by configuration",
            SkipReason::TooLarge => "too large",
        }
    }

    /// Skipping by rule is policy. Not reading a file because it is too big is a hole in the review.
    pub fn is_hole(self) -> bool {
        self == SkipReason::TooLarge
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disposition {
    /// Given to the reviewers.
    Review,
    /// Only its added lines are checked: a tool wrote it, so its code is nobody's, but a secret in it still is one.
    LinesOnly,
    Skip(SkipReason),
}

/// Which paths to leave out and which to read in spite of the rules.
#[derive(Debug, Clone, Default)]
pub struct FileRules {
    skip: GlobSet,
    review: GlobSet,
}

impl FileRules {
    pub fn new(skip: &[String], review: &[String]) -> Result<Self, String> {
        Ok(Self { skip: globs(skip)?, review: globs(review)? })
    }

    pub fn disposition(&self, file: &FileSummary) -> Disposition {
        let path = file.path.as_str();
        match file.content {
            ContentKind::Binary => return Disposition::Skip(SkipReason::Binary),
            ContentKind::Submodule => return Disposition::Skip(SkipReason::Submodule),
            ContentKind::Text | ContentKind::Symlink => {}
        }
        if self.skip.is_match(path) {
            return Disposition::Skip(SkipReason::Configured);
        }
        let wanted = self.review.is_match(path);
        // What is left out by its name is left out at any size.
        if let Some(reason) = skipped_by_name(&file.path).filter(|_| !wanted) {
            return Disposition::Skip(reason);
        }
        if file.too_large {
            return Disposition::Skip(SkipReason::TooLarge);
        }
        if file.says_generated && !wanted { Disposition::LinesOnly } else { Disposition::Review }
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}

/// A file that its name alone tells not to read.
pub fn skipped_by_name(path: &RepoPath) -> Option<SkipReason> {
    if is_lock_file(path) {
        Some(SkipReason::LockFile)
    } else if is_vendored(path) {
        Some(SkipReason::Vendored)
    } else {
        is_generated_path(path).then_some(SkipReason::Generated)
    }
}

pub fn is_lock_file(path: &RepoPath) -> bool {
    matches!(
        path.file_name(),
        "Cargo.lock"
            | "package-lock.json"
            | "npm-shrinkwrap.json"
            | "yarn.lock"
            | "pnpm-lock.yaml"
            | "bun.lock"
            | "bun.lockb"
            | "deno.lock"
            | "poetry.lock"
            | "uv.lock"
            | "pdm.lock"
            | "Pipfile.lock"
            | "Gemfile.lock"
            | "composer.lock"
            | "go.sum"
            | "go.work.sum"
            | "gradle.lockfile"
            | "packages.lock.json"
            | "mix.lock"
            | "pubspec.lock"
            | "Podfile.lock"
            | "flake.lock"
            | "Package.resolved"
            | "MODULE.bazel.lock"
            | ".terraform.lock.hcl"
    )
}

fn is_vendored(path: &RepoPath) -> bool {
    path.as_str().split('/').rev().skip(1).any(|folder| {
        matches!(
            folder,
            "vendor"
                | "_vendor"
                | "vendored"
                | "third_party"
                | "third-party"
                | "thirdparty"
                | "node_modules"
                | "bower_components"
                | "Godeps"
                | ".yarn"
        )
    })
}

fn is_generated_path(path: &RepoPath) -> bool {
    let name = path.file_name();
    let lower = name.to_ascii_lowercase();
    [
        ".min.js",
        ".min.css",
        ".min.mjs",
        ".bundle.js",
        ".pb.go",
        ".pb.cc",
        ".pb.h",
        "_pb2.py",
        "_pb2_grpc.py",
        ".pb.rs",
        ".g.dart",
        ".freezed.dart",
        ".designer.cs",
        ".g.cs",
        ".snap",
        ".js.map",
        ".css.map",
        ".po",
        ".pot",
        ".svg",
    ]
    .iter()
    .any(|ending| lower.ends_with(ending))
        || lower.starts_with("zz_generated.")
        || lower.contains(".generated.")
        || lower.contains("_generated.")
}

/// Do the first lines of a file say that a tool wrote it?
pub fn says_generated(text: &str) -> bool {
    text.lines().take(12).any(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("@generated")
            || (line.contains("generated") && line.contains("do not edit"))
            || line.contains("automatically generated by")
            || line.contains("auto-generated file")
            || line.contains("<auto-generated")
    })
}

/// One summary per file of a change that was read.
pub fn summarise(change: &Change) -> Vec<FileSummary> {
    change.files.iter().map(summary).collect()
}

pub fn summary(file: &ChangedFile) -> FileSummary {
    FileSummary {
        path: file.path.clone(),
        old_path: file.old_path.clone(),
        status: file.status,
        content: file.content.into(),
        added: file.added_lines().count() as u32,
        removed: file.removed_lines().count() as u32,
        bytes: file.new_text.as_ref().map(|text| text.len() as u64),
        says_generated: file.new_text.as_deref().is_some_and(says_generated),
        too_large: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> FileSummary {
        FileSummary {
            path: path.into(),
            old_path: None,
            status: FileStatus::Modified,
            content: ContentKind::Text,
            added: 1,
            removed: 0,
            bytes: None,
            says_generated: false,
            too_large: false,
        }
    }

    #[test]
    fn lock_vendored_generated_and_binary_files_are_skipped_by_rule() {
        let rules = FileRules::default();
        for (path, reason) in [
            ("Cargo.lock", SkipReason::LockFile),
            ("a/vendor/x.go", SkipReason::Vendored),
            ("dist/app.min.js", SkipReason::Generated),
        ] {
            assert_eq!(rules.disposition(&file(path)), Disposition::Skip(reason), "{path}");
        }
        let binary = FileSummary { content: ContentKind::Binary, ..file("a.png") };
        assert_eq!(rules.disposition(&binary), Disposition::Skip(SkipReason::Binary));
    }

    /// Issue 3, point 2: what is left out by rule is left out at any size; what somebody wants read is a hole when it is too large.
    #[test]
    fn the_skip_rules_come_before_the_size() {
        let large = |path: &str| FileSummary { too_large: true, ..file(path) };
        let rules = FileRules::new(&[], &["web/**".into()]).unwrap();
        assert_eq!(rules.disposition(&large("package-lock.json")), Disposition::Skip(SkipReason::LockFile));
        assert_eq!(rules.disposition(&large("vendor/x.go")), Disposition::Skip(SkipReason::Vendored));
        assert_eq!(rules.disposition(&large("a.min.js")), Disposition::Skip(SkipReason::Generated));
        for path in ["web/a.min.js", "data.txt"] {
            assert_eq!(rules.disposition(&large(path)), Disposition::Skip(SkipReason::TooLarge), "{path}");
        }
    }

    #[test]
    fn earlier_states_name_left_out_files_by_path_alone() {
        let read: Vec<LeftOut> = serde_json::from_str(r#"["a.txt", { "path": "b.bin", "is_binary": true }]"#).unwrap();
        assert_eq!(read.iter().map(|left_out| left_out.is_binary).collect::<Vec<_>>(), [false, true]);
        assert_eq!(serde_json::from_value::<Vec<LeftOut>>(serde_json::json!(read)).unwrap(), read);
    }

    #[test]
    fn configuration_overrides_both_ways() {
        let rules = FileRules::new(&["src/**".into()], &["**/vendor/**".into()]).unwrap();
        assert_eq!(rules.disposition(&file("src/a.rs")), Disposition::Skip(SkipReason::Configured));
        assert_eq!(rules.disposition(&file("a/vendor/x.go")), Disposition::Review);
    }

    #[test]
    fn a_file_that_calls_itself_generated_still_has_its_lines_checked() {
        let generated = FileSummary { says_generated: true, ..file("src/api.go") };
        assert_eq!(FileRules::default().disposition(&generated), Disposition::LinesOnly);
        assert!(says_generated("// Code generated by x. DO NOT EDIT.\npackage a\n"));
        assert!(!says_generated("fn generated_by_hand() {}\n"));
    }
}
