//! Waiting for something to happen: one cheap request for each look, and the whole conversation only when that one shows a change, or
//! when the procedure asks for it.

use super::{Remedies, lint};
use crate::{EngineError, Progress};
use std::time::Duration;
use tribunal_core::feedback::baseline::{Arm, Baseline, change};
use tribunal_core::feedback::gather::gather;
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::remediate::vigil::{Glance, Vigil};
use tribunal_core::procedure::remediate::{Input, State, Wake};
use tribunal_core::pull::facts::{Pull, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::remedy::report::files::Phase;

impl Remedies {
    pub(super) async fn wait(&self, state: &State, until: Millis, arm: Arm, active: bool) -> Result<Input, EngineError> {
        self.write_state(state, Phase::Waiting, "WAITING");
        Ok(Input::Woken(self.wake(state, until, arm, active).await))
    }

    async fn wake(&self, state: &State, until: Millis, arm: Arm, active: bool) -> Wake {
        let loops = &state.request.loops;
        let (Some(baseline), Ok(filter)) = (&state.memory.baseline, loops.reviewer.parse::<Filter>()) else {
            return Wake::Failed("there is nothing to compare with".into());
        };
        let mut vigil = Vigil::new(loops, until, active, crate::now());
        let (mut glimpse, mut has_said_so) = (None, false);
        loop {
            if let Some(wake) = vigil.is_over(crate::now()) {
                return wake;
            }
            let glance = match self.glance(state, &filter, vigil.reads_all(), &mut glimpse).await {
                Ok(None) => Glance::Same,
                Ok(Some((now, running))) => Glance::Saw { change: change(baseline, &now, arm), running },
                Err(fault) => Glance::Failed(fault.to_string()),
            };
            if let Some(wake) = vigil.looked(glance, crate::now()) {
                return wake;
            }
            // Not before the first look: what came meanwhile is not waited for.
            if !std::mem::replace(&mut has_said_so, true) {
                (self.listener)(Progress::Watching { until });
            }
            tokio::time::sleep(Duration::from_millis(vigil.nap(crate::now()))).await;
        }
    }

    /// What the pull request shows now, if it may show something new.
    async fn glance(
        &self,
        state: &State,
        filter: &Filter,
        everything: bool,
        glimpse: &mut Option<(String, PullState, String)>,
    ) -> Result<Option<(Baseline, bool)>, ForgeFault> {
        // Files lie on this machine, so looking at them costs nothing.
        let files = lint::versions(&state.request.loops);
        if !everything {
            let pull = self.on.forge.pull(state.request.place.number).await?;
            let now = (pull.updated_at.clone(), pull.state, here(&pull, &files));
            // Some forges write whole seconds: a second word within the same one does not show, and is found by the sweep.
            if glimpse.as_ref() == Some(&now) {
                return Ok(None);
            }
        }
        let heard = self.hear(state).await?;
        *glimpse = Some((heard.pull.updated_at.clone(), heard.pull.state, here(&heard.pull, &files)));
        let extra = &state.request.loops.bots;
        let running = heard.is_running(&gather(&heard.said(&self.on.key, extra)), extra, filter);
        Ok(Some((heard.baseline(&self.on.key, extra, filter).with_failing(files), running)))
    }
}

/// The head, and the files that are read beside it.
fn here(pull: &Pull, files: &[String]) -> String {
    format!("{} {}", pull.head.sha, files.join(" "))
}
