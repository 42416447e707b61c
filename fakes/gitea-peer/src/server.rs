//! The running server, and what tests do on it besides using the client under test.

use crate::install::{self, Install};
use crate::seed::{self, Tokens};
use forge_conformance::Checkout;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::place::Project;
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::http::client::{Http, Settings};
use tribunal_forge::http::credential::{AuthScheme, Credential};

/// Administers the server, and owns the repositories.
pub const MAINTAINER: &str = "root-admin";
pub const BOT: &str = "tribunal-bot";
pub const AUTHOR: &str = "author";
pub const STRANGER: &str = "stranger";

const PATIENCE: Duration = Duration::from_secs(300);
/// The server ends when its input does, and that is when this process ends, however it does.
const WATCHED: &str = r#"exec 3<&0
"$0" --config "$1" web </dev/null &
server=$!
(read -r _ <&3; kill -9 $server) &
wait $server"#;

pub struct GiteaPeer {
    port: u16,
    tokens: Tokens,
    folder: TempDir,
    process: Child,
}

impl GiteaPeer {
    /// Nothing where no server was built; that has been said then.
    pub async fn start() -> Option<GiteaPeer> {
        let install = install::find()?;
        let memory = std::env::var_os("TRIBUNAL_TEST_MEMORY").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = tempfile::tempdir_in(memory).expect("a folder");
        let tokens = seed::plant(&install, folder.path()).await;
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("a port").port();
        let process = run(&install, folder.path().to_path_buf(), port);
        let mut peer = GiteaPeer { port, tokens, folder, process };
        peer.wait_until_it_answers().await;
        Some(peer)
    }

    async fn wait_until_it_answers(&mut self) {
        let http = self.http(None);
        let started = Instant::now();
        while !http.look("/version").await.is_ok_and(|answer| answer.status == 200) {
            let ended = self.process.try_wait().expect("its state");
            assert!(ended.is_none() && started.elapsed() < PATIENCE, "Gitea did not start:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What the server complained about.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log.txt")).unwrap_or_default()
    }

    /// Ends it now; dropping does the same.
    pub fn stop(self) {}

    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn token(&self, user: &str) -> &str {
        &self.tokens[user]
    }

    pub fn project(&self, path: &str) -> Project {
        Project { origin: self.origin(), path: path.to_owned() }
    }

    /// The client under test.
    pub fn client(&self, user: &str, path: &str) -> Gitea {
        Gitea::new(self.project(path), Flavour::Gitea, Some(self.bound(self.token(user))), None).expect("a client")
    }

    /// Asks for something by hand, as this user. The answer must not be a refusal.
    pub async fn api(&self, user: &str, method: Method, path: &str, body: Option<Value>) -> Value {
        let http = self.http(Some(self.token(user)));
        let answer = match method {
            Method::GET => http.read(path, path).await,
            method => http.write(method, path, body.as_ref(), path).await,
        };
        let answer = answer.unwrap_or_else(|fault| panic!("{path} as {user}: {fault}"));
        serde_json::from_slice(&answer.body).unwrap_or_default()
    }

    fn http(&self, token: Option<&str>) -> Http {
        let scheme = |token: &str| Credential::new(self.bound(token), AuthScheme::Token).expect("a header");
        let settings = Settings { credential: token.map(scheme), ..Settings::anonymous(format!("{}/api/v1", self.origin())) };
        Http::new(settings).expect("a client")
    }

    /// A token for this server.
    pub fn bound(&self, token: &str) -> BoundToken {
        BoundToken::given_for_url(&self.origin(), token).expect("a server on this machine")
    }

    /// A token of the bot with these scopes only.
    pub async fn limited_token(&self, scopes: &[&str]) -> String {
        self.token_of(BOT, scopes).await
    }

    /// Somebody new, and a token of theirs.
    pub async fn add_user(&self, login: &str) -> String {
        let body = json!({
            "username": login, "email": format!("{login}@example.org"), "password": "not-a-secret", "must_change_password": false,
        });
        self.api(MAINTAINER, Method::POST, "/admin/users", Some(body)).await;
        self.token_of(login, &["all"]).await
    }

