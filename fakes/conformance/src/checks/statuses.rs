//! The state of a commit.

use crate::scene::{Scene, name};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::NewStatus;

const MANY: usize = 60;

fn status(context: &str, state: CheckState, description: &str) -> NewStatus {
    let url = Some("https://example.org/run/1".to_owned());
    NewStatus { context: context.to_owned(), state, description: description.to_owned(), url }
}

pub async fn the_latest_of_each_name_counts(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "status").await;
    let can = scene.bot.capabilities().await.unwrap().can(Capability::CommitStatus);
    let first = scene.bot.set_status(&scene.head, &status("tribunal/review", CheckState::Pending, "reading")).await;
    if !can {
        assert!(matches!(first, Err(ForgeFault::Unsupported { .. })), "{first:?}");
        return;
    }
    first.unwrap();
    let other = name("other");
    for (context, state, description) in [
        (&*other, CheckState::Failure, "two tests fail"),
        ("tribunal/review", CheckState::Failure, "1 blocking"),
        ("tribunal/review", CheckState::Success, "nothing found"),
    ] {
        scene.bot.set_status(&scene.head, &status(context, state, description)).await.unwrap();
    }
    let mut checks = scene.bot.checks(&scene.head).await.unwrap();
    checks.retain(|check| check.name == other || check.name == "tribunal/review");
    checks.sort_by_key(|check| check.name != other);
    let shown: Vec<_> = checks.iter().map(|check| (check.state, check.description.as_str())).collect();
    assert_eq!(shown, [(CheckState::Failure, "two tests fail"), (CheckState::Success, "nothing found")]);
    assert_eq!(checks[1].url, "https://example.org/run/1");
    if stage.has_accounts() {
        let stranger = stage.forge_as(Who::Stranger);
        let refused = stranger.set_status(&scene.head, &status("tribunal/review", CheckState::Failure, "mine")).await;
        assert!(matches!(refused, Err(ForgeFault::Forbidden { .. } | ForgeFault::NotFound { .. })), "{refused:?}");
    }
}

pub async fn many_statuses_are_all_there(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "many-statuses").await;
    if !scene.bot.capabilities().await.unwrap().can(Capability::CommitStatus) {
        return;
    }
    for index in 0..MANY {
        scene.bot.set_status(&scene.head, &status(&format!("check/{index}"), CheckState::Success, "")).await.unwrap();
    }
    let mut names: Vec<String> = scene.bot.checks(&scene.head).await.unwrap().into_iter().map(|check| check.name).collect();
    names.retain(|name| name.starts_with("check/"));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MANY);
}
