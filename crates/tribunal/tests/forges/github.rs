//! On the fake GitHub.

use super::town::{Machine, Town};
use forge_conformance::Who;
use std::sync::Arc;

#[path = "../../../tribunal-forge/tests/github/stage.rs"]
#[allow(dead_code)]
mod stage;

async fn town() -> Option<Town> {
    Some(of(stage::GitHubStage::new().await))
}

/// The same, and another token of the bot.
pub async fn with_second_token() -> (Town, String) {
    let stage = stage::GitHubStage::new().await;
    let token = "another token of the bot".replace(' ', "-");
    stage.server.with(|base, _| base.people.token(&token, stage::id(Who::Bot), &[]));
    (of(stage), token)
}

fn of(stage: stage::GitHubStage) -> Town {
    let origin = stage.server.url();
    let tokens = Who::ALL.into_iter().map(|who| (who, stage::token(who))).collect();
    Town { stage: Arc::new(stage), origin, path: stage::PATH.into(), tokens, machine: Machine::new() }
}

told!(town);
