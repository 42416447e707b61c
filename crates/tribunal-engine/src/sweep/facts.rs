//! Everything that a merge of one pull request looks at: the same look that `why` and `settle` take.

use super::Sweeps;
use crate::EngineError;
use crate::merging::{Look, Merging};
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::procedure::sweep::effect::Seen;
use tribunal_core::procedure::sweep::{Request, Trouble};
use tribunal_core::pull::facts::{Mergeable, PullState};
use tribunal_core::pull::told::Told;
use tribunal_forge::git::Repository;

impl Sweeps {
    /// The hands that merge, over the clone that everything of this project is brought to.
    pub(super) async fn merging(&self, request: &Request, number: u64) -> Result<Merging, EngineError> {
        let pull = self.on.forge.pull(number).await?;
        Ok(Merging {
            on: self.on.clone(),
            kind: request.forge,
            project: request.project.clone(),
            repository: self.clones.repository(self.on.forge.source(&pull)).await?,
            ledger: Arc::clone(&self.ledger),
            bots: request.loops.bots.clone(),
        })
    }

    pub(super) async fn see(&self, request: &Request, number: u64) -> Result<Result<Seen, Trouble>, EngineError> {
        let merging = self.merging(request, number).await?;
        let look = {
            let _turn = self.clones.turn().await;
            merging.look(number).await?
        };
        Ok(self.seen(&merging.repository, look))
    }

    /// What could not be brought of an open one decides nothing (CF-9); of one that is over there is nothing to bring.
    pub(super) fn seen(&self, repository: &Arc<Repository>, look: Look) -> Result<Seen, Trouble> {
        let is_open = look.facts.state == PullState::Open;
        let (policy, behind) = match &look.base_tip {
            Told::Is(base) => {
                let policy = (self.base)(repository, base).map_err(Trouble::Incomplete)?.merge;
                let blocked = look.facts.mergeable == Mergeable::Blocked;
                (policy, blocked && !repository.is_ancestor(base, &look.facts.head))
            }
            Told::Unknown(why) if is_open => return Err(Trouble::Forge(why.clone())),
            Told::Unknown(_) => (MergePolicy::default(), false),
        };
        let files = match look.files {
            Told::Is(files) => files,
            Told::Unknown(why) if is_open => return Err(Trouble::Forge(why)),
            Told::Unknown(_) => BTreeSet::new(),
        };
        Ok(Seen { facts: look.facts, files, behind, policy })
    }
}
