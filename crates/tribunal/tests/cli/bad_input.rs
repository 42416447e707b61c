//! Bad input: a clear message, the right exit code, and nothing lost (issue 3, "Bad input").

use super::sandbox::{SHARED_LIST, Sandbox};
use std::fs;

#[test]
fn outside_of_a_repository_there_is_nothing_to_review() {
    let sandbox = Sandbox::unborn();
    let run = sandbox.tribunal_in(&sandbox.outside(), &["review"]).ends_with(2);
    assert_eq!(run.stdout, "");
    run.says("error[not-a-repository]").says("--stdin");
}

#[test]
fn an_unknown_base_is_named() {
    Sandbox::with_shared_list().tribunal(&["review", "--base", "mian"]).ends_with(2).says("unknown-revision").says("`mian`");
}

/// A revision is never an option to git.
#[test]
fn a_base_that_looks_like_an_option_is_an_unknown_base() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.tribunal(&["review", "--base=--all"]).ends_with(2).says("unknown-revision");
    sandbox.tribunal(&["review", "--range=--output=x..main"]).ends_with(2).says("unknown-revision");
}

#[test]
fn an_unborn_branch_has_nothing_to_compare() {
    let sandbox = Sandbox::unborn();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.tribunal(&["review"]).ends_with(2).says("unborn-branch").says("--staged");
}

/// Design rule 1: no change, no review, no green.
#[test]
fn an_empty_diff_is_not_green() {
    let sandbox = Sandbox::on_feature();
    let run = sandbox.tribunal(&["review"]).ends_with(2);
    assert_eq!(run.stdout, "");
    run.says("nothing-to-review").says("nothing is green");
    sandbox.tribunal(&["history"]).prints("No reviews yet");
}

#[test]
fn nothing_staged_is_not_green() {
    Sandbox::on_feature().tribunal(&["review", "--staged"]).ends_with(2).says("nothing-to-review");
}

/// Issue 3, bad input: an index in the middle of a merge is named with its files, and nothing is recorded.
#[test]
fn a_staged_conflict_is_named() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.switch("main");
    sandbox.write("app.py", "x = 1\n");
    sandbox.commit("Another way");
    sandbox.switch("feature");
    let mut merge = std::process::Command::new("git");
    merge.arg("-C").arg(sandbox.path()).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
    merge.args(["merge", "--quiet", "main"]).stdout(std::process::Stdio::null());
    assert!(!merge.status().unwrap().success(), "there is a conflict");
    sandbox.tribunal(&["review", "--staged"]).ends_with(2).says("unmerged-index").says("app.py").says("git add");
    sandbox.tribunal(&["history"]).prints("No reviews yet");
}

#[test]
fn an_empty_diff_on_stdin_is_not_green() {
    let sandbox = Sandbox::on_feature();
    sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], "\n").ends_with(2).says("nothing-to-review");
}

#[test]
fn a_repository_without_any_known_base_says_how_to_name_one() {
    let sandbox = Sandbox::unborn();
    sandbox.git(&["checkout", "--quiet", "-b", "work"]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.commit("Alone");
    sandbox.tribunal(&["review"]).ends_with(2).says("no-base").says("--base");
}

fn shallow(sandbox: &Sandbox, flags: &[&str]) -> std::path::PathBuf {
    sandbox.switch("main");
    for n in 0..3 {
        sandbox.write("other.py", format!("x = {n}\n"));
        sandbox.commit("On main");
    }
    let clone = sandbox.root().join("clone");
    let url = format!("file://{}", sandbox.path().display());
    let mut args = vec!["clone", "--quiet", "--depth=1", "--branch=feature"];
    args.extend(flags);
    args.extend([url.as_str(), clone.to_str().unwrap()]);
    sandbox.git_in(sandbox.root(), &args);
    clone
}

#[test]
fn a_shallow_clone_whose_history_does_not_reach_the_base_says_to_fetch() {
    let sandbox = Sandbox::with_shared_list();
    let clone = shallow(&sandbox, &["--no-single-branch"]);
    sandbox.tribunal_in(&clone, &["review"]).ends_with(2).says("shallow-clone").says("git fetch --unshallow");
}

/// What CI systems make by default: one branch, one commit, and no base anywhere.
#[test]
fn a_shallow_clone_without_the_base_branch_says_to_fetch() {
    let sandbox = Sandbox::with_shared_list();
    let clone = shallow(&sandbox, &["--single-branch"]);
    sandbox.tribunal_in(&clone, &["review"]).ends_with(2).says("git fetch");
}

/// What was there before is not this change's fault: a commit whose parent was not fetched is no first commit.
#[test]
fn a_commit_at_the_edge_of_a_shallow_clone_is_not_reviewed_as_all_new() {
    let sandbox = Sandbox::with_shared_list();
    let clone = shallow(&sandbox, &["--single-branch"]);
    let run = sandbox.tribunal_in(&clone, &["review", "--commit", "HEAD"]).ends_with(2);
    run.says("shallow-clone").says("git fetch --unshallow");
}

#[test]
fn text_that_is_no_diff_is_refused() {
    let sandbox = Sandbox::on_feature();
    let run = sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], "LGTM!\n").ends_with(2);
    assert_eq!(run.stdout, "");
    run.says("malformed-diff");
}

