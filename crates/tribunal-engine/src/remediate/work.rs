//! The loop as work of a host.

use super::Remedies;
use crate::host::{Leaves, Work, patiently};
use crate::{EngineError, Listener};
use std::sync::Arc;
use tribunal_core::ids::{EffectKey, RunId};
use tribunal_core::procedure::remediate::{Effect, Input, Landing, State, Wake, step};
use tribunal_core::procedure::{Millis, Step};

impl Work for Remedies {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    const PROCEDURE: &'static str = "remediate";
    const WAITS_ON: &'static str = "another watch of the same pull request";

    fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, EngineError> {
        Ok(step(state, input, now)?)
    }

    fn is_settled(state: &State) -> bool {
        state.is_settled()
    }

    fn key(effect: &Effect, run: &RunId) -> EffectKey {
        effect.key(run)
    }

    fn upgrade(state: State) -> Result<State, EngineError> {
        Ok(state.upgrade()?)
    }

    fn leaves(_: &State, _: &str) -> Leaves {
        Leaves::default()
    }

    async fn run(self: Arc<Self>, effect: Effect, state: Arc<State>, case_id: Arc<str>) -> Result<Input, EngineError> {
        // What still fails then ends the loop, and says so.
        match patiently(|| true, || self.perform(effect.clone(), &state, &case_id)).await {
            Err(EngineError::Forge(fault)) => failed(&effect, &fault.to_string()).ok_or(EngineError::Forge(fault)),
            other => other,
        }
    }

    fn listener(&self) -> &Listener {
        &self.listener
    }
}

/// What a procedure is told when the forge does not answer. Nothing is guessed: it ends blocked (CF-9).
fn failed(effect: &Effect, why: &str) -> Option<Input> {
    let why = why.to_owned();
    Some(match effect {
        Effect::Prepare => Input::Prepared(Err(why)),
        Effect::Read { .. } => Input::Seen(Err(why)),
        Effect::Land { .. } => Input::Landed(Landing::Refused(why)),
        Effect::AskAgain { .. } => Input::AskedAgain(Err(why)),
        Effect::Wait { .. } => Input::Woken(Wake::Failed(why)),
        Effect::Post => Input::Posted(Err(why)),
        // Half of it may be said: only the same run can know, and it goes on when the forge is back.
        Effect::Answer { .. } | Effect::Home { .. } | Effect::Close { .. } => return None,
        Effect::Assess { .. } | Effect::Check { .. } | Effect::Fix { .. } | Effect::Validate { .. } => return None,
    })
}

impl Remedies {
    async fn perform(&self, effect: Effect, state: &State, case_id: &str) -> Result<Input, EngineError> {
        match effect {
            Effect::Prepare => self.prepare(state).await,
            Effect::Read { .. } => self.read(state).await,
            Effect::Close { .. } => self.close(state).await,
            Effect::Assess { attempt, .. } => self.assess(state, case_id, attempt).await,
            Effect::Check { attempt, .. } => self.check(state, case_id, attempt).await,
            Effect::Fix { .. } => self.fix(state, case_id).await,
            Effect::Validate { tip, .. } => self.validate(state, tip).await,
            Effect::Land { tip, onto, .. } => self.land(state, tip, onto).await,
            Effect::Home { .. } => self.home(state).await,
            Effect::Answer { .. } => self.answer(state).await,
            Effect::AskAgain { .. } => self.ask_again(state).await,
            Effect::Wait { until, arm, active, .. } => self.wait(state, until, arm, active).await,
            Effect::Post => self.post(state).await,
        }
    }
}
