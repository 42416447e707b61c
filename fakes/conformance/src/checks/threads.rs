//! Conversations on lines.

use crate::Voice as _;
use crate::scene::{ADDED, CHANGED, CONTEXT, DELETED, Scene};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewReview, Thread};

/// More than any forge puts on one page unasked.
const MANY: u32 = 65;

/// On the new side and on the old one, from us and from somebody else, in the order they were said.
pub async fn a_reply_joins_its_thread(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "reply").await;
    let comments = vec![scene.comment(Side::New, ADDED, "a claim"), scene.comment(Side::Old, DELETED, "another")];
    scene.submit("", comments).await;
    for claim in ["a claim", "another"] {
        let author = stage.forge_as(Who::Author);
        author.reply(scene.number, &scene.thread(claim).await, "why?").await.unwrap();
        scene.bot.reply(scene.number, &scene.thread(claim).await, "because").await.unwrap();
        let thread = scene.thread(claim).await;
        assert_eq!(bodies(&thread), [claim, "why?", "because"]);
        if stage.has_accounts() {
            assert!(thread.comments[1].author.is(&author.identity().await.unwrap()));
            assert!(thread.comments[2].author.is(&thread.comments[0].author));
        }
    }
    assert_eq!(scene.threads().await.len(), 2);
    assert!(scene.bot.comments(scene.number).await.unwrap().is_empty(), "a reply is no comment on the whole");
}

fn bodies(thread: &Thread) -> Vec<&str> {
    thread.comments.iter().map(|comment| comment.body.as_str()).collect()
}

pub async fn a_thread_is_resolved_and_taken_up_again(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "resolve").await;
    scene.submit("", vec![scene.comment(Side::New, ADDED, "one"), scene.comment(Side::New, CONTEXT, "other")]).await;
    let thread = scene.thread("one").await;
    let can = scene.bot.capabilities().await.unwrap().can(Capability::Resolve);
    let done = scene.bot.resolve(scene.number, &thread).await;
    if !can {
        assert!(matches!(done, Err(ForgeFault::Unsupported { .. })), "{done:?}");
        assert!(matches!(scene.bot.unresolve(scene.number, &thread).await, Err(ForgeFault::Unsupported { .. })));
        return;
    }
    done.unwrap();
    let resolved = scene.thread("one").await;
    let me = scene.bot.identity().await.unwrap();
    assert!(resolved.resolved && resolved.resolved_by.is_none_or(|by| by.is(&me)));
    assert!(!scene.thread("other").await.resolved);
    // Once more is no fault, and an answer does not open it again.
    scene.bot.resolve(scene.number, &thread).await.unwrap();
    scene.bot.reply(scene.number, &thread, "fixed").await.unwrap();
    assert!(scene.thread("one").await.resolved);
    scene.bot.unresolve(scene.number, &thread).await.unwrap();
    assert!(!scene.thread("one").await.resolved);
}

pub async fn many_threads_are_all_there(stage: Arc<dyn Stage>) {
    let lines: String = (1..=MANY).map(|line| format!("line {line}\n")).collect();
    let scene = Scene::with(&stage, "many-threads", "one line\n", &lines).await;
    let comments = (1..=MANY).map(|line| scene.comment(Side::New, line, &format!("on {line}"))).collect();
    scene.submit("Many.", comments).await;
    let mut found: Vec<Option<u32>> = scene.threads().await.into_iter().map(|thread| thread.line).collect();
    found.sort_unstable();
    assert_eq!(found, (1..=MANY).map(Some).collect::<Vec<_>>());
}

/// The same line number of a later head is other code: its comment is a conversation of its own, with a resolution of its own.
pub async fn a_later_head_does_not_mix_threads(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "rounds").await;
    scene.submit("", vec![scene.comment(Side::New, CHANGED, "first round")]).await;
    let text: String = (1..=20).map(|line| format!("quite another line {line}\n")).collect();
    let head = stage.push(&scene.branch, &[(&scene.path, Some(&text))], "rewritten").await;
    let review = NewReview { commit: head, ..scene.review("", vec![scene.comment(Side::New, CHANGED, "second round")]) };
    scene.bot.submit(scene.number, &review).await.unwrap();
    assert_eq!(bodies(&scene.thread("first round").await), ["first round"]);
    assert_eq!(bodies(&scene.thread("second round").await), ["second round"]);
}

/// After its file is gone a thread can still be read and answered.
pub async fn a_thread_outlives_its_line(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "outlived").await;
    scene.submit("", vec![scene.comment(Side::New, ADDED, "soon gone")]).await;
    stage.push(&scene.branch, &[(&scene.path, None), ("kept.txt", Some("kept\n"))], "deleted").await;
    scene.bot.reply(scene.number, &scene.thread("soon gone").await, "gone indeed").await.unwrap();
    assert_eq!(bodies(&scene.thread("soon gone").await), ["soon gone", "gone indeed"]);
}
