//! Every file of the diff ends as reviewed, as exempt because the base says so, or as not reviewed; nothing is left out in silence.

pub use super::lock_file::is_lock_file;

use super::base::{BaseFacts, Exemption};
use super::{lock_file, pointer};
use crate::diff::change::{Change, ChangedFile, FileContent, FileStatus};
use crate::diff::language::{self, Language};
use crate::diff::purpose::{self, FilePurpose};
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
    /// The diff of this file was not read, because the change is larger than the limit for all files together.
    #[serde(default)]
    pub over_total: bool,
    /// The change makes it executable.
    #[serde(default)]
    pub became_executable: bool,
    /// A symbolic link whose target lies outside the repository, or cannot be read.
    #[serde(default)]
    pub leads_out: bool,
    /// A symbolic link whose name makes something else of its target.
    #[serde(default)]
    pub repurposes: bool,
    /// What its first bytes show, for binary content.
    #[serde(default)]
    pub format: Option<String>,
    /// It is called like a lock file and reads as one.
    #[serde(default)]
    pub is_lock_form: bool,
    /// What the base says of it; nothing is known for a bare diff and in states of earlier releases.
    #[serde(default)]
    pub base: Option<BaseFacts>,
}

impl FileSummary {
    pub fn new(path: RepoPath, status: FileStatus, content: ContentKind) -> Self {
        FileSummary {
            path,
            old_path: None,
            status,
            content,
            added: 0,
            removed: 0,
            bytes: None,
            says_generated: false,
            too_large: false,
            over_total: false,
            became_executable: false,
            leads_out: false,
            repurposes: false,
            format: None,
            is_lock_form: false,
            base: None,
        }
    }

    /// An untracked file that is there but was never read.
    pub fn left_out(left_out: &LeftOut) -> Self {
        let content = if left_out.is_binary { ContentKind::Binary } else { ContentKind::Text };
        FileSummary { too_large: true, ..Self::new(left_out.path.clone(), FileStatus::Added, content) }
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
    /// A pointer of Git LFS or git-annex: text in place of content that is not in this repository.
    Pointer,
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

/// Why a file need not be read. Only an [`Exemption`] carries one.
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
    /// Deleted, and too large to show.
    Deleted,
    /// Larger than `[files] max_bytes`. Only in documents of earlier releases; it makes a review incomplete.
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
            SkipReason::Deleted => "deleted, too large to show",
            SkipReason::TooLarge => "too large",
        }
    }

    /// Skipping by the base's word is policy. Not reading a file because it is too big is a hole in the review.
    pub fn is_hole(self) -> bool {
        self == SkipReason::TooLarge
    }
}

/// Why a file that should have been read was not. Each one makes a review incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotReviewed {
    /// Binary content that the base does not know as binary.
    Binary,
    /// A submodule that is new, or at another commit: what it holds is in another repository.
    Submodule,
    /// A pointer of Git LFS or git-annex: what it stands for is not in this repository.
    Pointer,
    /// A symbolic link that leads out of the repository.
    LinkLeadsOut,
    /// A symbolic link whose name makes code of what has another form, or product of a test or prose.
    LinkRepurposes,
    /// Larger than `[files] max_bytes`.
    TooLarge,
    /// The change is larger than `[files] max_total_bytes`, or has too many lines.
    OverTotal,
    /// Too large for the parser, so only its lines were checked.
    TooLargeToParse,
    /// Most of what the change wrote there could not be parsed, so only its lines were checked.
    DoesNotParse,
    /// Whoever runs what the change wrote there reads it in another way than the rules: by an escape, a line end or a language of its own.
    ReadOtherwise,
    /// A new file that looks like the output of a bundler, so only what is gravest was looked for in its long lines.
    NewBundle,
    /// Nested too deeply for the rules, so only its lines were checked.
    NestedTooDeeply,
    /// The time for the rules ran out.
    OutOfTime,
}

