//! Reviews, whole.

use crate::scene::{ADDED, CHANGED, CONTEXT, DELETED, Scene};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewReview, ReviewEvent, ReviewState};

/// More reviews than fit on one page of any forge that pages them.
const MANY: usize = 55;

/// CF-16: inline comments on an added, a changed, an unchanged and a deleted line, at the head that was read.
pub async fn comments_stand_where_they_were_put(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "places").await;
    let places = [
        (Side::New, ADDED, "on the added line"),
        (Side::New, CHANGED, "on the changed line"),
        (Side::New, CONTEXT, "on an unchanged line"),
        (Side::Old, DELETED, "on the deleted line"),
        (Side::Old, CHANGED, "on the line before the change"),
    ];
    let comments = places.iter().map(|(side, line, body)| scene.comment(*side, *line, body)).collect();
    let submitted = scene.submit("The whole review.", comments).await;
    let me = scene.bot.identity().await.unwrap();
    let reviews = scene.bot.reviews(scene.number).await.unwrap();
    let review = reviews.iter().find(|review| review.id == submitted).expect("the review that was submitted");
    assert_eq!((review.state, review.commit.as_ref()), (ReviewState::Commented, Some(&scene.head)));
    assert!(review.body.contains("The whole review.") && review.author.is(&me), "{review:?}");
    let threads = scene.threads().await;
    assert_eq!(threads.len(), places.len(), "{threads:#?}");
    for (side, line, body) in places {
        let thread = threads.iter().find(|thread| thread.first().is_some_and(|first| first.body == body)).expect(body);
        assert_eq!((thread.path.as_str(), thread.line, thread.side), (&*scene.path, Some(line), side), "{body}");
        assert!(!thread.resolved && thread.resolved_by.is_none() && thread.outdated != Some(true), "{thread:?}");
        assert!(thread.comments.len() == 1 && thread.comments[0].author.is(&me), "{thread:?}");
    }
}

/// Where several lines cannot be had, the comment stands on the last one.
pub async fn several_lines_end_at_the_last(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "range").await;
    let mut comment = scene.comment(Side::New, ADDED + 1, "on three lines");
    comment.start_line = Some(ADDED - 1);
    scene.submit("", vec![comment]).await;
    let thread = scene.thread("on three lines").await;
    assert_eq!((thread.line, thread.side), (Some(ADDED + 1), Side::New));
    let can = scene.bot.capabilities().await.unwrap().can(Capability::MultiLine);
    assert_eq!(thread.start_line, can.then_some(ADDED - 1));
}

/// CF-16: a review names the head it was written for, whatever was pushed since.
pub async fn a_review_keeps_its_commit(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "frozen").await;
    let submitted = scene.submit("Read.", vec![scene.comment(Side::New, ADDED, "here")]).await;
    stage.push(&scene.branch, &[("other.txt", Some("more\n"))], "more").await;
    let reviews = scene.bot.reviews(scene.number).await.unwrap();
    let review = reviews.iter().find(|review| review.id == submitted).expect("the review");
    assert_eq!(review.commit.as_ref(), Some(&scene.head));
}

pub async fn an_approval_and_a_refusal_are_told_apart(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "verdict").await;
    if !scene.bot.capabilities().await.unwrap().can(Capability::Approve) {
        let review = NewReview { event: ReviewEvent::Approve, ..scene.review("A verdict.", Vec::new()) };
        let refused = scene.bot.submit(scene.number, &review).await;
        assert!(matches!(refused, Err(ForgeFault::Unsupported { .. })), "{refused:?}");
        return;
    }
    for (event, state) in
        [(ReviewEvent::RequestChanges, ReviewState::ChangesRequested), (ReviewEvent::Approve, ReviewState::Approved)]
    {
        let review = NewReview { event, ..scene.review("A verdict.", Vec::new()) };
        let submitted = scene.bot.submit(scene.number, &review).await.unwrap().review;
        let reviews = scene.bot.reviews(scene.number).await.unwrap();
        let found = reviews.iter().find(|review| review.id == submitted).expect("the review");
        assert_eq!((found.state, found.commit.as_ref()), (state, Some(&scene.head)));
    }
}

/// forges.md 8, 10: what a crash left behind is seen by us alone, and can be removed before it joins the next review.
pub async fn a_draft_is_seen_and_deleted(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "pending").await;
    if !stage.leave_pending(scene.number, &scene.path, ADDED, "left behind").await {
        return;
    }
    let pending = async |who| {
        let reviews = stage.forge_as(who).reviews(scene.number).await.unwrap();
        reviews.into_iter().filter(|review| review.state == ReviewState::Pending).map(|review| review.id).collect::<Vec<_>>()
    };
    let ours = pending(Who::Bot).await;
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!((pending(Who::Author).await.len(), pending(Who::Maintainer).await.len()), (0, 0));
    assert!(scene.threads().await.is_empty(), "a draft was said to nobody");
    scene.bot.delete_pending(scene.number, &ours[0]).await.unwrap();
    assert!(pending(Who::Bot).await.is_empty());
    scene.submit("", vec![scene.comment(Side::New, CHANGED, "the only one")]).await;
    assert_eq!(scene.threads().await.len(), 1);
}

pub async fn a_submitted_review_is_no_draft(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "kept").await;
    let submitted = scene.submit("Said.", vec![scene.comment(Side::New, ADDED, "said")]).await;
    assert!(scene.bot.delete_pending(scene.number, &submitted).await.is_err());
    assert_eq!(scene.threads().await.len(), 1);
}

pub async fn many_reviews_are_all_there(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "many-reviews").await;
    for index in 0..MANY {
        scene.submit(&format!("review {index}"), Vec::new()).await;
    }
    scene.submit("", vec![scene.comment(Side::New, ADDED, "behind them all")]).await;
    let reviews = scene.bot.reviews(scene.number).await.unwrap();
    let with_words = reviews.iter().filter(|review| review.body.contains("review ")).count();
    assert_eq!(with_words, MANY);
    scene.thread("behind them all").await;
}

pub async fn a_reviewer_can_be_asked(stage: Arc<dyn Stage>) {
    if !stage.has_accounts() {
        return;
    }
    let scene = Scene::new(&stage, "asked").await;
    let owner = stage.forge_as(Who::Maintainer).identity().await.unwrap();
    scene.bot.request_review(scene.number, &[owner.login]).await.unwrap();
    // To be asked is not to have reviewed.
    assert!(scene.bot.reviews(scene.number).await.unwrap().is_empty());
}
