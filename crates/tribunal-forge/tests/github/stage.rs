//! A GitHub with one repository and four accounts.

use async_trait::async_trait;
use fake_forge_base::{Kind, Level, Protection, Server};
use fake_github::{Anchor, Draft, GitHub as Fake, Site};
use forge_conformance::{Checkout, Stage, Who};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::place::{ForgeKind, Project};
use tribunal_forge::github::{Auth, GitHub, Settings};
use tribunal_forge::http::pace::Pace;
use tribunal_forge::port::Forge;

pub const PATH: &str = "acme/shop";

pub struct GitHubStage {
    pub server: Fake,
    checkout: Checkout,
    /// What clients keep of answers, as they do on a person's machine.
    kept: tempfile::TempDir,
}

pub fn id(who: Who) -> u64 {
    match who {
        Who::Bot => 101,
        Who::Author => 102,
        Who::Maintainer => 103,
        Who::Stranger => 104,
    }
}

/// Quirk 17: nothing may depend on how long a token is, or on what it looks like.
pub fn token(who: Who) -> String {
    format!("{who:?}-{}", "x".repeat(600))
}

impl GitHubStage {
    pub async fn new() -> GitHubStage {
        let server = Server::start(Site::default());
        server.with(|base, _| {
            base.add_project(PATH).repository.commit("main", None, &[("README.md", Some(b"A shop.\n"))], "first");
            for who in Who::ALL {
                // A machine's account is a person to GitHub; only an App's is a bot.
                base.people.add(id(who), &format!("{who:?}").to_lowercase(), Kind::Person);
                base.people.token(&token(who), id(who), &[]);
            }
            // Whoever opens a pull request for a branch can write to it.
            for (who, level) in [(Who::Bot, Level::Write), (Who::Author, Level::Write), (Who::Maintainer, Level::Admin)] {
                base.people.grant(PATH, id(who), level);
            }
        });
        let header = format!("Basic {}", base64_of(&format!("x-access-token:{}", token(Who::Maintainer))));
        let checkout = Checkout::new(&format!("{}/{PATH}.git", server.url()), Some(header)).await;
        GitHubStage { server, checkout, kept: tempfile::tempdir().unwrap() }
    }

    pub fn client(&self, who: Who) -> GitHub {
        self.client_with(self.auth(&token(who)), None)
    }

    /// With a token for this server.
    pub fn auth(&self, token: &str) -> Auth {
        Auth::Token(BoundToken::given_for_url(&self.server.url(), token).unwrap())
    }

    pub fn client_with(&self, auth: Auth, cache: Option<PathBuf>) -> GitHub {
        let project = Project { origin: self.server.url(), path: PATH.into() };
        GitHub::new(Settings { project, auth, cache, pace: Pace::NONE, patience: 1 }).unwrap()
    }

    pub fn key(&self, number: u64) -> (u64, u64) {
        (self.server.with(|base, _| base.project(PATH).unwrap().id), number)
    }

    /// A pull request that changes line 5 of 20, adds a line behind 8 and deletes 12, and its head.
    pub async fn pull(&self, branch: &str) -> (u64, Sha) {
        let path = format!("{branch}.txt");
        let lines = |change: bool| -> String {
            (1..=40)
                .map(|line| match (change, line) {
                    (true, 5) => "changed\n".to_owned(),
                    (true, 8) => "line 8\nadded\n".to_owned(),
                    (true, 12) => String::new(),
                    (true, 35) => "changed far below\n".to_owned(),
                    (_, line) => format!("line {line}\n"),
                })
                .collect()
        };
        self.push("main", &[(&path, Some(&lines(false)))], "before").await;
        let head = self.push(branch, &[(&path, Some(&lines(true)))], "after").await;
        (self.open_pull(branch, "main", branch, "").await, head)
    }

    /// Past the client: what it would never send.
    pub async fn send(&self, who: Who, method: &str, path: &str, accept: &str, body: &Value) -> (u16, Value) {
        let client = forge_conformance::plain_client();
        let url = format!("{}{path}", self.server.url());
        let request = client.request(method.parse().unwrap(), url).header("authorization", format!("Bearer {}", token(who)));
        let mut request = request.header("accept", accept);
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }
}

pub fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(text)
}

fn newcomer_id(login: &str) -> u64 {
    1_000 + login.bytes().map(u64::from).sum::<u64>()
}

#[async_trait]
impl Stage for GitHubStage {
    fn kind(&self) -> ForgeKind {
        ForgeKind::GitHub
    }

    fn forge_as(&self, who: Who) -> Arc<dyn Forge> {
        Arc::new(self.client_with(self.auth(&token(who)), Some(self.kept.path().to_owned())))
    }

    fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    async fn newcomer(&self, login: &str, may_write: bool) -> Option<Arc<dyn Forge>> {
        let token = format!("{login}-token");
        self.server.with(|base, _| {
            let id = newcomer_id(login);
            base.people.add(id, login, Kind::Person);
            base.people.token(&token, id, &[]);
            if may_write {
                base.people.grant(PATH, id, Level::Write);
            }
        });
        Some(Arc::new(self.client_with(self.auth(&token), None)))
    }

    async fn demote(&self, login: &str) {
        self.server.with(|base, _| base.people.grant(PATH, newcomer_id(login), Level::Read));
    }

    async fn retarget(&self, number: u64, base: &str) -> bool {
        let path = format!("/api/v3/repos/{PATH}/pulls/{number}");
        let (status, said) =
            self.send(Who::Author, "PATCH", &path, "application/json", &serde_json::json!({ "base": base })).await;
        assert_eq!(status, 200, "{said}");
        true
    }

    async fn leave_pending(&self, number: u64, path: &str, line: u32, body: &str) -> bool {
        let key = self.key(number);
        let anchor = Anchor { path: path.into(), side: "RIGHT".into(), line: Some(line), start_line: None };
        let drafts = [Draft { anchor, body: body.into() }];
        self.server.with(|base, site| site.leave_pending(base, key, id(Who::Bot), &drafts));
        true
    }

    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        let head = self.server.with(|base, site| {
            let head = base.repository(PATH).rev(branch).unwrap();
            site.fail_job(base, PATH, &head, job, log);
            head
        });
        Some((Sha::new(head), job.to_owned()))
    }

    async fn open_pull_from_fork(&self, opener: Who, is_lost: bool) -> Option<u64> {
        Some(self.server.with(|base, site| {
            base.fork(PATH, "stranger/shop");
            base.people.grant("stranger/shop", id(Who::Stranger), Level::Admin);
            base.repository("stranger/shop").commit("gift", Some("main"), &[("gift.txt", Some(b"a gift\n"))], "a gift");
            let number = site.open(base, PATH, ("stranger/shop", "gift"), "main", id(opener), "A gift");
            if is_lost {
                site.delete_project(base, "stranger/shop");
            }
            number
        }))
    }

    async fn protect(&self, branch: &str, wanted: Option<(u32, &str)>) -> bool {
        let protection = wanted.map(|(approvals, check)| Protection { approvals, checks: vec![check.to_owned()] });
        self.server.with(|base, _| base.protect(PATH, branch, protection));
        true
    }

    async fn is_not_sent_again(&self, number: u64) -> bool {
        let forge = self.forge_as(Who::Bot);
        forge.pull(number).await.unwrap();
        forge.pull(number).await.unwrap();
        self.server.log().entries.last().is_some_and(|entry| entry.status == 304)
    }
}
