//! `tribunal watch`, `respond` and `await` on a pull request that people and machines talk about.

pub mod agents;
pub mod answers;
mod killed;
pub mod lints;
pub mod records;
pub mod remedies;
pub mod safety;
pub mod sources;

use super::town::{Said, Town};
use forge_conformance::Who;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, Thread};

/// Who plays the machine that reviews. The forge takes it for a person; the configuration knows its account better.
const LINTBOT: Who = Who::Stranger;

pub async fn login(town: &Town, who: Who) -> String {
    town.stage.forge_as(who).identity().await.unwrap().login
}

/// The configuration of whoever sits at the machine.
pub async fn configure(town: &Town, more: &str) {
    let folder = town.machine.folder().join(".config/tribunal");
    std::fs::create_dir_all(&folder).unwrap();
    let Account { id, login, .. } = town.stage.forge_as(LINTBOT).identity().await.unwrap();
    let bots = format!("[identity]\nbots = {{ \"{login}\" = {{ name = \"lintbot\", id = \"{id}\" }} }}\n");
    std::fs::write(folder.join("config.toml"), format!("{bots}{more}")).unwrap();
}

/// A remark with what shall stand there instead.
pub fn suggestion(words: &str, code: &str) -> String {
    format!("{words}\n\n```suggestion\n{code}\n```\n")
}

/// A review with remarks on lines.
pub async fn says(town: &Town, number: u64, who: Who, body: &str, remarks: &[(&str, u32, String)]) {
    submits(town, number, who, ReviewEvent::Comment, body, remarks).await;
}

pub async fn submits(town: &Town, number: u64, who: Who, event: ReviewEvent, body: &str, remarks: &[(&str, u32, String)]) {
    let forge = town.stage.forge_as(who);
    let commit = forge.pull(number).await.unwrap().head.sha;
    let comments = remarks.iter().map(|(path, line, body)| NewComment {
        path: (*path).into(),
        old_path: (*path).into(),
        side: Side::New,
        line: *line,
        start_line: None,
        body: Outgoing::of_somebody_else(body),
    });
    let review = NewReview { commit, event, body: Outgoing::of_somebody_else(body), comments: comments.collect() };
    let submitted = forge.submit(number, &review).await.unwrap();
    assert_eq!(submitted.refused, Vec::<usize>::new(), "the forge refused a remark");
}

/// One loop, with its report as JSON.
pub fn looped(town: &Town, words: &[&str]) -> Said {
    let mut all = words.to_vec();
    all.extend(["--format", "json"]);
    town.run(&all)
}

/// What became of the items, as `author place end`, in order.
pub fn ends(report: &Value) -> Vec<String> {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let line = |item: &Value| format!("{} {} {}", text(item, "author"), text(item, "place"), text(item, "end"));
    let mut all: Vec<String> = report["items"].as_array().unwrap().iter().map(line).collect();
    all.sort();
    all
}

/// Everything that stands on a pull request, to see that nothing more was said.
pub async fn everything(town: &Town, number: u64) -> (Sha, Vec<Thread>, Vec<String>) {
    let comments = town.comments(number).await.into_iter().map(|comment| comment.body).collect();
    let mut threads = town.threads(number).await;
    // On Gitea a comment looks edited once its line has changed, some time after the push.
    threads.iter_mut().flat_map(|thread| &mut thread.comments).for_each(|comment| comment.edited = false);
    (head(town, number).await, threads, comments)
}

pub async fn head(town: &Town, number: u64) -> Sha {
    town.stage.forge_as(Who::Bot).pull(number).await.unwrap().head.sha
}

/// A file as the branch has it on the forge.
pub async fn file(town: &Town, branch: &str, path: &str) -> String {
    let checkout = town.stage.checkout();
    checkout.git(&["fetch", "--quiet", "origin", &format!("+refs/heads/{branch}:refs/remotes/origin/{branch}")]).await;
    checkout.git(&["show", &format!("refs/remotes/origin/{branch}:{path}")]).await
}

/// The messages of the commits since, oldest first.
pub async fn commits_since(town: &Town, branch: &str, since: &Sha) -> Vec<String> {
    let checkout = town.stage.checkout();
    checkout.git(&["fetch", "--quiet", "origin", &format!("+refs/heads/{branch}:refs/remotes/origin/{branch}")]).await;
    let log = checkout.git(&["log", "--reverse", "--format=%B%x00", &format!("{since}..refs/remotes/origin/{branch}")]).await;
    log.split('\0').map(|message| message.trim().to_owned()).filter(|message| !message.is_empty()).collect()
}

/// What we said in a thread.
pub fn ours<'a>(thread: &'a Thread, me: &str) -> Vec<&'a str> {
    let replies = thread.comments.iter().skip(1).filter(|comment| comment.author.login == me);
    replies.map(|comment| comment.body.lines().next().unwrap_or_default()).collect()
}

/// Long enough for a machine that is twenty times slower than usual.
const PATIENCE: Duration = Duration::from_secs(300);

/// Looks until it is so.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {} s", PATIENCE.as_secs());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A loop that runs beside the test.
pub struct Running {
    child: Option<Child>,
    /// What it has said so far.
    said: Arc<Mutex<String>>,
    listener: Option<JoinHandle<()>>,
    waits: usize,
}

impl Running {
    pub fn start(town: &Town, words: &[&str]) -> Running {
        let mut all = words.to_vec();
        all.extend(["--format", "json"]);
        Running::plain(town, &all)
    }

    pub fn plain(town: &Town, words: &[&str]) -> Running {
        Running::beside(town.start(words))
    }

    /// Its agents have their key.
    pub fn with_key(town: &Town, words: &[&str], key: &str) -> Running {
        let mut all = words.to_vec();
        all.extend(["--format", "json"]);
        Running::beside(town.command(&town.machine, Who::Bot, &all).env("THE_KEY", key).spawn().unwrap())
    }

    fn beside(mut child: Child) -> Running {
        let said = Arc::new(Mutex::new(String::new()));
        let (lines, heard) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&said));
        let listener = std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Running { child: Some(child), said, listener: Some(listener), waits: 0 }
    }

    /// Until it has nothing more to do than to wait, once more than when this was last asked.
    pub async fn waits(&mut self) {
        self.waits += 1;
        let begun = Instant::now();
        while self.said.lock().unwrap().matches("waiting for something to happen").count() < self.waits {
            let has_ended = self.child.as_mut().unwrap().try_wait().unwrap().is_some();
            assert!(!has_ended && begun.elapsed() < PATIENCE, "it does not wait: {}", self.said.lock().unwrap());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn end(mut self) -> Said {
        let (child, listener) = (self.child.take().unwrap(), self.listener.take().unwrap());
        let mut output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
        listener.join().unwrap();
        output.stderr = self.said.lock().unwrap().clone().into_bytes();
        Said::of(output)
    }
}

/// A test that fails leaves no loop behind.
impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
