//! What is GitLab's own. Numbers are those of forges.md 8.

use crate::stage::{GitLabStage, PATH, arm, client, id, token};
use fake_forge_base::{Level, Times};
use fake_gitlab::Quirk;
use forge_conformance::{Stage as _, Who};
use reqwest::Method;
use serde_json::json;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{AccountKind, CheckState, MergeMethod, MergeOrder, Mergeable, Permission, PullFilter};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::{Emoji, NewComment, NewReview, NewStatus, ReactionTarget, ReviewEvent, ReviewState};
use tribunal_forge::gitlab::{GitLab, Token};
use tribunal_forge::http::pace::Pace;
use tribunal_forge::port::{CheckCommit as _, Discuss as _, Issues as _, Merge as _, React as _, Read as _, ReviewPull as _};

struct Request {
    stage: GitLabStage,
    number: u64,
    head: Sha,
}

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";
const AFTER: &str = "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

async fn request() -> Request {
    let stage = GitLabStage::new().await;
    stage.push("main", &[("a.txt", Some(BEFORE))], "before").await;
    let head = stage.push("change", &[("a.txt", Some(AFTER)), ("new.txt", Some("x\ny\nz\n"))], "change").await;
    let number = stage.open_pull("change", "main", "A change", "").await;
    Request { stage, number, head }
}

impl Request {
    fn review(&self, comments: Vec<NewComment>) -> NewReview {
        NewReview { commit: self.head.clone(), event: ReviewEvent::Comment, body: "Summary.".into(), comments }
    }

    fn order(&self, head: &Sha) -> MergeOrder {
        MergeOrder { head: head.clone(), method: MergeMethod::Squash, title: "Merged".into(), message: "".into() }
    }

    fn log(&self, method: &str, words: &str) -> usize {
        self.stage.server.with(|base, _| base.log.matching(method, words).len())
    }
}

fn comment(path: &str, line: u32, start_line: Option<u32>) -> NewComment {
    let (path, old_path) = (path.to_owned(), path.to_owned());
    NewComment { path, old_path, side: Side::New, line, start_line, body: format!("on line {line}").into() }
}

/// 13: while a request is being prepared it is waited for; when that takes too long, nothing is made up.
#[tokio::test]
async fn a_request_in_preparation_is_waited_for() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    arm(&it.stage, Quirk::Preparing, Times::Count(2));
    let pull = bot.pull(it.number).await.unwrap();
    assert_eq!((pull.mergeable, pull.changed_files, &pull.head.sha), (Mergeable::Yes, Some(2), &it.head));
    arm(&it.stage, Quirk::Preparing, Times::Always);
    let pull = bot.pull(it.number).await.unwrap();
    assert_eq!((pull.mergeable, pull.changed_files, &pull.head.sha), (Mergeable::Unknown, None, &it.head));
    assert!(bot.submit(it.number, &it.review(vec![])).await.unwrap_err().may_pass());
    assert_eq!(it.log("POST", "draft_notes"), 0);
}

/// 13: a merge always names the head; 405 says nothing, the request says why.
#[tokio::test]
async fn a_merge_is_guarded_and_its_refusal_explained() {
    let it = request().await;
    let path = format!("/merge_requests/{}/merge", it.number);
    let (status, said) = it.stage.send(Who::Bot, Method::PUT, &path, json!({})).await;
    assert_eq!((status, said["message"].as_str()), (400, Some("SHA must be provided when merging")));

    let bot = it.stage.client(Who::Bot);
    let stale = bot.merge(it.number, &it.order(&"0".repeat(40).as_str().into())).await.unwrap_err();
    assert!(matches!(stale, ForgeFault::Conflict { .. }), "{stale}");
    let project = it.stage.project_id();
    it.stage.server.with(|_, site| site.hold_up(project, it.number, Some("ci_still_running")));
    let waiting = bot.merge(it.number, &it.order(&it.head)).await.unwrap_err();
    assert!(waiting.to_string().contains("ci still running"), "{waiting}");
    it.stage.server.with(|_, site| site.hold_up(project, it.number, None));

    it.stage.push("main", &[("a.txt", Some("one\n2\nthree\n"))], "meanwhile").await;
    assert_eq!(bot.pull(it.number).await.unwrap().mergeable, Mergeable::Conflict);
    let conflict = bot.merge(it.number, &it.order(&it.head)).await.unwrap_err();
    assert!(matches!(&conflict, ForgeFault::Refused { status: 405, message, .. } if message.contains("conflict")), "{conflict}");
    let stranger = it.stage.client(Who::Stranger).merge(it.number, &it.order(&it.head)).await.unwrap_err();
    assert!(matches!(stranger, ForgeFault::Forbidden { .. }), "{stranger}");
}

