//! One merge, once. Everything is read anew right before it; the head guards it; and after an answer that says nothing the pull request
//! itself is asked, so that nothing is ever sent twice.

use super::{Look, Merging, PAUSES};
use crate::EngineError;
use crate::effects::blocking;
use std::sync::Arc;
use tokio::time::sleep;
use tribunal_core::merge::clearance::{Clearance, Lapse};
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeEnd {
    /// It is merged, at the head that was cleared.
    Merged,
    /// What it was cleared by is not so any more; nothing was sent.
    Lapsed(Lapse),
    /// The forge says no, in its own words (SL-94).
    Refused(String),
}

/// So many looks, five seconds in all: a forge does not work longer for a caller that is gone.
const STILL: usize = 6;

impl Merging {
    /// `still_holds` judges what is there now, with whatever the procedure knows besides.
    pub async fn merge(
        &self,
        clearance: &Clearance,
        still_holds: impl Fn(&Look) -> Result<(), Lapse> + Send,
    ) -> Result<MergeEnd, EngineError> {
        if let Some(end) = self.still_under_way(clearance).await? {
            return Ok(end);
        }
        for pause in PAUSES {
            let look = self.look(clearance.number()).await?;
            // Done before, by a process that died before it could say so.
            if look.facts.state == PullState::Merged && look.facts.head == *clearance.head() {
                return Ok(MergeEnd::Merged);
            }
            if let Err(lapse) = still_holds(&look) {
                return Ok(MergeEnd::Lapsed(lapse));
            }
            if self.on.dry {
                return Ok(MergeEnd::Refused("this is a rehearsal".into()));
            }
            if let Err(lapse) = self.is_as_cleared(clearance).await? {
                return Ok(MergeEnd::Lapsed(lapse));
            }
            self.note_sent(clearance, true).await?;
            let answer = self.on.forge.merge(clearance.number(), &clearance.order()).await;
            if answer.as_ref().is_err_and(|fault| !fault.is_uncertain()) {
                self.note_sent(clearance, false).await?;
            }
            match answer {
                Ok(()) => return Ok(MergeEnd::Merged),
                Err(fault) if fault.is_uncertain() => return self.after_doubt(clearance, fault).await,
                // It certainly did nothing, and is not ready: it still works out whether there is a conflict.
                Err(ForgeFault::Failing { .. }) => sleep(pause).await,
                Err(fault) if fault.may_pass() => return Err(fault.into()),
                Err(fault) => return self.after_refusal(clearance, fault).await,
            }
        }
        Err(ForgeFault::Failing {
            host: self.project.host().to_owned(),
            status: 405,
            message: format!("#{} is not ready to be merged yet", clearance.number()),
        }
        .into())
    }

    /// To judge all conditions takes many requests, in which the pull request can be aimed at another branch, and the head does not
    /// guard against that. So the last thing that is read is the pull request itself.
    async fn is_as_cleared(&self, clearance: &Clearance) -> Result<Result<(), Lapse>, EngineError> {
        let pull = self.on.forge.pull(clearance.number()).await?;
        if pull.head.sha != *clearance.head() {
            return Ok(Err(Lapse::HeadMoved { cleared: clearance.head().clone(), found: pull.head.sha }));
        }
        if pull.state != PullState::Open {
            return Ok(Err(Lapse::Different));
        }
        Ok(clearance.is_for(&pull.base.branch))
    }

    /// A merge of this head was sent before, by a process that died before it heard what came of it. A forge may still be at it, show
    /// the pull request as open all the while, and merge it a second time if it is asked again.
    async fn still_under_way(&self, clearance: &Clearance) -> Result<Option<MergeEnd>, EngineError> {
        if self.kind == ForgeKind::Local {
            return Ok(None);
        }
        let (repository, name) = (Arc::clone(&self.repository), sent(clearance));
        if blocking(move || repository.kept(&name)).await?.as_ref() != Some(clearance.head()) {
            return Ok(None);
        }
        for pause in PAUSES.into_iter().take(STILL) {
            let pull = self.on.forge.pull(clearance.number()).await?;
            if pull.state == PullState::Merged && pull.head.sha == *clearance.head() {
                return Ok(Some(MergeEnd::Merged));
            }
            if pull.state != PullState::Open || pull.head.sha != *clearance.head() {
                break;
            }
            sleep(pause).await;
        }
        Ok(None)
    }

    /// Kept in the clone while nobody knows what came of it. A plain repository compares and swaps, and needs no such note.
    async fn note_sent(&self, clearance: &Clearance, is_sent: bool) -> Result<(), EngineError> {
        if self.kind == ForgeKind::Local {
            return Ok(());
        }
        let (repository, name, head) = (Arc::clone(&self.repository), sent(clearance), clearance.head().clone());
        Ok(blocking(move || if is_sent { repository.keep(&name, &head) } else { repository.let_go(&name) }).await??)
    }

    /// The answer got lost: merged at this head is merged by us. If it is still open after a while, whoever asked looks again later.
    async fn after_doubt(&self, clearance: &Clearance, fault: ForgeFault) -> Result<MergeEnd, EngineError> {
        for pause in PAUSES {
            let pull = self.on.forge.pull(clearance.number()).await?;
            match pull.state {
                PullState::Merged if pull.head.sha == *clearance.head() => return Ok(MergeEnd::Merged),
                PullState::Merged | PullState::Closed => {
                    return Ok(MergeEnd::Refused(format!("it is {} now", pull.state.word())));
                }
                PullState::Open => sleep(pause).await,
            }
        }
        Err(fault.into())
    }

    async fn after_refusal(&self, clearance: &Clearance, fault: ForgeFault) -> Result<MergeEnd, EngineError> {
        let pull = self.on.forge.pull(clearance.number()).await?;
        if pull.state == PullState::Merged && pull.head.sha == *clearance.head() {
            return Ok(MergeEnd::Merged);
        }
        if pull.head.sha != *clearance.head() {
            let (cleared, found) = (clearance.head().clone(), pull.head.sha);
            return Ok(MergeEnd::Lapsed(Lapse::HeadMoved { cleared, found }));
        }
        Ok(MergeEnd::Refused(fault.to_string()))
    }
}

fn sent(clearance: &Clearance) -> String {
    format!("merging/{}", clearance.number())
}
