//! Procedures: pure state machines, one per kind of work.
//!
//! A host stores the state, runs the effects and feeds their results back as inputs. A procedure may be stopped between any two
//! inputs and go on later, and replaying its inputs gives the same states, byte for byte.

pub mod order;
pub mod remediate;
pub mod review;
pub mod settle;
pub mod sweep;

/// What one step of a procedure asks of its host.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<State, Effect> {
    pub state: State,
    pub effects: Vec<Effect>,
}

/// Why a procedure cannot go on. None of these comes from what people do; each says that a record and a release do not fit together.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum StepError {
    #[error("the run has not been started")]
    NotStarted,
    #[error("the run was already started")]
    AlreadyStarted,
    #[error("the run was stored by a later release (its shape is {0})")]
    LaterModel(u32),
    #[error("effect {0} was answered with something else than what it asks for")]
    WrongAnswer(u64),
}

/// Milliseconds since 1970-01-01 UTC, always passed in.
pub type Millis = u64;
