//! Merging, and keeping up with the base.

use crate::scene::{Scene, eventually, merge, name, settled};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{MergeMethod, MergeOrder, PullState, RequiredChecks};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::{NewIssue, NewPull};
use tribunal_core::pull::told::Told;

fn order(head: &Sha, method: MergeMethod, title: &str) -> MergeOrder {
    MergeOrder { head: head.clone(), method, title: title.into(), message: "What it is for.".into() }
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
    let refused = scene.bot.update_branch(&Pushable::unchecked(scene.number, &scene.branch, &wrong)).await;
    if !can {
        assert!(matches!(refused, Err(ForgeFault::Unsupported { .. })), "{refused:?}");
        return;
    }
    assert!(matches!(refused, Err(ForgeFault::Conflict { .. })), "{refused:?}");
    scene.bot.update_branch(&Pushable::unchecked(scene.number, &scene.branch, &scene.head)).await.unwrap();
    eventually("the head moves", async || scene.bot.pull(scene.number).await.unwrap().head.sha != scene.head).await;
    let checkout = stage.checkout();
    checkout.git(&["fetch", "--quiet", "origin", &format!("+refs/heads/{0}:refs/remotes/origin/{0}", scene.branch)]).await;
    let branch = format!("refs/remotes/origin/{}", scene.branch);
    checkout.git(&["merge-base", "--is-ancestor", base.as_str(), &branch]).await;
}

/// A merge that is given no words has those that the forge gives every merge.
pub async fn a_merge_without_words_has_the_usual_ones(stage: Arc<dyn Stage>) {
    let scene = Scene::apart(&stage, "wordless").await;
    settled(&scene).await;
    let order = MergeOrder { head: scene.head.clone(), method: MergeMethod::Squash, title: "".into(), message: "".into() };
    merge(&scene, &order).await.unwrap();
    let checkout = stage.checkout();
    checkout.git(&["fetch", "--quiet", "origin", "+refs/heads/main:refs/remotes/origin/main"]).await;
    let message = checkout.git(&["log", "-1", "--format=%s", "refs/remotes/origin/main"]).await;
    assert!(!message.trim().is_empty());
}

/// SL-79, SL-94: a branch that cannot be joined with its base stays as it is, and the refusal is no doubt about it.
pub async fn a_conflict_is_not_brought_up_to_date(stage: Arc<dyn Stage>) {
    let scene = Scene::apart(&stage, "torn").await;
    if !scene.bot.capabilities().await.unwrap().can(Capability::UpdateBranch) {
        return;
    }
    stage.push("main", &[(&scene.path, Some("quite another text\n"))], "the base goes another way").await;
    let refused = scene.bot.update_branch(&Pushable::unchecked(scene.number, &scene.branch, &scene.head)).await;
    assert!(matches!(refused, Err(ForgeFault::Refused { .. } | ForgeFault::Conflict { .. })), "{refused:?}");
    assert_eq!(scene.bot.pull(scene.number).await.unwrap().head.sha, scene.head);
}

/// CF-21, CF-30: what the base asks for is known before anything is merged into it.
pub async fn a_base_says_what_it_asks_for(stage: Arc<dyn Stage>) {
    let branch = name("release");
    stage.push(&branch, &[(&format!("{branch}.txt"), Some("a release\n"))], "a release").await;
    let bot = stage.forge_as(Who::Bot);
    let open = bot.base_rules(&branch).await.unwrap();
    assert_eq!((&open.approvals, &open.obstacle), (&Told::Is(0), &None));
    assert_eq!(open.checks, Told::Is(RequiredChecks::default()));
    assert!(matches!(&open.methods, Told::Is(methods) if methods.contains(&MergeMethod::Squash)), "{:?}", open.methods);
    if !stage.protect(&branch, Some((2, "ci/build"))).await {
        return;
    }
    let strict = bot.base_rules(&branch).await.unwrap();
    assert_eq!(strict.approvals, Told::Is(2));
    let Told::Is(checks) = strict.checks else { panic!("the checks are not known") };
    // One forge names checks, another has patterns, and a third only says that there must be some.
    let asked = checks.names.contains("ci/build") || checks.patterns.contains("ci/build") || checks.any;
    assert!(asked, "{checks:?}");
    stage.protect(&branch, None).await;
    assert_eq!(bot.base_rules(&branch).await.unwrap().approvals, Told::Is(0));
}

/// SL-68: the forge itself closes what a merged pull request says that it closes, and nothing else.
pub async fn a_merge_closes_its_issues(stage: Arc<dyn Stage>) {
    let bot = stage.forge_as(Who::Bot);
    let new = |title: &str| NewIssue { title: title.into(), body: "".into(), labels: Vec::new() };
    let story = bot.create_issue(&new("A story")).await;
    if !bot.capabilities().await.unwrap().can(Capability::Issues) {
        return;
    }
    let (story, epic) = (story.unwrap().number, bot.create_issue(&new("An epic")).await.unwrap().number);
    let branch = name("closing");
    let path = format!("src/{branch}.txt");
    let head = stage.push(&branch, &[(&path, Some("done\n"))], "the work").await;
    let body = format!("Closes #{story}\n\nPart of #{epic}");
    // Whoever merges must be able to close the issue, and so must whoever says that it is to be closed.
    let pull = NewPull {
        title: branch.as_str().into(),
        body: body.into(),
        head_branch: branch.clone(),
        base_branch: "main".into(),
        draft: false,
    };
    let number = bot.open(&pull).await.unwrap().number;
    let scene = Scene { number, branch, path, head: head.clone(), bot: Arc::clone(&bot) };
    settled(&scene).await;
    merge(&scene, &order(&head, MergeMethod::Squash, "Done")).await.unwrap();
    eventually("the story is closed", async || !bot.issue(story).await.unwrap().open).await;
    assert!(bot.issue(epic).await.unwrap().open);
}
