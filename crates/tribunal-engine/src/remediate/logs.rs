//! The logs of failing checks, read for the items that a pass may work on.

use super::Remedies;
use super::look::Heard;
use std::time::Duration;
use tribunal_core::feedback::gather::{Gathered, has_failed};
use tribunal_core::feedback::item::{Item, Surface};
use tribunal_core::feedback::log::{Asked, told};
use tribunal_core::feedback::reviewer::Filter;
use tribunal_core::feedback::right::Right;
use tribunal_core::procedure::remediate::State;
use tribunal_core::pull::facts::Check;

/// Of a pipeline in which everything is red the first few logs say it all.
const MAX_LOGS: usize = 8;
/// For one of them; a log is worth having and not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(60);

impl Remedies {
    /// Puts what a check printed into its item. A log that cannot be had is said there, and never fails the read.
    pub(super) async fn add_logs(&self, state: &State, heard: &Heard, filter: &Filter, gathered: &mut Gathered) {
        let decided = |item: &Item| state.memory.ends.get(&item.id).is_some_and(|(last_word, _)| *last_word == item.last_word);
        // A log that nobody may act on is not read.
        let Gathered { items, rights, .. } = gathered;
        let granted = |item: &Item| rights.get(&item.id).is_some_and(Right::is_granted);
        let in_scope = |item: &Item| item.is_open() && filter.covers(&item.voice, &item.author);
        let wanted = items.iter_mut().filter(|item| in_scope(item) && granted(item) && !decided(item));
        let mut read = 0;
        for item in wanted {
            let Surface::Check { name } = &item.surface else { continue };
            let Some(check) = heard.checks.iter().find(|check| check.name == *name && has_failed(check)) else { continue };
            let asked =
                if read < MAX_LOGS { self.log_of(check).await } else { Err(format!("{MAX_LOGS} logs were read already")) };
            read += 1;
            item.body = told(&item.body, &asked);
        }
    }

    async fn log_of(&self, check: &Check) -> Asked {
        match tokio::time::timeout(PATIENCE, self.on.forge.check_log(check)).await {
            Ok(answered) => answered.map_err(|fault| fault.to_string()),
            Err(_) => Err(format!("it took longer than {} seconds", PATIENCE.as_secs())),
        }
    }
}
