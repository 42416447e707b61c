//! What is GitHub's own. Numbers are those of forges.md, section 8.

use crate::contract;
use crate::stage::{GitHubStage, PATH, id, token};
use crate::tour::{remark, review};
use fake_forge_base::Times;
use fake_github::Quirk;
use forge_conformance::{Stage as _, Who};
use serde_json::json;
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::facts::{CheckState, MergeMethod, MergeOrder, Mergeable, PullFilter};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;
use tribunal_core::pull::talk::{NewReview, NewStatus, ReviewEvent, ReviewState};
use tribunal_forge::github::{GitHub, Settings};
use tribunal_forge::http::pace::Pace;
use tribunal_forge::port::{CheckCommit, Discuss, Issues, Merge, Read, Resolve, ReviewPull};

/// 1: one bad anchor and nothing is posted; the words name the rule and not the entry. So the client finds the entry by halves, with
/// drafts that it removes, and posts the rest as one review.
#[tokio::test]
async fn q1_a_bad_anchor_does_not_take_the_others_with_it() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("one").await;
    let bot = stage.client(Who::Bot);
    let good = || remark("one.txt", Side::New, 5, None, "good");
    let bad = [
        remark("one.txt", Side::New, 25, None, "far from every hunk"),
        remark("one.txt", Side::Old, 3, None, "unchanged, and on the left"),
        remark("one.txt", Side::New, 35, Some(5), "from hunk to hunk"),
        remark("two.txt", Side::New, 1, None, "no such file"),
    ];
    for (n, bad) in bad.into_iter().enumerate() {
        let submitted = bot.submit(number, &review(&head, vec![good(), bad, good()])).await.unwrap();
        assert_eq!(submitted.refused, [1]);
        assert_eq!((bot.reviews(number).await.unwrap().len(), bot.threads(number).await.unwrap().len()), (n + 1, 2 * (n + 1)));
    }
    contract::check(&stage.server.log());
}

/// 2: GraphQL takes a line outside the diff and shows it to nobody; the client never goes that way.
#[tokio::test]
async fn q2_a_thread_outside_the_diff_is_taken_and_invisible() {
    let stage = GitHubStage::new().await;
    let (number, _) = stage.pull("two").await;
    let document = "mutation Add { addPullRequestReviewThread(input: {}) { thread { id line } } }";
    let variables = json!({ "owner": "acme", "name": "shop", "number": number, "path": "two.txt", "line": 25, "body": "lost" });
    let body = json!({ "query": document, "variables": variables });
    let (status, said) = stage.send(Who::Bot, "POST", "/api/graphql", "application/json", &body).await;
    assert_eq!((status, &said["data"]["addPullRequestReviewThread"]["thread"]["line"]), (200, &json!(null)));
    assert_eq!(stage.client(Who::Bot).threads(number).await.unwrap(), []);
}

/// A name belongs to nobody: what another account or app reports under it hides no red check, and a workflow that the change adds
/// reports as the same app as every other.
#[tokio::test]
async fn a_check_of_somebody_else_hides_no_red_one() {
    let stage = GitHubStage::new().await;
    let (_, head) = stage.pull("checks").await;
    let (ci, author) = (stage.client(Who::Maintainer), stage.client(Who::Author));
    let status = |state| NewStatus { context: "tests".into(), state, description: "".into(), url: None };
    let red = async |name: &str| {
        let checks = ci.checks(&head).await.unwrap();
        checks.into_iter().filter(|check| check.name == name && check.state == CheckState::Failure).count()
    };
    ci.set_status(&head, &status(CheckState::Failure)).await.unwrap();
    author.set_status(&head, &status(CheckState::Success)).await.unwrap();
    assert_eq!(red("tests").await, 1, "a status");
    ci.set_status(&head, &status(CheckState::Success)).await.unwrap();
    assert_eq!(red("tests").await, 0, "whoever set it may replace it");
    let report = |conclusion: &str, by: (u64, u64)| {
        stage.server.with(|base, site| site.report_run(base, head.as_str(), "build", conclusion, by));
    };
    report("failure", (1, 10));
    report("success", (2, 20));
    assert_eq!(red("build").await, 1, "a run of another app");
    report("success", (1, 11));
    assert_eq!(red("build").await, 1, "a run of another workflow");
    report("success", (1, 10));
    assert_eq!(red("build").await, 0, "the same workflow, run again");
    contract::check(&stage.server.log());
}

