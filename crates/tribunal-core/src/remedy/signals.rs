//! Signs that fixing one thing after another no longer helps (WL section 16, PR section 22).
//!
//! Each sign is a pure function over what is remembered of the rounds, and its result carries the evidence it went by: a loop that
//! stops must be able to say why. Nothing here reads prose for meaning; what a finding is about comes in as framing, category and place.

pub mod audit;
pub mod axis;
pub mod break_fix;
pub mod cluster;
pub mod detect;
pub mod diminishing;
pub mod merge_advice;
pub mod repeat;
pub mod structural;

#[cfg(test)]
mod tests;

use crate::diff::change::{Change, ChangedFile, FileStatus};
use crate::feedback::item::ItemId;
use crate::findings::scale::{Justification, Priority};
use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use structural::StructuralFix;

/// Why a finding deserved to be said (PR-61); kept with it, so that a gate need not parse comments for it (PR-125).
pub type Nature = Justification;

/// How far an item has come (WL-95), at the end of the round that it is remembered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Open,
    Fixing,
    Fixed,
    /// Fixed before, and there again.
    Regressed,
    /// There, gone and there again, more than once.
    Cycling,
}

impl Status {
    pub fn is_open(self) -> bool {
        match self {
            Status::Open | Status::Fixing | Status::Regressed | Status::Cycling => true,
            Status::Fixed => false,
        }
    }
}

/// One item in one round. What was declined or deferred is settled and belongs in no round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    pub item: ItemId,
    pub path: Option<RepoPath>,
    /// First and last line, both included.
    pub lines: Option<(u32, u32)>,
    /// What its fix would be, in two or three words.
    pub framing: Option<String>,
    pub priority: Option<Priority>,
    pub category: Option<String>,
    pub slug: Option<String>,
    /// The round that it was first raised in.
    pub round: u32,
    pub status: Status,
    /// It carries the race tag (PR-68).
    pub race: bool,
    pub nature: Option<Nature>,
    /// A finding of the contract: our own panel's.
    #[serde(default)]
    pub panel: bool,
}

impl Remembered {
    pub fn is_high(&self) -> bool {
        matches!(self.priority, Some(Priority::P0 | Priority::P1))
    }

    /// Framing as it is compared: nothing is never the same as nothing (WL-88).
    fn framing_key(&self) -> Option<String> {
        let folded = crate::findings::anchor::fold(self.framing.as_deref()?).to_lowercase();
        (!folded.is_empty()).then_some(folded)
    }

    fn span(&self) -> Option<Touched> {
        let (first, last) = self.lines?;
        Some(Touched { path: self.path.clone()?, first, last })
    }

    /// The same claim, be it in a new thread: one item, or one kind of problem at nearly the same place (PR-113).
    pub fn is_same(&self, other: &Remembered) -> bool {
        const DRIFT: u32 = 3;
        if self.item == other.item {
            return true;
        }
        let kind = self.slug.is_some() && self.slug == other.slug && self.path.is_some() && self.path == other.path;
        kind && match (self.lines, other.lines) {
            (Some((first, last)), Some((start, end))) => {
                first <= end.saturating_add(DRIFT) && start <= last.saturating_add(DRIFT)
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => false,
        }
    }

    /// For a line of evidence.
    fn name(&self) -> String {
        match (&self.path, self.lines) {
            (Some(path), Some((first, _))) => format!("{} at {path}:{first}", self.item),
            (Some(path), None) => format!("{} in {path}", self.item),
            (None, _) => self.item.to_string(),
        }
    }
}

/// Lines of the head that a fix wrote.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Touched {
    pub path: RepoPath,
    pub first: u32,
    pub last: u32,
}

impl Touched {
    pub fn overlaps(&self, other: &Touched) -> bool {
        self.path == other.path && self.first <= other.last && other.first <= self.last
    }
}

/// One pass over the items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// From 1.
    pub number: u32,
    pub findings: Vec<Remembered>,
    /// What its fixes wrote, recorded right after the push: later it would take in other people's commits (PR-119).
    #[serde(default)]
    pub touched: Vec<Touched>,
    /// A fix of this round that claims to end a whole class of findings.
    #[serde(default)]
    pub structural: Vec<StructuralFix>,
    /// The pass is done: what could be fixed was fixed and pushed.
    #[serde(default)]
    pub over: bool,
}

/// Everything that the signs are read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Oldest first.
    pub rounds: Vec<Round>,
    /// Introduced or heavily changed in this pull request.
    #[serde(default)]
    pub young_files: BTreeSet<RepoPath>,
    #[serde(default)]
    pub standing: Standing,
}

/// How the pull request stands now, besides the rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Items that still ask for something.
    pub open_actionable: u32,
    /// Answered by us, and still open on the forge because resolving failed: they count as open (WL-67).
    pub handled_unresolved: u32,
    /// Some escalation is due (WL-68).
    pub escalation: bool,
    /// The next cycle would be over the limit.
    pub at_ceiling: bool,
    /// Where the rest is tracked: an issue or a record in the repository (WL-85).
    pub home: Option<String>,
}

impl History {
    fn last(&self) -> Option<&Round> {
        self.rounds.last()
    }

    fn earlier(&self) -> &[Round] {
        self.rounds.split_last().map_or(&[], |(_, earlier)| earlier)
    }

    /// What the last round brought that was not there before.
    fn newest(&self) -> Vec<&Remembered> {
        self.last().map_or_else(Vec::new, |round| round.findings.iter().filter(|finding| finding.round == round.number).collect())
    }

    /// Every item once, as it stood last.
    fn distinct(&self) -> Vec<&Remembered> {
        let mut seen = BTreeSet::new();
        let newest_first = self.rounds.iter().rev().flat_map(|round| &round.findings);
        let mut all: Vec<&Remembered> = newest_first.filter(|finding| seen.insert(&finding.item)).collect();
        all.sort_by(|a, b| (a.round, &a.item).cmp(&(b.round, &b.item)));
        all
    }

    /// What is in the last round and not fixed.
    fn open(&self) -> Vec<&Remembered> {
        self.last().map_or_else(Vec::new, |round| round.findings.iter().filter(|finding| finding.status.is_open()).collect())
    }

    fn is_young(&self, finding: &Remembered) -> bool {
        finding.path.as_ref().is_some_and(|path| self.young_files.contains(path))
    }
}

/// Files that a change brought, or of which it wrote more than half (WL-89).
pub fn young_files(change: &Change) -> BTreeSet<RepoPath> {
    let is_young = |file: &&ChangedFile| {
        let added = file.added_lines().count();
        let whole = file.new_text.as_deref().map_or(0, |text| text.lines().count());
        file.status == FileStatus::Added || (added > 0 && added * 2 >= whole)
    };
    change.files.iter().filter(is_young).map(|file| file.path.clone()).collect()
}

/// A sign, and what it was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    pub fired: bool,
    pub evidence: Vec<String>,
}

impl Signal {
    /// It holds when there is evidence.
    fn from_evidence(evidence: Vec<String>) -> Self {
        Signal { fired: !evidence.is_empty(), evidence }
    }
}