    async fn token_of(&self, login: &str, scopes: &[&str]) -> String {
        let credential =
            Credential::new(self.bound("not-a-secret"), AuthScheme::Basic { user: login.to_owned() }).expect("a header");
        let api = format!("{}/api/v1", self.origin());
        let settings = Settings { credential: Some(credential), ..Settings::anonymous(api) };
        let http = Http::new(settings).expect("a client");
        let body = json!({ "name": format!("limited to {}", scopes.join(" ")), "scopes": scopes });
        let answer = http.write(Method::POST, &format!("/users/{login}/tokens"), Some(&body), "a token").await.expect("a token");
        let made: Value = serde_json::from_slice(&answer.body).expect("a token");
        made["sha1"].as_str().expect("a token").to_owned()
    }

    /// A repository of the maintainer with a branch `main`, in which the bot may write. Gives `owner/name`.
    pub async fn create_repo(&self, name: &str) -> String {
        let body = json!({ "name": name, "default_branch": "main", "auto_init": true });
        self.api(MAINTAINER, Method::POST, "/user/repos", Some(body)).await;
        let path = format!("{MAINTAINER}/{name}");
        self.add_collaborator(&path, BOT, "write").await;
        path
    }

    /// `read`, `write` or `admin`.
    pub async fn add_collaborator(&self, path: &str, user: &str, permission: &str) {
        let body = json!({ "permission": permission });
        self.api(MAINTAINER, Method::PUT, &format!("/repos/{path}/collaborators/{user}"), Some(body)).await;
    }

    /// Protects a branch; `rules` as the server's API names them.
    pub async fn protect(&self, path: &str, branch: &str, mut rules: Value) {
        rules["rule_name"] = json!(branch);
        self.api(MAINTAINER, Method::POST, &format!("/repos/{path}/branch_protections"), Some(rules)).await;
    }

    /// A fork in the name of `user`. Gives `owner/name`.
    pub async fn fork(&self, path: &str, user: &str, name: &str) -> String {
        self.api(user, Method::POST, &format!("/repos/{path}/forks"), Some(json!({ "name": name }))).await;
        format!("{user}/{name}")
    }

    /// `head` is a branch, or `owner:branch` of a fork.
    pub async fn open_pull(&self, path: &str, user: &str, head: &str, base: &str, title: &str) -> u64 {
        let body = json!({ "head": head, "base": base, "title": title, "body": "" });
        let opened = self.api(user, Method::POST, &format!("/repos/{path}/pulls"), Some(body)).await;
        opened["number"].as_u64().expect("a number")
    }

    /// The client under test, with a token.
    pub fn client_with(&self, token: &str, path: &str) -> Gitea {
        Gitea::new(self.project(path), Flavour::Gitea, Some(self.bound(token)), None).expect("a client")
    }

    /// Real git over HTTP, as this user.
    pub async fn checkout(&self, path: &str, user: &str) -> Checkout {
        Checkout::new(&format!("{}/{path}.git", self.origin()), Some(format!("token {}", self.token(user)))).await
    }
}

fn run(install: &Install, data: PathBuf, port: u16) -> Child {
    let settings = data.join("app.ini");
    std::fs::write(&settings, install.settings(&data, port)).expect("settings");
    let log = File::create(data.join("log.txt")).expect("a log");
    let mut command = Command::new("sh");
    command.args(["-c", WATCHED]).arg(&install.program).arg(&settings).current_dir(&data);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT")) {
        command.env_remove(name);
    }
    // Each push starts it anew for every hook, and half of such a start would go into collecting garbage.
    command.env("GOGC", "off").env("GOMEMLIMIT", "1GiB");
    command.env("HOME", &data).stdin(Stdio::piped()).stdout(log.try_clone().expect("a log")).stderr(log);
    // A group of its own, so that the git processes of the server end with it.
    command.process_group(0).spawn().expect("a shell")
}

impl Drop for GiteaPeer {
    fn drop(&mut self) {
        if let Some(group) = rustix::process::Pid::from_raw(self.process.id().cast_signed()) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.process.wait();
    }
}