/// 3: the diff of a large pull request cannot be had from the API. The client fetches it with git, which has no such limits.
#[tokio::test]
async fn q3_a_diff_may_be_too_large_for_the_api_and_never_for_git() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("three").await;
    let path = format!("/api/v3/repos/{PATH}/pulls/{number}");
    for (quirk, status) in
        [(Quirk::DiffTooManyFiles, 406), (Quirk::DiffTooManyLines, 406), (Quirk::DiffTooSlow, 422), (Quirk::DiffTimeout, 504)]
    {
        stage.server.arm(quirk, Times::Once);
        let (found, body) = stage.send(Who::Bot, "GET", &path, "application/vnd.github.diff", &json!(null)).await;
        assert_eq!(found, status, "{quirk:?}");
        assert_eq!(status == 406, body["errors"][0]["code"] == "too_large");
    }
    let bot = stage.client(Who::Bot);
    let pull = bot.pull(number).await.unwrap();
    let source = bot.source(&pull);
    let checkout = stage.checkout();
    let header = format!("http.extraHeader=Authorization: {}", source.authorization.unwrap());
    checkout.git(&["-c", &header, "fetch", "--quiet", &source.url, &source.head_ref]).await;
    assert_eq!(checkout.git(&["rev-parse", "FETCH_HEAD"]).await, head.as_str());
}

/// 4: a file of the list may come without its patch.
#[tokio::test]
async fn q4_a_file_may_come_without_its_patch() {
    let stage = GitHubStage::new().await;
    let (number, _) = stage.pull("four").await;
    stage.server.arm(Quirk::Patchless, Times::Once);
    let path = format!("/api/v3/repos/{PATH}/pulls/{number}/files");
    let mut patches = Vec::new();
    for _ in 0..2 {
        let (_, files) = stage.send(Who::Bot, "GET", &path, "application/json", &json!(null)).await;
        patches.push(files[0]["patch"].is_string());
    }
    assert_eq!(patches, [false, true]);
    // The number of files is known all the same, so an empty diff cannot pass for a small change.
    assert_eq!(stage.client(Who::Bot).pull(number).await.unwrap().changed_files, Some(1));
}

/// 5: after a push comments stand elsewhere or nowhere, and reviews say what they were written for.
#[tokio::test]
async fn q5_comments_move_with_a_push_and_reviews_do_not() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("five").await;
    let bot = stage.client(Who::Bot);
    let comments = vec![remark("five.txt", Side::New, 5, None, "changes"), remark("five.txt", Side::New, 9, None, "moves")];
    bot.submit(number, &review(&head, comments)).await.unwrap();
    let text = stage.checkout().git(&["show", "HEAD:five.txt"]).await;
    let text = format!("a line on top\n{}\n", text.replacen("changed\n", "changed again\n", 1));
    let pushed = stage.push("five", &[("five.txt", Some(&text))], "more").await;
    let threads = bot.threads(number).await.unwrap();
    let places: Vec<(Option<u32>, Option<bool>)> = threads.iter().map(|thread| (thread.line, thread.outdated)).collect();
    assert_eq!(places, [(None, Some(true)), (Some(10), Some(false))]);
    assert_eq!(bot.reviews(number).await.unwrap()[0].commit.as_ref(), Some(&head));
    let path = format!("/api/v3/repos/{PATH}/pulls/{number}/comments");
    let (_, notes) = stage.send(Who::Bot, "GET", &path, "application/json", &json!(null)).await;
    assert_eq!((&notes[0]["line"], &notes[0]["original_line"]), (&json!(null), &json!(5)));
    assert_eq!((&notes[1]["commit_id"], &notes[1]["original_commit_id"]), (&json!(pushed), &json!(head)));
    contract::check(&stage.server.log());
}

