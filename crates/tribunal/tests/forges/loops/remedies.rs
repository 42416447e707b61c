//! Feedback is fixed, answered and waited for.

use super::super::town::Town;
use super::{
    LINTBOT, Running, commits_since, configure, ends, everything, file, head, login, looped, ours, says, submits, suggestion,
    until,
};
use forge_conformance::{Voice as _, Who};
use serde_json::json;
use tribunal_core::ids::Sha;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{MergeMethod, MergeOrder};
use tribunal_core::pull::talk::{ReviewEvent, Thread};

/// Three findings that rules can fix (the first over three lines), and lines that others talk about.
const SHOP: &str = "import yaml\nfrom decimal import Decimal\n\nLIMIT = 10\nNAMES = [\"a\", \"b\"]\n\n\ndef load(text):\n    return yaml.load(\n        text\n    )\n\n\ndef price():\n    return Decimal(0.1)\n\n\ndef is_fast(mode):\n    return mode is \"fast\"\n\n\ndef total(items):\n    return sum(items)\n";
const FIXED: &str = "import yaml\nfrom decimal import Decimal\n\n# At most so many.\nLIMIT = 10\nNAMES = (\"a\", \"b\")\n\n\ndef load(text):\n    return yaml.safe_load(text)\n\n\ndef price():\n    return Decimal(\"0.1\")\n\n\ndef is_fast(mode):\n    return mode == \"fast\"\n\n\ndef total(items):\n    return sum(items)";
const NOTES: &str = "# Notes\n\nTeh shop opens at nine.\n";

/// A pull request with twelve comments: three of the panel, four of a bot, five of a person.
pub async fn talked_about(town: &Town) -> (u64, String, Sha) {
    configure(town, "").await;
    let (number, branch, first) = town.pull(&[("shop.py", Some(SHOP)), ("notes.md", Some(NOTES))]).await;
    let document = town.review(number);
    assert_eq!(document["findings"].as_array().unwrap().len(), 3, "{document:#}");
    says(
        town,
        number,
        LINTBOT,
        "",
        &[
            ("shop.py", 4, suggestion("Say what it limits.", "# At most so many.\nLIMIT = 10")),
            ("notes.md", 3, suggestion("Spelling.", "The shop opens at nine.")),
            ("shop.py", 10, "YAML is loaded with a loader that builds any Python object.".to_owned()),
            ("shop.py", 22, "The name says little.".to_owned()),
        ],
    )
    .await;
    let maintainer = town.stage.forge_as(Who::Maintainer);
    says(
        town,
        number,
        Who::Maintainer,
        "The layout of the module could be better.",
        &[
            ("shop.py", 5, suggestion("Nobody changes it.", "NAMES = (\"a\", \"b\")")),
            ("shop.py", 23, "Why not `math.fsum`?".to_owned()),
        ],
    )
    .await;
    maintainer.comment(number, "Please add a line to the changelog.").await.unwrap();
    maintainer.comment(number, "Thanks, great work!").await.unwrap();
    (number, branch, first)
}

