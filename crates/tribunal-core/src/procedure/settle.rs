//! `settle`: every task of a plan whose pull request is open gets one verdict, at most one refinement and one more verdict, and then it
//! is merged, left to a person who is named, or waits (TS-7 to TS-17).
//!
//! The plan file says what is wanted, the forge what is so; the forge is read before anything is decided and wins (CF-8). Where a task
//! stands is worked out anew after every look and every verdict ([`stance`]), so a killed run, another machine and a second run all
//! find the same, and do less.

pub mod effect;
pub mod link;
mod orders;
pub mod plan_file;
pub mod reconcile;
pub mod report;
#[cfg(test)]
pub mod samples;
pub mod seen;
pub mod stance;
mod tell;
#[cfg(test)]
mod tests;
pub mod words;
mod work;

pub use effect::{Closing, Effect, Input, Look, Merging, Refinement};
pub use report::Report;

use super::order::Hindrance;
use super::{Millis, Step, StepError};
use crate::ids::{RunId, Sha};
use crate::policy::settle::{Level, SettlePolicy};
use crate::publish::verdict::Assessment;
use crate::pull::place::{ForgeKind, Place, Project};
use crate::report::document::Document;
use plan_file::{Plan, Status, TaskId};
use seen::TaskSeen;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which shape a stored state has.
pub const MODEL: u32 = 1;

/// What was asked for. Stored with the run, so that resuming needs no flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub run: RunId,
    pub engine: String,
    pub kind: ForgeKind,
    pub project: Project,
    /// The plan file.
    pub plan: String,
    pub level: Level,
    /// Somebody has said the level, so the plan remembers it (TS-33).
    pub remember_level: bool,
    pub dry_run: bool,
    pub watch: bool,
    pub policy: SettlePolicy,
}

impl Request {
    pub fn place(&self, number: u64) -> Place {
        Place { kind: self.kind, project: self.project.clone(), number }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub model: u32,
    pub request: Request,
    pub started_at: Millis,
    pub memory: Memory,
    pub phase: Phase,
}

/// What lasts from effect to effect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// As the file says it.
    pub filed: Option<Plan>,
    /// As it is.
    pub plan: Option<Plan>,
    pub seen: BTreeMap<TaskId, TaskSeen>,
    /// What kept a task from its next step; tried again after a wait, and by the next run.
    pub hindered: BTreeMap<TaskId, Hindrance>,
    /// Why what is clean is not merged.
    pub unmerged: BTreeMap<TaskId, Merging>,
    /// How each task stood when this run began.
    pub began: BTreeMap<TaskId, Status>,
    /// Tasks that our own fixer was sent to, and at which head.
    pub refined: BTreeMap<TaskId, Sha>,
    pub labelled: BTreeSet<TaskId>,
    /// Issues of tasks that this run has merged.
    pub merged_issues: BTreeSet<u64>,
    /// Larger work that was looked at since the last merge.
    pub carried: BTreeSet<u64>,
    pub closed: Vec<u64>,
    pub notes: Vec<String>,
    /// Something moved under our hands: it must be looked at again.
    pub again: bool,
    pub looks: u32,
    /// Since the last wait.
    pub fresh_looks: u32,
    /// Looks that failed, in a row.
    pub failures: u32,
    pub writes: u32,
    pub waits: u32,
    pub closings: u32,
    /// Reviews, passes and merges that were begun.
    pub attempts: u32,
    pub reviewed: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    Looking,
    Writing,
    Reviewing { task: TaskId, head: Sha, assessment: Assessment },
    Giving { task: TaskId, assessment: Assessment, document: Box<Document> },
    Labelling { task: TaskId },
    Refining { task: TaskId, head: Sha },
    Merging { task: TaskId },
    Closing { parents: BTreeSet<u64> },
    Waiting,
    Done(Box<Report>),
}

impl State {
    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Done(_))
    }

    pub fn upgrade(self) -> Result<Self, StepError> {
        if self.model > MODEL { Err(StepError::LaterModel(self.model)) } else { Ok(self) }
    }

    pub fn report(&self) -> Option<&Report> {
        match &self.phase {
            Phase::Done(report) => Some(report),
            _ => None,
        }
    }

    /// When the whole must be over.
    fn total_until(&self) -> Millis {
        self.started_at.saturating_add(self.request.policy.total.as_millis())
    }
}

type Next = (Phase, Vec<Effect>);

/// One step. An input that does not fit the phase is the answer to something that was overtaken, and changes nothing.
pub fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, StepError> {
    let Some(mut state) = state else {
        let Input::Start { request } = input else { return Err(StepError::NotStarted) };
        let mut state =
            State { model: MODEL, request: *request, started_at: now, memory: Memory::default(), phase: Phase::Looking };
        let (phase, effects) = state.look();
        state.phase = phase;
        return Ok(Step { state, effects });
    };
    if matches!(input, Input::Start { .. }) {
        return Err(StepError::AlreadyStarted);
    }
    let phase = std::mem::replace(&mut state.phase, Phase::Looking);
    let (phase, effects) = advance(&mut state, phase, input, now);
    state.phase = phase;
    Ok(Step { state, effects })
}

fn advance(state: &mut State, phase: Phase, input: Input, now: Millis) -> Next {
    match (phase, input) {
        (Phase::Looking, Input::Looked(Ok(look))) => state.looked(*look, now),
        (Phase::Looking, Input::Looked(Err(why))) => state.not_looked(why, now),
        (Phase::Writing, Input::Written(Ok(()))) => {
            state.memory.filed.clone_from(&state.memory.plan);
            state.go_on(now)
        }
        (Phase::Writing, Input::Written(Err(why))) => state.end(Some(why), false),
        (Phase::Reviewing { task, head, assessment }, Input::Reviewed(reviewed)) => {
            state.reviewed(task, &head, assessment, reviewed, now)
        }
        (Phase::Giving { task, .. }, Input::Gave(gave)) => state.gave(&task, gave, now),
        (Phase::Labelling { task }, Input::Labelled(labelled)) => state.labelled(task, labelled, now),
        (Phase::Refining { task, head }, Input::Refined(refined)) => state.refined(task, head, refined, now),
        (Phase::Merging { task }, Input::Merged(merged)) => state.merged(&task, merged, now),
        (Phase::Closing { parents }, Input::Closed(closing)) => {
            state.memory.carried.extend(parents);
            state.memory.closed.extend(closing.closed);
            state.memory.notes.extend(closing.notes);
            state.memory.merged_issues.clear();
            state.go_on(now)
        }
        (Phase::Waiting, Input::Woken) => state.woken(now),
        (Phase::Done(report), Input::Superseded) => (Phase::Done(report), Vec::new()),
        (_, Input::Superseded) => state.end(None, false),
        (phase, _) => (phase, Vec::new()),
    }
}