/// 6: a head that moved is a conflict, everything else that stands in the way is a refusal.
#[tokio::test]
async fn q6_a_moved_head_is_told_from_what_cannot_be_merged() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("six").await;
    let bot = stage.client(Who::Bot);
    let order = |head| MergeOrder { head, method: MergeMethod::Merge, title: "t".into(), message: "m".into() };
    let moved = stage.push("six", &[("more.txt", Some("more\n"))], "more").await;
    assert!(matches!(bot.merge(number, &order(head)).await, Err(ForgeFault::Conflict { .. })));
    stage.server.arm(Quirk::NotMergeable, Times::Once);
    assert!(matches!(bot.merge(number, &order(moved.clone())).await, Err(ForgeFault::Refused { status: 405, .. })));
    stage.push("main", &[("six.txt", Some("another file altogether\n"))], "a conflict").await;
    assert_eq!(bot.pull(number).await.unwrap().mergeable, Mergeable::Conflict);
    assert!(matches!(bot.merge(number, &order(moved.clone())).await, Err(ForgeFault::Refused { status: 405, .. })));
    assert!(matches!(stage.client(Who::Stranger).merge(number, &order(moved)).await, Err(ForgeFault::Forbidden { .. })));
    stage.server.arm(Quirk::MergeableUnknown, Times::Once);
    assert_eq!(bot.pull(number).await.unwrap().mergeable, Mergeable::Unknown);
    contract::check(&stage.server.log());
}

/// 7: a limit comes as a 403 that says nothing, or as a 200 of GraphQL with an error in it; neither is a missing right.
#[tokio::test]
async fn q7_limits_are_limits_in_every_disguise() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("seven").await;
    let bot = stage.client(Who::Bot);
    stage.server.arm(Quirk::SecondaryLimit, Times::Once);
    assert_eq!(limited(bot.pull(number).await), Some(60));
    stage.server.arm(Quirk::SecondaryLimit, Times::Once);
    assert_eq!(limited(bot.comment(number, &"x".into()).await), Some(60));
    stage.server.arm(Quirk::PrimaryLimit, Times::Once);
    assert!(limited(bot.pull(number).await).is_some_and(|seconds| (1700..=1800).contains(&seconds)));
    stage.server.arm(Quirk::GraphqlLimited, Times::Once);
    assert_eq!(limited(bot.threads(number).await), Some(60));
    stage.server.arm(Quirk::GraphqlLimited, Times::Once);
    assert_eq!(limited(bot.checks(&head).await), Some(60));
    // Nothing was stored meanwhile.
    assert_eq!(bot.comments(number).await.unwrap(), []);
}

fn limited<T: std::fmt::Debug>(answered: Result<T, ForgeFault>) -> Option<u64> {
    match answered {
        Err(ForgeFault::Limited { seconds, .. }) => seconds,
        other => panic!("no limit: {other:?}"),
    }
}

/// Design rule 8: no data, or data beside an error, is never an empty list.
#[tokio::test]
async fn half_an_answer_of_graphql_is_none() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("half").await;
    let bot = stage.client(Who::Bot);
    stage.server.arm(Quirk::GraphqlHollow, Times::Count(2));
    assert!(matches!(bot.threads(number).await, Err(ForgeFault::Hollow { .. })));
    assert!(matches!(bot.checks(&head).await, Err(ForgeFault::Hollow { .. })));
    stage.server.arm(Quirk::GraphqlHalf, Times::Count(2));
    assert!(matches!(bot.threads(number).await, Err(ForgeFault::Forbidden { .. })));
    assert!(matches!(bot.checks(&head).await, Err(ForgeFault::Forbidden { .. })));
    stage.server.arm(Quirk::SearchCutShort, Times::Count(2));
    assert!(matches!(bot.find_issues("anything").await, Err(ForgeFault::Hollow { .. })));
    let author = stage.client(Who::Author).identity().await.unwrap();
    assert!(matches!(bot.has_contributed(&author).await, Err(ForgeFault::Hollow { .. })));
}