/// How a project merges is its own setting.
#[tokio::test]
async fn a_rebase_needs_a_project_that_rebases() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    let order = MergeOrder { method: MergeMethod::Rebase, ..it.order(&it.head) };
    assert!(matches!(bot.merge(it.number, &order).await, Err(ForgeFault::Unsupported { .. })));
    it.stage.server.with(|_, site| site.rules().merge_method = "ff".into());
    bot.merge(it.number, &order).await.unwrap();
    let tip = it.stage.checkout().tip("main").await.unwrap();
    it.stage.checkout().git(&["fetch", "-q", "origin", tip.as_str()]).await;
    assert_eq!(it.stage.checkout().git(&["log", "-1", "--format=%s", tip.as_str()]).await, "change");
}

/// An author's kind stands in an answer of its own. Where that fails nobody becomes a person by it, and the next look asks again.
#[tokio::test]
async fn a_failed_look_up_makes_nobody_a_person() {
    let it = request().await;
    it.stage.client(Who::Author).comment(it.number, &"/tribunal dismiss F1 fine".into()).await.unwrap();
    let bot = it.stage.client(Who::Bot);
    arm(&it.stage, Quirk::BrokenUser, Times::Once);
    let kind = async || bot.comments(it.number).await.unwrap()[0].author.kind;
    assert_eq!((kind().await, kind().await), (AccountKind::Unread, AccountKind::Person));
}

/// 14: a note that comes too fast was not stored, and is sent once more after the wait that was asked for.
#[tokio::test]
async fn a_note_waits_for_its_turn() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    arm(&it.stage, Quirk::NoteLimit, Times::Once);
    bot.comment(it.number, &"patient".into()).await.unwrap();
    assert_eq!(bot.comments(it.number).await.unwrap().len(), 1);
    arm(&it.stage, Quirk::NoteLimit, Times::Always);
    assert!(matches!(bot.comment(it.number, &"never".into()).await, Err(ForgeFault::Limited { seconds: Some(1), .. })));
    assert_eq!(bot.comments(it.number).await.unwrap().len(), 1);
}

/// 16: what was stored and not answered is uncertain, is not sent again, and can be found.
#[tokio::test]
async fn a_lost_answer_is_no_failure_and_no_success() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    arm(&it.stage, Quirk::LostNote, Times::Once);
    assert!(bot.comment(it.number, &"mine".into()).await.unwrap_err().is_uncertain());
    assert_eq!(it.log("POST", "/notes"), 1);
    assert_eq!(bot.comments(it.number).await.unwrap()[0].body, "mine");

    arm(&it.stage, Quirk::LostPublish, Times::Once);
    assert!(bot.submit(it.number, &it.review(vec![comment("a.txt", 2, None)])).await.unwrap_err().is_uncertain());
    let reviews = bot.reviews(it.number).await.unwrap();
    assert_eq!(
        reviews.iter().map(|review| (review.state, &*review.body)).collect::<Vec<_>>(),
        [(ReviewState::Commented, "Summary.")]
    );
    assert_eq!(bot.threads(it.number).await.unwrap().len(), 1);
}

