//! The client for Gitea on a real Gitea server.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use forge_conformance::{Checkout, run};
use gitea_peer::{AUTHOR, BOT, GiteaPeer, GiteaStage, MAINTAINER, STRANGER};
use lossy_proxy::{Harm, LossyProxy, Rule};
use reqwest::Method;
use serde_json::json;
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::facts::Permission;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::{ForgeKind, Project};
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, ReviewState};
use tribunal_forge::detect::detect;
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::port::{Discuss as _, Read as _, ReviewPull as _};

/// forges.md 8: what every forge client must do.
#[tokio::test(flavor = "multi_thread")]
async fn the_conformance_suite_holds() {
    let Some(stage) = GiteaStage::start("shop").await else { return };
    run(Arc::new(stage), &[]).await;
}

/// One pull request with twenty new lines in `a.txt`.
struct Opened {
    peer: GiteaPeer,
    path: String,
    checkout: Checkout,
    number: u64,
    head: Sha,
}

async fn opened(name: &str) -> Option<Opened> {
    let peer = GiteaPeer::start().await?;
    let path = peer.create_repo(name).await;
    peer.add_collaborator(&path, AUTHOR, "read").await;
    let checkout = peer.checkout(&path, MAINTAINER).await;
    let lines: String = (1..=20).map(|line| format!("line {line}\n")).collect();
    let head = checkout.push("idea", &[("a.txt", Some(&lines))], "an idea").await;
    let number = peer.open_pull(&path, AUTHOR, "idea", "main", "An idea").await;
    Some(Opened { peer, path, checkout, number, head })
}

impl Opened {
    fn review(&self, lines: &[u32]) -> NewReview {
        let comment = |line: &u32| NewComment {
            path: "a.txt".into(),
            old_path: "a.txt".into(),
            side: Side::New,
            line: *line,
            start_line: None,
            body: format!("on {line}").into(),
        };
        let comments = lines.iter().map(comment).collect();
        NewReview { commit: self.head.clone(), event: ReviewEvent::Comment, body: "".into(), comments }
    }

    fn through(&self, proxy: &LossyProxy, cache: Option<&std::path::Path>) -> Gitea {
        let project = Project { origin: proxy.origin(), path: self.path.clone() };
        let bound = BoundToken::given_for_url(&proxy.origin(), self.peer.token(BOT)).unwrap();
        Gitea::new(project, Flavour::Gitea, Some(bound), cache.map(Into::into)).unwrap()
    }
}

/// forges.md 0: told without a token.
#[tokio::test(flavor = "multi_thread")]
async fn it_is_recognised() {
    let Some(peer) = GiteaPeer::start().await else { return };
    assert_eq!(detect(&peer.origin()).await, Ok(ForgeKind::Gitea));
    let nobody = Gitea::new(peer.project("a/b"), Flavour::Gitea, Some(peer.bound("wrong")), None).unwrap();
    assert!(matches!(nobody.identity().await, Err(ForgeFault::Unauthorized { .. })));
}

/// forges.md 3.x, 12 and 8, 18: reads follow a renamed repository, writes say that it moved. A write that followed would have been
/// turned into a read, and looked like a success.
#[tokio::test(flavor = "multi_thread")]
async fn a_renamed_repository_is_read_and_not_written() {
    let Some(opened) = opened("old-name").await else { return };
    let rename = json!({ "name": "new-name" });
    opened.peer.api(MAINTAINER, Method::PATCH, &format!("/repos/{}", opened.path), Some(rename)).await;
    let bot = opened.peer.client(BOT, &opened.path);
    assert_eq!(bot.pull(opened.number).await.unwrap().number, opened.number);
    let moved = bot.comment(opened.number, &"hello".into()).await;
    assert!(matches!(&moved, Err(ForgeFault::Moved { to, .. }) if to.contains("new-name")), "{moved:?}");
    assert!(bot.comments(opened.number).await.unwrap().is_empty());
}

