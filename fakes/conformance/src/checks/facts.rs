//! What a forge says about pull requests.

use crate::Voice as _;
use crate::checkout::environment;
use crate::scene::{Scene, eventually, name, settled};
use crate::stage::{Stage, Who};
use std::sync::Arc;
use tokio::process::Command;
use tribunal_core::pull::facts::{Mergeable, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::NewPull;

/// forges.md 1.1, metadata.
pub async fn a_pull_is_read_whole(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "facts").await;
    let pull = scene.bot.pull(scene.number).await.unwrap();
    assert_eq!((pull.number, pull.state, pull.draft, pull.is_fork), (scene.number, PullState::Open, false, false));
    assert_eq!((pull.title.as_str(), pull.body.as_str()), (&*format!("Title of {}", scene.branch), "A body."));
    assert_eq!((pull.head.branch.as_str(), &pull.head.sha), (&*scene.branch, &scene.head));
    assert_eq!((pull.base.branch.as_str(), Some(&pull.base.sha)), ("main", stage.checkout().tip("main").await.as_ref()));
    assert!(pull.changed_files.is_none_or(|files| files == 1), "{pull:?}");
    assert_eq!(scene.bot.trunk().await.unwrap(), "main");
    if stage.has_accounts() {
        assert!(pull.author.is(&stage.forge_as(Who::Author).identity().await.unwrap()), "{:?}", pull.author);
        assert!(pull.url.ends_with(&format!("/{}", scene.number)), "{}", pull.url);
    }
}

/// Design rule 8: what is not there is not found, and never an empty answer.
pub async fn an_unknown_pull_is_not_found(stage: Arc<dyn Stage>) {
    let bot = stage.forge_as(Who::Bot);
    let unknown = 99_999_999;
    assert!(matches!(bot.pull(unknown).await, Err(ForgeFault::NotFound { .. })));
    // Some servers fail over these instead; an empty list would be the harm.
    assert!(bot.comments(unknown).await.is_err());
    assert!(bot.reviews(unknown).await.is_err());
    assert!(bot.threads(unknown).await.is_err());
    assert!(bot.comment(unknown, "anybody?").await.is_err());
}

pub async fn a_draft_is_one(stage: Arc<dyn Stage>) {
    let branch = name("draft");
    stage.push(&branch, &[(&branch, Some("text\n"))], "a start").await;
    let new =
        NewPull { title: "Unfinished".into(), body: "".into(), head_branch: branch, base_branch: "main".into(), draft: true };
    let bot = stage.forge_as(Who::Bot);
    let opened = bot.open(&new).await.unwrap();
    let pull = bot.pull(opened.number).await.unwrap();
    assert!(opened.draft && pull.draft, "{pull:?}");
    assert_ne!(pull.mergeable, Mergeable::Yes);
}

/// forges.md 1.1: a forge computes this when it likes; it may say that it does not know, never that a conflict is none.
pub async fn a_clean_pull_can_be_merged_and_a_conflict_cannot(stage: Arc<dyn Stage>) {
    let clean = Scene::apart(&stage, "clean").await;
    settled(&clean).await;
    let torn = Scene::apart(&stage, "torn").await;
    settled(&torn).await;
    stage.push("main", &[(&torn.path, Some("something else altogether\n"))], "in the way").await;
    eventually("the conflict is seen", async || torn.bot.pull(torn.number).await.unwrap().mergeable != Mergeable::Yes).await;
}

pub async fn the_head_follows_a_push_and_a_forced_push(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "moving").await;
    let second = stage.push(&scene.branch, &[(&scene.path, Some("second\n"))], "second").await;
    eventually("the push is seen", async || scene.bot.pull(scene.number).await.unwrap().head.sha == second).await;
    let third = stage.force_push(&scene.branch, &[(&scene.path, Some("third\n"))], "third").await;
    assert_ne!(second, third);
    eventually("the forced push is seen", async || scene.bot.pull(scene.number).await.unwrap().head.sha == third).await;
}

pub async fn pulls_are_found_by_branch_and_by_label(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "findable").await;
    let label = name("label");
    scene.bot.add_label(scene.number, &label).await.unwrap();
    let found = async |filter: PullFilter| {
        let pulls = scene.bot.pulls(&filter).await.unwrap();
        pulls.iter().map(|pull| pull.number).collect::<Vec<_>>()
    };
    let by_branch = PullFilter { head_branch: Some(scene.branch.clone()), ..PullFilter::default() };
    assert_eq!(found(by_branch.clone()).await, [scene.number]);
    assert_eq!(found(PullFilter { label: Some(label), ..PullFilter::default() }).await, [scene.number]);
    let words = format!("{} title", scene.branch.to_uppercase());
    assert_eq!(found(PullFilter { search: Some(words), ..PullFilter::default() }).await, [scene.number]);
    assert_eq!(found(PullFilter { search: Some(name("unsaid")), ..PullFilter::default() }).await, [0; 0]);
    assert_eq!(found(PullFilter { head_branch: Some(name("nobody")), ..PullFilter::default() }).await, [0; 0]);
    scene.bot.close(scene.number).await.unwrap();
    assert_eq!(found(by_branch.clone()).await, [0; 0]);
    assert_eq!(found(PullFilter { all_states: true, ..by_branch }).await, [scene.number]);
}

pub async fn a_closed_pull_is_closed(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "closed").await;
    scene.bot.close(scene.number).await.unwrap();
    let pull = scene.bot.pull(scene.number).await.unwrap();
    assert_eq!((pull.state, &pull.head.sha), (PullState::Closed, &scene.head));
    assert_ne!(pull.mergeable, Mergeable::Yes);
}

/// forges.md 8, 20.
pub async fn a_lost_fork_still_has_a_head(stage: Arc<dyn Stage>) {
    let Some(number) = stage.open_pull_from_fork(Who::Stranger, true).await else { return };
    let bot = stage.forge_as(Who::Bot);
    let pull = bot.pull(number).await.unwrap();
    assert!(pull.is_fork && pull.head.repository.is_none(), "{pull:?}");
    assert_eq!(fetched(&*bot, number).await, pull.head.sha.as_str());
}

/// forges.md 1.1: the head is fetched from the base repository, by the number of the pull request.
pub async fn git_finds_the_change(stage: Arc<dyn Stage>) {
    let scene = Scene::new(&stage, "fetched").await;
    assert_eq!(fetched(&*scene.bot, scene.number).await, scene.head.as_str());
}

async fn fetched(forge: &dyn tribunal_forge::port::Forge, number: u64) -> String {
    let source = forge.source(&forge.pull(number).await.unwrap());
    let folder = tempfile::tempdir().unwrap();
    let git = async |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(folder.path()).args(args);
        environment(&mut command, source.authorization.as_deref());
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["init", "--quiet", "--bare"]).await;
    let (head, base) = (format!("+{}:refs/head", source.head_ref), format!("+{}:refs/base", source.base_ref));
    git(&["fetch", "--quiet", &source.url, &head, &base]).await;
    git(&["rev-parse", "--verify", "refs/base"]).await;
    git(&["rev-parse", "refs/head"]).await
}
