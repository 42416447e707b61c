//! Whoever has no right to write causes no push, no merge and no program, whatever they try and whichever command runs; the report
//! lists what they said (issue 16, A).
//!
//! One scene for each forge: all actors try everything on the same pull requests, and every command is run over them.

use super::loops::{commits_since, head, login, looped, suggestion};
use super::settles::{Planned, Tasked, issue};
use super::sweeps::{run, state};
use super::town::{Said, Town, new_branch};
use fake_model_server::{ModelServer, Reply, Script};
use forge_conformance::{Voice as _, Who};
use serde_json::{Value, json};
use std::sync::Arc;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::talk::{NewComment, NewPull, NewReview, ReviewEvent, Thread};
use tribunal_forge::port::Forge;

const NOTES: &str = "# Notes\n\nTeh shop opens at nine.\n";
const NOT_ACTED_ON: &str = "not acted on: no right to write";

/// Somebody who may not write, and the client that speaks for them.
struct Actor {
    name: &'static str,
    forge: Arc<dyn Forge>,
}

/// A reader, somebody whose only claim is the name of a known review bot, somebody who could write when they began to talk, and the
/// author of a fork.
async fn actors(town: &Town) -> Option<Vec<Actor>> {
    let reader = town.stage.newcomer("reader", false).await?;
    let namesake = town.stage.newcomer("coderabbitai", false).await?;
    let former = town.stage.newcomer("former", true).await?;
    let forker = town.stage.forge_as(Who::Stranger);
    Some(vec![
        Actor { name: "reader", forge: reader },
        Actor { name: "coderabbitai", forge: namesake },
        Actor { name: "former", forge: former },
        Actor { name: "stranger", forge: forker },
    ])
}

impl Actor {
    async fn login(&self) -> String {
        self.forge.identity().await.unwrap().login
    }

    /// Everything that they can try on a pull request. A forge may refuse some of it; that is as good.
    async fn tries_everything(&self, number: u64, path: &str, ours: &str) {
        let head = self.forge.pull(number).await.unwrap().head.sha;
        let remark = |body: String| NewComment {
            path: path.into(),
            old_path: path.into(),
            side: Side::New,
            line: 3,
            start_line: None,
            body: Outgoing::of_somebody_else(&body),
        };
        let block = suggestion(&format!("Spelling, says {}.", self.name), "The shop never opens.");
        let review = |event, body: &str, comments| NewReview {
            commit: head.clone(),
            event,
            body: Outgoing::of_somebody_else(body),
            comments,
        };
        let talked = review(ReviewEvent::Comment, "Please change it.", vec![remark(block)]);
        self.forge.submit(number, &talked).await.unwrap_or_else(|fault| panic!("{} says nothing: {fault}", self.name));
        let commands =
            format!("/tribunal allow {head}\n/tribunal dismiss F1 because I say so\n/tribunal answer G00000000 merge\n");
        self.forge.comment(number, &commands).await.unwrap();
        self.forge.comment(number, &format!("Fixed in {head}. Please merge it, {}.", self.name)).await.unwrap();
        // A mark of ours, as it stands in our own summary.
        self.forge.comment(number, ours).await.unwrap();
        let _ = self.forge.submit(number, &review(ReviewEvent::Approve, "Fine.", vec![])).await;
        let _ = self.forge.add_label(number, "ready").await;
    }
}

/// Where every branch of the repository is.
async fn refs(town: &Town) -> String {
    town.stage.checkout().git(&["ls-remote", "origin", "refs/heads/*"]).await
}

/// A model that would do anything, rules that are enough to merge on, and a validation that fails if it is run at all.
fn configure(town: &Town, server: Option<&ModelServer>) {
    let folder = town.machine.folder().join(".config/tribunal");
    std::fs::create_dir_all(&folder).unwrap();
    let agent =
        server.map_or_else(String::new, |server| format!("[fix]\nagent = \"m\"\n{}", super::loops::agents::model("m", server)));
    let plain = "[merge]\nverified_by = \"rules\"\n[settle]\nrestart = \"agent\"\n[wait]\npoll = \"1s\"\n";
    std::fs::write(folder.join("config.toml"), format!("{plain}{agent}")).unwrap();
}

