//! On the fake Forgejo.

use super::story;
use super::town::{Machine, Town};
use forge_conformance::Who;
use std::sync::Arc;

#[path = "../../../tribunal-forge/tests/forgejo/stage.rs"]
#[allow(dead_code)]
mod stage;

async fn town() -> Town {
    let stage = stage::ForgejoStage::new().await;
    let origin = stage.server.url();
    let tokens = Who::ALL.into_iter().map(|who| (who, stage::token(who))).collect();
    Town { stage: Arc::new(stage), origin, path: stage::PATH.into(), tokens, machine: Machine::new() }
}

macro_rules! stories {
    ($($name:ident),* $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            story::$name(&town().await).await;
        })*
    };
}

stories!(
    a_whole_life,
    ten_pushes,
    another_machine,
    a_force_push,
    the_base_configures,
    a_receipt_is_posted_elsewhere,
    a_dry_run_posts_nothing,
    odd_pull_requests,
    a_lost_fork,
    somebodys_draft,
    the_doctor_looks,
);
