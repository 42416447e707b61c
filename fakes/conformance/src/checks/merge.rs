//! Merging, and keeping up with the base.

use crate::scene::{Scene, eventually, merge, settled};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{MergeMethod, MergeOrder, PullState};
use tribunal_core::pull::fault::ForgeFault;

fn order(head: &Sha, method: MergeMethod, title: &str) -> MergeOrder {
    MergeOrder { head: head.clone(), method, title: title.to_owned(), message: "What it is for.".to_owned() }
}

/// forges.md 8, 6: a head that was not looked at is a conflict, and nothing is merged.
pub async fn another_head_is_not_merged(stage: Arc<dyn Stage>) {
    let scene = Scene::apart(&stage, "guarded").await;
    if !scene.bot.capabilities().await.unwrap().can(Capability::GuardedMerge) {
        return;
    }
    let seen = scene.head.clone();
    let pushed = stage.push(&scene.branch, &[("slipped-in.txt", Some("unseen\n"))], "slipped in").await;
    eventually("the push is seen", async || scene.bot.pull(scene.number).await.unwrap().head.sha == pushed).await;
    settled(&scene).await;
    let before = stage.checkout().tip("main").await;
    let refused = merge(&scene, &order(&seen, MergeMethod::Squash, "Seen")).await;
    assert!(matches!(refused, Err(ForgeFault::Conflict { .. })), "{refused:?}");
    assert_eq!(stage.checkout().tip("main").await, before);
    assert_eq!(scene.bot.pull(scene.number).await.unwrap().state, PullState::Open);
    merge(&scene, &order(&pushed, MergeMethod::Squash, "Seen")).await.unwrap();
    let merged = scene.bot.pull(scene.number).await.unwrap();
    assert_eq!((merged.state, &merged.head.sha), (PullState::Merged, &pushed));
    // Twice is once.
    assert!(merge(&scene, &order(&pushed, MergeMethod::Squash, "Seen")).await.is_err());
}

/// Each method leaves the history that its name promises, and the words that it was given.
pub async fn a_merge_carries_its_words(stage: Arc<dyn Stage>) {
    for (method, parents) in [(MergeMethod::Merge, 2), (MergeMethod::Squash, 1), (MergeMethod::Rebase, 1)] {
        let scene = Scene::apart(&stage, "words").await;
        settled(&scene).await;
        if stage.has_accounts() {
            let refused = stage.forge_as(Who::Stranger).merge(scene.number, &order(&scene.head, method, "Mine")).await;
            assert!(refused.is_err(), "a stranger merges");
        }
        match merge(&scene, &order(&scene.head, method, "A title")).await {
            // Where a project is set to merge commits, there is no other way to merge in it.
            Err(ForgeFault::Unsupported { .. }) if method == MergeMethod::Rebase => continue,
            done => done.unwrap(),
        }
        let checkout = stage.checkout();
        checkout.git(&["fetch", "--quiet", "origin", "+refs/heads/main:refs/remotes/origin/main"]).await;
        let shown = checkout.git(&["log", "-1", "--format=%P%n%B", "refs/remotes/origin/main"]).await;
        let (found, message) = shown.split_once('\n').expect("parents and a message");
        assert_eq!(found.split_whitespace().count(), parents, "{method:?}");
        if method != MergeMethod::Rebase {
            assert!(message.starts_with("A title") && message.contains("What it is for."), "{method:?}: {message}");
        }
    }
}

pub async fn a_branch_is_brought_up_to_date(stage: Arc<dyn Stage>) {
    let scene = Scene::apart(&stage, "behind").await;
    let can = scene.bot.capabilities().await.unwrap().can(Capability::UpdateBranch);
    let base = stage.push("main", &[(&format!("{}.txt", scene.branch), Some("new\n"))], "the base moves on").await;
    let wrong = Sha::from("0123456789012345678901234567890123456789");
    let refused = scene.bot.update_branch(scene.number, &wrong).await;
    if !can {
        assert!(matches!(refused, Err(ForgeFault::Unsupported { .. })), "{refused:?}");
        return;
    }
    assert!(matches!(refused, Err(ForgeFault::Conflict { .. })), "{refused:?}");
    scene.bot.update_branch(scene.number, &scene.head).await.unwrap();
    eventually("the head moves", async || scene.bot.pull(scene.number).await.unwrap().head.sha != scene.head).await;
    let checkout = stage.checkout();
    checkout.git(&["fetch", "--quiet", "origin", &format!("+refs/heads/{0}:refs/remotes/origin/{0}", scene.branch)]).await;
    let branch = format!("refs/remotes/origin/{}", scene.branch);
    checkout.git(&["merge-base", "--is-ancestor", base.as_str(), &branch]).await;
}
