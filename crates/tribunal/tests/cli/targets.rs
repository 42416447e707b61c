//! What can be reviewed, and how it is read (issue 3, point 2).

use super::sandbox::{NO_TLS, NO_TLS_LINE, NO_TLS_RULE, SHARED_LIST, SHARED_LIST_LINE, SHARED_LIST_RULE, Sandbox, odd_path};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn found(path: &str, rule: &str) -> String {
    format!("{path}:{rule}")
}

/// Issue 3, point 2: the current branch against the merge base, uncommitted and untracked work included, ignored files not.
#[test]
fn a_branch_is_reviewed_with_its_uncommitted_and_untracked_work() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", ""), ("edited.py", ""), (".gitignore", "*.tmp\n")]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.commit("Share a list");
    sandbox.write("edited.py", SHARED_LIST);
    sandbox.write("new/untracked.py", SHARED_LIST);
    sandbox.write("ignored.tmp", SHARED_LIST);
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.files(), ["app.py", "edited.py", "new/untracked.py"]);
    assert_eq!(review.found().len(), 3, "{:?}", review.found());
    assert_eq!(review.json["receipt"]["subject"], "feature with uncommitted work against main");
}

/// Issue 3, point 2: what was staged and then edited again counts as it stands on disk.
#[test]
fn the_work_tree_counts_not_the_index() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.git(&["add", "app.py"]);
    sandbox.write("app.py", NO_TLS);
    assert_eq!(sandbox.review(&[]).ends_with(1).found(), [found("app.py", NO_TLS_RULE)]);
}

/// Issue 3, point 2: `--committed`.
#[test]
fn committed_leaves_uncommitted_work_out() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("untracked.py", NO_TLS);
    let review = sandbox.review(&["--committed"]).ends_with(0);
    assert_eq!(review.files(), ["app.py"]);
    assert_eq!(review.json["head"], sandbox.git(&["rev-parse", "HEAD"]));
}

/// PR-31: three dots, so what happened on the base after the branch was made is not the branch's doing.
#[test]
fn the_base_moving_on_is_no_part_of_the_change() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.switch("main");
    sandbox.write("elsewhere.py", NO_TLS);
    sandbox.commit("Meanwhile");
    sandbox.switch("feature");
    assert_eq!(sandbox.review(&[]).files(), ["app.py"]);
}

/// Issue 3, point 2: `--staged`.
#[test]
fn staged_reviews_the_index_alone() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("staged.py", SHARED_LIST);
    sandbox.git(&["add", "staged.py"]);
    sandbox.write("unstaged.py", NO_TLS);
    sandbox.write("staged.py", NO_TLS);
    let review = sandbox.review(&["--staged"]).ends_with(0);
    assert_eq!(review.found(), [found("staged.py", SHARED_LIST_RULE)]);
    assert_eq!(review.files(), ["staged.py"]);
}

/// Issue 3, bad input: an unborn branch has an index all the same.
#[test]
fn staged_works_before_the_first_commit() {
    let sandbox = Sandbox::unborn();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.git(&["add", "app.py"]);
    assert_eq!(sandbox.review(&["--staged"]).ends_with(0).found(), [found("app.py", SHARED_LIST_RULE)]);
}

/// Issue 3, point 2: in a hook, git names the index that counts.
#[test]
fn staged_honours_the_index_of_a_hook() {
    let sandbox = Sandbox::on_feature();
    let index = sandbox.root().join("other-index");
    fs::copy(sandbox.path().join(".git/index"), &index).unwrap();
    sandbox.write("app.py", NO_TLS);
    let mut add = std::process::Command::new("git");
    add.arg("-C").arg(sandbox.path()).args(["add", "app.py"]).env("GIT_INDEX_FILE", &index);
    assert!(add.status().unwrap().success());
    let mut command = sandbox.command(&["review", "--staged", "--format", "json"]);
    command.env("GIT_INDEX_FILE", &index);
    let run = super::sandbox::finish(command, b"").ends_with(1);
    assert_eq!(run.json()["findings"][0]["slug"], NO_TLS_RULE);
}

/// Issue 3, point 2: `--commit SHA`.
#[test]
fn a_commit_is_reviewed_against_its_parent() {
    let sandbox = Sandbox::with_shared_list();
    let middle = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.write("later.py", NO_TLS);
    sandbox.commit("Later");
    let review = sandbox.review(&["--commit", &middle]).ends_with(0);
    assert_eq!(review.found(), [found("app.py", SHARED_LIST_RULE)]);
    assert_eq!(review.files(), ["app.py"]);
}

