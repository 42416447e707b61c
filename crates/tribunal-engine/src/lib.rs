//! Runs procedures. It stores their state, performs their effects and feeds the results back; it decides nothing and words
//! nothing.

pub mod effects;
pub mod host;

use tribunal_core::ids::AgentName;
use tribunal_core::plan::panel::Seat;

/// Seen by whoever shows progress.
#[derive(Debug, Clone)]
pub enum Progress {
    Waiting { on: String },
    Reading,
    SeatStarted(Seat),
    SeatFinished { seat: Seat, findings: usize, failure: Option<String> },
    Verifying { agent: AgentName, findings: usize },
    Publishing { to: String },
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
    Step(#[from] tribunal_core::procedure::review::StepError),
    #[error("there is no run `{0}` in this ledger")]
    UnknownRun(String),
    #[error("run {run} is being worked on by another process")]
    Busy { run: String },
    #[error("the stored record of run {run} cannot be read: {problem}")]
    Damaged { run: String, problem: String },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("a worker died: {0}")]
    Worker(String),
}