/// 8: the second look costs nothing of the limit, but only with the same token. Whom a token speaks for is not asked twice.
#[tokio::test]
async fn q8_a_tag_dies_with_its_token() {
    let stage = GitHubStage::new().await;
    let (number, _) = stage.pull("eight").await;
    let folder = tempfile::tempdir().unwrap();
    let look = async |who| {
        stage.server.forget_log();
        let client = stage.client_with(stage.auth(&token(who)), Some(folder.path().into()));
        client.identity().await.unwrap();
        client.comments(number).await.unwrap();
        stage.server.log().entries.iter().map(|entry| entry.status).collect::<Vec<u16>>()
    };
    assert_eq!(look(Who::Bot).await, [200, 200]);
    assert_eq!(look(Who::Bot).await, [304]);
    assert_eq!(look(Who::Maintainer).await, [200, 200]);
    stage.client(Who::Author).comment(number, &"news".into()).await.unwrap();
    assert_eq!(look(Who::Bot).await, [200]);
}

/// 9: for a person's token too.
#[tokio::test]
async fn q9_resolving_may_be_denied_while_replying_is_allowed() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("nine").await;
    let bot = stage.client(Who::Bot);
    bot.submit(number, &review(&head, vec![remark("nine.txt", Side::New, 5, None, "here")])).await.unwrap();
    stage.server.arm(Quirk::ResolveDenied, Times::Once);
    let thread = bot.threads(number).await.unwrap().remove(0);
    assert_eq!(thread.can_resolve, Some(false));
    bot.reply(number, &thread, &"done".into()).await.unwrap();
    let denied = bot.resolve(number, &thread).await.unwrap_err();
    assert!(matches!(denied, ForgeFault::Forbidden { .. }), "{denied}");
    assert!(!bot.threads(number).await.unwrap()[0].resolved);
}

/// 16: what was stored before the answer got lost is not sent again by itself; whoever looks finds it.
#[tokio::test]
async fn q16_a_lost_answer_is_uncertain_and_never_sent_twice() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("sixteen").await;
    let bot = stage.client(Who::Bot);
    for quirk in [Quirk::AnswerLost, Quirk::StoredThenBadGateway] {
        stage.server.arm(quirk, Times::Once);
        assert!(bot.comment(number, &"once".into()).await.unwrap_err().is_uncertain(), "{quirk:?}");
    }
    assert_eq!(bot.comments(number).await.unwrap().len(), 2);
    stage.server.arm(Quirk::AnswerLost, Times::Once);
    let words = review(&head, vec![remark("sixteen.txt", Side::New, 5, None, "once")]);
    assert!(bot.submit(number, &words).await.unwrap_err().is_uncertain());
    assert_eq!((bot.reviews(number).await.unwrap().len(), bot.threads(number).await.unwrap().len()), (1, 1));
    // A read has nothing to lose, and is asked again.
    stage.server.arm(Quirk::BadGateway, Times::Count(2));
    assert_eq!(bot.comments(number).await.unwrap().len(), 2);
}

/// 17: a token is as long as it likes, and nothing that is said or printed shows it.
#[tokio::test]
async fn q17_a_long_token_works_and_is_never_shown() {
    let stage = GitHubStage::new().await;
    let bot = stage.client(Who::Bot);
    assert_eq!(bot.identity().await.unwrap().id, id(Who::Bot).to_string());
    let secret = "s3cr3t".repeat(100);
    let stranger = stage.client_with(stage.auth(&secret), None);
    let refused = stranger.pull(1).await.unwrap_err();
    assert!(matches!(refused, ForgeFault::Unauthorized { .. }));
    assert!(!format!("{refused} {refused:?}").contains("s3cr3t"));
    let project = Project { origin: stage.server.url(), path: PATH.into() };
    let broken = Settings { project, auth: stage.auth(&format!("{secret}\n")), cache: None, pace: Pace::NONE, patience: 1 };
    let refused = GitHub::new(broken).err().unwrap();
    assert!(!format!("{refused} {refused:?}").contains("s3cr3t"), "{refused}");
}