/// Issue 3, point 2: the first commit has no parent, and everything in it is new.
#[test]
fn the_root_commit_is_reviewed_against_nothing() {
    let sandbox = Sandbox::unborn();
    sandbox.write("app.py", SHARED_LIST);
    let root = sandbox.commit("Root");
    assert_eq!(sandbox.review(&["--commit", &root]).ends_with(0).found(), [found("app.py", SHARED_LIST_RULE)]);
}

/// Issue 3, point 2: a merge is reviewed against its first parent, as what it brought in.
#[test]
fn a_merge_commit_is_reviewed_against_its_first_parent() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.switch("main");
    sandbox.write("other.py", "x = 1\n");
    sandbox.commit("Meanwhile");
    sandbox.git(&["merge", "--quiet", "--no-ff", "-m", "Merge", "feature"]);
    assert_eq!(sandbox.review(&["--commit", "HEAD"]).files(), ["app.py"]);
}

fn diverged() -> Sandbox {
    let sandbox = Sandbox::with_shared_list();
    sandbox.switch("main");
    sandbox.write("elsewhere.py", "x = 1\n");
    sandbox.commit("Meanwhile");
    sandbox.switch("feature");
    sandbox
}

/// Issue 3, point 2: `--range A..B` compares the two ends.
#[test]
fn two_dots_compare_the_ends() {
    let review = diverged().review(&["--range", "main..feature"]);
    assert_eq!(review.files(), ["app.py", "elsewhere.py"]);
    assert_eq!(review.account("elsewhere.py")["status"], "deleted");
}

/// Issue 3, point 2: `--range A...B` shows what B adds since they parted.
#[test]
fn three_dots_compare_with_where_they_parted() {
    assert_eq!(diverged().review(&["--range", "main...feature"]).files(), ["app.py"]);
}

/// PR-17: `--base REF`.
#[test]
fn another_base_can_be_named() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.git(&["checkout", "--quiet", "-b", "stacked"]);
    sandbox.write("stacked.py", NO_TLS);
    sandbox.commit("On top");
    assert_eq!(sandbox.review(&[]).files(), ["app.py", "stacked.py"]);
    assert_eq!(sandbox.review(&["--base", "feature"]).files(), ["stacked.py"]);
}

/// Issue 3, point 2: `--diff-file F`.
#[test]
fn a_diff_in_a_file_is_reviewed() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("change.diff");
    fs::write(&file, sandbox.git(&["diff", "main", "feature"]) + "\n").unwrap();
    let review = sandbox.review(&["--diff-file", file.to_str().unwrap()]);
    assert_eq!(review.files(), ["app.py"]);
    assert_eq!(review.found(), [found("app.py", SHARED_LIST_RULE)]);
}

/// Issue 3, point 2: `--stdin` inside a repository reads whole files where the diff names objects that are there.
#[test]
fn a_diff_on_stdin_uses_the_repository_it_came_from() {
    let sandbox = Sandbox::with_shared_list();
    let diff = sandbox.git(&["diff", "--full-index", "main", "feature"]) + "\n";
    let run = sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin", "--format", "json"], diff);
    let json = run.json();
    assert_eq!(json["receipt"]["coverage"]["accounts"][0]["rules_depth"], "syntax");
    assert_eq!(json["findings"][0]["slug"], SHARED_LIST_RULE);
}

/// Issue 3, point 2: the letters that git is set to put before paths are no part of them.
#[test]
fn a_diff_on_stdin_has_the_repository_s_paths() {
    let sandbox = Sandbox::on_feature_from(&[("w/app.py", ""), ("app.py", "")]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.write("w/app.py", SHARED_LIST);
    for setting in ["diff.mnemonicPrefix=true", "diff.noprefix=true"] {
        let diff = sandbox.git(&["-c", setting, "diff", "--full-index", "main"]) + "\n";
        let run = sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin", "--format", "json"], diff);
        let json = run.json();
        let files: Vec<&str> = json["findings"].as_array().unwrap().iter().map(|found| found["file"].as_str().unwrap()).collect();
        assert_eq!(files, ["app.py", "w/app.py"], "{setting}");
    }
}

/// Issue 3, point 2: `--stdin` needs no repository at all; a new file stands in the diff whole.
#[test]
fn a_diff_on_stdin_is_reviewed_outside_of_any_repository() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("secret.py", NO_TLS);
    sandbox.commit("New file");
    let diff = sandbox.git(&["diff", "main", "feature"]) + "\n";
    let run = sandbox.tribunal_reading(&sandbox.outside(), &["review", "--stdin", "--format", "json"], diff);
    let json = run.json();
    assert_eq!(json["receipt"]["coverage"]["files"], 1);
    assert_eq!(json["findings"][0]["slug"], NO_TLS_RULE, "{json:#}");
    assert_eq!(fs::read_dir(sandbox.outside()).unwrap().count(), 0, "nothing is left where the command was run");
}

