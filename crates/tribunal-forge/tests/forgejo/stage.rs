//! A Forgejo with one repository and four accounts.

use async_trait::async_trait;
use fake_forge_base::{Kind, Level, Protection, Server};
use fake_forgejo::{Contract, Forgejo as Fake, Rules};
use forge_conformance::{Checkout, Stage, Who};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::place::{ForgeKind, Project};
use tribunal_forge::gitea::{Flavour, Gitea};
use tribunal_forge::port::Forge;

/// A person's repository: there the list of assignees tells who may write.
pub const PATH: &str = "maintainer/shop";

pub struct ForgejoStage {
    pub server: Server<Fake>,
    checkout: Checkout,
}

/// Whatever a test was about, what went over the wire must be what Forgejo publishes.
impl Drop for ForgejoStage {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let breaches = Contract::published().breaches(&self.server.log().entries);
            assert!(breaches.is_empty(), "{}", breaches.join("\n"));
        }
    }
}

fn id(who: Who) -> u64 {
    match who {
        Who::Bot => 11,
        Who::Author => 12,
        Who::Maintainer => 13,
        Who::Stranger => 14,
    }
}

fn login(who: Who) -> String {
    format!("{who:?}").to_lowercase()
}

pub fn token(who: Who) -> String {
    format!("{}-token", login(who))
}

impl ForgejoStage {
    pub async fn new() -> ForgejoStage {
        ForgejoStage::with(Rules::default()).await
    }

    pub async fn with(rules: Rules) -> ForgejoStage {
        let server = Server::start(Fake::new(rules));
        server.with(|base, _| {
            base.add_project(PATH).repository.commit("main", None, &[("README.md", Some(b"A shop.\n"))], "first");
            for who in Who::ALL {
                base.people.add(id(who), &login(who), Kind::Person);
                base.people.token(&token(who), id(who), &["all"]);
            }
            for (who, level) in [(Who::Bot, Level::Write), (Who::Author, Level::Write), (Who::Maintainer, Level::Admin)] {
                base.people.grant(PATH, id(who), level);
            }
        });
        let remote = format!("{}/{PATH}.git", server.url());
        let checkout = Checkout::new(&remote, Some(format!("token {}", token(Who::Maintainer)))).await;
        ForgejoStage { server, checkout }
    }

    pub fn client(&self, who: Who) -> Gitea {
        let project = Project { origin: self.server.url(), path: PATH.into() };
        let bound = BoundToken::given_for_url(&project.origin, &token(who)).unwrap();
        Gitea::new(project, Flavour::Forgejo, Some(bound), None).unwrap()
    }

    /// Past the client: what it would never send.
    pub async fn send(&self, who: Who, method: Method, rest: &str, body: Value) -> (u16, Value) {
        let url = format!("{}/api/v1/repos/{rest}", self.server.url());
        let plain = forge_conformance::plain_client();
        let request = plain.request(method, url).header("authorization", format!("token {}", token(who)));
        let request = request.header("content-type", "application/json");
        let answer = if body.is_null() { request } else { request.body(body.to_string()) }.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }
}

fn newcomer_id(login: &str) -> u64 {
    1_000 + login.bytes().map(u64::from).sum::<u64>()
}

#[async_trait]
impl Stage for ForgejoStage {
    fn kind(&self) -> ForgeKind {
        ForgeKind::Forgejo
    }

    fn forge_as(&self, who: Who) -> Arc<dyn Forge> {
        Arc::new(self.client(who))
    }

    fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    async fn newcomer(&self, login: &str, may_write: bool) -> Option<Arc<dyn Forge>> {
        let token = format!("{login}-token");
        self.server.with(|base, _| {
            let id = newcomer_id(login);
            base.people.add(id, login, Kind::Person);
            base.people.token(&token, id, &["all"]);
            if may_write {
                base.people.grant(PATH, id, Level::Write);
            }
        });
        let project = Project { origin: self.server.url(), path: PATH.into() };
        let bound = BoundToken::given_for_url(&project.origin, &token).unwrap();
        Some(Arc::new(Gitea::new(project, Flavour::Forgejo, Some(bound), None).unwrap()))
    }

    async fn demote(&self, login: &str) {
        self.server.with(|base, _| base.people.grant(PATH, newcomer_id(login), Level::Read));
    }

    async fn retarget(&self, number: u64, base: &str) -> bool {
        let wanted = json!({ "base": base });
        let (status, said) = self.send(Who::Author, Method::PATCH, &format!("{PATH}/pulls/{number}"), wanted).await;
        assert_eq!(status, 201, "{said}");
        true
    }

    /// A review without a word on what it is stays a draft.
    async fn leave_pending(&self, number: u64, path: &str, line: u32, body: &str) -> bool {
        let review = json!({ "body": "", "comments": [{ "path": path, "body": body, "new_position": line }] });
        let (status, said) = self.send(Who::Bot, Method::POST, &format!("{PATH}/pulls/{number}/reviews"), review).await;
        assert_eq!((status, said["state"].as_str()), (200, Some("PENDING")), "{said}");
        true
    }

    /// Only a later release keeps what it printed where others can read it.
    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        let head = self.server.with(|base, site| {
            let head = base.repository(PATH).rev(branch).unwrap();
            let by = base.people.by_id(id(Who::Maintainer)).unwrap().clone();
            site.fail_job(base, PATH, &head, job, log, &by);
            head
        });
        Some((Sha::new(head), job.to_owned()))
    }

    async fn protect(&self, branch: &str, wanted: Option<(u32, &str)>) -> bool {
        let protection = wanted.map(|(approvals, check)| Protection { approvals, checks: vec![check.to_owned()] });
        self.server.with(|base, _| base.protect(PATH, branch, protection));
        true
    }

    async fn open_pull_from_fork(&self, opener: Who, is_lost: bool) -> Option<u64> {
        let fork = "stranger/shop";
        self.server.with(|base, _| {
            let repository = base.fork(PATH, fork).repository.clone();
            repository.commit("lost", Some("main"), &[("lost.txt", Some(b"from a fork\n"))], "lost");
        });
        let pull = json!({ "head": "stranger:lost", "base": "main", "title": "From a fork", "body": "" });
        let (status, opened) = self.send(opener, Method::POST, &format!("{PATH}/pulls"), pull).await;
        assert_eq!(status, 201, "{opened}");
        if is_lost {
            self.server.with(|base, _| base.remove_project(fork));
        }
        opened["number"].as_u64()
    }
}
