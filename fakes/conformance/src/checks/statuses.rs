//! The state of a commit.

use crate::scene::{Scene, name};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::feedback::log::READ;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::NewStatus;

const MANY: usize = 60;

fn status(context: &str, state: CheckState, description: &str) -> NewStatus {
    let url = Some("https://example.org/run/1".to_owned());
    NewStatus { context: context.to_owned(), state, description: description.into(), url }
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

/// What a job printed is read from its end; a status that somebody set has no log.
pub async fn a_failed_job_leaves_its_log(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "log").await;
    let can = scene.bot.capabilities().await.unwrap().can(Capability::CheckLogs);
    let set = name("set");
    scene.bot.set_status(&scene.head, &status(&set, CheckState::Failure, "by hand")).await.unwrap();
    let filler: String = (0..20_000).map(|line| format!("line {line} of a long log\n")).collect();
    let printed = format!("the beginning\n{filler}src/shop.rs:7: error: nothing fits\n");
    let job = stage.fail_job(&scene.branch, &name("job"), &printed).await;
    assert!(job.is_some() || !can, "what is claimed must be tried");
    let found = async |sha: &Sha, name: &str| {
        let checks = scene.bot.checks(sha).await.unwrap();
        checks.into_iter().find(|check| check.name == name).unwrap_or_else(|| panic!("there is no check {name}"))
    };
    let by_hand = scene.bot.check_log(&found(&scene.head, &set).await).await;
    if !can {
        assert!(matches!(by_hand, Err(ForgeFault::Unsupported { .. })), "{by_hand:?}");
        return;
    }
    assert_eq!(by_hand.unwrap(), None);
    let (head, job) = job.expect("a job");
    let check = found(&head, &job).await;
    assert_eq!(check.state, CheckState::Failure);
    let log = scene.bot.check_log(&check).await.unwrap().expect("a log");
    assert!(log.contains("line 19999 of a long log") && log.contains("src/shop.rs:7: error: nothing fits"));
    assert!(!log.contains("the beginning") && log.len() < 2 * READ, "{} bytes", log.len());
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
