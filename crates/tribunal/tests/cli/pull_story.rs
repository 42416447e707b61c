//! A pull request from its first commit to its merge, without a server (design section 5).

use super::sandbox::{Run, SHARED_LIST, SHARED_LIST_LINE, Sandbox, finish};
use serde_json::Value;

/// `feature` checked out, and a git that knows who types.
pub fn signed() -> Sandbox {
    let sandbox = Sandbox::with_shared_list();
    sandbox.git(&["config", "user.name", "Ada"]);
    sandbox.git(&["config", "user.email", "Ada@Example.com"]);
    sandbox
}

pub fn opened() -> Sandbox {
    let sandbox = signed();
    pr(&sandbox, &["open"]).ends_with(0).prints("Opened #1: Share a list (feature → main)");
    sandbox
}

pub fn pr(sandbox: &Sandbox, args: &[&str]) -> Run {
    let all: Vec<&str> = ["pr"].iter().chain(args).copied().collect();
    sandbox.tribunal(&all)
}

pub fn show(sandbox: &Sandbox) -> Value {
    pr(sandbox, &["show", "1", "--json"]).ends_with(0).json()
}

#[test]
fn the_whole_story() {
    let sandbox = opened();
    let line = ["--line", "app.py:1", "A list that all calls share."];
    pr(&sandbox, &[&["review", "1", "--request-changes", "--body", "Not yet."][..], &line].concat())
        .ends_with(0)
        .prints("Asked for changes in #1")
        .prints("with 1 comment");
    let shown = show(&sandbox);
    let thread = shown["threads"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!((&shown["threads"][0]["line"], &shown["threads"][0]["path"]), (&1.into(), &"app.py".into()));
    assert_eq!(shown["reviews"][0]["state"], "changes-requested");
    pr(&sandbox, &["reply", "1", &thread, "True."]).ends_with(0).prints(&format!("Replied in thread {thread} of #1"));
    sandbox.tribunal_reading(&sandbox.path(), &["pr", "comment", "1", "-"], "From a pipe.\n").ends_with(0);
    pr(&sandbox, &["resolve", "1", &thread]).ends_with(0);
    pr(&sandbox, &["check", "1", "build", "--state", "success", "--description", "All 12 pass"]).ends_with(0);
    pr(&sandbox, &["label", "1", "add", "urgent"]).ends_with(0);
    let page = pr(&sandbox, &["show", "1"]).ends_with(0);
    for words in ["#1 Share a list", "can be merged", "labels: urgent", "✓ build", "All 12 pass", SHARED_LIST_LINE, "True."] {
        assert!(page.stdout.contains(words), "no `{words}` in\n{}", page.stdout);
    }
    // The branch that is checked out names its pull request.
    pr(&sandbox, &["merge", "@"]).ends_with(0).says("Ada asked for changes").prints("Merged #1 (feature at ");
    assert_eq!(sandbox.git(&["show", "main:app.py"]), SHARED_LIST.trim_end());
    assert_eq!(sandbox.git(&["log", "-1", "--format=%s %an %cn", "main"]), "Share a list (#1) Ada Ada");
    pr(&sandbox, &["list"]).ends_with(0).prints("No open pull requests");
    pr(&sandbox, &["list", "--all"]).ends_with(0).prints("merged").prints("feature → main");
    let shown = show(&sandbox);
    assert_eq!((&shown["pull"]["state"], &shown["threads"][0]["resolved"]), (&"merged".into(), &true.into()));
    assert_eq!(shown["comments"][0]["body"], "From a pipe.\n");
}

/// What a person sees, byte for byte but for ids and times.
#[test]
fn the_page_of_a_pull_request() {
    let sandbox = opened();
    pr(&sandbox, &["review", "1", "--comment", "--line", "app.py:1-2", "Shared.\nSee the manual.", "--line", "app.py", "Why?"])
        .ends_with(0);
    pr(&sandbox, &["resolve", "1", "5"]).ends_with(0);
    pr(&sandbox, &["check", "1", "lint", "--state", "failure", "--description", "2 problems"]).ends_with(0);
    pr(&sandbox, &["comment", "1", "Soon.\n\u{1b}[2Jtricky"]).ends_with(0);
    let page = pr(&sandbox, &["show", "1"]).ends_with(0).stdout;
    insta::with_settings!({ filters => vec![
        (r"\b[0-9a-f]{12}\b", "[commit]"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d", "[time]"),
    ]}, { insta::assert_snapshot!(page, @r"
    #1 Share a list
    open · feature → main · by Ada
    head [commit] · base [commit] · 1 file changed · can be merged

    Checks
      ✗ lint  2 problems

    Reviews
      Ada (the author) commented at [commit] · [time]

    Threads

    thread 3: open
     --> app.py:1:1
      |
    1 | / def add(item, items=[]):
    2 | |     items.append(item)
      | |______________________^
      |
      = Ada [time] (2): Shared.
                                  See the manual.

    thread 5: resolved by Ada
    --> app.py
     = Ada [time] (4): Why?

    Comments
      Ada [time] (6)
        Soon.
        <U+001B>[2Jtricky
    "); });
}

/// A fresh clone of an own clone: everything is in the git directory, nothing in the work tree.
#[test]
fn a_linked_work_tree_sees_the_same_pull_requests_and_files_stay_as_they_are() {
    let sandbox = opened();
    let linked = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    sandbox.tribunal_in(&linked, &["pr", "list"]).ends_with(0).prints("Share a list");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox.tribunal_in(&linked, &["pr", "merge", "1", "--method", "rebase"]).ends_with(0);
    assert_eq!(std::fs::read_to_string(linked.join("app.py")).unwrap(), SHARED_LIST);
    assert_eq!(sandbox.git_in(&linked, &["status", "--porcelain"]), "");
}

#[test]
fn a_bare_repository_is_a_forge_too() {
    let sandbox = signed();
    let bare = sandbox.root().join("bare.git");
    sandbox.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git_in(&bare, &["config", key, value]);
    }
    sandbox.tribunal_in(&bare, &["pr", "open", "--head", "feature", "--base", "main", "--title", "Share"]).ends_with(0);
    sandbox.tribunal_in(&bare, &["pr", "merge", "1", "--method", "merge"]).ends_with(0);
    assert_eq!(sandbox.git_in(&bare, &["log", "-1", "--format=%s", "main"]), "Merge pull request #1 from feature");
}

#[test]
fn drafts_closing_updating_and_issues() {
    let sandbox = signed();
    pr(&sandbox, &["open", "--draft", "--title", "Later", "--body", "Not done."]).ends_with(0).prints("as a draft");
    pr(&sandbox, &["merge", "1"]).ends_with(2).says("not-open").says("tribunal pr ready 1");
    pr(&sandbox, &["ready"]).ends_with(0);
    pr(&sandbox, &["close"]).ends_with(0).prints("Closed #1");
    pr(&sandbox, &["close", "1"]).ends_with(0).prints("Was closed already");
    pr(&sandbox, &["merge", "1"]).ends_with(2).says("not-open").says("tribunal pr reopen 1");
    pr(&sandbox, &["reopen", "1"]).ends_with(0);
    pr(&sandbox, &["update", "1"]).ends_with(0).prints("feature has all of main already");
    sandbox.switch("main");
    sandbox.write("more.py", "x = 1\n");
    sandbox.commit("More");
    sandbox.switch("feature");
    pr(&sandbox, &["update"]).ends_with(0).prints("Merged main into feature");
    assert_eq!(sandbox.read("more.py"), "x = 1\n");
    pr(&sandbox, &["issue", "open", "--title", "It is slow", "--label", "later"]).ends_with(0).prints("Opened issue #2");
    pr(&sandbox, &["issue", "list", "--words", "SLOW"]).ends_with(0).prints("It is slow");
    pr(&sandbox, &["comment", "2", "On Mondays."]).ends_with(0);
    pr(&sandbox, &["issue", "show", "2"]).ends_with(0).prints("On Mondays.").prints("labels: later");
    pr(&sandbox, &["issue", "close", "2"]).ends_with(0);
    pr(&sandbox, &["issue", "list"]).ends_with(0).prints("No issues");
    pr(&sandbox, &["issue", "reopen", "2"]).ends_with(0);
    assert_eq!(pr(&sandbox, &["issue", "list", "--json"]).json()[0]["open"], true);
}

/// Design section 8: `--dry-run` on everything that writes; it says what would be, refuses what would be refused, and leaves no trace.
#[test]
fn a_dry_run_changes_nothing() {
    let sandbox = signed();
    let ledger = sandbox.path().join(".git/tribunal");
    pr(&sandbox, &["open", "--dry-run"]).ends_with(0).prints("Would be done: Opened #1");
    assert!(!ledger.exists(), "a dry run made a ledger");
    pr(&sandbox, &["open"]).ends_with(0);
    pr(&sandbox, &["review", "1", "--comment", "--line", "app.py:1", "Shared."]).ends_with(0);
    let (before, base) = (show(&sandbox), sandbox.git(&["rev-parse", "main"]));
    for args in [
        &["comment", "1", "x"][..],
        &["review", "1", "--approve"],
        &["reply", "1", "3", "x"],
        &["resolve", "1", "3"],
        &["check", "1", "build", "--state", "pending"],
        &["merge", "1"],
        &["merge", "1", "--method", "rebase"],
        &["close", "1"],
        &["label", "1", "add", "x"],
        &["issue", "open", "--title", "x"],
    ] {
        let all: Vec<&str> = args.iter().chain(&["--dry-run"]).copied().collect();
        pr(&sandbox, &all).ends_with(0).prints("Would be done");
    }
    assert_eq!((show(&sandbox), sandbox.git(&["rev-parse", "main"])), (before, base));
    pr(&sandbox, &["open", "--dry-run"]).ends_with(2).says("already-open");
    pr(&sandbox, &["reply", "1", "99", "x", "--dry-run"]).ends_with(2).says("unknown-thread");
    pr(&sandbox, &["merge", "7", "--dry-run"]).ends_with(2).says("unknown-number");
}

/// Design rule 13: processes that write at once lose nothing of each other's.
#[test]
fn many_who_comment_at_once_lose_nothing() {
    let sandbox = opened();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let command = sandbox.command(&["pr", "comment", "1", &format!("from {writer}")]);
            std::thread::spawn(move || finish(command, b""))
        })
        .collect();
    for writer in writers {
        writer.join().unwrap().ends_with(0);
    }
    let shown = show(&sandbox);
    let mut said: Vec<&str> = shown["comments"].as_array().unwrap().iter().filter_map(|one| one["body"].as_str()).collect();
    said.sort_unstable();
    assert_eq!(said, (0..8).map(|writer| format!("from {writer}")).collect::<Vec<_>>());
}

/// Two who open at once: one of them is told so, and there is one pull request.
#[test]
fn two_who_open_the_same_pair_at_once() {
    let sandbox = signed();
    let both: Vec<_> = (0..2)
        .map(|_| {
            let command = sandbox.command(&["pr", "open"]);
            std::thread::spawn(move || finish(command, b""))
        })
        .collect();
    let mut codes: Vec<i32> = both.into_iter().map(|one| one.join().unwrap().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 2]);
    assert_eq!(pr(&sandbox, &["list", "--all", "--json"]).json().as_array().unwrap().len(), 1);
}
