//! A GitLab with one project and four accounts.

use async_trait::async_trait;
use fake_forge_base::{Kind, Level, Server};
use fake_gitlab::{GitLab as Fake, Quirk};
use forge_conformance::{Checkout, Stage, Who};
use serde_json::json;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::{ForgeKind, Project};
use tribunal_forge::gitlab::{GitLab, Token};
use tribunal_forge::http::pace::Pace;
use tribunal_forge::port::Forge;

/// With a group in a group, which only GitLab has.
pub const PATH: &str = "acme/tools/shop";

pub struct GitLabStage {
    pub server: Server<Fake>,
    checkout: Checkout,
}

pub fn id(who: Who) -> u64 {
    match who {
        Who::Bot => 101,
        Who::Author => 102,
        Who::Maintainer => 103,
        Who::Stranger => 104,
    }
}

pub fn token(who: Who) -> String {
    // 17: nothing may depend on how long a token is.
    let long = "x".repeat(600);
    format!("{who:?}-{long}")
}

impl GitLabStage {
    pub async fn new() -> GitLabStage {
        let server = Server::start(Fake::default());
        server.with(|base, _| {
            let project = base.add_project(PATH);
            project.repository.commit("main", None, &[("README.md", Some(b"A shop.\n"))], "first");
            for who in Who::ALL {
                let kind = if who == Who::Bot { Kind::Bot } else { Kind::Person };
                base.people.add(id(who), &format!("{who:?}").to_lowercase(), kind);
                base.people.token(&token(who), id(who), &["api"]);
            }
            for (who, level) in [(Who::Bot, Level::Write), (Who::Author, Level::Write), (Who::Maintainer, Level::Admin)] {
                base.people.grant(PATH, id(who), level);
            }
        });
        let remote = format!("{}/{PATH}.git", server.url());
        // What production code sends to git is what the checks push with.
        let checkout = Checkout::new(&remote, authorization(&server.url())).await;
        GitLabStage { server, checkout }
    }

    pub fn client(&self, who: Who) -> GitLab {
        client(&self.server.url(), PATH, &token(who)).unwrap()
    }

    pub fn project_id(&self) -> u64 {
        self.server.with(|base, _| base.project(PATH).unwrap().id)
    }

    /// Past the client: what it would never send.
    pub async fn send(&self, who: Who, method: reqwest::Method, rest: &str, body: serde_json::Value) -> (u16, serde_json::Value) {
        let url = format!("{}/api/v4/projects/{}{rest}", self.server.url(), self.project_id());
        let plain = forge_conformance::plain_client();
        let request = plain.request(method, url).header("private-token", token(who));
        let answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
    }
}

pub fn client(origin: &str, path: &str, token: &str) -> Result<GitLab, ForgeFault> {
    let project = Project { origin: origin.into(), path: path.into() };
    let bound = BoundToken::given_for_url(origin, token).unwrap();
    GitLab::new(project, Token::Access(bound), Pace::NONE, None)
}

fn authorization(origin: &str) -> Option<String> {
    use tribunal_core::pull::facts::{Account, AccountKind, Mergeable, Pull, PullState, Tip};
    use tribunal_forge::port::Read as _;
    let tip = || Tip { branch: "main".into(), sha: "0".into(), repository: None };
    let author = Account { id: "1".into(), login: "x".into(), kind: AccountKind::Unknown };
    let pull = Pull {
        number: 1,
        title: String::new(),
        body: String::new(),
        author,
        state: PullState::Open,
        draft: false,
        head: tip(),
        base: tip(),
        is_fork: false,
        labels: Vec::new(),
        url: String::new(),
        updated_at: String::new(),
        mergeable: Mergeable::Unknown,
        changed_files: None,
    };
    client(origin, PATH, &token(Who::Maintainer)).unwrap().source(&pull).authorization
}

fn newcomer_id(login: &str) -> u64 {
    1_000 + login.bytes().map(u64::from).sum::<u64>()
}

#[async_trait]
impl Stage for GitLabStage {
    fn kind(&self) -> ForgeKind {
        ForgeKind::GitLab
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
            base.people.token(&token, id, &["api"]);
            if may_write {
                base.people.grant(PATH, id, Level::Write);
            }
        });
        Some(Arc::new(client(&self.server.url(), PATH, &token).unwrap()))
    }

    async fn demote(&self, login: &str) {
        self.server.with(|base, _| base.people.grant(PATH, newcomer_id(login), Level::Read));
    }

    async fn retarget(&self, number: u64, base: &str) -> bool {
        let wanted = json!({ "target_branch": base });
        let (status, said) = self.send(Who::Author, reqwest::Method::PUT, &format!("/merge_requests/{number}"), wanted).await;
        assert_eq!(status, 200, "{said}");
        true
    }

    async fn leave_pending(&self, number: u64, path: &str, line: u32, body: &str) -> bool {
        let version = self.send(Who::Bot, reqwest::Method::GET, &format!("/merge_requests/{number}/versions"), json!({})).await.1;
        let version = &version[0];
        let position = json!({
            "position_type": "text",
            "base_sha": version["base_commit_sha"],
            "start_sha": version["start_commit_sha"],
            "head_sha": version["head_commit_sha"],
            "old_path": path,
            "new_path": path,
            "new_line": line,
        });
        let draft = json!({ "note": body, "position": position });
        let (status, said) =
            self.send(Who::Bot, reqwest::Method::POST, &format!("/merge_requests/{number}/draft_notes"), draft).await;
        assert_eq!(status, 201, "{said}");
        true
    }

    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        let head = self.server.with(|base, site| {
            let head = base.repository(PATH).rev(branch).unwrap();
            let by = base.people.by_id(id(Who::Maintainer)).unwrap().clone();
            site.fail_job(base, PATH, &head, job, log, &by);
            head
        });
        Some((Sha::new(head), job.to_owned()))
    }

    /// Here it is the project that asks, for all of its branches.
    async fn protect(&self, _: &str, wanted: Option<(u32, &str)>) -> bool {
        self.server.with(|_, site| {
            let rules = site.rules();
            rules.approvals = wanted.map(|(approvals, _)| approvals);
            rules.pipeline_must_succeed = wanted.is_some();
        });
        true
    }

    async fn open_pull_from_fork(&self, opener: Who, is_lost: bool) -> Option<u64> {
        let fork = "stranger/shop";
        let (source, target) = self.server.with(|base, _| {
            let repository = base.fork(PATH, fork).repository.clone();
            repository.commit("lost", Some("main"), &[("lost.txt", Some(b"from a fork\n"))], "lost");
            base.people.grant(fork, id(Who::Stranger), Level::Admin);
            // Only those who may write to the fork open something from it.
            base.people.grant(fork, id(opener), Level::Admin);
            (base.project(fork).unwrap().id, base.project(PATH).unwrap().id)
        });
        let plain = forge_conformance::plain_client();
        let url = format!("{}/api/v4/projects/{source}/merge_requests", self.server.url());
        let body =
            json!({ "source_branch": "lost", "target_branch": "main", "title": "From a fork", "target_project_id": target });
        let request = plain.post(url).header("private-token", token(opener)).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201);
        let opened: serde_json::Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        if is_lost {
            self.server.with(|base, _| base.remove_project(fork));
        }
        opened["iid"].as_u64()
    }
}

/// The name of a quirk is enough where a test reads well.
pub fn arm(stage: &GitLabStage, quirk: Quirk, times: fake_forge_base::Times) {
    stage.server.arm(quirk, times);
}
