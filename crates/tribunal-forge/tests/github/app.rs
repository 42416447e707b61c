//! A GitHub App: its note, its tokens, and what each of them may do.

use crate::contract;
use crate::stage::{GitHubStage, PATH};
use crate::tour::{remark, review};
use async_trait::async_trait;
use fake_forge_base::{Kind, Times};
use fake_github::{APP_ID, CLIENT_ID, Quirk, private_key};
use forge_conformance::{Checkout, Stage, Who, run};
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::policy::credentials::origin::HttpOrigin;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{AccountKind, CheckState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::{Annotation, AnnotationLevel, Emoji, NewCheckRun, ReactionTarget};
use tribunal_forge::github::app::App;
use tribunal_forge::github::{Auth, GitHub};
use tribunal_forge::port::{CheckCommit, Discuss, Forge, React, Read, Resolve, ReviewPull};

const BOT: u64 = 900;

async fn stage() -> GitHubStage {
    let stage = GitHubStage::new().await;
    stage.server.with(|base, site| {
        base.people.add(BOT, "tribunal[bot]", Kind::Bot);
        site.app_user = Some(BOT);
        site.app_installed.insert(PATH.into());
        for name in ["actions", "checks", "contents", "issues", "metadata", "pull_requests", "statuses"] {
            let level = if name == "metadata" { "read" } else { "write" };
            site.app_permissions.insert((name.into(), level.into()));
        }
    });
    stage
}

fn app(stage: &GitHubStage, issuer: &str) -> GitHub {
    stage.client_with(Auth::App(App::new(issuer, &private_key(), &HttpOrigin::of(&stage.server.url()).unwrap()).unwrap()), None)
}

/// The same place, where the bot is the App.
struct AsApp(GitHubStage);

#[async_trait]
impl Stage for AsApp {
    fn kind(&self) -> ForgeKind {
        ForgeKind::GitHub
    }

    fn name(&self) -> &'static str {
        "GitHub App"
    }

    fn forge_as(&self, who: Who) -> Arc<dyn Forge> {
        match who {
            Who::Bot => Arc::new(app(&self.0, CLIENT_ID)),
            Who::Author | Who::Maintainer | Who::Stranger => self.0.forge_as(who),
        }
    }

    fn checkout(&self) -> &Checkout {
        self.0.checkout()
    }

    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        self.0.fail_job(branch, job, log).await
    }

    async fn open_pull_from_fork(&self, opener: Who, is_lost: bool) -> Option<u64> {
        self.0.open_pull_from_fork(opener, is_lost).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_does_what_every_forge_does() {
    let left_out = [
        ("people::rights_are_told_apart", "an App is nobody's collaborator; its rights are those of its tokens"),
        ("threads::a_thread_is_resolved_and_taken_up_again", "where each thread says that the App may"),
    ];
    run(Arc::new(AsApp(stage().await)), &left_out).await;
}

fn minted(stage: &GitHubStage) -> Vec<serde_json::Value> {
    let log = stage.server.log();
    log.matching("POST", "/access_tokens").iter().map(|entry| serde_json::from_slice(&entry.request_body).unwrap()).collect()
}

/// forges.md 2.3: a token for one repository and one phase, and no more of them than phases.
#[tokio::test]
async fn an_app_reads_with_one_token_and_publishes_with_another() {
    let stage = stage().await;
    let (number, head) = stage.pull("app").await;
    let app = app(&stage, CLIENT_ID);
    let identity = app.identity().await.unwrap();
    assert_eq!((identity.id.as_str(), identity.login.as_str(), identity.kind), ("900", "tribunal[bot]", AccountKind::Bot));
    app.submit(number, &review(&head, vec![remark("app.txt", Side::New, 5, None, "here")])).await.unwrap();
    app.comment(number, &"words".into()).await.unwrap();
    app.react(number, &ReactionTarget::Pull, Emoji::Eyes).await.unwrap();
    let thread = app.threads(number).await.unwrap().remove(0);
    assert!(thread.comments[0].author.is(&identity), "{:?}", thread.comments[0].author);
    let asked = minted(&stage);
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked.iter().all(|body| body["repositories"] == serde_json::json!(["shop"])));
    assert!(asked[0]["permissions"].as_object().unwrap().values().all(|level| level == "read"), "{}", asked[0]);
    assert!(asked.iter().all(|body| body["permissions"]["contents"] == "read"), "reviewing must not be able to push");
    contract::check(&stage.server.log());
}