/// 18: reads follow a renamed repository on the same host; a write says that it moved, and nothing is written.
#[tokio::test]
async fn q18_a_renamed_repository_is_read_and_not_written() {
    let stage = GitHubStage::new().await;
    let (number, _) = stage.pull("eighteen").await;
    let bot = stage.client(Who::Bot);
    stage.server.with(|base, _| base.rename_project(PATH, "acme/store"));
    assert_eq!(bot.pull(number).await.unwrap().base.repository.as_deref(), Some("acme/store"));
    assert_eq!(bot.comments(number).await.unwrap(), []);
    assert_eq!(bot.threads(number).await.unwrap(), []);
    let moved = bot.comment(number, &"x".into()).await.unwrap_err();
    assert!(matches!(&moved, ForgeFault::Moved { to, .. } if to.contains("/repositories/")), "{moved}");
    assert_eq!(bot.comments(number).await.unwrap(), []);
}

/// 19: says that it is we who are too old.
#[tokio::test]
async fn q19_an_api_version_that_is_over_says_what_to_do() {
    let stage = GitHubStage::new().await;
    stage.server.arm(Quirk::VersionGone, Times::Once);
    let gone = stage.client(Who::Bot).pull(1).await.unwrap_err();
    assert!(matches!(&gone, ForgeFault::Refused { status: 410, message, .. } if message.contains("too old")), "{gone}");
    let log = stage.server.log();
    assert!(
        log.entries
            .iter()
            .filter(|entry| !entry.is_git)
            .all(|entry| entry.request_headers["x-github-api-version"] == "2022-11-28")
    );
}

/// 20: the head of a deleted fork is still in the base repository.
#[tokio::test]
async fn q20_a_deleted_fork_leaves_its_head_behind() {
    let stage = GitHubStage::new().await;
    let number = stage.open_pull_from_fork(Who::Stranger, true).await.unwrap();
    let bot = stage.client(Who::Bot);
    let pull = bot.pull(number).await.unwrap();
    assert_eq!((pull.is_fork, &pull.head.repository), (true, &None));
    let source = bot.source(&pull);
    let fetched = stage.checkout();
    fetched.git(&["fetch", "--quiet", "origin", &source.head_ref]).await;
    assert_eq!(fetched.git(&["rev-parse", "FETCH_HEAD"]).await, pull.head.sha.as_str());
    assert_eq!(bot.pulls(&PullFilter { head_branch: Some("gift".into()), ..PullFilter::default() }).await.unwrap(), []);
    contract::check(&stage.server.log());
}

/// forges.md 2.1: a pending review that a crash left behind is seen, blocks the next one, and can be taken away. Nobody else sees it.
#[tokio::test]
async fn a_pending_review_is_found_and_deleted() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("pending").await;
    assert!(stage.leave_pending(number, "pending.txt", 5, "never said").await);
    let bot = stage.client(Who::Bot);
    assert_eq!(stage.client(Who::Author).reviews(number).await.unwrap(), []);
    assert_eq!(bot.threads(number).await.unwrap(), [], "what is pending was not said");
    let pending = bot.reviews(number).await.unwrap().remove(0);
    assert_eq!(pending.state, ReviewState::Pending);
    let words = review(&head, vec![remark("pending.txt", Side::New, 5, None, "said")]);
    assert!(matches!(bot.submit(number, &words).await, Err(ForgeFault::Refused { status: 422, .. })));
    bot.delete_pending(number, &pending.id).await.unwrap();
    let submitted = bot.submit(number, &words).await.unwrap();
    assert!(matches!(bot.delete_pending(number, &submitted.review).await, Err(ForgeFault::Refused { status: 422, .. })));
    contract::check(&stage.server.log());
}