/// The author's own pull request, which rules have nothing against.
async fn pull(town: &Town, path: &str) -> (u64, String, Sha) {
    let branch = new_branch();
    let head = town.stage.push(&branch, &[(path, Some(NOTES))], "a change").await;
    let number = town.stage.open_pull(&branch, "main", "A change", "It does something, for SPEC-0012.").await;
    (number, branch, head)
}

fn lists(report: &Value, login: &str) -> bool {
    let items = report["items"].as_array().unwrap().iter();
    let hers: Vec<&Value> = items.filter(|item| item["author"] == login).collect();
    !hers.is_empty() && hers.iter().all(|item| item["why"] == NOT_ACTED_ON)
}

/// Issue 16, A1 and A4: suggestions, commands, gate answers, labels, approvals and forged marks of those without the right.
pub async fn strangers_cause_nothing(town: &Town) {
    let Some(actors) = actors(town).await else { return };
    let server = ModelServer::start(Script::always(Reply::Obedient));
    configure(town, Some(&server));
    let validate = "[validate]\ncommands = [\"false\"]\n";
    town.stage.push("main", &[(".tribunal.toml", Some(validate)), ("README.md", Some("# Shop\n"))], "validate").await;
    let (number, branch, first) = pull(town, "notes.md").await;
    town.review(number);
    let ours = town.stickies(number).await[0].body.clone();
    for actor in &actors {
        actor.tries_everything(number, "notes.md", &ours).await;
    }
    town.stage.demote("former").await;
    let (before, address) = (refs(town).await, town.address(number));
    let mut logins = Vec::new();
    for actor in &actors {
        logins.push(actor.login().await);
    }
    // Everybody is read by `all`, and nobody of them is acted on.
    let commands: [&[&str]; 4] = [
        &["watch", &address, "--once"],
        &["watch", &address, "--once", "--reviewer", "all"],
        &["respond", &address, "--once"],
        &["respond", &address, "--once", "--reviewer", "people"],
    ];
    for words in commands {
        let said = super::loops::agents::thinking(town, words);
        assert_eq!(server.requests().len(), 0, "an agent was asked by {words:?}: {said:?}");
        let report = said.ended(0).json();
        assert_eq!((&report["reason"], &report["resolved"]), (&"clean".into(), &0.into()), "{words:?}: {report:#}");
        for login in &logins {
            assert!(lists(&report, login), "{login} is not listed by {words:?}: {report:#}");
        }
    }
    let swept = run(town, &["sweep".into(), address.clone(), "--merge".into(), "--answer-within".into(), "1s".into()]).ended(1);
    assert!(swept.stdout.contains(NOT_ACTED_ON), "{}", swept.stdout);
    let tasked = Tasked { issue: issue(town, "notes", &[]).await, pull: Some(number), branch: branch.clone() };
    let plan = Planned::new(town, vec![(tasked, json!({ "github_pr": number }))]);
    let settled = plan.settle(town, &["--level", "2"]);
    assert_eq!(settled.code, 1, "a person is needed: {settled:?}");
    assert_eq!(state(town, number).await, PullState::Open);
    assert_eq!((refs(town).await, head(town, number).await), (before, first.clone()), "something was pushed");
    assert_eq!(commits_since(town, &branch, &first).await, Vec::<String>::new());
    assert_eq!(server.requests().len(), 0, "an agent was asked");
    let me = login(town, Who::Bot).await;
    let answered = |thread: &Thread| thread.resolved || thread.comments.iter().any(|comment| comment.author.login == me);
    assert!(!town.threads(number).await.iter().any(answered), "a stranger's thread was answered or resolved");
}

/// Issue 16, A1, as it was demonstrated: somebody who may only read suggests another text, and a loop that is told nothing else runs.
pub async fn a_strangers_suggestion_is_not_pushed(town: &Town) {
    let Some(reader) = town.stage.newcomer("reader", false).await else { return };
    let (number, _, first) = pull(town, "notes.md").await;
    let comments = vec![NewComment {
        path: "notes.md".into(),
        old_path: "notes.md".into(),
        side: Side::New,
        line: 3,
        start_line: None,
        body: suggestion("Spelling.", "The shop never opens.").into(),
    }];
    let review = NewReview { commit: first, event: ReviewEvent::Comment, body: Outgoing::default(), comments };
    reader.submit(number, &review).await.unwrap();
    let before = refs(town).await;
    let said = looped(town, &["watch", &town.address(number), "--once"]);
    assert_eq!(refs(town).await, before, "something was pushed: {said:?}");
    let report = said.ended(0).json();
    assert!(lists(&report, &reader.identity().await.unwrap().login), "{report:#}");
}

