//! What a change's own comments and settings keep a rule or a linter from saying.
//!
//! Whoever writes the change would else decide what is said about it. What weighs little is listed by name; what does not is put as a
//! question, so that the review is not clean.

use super::report::Claim;
use super::scale::Severity;
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};

/// A match of a rule or a linter that the change itself silences.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Silenced {
    /// Nothing where a linter could not look, and nobody knows what it would have said.
    pub rule: Option<String>,
    pub path: RepoPath,
    pub line: u32,
}

impl Silenced {
    pub fn unread(path: &RepoPath, line: u32) -> Self {
        Silenced { rule: None, path: path.clone(), line }
    }

    pub fn is_of(&self, path: &RepoPath, rule: &str) -> bool {
        self.path == *path && self.rule.as_deref() == Some(rule)
    }
}

/// How it was silenced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    Comment,
    /// A comment, or a file that the linter takes its settings from.
    CommentOrSetting,
}

impl Means {
    fn question(self) -> &'static str {
        match self {
            Means::Comment => "This change also adds the comment that tells a linter to be silent here. Is it meant?",
            Means::CommentOrSetting => {
                "This change also adds a comment, or changes a setting of the linter, that keeps it from saying this. Is it meant?"
            }
        }
    }
}

/// Splits the claims into questions for whoever reviews the change, and what is only listed.
pub fn split<'a>(claims: impl IntoIterator<Item = &'a Claim>, means: Means) -> (Vec<Claim>, Vec<Silenced>) {
    let (grave, light): (Vec<&Claim>, Vec<&Claim>) = claims.into_iter().partition(|claim| is_grave(claim));
    let questioned = |claim: &Claim| Claim {
        severity: Some(Severity::Question),
        details: Some(means.question().to_owned()),
        fix: None,
        ..claim.clone()
    };
    let listed = |claim: &Claim| {
        Some(Silenced { rule: Some(claim.rule.clone()?), path: claim.file.clone(), line: claim.line_start.unwrap_or(1) })
    };
    (grave.into_iter().map(questioned).collect(), light.into_iter().filter_map(listed).collect())
}

/// Too much for a comment of the change itself to wave through.
fn is_grave(claim: &Claim) -> bool {
    claim.severity == Some(Severity::Blocker) || claim.category.as_str().starts_with('S')
}