/// A draft that could not be made takes the others with it: nothing is published, nothing stays.
#[tokio::test]
async fn half_a_review_is_none() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    it.stage.server.with(|base, _| base.faults.arm_after(Quirk::BrokenDraft, 1, Times::Once));
    let fault =
        bot.submit(it.number, &it.review(vec![comment("a.txt", 2, None), comment("new.txt", 1, None)])).await.unwrap_err();
    assert!(fault.is_uncertain(), "{fault}");
    assert!(bot.reviews(it.number).await.unwrap().is_empty());
    assert!(bot.threads(it.number).await.unwrap().is_empty() && bot.comments(it.number).await.unwrap().is_empty());
    // And the next one is whole, with one call that tells people.
    bot.submit(it.number, &it.review(vec![comment("a.txt", 2, None), comment("new.txt", 1, None)])).await.unwrap();
    assert_eq!((bot.threads(it.number).await.unwrap().len(), it.log("POST", "bulk_publish")), (2, 1));
}

/// forges.md 4: SHAs that belong to no version make GitLab fail; we take them from the version that was reviewed.
#[tokio::test]
async fn a_position_is_of_the_version_that_was_read() {
    let it = request().await;
    let position = json!({
        "position_type": "text", "base_sha": it.head, "start_sha": it.head, "head_sha": it.head,
        "old_path": "a.txt", "new_path": "a.txt", "new_line": 2,
    });
    let path = format!("/merge_requests/{}/discussions", it.number);
    assert_eq!(it.stage.send(Who::Bot, Method::POST, &path, json!({ "body": "x", "position": position })).await.0, 500);

    // The branch moves on; the review of what was read still lands, and on its line.
    it.stage.push("change", &[("a.txt", Some(&format!("zero\n{AFTER}")))], "more").await;
    let bot = it.stage.client(Who::Bot);
    bot.submit(it.number, &it.review(vec![comment("a.txt", 2, None)])).await.unwrap();
    let unknown = NewReview { commit: "0".repeat(40).as_str().into(), ..it.review(vec![]) };
    assert!(matches!(bot.submit(it.number, &unknown).await, Err(ForgeFault::Conflict { .. })));
    it.stage.push("change", &[("new.txt", Some("x\n"))], "even more").await;
    let thread = &bot.threads(it.number).await.unwrap()[0];
    assert_eq!((thread.path.as_str(), thread.line, thread.outdated), ("a.txt", Some(3), Some(false)));
    it.stage.push("change", &[("a.txt", Some("short\n"))], "rewritten").await;
    let thread = &bot.threads(it.number).await.unwrap()[0];
    assert_eq!((thread.path.as_str(), thread.line, thread.outdated), ("a.txt", None, Some(true)));
}

/// forges.md 4: unchanged lines need both numbers, ranges need codes; what fits nowhere stands on the file.
#[tokio::test]
async fn comments_stand_where_they_can() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    let mut on_old = comment("a.txt", 2, None);
    on_old.side = Side::Old;
    let wanted = vec![
        comment("a.txt", 2, None),
        on_old,
        comment("a.txt", 3, None),
        comment("a.txt", 11, None),
        comment("new.txt", 3, Some(1)),
        comment("a.txt", 3, Some(2)),
        comment("a.txt", 900, None),
    ];
    bot.submit(it.number, &it.review(wanted)).await.unwrap();
    let threads = bot.threads(it.number).await.unwrap();
    let places: Vec<_> = threads.iter().map(|thread| (&*thread.path, thread.side, thread.line)).collect();
    let at = |line| ("a.txt", Side::New, Some(line));
    let new = ("new.txt", Side::New, Some(3));
    assert_eq!(places, [at(2), ("a.txt", Side::Old, Some(2)), at(3), at(11), new, at(3), ("a.txt", Side::New, None)]);
    let ranges = it.stage.server.with(|base, _| {
        let sent = base.log.matching("POST", "draft_notes");
        sent.iter().filter(|entry| String::from_utf8_lossy(&entry.request_body).contains("line_range")).count()
    });
    assert_eq!(ranges, 2);
}

/// A draft that was taken and lost its place is put on its file instead.
#[tokio::test]
async fn a_comment_without_a_place_gets_one() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    arm(&it.stage, Quirk::PlacelessDraft, Times::Once);
    bot.submit(it.number, &it.review(vec![comment("a.txt", 2, None)])).await.unwrap();
    let threads = bot.threads(it.number).await.unwrap();
    assert_eq!(threads.iter().map(|thread| (&*thread.path, thread.line)).collect::<Vec<_>>(), [("a.txt", None)]);
    assert_eq!(bot.comments(it.number).await.unwrap().len(), 0, "the lost one is gone");
}

