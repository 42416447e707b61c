//! Why a run ends (SL section 19). All that hold are listed; one of them is the reason, by the ladder of all loops (CF-23).

use super::request::{Request, numbered};
use super::tour::Tour;
use crate::call::money::Money;
use crate::gate::GateName;
use crate::procedure::Millis;
use crate::remedy::condition::Blocker;
use crate::remedy::ladder::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// #2, `--pr N`
    PullOver { number: u64, how: Over },
    /// #3
    Iterations { used: u32, max: u32 },
    /// #4
    Pulls { touched: u32, max: u32 },
    /// #5, and a lock that was waited for until then
    Minutes { elapsed: u64, max: u64 },
    /// #8
    Interrupted,
    /// #9, where there is no next tick
    LockHeld { holder: String },
    /// #6 and #10: somebody answered `stop`
    Gate { gate: GateName, iteration: u32 },
    /// #10: in the run that is resumed
    StoppedBefore { gate: String, iteration: u32 },
    /// #11
    Index { why: String },
    /// #12
    Dollars { spent: Money, max: Money },
    /// Somebody passed us over.
    LockLost { words: String },
    /// The lock can be neither read nor written.
    LockFailed { words: String },
    /// The set cannot be read, and there is no next tick.
    Unreadable { words: String },
    /// The base says something that only a person can mend, and there is no next tick.
    Setup { words: String },
    /// There is nothing to sweep.
    NothingOpen,
    /// Nothing of what was typed is there.
    NotThere { numbers: Vec<u64> },
    /// A plain sweep is through.
    Complete,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    Merged,
    Closed,
    DoNotMerge,
    NotThere,
}

impl Over {
    fn words(self) -> &'static str {
        match self {
            Over::Merged => "merged",
            Over::Closed => "closed",
            Over::DoNotMerge => "labelled do-not-merge",
            Over::NotThere => "not there",
        }
    }
}

