//! A forge with one repository, and Tribunal on a machine of its own beside it.

use forge_conformance::{Stage, Who};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;
use tribunal_core::ids::Sha;
use tribunal_core::pull::talk::{Comment, Thread};

pub struct Town {
    pub stage: Arc<dyn Stage>,
    /// Where the forge is reached; a proxy may stand here.
    pub origin: String,
    pub path: String,
    pub tokens: Vec<(Who, String)>,
    pub machine: Machine,
}

/// A home, a cache and a ledger that nobody else uses.
pub struct Machine {
    folder: TempDir,
}

impl Machine {
    pub fn new() -> Self {
        Machine { folder: tempfile::tempdir().unwrap() }
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

/// What Tribunal said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Ended with this code.
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

static BRANCHES: AtomicUsize = AtomicUsize::new(1);

/// A name that no other branch has.
pub fn new_branch() -> String {
    // No name is the beginning of another one.
    format!("feature-{}-{:05}", std::process::id(), BRANCHES.fetch_add(1, Ordering::Relaxed))
}

impl Town {
    pub fn command(&self, machine: &Machine, who: Who, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tribunal"));
        let here = machine.folder();
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &here).current_dir(&here);
        let token = self.tokens.iter().find(|(name, _)| *name == who).map(|(_, token)| token.clone());
        // As in CI: what the base of this town names was put there by its own people.
        command.env("TRIBUNAL_TRUST", "base");
        command.env("TRIBUNAL_TOKEN", token.unwrap_or_default()).env("TRIBUNAL_MARKER_KEY", "the key of this town");
        // A token is for one server; this is the one.
        command.env("TRIBUNAL__FORGE__URL", &self.origin);
        if args.first() == Some(&"settle") {
            // It is given a project, and no pull request whose address would give away what runs there.
            let kind = serde_json::to_value(self.stage.kind()).unwrap();
            command.env("TRIBUNAL__FORGE__KIND", kind.as_str().unwrap());
        }
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        self.run_on(&self.machine, args)
    }

    pub fn run_on(&self, machine: &Machine, args: &[&str]) -> Said {
        Said::of(self.command(machine, Who::Bot, args).output().unwrap())
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(&self.machine, Who::Bot, args).spawn().unwrap()
    }

    pub fn address(&self, number: u64) -> String {
        let words = match self.stage.kind() {
            tribunal_core::pull::place::ForgeKind::GitHub => "pull",
            tribunal_core::pull::place::ForgeKind::GitLab => "-/merge_requests",
            _ => "pulls",
        };
        format!("{}/{}/{words}/{number}", self.origin, self.path)
    }

    /// Reviews and posts; the JSON document.
    pub fn review(&self, number: u64) -> Value {
        let said = self.run(&["review", &self.address(number), "--format", "json"]);
        assert!(said.code == 0 || said.code == 1, "{said:?}");
        said.json()
    }

    /// A pull request of the author, from a branch of its own, with these files.
    pub async fn pull(&self, files: &[(&str, Option<&str>)]) -> (u64, String, Sha) {
        let branch = new_branch();
        let head = self.stage.push(&branch, files, "a change").await;
        let number = self.stage.open_pull(&branch, "main", "A change", "It does something.").await;
        (number, branch, head)
    }

    pub async fn comments(&self, number: u64) -> Vec<Comment> {
        self.stage.forge_as(Who::Bot).comments(number).await.unwrap()
    }

    pub async fn threads(&self, number: u64) -> Vec<Thread> {
        self.stage.forge_as(Who::Bot).threads(number).await.unwrap()
    }

    /// Summaries of ours on a pull request.
    pub async fn stickies(&self, number: u64) -> Vec<Comment> {
        let mut comments = self.comments(number).await;
        comments.retain(|comment| comment.body.starts_with("<!-- pr-review:sticky -->"));
        comments
    }

    /// Threads by the name of their finding, and whether they are resolved.
    pub async fn states(&self, number: u64) -> Vec<(String, bool)> {
        let mut states: Vec<(String, bool)> =
            self.threads(number).await.iter().map(|thread| (slug(&thread.comments[0].body), thread.resolved)).collect();
        states.sort();
        states
    }

    /// The status at a commit.
    pub async fn status(&self, sha: &Sha) -> Option<tribunal_core::pull::facts::CheckState> {
        let checks = self.stage.forge_as(Who::Bot).checks(sha).await.unwrap();
        checks.into_iter().find(|check| check.name == "tribunal/review").map(|check| check.state)
    }
}

/// The slug in the first line of an inline comment.
pub fn slug(body: &str) -> String {
    let line = body.lines().next().unwrap_or_default();
    line.trim_end_matches("**").rsplit(' ').next().unwrap_or_default().to_owned()
}

/// Each finding of the review has one thread, and no two threads say the same.
pub fn assert_no_repetition(threads: &[Thread]) {
    let mut firsts: Vec<String> = threads.iter().map(|thread| key(&thread.comments[0].body)).collect();
    firsts.sort();
    let count = firsts.len();
    firsts.dedup();
    assert_eq!(firsts.len(), count, "a comment was repeated");
    for thread in threads {
        let bodies: Vec<&str> = thread.comments.iter().map(|comment| comment.body.as_str()).collect();
        assert!(bodies.windows(2).all(|pair| pair[0] != pair[1]), "{bodies:?}");
    }
}

fn key(body: &str) -> String {
    body.lines().take_while(|line| !line.starts_with("<!-- tribunal:1")).collect::<Vec<_>>().join("\n")
}
