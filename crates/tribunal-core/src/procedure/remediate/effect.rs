//! What the loop asks of its host, and what it is told.

use super::super::Millis;
use super::super::review::Spend;
use super::{Preflight, Request};
use crate::feedback::baseline::{Arm, Baseline, Change};
use crate::feedback::fixable::Fixable;
use crate::feedback::injection::Suspicion;
use crate::feedback::item::{Item, ItemId};
use crate::feedback::right::Right;
use crate::ids::{RepoPath, Sha};
use crate::pull::facts::PullState;
use crate::remedy::assess::{Admitted, Checkup};
use crate::remedy::condition::Blocker;
use crate::remedy::patch::Refusal;
use crate::remedy::rewrite::Rewrite;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Is everything in a state that may be worked on (WL-15, WL-18)?
    Prepare,
    /// Reads the whole conversation.
    Read {
        nth: u32,
    },
    /// Closes threads that were answered before, and are still open.
    Close {
        nth: u32,
    },
    /// Has an agent say what shall be done about each candidate.
    Assess {
        pass: u32,
        attempt: u32,
    },
    /// Has another agent check that.
    Check {
        pass: u32,
        attempt: u32,
    },
    /// Has the fixer make commits, in our own clone only.
    Fix {
        pass: u32,
    },
    Validate {
        pass: u32,
        tip: Sha,
    },
    /// Pushes, if the head is still the one that was read.
    Land {
        pass: u32,
        tip: Sha,
        onto: Sha,
    },
    /// Makes a place for deferred work, before anybody is promised one.
    Home {
        pass: u32,
    },
    Answer {
        pass: u32,
    },
    AskAgain {
        pass: u32,
    },
    Wait {
        nth: u32,
        until: Millis,
        arm: Arm,
        active: bool,
    },
    /// Puts the report on the pull request.
    Post,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    Start {
        request: Box<Request>,
    },
    Prepared(Result<Box<Preflight>, String>),
    /// A read that decides fails closed (CF-9).
    Seen(Result<Box<Seen>, String>),
    /// What became of each thread that was to be closed.
    Closed(BTreeMap<ItemId, Result<(), String>>),
    Assessed {
        said: Result<Admitted, Trouble>,
        spend: Spend,
    },
    Checked {
        said: Result<Checkup, Trouble>,
        spend: Spend,
    },
    Fixed {
        made: Result<Made, Trouble>,
        spend: Spend,
    },
    Validated(Validation),
    Landed(Landing),
    Homed(BTreeMap<ItemId, Result<String, String>>),
    Answered(Answering),
    AskedAgain(Result<(), String>),
    Woken(Wake),
    Posted(Result<String, String>),
}

/// Why an agent gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// It is not there, broke, or said nothing that fits.
    Failed(String),
    /// A cap would have been passed.
    OverBudget(String),
    /// It may be there later.
    Unavailable(String),
    /// It is not given this change.
    Withheld(String),
}

impl Trouble {
    pub fn words(&self) -> &str {
        match self {
            Trouble::Failed(words) | Trouble::OverBudget(words) | Trouble::Unavailable(words) | Trouble::Withheld(words) => words,
        }
    }

    pub fn blocker(&self) -> Blocker {
        match self {
            Trouble::Failed(_) => Blocker::Agent,
            Trouble::OverBudget(_) => Blocker::Budget,
            Trouble::Unavailable(_) => Blocker::Later,
            Trouble::Withheld(_) => Blocker::Person,
        }
    }
}

/// Facts that the report names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullFacts {
    pub number: u64,
    pub url: String,
    pub title: String,
    pub state: PullState,
    pub head: Sha,
    pub branch: String,
    pub base: String,
}

/// The conversation at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub pull: PullFacts,
    pub baseline: Baseline,
    pub items: Vec<SeenItem>,
    /// A reviewer in scope says that it is still at work.
    pub running: bool,
    /// A reviewer in scope says that it cannot work.
    pub quota: Option<String>,
    /// A reviewer in scope has reviewed this head.
    pub reviewed: bool,
    /// Words of reviewers in scope that have looked and ask for nothing, as the baseline names them. They are bound to no commit.
    #[serde(default)]
    pub satisfied: BTreeSet<String>,
    /// Files that this pull request brought or mostly rewrote.
    pub young: BTreeSet<RepoPath>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenItem {
    pub item: Item,
    /// Its author is one whose words are read here.
    pub in_scope: bool,
    /// Whether it may be acted on.
    #[serde(default)]
    pub right: Right,
    /// It tries to give orders. Its text goes nowhere.
    pub suspicion: Option<Suspicion>,
}

impl SeenItem {
    /// What a pass may work on, if anything: it is read here, and its author has the right.
    pub fn fixable(&self) -> Option<Fixable> {
        Fixable::new(self.item.clone(), &self.right).filter(|_| self.in_scope)
    }
}

/// What the fixer came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub outcomes: BTreeMap<ItemId, FixOutcome>,
    /// The last commit, if there is any.
    pub tip: Option<Sha>,
    /// What all of them together did to the lines of the head that was read (PR-119).
    #[serde(default)]
    pub rewrites: Vec<Rewrite>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixOutcome {
    Made {
        commit: Sha,
        summary: String,
        files: Vec<RepoPath>,
        lines: u32,
        /// The class of findings that it claims to make impossible (WL-93).
        #[serde(default)]
        class: Option<String>,
    },
    /// The change answers it already, made for another item of the same pass.
    With {
        item: ItemId,
    },
    /// It is deferred, and stands in the repository's record; by this commit, or it stood there before.
    Recorded {
        commit: Option<Sha>,
        home: String,
    },
    Refused(Refusal),
    /// It found nothing that it could change.
    Nothing(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validation {
    Passed,
    /// The repository names no commands (WL-21).
    NotRun,
    Failed {
        command: String,
        output: String,
    },
    CannotRun {
        command: String,
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landing {
    Pushed {
        head: Sha,
    },
    /// Somebody else pushed meanwhile; nothing was.
    Moved,
    Refused(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answering {
    pub outcomes: BTreeMap<ItemId, AnswerOutcome>,
    /// The summary of the round, which marks what has no thread.
    pub summary: Option<Result<String, String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerOutcome {
    Said {
        resolved: bool,
    },
    /// The reply stands; the thread could not be closed (WL-82).
    NotResolved(String),
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wake {
    Changed(Change),
    TimedOut,
    /// Two looks in a row failed (WL-26).
    Failed(String),
}