/// PR-54: without a repository no reach is verified, and confidence is one level down.
#[test]
fn a_bare_diff_lowers_what_cannot_be_verified() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("new.py", NO_TLS);
    sandbox.commit("New file");
    let with = sandbox.review(&[]).finding(NO_TLS_RULE)["confidence"].clone();
    let diff = sandbox.git(&["diff", "main", "feature"]) + "\n";
    let bare = sandbox.tribunal_reading(&sandbox.outside(), &["review", "--stdin", "--format", "json"], diff).json();
    assert_eq!(with, "high");
    assert_eq!(bare["findings"][0]["confidence"], "medium");
}

/// Issue 3, bad input: a detached head is reviewed like a branch.
#[test]
fn a_detached_head_is_reviewed() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.git(&["checkout", "--quiet", "--detach"]);
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.found(), [found("app.py", SHARED_LIST_RULE)]);
    assert!(review.json["receipt"]["subject"].as_str().unwrap().starts_with("detached "));
}

/// Issue 3, point 2: it does not matter in which folder of the checkout the command is run.
#[test]
fn the_whole_change_is_reviewed_from_a_subfolder() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("deep/er/new.py", SHARED_LIST);
    sandbox.write("top.py", SHARED_LIST);
    let run = sandbox.tribunal_in(&sandbox.path().join("deep/er"), &["review", "--format", "json"]);
    assert_eq!(run.json()["receipt"]["coverage"]["files"], 2);
}

/// Design section 5: the ledger is shared by all work trees of a repository.
#[test]
fn a_linked_work_tree_is_reviewed_and_recorded_with_the_others() {
    let sandbox = Sandbox::with_shared_list();
    let tree = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "--quiet", "-b", "second", tree.to_str().unwrap(), "main"]);
    fs::write(tree.join("linked.py"), NO_TLS).unwrap();
    let run = sandbox.tribunal_in(&tree, &["review", "--format", "json"]).ends_with(1);
    assert_eq!(run.json()["receipt"]["coverage"]["accounts"][0]["path"], "linked.py");
    sandbox.tribunal(&["history"]).ends_with(0).prints("second with uncommitted work against main");
}

/// Issue 3, point 2: a rename is one file, and only its changed lines are the change's.
#[test]
fn a_rename_is_one_file_with_its_changed_lines() {
    let body: String = (0..30).map(|n| format!("value_{n} = {n}\n")).collect();
    let old = format!("{SHARED_LIST}\n{body}");
    let sandbox = Sandbox::on_feature_from(&[("old.py", &old)]);
    sandbox.git(&["mv", "old.py", "new.py"]);
    sandbox.write("new.py", format!("{old}\n{NO_TLS}"));
    sandbox.commit("Rename");
    let review = sandbox.review(&[]);
    assert_eq!(review.files(), ["new.py"]);
    assert_eq!(review.account("new.py")["status"], "renamed");
    assert_eq!(review.found(), [found("new.py", NO_TLS_RULE)]);
}

/// Issue 3, point 2: a change of mode has no lines and is still accounted for.
#[test]
fn a_change_of_mode_alone_is_accounted_for() {
    let sandbox = Sandbox::on_feature();
    let path = sandbox.path().join("app.py");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.commit("Make it executable");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.ended("app.py"), "reviewed");
    assert_eq!((&review.account("app.py")["added"], &review.account("app.py")["status"]), (&0.into(), &"modified".into()));
}

/// Issue 16, point 18: a binary file that the base does not know is named, and the review is incomplete for it.
#[test]
fn a_new_binary_file_is_named_as_not_reviewed() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("image.bin", [0_u8, 159, 146, 150, 0, 1, 2]);
    sandbox.write("app.py", "x = 1\n");
    sandbox.commit("Binary");
    let review = sandbox.review(&[]).ends_with(3);
    assert_eq!((review.ended("image.bin").as_str(), review.text("outcome")), ("binary", "incomplete"));
    assert!(review.notices().contains("image.bin was not read"), "{}", review.notices());
}