impl NotReviewed {
    pub fn words(self) -> &'static str {
        match self {
            NotReviewed::Binary => "binary, and not known as binary in the base",
            NotReviewed::Submodule => "submodule, new or at another commit",
            NotReviewed::Pointer => "a pointer of Git LFS or git-annex, its content was not read",
            NotReviewed::LinkLeadsOut => "symbolic link out of the repository",
            NotReviewed::LinkRepurposes => "symbolic link whose name makes something else of what it leads to",
            NotReviewed::TooLarge => "too large",
            NotReviewed::OverTotal => "the change as a whole is too large",
            NotReviewed::TooLargeToParse => "too large to parse, only its lines were checked",
            NotReviewed::DoesNotParse => "does not parse, only its lines were checked",
            NotReviewed::ReadOtherwise => "is run in another way than it reads, so the rules may not have seen its code",
            NotReviewed::NewBundle => "looks like a new bundle, only the gravest was looked for",
            NotReviewed::NestedTooDeeply => "nested too deeply, only its lines were checked",
            NotReviewed::OutOfTime => "the time for the rules ran out",
        }
    }

    /// What a maintainer can do to have it read or to accept that it is not.
    pub fn advice(self) -> &'static str {
        match self {
            NotReviewed::Binary | NotReviewed::Pointer => {
                "list it under [files] skip, or give it the `binary` attribute in .gitattributes, on the base branch"
            }
            NotReviewed::Submodule
            | NotReviewed::LinkLeadsOut
            | NotReviewed::LinkRepurposes
            | NotReviewed::DoesNotParse
            | NotReviewed::ReadOtherwise
            | NotReviewed::NewBundle => "look at it yourself, or list it under [files] skip to accept that",
            NotReviewed::TooLarge => "raise [files] max_bytes, or list it under [files] skip to accept that",
            NotReviewed::OverTotal => {
                "split the change, raise [files] max_total_bytes, or list it under [files] skip to accept that"
            }
            NotReviewed::TooLargeToParse | NotReviewed::NestedTooDeeply | NotReviewed::OutOfTime => {
                "split the file, or list it under [files] skip to accept that"
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", from = "StoredDisposition")]
pub enum Disposition {
    /// Given to the reviewers.
    Review,
    /// Only its added lines are checked: a tool wrote it, so its code is nobody's, but a secret in it still is one.
    #[serde(rename = "exempt-but-lines")]
    LinesOnly(Exemption),
    #[serde(rename = "exempt")]
    Skip(Exemption),
    NotReviewed(NotReviewed),
}

/// Earlier states left files out by what the change itself said of them, which exempts nothing.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredDisposition {
    Review,
    LinesOnly,
    Skip(SkipReason),
    ExemptButLines(Exemption),
    Exempt(Exemption),
    NotReviewed(NotReviewed),
}

impl From<StoredDisposition> for Disposition {
    fn from(stored: StoredDisposition) -> Self {
        match stored {
            StoredDisposition::Review | StoredDisposition::LinesOnly => Disposition::Review,
            StoredDisposition::Skip(SkipReason::Binary) => Disposition::NotReviewed(NotReviewed::Binary),
            StoredDisposition::Skip(SkipReason::Submodule) => Disposition::NotReviewed(NotReviewed::Submodule),
            StoredDisposition::Skip(SkipReason::TooLarge) => Disposition::NotReviewed(NotReviewed::TooLarge),
            StoredDisposition::Skip(SkipReason::Configured) => Disposition::Skip(Exemption::configured()),
            StoredDisposition::Skip(
                SkipReason::LockFile | SkipReason::Vendored | SkipReason::Generated | SkipReason::Deleted,
            ) => Disposition::Review,
            StoredDisposition::ExemptButLines(exemption) => Disposition::LinesOnly(exemption),
            StoredDisposition::Exempt(exemption) => Disposition::Skip(exemption),
            StoredDisposition::NotReviewed(reason) => Disposition::NotReviewed(reason),
        }
    }
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

    /// What becomes of a file. It depends on the file's two versions, the base and the configuration alone, so that an
    /// incremental review decides as the last one did of what has not changed since.
    pub fn disposition(&self, file: &FileSummary) -> Disposition {
        let path = file.path.as_str();
        if self.skip.is_match(path) {
            return Disposition::Skip(Exemption::configured());
        }
        let wanted = self.review.is_match(path);
        let exemption = match file.content {
            ContentKind::Binary => {
                return Exemption::for_binary(file).map_or(Disposition::NotReviewed(NotReviewed::Binary), Disposition::Skip);
            }
            // What is behind a pointer may be anything that a binary file may be.
            ContentKind::Pointer => {
                return Exemption::for_binary(file).map_or(Disposition::NotReviewed(NotReviewed::Pointer), Disposition::Skip);
            }
            ContentKind::Submodule => {
                return Exemption::for_submodule(file)
                    .map_or(Disposition::NotReviewed(NotReviewed::Submodule), Disposition::Skip);
            }
            ContentKind::Symlink if file.leads_out => return Disposition::NotReviewed(NotReviewed::LinkLeadsOut),
            ContentKind::Symlink if file.repurposes => return Disposition::NotReviewed(NotReviewed::LinkRepurposes),
            ContentKind::Symlink => None,
            ContentKind::Text => Exemption::for_text(file).filter(|_| !wanted),
        };
        if file.too_large || file.over_total {
            let reason = if file.too_large { NotReviewed::TooLarge } else { NotReviewed::OverTotal };
            // What the base exempts is exempt at any size.
            let exemption = exemption.or_else(|| Exemption::for_deleted(file));
            return exemption.map_or(Disposition::NotReviewed(reason), Disposition::Skip);
        }
        match exemption {
            None => Disposition::Review,
            // What is known by its header is code of this repository, if a tool's: a secret in it is still one.
            Some(exemption) if exemption.reason() == SkipReason::Generated && !is_generated_path(&file.path) => {
                Disposition::LinesOnly(exemption)
            }
            Some(exemption) => Disposition::Skip(exemption),
        }
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}

/// A file that its name alone tells not to index. A review asks the base as well.
pub fn skipped_by_name(path: &RepoPath) -> Option<SkipReason> {
    if is_lock_file(path) {
        Some(SkipReason::LockFile)
    } else if is_vendored(path) {
        Some(SkipReason::Vendored)
    } else {
        is_generated_path(path).then_some(SkipReason::Generated)
    }
}

pub(super) fn is_vendored(path: &RepoPath) -> bool {
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

pub(super) fn is_generated_path(path: &RepoPath) -> bool {
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
    let text = file.new_text.as_deref();
    let executable = |mode: &Option<String>| mode.as_deref() == Some("100755");
    let is_pointer = file.content == FileContent::Text && pointer::begins(first_line(file).unwrap_or_default());
    let content = if is_pointer { ContentKind::Pointer } else { file.content.into() };
    FileSummary {
        old_path: file.old_path.clone(),
        added: file.added_lines().count() as u32,
        removed: file.removed_lines().count() as u32,
        bytes: text.map(|text| text.len() as u64),
        says_generated: text.is_some_and(says_generated),
        became_executable: executable(&file.new_mode) && !executable(&file.old_mode),
        leads_out: file.content == FileContent::Symlink && leads_out(file),
        repurposes: file.content == FileContent::Symlink && repurposes(file),
        is_lock_form: is_lock_file(&file.path) && text.is_some_and(|text| lock_file::is_lock_form(&file.path, text)),
        format: text.filter(|_| is_pointer).and_then(pointer::format).map(str::to_owned),
        ..FileSummary::new(file.path.clone(), file.status, content)
    }
}

/// The first line of the new version, where it is known.
fn first_line(file: &ChangedFile) -> Option<&str> {
    let shown = || file.lines().find(|line| line.new_line == Some(1)).map(|line| line.text.as_str());
    file.new_text.as_deref().and_then(|text| text.lines().next()).or_else(shown)
}

/// Does a link point out of the repository? A link whose target the diff does not show may point anywhere.
fn leads_out(file: &ChangedFile) -> bool {
    match file.added_lines().last() {
        Some(line) => is_outside(&file.path, &line.text),
        None => matches!(file.status, FileStatus::Added | FileStatus::Modified),
    }
}

fn is_outside(path: &RepoPath, target: &str) -> bool {
    if target.starts_with(['/', '\\', '~']) || target.get(1..2) == Some(":") {
        return true;
    }
    let mut depth = path.as_str().matches('/').count();
    let mut is_named = false;
    target.split(['/', '\\']).any(|part| match part {
        // What was named may be a link itself, and then nobody knows from here what is above it.
        ".." if is_named || depth == 0 => true,
        ".." => {
            depth -= 1;
            false
        }
        "." | "" => false,
        name => {
            is_named = true;
            // The git directory is no part of the tree.
            name.eq_ignore_ascii_case(".git")
        }
    })
}

/// Does a link give its target a name under which the rules would look for more? They read the target under its own name alone.
fn repurposes(file: &ChangedFile) -> bool {
    let Some(target) = file.added_lines().last() else { return false };
    let (link, target) = (&file.path, target_of(&file.path, &target.text));
    let becomes_code = Language::of(link).is_some() && language::form(link) != language::form(&target);
    let becomes_pipeline = purpose::is_pipeline(link) && !purpose::is_pipeline(&target);
    let is_product = |path: &RepoPath| FilePurpose::of(path).is_production();
    // What a link leads to may be a folder, and give its files their purpose.
    let inside = |folder: &RepoPath| RepoPath(format!("{}/x", folder.as_str()));
    let becomes_product = |link: &RepoPath, target: &RepoPath| is_product(link) && !is_product(target);
    let is_promoted = becomes_product(link, &target) || is_product(link) && becomes_product(&inside(link), &inside(&target));
    becomes_code || becomes_pipeline || is_promoted
}

/// The path in the repository that a link leads to, if it stays inside.
fn target_of(link: &RepoPath, target: &str) -> RepoPath {
    let mut parts: Vec<&str> = link.as_str().split('/').collect();
    parts.pop();
    for part in target.split(['/', '\\']) {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    RepoPath(parts.join("/"))
}

#[cfg(test)]
mod tests;
