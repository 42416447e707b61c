//! What is Forgejo's own. Numbers are those of forges.md 8 and of its section 3.x.

use crate::stage::{ForgejoStage, PATH};
use fake_forge_base::Times;
use fake_forgejo::{Quirk, Rules, Team};
use forge_conformance::{Stage as _, Who};
use reqwest::Method;
use serde_json::json;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{Account, AccountKind, MergeMethod, MergeOrder, Mergeable, Permission, PullFilter};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, ReviewState};
use tribunal_forge::port::{CheckCommit as _, Discuss as _, Merge as _, Read as _, Resolve as _, ReviewPull as _};

struct Request {
    stage: ForgejoStage,
    number: u64,
    head: Sha,
}

async fn request() -> Request {
    of_version("16.0.2+gitea-1.22.0").await
}

async fn of_version(version: &str) -> Request {
    let stage = ForgejoStage::with(Rules { version: version.into(), ..Rules::default() }).await;
    stage.push("main", &[("a.txt", Some("one\ntwo\nthree\nfour\n"))], "before").await;
    let head = stage.push("change", &[("a.txt", Some("one\nTWO\nTHREE\nfour\n"))], "change").await;
    let number = stage.open_pull("change", "main", "A change", "").await;
    Request { stage, number, head }
}

impl Request {
    fn review(&self, comments: Vec<NewComment>) -> NewReview {
        NewReview { commit: self.head.clone(), event: ReviewEvent::Comment, body: "Summary.".into(), comments }
    }
}

fn comment(line: u32, start_line: Option<u32>) -> NewComment {
    let (path, old_path) = ("a.txt".to_owned(), "a.txt".to_owned());
    NewComment { path, old_path, side: Side::New, line, start_line, body: format!("on line {line}").into() }
}

/// 10 and 3.x.1: what failed in the middle stays as a draft of ours, is seen and can be removed; the next review has no more in it
/// than was sent.
#[tokio::test]
async fn half_a_review_stays_until_it_is_removed() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    for quirk in [Quirk::HalfReview, Quirk::CutReview] {
        it.stage.server.arm(quirk, Times::Once);
        let fault = bot.submit(it.number, &it.review(vec![comment(2, None), comment(3, None)])).await.unwrap_err();
        assert!(fault.is_uncertain(), "{fault}");
        let reviews = bot.reviews(it.number).await.unwrap();
        let pending: Vec<_> = reviews.iter().filter(|review| review.state == ReviewState::Pending).collect();
        assert_eq!(pending.len(), 1, "{reviews:?}");
        assert!(it.stage.client(Who::Stranger).reviews(it.number).await.unwrap().is_empty(), "nobody else sees it");
        bot.delete_pending(it.number, &pending[0].id).await.unwrap();
    }
    bot.submit(it.number, &it.review(vec![comment(2, None), comment(3, None)])).await.unwrap();
    assert_eq!(bot.threads(it.number).await.unwrap().len(), 2);
}

/// What was left behind is swept into the next review, which is then not reported as done.
#[tokio::test]
async fn a_review_that_took_more_along_is_uncertain() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    assert!(it.stage.leave_pending(it.number, "a.txt", 2, "left behind").await);
    let fault = bot.submit(it.number, &it.review(vec![comment(3, None)])).await.unwrap_err();
    assert!(fault.is_uncertain(), "{fault}");
}

/// 3.x.2: two at once mix their comments, and both are answered with 200.
#[tokio::test]
async fn mixed_reviews_are_noticed() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    it.stage.server.arm(Quirk::MixedReview, Times::Once);
    let fault = bot.submit(it.number, &it.review(vec![comment(2, None), comment(3, None)])).await.unwrap_err();
    assert!(fault.is_uncertain(), "{fault}");
    let reviews = bot.reviews(it.number).await.unwrap();
    assert_eq!(reviews.len(), 2, "{reviews:?}");
}

/// 3.x.3: a line behind the end, or an unknown commit, fails *and* leaves a draft; a wrong word makes a draft without failing.
#[tokio::test]
async fn bad_reviews_leave_drafts() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    let unknown = NewReview { commit: "0".repeat(40).as_str().into(), ..it.review(vec![comment(2, None)]) };
    for review in [it.review(vec![comment(2, None), comment(900, None)]), unknown] {
        assert!(bot.submit(it.number, &review).await.unwrap_err().is_uncertain());
        let reviews = bot.reviews(it.number).await.unwrap();
        assert_eq!(reviews.iter().map(|review| review.state).collect::<Vec<_>>(), [ReviewState::Pending]);
        bot.delete_pending(it.number, &reviews[0].id).await.unwrap();
    }
    let path = format!("{PATH}/pulls/{}/reviews", it.number);
    let (status, said) = it.stage.send(Who::Bot, Method::POST, &path, json!({ "event": "APPROVE", "body": "x" })).await;
    assert_eq!((status, said["state"].as_str()), (200, Some("PENDING")));
}

