//! Hosts keep a run's state, deliver inputs one at a time, and run effects. The embedded one is the first.

pub mod embedded;
mod patience;

pub use patience::patiently;

use crate::{EngineError, Listener};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tribunal_core::ids::{EffectKey, RunId};
use tribunal_core::procedure::{Millis, Step};
use tribunal_store::DocumentRow;

/// A procedure, and the hands that do what it asks for.
pub trait Work: Send + Sync + 'static {
    type State: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;
    type Input: Serialize + DeserializeOwned + Send + 'static;
    type Effect: Serialize + DeserializeOwned + Clone + Send + 'static;

    /// Its name in the ledger.
    const PROCEDURE: &'static str;
    /// What somebody who must wait is waiting for.
    const WAITS_ON: &'static str;
    const EXCLUDES: Excludes = Excludes::OthersOfTheCase;

    fn step(state: Option<Self::State>, input: Self::Input, now: Millis) -> Result<Step<Self::State, Self::Effect>, EngineError>;
    fn is_settled(state: &Self::State) -> bool;
    /// What a run is told when somebody wants it to end; nothing where it is simply dropped.
    fn interrupted() -> Option<Self::Input> {
        None
    }
    fn key(effect: &Self::Effect, run: &RunId) -> EffectKey;
    /// A state of an earlier release, as this one has it.
    fn upgrade(state: Self::State) -> Result<Self::State, EngineError>;
    /// What a state leaves behind for later runs: its document, and names it has given.
    fn leaves(state: &Self::State, case_id: &str) -> Leaves;

    fn run(
        self: Arc<Self>,
        effect: Self::Effect,
        state: Arc<Self::State>,
        case_id: Arc<str>,
    ) -> impl Future<Output = Result<Self::Input, EngineError>> + Send;

    fn listener(&self) -> &Listener;
}

/// Who is kept away while a run is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excludes {
    /// Everybody who works on the same case; they wait.
    OthersOfTheCase,
    /// Only who would work on the same run; they are told so. What keeps runs apart is the procedure's own affair.
    OthersOfTheRun,
}

#[derive(Default)]
pub struct Leaves {
    pub document: Option<DocumentRow>,
    pub names: Vec<(String, i64)>,
}