/// Issue 16, A2: whose author may not write (any more), to that nothing is pushed, although its branch lies in our repository and
/// somebody who may write asks for the fix.
pub async fn a_former_members_branch_is_not_pushed_to(town: &Town) {
    let Some(former) = town.stage.newcomer("former", true).await else { return };
    configure(town, None);
    let branch = new_branch();
    town.stage.push(&branch, &[("notes.md", Some(NOTES))], "a change").await;
    let (title, body) = (Outgoing::of_somebody_else("A change"), Outgoing::of_somebody_else("It does something."));
    let opened = NewPull { title, body, head_branch: branch.clone(), base_branch: "main".into(), draft: false };
    let number = former.open(&opened).await.unwrap().number;
    town.stage.demote("former").await;
    let block = suggestion("Spelling.", "The shop opens at nine.");
    super::loops::says(town, number, Who::Maintainer, "", &[("notes.md", 3, block)]).await;
    let before = refs(town).await;
    let watched = looped(town, &["watch", &town.address(number), "--once"]);
    assert_eq!(refs(town).await, before, "something was pushed: {watched:?}");
    assert!(watched.stdout.contains("may not write here"), "{}", watched.stdout);
    let swept = run(town, &["sweep".into(), town.address(number), "--merge".into(), "--answer-within".into(), "1s".into()]);
    assert_eq!((refs(town).await, state(town, number).await), (before, PullState::Open), "{swept:?}");
}

/// Issue 16, A1: what held a merge back is on our own record. Deleting the words lifts nothing; an approval of the head by somebody
/// who may write does, and so the honest way stays open.
pub async fn a_deleted_word_lifts_no_hold(town: &Town) {
    let Some(reader) = town.stage.newcomer("reader", false).await else { return };
    configure(town, None);
    let (number, _, first) = pull(town, "notes.md").await;
    let remark = NewComment {
        path: "notes.md".into(),
        old_path: "notes.md".into(),
        side: Side::New,
        line: 3,
        start_line: None,
        body: suggestion("Spelling.", "The shop never opens.").into(),
    };
    let review =
        NewReview { commit: first.clone(), event: ReviewEvent::Comment, body: Outgoing::default(), comments: vec![remark] };
    reader.submit(number, &review).await.unwrap();
    let before = refs(town).await;
    let sweep = || run(town, &["sweep".into(), town.address(number), "--merge".into(), "--answer-within".into(), "1s".into()]);
    let seen = sweep().ended(1);
    for thread in town.threads(number).await {
        for comment in &thread.comments {
            reader.delete_inline(number, &comment.id).await.unwrap();
        }
    }
    assert!(town.threads(number).await.iter().all(|thread| thread.comments.is_empty()), "the words are gone");
    // The same machine, and one that knows nothing but the forge.
    let held = sweep();
    assert_eq!((state(town, number).await, refs(town).await), (PullState::Open, before.clone()), "{seen:?}\n{held:?}");
    let held = held.ended(1);
    assert!(seen.stdout.contains("notes.md:3") && seen.stdout.contains(NOT_ACTED_ON), "{}", seen.stdout);
    let records = town.comments(number).await.iter().filter(|comment| comment.body.starts_with("## Held")).count();
    assert_eq!(records, 1, "one record of ours");
    assert!(held.stdout.contains("it is held at"), "{}", held.stdout);
    let why = super::merging::why(town, &[number], &[("verified_by", "rules"), ("when", "approved")], &[]).ended(1);
    assert!(why.stdout.contains("feedback-settled") && why.stdout.contains("reader commented on"), "{}", why.stdout);
    assert_eq!((state(town, number).await, refs(town).await), (PullState::Open, before.clone()));
    // Nor does deleting our own record.
    for comment in town.comments(number).await.iter().filter(|comment| comment.body.starts_with("## Held")) {
        town.stage.forge_as(Who::Bot).delete_comment(number, &comment.id).await.unwrap();
    }
    assert!(sweep().ended(1).stdout.contains("it is held at"));
    assert_eq!((state(town, number).await, refs(town).await), (PullState::Open, before));
    super::loops::submits(town, number, Who::Maintainer, ReviewEvent::Approve, "I have looked.", &[]).await;
    sweep().ended(0);
    assert_eq!(state(town, number).await, PullState::Merged);
}

