//! The client for Gitea on a real Gitea server.

#![allow(clippy::unwrap_used)]

use forge_conformance::run;
use gitea_peer::GiteaStage;
use std::sync::Arc;

/// forges.md 8: what every forge client must do.
#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_suite_holds() {
    let Some(stage) = GiteaStage::start("shop").await else { return };
    run(Arc::new(stage), &[]).await;
}
