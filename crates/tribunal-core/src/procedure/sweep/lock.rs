//! The lock of a set: one sweep at a time works on it (CF-29, SL section 17).
//!
//! The file is information; what makes taking it safe is a guard of the operating system around reading and writing it (SL-124: a
//! rename alone lets two win). So under the guard there is one reader and writer, and everything it decides is here:
//!
//! - [`decide`] says what to do with what is found when a tick begins,
//! - [`hold`] says before each act whether the lock is still ours. A run that was passed over by `force` finds out there, and does
//!   nothing more: its process is never killed (SL-174).

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
    /// It is ours already: a run that goes on after a kill, or the same effect done twice. Write it again, with this process.
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

/// Whether a run may go on acting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    Ours,
    /// Ours, by a process that is gone: write it again with this one before anything else, so that nobody takes it for a dead one's.
    Refresh,
    Lost(String),
}

/// Asked under the guard before each act, by a process with its number and the moment of its start. What is not there any more was
/// taken for dead and let go: somebody else has worked since.
pub fn hold(found: &Found, run: &RunId, pid: u32, process: Option<&str>) -> Hold {
    match found {
        Found::Lock(holder, _) if holder.is(run) && holder.pid == pid && holder.process.as_deref() == process => Hold::Ours,
        Found::Lock(holder, _) if holder.is(run) => Hold::Refresh,
        Found::Lock(holder, _) => Hold::Lost(holder.words()),
        Found::Nothing => Hold::Lost("the lock is gone".into()),
        Found::Unreadable(why) => Hold::Lost(format!("the lock cannot be understood ({why})")),
    }
}

/// A tick is over: is the lock to be removed? Never somebody else's.
pub fn lets_go(found: &Found, run: &RunId) -> bool {
    matches!(found, Found::Lock(holder, _) if holder.is(run))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(pid: u32, run: &str) -> Holder {
        Holder {
            pid,
            iteration: 1,
            started_at: "2026-11-16T07:30:00.000Z".into(),
            skill: Skill::Review,
            run: Some(run.into()),
            process: Some("boot-1/99".into()),
        }
    }

    fn found(pid: u32, run: &str, life: Life) -> Found {
        Found::Lock(Box::new(holder(pid, run)), life)
    }

    /// SL-122, SL-125: the process is the only sign of life, and a number that was given again is none.
    #[test]
    fn only_the_process_says_whether_it_lives() {
        let holder = holder(7, "a");
        let there = |process: Option<&str>| Answer::There { process: process.map(str::to_owned) };
        assert_eq!(holder.life(there(Some("boot-1/99"))), Life::Alive);
        assert_eq!(holder.life(there(None)), Life::Alive);
        assert_eq!(holder.life(there(Some("boot-2/14"))), Life::Dead);
        assert_eq!(holder.life(Answer::Gone), Life::Dead);
        assert!(matches!(holder.life(Answer::Unclear("EIO".into())), Life::Ambiguous(note) if note.contains("process 7")));
    }

    /// SL-123, row by row.
    #[test]
    fn what_is_found_decides() {
        let run = RunId::from("mine");
        assert_eq!(decide(Found::Nothing, &run, None), Decision::Take { reaped: None });
        assert_eq!(decide(found(7, "a", Life::Dead), &run, None), Decision::Take { reaped: Some(7) });
        assert!(matches!(decide(found(7, "a", Life::Alive), &run, None), Decision::Busy { note: None, .. }));
        let unclear = decide(found(7, "a", Life::Ambiguous("?".into())), &run, None);
        assert!(matches!(unclear, Decision::Busy { note: Some(_), .. }));
        assert_eq!(decide(found(7, "mine", Life::Alive), &run, None), Decision::Keep);
        assert!(matches!(decide(Found::Unreadable("half".into()), &run, None), Decision::Fail(_)));
    }

    /// SL-123, SL-140: a yes is about one holder; another one is asked about anew.
    #[test]
    fn a_yes_passes_over_one_holder() {
        let run = RunId::from("mine");
        let (seven, eight) = (holder(7, "a"), holder(8, "b"));
        assert_eq!(decide(found(7, "a", Life::Alive), &run, Some(&seven)), Decision::Take { reaped: None });
        assert!(matches!(decide(found(7, "a", Life::Alive), &run, Some(&eight)), Decision::Busy { .. }));
    }

    /// SL-134 #9, SL-126.
    #[test]
    fn each_mode_has_its_way_with_a_held_lock() {
        assert_eq!(LockMode::Skip.on_held(false), Held::SkipTick);
        assert_eq!(LockMode::Wait.on_held(true), Held::OutOfTime);
        assert_eq!(LockMode::Force.on_held(false), Held::AskToForce);
    }

    /// SL-120: the four fields are enough, and more are no matter.
    #[test]
    fn anybodys_lock_is_read() {
        let text = r#"{"pid": 7, "iteration": 2, "started_at": "2026-11-16T07:30:00Z", "skill": "work", "host": "h"}"#;
        let holder: Holder = serde_json::from_str(text).unwrap();
        assert_eq!((holder.pid, holder.skill, holder.run), (7, Skill::Work, None));
        assert!(serde_json::from_str::<Holder>(r#"{"pid": 7}"#).unwrap_err().to_string().contains("iteration"));
    }
}
