//! What settling asks of its host, and what it is told.

use super::Request;
use super::plan_file::write::Change;
use super::plan_file::{Plan, TaskId};
use super::seen::{Given, TaskSeen};
use crate::ids::{EffectKey, RunId, Sha};
use crate::merge::clearance::{Clearance, Lapse};
use crate::merge::conditions::Conditions;
use crate::merge::epic::EpicEnd;
use crate::procedure::Millis;
use crate::procedure::order::Hindrance;
use crate::publish::verdict::Assessment;
use crate::remedy;
use crate::remedy::condition::Blocker;
use crate::remedy::ladder::Reason;
use crate::report::document::Document;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Reads the plan file, and the forge for its tasks.
    Look {
        nth: u32,
    },
    /// Writes what changed into the plan file.
    Write {
        nth: u32,
        changes: Vec<Change>,
    },
    /// Has the panel review one pull request.
    Review {
        task: TaskId,
        number: u64,
        head: Sha,
        assessment: Assessment,
        attempt: u32,
    },
    /// Gives the verdict, once.
    Give {
        task: TaskId,
        number: u64,
        assessment: Assessment,
        attempt: u32,
    },
    /// Puts the label on that starts the specialist again.
    Label {
        task: TaskId,
        number: u64,
        label: String,
    },
    /// Has an agent of ours make the refinement.
    Refine {
        task: TaskId,
        number: u64,
        head: Sha,
        attempt: u32,
    },
    /// Merges, if every condition of a merge holds at this head.
    Merge {
        task: TaskId,
        number: u64,
        head: Sha,
        attempt: u32,
    },
    /// Closes issues of larger work whose parts are all done (TS-105), and those of tasks that were merged, where the forge has not done it.
    Close {
        nth: u32,
        merged: BTreeSet<u64>,
        parents: BTreeMap<u64, BTreeSet<u64>>,
    },
    Wait {
        nth: u32,
        until: Millis,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    Start {
        request: Box<Request>,
    },
    /// A read that decides fails closed (CF-9): as a whole, or for one task.
    Looked(Result<Box<Look>, Hindrance>),
    Written(Result<(), Hindrance>),
    Reviewed(Result<Box<Document>, Hindrance>),
    /// The verdict that stands: ours, or the one that stood there before.
    Gave(Result<Given, Hindrance>),
    Labelled(Result<(), Hindrance>),
    Refined(Result<Refinement, Hindrance>),
    Merged(Result<Merging, Hindrance>),
    Closed(Closing),
    Woken,
    /// Somebody wants the plan settled in another way: this run is over, and another takes its place.
    Superseded,
}

/// The plan, and what the forge says about its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    pub plan: Plan,
    pub tasks: BTreeMap<TaskId, Result<TaskSeen, String>>,
}

/// What came of a pass of our own fixer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refinement {
    /// Commits that were pushed.
    pub commits: u32,
    /// How it ended, for people.
    pub said: String,
}

impl Refinement {
    /// A pass that could not work has not refined, and may be tried again.
    pub fn of(report: &remedy::report::Report, commits: usize) -> Result<Self, Hindrance> {
        let said = format!("{} ({})", report.explanation, report.reason);
        match report.blocker.filter(|_| commits == 0 && report.reason == Reason::Blocked) {
            None => Ok(Refinement { commits: u32::try_from(commits).unwrap_or(u32::MAX), said }),
            Some(Blocker::Person) => Ok(Refinement { commits: 0, said }),
            Some(Blocker::Agent) => Err(Hindrance::Agent { reason: said }),
            Some(Blocker::Budget) => Err(Hindrance::Budget { reason: said }),
            Some(Blocker::Later) => Err(Hindrance::NotYet { reason: said }),
            Some(Blocker::Forge) => Err(Hindrance::Forge { reason: said }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merging {
    Merged,
    /// Patience is enough: checks that run, a base that moved.
    Waits {
        reason: String,
    },
    /// Somebody has to do something.
    Stuck {
        reason: String,
    },
}

impl Merging {
    /// The right to merge, or what is in its way.
    pub fn cleared(conditions: &Conditions) -> Result<&Clearance, Merging> {
        conditions.clearance().ok_or_else(|| {
            let reason = conditions.first_unmet().map_or_else(String::new, |unmet| unmet.sentence().to_owned());
            if conditions.only_waits() { Merging::Waits { reason } } else { Merging::Stuck { reason } }
        })
    }

    /// What a clearance that lapsed at the last moment means: it is looked at again.
    pub fn lapsed(lapse: Lapse) -> Result<Merging, Hindrance> {
        match lapse {
            Lapse::HeadMoved { found, .. } => Err(Hindrance::HeadMoved { to: Some(found) }),
            Lapse::BaseChanged { .. } | Lapse::Different | Lapse::Unmet(_) => Ok(Merging::Waits { reason: lapse.to_string() }),
        }
    }
}

impl Closing {
    /// What became of a parent, for whoever reads the report.
    pub fn note(&mut self, parent: u64, end: EpicEnd) {
        match end {
            EpicEnd::Close { .. } => self.closed.push(parent),
            EpicEnd::Closed | EpicEnd::StaysOpen { .. } => {}
            EpicEnd::Warning { reason } => self.notes.push(reason),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    pub closed: Vec<u64>,
    /// Why others stay open, where a person should know.
    pub notes: Vec<String>,
}

impl Effect {
    /// Unique within a run: doing it twice must do no harm.
    pub fn key(&self, run: &RunId) -> EffectKey {
        let name = match self {
            Effect::Look { nth } => format!("look/{nth}"),
            Effect::Write { nth, .. } => format!("write/{nth}"),
            Effect::Review { number, assessment, attempt, .. } => format!("review/{number}/{}/{attempt}", assessment.number()),
            Effect::Give { number, assessment, attempt, .. } => format!("give/{number}/{}/{attempt}", assessment.number()),
            Effect::Label { number, .. } => format!("label/{number}"),
            Effect::Refine { number, attempt, .. } => format!("refine/{number}/{attempt}"),
            Effect::Merge { number, attempt, .. } => format!("merge/{number}/{attempt}"),
            Effect::Close { nth, .. } => format!("close/{nth}"),
            Effect::Wait { nth, .. } => format!("wait/{nth}"),
        };
        EffectKey(format!("{run}/{name}"))
    }

    /// The run of the review or of the pass that it orders: the same effect again goes on with the same one.
    pub fn order(&self, run: &RunId) -> RunId {
        RunId(self.key(run).0.replace('/', "-"))
    }
}