/// Issue 3, point 2: a deletion is read, and what was there before is not this change's fault.
#[test]
fn a_deleted_file_is_read_without_findings_on_its_old_lines() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", SHARED_LIST), ("keep.py", "")]);
    sandbox.git(&["rm", "--quiet", "app.py"]);
    sandbox.commit("Delete");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.account("app.py")["status"], "deleted");
    assert_eq!(review.ended("app.py"), "reviewed");
    assert!(review.found().is_empty());
}

/// Issue 3, point 2: a new file without content has no hunk at all.
#[test]
fn an_empty_file_is_reviewed() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("empty.py", "");
    sandbox.commit("Empty");
    assert_eq!(sandbox.review(&[]).ends_with(0).ended("empty.py"), "reviewed");
}

/// Issue 3, point 2: CRLF endings do not hide a line, and the evidence is the line without them.
#[test]
fn windows_line_endings_are_read() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("dos.py", NO_TLS.replace('\n', "\r\n"));
    sandbox.commit("CRLF");
    let review = sandbox.review(&[]).ends_with(1);
    let finding = review.finding(NO_TLS_RULE);
    assert_eq!(finding["evidence"], NO_TLS_LINE);
    assert_eq!(finding["line_start"], 5);
}

/// Issue 3, point 2: bytes that are no UTF-8 do not take the rest of the file with them.
#[test]
fn content_that_is_not_utf8_is_reviewed() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("latin.py", [b"# caf\xe9\n".as_slice(), NO_TLS.as_bytes()].concat());
    sandbox.commit("Latin 1");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.ended("latin.py"), "reviewed");
    assert_eq!(review.finding(NO_TLS_RULE)["line_start"], 6);
}

/// Issue 3, point 2: a last line without a newline is a line.
#[test]
fn a_missing_newline_at_the_end_hides_nothing() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("tail.py", NO_TLS.trim_end());
    sandbox.commit("No newline");
    assert_eq!(sandbox.review(&[]).ends_with(1).finding(NO_TLS_RULE)["evidence"], NO_TLS_LINE);
}

#[track_caller]
fn a_file_called(name: &[u8], shown: &str) {
    for committed in [true, false] {
        let sandbox = Sandbox::on_feature();
        sandbox.write(odd_path(name), NO_TLS);
        if committed {
            sandbox.commit("An odd name");
        }
        let review = sandbox.review(&[]).ends_with(1);
        assert_eq!(review.found(), [found(shown, NO_TLS_RULE)], "committed: {committed}");
        assert_eq!(review.ended(shown), "reviewed");
    }
}

/// Issue 3, bad input: a path with a newline.
#[test]
fn a_path_may_hold_a_newline() {
    a_file_called(b"two\nlines.py", "two\nlines.py");
}

/// Issue 3, point 2: quoted paths.
#[test]
fn a_path_may_hold_spaces_quotes_and_tabs() {
    a_file_called(b"a \"quoted\" name\t.py", "a \"quoted\" name\t.py");
}

/// Issue 3, point 2: a path need not be UTF-8; what is not is shown escaped.
#[test]
fn a_path_may_be_no_utf8() {
    a_file_called(b"caf\xe9.py", "caf\\xe9.py");
}

/// Forges 1.1: a path is never a pattern to git.
#[test]
fn a_path_may_look_like_pathspec_magic() {
    a_file_called(b":(exclude)app.py", ":(exclude)app.py");
}

/// Forges 1.1: a path is never an option to git.
#[test]
fn a_path_may_begin_with_a_dash() {
    a_file_called(b"--output=app.py", "--output=app.py");
}

/// Issue 3, point 2: a monstrous file with an odd name is left out by name, and only that one.
#[test]
fn an_oversized_file_with_an_odd_name_leaves_the_others_in() {
    let sandbox = Sandbox::on_feature();
    sandbox.configure_person("[files]\nmax_bytes = 1000\n");
    sandbox.write(":(exclude)*.py", "x = 1\n".repeat(1000));
    sandbox.write("small.py", NO_TLS);
    sandbox.commit("Odd and large");
    let review = sandbox.review(&[]).ends_with(3);
    assert_eq!(review.ended(":(exclude)*.py"), "too-large");
    assert_eq!(review.found(), [found("small.py", NO_TLS_RULE)]);
}

