//! Real git in a folder of its own, for pushing what the checks review.

use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::Mutex;
use tribunal_core::ids::Sha;

pub struct Checkout {
    folder: TempDir,
    remote: String,
    /// `Authorization` for git over HTTP.
    authorization: Option<String>,
    /// One at a time: it is one work tree.
    turn: Mutex<()>,
}

impl Checkout {
    /// `remote` is whatever git can push to: an address, or the path of a bare repository.
    pub async fn new(remote: &str, authorization: Option<String>) -> Checkout {
        let folder = tempfile::tempdir().expect("a folder");
        let checkout = Checkout { folder, remote: remote.to_owned(), authorization, turn: Mutex::new(()) };
        checkout.git(&["init", "--quiet", "--initial-branch=none"]).await;
        checkout.git(&["remote", "add", "origin", remote]).await;
        checkout
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn remote(&self) -> &str {
        &self.remote
    }

    pub async fn push(&self, branch: &str, files: &[(&str, Option<&str>)], message: &str) -> Sha {
        let _turn = self.turn.lock().await;
        self.fetch().await;
        let start = if self.has(branch).await { Some(branch) } else { self.has("main").await.then_some("main") };
        self.start_from(start).await;
        self.commit(files, message).await;
        self.git(&["push", "--quiet", "origin", &format!("HEAD:refs/heads/{branch}")]).await;
        self.head().await
    }

    /// Asks for a change to be merged without a branch, as AGit does.
    pub async fn push_for(&self, base: &str, topic: &str, files: &[(&str, Option<&str>)], message: &str) -> Sha {
        let _turn = self.turn.lock().await;
        self.fetch().await;
        self.start_from(Some(base)).await;
        self.commit(files, message).await;
        self.git(&["push", "--quiet", "origin", &format!("HEAD:refs/for/{base}/{topic}")]).await;
        self.head().await
    }

    pub async fn force_push(&self, branch: &str, files: &[(&str, Option<&str>)], message: &str) -> Sha {
        let _turn = self.turn.lock().await;
        self.fetch().await;
        self.start_from(Some("main")).await;
        self.commit(files, message).await;
        self.git(&["push", "--quiet", "--force", "origin", &format!("HEAD:refs/heads/{branch}")]).await;
        self.head().await
    }

    /// A new branch that begins where another one stands.
    pub async fn branch(&self, name: &str, from: &str) {
        let _turn = self.turn.lock().await;
        self.fetch().await;
        self.git(&["push", "--quiet", "origin", &format!("refs/remotes/origin/{from}:refs/heads/{name}")]).await;
    }

    /// Where a branch stands on the forge.
    pub async fn tip(&self, branch: &str) -> Option<Sha> {
        let listed = self.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")]).await;
        listed.split_whitespace().next().map(Sha::from)
    }

    /// As far as has been seen here; nothing is fetched for it.
    pub async fn has_file(&self, branch: &str, path: &str) -> bool {
        self.try_git(&["cat-file", "-e", &format!("refs/remotes/origin/{branch}:{path}")]).await.status.success()
    }

    async fn fetch(&self) {
        self.git(&["fetch", "--quiet", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*"]).await;
    }

    async fn has(&self, branch: &str) -> bool {
        let name = format!("refs/remotes/origin/{branch}");
        self.try_git(&["rev-parse", "--quiet", "--verify", &name]).await.status.success()
    }

    async fn start_from(&self, branch: Option<&str>) {
        match branch {
            Some(branch) => {
                self.git(&["checkout", "--quiet", "--force", "--detach", &format!("refs/remotes/origin/{branch}")]).await;
            }
            None => {
                self.git(&["checkout", "--quiet", "--orphan", "first"]).await;
            }
        }
    }

    async fn commit(&self, files: &[(&str, Option<&str>)], message: &str) {
        for (path, content) in files {
            let file: PathBuf = self.folder().join(path);
            match content {
                Some(content) => {
                    std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
                    std::fs::write(file, content).expect("a file");
                }
                None => std::fs::remove_file(file).expect("a file to delete"),
            }
        }
        self.git(&["add", "--all"]).await;
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]).await;
    }

    async fn head(&self) -> Sha {
        Sha::new(self.git(&["rev-parse", "HEAD"]).await)
    }

    /// Runs git in the work tree; its answer without the line end.
    pub async fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args).await;
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    async fn try_git(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.current_dir(self.folder()).args(args);
        environment(&mut command, self.authorization.as_deref());
        command.output().await.expect("git can be run")
    }
}

/// Nothing of the person's own git takes part; a header travels in the environment, where other processes do not see it.
pub fn environment(command: &mut Command, authorization: Option<&str>) {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
    }
    if let Some(header) = authorization {
        command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "http.extraHeader");
        command.env("GIT_CONFIG_VALUE_0", format!("Authorization: {header}"));
    }
}
