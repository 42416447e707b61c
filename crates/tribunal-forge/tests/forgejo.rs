//! The client for Gitea and Forgejo, against a fake Forgejo whose every request and answer is held against Forgejo's own swagger.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "forgejo/quirks.rs"]
mod quirks;
#[path = "forgejo/stage.rs"]
mod stage;

use fake_forgejo::{Contract, PATHS, SINCE_17};
use forge_conformance::run;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forgejo_does_what_every_forge_does() {
    run(Arc::new(stage::ForgejoStage::new().await), &[]).await;
}

/// What the fake says it can do, the real one can.
#[test]
fn every_route_of_the_fake_is_one_of_forgejo() {
    let contract = Contract::published();
    for (path, methods) in PATHS.into_iter().chain(SINCE_17) {
        for method in methods {
            assert!(contract.has_route(path, method), "{method} {path}");
        }
    }
    // And what it must not offer, the real one has not either.
    assert!(!contract.has_route("/repos/{owner}/{repo}/pulls/comments/{id}/resolve", "post"));
    assert!(!contract.has_route("/repos/{owner}/{repo}/pulls/{index}/comments/{id}/replies", "post"));
}
