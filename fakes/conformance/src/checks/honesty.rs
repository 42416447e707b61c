//! A forge says what it can do, and no more.
//!
//! What is claimed is put to use by the other checks, each of which asks for the capability first; here is what they do not cover.

use crate::scene::Scene;
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::NewCheckRun;

/// The same answer from every client, and such as fits the forge.
pub async fn what_is_claimed_is_no_more_than_known(stage: Arc<dyn Stage>) {
    let capabilities = stage.forge_as(Who::Bot).capabilities().await.unwrap();
    assert_eq!(capabilities.kind, stage.kind());
    assert_eq!(stage.forge_as(Who::Bot).capabilities().await.unwrap(), capabilities);
    assert!(capabilities.can.iter().all(|claimed| Capability::ALL.contains(claimed)));
}

pub async fn what_is_not_claimed_is_refused(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "honest").await;
    let capabilities = scene.bot.capabilities().await.unwrap();
    let run = NewCheckRun {
        name: "tribunal".into(),
        state: CheckState::Success,
        title: "Nothing found".into(),
        summary: "".into(),
        annotations: Vec::new(),
    };
    let made = scene.bot.check_run(&scene.head, &run).await;
    if capabilities.can(Capability::Annotations) {
        made.unwrap();
        let checks = scene.bot.checks(&scene.head).await.unwrap();
        assert!(checks.iter().any(|check| check.name == "tribunal" && check.state == CheckState::Success), "{checks:?}");
    } else {
        assert!(matches!(made, Err(ForgeFault::Unsupported { .. })), "{made:?}");
    }
}
