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

/// Milliseconds since 1970-01-01 UTC, always passed in.
pub type Millis = u64;
