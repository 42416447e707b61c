//! On a real Gitea server.

use super::town::{Machine, Town};
use forge_conformance::Who;
use gitea_peer::{GiteaStage, login};
use std::sync::Arc;

pub async fn town() -> Option<(Town, Arc<GiteaStage>)> {
    let stage = Arc::new(GiteaStage::start("shop").await?);
    let tokens = Who::ALL.into_iter().map(|who| (who, stage.peer.token(login(who)).to_owned())).collect();
    let (origin, path) = (stage.peer.origin(), stage.path.clone());
    Some((Town { stage: stage.clone(), origin, path, tokens, machine: Machine::new() }, stage))
}

async fn place() -> Option<Town> {
    Some(town().await?.0)
}

told!(place);
// Long ones, told where the forge is a real one.
told!(place: a_ceiling_is_kept, why_each_is_stuck);