/// A diff that was cut off is refused whole; half a change is not reviewed as if it were all.
#[test]
fn a_diff_that_was_cut_off_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    let diff = sandbox.git(&["diff", "main", "feature"]);
    let cut = &diff[..diff.rfind("\n+").unwrap() + 1];
    sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], cut).ends_with(2).says("malformed-diff");
    sandbox.tribunal(&["history"]).prints("No reviews yet");
}

#[test]
fn a_combined_diff_is_refused() {
    let diff = "diff --cc app.py\nindex 1,2..3\n--- a/app.py\n+++ b/app.py\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n";
    let sandbox = Sandbox::on_feature();
    sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], diff).ends_with(2).says("combined-diff");
}

/// Design rules 1 and 13: mails and logs of several commits are refused where one file would be read in one state only.
#[test]
fn a_patch_series_that_changes_a_file_twice_is_refused() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("new.py", "import requests\n\n\ndef fetch(url):\n    return 1\n");
    sandbox.commit("One");
    sandbox.write("new.py", super::sandbox::NO_TLS);
    sandbox.commit("Two");
    for args in [["format-patch", "--quiet", "--stdout", "main..feature"], ["log", "-p", "--reverse", "main..feature"]] {
        let series = sandbox.git(&args) + "\n";
        let run = sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], series).ends_with(2);
        run.says("several-commits").says("new.py").says("git diff A B");
    }
    sandbox.tribunal(&["history"]).prints("No reviews yet");
    let alone = sandbox.git(&["format-patch", "--quiet", "--stdout", "-1"]) + "\n";
    sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], alone).ends_with(1);
}

#[test]
fn a_diff_file_that_is_not_there_is_named() {
    Sandbox::on_feature().tribunal(&["review", "--diff-file", "nowhere.diff"]).ends_with(2).says("nowhere.diff");
}

/// Design section 7: an unknown key is refused with its line and what was meant.
#[test]
fn an_unknown_key_is_refused_with_line_and_suggestion() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure("[review]\n\nfail_levle = \"P1\"\n");
    let run = sandbox.tribunal(&["review"]).ends_with(2);
    run.says("bad-config").says(".tribunal.toml").says(":3: unknown field `fail_levle`").says("did you mean `fail_level`?");
}

#[test]
fn an_unknown_key_in_the_environment_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    let mut command = sandbox.command(&["review"]);
    command.env("TRIBUNAL__REVIEW__FAIL_LEVLE", "P1");
    super::sandbox::finish(command, b"").ends_with(2).says("environment").says("fail_levle");
}

#[test]
fn a_value_of_the_wrong_type_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure_person("[files]\nmax_bytes = \"many\"\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("config.toml:2");
}

/// Issue 3, bad input: a rule that does not parse.
#[test]
fn a_bad_rule_is_named() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write(".tribunal/rules/broken.yml", "id: broken\nlanguages: [python]\nrule: { kind: no_such_node }\n");
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0);
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-rule").says(".tribunal/rules/broken.yml");
}

/// A rule whose YAML is right and whose pattern is not, in a language that the change does not even touch.
#[test]
fn a_rule_with_a_bad_pattern_is_named_whatever_the_change_holds() {
    let sandbox = Sandbox::with_shared_list();
    let rule = "id: broken\nlanguages: [go]\ncategory: E1\nseverity: factual\nconfidence: high\nblast: local\njustification: reachable\n\
                title: T\nfailure_mode: F\nmitigation: M\nabout: A\nrule: { kind: no_such_node }\nexamples: { bad: ['x'], good: ['y'] }\n";
    sandbox.write(".tribunal/rules/broken.yml", rule);
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0);
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-rule").says("broken").says("no_such_node");
}

#[test]
fn a_bad_role_is_named() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write(".tribunal/reviewers/me.md", "Just text, no front matter.\n");
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0);
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-role").says(".tribunal/reviewers/me.md");
}

