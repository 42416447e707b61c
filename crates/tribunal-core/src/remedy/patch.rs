//! What a fixer's patch may be (WL-61, WL-63, WL-87, CF-19).
//!
//! A fixer is told to make the smallest correct fix; this is where it is held to it. Everything is read broadly: a patch that is
//! refused by mistake is shown to a person, one that is let through by mistake takes a check away without anybody noticing. No
//! parser is needed for that: lines that went away and lines that came say enough.

mod contract;
mod dependencies;
mod destructive;
mod lines;
mod paths;
mod secrets;

#[cfg(test)]
mod tests;

use super::answer::checked_home;
use crate::diff::change::{Change, ChangedFile, FileContent};
use crate::feedback::fixable::Fixable;
use crate::feedback::item::ItemId;
use crate::findings::admit::one_line;
use crate::findings::plain::plain;
use crate::ids::{AgentName, RepoPath, RunId};
pub use crate::policy::loops::FixPolicy;
use globset::Glob;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Does the policy name this path as one that fixes may touch all the same? A pattern that cannot be read names nothing.
fn allows(policy: &FixPolicy, path: &RepoPath) -> bool {
    let matches = |pattern: &String| Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(path.as_str()));
    policy.allow.iter().any(matches)
}

/// Why a patch is not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "refused", rename_all = "kebab-case")]
pub enum Refusal {
    TooLarge {
        files: u32,
        lines: u32,
    },
    /// One of the ten categories that a person confirms first (WL-87).
    Destructive {
        category: u8,
        path: RepoPath,
        why: String,
    },
    /// A file that no fixer touches.
    Forbidden {
        path: RepoPath,
        why: String,
    },
    /// Not where fixes may be made, or not about the item.
    Outside {
        path: RepoPath,
    },
    Empty,
    /// What others build on would change.
    ContractChange {
        path: RepoPath,
        what: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLarge { files, lines } => write!(f, "the fix takes {lines} lines in {files} files, more than is allowed"),
            Refusal::Destructive { category, path, why } => {
                write!(f, "{path}: {why} (category {category}: {}); a person must confirm it", category_name(*category))
            }
            Refusal::Forbidden { path, why } => write!(f, "{path}: {why}"),
            Refusal::Outside { path } => write!(f, "{path} is outside of what this fix may touch"),
            Refusal::Empty => f.write_str("the fix changes nothing"),
            Refusal::ContractChange { path, what } => write!(f, "{path}: {what}, and others may build on it"),
        }
    }
}

/// The categories of WL-87 in their order.
pub fn category_name(category: u8) -> &'static str {
    match category {
        1 => "weakens authentication or authorisation",
        2 => "deletes a security-relevant file",
        3 => "disables validation, lint, tests or assertions",
        4 => "relaxes sanitisation or encoding",
        5 => "expands permissions or trust",
        6 => "alters cryptographic configuration",
        7 => "adds a dependency",
        8 => "modifies CI or workflow files",
        9 => "touches secrets or environment files",
        10 => "exposes credentials",
        _ => "unknown",
    }
}

/// May this patch be applied for an item that stands in `item_path`? The first objection is given, the gravest kind first.
pub fn check(change: &Change, policy: &FixPolicy, item_path: Option<&RepoPath>) -> Result<(), Refusal> {
    if change.files.iter().all(|file| file.lines().next().is_none() && !is_more_than_lines(file)) {
        return Err(Refusal::Empty);
    }
    for file in &change.files {
        for path in both_paths(file) {
            if let Some(why) = paths::forbidden(path).filter(|_| !allows(policy, path)) {
                return Err(Refusal::Forbidden { path: path.clone(), why: why.to_owned() });
            }
        }
        if let Some(why) = not_text(file) {
            return Err(Refusal::Forbidden { path: file.path.clone(), why: why.to_owned() });
        }
    }
    if let Some((category, path, why)) = destructive::find(change) {
        return Err(Refusal::Destructive { category, path, why });
    }
    outside(change, policy, item_path)?;
    let (files, lines) = (change.files.len(), change.added_count() + change.removed_count());
    if files > policy.max_files as usize || lines > policy.max_lines as usize {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        return Err(Refusal::TooLarge { files: number(files), lines: number(lines) });
    }
    match contract::find(change).filter(|_| !policy.contract_changes) {
        Some((path, what)) => Err(Refusal::ContractChange { path, what }),
        None => Ok(()),
    }
}

fn both_paths(file: &ChangedFile) -> impl Iterator<Item = &RepoPath> {
    std::iter::once(&file.path).chain(&file.old_path)
}

/// A rename or a change of mode without any line.
fn is_more_than_lines(file: &ChangedFile) -> bool {
    file.old_path.as_ref().is_some_and(|old| old != &file.path)
        || file.old_mode != file.new_mode
        || file.content != FileContent::Text
}

fn not_text(file: &ChangedFile) -> Option<&'static str> {
    match file.content {
        FileContent::Text => None,
        FileContent::Binary => Some("a binary file cannot be looked through"),
        FileContent::Submodule => Some("a fix does not move a submodule"),
        FileContent::Symlink => Some("a symbolic link may point anywhere"),
    }
}

/// A patch that leaves the item's own file alone is about something else, unless the policy names the place.
fn outside(change: &Change, policy: &FixPolicy, item_path: Option<&RepoPath>) -> Result<(), Refusal> {
    let is_about = |path: &RepoPath| item_path.is_none_or(|item| item == path) || allows(policy, path);
    match change.files.first() {
        Some(file) if !change.files.iter().any(|file| both_paths(file).any(is_about)) => {
            Err(Refusal::Outside { path: file.path.clone() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Why a file cannot hold what is deferred: nobody writes to it unasked, or it could not be linked to.
pub fn no_record(path: &RepoPath) -> Option<&'static str> {
    let steers = paths::forbidden(path);
    let risky = paths::is_ci(path).then_some("it is CI's").or_else(|| paths::is_secret_file(path).then_some("it holds secrets"));
    let unlinkable = checked_home(path.as_str()).is_err().then_some("its name does not work as a link");
    steers.or(risky).or(unlinkable)
}

/// The subject of a fix's commit.
pub fn subject(summary: &str, item: &Fixable) -> String {
    let line = one_line(&plain(summary));
    let line = line.trim().trim_end_matches('.');
    if line.is_empty() {
        return format!("Address feedback on {}", item.place());
    }
    line.chars().take(MAX_SUBJECT).collect()
}

/// As a commit carries it: what was done, for which items, in which run, by which agent. Who fixed something does not approve it
/// (CF-27), and the commit may be all that the one who asks has. That a person asked for it stands there too: nobody can delete that
/// from the head, and it holds the merge back until somebody has looked.
pub fn message<'a>(subject: &str, items: impl IntoIterator<Item = &'a ItemId>, run: &RunId, by: &By<'_>) -> String {
    let items: String = items.into_iter().map(|item| format!("Tribunal-Item: {item}\n")).collect();
    let asked = if by.answers_person { ASKED_BY_PERSON } else { "" };
    format!("{subject}\n\n{items}{RUN}{run}\n{FIXER}{}\n{asked}", by.fixer)
}

/// Who made a commit, and for whom.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    pub fixer: &'a AgentName,
    pub answers_person: bool,
}

/// The line of a commit's message that says that it answers what a person said.
pub const ASKED_BY_PERSON: &str = "Tribunal-Asked-By: person\n";

/// The line of a commit's message that names the agent.
pub const FIXER: &str = "Tribunal-Fixer: ";
/// The line that names the run.
pub const RUN: &str = "Tribunal-Run: ";

const MAX_SUBJECT: usize = 72;