/// Issue 16, point 18: a new submodule is an entry without content here, so nobody has read it.
#[test]
fn a_new_submodule_is_named_as_not_reviewed() {
    let sandbox = Sandbox::on_feature();
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.write("app.py", "x = 1\n");
    sandbox.git(&["add", "app.py"]);
    sandbox.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    sandbox.git(&["commit", "--quiet", "-m", "Add a submodule"]);
    let review = sandbox.review(&["--committed"]).ends_with(3);
    assert_eq!(review.ended("sub"), "submodule");
}

/// Issue 3, point 2: a file that becomes a link is one changed file, not a lost one.
#[test]
fn a_file_that_becomes_a_link_is_accounted_for() {
    let sandbox = Sandbox::on_feature();
    fs::remove_file(sandbox.path().join("app.py")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", sandbox.path().join("app.py")).unwrap();
    sandbox.commit("Link");
    assert_eq!(sandbox.review(&[]).files(), ["app.py"]);
}

/// SL-38, issue 3 point 2: a merge that stopped half-way is read with its markers.
#[test]
fn unresolved_conflicts_in_the_work_tree_are_found() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", "x = 0\n")]);
    sandbox.write("app.py", "x = 1\n");
    sandbox.commit("One");
    sandbox.switch("main");
    sandbox.write("app.py", "x = 2\n");
    sandbox.commit("Two");
    sandbox.switch("feature");
    let mut merge = std::process::Command::new("git");
    merge.arg("-C").arg(sandbox.path()).args(["-c", "user.name=A", "-c", "user.email=a@b.c", "merge", "main"]);
    assert!(!merge.output().unwrap().status.success(), "the merge must conflict");
    assert_eq!(sandbox.review(&[]).ends_with(1).found(), [found("app.py", "merge-conflict-marker")]);
}

/// Issue 3, point 5: a finding needs an added or changed line; what was there before is not this change's fault.
#[test]
fn old_defects_in_a_touched_file_are_left_alone() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", SHARED_LIST)]);
    sandbox.write("app.py", format!("{SHARED_LIST}\n\nLIMIT = 10\n"));
    sandbox.commit("Touch");
    let review = sandbox.review(&[]).ends_with(0);
    assert!(review.found().is_empty());
    assert_eq!(review.text("outcome"), "clean");
}

/// PR-16: a dry run says what would be read and by whom, and records nothing.
#[test]
fn a_dry_run_reads_and_records_nothing() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("Cargo.lock", "version = 4\n");
    let run = sandbox.tribunal(&["review", "--dry-run"]).ends_with(0);
    let run = run
        .prints("app.py")
        .prints("skip (lock file)")
        .prints("security-reviewer played by rules")
        .prints("spec-auditor not called");
    assert!(!run.stdout.contains(SHARED_LIST_RULE));
    sandbox.git(&["add", "Cargo.lock"]);
    sandbox.tribunal(&["review", "--dry-run", "--staged"]).ends_with(0).prints("Cargo.lock");
    sandbox.tribunal(&["history"]).prints("No reviews yet");
    sandbox.tribunal(&["show"]).ends_with(2).says("unknown-run");
    assert!(!sandbox.path().join(".git/tribunal").exists(), "who only looks leaves nothing behind");
}

/// PR-58: the evidence is the line of the diff, verbatim.
#[test]
fn a_finding_quotes_its_line() {
    let review = Sandbox::with_shared_list().review(&[]);
    let finding = review.finding(SHARED_LIST_RULE);
    assert_eq!(finding["evidence"], SHARED_LIST_LINE);
    assert_eq!((finding["line_start"].as_u64(), finding["id"].as_str()), (Some(1), Some("F1")));
}

/// Issue 3, point 5: deleting the file is a way to delete its tests.
#[test]
fn deleting_a_whole_test_file_is_seen() {
    let tests = "from cart import total\n\n\ndef test_total_of_nothing():\n    assert total([]) == 0\n\n\ndef test_total():\n    assert total([1]) == 1\n";
    let sandbox =
        Sandbox::on_feature_from(&[("cart.py", "def total(items):\n    return sum(items)\n"), ("tests/test_cart.py", tests)]);
    sandbox.write("cart.py", "def total(items):\n    return sum(items) + 1\n");
    sandbox.git(&["rm", "--quiet", "tests/test_cart.py"]);
    sandbox.commit("Change it, and drop its tests");
    assert_eq!(sandbox.review(&[]).found(), ["tests/test_cart.py:test-deleted"]);
}