/// 409 when the head is not the reviewed one: then nothing was said either.
#[tokio::test]
async fn an_approval_is_bound_to_its_head() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    let approval = NewReview { event: ReviewEvent::Approve, ..it.review(vec![comment("a.txt", 2, None)]) };
    it.stage.push("change", &[("new.txt", Some("x\n"))], "more").await;
    assert!(matches!(bot.submit(it.number, &approval).await, Err(ForgeFault::Conflict { .. })));
    assert!(bot.threads(it.number).await.unwrap().is_empty() && bot.reviews(it.number).await.unwrap().is_empty());

    let head = bot.pull(it.number).await.unwrap().head.sha;
    let approval = NewReview { commit: head.clone(), ..approval };
    bot.submit(it.number, &approval).await.unwrap();
    // Once more is no error, although GitLab says 401 to it.
    bot.submit(it.number, &NewReview { comments: vec![], ..approval.clone() }).await.unwrap();
    let reviews = bot.reviews(it.number).await.unwrap();
    assert!(
        reviews.iter().all(|review| review.state == ReviewState::Approved && review.commit == Some(head.clone())),
        "{reviews:?}"
    );
    let seen = it.stage.client(Who::Maintainer).reviews(it.number).await.unwrap();
    assert_eq!(
        seen.iter().map(|review| (review.state, &*review.author.login)).collect::<Vec<_>>(),
        [(ReviewState::Approved, "bot")]
    );
    let stranger = it.stage.client(Who::Stranger).submit(it.number, &approval).await.unwrap_err();
    assert!(matches!(stranger, ForgeFault::Forbidden { .. }), "{stranger}");
}

/// An approval without its words carries no seal, and reads like one that a person gave.
#[tokio::test]
async fn an_approval_never_stands_without_its_words() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    arm(&it.stage, Quirk::LostPublish, Times::Once);
    let approval = NewReview { event: ReviewEvent::Approve, ..it.review(vec![comment("a.txt", 2, None)]) };
    assert!(bot.submit(it.number, &approval).await.is_err_and(|fault| fault.is_uncertain()));
    let seen = it.stage.client(Who::Maintainer).reviews(it.number).await.unwrap();
    assert!(seen.iter().all(|review| review.state != ReviewState::Approved), "{seen:?}");
}

/// 18: reads follow a rename; a write says where the project is now and has done nothing.
#[tokio::test]
async fn a_renamed_project_is_followed_by_reads_alone() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    it.stage.server.with(|base, _| base.rename_project(PATH, "acme/store"));
    assert_eq!(bot.pull(it.number).await.unwrap().head.sha, it.head);
    assert!(matches!(bot.comment(it.number, &"lost".into()).await, Err(ForgeFault::Moved { .. })));
    let url = it.stage.server.url();
    let renamed = client(&url, "acme/store", &token(Who::Bot)).unwrap();
    assert!(renamed.comments(it.number).await.unwrap().is_empty());
}

/// 20: the head of a deleted fork is still there to be read, in the base project.
#[tokio::test]
async fn a_deleted_fork_is_no_repository() {
    let it = request().await;
    let number = it.stage.open_pull_from_fork(Who::Stranger, true).await.unwrap();
    let bot = it.stage.client(Who::Bot);
    let pull = bot.pull(number).await.unwrap();
    assert_eq!((pull.is_fork, pull.head.repository.as_deref(), &*pull.head.branch), (true, None, "lost"));
    let source = bot.source(&pull);
    assert_eq!(source.head_ref, format!("refs/merge-requests/{number}/head"));
    it.stage.checkout().git(&["fetch", "-q", "origin", &source.head_ref]).await;
    assert_eq!(it.stage.checkout().git(&["rev-parse", "FETCH_HEAD"]).await, pull.head.sha.as_str());
    let filter = PullFilter { head_branch: Some("lost".into()), ..PullFilter::default() };
    assert!(bot.pulls(&filter).await.unwrap().is_empty(), "a branch of the same name in a fork is another branch");
}