/// forges.md 8, 9: replying is allowed, resolving is not, and the thread says so before one tries.
#[tokio::test]
async fn resolving_may_be_denied_where_replying_is_not() {
    let stage = stage().await;
    let (number, head) = stage.pull("denied").await;
    let app = app(&stage, &APP_ID.to_string());
    app.submit(number, &review(&head, vec![remark("denied.txt", Side::New, 5, None, "here")])).await.unwrap();
    let thread = app.threads(number).await.unwrap().remove(0);
    assert_eq!(thread.can_resolve, Some(false));
    app.reply(number, &thread, &"fixed in 1234".into()).await.unwrap();
    assert!(matches!(app.resolve(number, &thread).await, Err(ForgeFault::Forbidden { .. })));
}

/// forges.md 1.3: fifty annotations to a call, and the result only with the last of them.
#[tokio::test]
async fn a_check_run_grows_by_fifty_annotations() {
    let stage = stage().await;
    let (_, head) = stage.pull("run").await;
    let app = app(&stage, CLIENT_ID);
    assert!(app.capabilities().await.unwrap().can(Capability::Annotations));
    let annotation = |line| Annotation {
        path: "run.txt".into(),
        start_line: line,
        end_line: line,
        level: AnnotationLevel::Warning,
        title: "A title".into(),
        message: "A message".into(),
    };
    let annotations = (1..=120).map(annotation).collect();
    let (title, summary) = ("120 remarks".into(), "A summary.".into());
    let run = NewCheckRun { name: "tribunal".into(), state: CheckState::Failure, title, summary, annotations };
    app.check_run(&head, &run).await.unwrap();
    stage.server.with(|_, site| assert_eq!(site.world.runs[0].annotations.len(), 120));
    let log = stage.server.log();
    let states: Vec<String> = log
        .entries
        .iter()
        .filter(|entry| entry.path().contains("/check-runs"))
        .map(|entry| serde_json::from_slice::<serde_json::Value>(&entry.answer_body).unwrap()["status"].as_str().unwrap().into())
        .collect();
    assert_eq!(states, ["in_progress", "in_progress", "completed"]);
    let checks = app.checks(&head).await.unwrap();
    assert_eq!((checks[0].name.as_str(), checks[0].state), ("tribunal", CheckState::Failure));
    // What a person cannot do is not tried.
    assert!(matches!(stage.client(Who::Bot).check_run(&head, &run).await, Err(ForgeFault::Unsupported { .. })));
    contract::check(&stage.server.log());
}

/// The second part failed: a part of it is there, so nobody may take it for not done.
#[tokio::test]
async fn half_a_check_run_is_uncertain() {
    let stage = stage().await;
    let (_, head) = stage.pull("half").await;
    let app = app(&stage, CLIENT_ID);
    let annotation = Annotation {
        path: "half.txt".into(),
        start_line: 1,
        end_line: 1,
        level: AnnotationLevel::Notice,
        title: "".into(),
        message: "m".into(),
    };
    let annotations = vec![annotation; 51];
    let run = NewCheckRun { name: "t".into(), state: CheckState::Success, title: "t".into(), summary: "s".into(), annotations };
    app.identity().await.unwrap();
    stage.server.with(|base, _| base.faults.arm_after(Quirk::SecondaryLimit, 3, Times::Once));
    assert!(app.check_run(&head, &run).await.unwrap_err().is_uncertain());
}