/// forges.md 3.x, 1 and 3: a line behind the end of the file fails the review and leaves a draft. Unless it is deleted, the next
/// review carries the draft's comments too, and is not taken for what was sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_review_leaves_a_draft_behind() {
    let Some(opened) = opened("drafts").await else { return };
    let bot = opened.peer.client(BOT, &opened.path);
    let fail = async || {
        let failed = bot.submit(opened.number, &opened.review(&[3, 999])).await;
        assert!(failed.as_ref().is_err_and(ForgeFault::is_uncertain), "{failed:?}");
        let reviews = bot.reviews(opened.number).await.unwrap();
        reviews.into_iter().find(|review| review.state == ReviewState::Pending).expect("a draft").id
    };
    fail().await;
    let swept = bot.submit(opened.number, &opened.review(&[7])).await;
    assert!(swept.as_ref().is_err_and(ForgeFault::is_uncertain), "{swept:?}");
    assert_eq!(bot.threads(opened.number).await.unwrap().len(), 2);
    let draft = fail().await;
    bot.delete_pending(opened.number, &draft).await.unwrap();
    bot.submit(opened.number, &opened.review(&[9])).await.unwrap();
    assert_eq!(bot.threads(opened.number).await.unwrap().len(), 3);
}

/// Design rule 9: a write whose answer is lost is sent once, and is said to be uncertain.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_uncertain_and_sent_once() {
    let Some(opened) = opened("lossy").await else { return };
    let proxy = LossyProxy::start(&opened.peer.origin());
    let bot = opened.through(&proxy, None);
    for harm in [Harm::DropAnswer, Harm::CutAnswer, Harm::AnswerInstead(502), Harm::Garble] {
        proxy.forget();
        proxy.add(Rule::first("POST", "/pulls/*/reviews", harm.clone()));
        let sent = bot.submit(opened.number, &opened.review(&[3])).await;
        assert!(sent.as_ref().is_err_and(ForgeFault::is_uncertain), "{harm:?}: {sent:?}");
        assert_eq!(proxy.count("POST", "/**"), 1);
        proxy.assert_used_up();
    }
    assert_eq!(bot.threads(opened.number).await.unwrap()[0].comments.len(), 4);
    // A read that fails is asked again.
    proxy.forget();
    proxy.add(Rule::first("GET", "/pulls/*", Harm::RefuseWith(502)));
    bot.pull(opened.number).await.unwrap();
    assert_eq!(proxy.count("GET", "/pulls/*"), 2);
}

/// A second look costs little: whom the token speaks for is known, and what the server can do costs its version.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_learned_is_kept() {
    let Some(opened) = opened("kept").await else { return };
    let proxy = LossyProxy::start(&opened.peer.origin());
    let cache = tempfile::tempdir().unwrap();
    let first = opened.through(&proxy, Some(cache.path()));
    let learned = (first.identity().await.unwrap(), first.capabilities().await.unwrap());
    assert_eq!(first.counts(), (3, 0));
    let second = opened.through(&proxy, Some(cache.path()));
    assert_eq!((second.identity().await.unwrap(), second.capabilities().await.unwrap()), learned);
    second.capabilities().await.unwrap();
    assert_eq!(second.counts(), (1, 0));
}

