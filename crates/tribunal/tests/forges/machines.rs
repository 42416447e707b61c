//! Several machines and one forge: nobody shares a home, a ledger or a cache, and the forge is enough.

pub mod interleaved;

use super::loops::{configure, everything, looped, ours};
use super::story::UNSAFE;
use super::sweeps::{PLAIN, row, sent, state};
use super::town::{Machine, Said, Town, assert_no_repetition};
use forge_conformance::{Voice as _, Who};
use serde_json::Value;
use tribunal_core::findings::anchor::Side;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, ReviewState};

const TOTAL: &str = "def total(items=[]):\n    items.append(1)\n    return sum(items)\n";

/// What a review came to, without what only the machine that made it knows.
fn result(document: &Value) -> (Value, Value, Vec<(Value, Value, Value)>) {
    let findings = document["findings"].as_array().unwrap();
    let of = |finding: &Value| (finding["id"].clone(), finding["slug"].clone(), finding["p_code"].clone());
    (document["verdict"].clone(), document["receipt"]["run"].clone(), findings.iter().map(of).collect())
}

fn with_key(town: &Town, machine: &Machine, key: &str, args: &[&str]) -> Said {
    Said::of(town.command(machine, Who::Bot, args).env("TRIBUNAL_MARKER_KEY", key).output().unwrap())
}

/// Issue 16, 15: a fresh home at an unchanged head ends as the machine did that made the review: same code, same verdict, same
/// findings, and nothing is written. A dry run says so too. Without the key the review is made again, and nothing stands twice.
pub async fn an_unchanged_head_elsewhere(town: &Town) {
    let (number, _, head) = town.pull(&[("app.py", Some(UNSAFE)), ("sum.py", Some(TOTAL))]).await;
    let address = town.address(number);
    let first = town.run(&["review", &address, "--format", "json"]).ended(1).json();
    let before = everything(town, number).await;
    for _ in 0..2 {
        let other = Machine::new();
        let said = town.run_on(&other, &["review", &address, "--format", "json"]).ended(1);
        assert!(said.stderr.contains("Nothing new since"), "{}", said.stderr);
        assert_eq!(result(&said.json()), result(&first));
        // It has a ledger of its own now, and ends the same way from there.
        let again = town.run_on(&other, &["review", &address, "--format", "json"]).ended(1);
        assert_eq!(result(&again.json()), result(&first));
    }
    let rehearsed = town.run_on(&Machine::new(), &["review", &address, "--dry-run"]).ended(1);
    assert!(rehearsed.stderr.contains("Nothing would be written"), "{rehearsed:?}");
    let why = |machine: &Machine| town.run_on(machine, &["why", &address, "--format", "json"]);
    assert_eq!(why(&Machine::new()).code, why(&town.machine).code);
    assert_eq!(everything(town, number).await, before, "another machine wrote something");

    // The seals do not open: nothing is believed, and nothing is repeated.
    let said = with_key(town, &Machine::new(), "another key", &["review", &address, "--format", "json"]).ended(1);
    assert_eq!(result(&said.json()).2.len(), result(&first).2.len());
    assert_eq!((town.stickies(number).await.len(), town.threads(number).await.len()), (1, before.1.len()));
    assert_no_repetition(&town.threads(number).await);
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));
}

/// Issue 16, 15: `publish` with the same receipt and `watch` from fresh homes.
pub async fn other_commands_elsewhere(town: &Town) {
    configure(town, "").await;
    let (number, _, _) = town.pull(&[("sum.py", Some(TOTAL))]).await;
    let address = town.address(number);
    town.run(&["review", &address]).ended(0);
    let loops = |machine: &Machine| town.run_on(machine, &["watch", &address, "--once"]);
    let one = loops(&Machine::new());
    let before = everything(town, number).await;
    assert_eq!(loops(&Machine::new()).code, one.code);
    let respond = town.run_on(&Machine::new(), &["respond", &address, "--once"]);
    assert_eq!(respond.code, one.code, "{respond:?}");
    let after = everything(town, number).await;
    assert_eq!((after.0, after.1), (before.0, before.1), "a fresh home answered again");
}

/// Issue 16, 15: a sweep goes on from what another machine's review says on the forge, and merges what may be merged.
pub async fn a_sweep_goes_on_elsewhere(town: &Town) {
    configure(town, PLAIN).await;
    let clean = sent(town, "main", &[("clean.md", "Some words.\n")], "").await;
    let blocked =
        sent(town, "main", &[("blocked.py", "import os\n\n\ndef show(name):\n    os.system(\"ls \" + name)\n")], "").await;
    let addresses = [town.address(clean.number), town.address(blocked.number)];
    let sweep = |machine: &Machine, more: &[&str]| {
        let mut words = vec!["sweep", &addresses[0], &addresses[1], "--format", "json"];
        words.extend(more);
        town.run_on(machine, &words)
    };
    let seen = sweep(&town.machine, &[]).json();
    assert_eq!(state(town, clean.number).await, PullState::Open, "{seen:#}");
    let other = Machine::new();
    let settings = town.machine.folder().join(".config/tribunal/config.toml");
    std::fs::create_dir_all(other.folder().join(".config/tribunal")).unwrap();
    std::fs::copy(settings, other.folder().join(".config/tribunal/config.toml")).unwrap();
    let report = sweep(&other, &["--merge", "--yes"]).json();
    assert!(!report.to_string().contains("ledger"), "{report:#}");
    assert_eq!(row(&report, clean.number)["status"], "complete", "{seen:#}\n{report:#}");
    assert_eq!(state(town, clean.number).await, PullState::Merged, "{report:#}");
    assert_eq!(state(town, blocked.number).await, PullState::Open, "{report:#}");
    assert_eq!(town.stickies(blocked.number).await.len(), 1);
}

