//! A small change that every check can start from: one file with an added, a changed, a deleted and many unchanged lines.

use crate::stage::{Stage, Who};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{MergeOrder, Mergeable};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, Thread};
use tribunal_forge::port::Forge;

/// Branches must differ between checks, and between runs on a forge that stays.
static NEXT: AtomicUsize = AtomicUsize::new(1);

pub struct Scene {
    pub number: u64,
    pub branch: String,
    pub path: String,
    pub head: Sha,
    pub bot: Arc<dyn Forge>,
}

/// Lines of the new file by what happened to them.
pub const CONTEXT: u32 = 3;
pub const CHANGED: u32 = 5;
pub const ADDED: u32 = 9;
/// A line of the old file that is gone.
pub const DELETED: u32 = 12;

pub fn name(stem: &str) -> String {
    format!("{stem}-{}-{:05}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The file before: lines 1 to 20.
pub fn before() -> String {
    (1..=20).map(|line| format!("line {line}\n")).collect()
}

/// The file after: 5 changed, a line added as 9, old line 12 gone.
pub fn after() -> String {
    let mut text = String::new();
    for line in 1..=20_u32 {
        match line {
            5 => text.push_str("line 5, changed\n"),
            8 => text.push_str("line 8\nan added line\n"),
            12 => {}
            other => text.push_str(&format!("line {other}\n")),
        }
    }
    text
}

impl Scene {
    /// Changes the file that all such scenes share: for checks that leave `main` as it is. A push to `main` makes a forge look at
    /// every open pull request again.
    pub async fn new(stage: &Arc<dyn Stage>, stem: &str) -> Scene {
        const SHARED: &str = "src/shared.txt";
        if !stage.checkout().has_file("main", SHARED).await {
            stage.push("main", &[(SHARED, Some(&before()))], "a file to change").await;
        }
        Scene::opened(stage, name(stem), SHARED.to_owned(), &after()).await
    }

    /// Changes a file of its own: for checks that merge, or make a conflict.
    pub async fn apart(stage: &Arc<dyn Stage>, stem: &str) -> Scene {
        Scene::with(stage, stem, &before(), &after()).await
    }

    pub async fn with(stage: &Arc<dyn Stage>, stem: &str, before: &str, after: &str) -> Scene {
        let branch = name(stem);
        let path = format!("src/{branch}.txt");
        stage.push("main", &[(&path, Some(before))], &format!("before {branch}")).await;
        Scene::opened(stage, branch, path, after).await
    }

    async fn opened(stage: &Arc<dyn Stage>, branch: String, path: String, after: &str) -> Scene {
        let head = stage.push(&branch, &[(&path, Some(after))], &format!("change {branch}")).await;
        let number = stage.open_pull(&branch, "main", &format!("Title of {branch}"), "A body.").await;
        let bot = stage.forge_as(Who::Bot);
        Scene { number, branch, path, head, bot }
    }

    pub fn comment(&self, side: Side, line: u32, body: &str) -> NewComment {
        let (path, old_path) = (self.path.clone(), self.path.clone());
        NewComment { path, old_path, side, line, start_line: None, body: body.into() }
    }

    pub fn review(&self, body: &str, comments: Vec<NewComment>) -> NewReview {
        NewReview { commit: self.head.clone(), event: ReviewEvent::Comment, body: body.into(), comments }
    }

    pub async fn submit(&self, body: &str, comments: Vec<NewComment>) -> String {
        let review = self.review(body, comments);
        self.bot.submit(self.number, &review).await.expect("the bot reviews").review
    }

    pub async fn threads(&self) -> Vec<Thread> {
        self.bot.threads(self.number).await.expect("threads")
    }

    /// The thread whose first comment says this.
    pub async fn thread(&self, body: &str) -> Thread {
        let threads = self.threads().await;
        let found = threads.iter().find(|thread| thread.first().is_some_and(|first| first.body == body));
        found.cloned().unwrap_or_else(|| panic!("no thread begins with `{body}`: {threads:#?}"))
    }
}

/// Merges as soon as the forge is ready to say yes or no.
pub async fn merge(scene: &Scene, order: &MergeOrder) -> Result<(), ForgeFault> {
    let started = Instant::now();
    loop {
        match scene.bot.merge(scene.number, order).await {
            Err(fault) if fault.may_pass() && !fault.is_uncertain() && started.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            other => return other,
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(300);

/// Waits for what a forge does in its own time.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < PATIENCE, "not within {} s: {what}", PATIENCE.as_secs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the forge has found out that this can be merged.
pub async fn settled(scene: &Scene) {
    eventually("it can be merged", async || scene.bot.pull(scene.number).await.unwrap().mergeable == Mergeable::Yes).await;
}