#[test]
fn a_panel_that_names_an_unknown_agent_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure_person("[panel]\nsdet = [\"gpt\"]\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says("[agents.gpt]");
}

#[test]
fn a_panel_that_names_an_unknown_role_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure_person("[panel]\nsdett = [\"rules\"]\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("sdett").says("security-reviewer");
}

#[test]
fn a_disabled_rule_that_does_not_exist_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure_person("[rules]\ndisable = [\"py-mutable-defualt\"]\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("py-mutable-defualt");
}

/// Design rule 1: a panel with nobody on it has not reviewed.
#[test]
fn a_panel_with_nobody_on_it_is_not_green() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure_person("[panel]\nsecurity-reviewer = []\nstaff-engineer = []\nsdet = []\n");
    let run = sandbox.tribunal(&["review"]);
    assert!(run.code == 2 || run.code == 3, "{run:?}");
    run.says("no reviewer is left");
}

#[test]
fn an_unknown_flag_is_wrong_usage() {
    Sandbox::on_feature().tribunal(&["review", "--fast"]).ends_with(2).says("--fast");
}

#[test]
fn two_targets_at_once_are_wrong_usage() {
    Sandbox::on_feature().tribunal(&["review", "--staged", "--commit", "HEAD"]).ends_with(2).says("cannot be used with");
}

#[test]
fn a_range_without_dots_is_wrong_usage() {
    Sandbox::on_feature().tribunal(&["review", "--range", "main"]).ends_with(2).says("A..B");
}

/// PR-21: a directive must say why.
#[test]
fn a_directive_without_a_reason_is_refused() {
    Sandbox::with_shared_list().tribunal(&["review", "--context", "lower E* to P3"]).ends_with(2).says("bad-context");
}

/// PR-21, PR-77: a directive for a category that nobody owns would do nothing, in silence; wherever it stands.
#[test]
fn a_directive_for_an_unknown_category_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    for directive in ["raise Q9 to P0: x", "never lower SS1: pci", "never lower s1: pci"] {
        sandbox.tribunal(&["review", "--context", directive]).ends_with(2).says("bad-context");
    }
    sandbox.tribunal(&["review", "--context", "lower Z* to P3: x"]).ends_with(2).says("known are S1, S2");
    sandbox.configure_person("[review]\ncontext = \"never lower SS1: pci\"\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("SS1");
}

/// PR-19: what looks like a path and is none is never taken for the spec itself.
#[test]
fn a_spec_file_that_is_not_there_is_refused() {
    Sandbox::with_shared_list().tribunal(&["review", "--spec", "docs/spec.md"]).ends_with(2).says("docs/spec.md");
}

/// Design rule 13: the report could not be written, the review is not lost.
#[test]
fn an_output_that_cannot_be_written_keeps_the_review() {
    let sandbox = Sandbox::with_shared_list();
    sandbox
        .tribunal(&["review", "--output", "/nonexistent/report.txt"])
        .ends_with(3)
        .says("/nonexistent/report.txt")
        .says("tribunal show");
    sandbox.tribunal(&["show", "last"]).ends_with(0).prints("py-mutable-default-argument");
}

/// Design rule 8: a ledger that cannot be read is an error, not an empty one.
#[test]
fn a_damaged_ledger_is_not_an_empty_one() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.tribunal(&["review"]).ends_with(0);
    for file in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = fs::remove_file(sandbox.path().join(".git/tribunal").join(file));
    }
    fs::write(
        sandbox.path().join(".git/tribunal/ledger.db"),
        "this is no database, and long enough to be sure of it\n".repeat(100),
    )
    .unwrap();
    let run = sandbox.tribunal(&["history"]);
    assert_eq!((run.code, run.stdout.as_str()), (3, ""), "{}", run.stderr);
    sandbox.tribunal(&["review"]).ends_with(3).says("ledger-damaged").says("rm -r .git/tribunal");
}

/// Reviewing a bare repository's commits works; its work tree does not exist.
#[test]
fn a_bare_repository_has_commits_to_review() {
    let sandbox = Sandbox::with_shared_list();
    let bare = sandbox.root().join("bare.git");
    sandbox.git_in(sandbox.root(), &["clone", "--quiet", "--bare", sandbox.path().to_str().unwrap(), bare.to_str().unwrap()]);
    let run = sandbox.tribunal_in(&bare, &["review", "--range", "main...feature", "--format", "json"]).ends_with(0);
    assert_eq!(run.json()["receipt"]["coverage"]["files"], 1);
}

/// Design section 7: a file that cannot be read as text is refused, not skipped over.
#[test]
fn a_config_that_is_no_toml_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure("[review\nfail_level\n");
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says(".tribunal.toml");
}