/// forges.md 2.3: after its hour a token is minted again, once; a write that met a 401 was not done.
#[tokio::test]
async fn a_token_that_ran_out_is_minted_again_once() {
    let stage = stage().await;
    let (number, _) = stage.pull("hour").await;
    let app = app(&stage, CLIENT_ID);
    app.pull(number).await.unwrap();
    app.comment(number, &"before".into()).await.unwrap();
    stage.server.arm(Quirk::TokenOver, Times::Once);
    app.comment(number, &"after".into()).await.unwrap();
    stage.server.arm(Quirk::TokenOver, Times::Once);
    assert_eq!(app.comments(number).await.unwrap().len(), 2);
    assert_eq!(minted(&stage).len(), 4);
    stage.server.arm(Quirk::TokenOver, Times::Count(2));
    assert!(matches!(app.pull(number).await, Err(ForgeFault::Unauthorized { .. })));
}

#[tokio::test]
async fn an_app_that_is_not_installed_or_not_itself_is_told_so() {
    let stage = stage().await;
    let stranger = app(&stage, "Iv1.other");
    assert!(matches!(stranger.pull(1).await, Err(ForgeFault::Unauthorized { .. })));
    stage.server.with(|_, site| site.app_installed.clear());
    let missing = app(&stage, CLIENT_ID).pull(1).await.unwrap_err();
    assert!(missing.to_string().contains("the App's installation in acme/shop"), "{missing}");
    assert!(App::new(CLIENT_ID, "no key", &HttpOrigin::of("https://github.com").unwrap()).is_err());
}

/// The token of a workflow is an installation's, whatever it looks like: it has no user, and GraphQL says who it is.
#[tokio::test]
async fn a_token_from_a_workflow_knows_itself() {
    let stage = stage().await;
    let scopes = ["installation", "repository=acme/shop", "pull_requests=write"];
    stage.server.with(|base, _| {
        base.people.add(41_898_282, "github-actions[bot]", Kind::Bot);
        base.people.token("ghs_short", 41_898_282, &scopes);
        base.people.token("some-other-form", 41_898_282, &scopes);
    });
    for (token, requests) in [("ghs_short", 1), ("some-other-form", 2)] {
        stage.server.forget_log();
        let identity = stage.client_with(stage.auth(token), None).identity().await.unwrap();
        assert_eq!((identity.login.as_str(), identity.kind), ("github-actions[bot]", AccountKind::Bot));
        assert_eq!(stage.server.log().reads(), requests);
    }
    let (number, _) = stage.pull("workflow").await;
    let client = stage.client_with(stage.auth("ghs_short"), None);
    let refused = client.react(number, &ReactionTarget::Pull, Emoji::Eyes).await.unwrap_err().to_string();
    assert!(refused.contains("issues: write"), "{refused}");
}

/// A log wants a right of its own. Without it, what the run says of itself is read all the same, with the token for reading; with it, the
/// token that opens logs can do nothing else, and the host that keeps them is shown none.
#[tokio::test]
async fn logs_want_a_right_of_their_own() {
    let stage = stage().await;
    let (_, head) = stage.pull("logs").await;
    stage.fail_job("logs", "unit", "src/a.rs:1: error\n").await.unwrap();
    let found = async |app: &GitHub| {
        let check = app.checks(&head).await.unwrap().into_iter().find(|check| check.name == "unit").unwrap();
        app.check_log(&check).await.unwrap().unwrap()
    };
    let log = found(&app(&stage, CLIENT_ID)).await;
    assert_eq!(log, "src/a.rs:1: error\n\n.github:1: failure: Process completed with exit code 1.");
    let asked = minted(&stage);
    assert_eq!(asked[1]["permissions"], serde_json::json!({ "actions": "read", "metadata": "read" }));
    let sent = stage.server.log();
    let elsewhere = sent.matching("GET", "/signed-logs");
    assert_eq!(elsewhere.len(), 1);
    assert!(!elsewhere[0].request_headers.contains_key("authorization"), "{:?}", elsewhere[0].request_headers);

    stage.server.with(|_, site| site.app_permissions.retain(|(name, _)| name != "actions"));
    assert_eq!(found(&app(&stage, CLIENT_ID)).await, ".github:1: failure: Process completed with exit code 1.");
    contract::check(&stage.server.log());
}