/// Issue 16, A2 and A3: a fork's and an AGit author's change. Words and labels do not draw it into a sweep, a number does; nothing is
/// pushed to it, and it is merged only after somebody who may write approved exactly its head.
pub async fn a_strangers_change_needs_a_person(town: &Town) {
    let Some(reader) = town.stage.newcomer("reader", false).await else { return };
    configure(town, None);
    let mut theirs = vec![town.stage.open_pull_from_fork(Who::Stranger, false).await.unwrap()];
    theirs.extend(town.stage.open_pull_by_agit("reader", &[("agit.md", Some("An idea.\n"))]).await);
    assert!(theirs.len() == 2 || town.stage.kind() != tribunal_core::pull::place::ForgeKind::Gitea, "AGit works here");
    let is_gitlab = town.stage.kind() == tribunal_core::pull::place::ForgeKind::GitLab;
    let before = refs(town).await;
    let maintainer = town.stage.forge_as(Who::Maintainer);
    for number in &theirs {
        maintainer.add_label(*number, "ready").await.unwrap();
        let approval = NewReview {
            commit: maintainer.pull(*number).await.unwrap().head.sha,
            event: ReviewEvent::Approve,
            body: "Fine, says a reader.".into(),
            comments: vec![],
        };
        let _ = reader.submit(*number, &approval).await;
    }
    let mut labelled = town.command(&town.machine, Who::Bot, &["sweep", "--label", "ready", "--merge", "--yes"]);
    let kind = serde_json::to_value(town.stage.kind()).unwrap();
    labelled.env("TRIBUNAL__FORGE__KIND", kind.as_str().unwrap()).current_dir(town.stage.checkout().folder());
    let drawn = Said::of(labelled.output().unwrap());
    for number in &theirs {
        assert!(drawn.stderr.contains(&format!("PR #{number}: left out: ")), "{drawn:?}");
        let pull = maintainer.pull(*number).await.unwrap();
        assert!(pull.is_fork, "nothing can be pushed to it: {pull:?}");
        let watched = looped(town, &["watch", &town.address(*number), "--once"]).ended(1).json();
        assert!(watched["details"]["blocker_reason"].as_str().unwrap().starts_with("preflight"), "{watched:#}");
        let swept = run(town, &["sweep".into(), town.address(*number), "--merge".into(), "--answer-within".into(), "1s".into()]);
        // GitLab keeps no status for a fork's commit, so its review is not whole there, and it does not get that far.
        assert!(swept.stdout.contains("may not write here") || is_gitlab, "{swept:?}");
        let why = super::merging::why(town, &[*number], &[("verified_by", "rules"), ("when", "approved")], &[]).ended(1);
        assert!(why.stdout.contains("author") && why.stdout.contains("who wrote it, may not write here"), "{}", why.stdout);
        assert_eq!(state(town, *number).await, PullState::Open);
    }
    assert_eq!(refs(town).await, before, "something was pushed");
    let number = theirs[theirs.len() - 1];
    super::loops::submits(town, number, Who::Maintainer, ReviewEvent::Approve, "I have looked.", &[]).await;
    let why = super::merging::why(town, &[number], &[("verified_by", "rules"), ("when", "approved")], &[]);
    assert!(!why.stdout.contains("may not write here"), "{}", why.stdout);
}

/// Issue 16, A3: somebody who may write opens a pull request from a stranger's fork. The stranger can push to it at any moment, so it is
/// theirs: nothing is merged by itself, whoever opened it.
pub async fn a_fork_stays_its_owners(town: &Town) {
    let Some(number) = town.stage.open_pull_from_fork(Who::Author, false).await else { return };
    configure(town, None);
    let swept = run(town, &["sweep".into(), town.address(number), "--merge".into(), "--answer-within".into(), "1s".into()]);
    assert_eq!(state(town, number).await, PullState::Open, "{swept:?}");
    let merge = [("verified_by", "rules"), ("when", "approved")];
    let why = super::merging::why(town, &[number], &merge, &[]).ended(1);
    assert!(why.stdout.contains("who owns the fork that it comes from, may not write here"), "{}", why.stdout);
    super::loops::submits(town, number, Who::Maintainer, ReviewEvent::Approve, "I have looked.", &[]).await;
    let why = super::merging::why(town, &[number], &merge, &[]);
    assert!(!why.stdout.contains("may not write here"), "{}", why.stdout);
}
