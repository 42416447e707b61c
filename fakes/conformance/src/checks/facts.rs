//! What a forge says about pull requests and people.

use crate::scene::Scene;
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::pull::facts::PullState;

/// CF-10: accounts are told apart by id, and a client knows whom it speaks for.
pub async fn everybody_is_somebody(stage: Arc<dyn Stage>) {
    let mut ids = Vec::new();
    for who in Who::ALL {
        let account = stage.forge_as(who).identity().await.unwrap();
        assert!(!account.id.is_empty() && !account.login.is_empty(), "{account:?}");
        ids.push(account.id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), if stage.has_accounts() { 4 } else { 1 });
}

/// forges.md 1.1, metadata.
pub async fn a_pull_is_read_whole(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "facts").await;
    let pull = scene.bot.pull(scene.number).await.unwrap();
    assert_eq!((pull.number, pull.state, pull.draft, pull.is_fork), (scene.number, PullState::Open, false, false));
    assert_eq!((pull.title.as_str(), pull.body.as_str()), (&*format!("Title of {}", scene.branch), "A body."));
    assert_eq!((pull.head.branch.as_str(), &pull.head.sha), (&*scene.branch, &scene.head));
    assert_eq!((pull.base.branch.as_str(), Some(&pull.base.sha)), ("main", stage.checkout().tip("main").await.as_ref()));
    assert!(pull.changed_files.is_none_or(|files| files == 1), "{pull:?}");
    if stage.has_accounts() {
        assert!(pull.author.is(&stage.forge_as(Who::Author).identity().await.unwrap()), "{:?}", pull.author);
    }
}
