//! The lock of a set: one sweep at a time works on it (CF-29, SL section 17).
//!
//! The file is information; what makes taking it safe is a guard of the operating system around reading and writing it (SL-124: a
//! rename alone lets two win). So under the guard there is one reader and writer, and everything it decides is here:
//!
//! - [`decide`] says what to do with what is found,
//! - [`Holder::is`] says whether a lock still names a run. A run that was passed over by `force` finds out before its next act, and
//!   does nothing more: the process itself is never killed (SL-174).

use super::request::LockMode;
use crate::ids::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Between two looks of somebody who waits, in milliseconds (SL-123).
pub const POLL: u64 = 5_000;

/// `review.lock`. The first four fields are all that others may rely on (SL-120).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal sweep lock, version 1")]
pub struct Holder {
    pub pid: u32,
    /// 1 for the first tick.
    pub iteration: u32,
    /// ISO 8601, UTC.
    pub started_at: String,
    pub skill: Skill,
    /// The run that took it. Without one, another program did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// When the process was started, as its operating system says it: a number that was given to another process tells nothing
    /// (SL-125).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Skill {
    Review,
    Work,
}

/// What asking for a process said (SL-122).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is there: signal 0 was taken, or refused to us; on Windows exit code 259. With when it was started, where that can be told.
    There {
        process: Option<String>,
    },
    /// ESRCH; on Windows INVALID_PARAMETER, or another exit code.
    Gone,
    Unclear(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    Alive,
    Dead,
    /// Counts as alive, with a line that says so.
    Ambiguous(String),
}

impl Holder {
    /// Is it this run's?
    pub fn is(&self, run: &RunId) -> bool {
        self.run.as_ref() == Some(run)
    }

    /// The process is the only sign of life (SL-122).
    pub fn life(&self, answer: Answer) -> Life {
        match answer {
            Answer::Gone => Life::Dead,
            Answer::Unclear(why) => Life::Ambiguous(format!("it cannot be told whether process {} lives: {why}", self.pid)),
            // Its number was given to another process.
            Answer::There { process: Some(now) } if self.process.as_ref().is_some_and(|then| *then != now) => Life::Dead,
            Answer::There { .. } => Life::Alive,
        }
    }

    pub fn words(&self) -> String {
        let run = self.run.as_ref().map(|run| format!(", {run}")).unwrap_or_default();
        format!("process {} (iteration {}, since {}{run})", self.pid, self.iteration, self.started_at)
    }
}

/// What is found in place of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Lock(Box<Holder>, Life),
    /// A file that says nothing which could be understood. Its owner may live.
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Write the lock. `reaped`: a dead process's is in its place.
    Take {
        reaped: Option<u32>,
    },
    /// It is ours already: a run that goes on after a kill, or the same effect done twice.
    Keep,
    Busy {
        holder: Box<Holder>,
        note: Option<String>,
    },
    Fail(String),
}

/// SL-123. `seize` is the holder that a person said is to be passed over: that one and no other.
pub fn decide(found: Found, run: &RunId, seize: Option<&Holder>) -> Decision {
    match found {
        Found::Nothing => Decision::Take { reaped: None },
        Found::Unreadable(why) => {
            Decision::Fail(format!("the lock cannot be understood ({why}); look whose it is, and remove it"))
        }
        Found::Lock(holder, _) if holder.is(run) => Decision::Keep,
        Found::Lock(holder, Life::Dead) => Decision::Take { reaped: Some(holder.pid) },
        Found::Lock(holder, Life::Alive | Life::Ambiguous(_)) if seize == Some(&*holder) => Decision::Take { reaped: None },
        Found::Lock(holder, Life::Alive) => Decision::Busy { holder, note: None },
        Found::Lock(holder, Life::Ambiguous(note)) => Decision::Busy { holder, note: Some(note) },
    }
}

/// What a tick does about a lock that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    SkipTick,
    /// Its waiting is over: the wall clock is.
    OutOfTime,
    AskToForce,
}

impl LockMode {
    pub fn on_held(self, waited: bool) -> Held {
        match (self, waited) {
            (LockMode::Skip, _) => Held::SkipTick,
            (LockMode::Wait, true) => Held::OutOfTime,
            (LockMode::Wait, false) => Held::SkipTick,
            (LockMode::Force, _) => Held::AskToForce,
        }
    }
}