/// A list that comes short of its count was not read: what stands in the rest would be said again. Other people's drafts are counted
/// and not shown, and what was submitted stands among the events too.
#[tokio::test]
async fn a_list_short_of_its_count_is_no_list() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    bot.comment(it.number, &"said".into()).await.unwrap();
    bot.submit(it.number, &it.review(vec![comment(2, None), comment(3, None)])).await.unwrap();
    let hollow = |fault: ForgeFault| matches!(fault, ForgeFault::Hollow { .. });
    it.stage.server.arm(Quirk::EmptyList, Times::Once);
    assert!(hollow(bot.comments(it.number).await.unwrap_err()));
    it.stage.server.arm(Quirk::EmptyList, Times::Once);
    assert!(hollow(bot.reviews(it.number).await.unwrap_err()));
    let listed = bot.reviews(it.number).await.unwrap();
    assert_eq!((listed.len(), bot.threads(it.number).await.unwrap().len()), (1, 2));
    it.stage.server.arm(Quirk::EmptyList, Times::Once);
    assert!(hollow(bot.pulls(&PullFilter::default()).await.unwrap_err()));
    assert!(it.stage.leave_pending(it.number, "a.txt", 2, "not said").await);
    assert_eq!(it.stage.client(Who::Stranger).reviews(it.number).await.unwrap().len(), 1, "a draft of somebody else");
}

/// 16: stored and not answered is uncertain, is not sent again, and can be found.
#[tokio::test]
async fn a_lost_answer_is_no_failure_and_no_success() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    it.stage.server.arm(Quirk::LostComment, Times::Once);
    it.stage.server.arm(Quirk::LostReview, Times::Once);
    assert!(bot.comment(it.number, &"mine".into()).await.unwrap_err().is_uncertain());
    assert!(bot.submit(it.number, &it.review(vec![comment(2, None)])).await.unwrap_err().is_uncertain());
    assert_eq!(bot.comments(it.number).await.unwrap()[0].body, "mine");
    assert_eq!((bot.reviews(it.number).await.unwrap().len(), bot.threads(it.number).await.unwrap().len()), (1, 1));
}

/// forges.md 3: no thread can be resolved, and a reply is a comment added to the first one's review.
#[tokio::test]
async fn a_reply_joins_and_nothing_is_resolved() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    let capabilities = bot.capabilities().await.unwrap();
    assert!(!capabilities.can(Capability::Resolve) && capabilities.can(Capability::MultiLine), "{capabilities:?}");
    bot.submit(it.number, &it.review(vec![comment(2, None)])).await.unwrap();
    let thread = bot.threads(it.number).await.unwrap().remove(0);
    it.stage.client(Who::Author).reply(it.number, &thread, &"thanks".into()).await.unwrap();
    let threads = bot.threads(it.number).await.unwrap();
    let said: Vec<_> = threads[0].comments.iter().map(|comment| (&*comment.author.login, &*comment.body)).collect();
    assert_eq!((threads.len(), said), (1, vec![("bot", "on line 2"), ("author", "thanks")]));
    assert!(matches!(bot.resolve(it.number, &thread).await, Err(ForgeFault::Unsupported { .. })));
}

/// Several lines from 16 on: the first one and how many follow. Before, the last line.
#[tokio::test]
async fn several_lines_are_for_new_servers() {
    for (version, several) in [("16.0.2+gitea-1.22.0", true), ("15.0.1+gitea-1.22.0", false)] {
        let it = of_version(version).await;
        let bot = it.stage.client(Who::Bot);
        assert_eq!(bot.capabilities().await.unwrap().can(Capability::MultiLine), several);
        bot.submit(it.number, &it.review(vec![comment(3, Some(2))])).await.unwrap();
        assert_eq!(bot.threads(it.number).await.unwrap()[0].line, Some(3), "{version}");
        let thread = bot.threads(it.number).await.unwrap().remove(0);
        bot.reply(it.number, &thread, &"and another thing".into()).await.unwrap();
        assert_eq!(bot.threads(it.number).await.unwrap().len(), 1, "{version}: the reply is in the thread");
        let sent = it.stage.server.log();
        let sent = String::from_utf8_lossy(&sent.matching("POST", "/reviews")[0].request_body).into_owned();
        assert_eq!(sent.contains("extra_lines_count"), several, "{version}: {sent}");
    }
}

/// Without the list of routes the version decides.
#[tokio::test]
async fn a_server_without_its_swagger_is_guessed() {
    let it = request().await;
    it.stage.server.with(|_, site| site.rules().has_swagger = false);
    let can = it.stage.client(Who::Bot).capabilities().await.unwrap();
    assert!(can.can(Capability::MultiLine) && !can.can(Capability::Resolve), "{can:?}");
}