/// Design rule 8: what lacks its head is no merge request.
#[tokio::test]
async fn a_hollow_answer_is_not_believed() {
    let it = request().await;
    arm(&it.stage, Quirk::Hollow, Times::Always);
    assert!(matches!(it.stage.client(Who::Bot).pull(it.number).await, Err(ForgeFault::Hollow { .. })));
}

/// A waiting status cannot be set to waiting; that is no failure. What is over is followed by a new one.
#[tokio::test]
async fn a_status_may_be_set_twice() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    for state in [CheckState::Pending, CheckState::Pending, CheckState::Failure, CheckState::Pending, CheckState::Success] {
        let status = NewStatus { context: "tribunal/review".into(), state, description: "x".into(), url: None };
        bot.set_status(&it.head, &status).await.unwrap();
        assert_eq!(bot.checks(&it.head).await.unwrap().iter().map(|check| check.state).collect::<Vec<_>>(), [state]);
    }
}

/// The old way of cancelling an automatic merge answers 201 whatever happened, the new one tells.
#[tokio::test]
async fn cancelling_tells_the_truth_in_its_new_form() {
    let it = request().await;
    arm(&it.stage, Quirk::UncancellableMerge, Times::Count(2));
    let path = |word: &str| format!("/merge_requests/{}/{word}", it.number);
    let old = it.stage.send(Who::Bot, Method::POST, &path("cancel_merge_when_pipeline_succeeds"), json!({})).await;
    let new = it.stage.send(Who::Bot, Method::POST, &path("cancel_auto_merge"), json!({})).await;
    assert_eq!((old.0, new.0), (201, 409));
}

/// Rebasing is done in the background and guarded by us; a failed one is told.
#[tokio::test]
async fn a_branch_is_brought_up_to_date() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    it.stage.push("main", &[("other.txt", Some("x\n"))], "meanwhile").await;
    let branch = |head: &Sha| Pushable::unchecked(it.number, "change", head);
    let late = bot.update_branch(&branch(&"0".repeat(40).as_str().into())).await;
    assert!(matches!(late, Err(ForgeFault::Conflict { .. })));
    arm(&it.stage, Quirk::BrokenRebase, Times::Once);
    assert!(matches!(bot.update_branch(&branch(&it.head)).await, Err(ForgeFault::Refused { .. })));
    bot.update_branch(&branch(&it.head)).await.unwrap();
    let pull = bot.pull(it.number).await.unwrap();
    assert_ne!(pull.head.sha, it.head);
    assert_eq!(Some(pull.base.sha), it.stage.checkout().tip("main").await);
}

/// An account is a bot only when GitLab says so, and each one is asked for once.
#[tokio::test]
async fn people_and_rights_are_read() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    bot.comment(it.number, &"one".into()).await.unwrap();
    bot.comment(it.number, &"two".into()).await.unwrap();
    let comments = bot.comments(it.number).await.unwrap();
    assert!(comments.iter().all(|comment| comment.author.kind == AccountKind::ServiceAccount));
    let author = bot.pull(it.number).await.unwrap().author;
    assert_eq!(author.kind, AccountKind::Person);
    assert_eq!(it.log("GET", &format!("/users/{}", id(Who::Author))), 2, "once by each of two clients");
    assert_eq!(bot.permission(&author).await.unwrap(), Permission::Write, "whose branch is in the project itself");
    let stranger = it.stage.client(Who::Stranger).identity().await.unwrap();
    assert_eq!(bot.permission(&stranger).await.unwrap(), Permission::Read, "everybody may read a public project");
    it.stage.server.with(|base, _| base.project_mut(PATH).unwrap().private = true);
    assert_eq!(bot.permission(&stranger).await.unwrap(), Permission::None);
    assert!(matches!(it.stage.client(Who::Stranger).pull(it.number).await, Err(ForgeFault::NotFound { .. })));
    it.stage.server.with(|base, _| base.people.grant(PATH, id(Who::Stranger), Level::Triage));
    assert_eq!(bot.permission(&stranger).await.unwrap(), Permission::Triage);
}

