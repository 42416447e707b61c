//! Waiting for something to happen: one cheap request for each look, and the whole conversation only when that one shows a change. Now
//! and then everything is read all the same, because no forge's time stamp shows an edit, a resolution or a status.

use super::Remedies;
use super::look::hear;
use crate::{EngineError, Progress};
use std::time::Duration;
use tribunal_core::feedback::baseline::{Arm, Change, change};
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::remediate::{Input, State, Wake};
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::remedy::report::files::Phase;

/// Every so many looks everything is read.
const SWEEP: u32 = 10;
/// Two failures in a row end the wait; one may be anything (WL-26).
const MAX_FAILURES: u32 = 2;

impl Remedies {
    pub(super) async fn wait(&self, state: &State, until: Millis, arm: Arm, active: bool) -> Result<Input, EngineError> {
        (self.listener)(Progress::Watching { until });
        self.write_state(state, Phase::Waiting, "WAITING");
        Ok(Input::Woken(self.wake(state, until, arm, active).await))
    }

    async fn wake(&self, state: &State, until: Millis, arm: Arm, active: bool) -> Wake {
        let loops = &state.request.loops;
        let (Some(baseline), Ok(filter)) = (&state.memory.baseline, loops.reviewer.parse::<Filter>()) else {
            return Wake::Failed("there is nothing to compare with".into());
        };
        let settles = loops.kind == tribunal_core::policy::loops::LoopKind::Respond;
        let settle = loops.wait.settle.as_millis();
        let poll = Duration::from_millis(loops.wait.poll.as_millis());
        let mut first_activity = active.then(crate::now);
        // The first look reads everything: an approval that is there already, or a word that came meanwhile, is not waited for.
        let (mut looks, mut failures, mut glimpse) = (0, 0, None);
        loop {
            if first_activity.is_some_and(|since| crate::now() >= since.saturating_add(settle)) {
                return Wake::Changed(Change::Changed);
            }
            if crate::now() >= until {
                return if first_activity.is_some() { Wake::Changed(Change::Changed) } else { Wake::TimedOut };
            }
            let looked = self.glance(state, &filter, looks % SWEEP == 0, &mut glimpse).await;
            looks += 1;
            match looked {
                Ok(None) => failures = 0,
                Ok(Some(now)) => {
                    failures = 0;
                    match change(baseline, &now, arm) {
                        Change::Nothing => {}
                        Change::Changed if settles => {
                            first_activity.get_or_insert_with(crate::now);
                        }
                        other => return Wake::Changed(other),
                    }
                }
                Err(fault) => {
                    failures += 1;
                    if failures >= MAX_FAILURES {
                        return Wake::Failed(fault.to_string());
                    }
                }
            }
            let left = until.saturating_sub(crate::now());
            let nap = first_activity.map_or(left, |since| left.min(since.saturating_add(settle).saturating_sub(crate::now())));
            tokio::time::sleep(poll.min(Duration::from_millis(nap.max(1)))).await;
        }
    }

    /// What the pull request shows now, if it may show something new.
    async fn glance(
        &self,
        state: &State,
        filter: &Filter,
        everything: bool,
        glimpse: &mut Option<(String, PullState, String)>,
    ) -> Result<Option<tribunal_core::feedback::baseline::Baseline>, ForgeFault> {
        if !everything {
            let pull = self.on.forge.pull(state.request.place.number).await?;
            let now = (pull.updated_at.clone(), pull.state, pull.head.sha.0.clone());
            // Some forges write whole seconds: a second word within the same one does not show, and is found by the sweep.
            if glimpse.as_ref() == Some(&now) {
                return Ok(None);
            }
        }
        let heard = hear(&self.on, &state.request.place).await?;
        *glimpse = Some((heard.pull.updated_at.clone(), heard.pull.state, heard.pull.head.sha.0.clone()));
        Ok(Some(heard.baseline(&self.on.key, &state.request.loops.bots, filter)))
    }
}
