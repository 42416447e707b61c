//! Putting commits on the pull request's branch.

use super::Remedies;
use crate::EngineError;
use crate::effects::blocking;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::procedure::remediate::{Input, Landing, State};
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::pushable::Pushable;
use tribunal_forge::git::commit::Pushed;
use tribunal_forge::git::write::MoveError;

impl Remedies {
    pub(super) async fn land(&self, state: &State, tip: Sha, onto: Sha) -> Result<Input, EngineError> {
        let pull = self.on.forge.pull(state.request.place.number).await?;
        // Done before, by a process that died before it could say so.
        if pull.head.sha == tip {
            return Ok(Input::Landed(Landing::Pushed { head: tip }));
        }
        if pull.head.sha != onto {
            return Ok(Input::Landed(Landing::Moved));
        }
        let branch = match Pushable::new(&pull, &self.on.head_makers(&pull).await?) {
            Ok(branch) => branch,
            Err(refusal) => return Ok(Input::Landed(Landing::Refused(refusal.to_string()))),
        };
        let (repository, by) = (Arc::clone(&self.repository), self.signature.clone());
        let is_local = state.request.place.kind == ForgeKind::Local;
        let head = tip.clone();
        let pushed = blocking(move || -> Result<Landing, EngineError> {
            if is_local {
                return Ok(match repository.move_branch(branch.branch(), &onto, &tip, &by, "tribunal: fixes") {
                    Ok(()) => Landing::Pushed { head: tip },
                    Err(MoveError::Moved(_)) => Landing::Moved,
                    Err(MoveError::Git(error)) => return Err(error.into()),
                    Err(error) => Landing::Refused(error.to_string()),
                });
            }
            Ok(match repository.push(&branch, &tip)? {
                Pushed::Landed => Landing::Pushed { head: tip },
                Pushed::Moved => Landing::Moved,
                Pushed::Refused(why) => Landing::Refused(why),
            })
        })
        .await??;
        // The forge may take a moment to show what was pushed; what is answered next speaks of it.
        if matches!(pushed, Landing::Pushed { .. }) {
            self.write_changes(state, Self::pass(state)?, &head);
            self.until_head_is(state.request.place.number, &head).await?;
        }
        Ok(Input::Landed(pushed))
    }

    async fn until_head_is(&self, number: u64, head: &Sha) -> Result<(), EngineError> {
        for wait in [50, 100, 200, 400, 800, 1600] {
            if &self.on.forge.pull(number).await?.head.sha == head {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        }
        Ok(())
    }
}
