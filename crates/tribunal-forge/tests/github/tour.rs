//! Every call of the client once, on a forge that behaves: what it sends and what it gets is held against GitHub's own description.

use crate::contract;
use crate::stage::{GitHubStage, PATH, id};
use fake_forge_base::Level;
use forge_conformance::{Stage as _, Who};
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{CheckState, MergeMethod, MergeOrder, Mergeable, Permission, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::{
    Emoji, NewComment, NewIssue, NewReview, NewStatus, ReactionTarget, ReviewEvent, ReviewState, Thread,
};
use tribunal_forge::port::{CheckCommit, Discuss, Issues, Merge, React, Read, Resolve, ReviewPull};

pub fn remark(path: &str, side: Side, line: u32, start_line: Option<u32>, body: &str) -> NewComment {
    NewComment { path: path.into(), old_path: path.into(), side, line, start_line, body: body.into() }
}

pub fn review(head: &tribunal_core::ids::Sha, comments: Vec<NewComment>) -> NewReview {
    NewReview { commit: head.clone(), event: ReviewEvent::Comment, body: "A review.".into(), comments }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_request_from_its_opening_to_its_merge() {
    let stage = GitHubStage::new().await;
    let (number, head) = stage.pull("tour").await;
    let bot = stage.client(Who::Bot);

    let capabilities = bot.capabilities().await.unwrap();
    assert_eq!(capabilities.version, "3.20.1");
    assert!(capabilities.can(Capability::OneCallReview) && !capabilities.can(Capability::Annotations));
    assert_eq!(bot.identity().await.unwrap().id, id(Who::Bot).to_string());
    let pull = bot.pull(number).await.unwrap();
    assert_eq!((&pull.head.sha, pull.mergeable, pull.changed_files), (&head, Mergeable::Yes, Some(1)));
    let of_branch = PullFilter { head_branch: Some("tour".into()), ..PullFilter::default() };
    assert_eq!(bot.pulls(&of_branch).await.unwrap().len(), 1);
    let author = stage.client(Who::Author).identity().await.unwrap();
    assert_eq!(bot.permission(&author).await.unwrap(), Permission::Write);
    assert!(!bot.has_contributed(&author).await.unwrap());

    let sticky = bot.comment(number, &"first words".into()).await.unwrap();
    bot.edit_comment(number, &sticky.id, &"better words".into()).await.unwrap();
    assert_eq!(bot.comments(number).await.unwrap()[0].body, "better words");
    bot.react(number, &ReactionTarget::Comment(sticky.id.clone()), Emoji::Eyes).await.unwrap();
    bot.react(number, &ReactionTarget::Pull, Emoji::ThumbsUp).await.unwrap();
    bot.react(number, &ReactionTarget::Pull, Emoji::ThumbsUp).await.unwrap();
    assert_eq!(bot.reactions(number, &ReactionTarget::Pull).await.unwrap().len(), 1);

    let comments = vec![
        remark("tour.txt", Side::New, 9, Some(5), "several lines"),
        remark("tour.txt", Side::Old, 12, None, "a deleted line"),
    ];
    let submitted = bot.submit(number, &review(&head, comments)).await.unwrap();
    let reviews = bot.reviews(number).await.unwrap();
    assert_eq!(
        (&reviews[0].id, reviews[0].state, reviews[0].commit.as_ref()),
        (&submitted.review, ReviewState::Commented, Some(&head))
    );
    let threads = bot.threads(number).await.unwrap();
    assert_eq!(
        threads.iter().map(|thread| (thread.line, thread.side)).collect::<Vec<_>>(),
        [(Some(9), Side::New), (Some(12), Side::Old)]
    );
    bot.reply(number, &threads[0], &"an answer".into()).await.unwrap();
    bot.resolve(number, &threads[0]).await.unwrap();
    let first = |threads: &[Thread]| (threads[0].resolved, threads[0].comments.len());
    assert_eq!(first(&bot.threads(number).await.unwrap()), (true, 2));
    bot.unresolve(number, &threads[0]).await.unwrap();
    assert_eq!(first(&bot.threads(number).await.unwrap()), (false, 2));
    let target = ReactionTarget::ThreadComment(threads[0].comments[0].id.clone());
    bot.react(number, &target, Emoji::Rocket).await.unwrap();
    assert_eq!(bot.reactions(number, &target).await.unwrap()[0].emoji, Emoji::Rocket);

    bot.delete_inline(number, &threads[1].comments[0].id).await.unwrap();
    assert_eq!(bot.threads(number).await.unwrap().len(), 1);
    let stranger = stage.client(Who::Stranger);
    assert!(matches!(stranger.delete_inline(number, &threads[0].comments[0].id).await, Err(ForgeFault::Forbidden { .. })));

    let status = |state| NewStatus { context: "tribunal/review".into(), state, description: "é".repeat(150).into(), url: None };
    bot.set_status(&head, &status(CheckState::Pending)).await.unwrap();
    bot.set_status(&head, &status(CheckState::Success)).await.unwrap();
    let checks = bot.checks(&head).await.unwrap();
    assert_eq!((checks.len(), checks[0].state, checks[0].description.chars().count()), (1, CheckState::Success, 140));
    let nothing = tribunal_core::ids::Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(bot.checks(&nothing).await, Err(ForgeFault::NotFound { .. })));

    let issue = NewIssue { title: "Later: the parser".into(), body: "Not now.".into(), labels: vec!["debt".into()] };
    let issue = bot.create_issue(&issue).await.unwrap();
    assert_eq!(bot.find_issues("parser repo:other/thing").await.unwrap(), []);
    let log = stage.server.log();
    assert_eq!(log.matching("GET", "/search/issues")[1].target.matches("repo%3A").count(), 1, "words are no conditions");
    assert_eq!(bot.find_issues("later parser").await.unwrap(), std::slice::from_ref(&issue));
    bot.close_issue(issue.number).await.unwrap();
    assert!(!bot.issue(issue.number).await.unwrap().open);
    bot.add_label(number, &"tribunal: ready".into()).await.unwrap();
    assert_eq!(bot.pull(number).await.unwrap().labels, ["tribunal: ready"]);
    bot.remove_label(number, "tribunal: ready").await.unwrap();
    bot.remove_label(number, "tribunal: ready").await.unwrap();
    bot.request_review(number, &["maintainer".into()]).await.unwrap();

    stage.push("main", &[("elsewhere.txt", Some("x\n"))], "main moves").await;
    let branch = Pushable::unchecked(number, "tour", &head);
    bot.update_branch(&branch).await.unwrap();
    assert!(matches!(bot.update_branch(&branch).await, Err(ForgeFault::Conflict { .. })));
    let head = bot.pull(number).await.unwrap().head.sha;
    let order = MergeOrder { head, method: MergeMethod::Squash, title: "Tour".into(), message: "All of it.".into() };
    bot.merge(number, &order).await.unwrap();
    assert_eq!(bot.pull(number).await.unwrap().state, PullState::Merged);
    assert!(bot.has_contributed(&author).await.unwrap());
    bot.delete_comment(number, &sticky.id).await.unwrap();

    let (other, _) = stage.pull("closed").await;
    bot.close(other).await.unwrap();
    let all = bot.pulls(&PullFilter { all_states: true, ..PullFilter::default() }).await.unwrap();
    assert_eq!(all.iter().map(|pull| pull.state).collect::<Vec<_>>(), [PullState::Closed, PullState::Merged]);
    contract::check(&stage.server.log());
}

/// CF-10: a login that somebody else has by now gives no rights and no merits.
#[tokio::test]
async fn rights_belong_to_ids() {
    let stage = GitHubStage::new().await;
    let bot = stage.client(Who::Bot);
    let author = stage.client(Who::Author).identity().await.unwrap();
    let (number, head) = stage.pull("first").await;
    let order = MergeOrder { head, method: MergeMethod::Rebase, title: "".into(), message: "".into() };
    bot.merge(number, &order).await.unwrap();
    stage.server.with(|base, _| {
        base.people.rename(id(Who::Author), "author-that-was");
        base.people.rename(id(Who::Maintainer), "author");
        base.people.grant(PATH, id(Who::Maintainer), Level::Admin);
    });
    assert_eq!(bot.permission(&author).await.unwrap(), Permission::None);
    assert!(!bot.has_contributed(&author).await.unwrap());
}
