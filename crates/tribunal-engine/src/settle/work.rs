//! Settling as work of a host.

use super::{Settling, file};
use crate::host::{Leaves, Work, patiently};
use crate::{EngineError, Listener, Progress, now};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tribunal_core::ids::{EffectKey, RunId};
use tribunal_core::procedure::order::Hindrance;
use tribunal_core::procedure::settle::{Effect, Input, State, step};
use tribunal_core::procedure::{Millis, Step};

impl Work for Settling {
    type State = State;
    type Input = Input;
    type Effect = Effect;

    const PROCEDURE: &'static str = "settle";
    const WAITS_ON: &'static str = "another settle of the same plan";

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

    async fn run(self: Arc<Self>, effect: Effect, state: Arc<State>, _: Arc<str>) -> Result<Input, EngineError> {
        patiently(|| true, || self.perform(&effect, &state)).await.or_else(|error| told(&effect, error))
    }

    fn listener(&self) -> &Listener {
        &self.listener
    }
}

/// What the procedure is told when the forge refuses or does not answer. Nothing is guessed: the next look shows what is so (CF-9).
fn told(effect: &Effect, error: EngineError) -> Result<Input, EngineError> {
    let EngineError::Forge(fault) = error else { return Err(error) };
    let hindrance = Hindrance::from(&fault);
    Ok(match effect {
        Effect::Look { .. } => Input::Looked(Err(hindrance)),
        Effect::Review { .. } => Input::Reviewed(Err(hindrance)),
        Effect::Give { .. } => Input::Gave(Err(hindrance)),
        Effect::Label { .. } => Input::Labelled(Err(hindrance)),
        Effect::Refine { .. } => Input::Refined(Err(hindrance)),
        Effect::Merge { .. } => Input::Merged(Err(hindrance)),
        Effect::Close { .. } | Effect::Write { .. } | Effect::Wait { .. } => return Err(EngineError::Forge(fault)),
    })
}

/// Only a person can mend a plan, or the place that it lies in.
pub(super) fn of_plan(reason: String) -> Hindrance {
    Hindrance::Setup { reason }
}

impl Settling {
    async fn perform(&self, effect: &Effect, state: &State) -> Result<Input, EngineError> {
        let order = effect.order(&state.request.run);
        match effect {
            Effect::Look { .. } => self.look(state).await,
            Effect::Write { changes, .. } => {
                Ok(Input::Written(file::change(Path::new(&state.request.plan), changes).map_err(of_plan)))
            }
            Effect::Review { task, number, head, .. } => self.review(state, order, task, *number, head).await,
            Effect::Give { task, number, assessment, .. } => self.give(state, task, *number, *assessment).await,
            Effect::Label { task, number, label } => self.label(task, *number, label).await,
            Effect::Refine { task, number, head, .. } => self.refine(state, order, task, *number, head).await,
            Effect::Merge { number, head, .. } => self.merge(state, *number, head).await,
            Effect::Close { merged, parents, .. } => self.carry(state, merged, parents).await,
            Effect::Wait { until, .. } => {
                (self.listener)(Progress::Watching { until: *until });
                let left = until.saturating_sub(now());
                tokio::time::sleep(Duration::from_millis(left)).await;
                Ok(Input::Woken)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use tribunal_core::publish::verdict::Assessment;
    use tribunal_core::pull::fault::ForgeFault;

    /// TS-80, TS-81, TS-82, TS-83: whatever was asked for when the forge wanted to be left alone, the procedure is told that it may work later.
    #[test]
    fn a_limit_is_told_as_not_yet() {
        let (task, number, head, attempt) = ("t1".into(), 7, "h".into(), 1);
        let give = Effect::Give { task: "t1".into(), number, assessment: Assessment::First, attempt };
        for effect in [Effect::Look { nth: 1 }, give, Effect::Merge { task, number, head, attempt }] {
            let limited = ForgeFault::Limited { host: "h".into(), seconds: Some(60) };
            let why = match told(&effect, limited.into()).unwrap() {
                Input::Looked(Err(why)) | Input::Gave(Err(why)) | Input::Merged(Err(why)) => why,
                other => panic!("{other:?}"),
            };
            assert_eq!(why.kind(), "not-yet", "{effect:?}");
        }
    }
}
