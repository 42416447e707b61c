//! What is refused, with its code and a next step, and nothing changed by it.

use super::pull_story::{opened, pr, show};
use super::sandbox::Sandbox;

#[test]
fn outside_of_a_repository_there_is_no_forge() {
    let sandbox = Sandbox::unborn();
    sandbox.tribunal_in(&sandbox.outside(), &["pr", "list"]).ends_with(2).says("not-a-repository");
}

#[test]
fn nobody_opens_nothing() {
    let sandbox = Sandbox::with_shared_list();
    pr(&sandbox, &["open"]).ends_with(2).says("no-identity").says("git config --global user.email");
    // Looking needs no name.
    pr(&sandbox, &["list"]).ends_with(0).prints("No open pull requests");
    assert!(!sandbox.path().join(".git/tribunal").exists());
}

#[test]
fn unknown_numbers_threads_and_branches_are_named() {
    let sandbox = opened();
    for args in [&["show", "7"][..], &["comment", "7", "x"], &["merge", "7"], &["issue", "show", "1"], &["show", "zero"]] {
        pr(&sandbox, args).ends_with(2).says("unknown-number").says("help");
    }
    pr(&sandbox, &["show", "https://github.com/a/b/pull/7"]).ends_with(2).says("is on a server");
    pr(&sandbox, &["reply", "1", "9", "x"]).ends_with(2).says("unknown-thread").says("tribunal pr show 1");
    sandbox.switch("main");
    pr(&sandbox, &["show"]).ends_with(2).says("branch `main` has no").says("tribunal pr open");
    pr(&sandbox, &["open", "--head", "feetch"]).ends_with(2).says("unknown-branch").says("`feetch`").says("git branch");
    pr(&sandbox, &["open", "--head=--all"]).ends_with(2).says("unknown-branch");
}

#[test]
fn pairs_that_are_none_are_refused() {
    let sandbox = opened();
    pr(&sandbox, &["open"]).ends_with(2).says("already-open").says("tribunal pr show 1");
    pr(&sandbox, &["open", "--head", "main"]).ends_with(2).says("same-branch");
    sandbox.git(&["branch", "empty", "main"]);
    pr(&sandbox, &["open", "--head", "empty"]).ends_with(2).says("nothing-to-merge");
    sandbox.git(&["checkout", "--quiet", "--detach"]);
    pr(&sandbox, &["open"]).ends_with(2).says("unknown-branch").says("--head BRANCH");
    let unborn = Sandbox::unborn();
    unborn.git(&["config", "user.email", "ada@example.com"]);
    pr(&unborn, &["open", "--base", "main"]).ends_with(2).says("unknown-branch");
}

#[test]
fn comments_stand_on_lines_of_the_change() {
    let sandbox = opened();
    for (place, code) in [("app.py:99", "bad-line"), ("other.py:1", "bad-line"), ("app.py:0", "bad-line")] {
        pr(&sandbox, &["review", "1", "--comment", "--line", place, "x"]).ends_with(2).says(code);
    }
    pr(&sandbox, &["review", "1", "--comment"]).ends_with(2).says("bad-text");
    pr(&sandbox, &["review", "1"]).ends_with(2).says("required");
    pr(&sandbox, &["review", "1", "--approve", "--comment"]).ends_with(2).says("cannot be used with");
    pr(&sandbox, &["comment", "1", "  "]).ends_with(2).says("bad-text");
    pr(&sandbox, &["label", "1", "add", "a\nb"]).ends_with(2).says("bad-text");
    sandbox.tribunal_reading(&sandbox.path(), &["pr", "comment", "1", "-"], [0xff_u8, 0xfe]).ends_with(2).says("UTF-8");
    let shown = show(&sandbox);
    assert_eq!(shown["reviews"].as_array().unwrap().len() + shown["comments"].as_array().unwrap().len(), 0);
}