/// forges.md 1.2: nobody approves their own work.
#[tokio::test]
async fn ones_own_pull_request_cannot_be_approved() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("own").await;
    let approval =
        |body: &str| NewReview { commit: head.clone(), event: ReviewEvent::Approve, body: body.into(), comments: vec![] };
    let refused = stage.client(Who::Author).submit(number, &approval("mine")).await.unwrap_err();
    assert!(
        matches!(&refused, ForgeFault::Refused { status: 422, message, .. } if message.contains("own pull request")),
        "{refused}"
    );
    let bot = stage.client(Who::Bot);
    bot.submit(number, &approval("")).await.unwrap();
    assert_eq!(bot.reviews(number).await.unwrap()[0].state, ReviewState::Approved);
}

/// forges.md 2.6: threads have pages, and so do the comments of each.
#[tokio::test]
async fn threads_and_their_comments_are_read_to_the_end() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("pages").await;
    let bot = stage.client(Who::Bot);
    let comments = [4, 5, 6, 7, 8].map(|line| remark("pages.txt", Side::New, line, None, &format!("on {line}"))).to_vec();
    bot.submit(number, &review(&head, comments)).await.unwrap();
    let first = bot.threads(number).await.unwrap().remove(0);
    for index in 1..=4 {
        bot.reply(number, &first, &format!("reply {index}").into()).await.unwrap();
    }
    stage.server.with(|_, site| site.graphql_page = Some(2));
    let threads = bot.threads(number).await.unwrap();
    assert_eq!(threads.iter().map(|thread| thread.comments.len()).collect::<Vec<_>>(), [5, 1, 1, 1, 1]);
    assert_eq!(threads[0].comments[4].body, "reply 4");
    // A reply goes to the top of its thread: GitHub takes none to a reply.
    let path = format!("/api/v3/repos/{PATH}/pulls/{number}/comments/{}/replies", threads[0].comments[1].id);
    let (status, _) = stage.send(Who::Bot, "POST", &path, "application/json", &json!({ "body": "x" })).await;
    assert_eq!(status, 422);
    stage.seed_comments(number, 120).await;
    assert_eq!(bot.comments(number).await.unwrap().len(), 120);
    contract::check(&stage.server.log());
}

/// A person's pending reply makes a draft one that is not ours, however long the thread is that it ends.
#[tokio::test]
async fn a_draft_is_read_to_the_end_of_its_threads() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("one").await;
    let bot = stage.client(Who::Bot);
    bot.submit(number, &review(&head, vec![remark("one.txt", Side::New, 5, None, "good")])).await.unwrap();
    let on = stage.key(number);
    let draft = stage.server.with(|base, site| {
        site.graphql_page = Some(2);
        let draft = site.leave_pending(base, on, id(Who::Bot), &[]);
        let mut note = site.world.notes[0].clone();
        for n in 1..=3 {
            note.id += 1_000_000;
            note.body = format!("reply {n}");
            note.review = if n == 3 { draft } else { note.review };
            site.world.notes.push(note.clone());
        }
        draft
    });
    assert_eq!(bot.drafted(number, &draft.to_string()).await.unwrap(), ["reply 3"]);
}

/// Its two times are in whole seconds, so an edit in the same second does not show there; of a command it is asked for exactly.
#[tokio::test]
async fn an_edit_in_the_same_second_is_told() {
    let stage = GitHubStage::new().await;
    let (number, _) = stage.pull("edits").await;
    let (bot, author) = (stage.client(Who::Bot), stage.client(Who::Author));
    author.comment(number, &"/tribunal dismiss F1 only a test".into()).await.unwrap();
    let said = author.comment(number, &"I will look at it tomorrow.".into()).await.unwrap();
    stage.server.arm(Quirk::SameSecond, Times::Once);
    bot.edit_comment(number, &said.id, &"/tribunal dismiss F1 I say so".into()).await.unwrap();
    let comments = bot.comments(number).await.unwrap();
    let shown: Vec<(bool, bool)> =
        comments.iter().map(|comment| (comment.edited, comment.created_at == comment.updated_at)).collect();
    assert_eq!(shown, [(false, true), (true, true)]);
    // An issue is talked about in the same way.
    contract::check(&stage.server.log());
}
