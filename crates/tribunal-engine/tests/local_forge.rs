//! The local forge, over a bare repository and a ledger on disk, held to what every forge client must do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use async_trait::async_trait;
use forge_conformance::{Checkout, Stage, Who};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Account, AccountKind, CheckState};
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::{NewComment, NewReview, NewStatus, ReviewEvent};
use tribunal_engine::local_book::LedgerBook;
use tribunal_forge::git::Repository;
use tribunal_forge::local::Local;
use tribunal_forge::port::{Forge, Read as _};
use tribunal_store::{Ledger, SealKey};

struct LocalStage {
    repository: Repository,
    ledger: Arc<Ledger>,
    checkout: Checkout,
    /// Everybody under a name of his own, or one person for all.
    several: bool,
    _folder: TempDir,
}

fn account(who: Who) -> Account {
    let (login, kind) = match who {
        Who::Bot => ("tribunal[bot]", AccountKind::Bot),
        Who::Author => ("ada", AccountKind::Person),
        Who::Maintainer => ("grace", AccountKind::Person),
        Who::Stranger => ("mallory", AccountKind::Person),
    };
    Account { id: format!("{login}@example.org"), login: login.into(), kind }
}

fn git(folder: &Path, args: &[&str]) {
    let status = Command::new("git").current_dir(folder).args(args).status().unwrap();
    assert!(status.success(), "git {args:?}");
}

impl LocalStage {
    async fn start(several: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet", "--bare", "--initial-branch=main"]);
        let repository = Repository::discover(folder.path()).unwrap();
        let ledger =
            Arc::new(Ledger::open(&folder.path().join("ledger.db"), SealKey::new(&[7; 32], "local", None)).await.unwrap());
        let checkout = Checkout::new(&folder.path().display().to_string(), None).await;
        let stage = Self { repository, ledger, checkout, several, _folder: folder };
        stage.push("main", &[("README.md", Some("A place to start from.\n"))], "Start").await;
        stage
    }

    fn local(&self, who: Who) -> Local {
        let me = account(if self.several { who } else { Who::Author });
        Local::new(self.repository.clone(), Arc::new(LedgerBook(Arc::clone(&self.ledger))), me)
    }
}

#[async_trait]
impl Stage for LocalStage {
    fn kind(&self) -> ForgeKind {
        ForgeKind::Local
    }

    fn name(&self) -> &'static str {
        if self.several { "local, shared" } else { "local" }
    }

    fn forge_as(&self, who: Who) -> Arc<dyn Forge> {
        Arc::new(self.local(who))
    }

    fn has_accounts(&self) -> bool {
        self.several
    }

    fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        let head = self.repository.commit(&format!("refs/heads/{branch}")).unwrap();
        let status = NewStatus { context: job.to_owned(), state: CheckState::Failure, description: "it fails".into(), url: None };
        self.local(Who::Maintainer).put_status(&head, &status, Some(log)).await.unwrap();
        Some((head, job.to_owned()))
    }

    async fn leave_pending(&self, number: u64, path: &str, line: u32, body: &str) -> bool {
        if !self.several {
            return false;
        }
        let local = self.local(Who::Bot);
        let commit = local.pull(number).await.unwrap().head.sha;
        let (path, body) = (path.to_owned(), body.to_owned());
        let comment = NewComment { old_path: path.clone(), path, side: Side::New, line, start_line: None, body: body.into() };
        let review = NewReview { commit, event: ReviewEvent::Comment, body: "".into(), comments: vec![comment] };
        local.begin_review(number, &review).await.unwrap();
        true
    }
}

/// As one person has it on his own machine.
#[tokio::test(flavor = "multi_thread")]
async fn one_person_alone() {
    forge_conformance::run(Arc::new(LocalStage::start(false).await), &[]).await;
}

/// As several have it who share a repository's folder. All of them can write it, so nobody has fewer rights than the others.
#[tokio::test(flavor = "multi_thread")]
async fn several_people() {
    const ALL_WRITE: &str = "whoever can write the folder may do everything";
    let left_out = [
        ("people::rights_are_told_apart", ALL_WRITE),
        ("merge::a_merge_carries_its_words", ALL_WRITE),
        ("statuses::the_latest_of_each_name_counts", ALL_WRITE),
    ];
    forge_conformance::run(Arc::new(LocalStage::start(true).await), &left_out).await;
}
