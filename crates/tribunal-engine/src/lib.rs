//! Runs procedures. It stores their state, performs their effects and feeds the results back; it decides nothing and words
//! nothing.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod checkout_file;
pub mod context;
pub mod effects;
pub mod host;
pub mod library;
pub mod local_book;
pub mod merging;
pub mod one_pull;
pub mod remediate;
pub mod say_once;
pub mod settle;
pub mod sweep;
pub mod verdicts;
pub mod waiting;

use tribunal_core::ids::AgentName;
use tribunal_core::plan::panel::Seat;
use tribunal_core::procedure::Millis;

/// Seen by whoever shows progress.
#[derive(Debug, Clone)]
pub enum Progress {
    Waiting {
        on: String,
    },
    Reading,
    SeatStarted(Seat),
    SeatFinished {
        seat: Seat,
        findings: usize,
        failure: Option<String>,
    },
    Verifying {
        agent: AgentName,
        findings: usize,
    },
    Publishing {
        to: String,
    },
    /// A loop does something; `what` says it to people.
    Working {
        what: String,
    },
    Watching {
        until: Millis,
    },
    /// Something came about; said wherever anybody listens, also where no terminal is.
    Told {
        line: String,
    },
}

pub type Listener = std::sync::Arc<dyn Fn(Progress) + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] tribunal_store::StoreError),
    #[error(transparent)]
    Forge(#[from] tribunal_core::pull::fault::ForgeFault),
    #[error(transparent)]
    Git(#[from] tribunal_forge::git::GitError),
    #[error(transparent)]
    Step(#[from] tribunal_core::procedure::StepError),
    #[error("there is no run `{0}` in this ledger")]
    UnknownRun(String),
    #[error("run {run} is being worked on by another process")]
    Busy { run: String },
    #[error("another run ({run}) is posting a review of this pull request, and has not finished yet")]
    PostedElsewhere { run: String },
    #[error("the stored record of run {run} cannot be read: {problem}")]
    Damaged { run: String, problem: String },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("a worker died: {0}")]
    Worker(String),
}

/// Different in every process, and for every call.
fn nonce() -> String {
    // The standard library seeds each hasher's keys from the system's source of randomness.
    use std::hash::{BuildHasher as _, RandomState};
    (0..2).map(|n| format!("{:016x}", RandomState::new().hash_one(n))).collect()
}

fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |passed| Millis::try_from(passed.as_millis()).unwrap_or(Millis::MAX))
}