/// What the same pull request looks like afterwards, whatever happened on the way.
pub async fn assert_remedied(town: &Town, number: u64, branch: &str, first: &Sha, report: &serde_json::Value) {
    assert_eq!(file(town, branch, "shop.py").await, FIXED);
    assert_eq!(file(town, branch, "notes.md").await, "# Notes\n\nThe shop opens at nine.");
    let commits = commits_since(town, branch, first).await;
    assert_eq!(commits.len(), 6, "one for each fix: {commits:#?}");
    for message in &commits {
        let has = |name: &str| message.lines().filter(|line| line.starts_with(name)).count() == 1;
        assert!(has("Tribunal-Item: thread:") && has("Tribunal-Run: "), "{message}");
    }

    let (bot, person, me) = (login(town, LINTBOT).await, login(town, Who::Maintainer).await, login(town, Who::Bot).await);
    let wanted = |who: &str, place: &str, end: &str| format!("{who} {place} {end}");
    let panel: Vec<String> = ends(report).into_iter().filter(|line| line.starts_with(&format!("{me} "))).collect();
    assert!(panel.len() == 3 && panel.iter().all(|line| line.ends_with(" fixed")), "{report:#}");
    let mut others: Vec<String> = ends(report).into_iter().filter(|line| !line.starts_with(&format!("{me} "))).collect();
    others.sort();
    let mut expected = vec![
        wanted(&bot, "shop.py:4", "fixed"),
        wanted(&bot, "notes.md:3", "fixed"),
        wanted(&bot, "shop.py:10", "fixed"),
        wanted(&bot, "shop.py:22", "asked"),
        wanted(&person, "shop.py:5", "fixed"),
        wanted(&person, "shop.py:23", "asked"),
        wanted(&person, "the pull request", "asked"),
        wanted(&person, "the pull request", "asked"),
        wanted(&person, "the pull request", "nothing-asked"),
    ];
    expected.sort();
    assert_eq!(others, expected);

    let can_resolve = town.stage.forge_as(Who::Bot).capabilities().await.unwrap().can(Capability::Resolve);
    let threads = town.threads(number).await;
    assert_eq!(threads.len(), 9);
    for thread in &threads {
        let (by, said) = (thread.comments[0].author.login.as_str(), ours(thread, &me));
        let is_open = ["The name says little.", "Why not"].iter().any(|words| thread.comments[0].body.starts_with(words));
        assert_eq!(said.len(), usize::from(!is_open), "{thread:#?}");
        assert!(said.iter().all(|words| words.starts_with("Fixed in ")), "{said:?}");
        // CF-6, CF-7: a person's thread is closed by that person.
        assert_eq!(thread.resolved, can_resolve && !is_open && by != person, "{thread:#?}");
    }
    // Each reply names a commit that is there, and the one that is about its place.
    for thread in threads.iter().filter(|thread| !ours(thread, &me).is_empty()) {
        let sha = named(thread, &me);
        let message = town.stage.checkout().git(&["log", "-1", "--format=%B", &sha]).await;
        let is_its = message.contains(&format!("Tribunal-Item: thread:{}", thread.id));
        let shares = thread.comments[0].body.contains("YAML is loaded");
        assert!(is_its || shares, "{message} for {thread:#?}");
    }
}

fn named(thread: &Thread, me: &str) -> String {
    let words = ours(thread, me)[0].to_owned();
    words.trim_start_matches("Fixed in ").split('.').next().unwrap().to_owned()
}

/// Issue 6: three reviewers, twelve comments, the embedded fixer; every item comes to its end, and a second pass changes nothing
/// (WL-61, WL-81, CF-6, CF-32).
pub async fn twelve_comments(town: &Town) {
    let (number, branch, first) = talked_about(town).await;
    let address = town.address(number);
    let report = looped(town, &["watch", &address, "--once"]).ended(1).json();
    assert_eq!(report["reason"], "user-input-required", "{report:#}");
    assert_eq!((report["seen"].as_u64(), report["items"].as_array().unwrap().len()), (Some(12), 12), "{report:#}");
    assert_remedied(town, number, &branch, &first, &report).await;

    let before = everything(town, number).await;
    let again = looped(town, &["watch", &address, "--once"]).ended(1).json();
    assert_eq!(again["resolved"], 0, "{again:#}");
    assert_eq!(everything(town, number).await, before, "a second pass changed something");
    // The text for people and programs says the same.
    let text = town.run(&["watch", &address, "--once"]).ended(1).stdout;
    assert!(text.contains("user-input-required"), "{text}");
}

