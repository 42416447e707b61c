//! One thing that somebody wants, whoever it is and wherever it was said.

use crate::findings::about::About;
use crate::findings::scale::Priority;
use crate::ids::{FindingKey, RepoPath};
use crate::publish::marker::Disposition;
use crate::pull::facts::Account;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Names an item for as long as the pull request lives: `thread:17`, `comment:9`, `review:4`, `check:ci/test`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ItemId(pub String);

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where it was said, which is how it is answered (WL-39, WL-80). Stored beside the fields of an item, so its names are its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Surface {
    /// A conversation on a line or a file: a reply, and resolving it.
    Thread {
        #[serde(rename = "thread")]
        id: String,
    },
    /// A comment under the pull request as a whole: named in the summary of the round.
    Comment {
        #[serde(rename = "comment")]
        id: String,
    },
    /// The words of a review: named in the summary of the round.
    Review {
        #[serde(rename = "review")]
        id: String,
    },
    /// A check that failed: a commit answers it.
    Check { name: String },
}

/// Whose words they are (CF-10).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Voice {
    /// A finding of our own panel, proved by its mark.
    Panel,
    /// A review bot of the registry, by its name there.
    Known(String),
    /// Another machine account.
    Bot,
    /// A person, or an account that does not say what it is.
    Person,
    /// A check.
    Check,
}

impl Voice {
    pub fn is_person(&self) -> bool {
        matches!(self, Voice::Person)
    }
}

/// Has it been answered (WL-40)?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    Handled,
    Actionable,
    /// We said that it was fixed, and it was raised again.
    FollowupAfterFix,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    pub id: ItemId,
    pub surface: Surface,
    pub author: Account,
    pub voice: Voice,
    /// What it says: all words of others in it, oldest first, without hidden parts.
    pub body: String,
    pub url: String,
    pub path: Option<RepoPath>,
    pub line: Option<u32>,
    /// The first of its lines, when it stands on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// As its author weighs it; never decides alone (RL-31, CF-12).
    pub priority: Option<Priority>,
    /// The finding of ours that it is.
    pub finding: Option<FindingKey>,
    /// What kind of claim our finding makes; empty where others speak.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// The last word of others in it: an answer to this one does not answer a later one.
    pub last_word: String,
    pub label: Label,
    /// The forge shows it as resolved.
    pub resolved: bool,
    /// May we resolve it, as far as the forge says?
    pub can_resolve: bool,
    /// Only one voice has spoken in it besides ours, so closing it closes nobody else's word.
    pub one_voice: bool,
    /// What our answer to its last word says, where that carries our mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Disposition>,
}

impl Item {
    pub fn is_open(&self) -> bool {
        self.label != Label::Handled
    }

    /// Where to look for it: its address, or its place where the forge gives none.
    pub fn address(&self) -> String {
        if self.url.is_empty() { self.place() } else { self.url.clone() }
    }

    /// For people: where it stands.
    pub fn place(&self) -> String {
        match (&self.path, self.line, &self.surface) {
            (Some(path), Some(line), _) => format!("{path}:{line}"),
            (Some(path), None, _) => path.to_string(),
            (None, _, Surface::Check { name }) => name.clone(),
            (None, _, _) => "the pull request".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{item, person};
    use super::*;

    /// CF-8: a loop is stored with its items, and goes on from them.
    #[test]
    fn what_is_stored_reads_back() {
        let surfaces = [
            Surface::Thread { id: "1".into() },
            Surface::Comment { id: "2".into() },
            Surface::Review { id: "3".into() },
            Surface::Check { name: "ci".into() },
        ];
        for surface in surfaces {
            let stored = Item { surface, ..item("thread:1", &person("alice"), Voice::Person, "a.py", 3, "Why?") };
            let text = serde_json::to_string(&stored).unwrap();
            assert_eq!(serde_json::from_str::<Item>(&text).unwrap(), stored, "{text}");
        }
    }
}
