//! On the fake Forgejo.

use super::town::{Machine, Town};
use forge_conformance::Who;
use std::sync::Arc;

#[path = "../../../tribunal-forge/tests/forgejo/stage.rs"]
#[allow(dead_code)]
mod stage;

async fn town() -> Option<Town> {
    let stage = stage::ForgejoStage::new().await;
    let origin = stage.server.url();
    let tokens = Who::ALL.into_iter().map(|who| (who, stage::token(who))).collect();
    Some(Town { stage: Arc::new(stage), origin, path: stage::PATH.into(), tokens, machine: Machine::new() })
}

told!(town);