/// A token without the scope is told which one it lacks.
#[tokio::test]
async fn the_missing_scope_is_named() {
    let it = request().await;
    it.stage.server.with(|base, _| base.people.token("reader", id(Who::Bot), &["read_api"]));
    let reader = client(&it.stage.server.url(), PATH, "reader").unwrap();
    let fault = reader.comment(it.number, &"x".into()).await.unwrap_err();
    assert!(matches!(&fault, ForgeFault::Forbidden { needs: Some(needs), .. } if needs.contains("api")), "{fault}");
    let nobody = client(&it.stage.server.url(), PATH, "nobody").unwrap();
    assert!(matches!(nobody.pull(it.number).await, Err(ForgeFault::Unauthorized { .. })));
}

/// The same reaction twice is answered with 404 there, and is no failure here.
#[tokio::test]
async fn a_reaction_may_be_given_twice() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    for _ in 0..2 {
        bot.react(it.number, &ReactionTarget::Pull, Emoji::Eyes).await.unwrap();
    }
    assert_eq!(bot.reactions(it.number, &ReactionTarget::Pull).await.unwrap().len(), 1);
    let gone = ReactionTarget::Comment("1".into());
    assert!(bot.react(it.number, &gone, Emoji::Eyes).await.is_err());
}

/// Numbers of issues and merge requests overlap: the request is meant. Reviewers are added, never replaced.
#[tokio::test]
async fn labels_and_reviewers_go_to_the_request() {
    let it = request().await;
    let bot = it.stage.client(Who::Bot);
    bot.add_label(it.number, &"tribunal".into()).await.unwrap();
    assert_eq!(bot.pull(it.number).await.unwrap().labels, ["tribunal"]);
    bot.request_review(it.number, &["maintainer".into()]).await.unwrap();
    bot.request_review(it.number, &["stranger".into()]).await.unwrap();
    let path = format!("/merge_requests/{}", it.number);
    let reviewers = it.stage.send(Who::Bot, Method::GET, &path, json!({})).await.1["reviewers"].clone();
    assert_eq!(reviewers.as_array().unwrap().len(), 2);
    assert!(matches!(bot.request_review(it.number, &["ghost".into()]).await, Err(ForgeFault::NotFound { .. })));
}

/// Comments on a file came with 16.4.
#[tokio::test]
async fn an_old_server_can_less() {
    let it = request().await;
    assert!(it.stage.client(Who::Bot).capabilities().await.unwrap().can(Capability::FileLevel));
    it.stage.server.with(|_, site| site.rules().version = "15.11.13".into());
    let old = it.stage.client(Who::Bot).capabilities().await.unwrap();
    assert!(!old.can(Capability::FileLevel) && old.can(Capability::Resolve), "{old:?}");
}

/// forges.md 4, paging: by the number of the next page, or by its link where there is no number.
#[tokio::test]
async fn pages_are_followed_in_both_ways() {
    let it = request().await;
    it.stage.seed_comments(it.number, 250).await;
    let bot = it.stage.client(Who::Bot);
    assert_eq!(bot.comments(it.number).await.unwrap().len(), 250);
    arm(&it.stage, Quirk::LinkedPages, Times::Always);
    assert_eq!(bot.comments(it.number).await.unwrap().len(), 250);
}

/// A token of `CI_JOB_TOKEN` reads, and claims nothing that it may not do.
#[tokio::test]
async fn a_job_only_reads() {
    let it = request().await;
    let project = Project { origin: it.stage.server.url(), path: PATH.into() };
    let bound = BoundToken::given_for_url(&project.origin, &token(Who::Bot)).unwrap();
    let job = GitLab::new(project, Token::Job(bound), Pace::NONE, None).unwrap();
    assert_eq!(job.identity().await.unwrap().id, id(Who::Bot).to_string());
    assert_eq!(job.pull(it.number).await.unwrap().head.sha, it.head);
    let capabilities = job.capabilities().await.unwrap();
    assert!(!capabilities.can(Capability::Approve) && !capabilities.can(Capability::CommitStatus), "{capabilities:?}");
    assert!(matches!(job.comment(it.number, &"x".into()).await, Err(ForgeFault::Forbidden { .. })));
}