/// Design rule 7: what was looked at is what is merged.
#[test]
fn a_head_that_moved_is_not_merged() {
    let sandbox = opened();
    let looked_at = sandbox.git(&["rev-parse", "feature"]);
    sandbox.write("more.py", "x = 1\n");
    sandbox.commit("More");
    for args in [&["merge", "1", "--head", &looked_at][..], &["review", "1", "--approve", "--head", &looked_at]] {
        pr(&sandbox, args).ends_with(1).says("stale-head").says("nothing was changed");
    }
    pr(&sandbox, &["merge", "1", "--head", "feature"]).ends_with(0);
}

#[test]
fn a_conflict_names_its_files() {
    let sandbox = opened();
    sandbox.switch("main");
    sandbox.write("app.py", "x = 1\n");
    let base = sandbox.commit("Another way");
    pr(&sandbox, &["show", "1"]).ends_with(0).prints("conflicts with main");
    for method in ["squash", "merge", "rebase"] {
        pr(&sandbox, &["merge", "1", "--method", method]).ends_with(1).says("merge-conflict").says("app.py");
        pr(&sandbox, &["merge", "1", "--method", method, "--dry-run"]).ends_with(1).says("merge-conflict");
    }
    assert_eq!((sandbox.git(&["rev-parse", "main"]), sandbox.git(&["status", "--porcelain"])), (base, String::new()));
}

#[test]
fn uncommitted_work_is_never_taken() {
    let sandbox = opened();
    sandbox.switch("main");
    sandbox.write("app.py", "mine = 1\n");
    pr(&sandbox, &["merge", "1"]).ends_with(1).says("work-in-the-way").says("app.py").says("stash");
    assert_eq!(sandbox.read("app.py"), "mine = 1\n");
    pr(&sandbox, &["merge", "1", "--dry-run"]).ends_with(1).says("work-in-the-way");
    sandbox.git(&["checkout", "--quiet", "app.py"]);
    pr(&sandbox, &["merge", "1"]).ends_with(0);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_deleted_branch_can_be_looked_at_and_brought_back() {
    let sandbox = opened();
    let head = sandbox.git(&["rev-parse", "feature"]);
    sandbox.switch("main");
    sandbox.git(&["branch", "--quiet", "-D", "feature"]);
    assert_eq!(show(&sandbox)["pull"]["head"]["sha"], head);
    pr(&sandbox, &["merge", "1"]).ends_with(2).says("branch-gone").says(&format!("git branch feature {head}"));
    sandbox.git(&["branch", "feature", &head]);
    pr(&sandbox, &["merge", "1"]).ends_with(0);
    pr(&sandbox, &["reopen", "1"]).ends_with(2).says("not-open").says("merged");
}

/// The base's hooks and those of the change run nothing here.
#[test]
fn no_hook_runs() {
    let sandbox = opened();
    sandbox.switch("main");
    let trace = sandbox.root().join("trace");
    for hook in ["reference-transaction", "post-checkout", "post-merge", "pre-merge-commit", "commit-msg"] {
        let path = sandbox.path().join(".git/hooks").join(hook);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\necho {hook} >> '{}'\n", trace.display())).unwrap();
        std::process::Command::new("chmod").arg("+x").arg(&path).status().unwrap();
    }
    pr(&sandbox, &["merge", "1", "--method", "merge"]).ends_with(0);
    assert!(!trace.exists(), "{}", std::fs::read_to_string(trace).unwrap());
}

/// Issue 16, point 9: what something else wrote into the ledger is no record of ours.
#[test]
fn an_edited_record_is_refused() {
    let sandbox = opened();
    let ledger = sandbox.path().join(".git/tribunal/ledger.db");
    let python = format!(
        "import sqlite3; c = sqlite3.connect('{}'); c.execute(\"update desk set body = replace(body, '\\\"model\\\":1', '\\\"model\\\":99')\"); c.commit()",
        ledger.display()
    );
    assert!(std::process::Command::new("python3").arg("-c").arg(python).status().unwrap().success());
    pr(&sandbox, &["comment", "1", "x"]).ends_with(3).says("ledger-changed").says("sets it aside");
}
