//! The real server as a stage of the conformance suite.

use crate::runner::workflow;
use crate::server::{AUTHOR, BOT, GiteaPeer, MAINTAINER, STRANGER};
use async_trait::async_trait;
use forge_conformance::{Checkout, Stage, Who};
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Check, CheckState, PullFilter};
use tribunal_core::pull::place::ForgeKind;
use tribunal_forge::port::Forge;

pub struct GiteaStage {
    pub peer: GiteaPeer,
    pub path: String,
    checkout: Checkout,
    /// Tokens of those who came later, by login.
    newcomers: Mutex<BTreeMap<String, String>>,
}

impl GiteaStage {
    pub async fn start(name: &str) -> Option<GiteaStage> {
        let peer = GiteaPeer::start().await?;
        let path = peer.create_repo(name).await;
        // A server like this lets nobody but collaborators ask to merge a branch of the repository itself.
        peer.add_collaborator(&path, AUTHOR, "write").await;
        let checkout = peer.checkout(&path, MAINTAINER).await;
        Some(GiteaStage { peer, path, checkout, newcomers: Mutex::default() })
    }
}

impl GiteaStage {
    /// Puts a label on the branch's pull request, once the server has seen its new head.
    async fn label(&self, branch: &str, head: &Sha, label: &str) {
        let forge = self.forge_as(Who::Maintainer);
        let filter = PullFilter { head_branch: Some(branch.to_owned()), ..PullFilter::default() };
        for _ in 0..6_000 {
            let pulls = forge.pulls(&filter).await.expect("pull requests");
            if let Some(pull) = pulls.iter().find(|pull| pull.head.sha == *head) {
                return forge.add_label(pull.number, &label.into()).await.expect("a label");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("no pull request for {branch} at {head}");
    }

    /// The first such check at a commit, if there comes one.
    async fn check_at(&self, head: &Sha, is_it: impl Fn(&Check) -> bool) -> Option<Check> {
        let bot = self.forge_as(Who::Bot);
        for _ in 0..200 {
            let checks = bot.checks(head).await.expect("checks");
            if let Some(check) = checks.into_iter().find(&is_it) {
                return Some(check);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        None
    }
}

pub fn login(who: Who) -> &'static str {
    match who {
        Who::Bot => BOT,
        Who::Author => AUTHOR,
        Who::Maintainer => MAINTAINER,
        Who::Stranger => STRANGER,
    }
}

#[async_trait]
impl Stage for GiteaStage {
    fn kind(&self) -> ForgeKind {
        ForgeKind::Gitea
    }

    fn forge_as(&self, who: Who) -> Arc<dyn Forge> {
        Arc::new(self.peer.client(login(who), &self.path))
    }

    fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// A review without a word on what it is stays a draft.
    async fn protect(&self, branch: &str, wanted: Option<(u32, &str)>) -> bool {
        match wanted {
            Some((approvals, check)) => {
                let rules = json!({
                    "required_approvals": approvals, "enable_status_check": true, "status_check_contexts": [check],
                });
                self.peer.protect(&self.path, branch, rules).await;
            }
            None => {
                let path = format!("/repos/{}/branch_protections/{branch}", self.path);
                self.peer.api(MAINTAINER, Method::DELETE, &path, None).await;
            }
        }
        true
    }

    async fn newcomer(&self, login: &str, may_write: bool) -> Option<Arc<dyn Forge>> {
        let token = self.peer.add_user(login).await;
        let level = if may_write { "write" } else { "read" };
        self.peer.add_collaborator(&self.path, login, level).await;
        let client = self.peer.client_with(&token, &self.path);
        self.newcomers.lock().expect("the newcomers").insert(login.to_owned(), token);
        Some(Arc::new(client))
    }

    async fn demote(&self, login: &str) {
        self.peer.api(MAINTAINER, Method::DELETE, &format!("/repos/{}/collaborators/{login}", self.path), None).await;
    }

    async fn retarget(&self, number: u64, base: &str) -> bool {
        let path = format!("/repos/{}/pulls/{number}", self.path);
        self.peer.api(AUTHOR, Method::PATCH, &path, Some(json!({ "base": base }))).await;
        true
    }

    async fn open_pull_by_agit(&self, login: &str, files: &[(&str, Option<&str>)]) -> Option<u64> {
        let token = self.newcomers.lock().expect("the newcomers").get(login).cloned()?;
        let remote = format!("{}/{}.git", self.peer.origin(), self.path);
        let theirs = Checkout::new(&remote, Some(format!("token {token}"))).await;
        theirs.push_for("main", "topic", files, "for main").await;
        let pulls = self.forge_as(Who::Maintainer).pulls(&PullFilter::default()).await.expect("pull requests");
        pulls.into_iter().find(|pull| pull.author.login == login).map(|pull| pull.number)
    }

    async fn leave_pending(&self, number: u64, path: &str, line: u32, body: &str) -> bool {
        let comments = json!([{ "path": path, "body": body, "new_position": line }]);
        let review = json!({ "body": "half a review", "comments": comments });
        self.peer.api(BOT, Method::POST, &format!("/repos/{}/pulls/{number}/reviews", self.path), Some(review)).await;
        true
    }

    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        let file = format!(".gitea/workflows/{job}.yml");
        let head = self.push(branch, &[(&file, Some(&workflow(job)))], "a workflow").await;
        self.label(branch, &head, job).await;
        let is_it = |check: &Check| check.name.contains(job);
        // What the server says of a job that it just made must not come after its end.
        let mut is_made = false;
        for _ in 0..30 {
            is_made = is_made || self.check_at(&head, is_it).await.is_some();
        }
        assert!(is_made, "the job {job} is not made");
        let failing = self.peer.next_job(&self.path, log).await;
        for _ in 0..30 {
            failing.tell().await;
            if let Some(check) = self.check_at(&head, |check| is_it(check) && check.state == CheckState::Failure).await {
                return Some((head, check.name));
            }
        }
        let checks = self.forge_as(Who::Bot).checks(&head).await;
        let jobs = self.peer.api(MAINTAINER, Method::GET, &format!("/repos/{}/actions/jobs", self.path), None).await;
        panic!("the job {job} did not fail: {checks:?} {jobs:#}\n{}", self.peer.log());
    }

    async fn open_pull_from_fork(&self, opener: Who, is_lost: bool) -> Option<u64> {
        let fork = self.peer.fork(&self.path, STRANGER, "lost").await;
        let theirs = self.peer.checkout(&fork, STRANGER).await;
        theirs.push("idea", &[("idea.txt", Some("an idea\n"))], "an idea").await;
        let number = self.peer.open_pull(&self.path, login(opener), &format!("{STRANGER}:idea"), "main", "From a fork").await;
        if is_lost {
            self.peer.api(STRANGER, Method::DELETE, &format!("/repos/{fork}"), None).await;
        }
        Some(number)
    }
}
