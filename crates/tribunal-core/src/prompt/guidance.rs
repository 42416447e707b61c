//! What the maintainers wrote for whoever works on their code, as the base has it: `[[guidance]]`, `REVIEW.md`, `AGENTS.md`, `CLAUDE.md`
//! and the sections of `CONTRIBUTING.md` that are about reviews. A change that edits one of them does not instruct its reviewers.
//!
//! A file counts for the files of its folder and below. What stands nearest to a changed file comes first, because room is short.

use crate::findings::key::sha256_hex;
use crate::ids::RepoPath;
use crate::policy::guidance::GuidanceConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of all guidance together.
pub const MAX_BYTES: usize = 16 * 1024;
/// Bytes of one file or entry.
const MAX_BYTES_OF_ONE: usize = 8 * 1024;
/// Files beyond this are counted and not read.
const MAX_SOURCES: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuidanceKind {
    /// `[[guidance]]`
    Configured,
    Review,
    Agents,
    Claude,
    Contributing,
}

/// Where guidance stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuidanceSource {
    pub kind: GuidanceKind,
    pub place: GuidancePlace,
    /// Why it is given.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuidancePlace {
    /// A file of the base.
    File(RepoPath),
    /// An entry of the configuration, from 1.
    Entry { number: usize, text: String },
}

impl GuidancePlace {
    pub fn name(&self) -> String {
        match self {
            GuidancePlace::File(path) => path.0.clone(),
            GuidancePlace::Entry { number, .. } => format!("[[guidance]] {number}"),
        }
    }
}

/// What reviewers are given of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuidanceText {
    /// A path of the base, or `[[guidance]] 1`.
    pub source: String,
    pub kind: GuidanceKind,
    pub reason: String,
    pub text: String,
    /// It was longer than there is room for.
    pub is_cut: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Guidance {
    pub texts: Vec<GuidanceText>,
    /// Sources that there was no room for.
    pub left_out: u32,
}

/// A source as the receipt states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuidanceReceipt {
    pub source: String,
    pub kind: GuidanceKind,
    pub reason: String,
    pub bytes: u64,
    /// SHA-256 of the text that was given.
    pub hash: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

impl GuidanceText {
    pub fn receipt(&self) -> GuidanceReceipt {
        GuidanceReceipt {
            source: self.source.clone(),
            kind: self.kind,
            reason: self.reason.clone(),
            bytes: self.text.len() as u64,
            hash: sha256_hex(self.text.as_bytes()),
            is_cut: self.is_cut,
        }
    }
}

impl Guidance {
    /// As it stands in a prompt, before it is quoted.
    pub fn listing(&self) -> String {
        self.texts
            .iter()
            .map(|text| {
                let cut = if text.is_cut { "\n(cut here)" } else { "" };
                format!("=== GUIDANCE {} ({}) ===\n{}{cut}\n", super::shown(&text.source), text.reason, text.text.trim_end())
            })
            .collect()
    }
}

fn kind_of(path: &RepoPath) -> Option<GuidanceKind> {
    match path.file_name().to_ascii_lowercase().as_str() {
        "review.md" => Some(GuidanceKind::Review),
        "agents.md" => Some(GuidanceKind::Agents),
        "claude.md" => Some(GuidanceKind::Claude),
        "contributing.md" => Some(GuidanceKind::Contributing),
        _ => None,
    }
}

