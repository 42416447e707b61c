//! The client for GitLab, against the fake: the checks that hold for every forge, and what is GitLab's own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "gitlab/quirks.rs"]
mod quirks;
#[path = "gitlab/stage.rs"]
mod stage;

use forge_conformance::run;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gitlab_does_what_every_forge_does() {
    run(Arc::new(stage::GitLabStage::new().await), &[]).await;
}