/// 6: 409 for a head that moved, 405 for whatever else; "not mergeable" may only mean that nobody has looked yet.
#[tokio::test]
async fn a_merge_is_guarded() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    let order =
        |head: &str| MergeOrder { head: head.into(), method: MergeMethod::Squash, title: "T".into(), message: "m".into() };
    it.stage.server.with(|base, _| base.faults.arm(Quirk::StillChecking, Times::Count(2)));
    assert_eq!(bot.pull(it.number).await.unwrap().mergeable, Mergeable::Unknown);
    assert!(bot.merge(it.number, &order(it.head.as_str())).await.unwrap_err().may_pass(), "it asks to try again later");
    assert!(matches!(bot.merge(it.number, &order(&"0".repeat(40))).await, Err(ForgeFault::Conflict { .. })));
    bot.merge(it.number, &order(it.head.as_str())).await.unwrap();
    let tip = it.stage.checkout().tip("main").await.unwrap();
    it.stage.checkout().git(&["fetch", "-q", "origin", tip.as_str()]).await;
    assert_eq!(it.stage.checkout().git(&["log", "-1", "--format=%B", tip.as_str()]).await, "T\n\nm");
}

/// 18: reads follow a rename; a write says where the repository is now and has done nothing.
#[tokio::test]
async fn a_renamed_repository_is_followed_by_reads_alone() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    it.stage.server.with(|base, _| base.rename_project(PATH, "maintainer/store"));
    assert_eq!(bot.pull(it.number).await.unwrap().head.sha, it.head);
    assert!(matches!(bot.comment(it.number, &"lost".into()).await, Err(ForgeFault::Moved { .. })));
}

/// 20: the head of a deleted fork is still there to be read.
#[tokio::test]
async fn a_deleted_fork_is_no_repository() {
    let it = request().await;
    let number = it.stage.open_pull_from_fork(Who::Stranger, true).await.unwrap();
    let pull = it.stage.client(Who::Bot).pull(number).await.unwrap();
    assert_eq!((pull.is_fork, pull.head.repository.as_deref()), (true, None));
    it.stage.checkout().git(&["fetch", "-q", "origin", &format!("refs/pull/{number}/head")]).await;
    assert_eq!(it.stage.checkout().git(&["rev-parse", "FETCH_HEAD"]).await, pull.head.sha.as_str());
}

/// Design rule 8.
#[tokio::test]
async fn a_hollow_answer_is_not_believed() {
    let it = request().await;
    it.stage.server.arm(Quirk::Hollow, Times::Once);
    assert!(matches!(it.stage.client(Who::Bot).pull(it.number).await, Err(ForgeFault::Hollow { .. })));
}

/// forges.md 3: a status names a job by its place in a run; from version 17 on the log is found from there, and no other job's is taken.
#[tokio::test]
async fn a_log_is_found_by_the_place_of_its_job() {
    let it = of_version("17.0.0+gitea-1.22.0").await;
    let bot = it.stage.client(Who::Bot);
    assert!(bot.capabilities().await.unwrap().can(Capability::CheckLogs));
    for log in ["the first\n", "the second\n"] {
        it.stage.fail_job("change", log.trim(), log).await.unwrap();
    }
    for name in ["the first", "the second"] {
        let check = bot.checks(&it.head).await.unwrap().into_iter().find(|check| check.name == name).unwrap();
        assert_eq!(bot.check_log(&check).await.unwrap(), Some(format!("{name}\n")));
    }
}

/// In an organisation the server says `write` of whoever may write anything at all. Only who may write code counts as a writer, and what
/// is hidden from the token counts for nobody.
#[tokio::test]
async fn a_team_of_the_wiki_writes_no_code() {
    let team = |id, name: &str, unit: &str, members: &[&str], is_hidden| Team {
        id,
        name: name.into(),
        units: [("repo.code".to_owned(), "read".to_owned()), (unit.to_owned(), "write".to_owned())].into(),
        members: members.iter().map(|login| (*login).to_owned()).collect(),
        is_hidden,
    };
    let asked = async |teams: Vec<Team>, who: Who| {
        let stage = ForgejoStage::with(Rules { teams, ..Rules::default() }).await;
        let account = stage.client(who).identity().await.unwrap();
        assert_eq!(account.kind, AccountKind::Unknown);
        stage.client(Who::Maintainer).permission(&Account { ..account }).await
    };
    let wiki = || team(1, "wiki", "repo.wiki", &["stranger"], false);
    let code = || team(2, "code", "repo.code", &["stranger"], false);
    assert_eq!(asked(vec![wiki()], Who::Stranger).await.unwrap(), Permission::Read);
    assert_eq!(asked(vec![wiki(), code()], Who::Stranger).await.unwrap(), Permission::Write);
    // A collaborator with the right to write, and no team that could have made the word.
    assert_eq!(asked(vec![wiki()], Who::Author).await.unwrap(), Permission::Write);
    let both = || team(3, "issues", "repo.issues", &["author"], false);
    assert_eq!(asked(vec![both()], Who::Author).await.unwrap(), Permission::Read, "which of both it is nobody can tell");
    let hidden = team(4, "hidden", "repo.issues", &["author"], true);
    assert!(matches!(asked(vec![hidden], Who::Author).await, Err(ForgeFault::Forbidden { .. })));
}