/// Fixes of one pass move each other's lines: each still lands on the line that its reviewer meant.
pub async fn lines_move(town: &Town) {
    configure(town, "").await;
    let lines: String = (1..=12).map(|number| format!("line {number}\n")).collect();
    let (number, branch, first) = town.pull(&[("list.txt", Some(&lines))]).await;
    let remarks = [
        ("list.txt", 2, suggestion("More.", "two\ntwo and a half")),
        ("list.txt", 9, suggestion("Shorter.", "nine")),
        ("list.txt", 5, "This is long.\n\n```suggestion\n```\n".to_owned()),
        ("list.txt", 12, suggestion("The last.", "twelve")),
    ];
    says(town, number, LINTBOT, "", &remarks).await;
    let report = looped(town, &["watch", &town.address(number), "--once"]).ended(0).json();
    assert_eq!(report["reason"], "clean", "{report:#}");
    let wanted = "line 1\ntwo\ntwo and a half\nline 3\nline 4\nline 6\nline 7\nline 8\nnine\nline 10\nline 11\ntwelve";
    assert_eq!(file(town, &branch, "list.txt").await, wanted);
    assert_eq!(commits_since(town, &branch, &first).await.len(), 4);
}

/// With more time than any test takes: what ends it is what happens.
fn watching(town: &Town, number: u64) -> Running {
    Running::start(town, &["watch", &town.address(number), "--poll", "1s", "--idle", "30m", "--total", "60m"])
}

/// WL-10, WL-123: a word that comes while it waits is fixed and answered; then the pull request is merged, and that is the end (WL-53).
pub async fn it_wakes_up(town: &Town) {
    configure(town, "").await;
    let (number, branch, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
    let me = login(town, Who::Bot).await;
    let mut running = watching(town, number);
    running.waits().await;
    says(town, number, LINTBOT, "", &[("notes.md", 3, suggestion("Spelling.", "The shop opens at nine."))]).await;
    until("the answer", || async {
        let threads = town.threads(number).await;
        threads.iter().any(|thread| !ours(thread, &me).is_empty()).then_some(())
    })
    .await;
    assert_eq!(file(town, &branch, "notes.md").await, "# Notes\n\nThe shop opens at nine.");
    // It has looked again by now: its own commit and its own reply wake nobody.
    running.waits().await;
    let maintainer = town.stage.forge_as(Who::Maintainer);
    let sha = head(town, number).await;
    let order = MergeOrder { head: sha, method: MergeMethod::Merge, title: "Notes".into(), message: "".into() };
    // A forge may still be finding out whether it can be merged.
    until("the merge", || async {
        match maintainer.merge(number, &order).await {
            Err(fault) if fault.may_pass() && !fault.is_uncertain() => None,
            merged => {
                merged.unwrap();
                Some(())
            }
        }
    })
    .await;
    let report = running.end().await.ended(0).json();
    assert_eq!((&report["reason"], &report["pull"]["state"]), (&json!("pr-merged"), &json!("merged")), "{report:#}");
    assert_eq!((&report["cycles"], &report["resolved"]), (&json!(1), &json!(1)), "{report:#}");
    assert_eq!(ours(&town.threads(number).await[0], &me).len(), 1);
}

/// WL-11, CF-20: an approval by somebody whose word counts ends it clean; a closed pull request ends it too.
pub async fn an_approval_ends_it(town: &Town) {
    configure(town, "").await;
    let (number, _, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
    let mut running = watching(town, number);
    running.waits().await;
    submits(town, number, Who::Maintainer, ReviewEvent::Approve, "", &[]).await;
    let report = running.end().await.ended(0).json();
    assert_eq!(report["reason"], "clean", "{report:#}");

    let (closed, _, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
    let mut running = watching(town, closed);
    running.waits().await;
    town.stage.forge_as(Who::Maintainer).close(closed).await.unwrap();
    let report = running.end().await.ended(0).json();
    assert_eq!(report["reason"], "pr-closed", "{report:#}");

    // Nothing happens: the wait is over when it said it would be.
    let (quiet, _, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
    let report = looped(town, &["watch", &town.address(quiet), "--poll", "1s", "--idle", "2s"]).ended(75).json();
    assert_eq!(report["reason"], "watch-window-elapsed", "{report:#}");
}
