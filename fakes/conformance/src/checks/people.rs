//! Who somebody is, and what they may do.

use crate::scene::{Scene, merge, settled};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::pull::facts::{MergeMethod, MergeOrder, Permission};

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

/// CF-10: as the bot sees them, which need not be an administrator. A name alone gives no right.
pub async fn rights_are_told_apart(stage: Arc<dyn Stage>) {
    let bot = stage.forge_as(Who::Bot);
    let mut owner = stage.forge_as(Who::Maintainer).identity().await.unwrap();
    assert!(bot.permission(&owner).await.unwrap().may_write());
    if !stage.has_accounts() {
        return;
    }
    assert!(bot.permission(&bot.identity().await.unwrap()).await.unwrap().may_write());
    let stranger = stage.forge_as(Who::Stranger).identity().await.unwrap();
    assert!(bot.permission(&stranger).await.unwrap() <= Permission::Read);
    // An owner's login in the hands of somebody else.
    owner.id = stranger.id;
    assert!(bot.permission(&owner).await.map_or(true, |found| found <= Permission::Read));
}

pub async fn a_merge_makes_a_contributor(stage: Arc<dyn Stage>) {
    let scene = Scene::apart(&stage, "contributor").await;
    settled(&scene).await;
    let order = MergeOrder { head: scene.head.clone(), method: MergeMethod::Merge, title: "In".into(), message: "".into() };
    merge(&scene, &order).await.unwrap();
    let author = stage.forge_as(Who::Author).identity().await.unwrap();
    assert!(scene.bot.has_contributed(&author).await.unwrap());
    if stage.has_accounts() {
        let stranger = stage.forge_as(Who::Stranger).identity().await.unwrap();
        assert!(!scene.bot.has_contributed(&stranger).await.unwrap());
    }
}
