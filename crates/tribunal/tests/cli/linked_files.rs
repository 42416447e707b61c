//! A branch can bring a link in the place of any file that is read from the checkout: to a device that never ends, or to a file of the
//! person's own. Such a file is refused with a word, and so is one without a bound.

use super::sandbox::{NO_TLS, SHARED_LIST, Sandbox, finish};
use std::fs;
use std::os::unix::fs::symlink;

/// A file outside the checkout, with words that no output may hold.
fn private_file(sandbox: &Sandbox) -> String {
    let path = sandbox.outside().join("private.toml");
    fs::write(&path, "hunter2 = \"heron-words\"\n").unwrap();
    path.display().to_string()
}

fn link(sandbox: &Sandbox, path: &str, target: &str) {
    let place = sandbox.path().join(path);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(target, place).unwrap();
    sandbox.commit("Bring a link");
}

/// Configuration, roles and rules are read by every local command, before anything is trusted.
#[test]
fn configuration_is_not_read_through_a_link() {
    for path in [".tribunal.toml", ".github/tribunal.toml", ".tribunal/rules/x.yml", ".tribunal/reviewers/x.md"] {
        for target in ["PRIVATE", "/dev/zero"] {
            let sandbox = Sandbox::with_shared_list();
            let target = target.replace("PRIVATE", &private_file(&sandbox));
            link(&sandbox, path, &target);
            for args in [&["review"][..], &["trust", "--dry-run"], &["config", "show"], &["search", "words"]] {
                let run = sandbox.tribunal(args).ends_with(2).says("bad-config").says(path).says("symbolic link");
                assert!(!format!("{}{}", run.stdout, run.stderr).contains("heron-words"), "{path}: {run:?}");
            }
        }
    }
}

/// A folder on the way is no better than the file itself.
#[test]
fn configuration_is_not_read_through_a_linked_folder() {
    for (path, inside) in [(".tribunal", "rules/x.yml"), (".tribunal/rules", "x.yml"), (".github", "tribunal.toml")] {
        let sandbox = Sandbox::with_shared_list();
        let place = sandbox.outside().join(inside);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "hunter2: heron-words\n").unwrap();
        link(&sandbox, path, sandbox.outside().to_str().unwrap());
        sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says(path).says("symbolic link");
    }
}

#[test]
fn configuration_has_a_bound() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write(".tribunal.toml", "#".repeat(2 << 20));
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says(".tribunal.toml").says("1 MiB");
}

/// `init` looks at files of the repository, and writes one.
#[test]
fn init_reads_and_writes_through_no_link() {
    let sandbox = Sandbox::with_shared_list();
    link(&sandbox, "pyproject.toml", "/dev/zero");
    sandbox.tribunal(&["init", "--dry-run"]).ends_with(0);
    let outside = sandbox.outside().join("written");
    link(&sandbox, ".tribunal.toml", outside.to_str().unwrap());
    for args in [&["init"][..], &["init", "--force"]] {
        sandbox.tribunal(args).ends_with(2).says("symbolic link");
        assert!(!outside.exists(), "something was written through a link");
    }
}

/// A spec goes to the reviewers word by word.
#[test]
fn a_spec_is_not_read_through_a_link_of_the_checkout() {
    let sandbox = Sandbox::with_shared_list();
    let private = private_file(&sandbox);
    sandbox.write("src/x", NO_TLS);
    link(&sandbox, "spec.md", &private);
    link(&sandbox, "docs", sandbox.outside().to_str().unwrap());
    for spec in ["spec.md", "docs/private.toml", "./src/../spec.md"] {
        sandbox.tribunal(&["review", "--spec", spec]).ends_with(2).says("symbolic link");
    }
    // What the person names outside is theirs; what never ends is no text.
    let ask = |spec: &str| sandbox.tribunal(&["review", "--spec", spec, "--dry-run"]);
    assert_ne!(ask(&private).code, 2);
    sandbox.write("inside.md", "It adds an item.\n");
    assert_ne!(
        finish(sandbox.command_in(&sandbox.path().join("src"), &["review", "--dry-run", "--spec", "../inside.md"]), b"").code,
        2
    );
}

/// A linter's file that never ends.
#[test]
fn a_sarif_file_is_a_file() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("app.py", SHARED_LIST);
    sandbox.configure_person(
        "[panel]\nstaff-engineer = [\"lint\"]\n[agents.lint]\nkind = \"sarif\"\nfile = \"/dev/zero\"\ncategory = \"E1\"\n",
    );
    let review = sandbox.review(&["--mode", "full"]).ends_with(3);
    assert!(review.json["subagent_failures"].to_string().contains("not a regular file"), "{}", review.json["subagent_failures"]);
}

/// What a command writes where it was told to lands in the checkout, where a branch may have put a link to a file of the person's own.
#[test]
fn output_is_not_written_through_a_link_of_the_checkout() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("app.py", SHARED_LIST);
    let kept = sandbox.outside().join("kept");
    fs::create_dir_all(kept.join("folder/.git")).unwrap();
    fs::write(kept.join("file"), "mine").unwrap();
    link(&sandbox, "result.json", kept.join("file").to_str().unwrap());
    link(&sandbox, "new.json", kept.join("new").to_str().unwrap());
    link(&sandbox, "out", kept.join("folder").to_str().unwrap());
    for output in ["result.json", "new.json", "out/result.json", "./src/../result.json"] {
        sandbox
            .tribunal(&["review", "--format", "json", "--output", output])
            .ends_with(3)
            .says("output-failed")
            .says("symbolic link");
    }
    assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "mine");
    assert!(!kept.join("new").exists() && !kept.join("folder/result.json").exists());
    sandbox.git(&["config", "user.name", "Ada"]);
    sandbox.git(&["config", "user.email", "ada@example.com"]);
    sandbox.tribunal(&["pr", "open", "--title", "T", "--head", "feature", "--base", "main"]).ends_with(0);
    for args in
        [&["watch", "1", "--once", "--dry-run"][..], &["respond", "1", "--once", "--dry-run"], &["sweep", "1", "--dry-run"]]
    {
        let args = [args, &["--format", "json", "--output", "result.json"]].concat();
        sandbox.tribunal(&args).says("symbolic link");
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "mine", "{args:?}");
    }
    // A link outside is the person's own.
    symlink(kept.join("file"), kept.join("link")).unwrap();
    let link = kept.join("link");
    let review = sandbox.tribunal(&["review", "--format", "json", "--output", link.to_str().unwrap()]);
    assert!(!review.stderr.contains("output-failed"), "{review:?}");
    assert!(fs::read_to_string(kept.join("file")).unwrap().contains("\"findings\""));
}

#[test]
fn a_diff_is_not_read_through_a_link_of_the_checkout() {
    let sandbox = Sandbox::with_shared_list();
    link(&sandbox, "change.diff", &private_file(&sandbox));
    sandbox.tribunal(&["review", "--diff-file", "change.diff"]).ends_with(2).says("symbolic link");
}

/// A person's file may say what nobody may do; one that cannot be read does not pass for an empty one.
#[test]
fn a_personal_file_that_cannot_be_read_is_an_error() {
    let sandbox = Sandbox::with_shared_list();
    fs::create_dir_all(sandbox.outside().with_file_name("home/config/tribunal/config.toml")).unwrap();
    sandbox.tribunal(&["review"]).ends_with(2).says("bad-config").says("not a regular file");
}
