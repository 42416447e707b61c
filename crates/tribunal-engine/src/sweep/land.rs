//! Bringing a pull request up to date, merging it, and what follows a merge.

use super::Sweeps;
use crate::EngineError;
use crate::merging::{MergeEnd, UpdateEnd};
use tribunal_core::ids::Sha;
use tribunal_core::merge::clearance::Lapse;
use tribunal_core::merge::epic::EpicEnd;
use tribunal_core::merge::hold::Hold;
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::procedure::sweep::effect::{Merged, Updated};
use tribunal_core::procedure::sweep::merging::Warrant;
use tribunal_core::procedure::sweep::{Request, Trouble};

impl Sweeps {
    pub(super) async fn update(
        &self,
        request: &Request,
        number: u64,
        head: &Sha,
    ) -> Result<Result<Updated, Trouble>, EngineError> {
        let merging = self.merging(request, number).await?;
        let _turn = self.clones.turn().await;
        Ok(match merging.update(number, head).await? {
            UpdateEnd::Head(now) => {
                merging.carry_holds(number, head, &now).await?;
                Ok(Updated::Head(now))
            }
            UpdateEnd::Conflict(why) => Ok(Updated::Conflict(why)),
            UpdateEnd::Refused(why) => Ok(Updated::Refused(why)),
            UpdateEnd::Moved(_) => Err(Trouble::HeadMoved),
        })
    }

    pub(super) async fn hold(
        &self,
        request: &Request,
        number: u64,
        head: &Sha,
        holds: &[Hold],
    ) -> Result<Result<(), Trouble>, EngineError> {
        let merging = self.merging(request, number).await?;
        merging.put_on_record(number, head, holds.to_vec()).await?;
        Ok(Ok(()))
    }

    pub(super) async fn merge(&self, request: &Request, warrant: &Warrant) -> Result<Result<Merged, Trouble>, EngineError> {
        let merging = self.merging(request, warrant.clearance.number()).await?;
        let _turn = self.clones.turn().await;
        let holds = |look: &crate::merging::Look| match self.seen(&merging.repository, look.clone()) {
            Ok(seen) => warrant.holds(&seen),
            // What cannot be read is not what was cleared.
            Err(_) => Err(Lapse::Different),
        };
        Ok(Ok(match merging.merge(&warrant.clearance, holds).await? {
            MergeEnd::Merged => Merged::Done,
            MergeEnd::Lapsed(lapse) => Merged::Changed(lapse.to_string()),
            MergeEnd::Refused(why) => Merged::Refused(why),
        }))
    }

    pub(super) async fn epics(&self, request: &Request, number: u64) -> Result<Vec<(u64, EpicEnd)>, EngineError> {
        let merging = self.merging(request, number).await?;
        let base = self.on.forge.pull(number).await?.base.sha;
        let keyword = (self.base)(&merging.repository, &base).map_or_else(|_| MergePolicy::default(), |says| says.merge).part_of;
        Ok(merging.epics(number, &keyword).await)
    }
}
