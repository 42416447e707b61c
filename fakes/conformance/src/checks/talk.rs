//! Comments under the pull request as a whole.

use crate::Voice as _;
use crate::scene::Scene;
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::pull::fault::ForgeFault;

/// More than any forge puts on one page unasked, and more than Gitea puts on one at all.
const MANY: usize = 65;

pub async fn comments_come_and_go(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "talk").await;
    let made = scene.bot.comment(scene.number, "first").await.unwrap();
    stage.forge_as(Who::Author).comment(scene.number, "second").await.unwrap();
    let bodies = async || {
        let comments = scene.bot.comments(scene.number).await.unwrap();
        comments.into_iter().map(|comment| comment.body).collect::<Vec<_>>()
    };
    assert_eq!(bodies().await, ["first", "second"]);
    let comments = scene.bot.comments(scene.number).await.unwrap();
    assert_eq!(comments[0], made);
    assert!(made.author.is(&scene.bot.identity().await.unwrap()), "{made:?}");
    if stage.has_accounts() {
        assert!(!comments[1].author.is(&made.author));
    }
    scene.bot.edit_comment(scene.number, &made.id, "first, edited").await.unwrap();
    assert_eq!(bodies().await, ["first, edited", "second"]);
    scene.bot.delete_comment(scene.number, &made.id).await.unwrap();
    assert_eq!(bodies().await, ["second"]);
    let gone = scene.bot.edit_comment(scene.number, &made.id, "too late").await;
    assert!(matches!(gone, Err(ForgeFault::NotFound { .. })), "{gone:?}");
    // A comment is no review, and no thread.
    assert!(scene.bot.reviews(scene.number).await.unwrap().is_empty());
    assert!(scene.threads().await.is_empty());
}

/// Markers are found again only if a forge gives back what it was given.
pub async fn any_text_comes_back_as_it_was(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "text").await;
    let bodies = [
        "<!-- tribunal:v1 {\"a\":\"b\\\"c\"} -->\nvisible",
        "Grüße 🦀 漢字 — e\u{301} \u{200b}zero width",
        "| a | b |\n|---|---|\n| `x` | y |\n\n```suggestion\nlet x = 1;\n```",
        "<details><summary>more</summary>\n\n- [x] done\n\n</details>",
    ];
    for body in bodies {
        let made = scene.bot.comment(scene.number, body).await.unwrap();
        assert_eq!(made.body, body);
    }
    let read: Vec<String> = scene.bot.comments(scene.number).await.unwrap().into_iter().map(|comment| comment.body).collect();
    assert_eq!(read, bodies);
}

/// What a forge says that it takes, it takes.
pub async fn a_long_comment_fits(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "long").await;
    let limit = scene.bot.capabilities().await.unwrap().body_limit;
    assert!(limit >= 10_000, "{limit}");
    let body: String = "0123456789abcde\n".chars().cycle().take(limit - 1).chain(['!']).collect();
    let made = scene.bot.comment(scene.number, &body).await.unwrap();
    let read = scene.bot.comments(scene.number).await.unwrap();
    assert!(read.iter().any(|comment| comment.id == made.id && comment.body == body), "{limit} bytes did not come back");
}

pub async fn many_comments_are_all_there(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "many-comments").await;
    stage.seed_comments(scene.number, MANY).await;
    let comments = scene.bot.comments(scene.number).await.unwrap();
    let mut ids: Vec<&str> = comments.iter().map(|comment| comment.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((comments.len(), ids.len()), (MANY, MANY));
    assert!(comments.windows(2).all(|pair| pair[0].created_at <= pair[1].created_at), "oldest first");
}