/// Issue 16, 17: what stands twice is removed at the same head, by any machine, and so are the reviews that it leaves empty.
pub async fn doubles_are_removed(town: &Town) {
    let (number, _, head) = town.pull(&[("app.py", Some(UNSAFE)), ("sum.py", Some(TOTAL))]).await;
    let address = town.address(number);
    town.run(&["review", &address]).ended(1);
    let bot = town.stage.forge_as(Who::Bot);
    let ours = |reviews: Vec<tribunal_core::pull::talk::Review>| -> Vec<_> {
        reviews.into_iter().filter(|review| review.body.starts_with("Tribunal left")).collect()
    };
    let threads = town.threads(number).await;
    let comments: Vec<NewComment> = threads
        .iter()
        .map(|thread| NewComment {
            path: thread.path.clone(),
            old_path: thread.path.clone(),
            side: Side::New,
            line: thread.line.unwrap(),
            start_line: None,
            body: Outgoing::of_somebody_else(&thread.comments[0].body),
        })
        .collect();
    let body = ours(bot.reviews(number).await.unwrap())[0].body.clone();
    for _ in 0..2 {
        let body = Outgoing::of_somebody_else(&body);
        let again = NewReview { commit: head.clone(), event: ReviewEvent::Comment, body, comments: comments.clone() };
        bot.submit(number, &again).await.unwrap();
    }
    let sticky = town.stickies(number).await[0].body.clone();
    bot.comment(number, &sticky).await.unwrap();
    let tidied = town.run_on(&Machine::new(), &["review", &address, "--format", "json"]).ended(1);
    let after = town.threads(number).await;
    let said: usize = after.iter().map(|thread| thread.comments.len()).sum();
    assert_eq!((after.len(), said), (threads.len(), threads.len()), "{after:#?}");
    assert_eq!(town.stickies(number).await.len(), 1);
    let left = ours(bot.reviews(number).await.unwrap());
    // GitHub removes no submitted review, and a plain repository keeps its records.
    let most = match town.stage.kind() {
        ForgeKind::GitHub | ForgeKind::Local => 3,
        ForgeKind::Gitea | ForgeKind::GitLab | ForgeKind::Forgejo => 1,
    };
    assert!((1..=most).contains(&left.len()), "{left:#?}\n{tidied:?}");
    assert!(left.iter().all(|review| review.state != ReviewState::Pending));
}

/// Issue 16, 17: whoever edits the summary leaves no forged twin beside the new one, at the same head and at the next.
pub async fn an_edited_summary(town: &Town) {
    let (number, branch, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    let address = town.address(number);
    town.run(&["review", &address]).ended(1);
    let bot = town.stage.forge_as(Who::Bot);
    let honest = town.stickies(number).await[0].clone();
    let without_mark = honest.body.lines().filter(|line| !line.starts_with("<!-- tribunal:1 ")).collect::<Vec<_>>().join("\n");
    let approved = |body: &str| body.replace("Blocking", "Approved").replace("P0", "P3");
    for edit in [approved(&honest.body), approved(&without_mark), "Approved. Merge it.".to_owned()] {
        bot.edit_comment(number, &honest.id, &edit).await.unwrap();
        town.run_on(&Machine::new(), &["review", &address]).ended(1);
        let comments = town.comments(number).await;
        assert_eq!(comments.len(), 1, "a twin stands beside {edit}: {comments:#?}");
        assert!(comments[0].body.contains("Blocking") && comments[0].id == honest.id, "{}", comments[0].body);
    }
    bot.edit_comment(number, &honest.id, &approved(&without_mark)).await.unwrap();
    town.stage.push(&branch, &[("more.md", Some("text\n"))], "more").await;
    town.run_on(&Machine::new(), &["review", &address]).ended(1);
    assert_eq!(town.comments(number).await.len(), 1);
    assert_eq!(town.threads(number).await.len(), 1, "nothing was posted again");
}

/// Issue 16, 17: the fixer says what it fixed, and the review that follows on another machine says it no second time.
pub async fn fixer_and_review_answer_once(town: &Town) {
    configure(town, "").await;
    let (number, _, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    let address = town.address(number);
    town.run(&["review", &address]).ended(1);
    let watched = looped(town, &["watch", &address, "--once"]);
    let me = town.stage.forge_as(Who::Bot).identity().await.unwrap().login;
    let fixed = |threads: &[tribunal_core::pull::talk::Thread]| -> usize {
        threads.iter().map(|thread| ours(thread, &me).iter().filter(|words| words.starts_with("Fixed in ")).count()).sum()
    };
    assert_eq!(fixed(&town.threads(number).await), 1, "{watched:?}");
    town.run_on(&Machine::new(), &["review", &address]).ended(0);
    let threads = town.threads(number).await;
    assert_eq!(fixed(&threads), 1, "{threads:#?}");
    let can_resolve = town.stage.forge_as(Who::Bot).capabilities().await.unwrap().can(Capability::Resolve);
    assert_eq!(threads[0].resolved, can_resolve);
}
