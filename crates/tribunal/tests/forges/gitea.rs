//! On a real Gitea server.

use super::story;
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

macro_rules! stories {
    ($($name:ident),* $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            let Some((town, _stage)) = town().await else { return };
            story::$name(&town).await;
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
