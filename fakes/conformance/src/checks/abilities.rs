//! What a forge is said to be able to do is tried; what it is said not to be able to do is seen not to be there.

use crate::scene::{ADDED, CHANGED, Scene, eventually};
use crate::stage::Stage;
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::fault::ForgeFault;

async fn claims(scene: &Scene, capability: Capability) -> bool {
    scene.bot.capabilities().await.unwrap().can(capability)
}

/// Comments that came in one call belong to its review.
pub async fn a_review_and_its_comments_are_one(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "one-call").await;
    let comments = vec![scene.comment(Side::New, ADDED, "first"), scene.comment(Side::New, CHANGED, "second")];
    let submitted = scene.submit("Both.", comments).await;
    let threads = scene.threads().await;
    let belong = threads.iter().all(|thread| thread.comments[0].review.as_ref() == Some(&submitted));
    assert_eq!((threads.len(), belong), (2, claims(&scene, Capability::OneCallReview).await), "{threads:#?}");
}

/// A comment on a line that the diff does not show is put on the file, or is said not to have been posted: by GitHub with a reason, by Gitea
/// with a fault of its own.
pub async fn what_has_no_line_is_not_lost(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "no-line").await;
    let review = scene.review("", vec![scene.comment(Side::New, 4000, "somewhere")]);
    let submitted = scene.bot.submit(scene.number, &review).await;
    let threads = scene.threads().await;
    if claims(&scene, Capability::FileLevel).await {
        let thread = scene.thread("somewhere").await;
        assert_eq!((submitted.unwrap().refused, thread.line, thread.path), (Vec::new(), None, scene.path.clone()));
        return;
    }
    match submitted {
        Ok(submitted) if submitted.refused == [0] => assert_eq!(threads, []),
        Ok(submitted) => assert_eq!((submitted.refused.len(), threads.len()), (0, 1), "{threads:#?}"),
        Err(fault) => {
            assert!(matches!(fault, ForgeFault::Refused { .. }) || fault.is_uncertain(), "{fault:?}");
            assert_eq!(threads, []);
        }
    }
}

pub async fn a_comment_on_lost_code_is_outdated(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "outdated").await;
    scene.submit("", vec![scene.comment(Side::New, ADDED, "of this")]).await;
    let text: String = (1..=20).map(|line| format!("quite another line {line}\n")).collect();
    stage.push(&scene.branch, &[(&scene.path, Some(&text))], "rewritten").await;
    if claims(&scene, Capability::Outdated).await {
        eventually("the thread is out of date", async || scene.thread("of this").await.outdated == Some(true)).await;
    } else {
        assert_eq!(scene.thread("of this").await.outdated, None);
    }
}

pub async fn an_unchanged_pull_is_not_sent_again(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "unchanged").await;
    let claimed = claims(&scene, Capability::ConditionalRequests).await;
    assert_eq!(stage.is_not_sent_again(scene.number).await, claimed);
}
