//! The client for GitHub, against the fake: the checks that hold for every forge, and what is GitHub's own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "github/app.rs"]
mod app;
#[path = "github/contract.rs"]
mod contract;
#[path = "github/fetch.rs"]
mod fetch;
#[path = "github/quirks.rs"]
mod quirks;
#[path = "github/stage.rs"]
mod stage;
#[path = "github/tour.rs"]
mod tour;

use forge_conformance::run;
use std::sync::Arc;

/// forges.md 8: what every forge client must do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn github_does_what_every_forge_does() {
    let stage = Arc::new(stage::GitHubStage::new().await);
    run(Arc::clone(&stage) as Arc<dyn forge_conformance::Stage>, &[]).await;
    contract::check(&stage.server.log());
}
