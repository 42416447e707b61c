//! A change can try to hide from its reviewer or to run something on the machine; git is called so that it cannot (forges 1.1).

use super::sandbox::{NO_TLS, NO_TLS_RULE, SHARED_LIST, Sandbox};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Issue 3, point 2: `.gitattributes` cannot hide text from the reviewers.
#[test]
fn text_hidden_by_attributes_is_reviewed() {
    let sandbox = Sandbox::on_feature_from(&[(".gitattributes", "*.py -diff\n"), ("app.py", "")]);
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Hidden");
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.ended("app.py"), "reviewed");
    assert_eq!(review.found(), [format!("app.py:{NO_TLS_RULE}")]);
}

/// The same by the `binary` macro, and for a file that the change itself hides.
#[test]
fn a_change_cannot_hide_its_own_files() {
    let sandbox = Sandbox::on_feature();
    sandbox.write(".gitattributes", "hidden.py binary\n");
    sandbox.write("hidden.py", NO_TLS);
    sandbox.commit("Hide");
    assert_eq!(sandbox.review(&[]).ends_with(1).ended("hidden.py"), "reviewed");
}

/// Design rule 13: a setting that guards a person's commits does not keep a review from reading.
#[test]
fn a_guard_of_line_ends_does_not_stop_a_review() {
    let sandbox = Sandbox::on_feature();
    sandbox.git(&["config", "core.autocrlf", "true"]);
    sandbox.git(&["config", "core.safecrlf", "true"]);
    sandbox.write("app.py", NO_TLS);
    sandbox.write("untracked.py", NO_TLS);
    assert_eq!(sandbox.review(&[]).ends_with(1).files(), ["app.py", "untracked.py"]);
}

/// A tag named like the base branch cannot make the change look empty.
#[test]
fn a_tag_does_not_stand_in_for_the_base_branch() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.git(&["tag", "main", "feature"]);
    assert_eq!(sandbox.review(&[]).files(), ["app.py"]);
}

/// The same for a base that is named: tags follow every fetch, so a short name means the branch, and the output says so.
#[test]
fn a_tag_does_not_stand_in_for_a_base_that_is_named() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Fetch");
    sandbox.write("ok.txt", "ok\n");
    sandbox.commit("More");
    sandbox.git(&["tag", "main", "feature~1"]);
    for args in [["--base", "main"], ["--range", "main..feature"], ["--range", "main...feature"]] {
        let review = sandbox.review(&args).ends_with(1);
        assert_eq!(review.files(), ["app.py", "ok.txt"], "{args:?}");
        assert!(review.notices().contains("refs/heads/main"), "{}", review.notices());
    }
    sandbox.configure_person("[review]\nbase = \"main\"\n");
    assert_eq!(sandbox.review(&["--mode", "full"]).ends_with(1).files(), ["app.py", "ok.txt"]);
    // What only a tag is called stays a tag, and a tag named like the branch does not rename its reviews.
    sandbox.git(&["tag", "v1", "feature~1"]);
    assert_eq!(sandbox.review(&["--base", "v1"]).files(), ["ok.txt"]);
    sandbox.git(&["tag", "feature", "main"]);
    assert_eq!(sandbox.review(&["--committed"]).json["receipt"]["subject"], "feature against main");
}

/// A program that leaves a mark when it is run.
fn trap(sandbox: &Sandbox) -> (PathBuf, String) {
    let mark = sandbox.root().join("trapped");
    let script = sandbox.root().join("trap.sh");
    fs::write(&script, format!("#!/bin/sh\necho ran >> '{}'\necho harmless\n", mark.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    (mark, script.display().to_string())
}

/// External diff drivers and text converters of the repository's configuration are not run, and hide nothing.
#[test]
fn diff_drivers_and_text_converters_do_not_run() {
    let sandbox = Sandbox::on_feature_from(&[(".gitattributes", "*.py diff=evil\n"), ("app.py", "")]);
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    sandbox.write("untracked.py", NO_TLS);
    let (mark, script) = trap(&sandbox);
    sandbox.git(&["config", "diff.external", &script]);
    sandbox.git(&["config", "diff.evil.command", &script]);
    sandbox.git(&["config", "diff.evil.textconv", &script]);
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.found().len(), 2, "{:?}", review.found());
    assert!(!mark.exists(), "the repository's program was run");
    sandbox.git(&["diff", "main", "feature"]);
    assert!(mark.exists(), "the trap works: plain git falls into it");
}

/// Hooks and the file-system monitor of the repository's configuration are not run.
#[test]
fn hooks_and_monitors_do_not_run() {
    let sandbox = Sandbox::with_shared_list();
    let (mark, script) = trap(&sandbox);
    let hooks = sandbox.root().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in ["post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman"] {
        fs::copy(&script, hooks.join(hook)).unwrap();
        fs::copy(&script, sandbox.path().join(".git/hooks").join(hook)).unwrap();
    }
    sandbox.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    sandbox.git(&["config", "core.fsmonitor", &script]);
    let _ = fs::remove_file(&mark);
    sandbox.write("untracked.py", NO_TLS);
    sandbox.tribunal(&["review"]).ends_with(1);
    sandbox.tribunal(&["review", "--staged"]).ends_with(2);
    assert!(!mark.exists(), "the repository's program was run");
    sandbox.git(&["status"]);
    assert!(mark.exists(), "the trap works: plain git falls into it");
}

/// Forges 1.1: nothing that git starts for a person is started for a review.
#[test]
fn a_pager_and_an_editor_do_not_run() {
    let sandbox = Sandbox::with_shared_list();
    let (mark, script) = trap(&sandbox);
    for key in ["core.pager", "core.editor", "pager.diff", "core.sshCommand", "core.askPass", "credential.helper"] {
        sandbox.git(&["config", key, &script]);
    }
    sandbox.tribunal(&["review"]).ends_with(0);
    assert!(!mark.exists());
}

fn listing(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            listing(&path, into);
        } else {
            into.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

fn everything_but_ours(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    listing(&sandbox.path(), &mut files);
    files.retain(|path, _| !path.starts_with(sandbox.path().join(".git/tribunal")));
    files
}

/// PR-9: review reads. Index, objects, refs and work tree are the same bytes afterwards.
#[test]
fn a_review_leaves_the_repository_as_it_was() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("staged.py", SHARED_LIST);
    sandbox.git(&["add", "staged.py"]);
    sandbox.write("app.py", NO_TLS);
    sandbox.write("untracked.py", NO_TLS);
    let status = sandbox.git(&["status", "--porcelain"]);
    let before = everything_but_ours(&sandbox);
    sandbox.tribunal(&["review"]).ends_with(1);
    sandbox.tribunal(&["review", "--staged"]).ends_with(0);
    sandbox.tribunal(&["review", "--committed", "--mode", "full"]).ends_with(0);
    let after = everything_but_ours(&sandbox);
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    assert!(before == after, "a file of the repository has other bytes than before");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), status);
}

/// Design section 5: nothing of ours is in the work tree, and git does not see what is in the git directory.
#[test]
fn nothing_of_ours_is_in_the_work_tree() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.tribunal(&["review"]).ends_with(0);
    assert_eq!(sandbox.git(&["status", "--porcelain", "--ignored"]), "");
    assert!(sandbox.path().join(".git/tribunal/ledger.db").exists());
    assert_eq!(fs::read_dir(sandbox.temporary_folder()).unwrap().count(), 0, "temporary files are left");
}