impl Stop {
    /// The name by which other programs know it; the first five are the contract's.
    pub fn name(&self) -> &'static str {
        match self {
            Stop::Iterations { .. } => "iteration_budget",
            Stop::Pulls { .. } => "prs_touched_budget",
            Stop::Minutes { .. } => "wall_clock_budget",
            Stop::Index { .. } => "qmd_unreachable",
            Stop::Dollars { .. } => "cost_budget",
            Stop::PullOver { .. } => "pr_terminal",
            Stop::Interrupted => "interrupted",
            Stop::LockHeld { .. } => "lock_held",
            Stop::Gate { .. } => "gate_stop",
            Stop::StoppedBefore { .. } => "already_stopped",
            Stop::LockLost { .. } => "lock_lost",
            Stop::LockFailed { .. } => "lock_failed",
            Stop::Unreadable { .. } => "set_unreadable",
            Stop::Setup { .. } => "setup",
            Stop::NothingOpen => "nothing_open",
            Stop::NotThere { .. } => "not_there",
            Stop::Complete => "complete",
        }
    }

    /// One line.
    pub fn words(&self) -> String {
        match self {
            Stop::PullOver { number, how } => format!("PR #{number} reached terminal state: {}", how.words()),
            Stop::Iterations { used, max } => format!("Iteration budget reached: {used} / {max}"),
            Stop::Pulls { touched, max } => format!("Pull request budget reached: {touched} / {max}"),
            Stop::Minutes { elapsed, max } => format!("Wall-clock budget reached: {elapsed} / {max} minutes"),
            Stop::Interrupted => "Interrupted: what was under way was finished, and nothing new was begun".into(),
            Stop::LockHeld { holder } => format!("Another sweep of the same set is at work: {holder}"),
            Stop::Gate { gate, iteration } => format!("Stopped at gate {gate} in iteration {iteration}"),
            Stop::StoppedBefore { gate, iteration } => format!("Loop already stopped at gate {gate} in iteration {iteration}"),
            Stop::Index { why } => {
                format!(
                    "The external index was unreachable in two iterations in a row ({why}); start it or take it out (ADR-0024)"
                )
            }
            Stop::Dollars { spent, max } => format!("Cost budget reached: {spent} / {max}"),
            Stop::LockLost { words } => format!("Another run took the lock of this set: {words}"),
            Stop::LockFailed { words } => format!("The lock of this set cannot be taken: {words}"),
            Stop::Unreadable { words } => format!("The pull requests cannot be read: {words}"),
            Stop::Setup { words } => format!("Nothing can be reviewed before somebody mends this: {words}"),
            Stop::NothingOpen => "No open pull request belongs to this target".into(),
            Stop::NotThere { numbers } => format!("There is no pull request {}", numbered(numbers)),
            Stop::Complete => "Every pull request of the set had its turn".into(),
        }
    }

    /// Where it stands on the ladder.
    pub fn reason(&self) -> Reason {
        match self {
            Stop::PullOver { how: Over::Merged, .. } => Reason::PrMerged,
            Stop::PullOver { how: Over::Closed, .. } => Reason::PrClosed,
            Stop::PullOver { how: Over::DoNotMerge, .. } | Stop::Interrupted | Stop::Gate { .. } | Stop::StoppedBefore { .. } => {
                Reason::UserInputRequired
            }
            Stop::Iterations { .. } => Reason::MaxIterationsReached,
            Stop::Minutes { .. } => Reason::WatchWindowElapsed,
            Stop::PullOver { how: Over::NotThere, .. }
            | Stop::Pulls { .. }
            | Stop::Dollars { .. }
            | Stop::Index { .. }
            | Stop::LockHeld { .. }
            | Stop::LockLost { .. }
            | Stop::LockFailed { .. }
            | Stop::Unreadable { .. }
            | Stop::NotThere { .. }
            | Stop::Setup { .. } => Reason::Blocked,
            Stop::NothingOpen | Stop::Complete => Reason::Clean,
        }
    }

    /// The exit code that it asks for (design section 8); nothing where the pull requests say it.
    pub fn exit_code(&self) -> Option<u8> {
        match self {
            Stop::Interrupted => Some(130),
            Stop::PullOver { how: Over::Merged | Over::Closed, .. } | Stop::NothingOpen => Some(0),
            Stop::PullOver { how: Over::DoNotMerge, .. } | Stop::Gate { .. } | Stop::StoppedBefore { .. } => Some(1),
            Stop::PullOver { how: Over::NotThere, .. } | Stop::NotThere { .. } | Stop::Unreadable { .. } => {
                Some(Blocker::Forge.exit_code())
            }
            Stop::LockHeld { .. } | Stop::LockLost { .. } | Stop::Index { .. } => Some(Blocker::Later.exit_code()),
            Stop::Setup { .. } => Some(2),
            Stop::LockFailed { .. } => Some(Blocker::Agent.exit_code()),
            Stop::Iterations { .. } | Stop::Pulls { .. } | Stop::Minutes { .. } | Stop::Dollars { .. } | Stop::Complete => None,
        }
    }

    /// A ceiling that a person set.
    pub fn is_budget(&self) -> bool {
        matches!(self, Stop::Iterations { .. } | Stop::Pulls { .. } | Stop::Minutes { .. } | Stop::Dollars { .. })
    }
}

pub fn minutes_since(started_at: Millis, now: Millis) -> u64 {
    now.saturating_sub(started_at) / 60_000
}

/// #3, #4, #5, #11 and #12, as they stand: asked when a tick is entered and when it is left.
pub fn ceilings_reached(tour: &Tour, request: &Request, started_at: Millis, now: Millis) -> Vec<Stop> {
    let Some(ceilings) = tour.ceilings else { return Vec::new() };
    let mut stops = Vec::new();
    if tour.iterations >= ceilings.iterations {
        stops.push(Stop::Iterations { used: tour.iterations, max: ceilings.iterations });
    }
    let touched = u32::try_from(tour.touched.len()).unwrap_or(u32::MAX);
    if request.target.single().is_none() && touched >= ceilings.pulls {
        stops.push(Stop::Pulls { touched, max: ceilings.pulls });
    }
    let elapsed = minutes_since(started_at, now);
    if elapsed >= ceilings.minutes {
        stops.push(Stop::Minutes { elapsed, max: ceilings.minutes });
    }
    if let Some(max) = ceilings.dollars.filter(|max| tour.purse.spent >= *max || tour.purse.exhausted) {
        stops.push(Stop::Dollars { spent: tour.purse.spent, max });
    }
    stops
}