/// forges.md 3, capability by version: a server without a route for replies gets a review on the same line and commit, which joins.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_route_for_it_a_reply_still_joins() {
    let Some(opened) = opened("older").await else { return };
    let proxy = LossyProxy::start(&opened.peer.origin());
    // Without the list of routes the version decides; this one is told as an older server would.
    proxy.add(Rule::every("GET", "/swagger.v1.json", Harm::RefuseWith(404)));
    proxy.add(Rule::every("GET", "/version", Harm::AnswerWith(r#"{"version":"1.25.4"}"#.into())));
    let bot = opened.through(&proxy, None);
    bot.submit(opened.number, &opened.review(&[3, 5])).await.unwrap();
    opened.checkout.push("idea", &[("b.txt", Some("more\n"))], "more").await;
    let threads = bot.threads(opened.number).await.unwrap();
    bot.reply(opened.number, &threads[0], &"an answer".into()).await.unwrap();
    assert_eq!(proxy.count("POST", "/replies"), 0);
    let threads = bot.threads(opened.number).await.unwrap();
    assert_eq!(threads.iter().map(|thread| thread.comments.len()).collect::<Vec<_>>(), [2, 1]);
}

/// CF-10: in an organisation a bot that does not administer cannot tell who may write, and then nobody is said to.
#[tokio::test(flavor = "multi_thread")]
async fn rights_that_cannot_be_known_are_not_guessed() {
    let Some(peer) = GiteaPeer::start().await else { return };
    peer.api(MAINTAINER, Method::POST, "/orgs", Some(json!({ "username": "guild" }))).await;
    let repository = json!({ "name": "shop", "auto_init": true, "default_branch": "main" });
    peer.api(MAINTAINER, Method::POST, "/orgs/guild/repos", Some(repository)).await;
    peer.add_collaborator("guild/shop", BOT, "write").await;
    let stranger = peer.client(STRANGER, "guild/shop").identity().await.unwrap();
    let bot = peer.client(BOT, "guild/shop");
    let refused = bot.permission(&stranger).await;
    assert!(matches!(refused, Err(ForgeFault::Forbidden { .. })), "{refused:?}");
    assert_eq!(bot.permission(&bot.identity().await.unwrap()).await, Ok(Permission::Write));
    peer.add_collaborator("guild/shop", BOT, "admin").await;
    assert_eq!(bot.permission(&stranger).await, Ok(Permission::Read));
}

/// Issue 16: the server cuts the list of what happened into pages and then leaves comments on lines and some mentions out. However many
/// of them somebody adds, a change of the base after them is seen.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_hides_no_change_of_the_base() {
    let Some(opened) = opened("flood").await else { return };
    let peer = &opened.peer;
    opened.checkout.push("develop", &[("b.txt", Some("more\n"))], "more").await;
    let number = opened.number;
    let comment = |at: usize| json!({ "path": "a.txt", "new_position": at % 20 + 1, "body": "well" });
    let review = json!({ "event": "COMMENT", "body": "", "comments": (0..220).map(comment).collect::<Vec<_>>() });
    peer.api(AUTHOR, Method::POST, &format!("/repos/{}/pulls/{number}/reviews", opened.path), Some(review)).await;
    let private = json!({ "name": "diary", "private": true, "auto_init": true });
    peer.api(AUTHOR, Method::POST, "/user/repos", Some(private)).await;
    let issue = format!("/repos/{AUTHOR}/diary/issues");
    peer.api(AUTHOR, Method::POST, &issue, Some(json!({ "title": "An issue" }))).await;
    for _ in 0..160 {
        let mention = json!({ "body": format!("{}#{number}", opened.path) });
        peer.api(AUTHOR, Method::POST, &format!("{issue}/1/comments"), Some(mention)).await;
    }
    let bot = peer.client(BOT, &opened.path);
    assert_eq!(bot.base_changed_at(number).await, Ok(None));
    let pull = format!("/repos/{}/pulls/{number}", opened.path);
    peer.api(AUTHOR, Method::PATCH, &pull, Some(json!({ "base": "develop" }))).await;
    assert!(bot.base_changed_at(number).await.unwrap().is_some());
}

/// Issue 16: a change of the base makes the server forget who pushed. In a fork to which others may push, that is said.
#[tokio::test(flavor = "multi_thread")]
async fn pushers_that_the_server_forgot_are_unknown() {
    let Some(opened) = opened("forgotten").await else { return };
    let (peer, path) = (&opened.peer, &opened.path);
    opened.checkout.push("develop", &[("b.txt", Some("more\n"))], "more").await;
    let fork = peer.fork(path, AUTHOR, "theirs").await;
    let theirs = peer.checkout(&fork, AUTHOR).await;
    theirs.push("change", &[("c.txt", Some("one\n"))], "one").await;
    let number = peer.open_pull(path, AUTHOR, &format!("{AUTHOR}:change"), "develop", "A change").await;
    let bot = peer.client(BOT, path);
    let pushers = async || {
        let pull = bot.pull(number).await.unwrap();
        bot.pushers(&pull).await.map(|pushers| pushers.into_iter().map(|account| account.login).collect::<Vec<_>>())
    };
    let aim = async |base: &str| {
        let pull = format!("/repos/{path}/pulls/{number}");
        peer.api(AUTHOR, Method::PATCH, &pull, Some(json!({ "base": base }))).await;
    };
    // Nobody else may push to it.
    aim("main").await;
    assert!(pushers().await.is_ok());
    let collaborator = format!("/repos/{fork}/collaborators/{STRANGER}");
    peer.api(AUTHOR, Method::PUT, &collaborator, Some(json!({ "permission": "write" }))).await;
    peer.checkout(&fork, STRANGER).await.push("change", &[("d.txt", Some("two\n"))], "two").await;
    assert!(matches!(pushers().await, Err(ForgeFault::Unsupported { .. })), "{:?}", pushers().await);
    aim("develop").await;
    let told = pushers().await;
    assert!(matches!(told, Err(ForgeFault::Unsupported { .. })), "{told:?}");
}