/// The folder that a file speaks for: its own. What stands in `.github`, `.claude` or `docs` speaks for the folder around.
fn folder_of(path: &RepoPath, kind: GuidanceKind) -> &str {
    let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
    let (above, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    let is_shared = matches!(last, ".github" | ".claude" | ".gitlab") || last == "docs" && kind == GuidanceKind::Contributing;
    if is_shared { above } else { folder }
}

/// How many folders lie between a changed file and the folder that guidance speaks for; nothing if it does not speak for the file.
fn folders_between(folder: &str, changed: &RepoPath) -> Option<usize> {
    let rest = match folder {
        "" => changed.as_str(),
        folder => changed.as_str().strip_prefix(folder)?.strip_prefix('/')?,
    };
    Some(rest.matches('/').count())
}

/// The sources for a change, those to be read first in front: `[[guidance]]` in its order, then files by their distance from the nearest
/// changed file. `tree` is every path of the base.
pub fn sources(tree: &[RepoPath], changed: &[&RepoPath], configured: &[GuidanceConfig]) -> (Vec<GuidanceSource>, u32) {
    let mut found: Vec<GuidanceSource> = Vec::new();
    for (number, entry) in (1..).zip(configured) {
        let reason = match entry.globs() {
            None => "for every change".to_owned(),
            Some(globs) => match changed.iter().find(|path| globs.is_match(path.as_str())) {
                Some(path) => format!("its paths match {path}"),
                None => continue,
            },
        };
        let place = match (&entry.text, &entry.file) {
            (Some(text), _) => GuidancePlace::Entry { number, text: text.clone() },
            (None, Some(file)) => GuidancePlace::File(file.as_str().into()),
            (None, None) => continue,
        };
        found.push(GuidanceSource { kind: GuidanceKind::Configured, place, reason });
    }
    // Of two that are equally far the one in the deeper folder speaks of fewer files, and so more of these.
    let mut files: Vec<(usize, Reverse<usize>, GuidanceKind, &RepoPath, &RepoPath)> = tree
        .iter()
        .filter_map(|path| {
            let kind = kind_of(path)?;
            let folder = folder_of(path, kind);
            let near = changed.iter().filter_map(|changed| Some((folders_between(folder, changed)?, *changed)));
            let (distance, nearest) = near.min()?;
            Some((distance, Reverse(folder.split('/').filter(|part| !part.is_empty()).count()), kind, path, nearest))
        })
        .collect();
    files.sort();
    found.extend(files.into_iter().map(|(_, _, kind, path, nearest)| GuidanceSource {
        kind,
        place: GuidancePlace::File(path.clone()),
        reason: format!("stands nearest to {nearest}"),
    }));
    let left_out = found.len().saturating_sub(MAX_SOURCES) as u32;
    found.truncate(MAX_SOURCES);
    (found, left_out)
}

/// The texts of these sources within `max_bytes`, in their order. A text that was there before, and one that only points at another
/// file, says nothing new.
pub fn compose(read: Vec<(GuidanceSource, String)>, left_out: u32, max_bytes: usize) -> Guidance {
    let mut guidance = Guidance { texts: Vec::new(), left_out };
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut left = max_bytes.min(MAX_BYTES);
    for (source, text) in read {
        let wanted = match source.kind {
            GuidanceKind::Contributing => review_sections(&text).unwrap_or_default(),
            GuidanceKind::Configured | GuidanceKind::Review | GuidanceKind::Agents | GuidanceKind::Claude => text,
        };
        let wanted = wanted.trim();
        if wanted.is_empty() || is_pointer(wanted) || !seen.insert(wanted.to_owned()) {
            continue;
        }
        let (kept, is_cut) = beginning(wanted, left.min(MAX_BYTES_OF_ONE));
        if kept.is_empty() {
            guidance.left_out += 1;
            continue;
        }
        left -= kept.len();
        guidance.texts.push(GuidanceText {
            source: source.place.name(),
            kind: source.kind,
            reason: source.reason,
            text: kept.to_owned(),
            is_cut,
        });
    }
    guidance
}

/// `@AGENTS.md` alone: an import, which some agents follow.
fn is_pointer(text: &str) -> bool {
    text.starts_with('@') && !text.contains(char::is_whitespace)
}

/// Whole lines from the beginning, at most so many bytes.
fn beginning(text: &str, room: usize) -> (&str, bool) {
    if text.len() <= room {
        return (text, false);
    }
    let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room).last().unwrap_or(0);
    let end = text[..end].rfind('\n').unwrap_or(0);
    (text[..end].trim_end(), true)
}

/// Words that a heading about reviews holds.
const HEADINGS: [&str; 15] = [
    "review",
    "code style",
    "coding style",
    "style guide",
    "code standard",
    "coding standard",
    "coding guideline",
    "code guideline",
    "coding convention",
    "code convention",
    "code quality",
    "pull request",
    "merge request",
    "best practice",
    "conventions",
];

/// The sections of a Markdown file whose heading speaks of reviews, code style or pull requests, with what is inside them.
pub fn review_sections(markdown: &str) -> Option<String> {
    let underlined = underlined_headings(markdown);
    let mut kept = Vec::new();
    let mut open: Option<usize> = None;
    let mut in_code = false;
    for (number, line) in markdown.lines().enumerate() {
        in_code ^= line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        let marks = line.chars().take_while(|c| *c == '#').count();
        let is_marked = !in_code && (1..=6).contains(&marks) && line[marks..].starts_with(' ');
        let level = if is_marked { Some(marks) } else { underlined.get(&number).copied().filter(|_| !in_code) };
        if let Some(level) = level {
            let words = line.to_lowercase();
            let is_wanted = HEADINGS.iter().any(|heading| words.contains(heading));
            open = match open {
                Some(above) if level > above => Some(above),
                _ => is_wanted.then_some(level),
            };
        }
        if open.is_some() {
            kept.push(line);
        }
    }
    let text = kept.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Line → level of headings that are underlined with `===` or `---`.
fn underlined_headings(markdown: &str) -> BTreeMap<usize, usize> {
    let lines: Vec<&str> = markdown.lines().collect();
    let level = |line: &str| match line.trim_end() {
        line if line.len() > 2 && line.chars().all(|c| c == '=') => Some(1),
        line if line.len() > 2 && line.chars().all(|c| c == '-') => Some(2),
        _ => None,
    };
    let is_text = |line: &str| line.chars().any(char::is_alphanumeric) && !line.starts_with(['#', '|', '-', '*', ' ']);
    let pairs = lines.windows(2).enumerate();
    pairs.filter(|(_, pair)| is_text(pair[0])).filter_map(|(number, pair)| Some((number, level(pair[1])?))).collect()
}

#[cfg(test)]
mod tests;
