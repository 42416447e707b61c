//! A repository whose git directory somebody else wrote: unpacked from an archive, or in a shared folder (issue 16, points 7, 9, 10).

use super::sandbox::{CLEAN, NO_TLS, Sandbox};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// A program that leaves a mark when it is run, whatever it is run as.
fn canary(sandbox: &Sandbox) -> (PathBuf, String) {
    let (mark, script) = (sandbox.root().join("mark"), sandbox.root().join("canary.sh"));
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat 2> /dev/null\n", mark.display());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    (mark, script.display().to_string())
}

/// Every key of git's configuration that names a program or makes git talk to something; `%` is the program.
const KEYS: [(&str, &str); 52] = [
    ("alias.rev-parse", "!%"),
    ("alias.cat-file", "!%"),
    ("core.alternateRefsCommand", "%"),
    ("core.askPass", "%"),
    ("core.editor", "%"),
    ("core.fsmonitor", "%"),
    ("core.gitProxy", "%"),
    ("core.hooksPath", "%.hooks"),
    ("core.pager", "%"),
    ("core.sshCommand", "%"),
    ("core.attributesFile", "%.attributes"),
    ("credential.helper", "!%"),
    ("credential.https://127.0.0.1.helper", "!%"),
    ("diff.external", "%"),
    ("diff.evil.command", "%"),
    ("diff.evil.textconv", "%"),
    ("difftool.evil.cmd", "%"),
    ("extensions.partialClone", "evil"),
    ("extensions.worktreeConfig", "true"),
    ("filter.evil.clean", "%"),
    ("filter.evil.smudge", "%"),
    ("filter.evil.process", "%"),
    ("filter.evil.required", "true"),
    ("gpg.program", "%"),
    ("gpg.ssh.program", "%"),
    ("gpg.x509.program", "%"),
    ("gpg.ssh.defaultKeyCommand", "%"),
    ("http.proxy", "http://127.0.0.1:1"),
    ("include.path", "%.include"),
    ("includeIf.gitdir:/**.path", "%.include"),
    ("interactive.diffFilter", "%"),
    ("log.showSignature", "true"),
    ("merge.evil.driver", "%"),
    ("mergetool.evil.cmd", "%"),
    ("pager.log", "%"),
    ("pager.config", "%"),
    ("protocol.allow", "always"),
    ("protocol.ext.allow", "always"),
    ("receive.procReceiveRefs", "refs"),
    ("remote.evil.promisor", "true"),
    ("remote.evil.partialclonefilter", "blob:none"),
    ("remote.evil.receivepack", "%"),
    ("remote.evil.uploadpack", "%"),
    ("remote.evil.url", "ext::% %%S"),
    ("remote.evil.vcs", "ext"),
    ("sequence.editor", "%"),
    ("ssh.variant", "simple"),
    ("tar.zip.command", "%"),
    ("trace2.eventTarget", "%.trace"),
    ("uploadpack.packObjectsHook", "%"),
    ("url.ext::% .insteadOf", "https://"),
    ("web.browser", "%"),
];

/// Writes all of them into the configuration, each attribute that uses one into the work tree, and every hook into the git directory.
fn poison(sandbox: &Sandbox, script: &str) {
    fs::write(format!("{script}.attributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
    fs::write(format!("{script}.include"), format!("[core]\n\tfsmonitor = {script}\n\tsshCommand = {script}\n")).unwrap();
    let config = sandbox.path().join(".git/config");
    let mut text = fs::read_to_string(&config).unwrap();
    for (key, value) in KEYS {
        let (section, rest) = key.split_once('.').unwrap();
        let value = value.replace('%', script).replace(&format!("{script}{script}"), "%");
        let (name, key) = match rest.rsplit_once('.') {
            Some((name, key)) => (format!(" \"{}\"", name.replace('%', script)), key),
            None => (String::new(), rest),
        };
        text.push_str(&format!("[{section}{name}]\n\t{key} = \"{value}\"\n"));
    }
    fs::write(&config, text).unwrap();
    fs::write(sandbox.path().join(".git/config.worktree"), format!("[core]\n\tfsmonitor = {script}\n")).unwrap();
    fs::create_dir_all(format!("{script}.hooks")).unwrap();
    for hook in
        ["post-index-change", "pre-commit", "post-checkout", "reference-transaction", "post-merge", "pre-push", "pre-auto-gc"]
    {
        fs::copy(script, format!("{script}.hooks/{hook}")).unwrap();
        fs::create_dir_all(sandbox.path().join(".git/hooks")).unwrap();
        fs::copy(script, sandbox.path().join(".git/hooks").join(hook)).unwrap();
    }
}

/// Work of every kind: committed, staged, edited and untracked, under attributes that choose the poisoned drivers.
fn with_work() -> Sandbox {
    let sandbox = Sandbox::on_feature_from(&[
        (".gitattributes", "* filter=evil diff=evil merge=evil\n"),
        ("app.py", CLEAN),
        ("other.py", CLEAN),
        ("docs/adr/0001-x.md", "# Use x\n"),
    ]);
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    sandbox.write("staged.py", NO_TLS);
    sandbox.git(&["add", "staged.py"]);
    sandbox.write("other.py", NO_TLS);
    sandbox.write("untracked.py", NO_TLS);
    sandbox
}

/// Issue 16, point 9: no command of ours lets a repository's configuration run anything.
#[test]
fn nothing_in_a_hostile_configuration_runs() {
    let sandbox = with_work();
    let (mark, script) = canary(&sandbox);
    poison(&sandbox, &script);
    let review = sandbox.review(&[]).ends_with(1);
    // Without its filter nobody knows what git would make of an edited file: it is left out, and named.
    assert_eq!(review.files(), ["app.py", "staged.py"]);
    let notices = review.json["notices"].to_string();
    assert!(notices.contains("other.py") && notices.contains("untracked.py"), "{notices}");
    for args in [
        &["review", "--committed", "--mode", "full"][..],
        &["review", "--staged"],
        &["review", "--range", "main..feature"],
        &["review", "--commit", "HEAD"],
        &["review", "--dry-run"],
        &["review", "--resume"],
        &["history"],
        &["show", "last"],
        &["doctor"],
        &["trust"],
        &["config", "show"],
        &["index"],
        &["search", "use x"],
        &["pr", "open", "--title", "T", "--head", "feature", "--base", "main"],
        &["pr", "list"],
        &["pr", "show", "1"],
        &["why", "1"],
        &["pr", "merge", "1"],
    ] {
        sandbox.tribunal(args);
        let ran = fs::read_to_string(&mark).unwrap_or_default();
        assert_eq!(ran, "", "{args:?} ran something");
    }
    // The trap works: plain git falls into it.
    let _ = std::process::Command::new("git")
        .args(["add", "-A"])
        .current_dir(sandbox.path())
        .env("HOME", sandbox.root().join("home"))
        .output();
    assert!(mark.exists());
}

/// A `PATH` with the checkout's own folder, as some development environments set it: what the branch put there is not run.
#[test]
fn a_change_brings_no_git_of_its_own() {
    let sandbox = Sandbox::on_feature();
    let (mark, script) = canary(&sandbox);
    let programs = ["git", "git-merge-tree", "git-remote-https", "sh", "gh", "glab", "bwrap", "claude", "ps"];
    for folder in ["bin", "node_modules/.bin"] {
        for program in programs {
            sandbox.write(format!("{folder}/{program}"), fs::read(&script).unwrap());
            fs::set_permissions(sandbox.path().join(folder).join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Bring programs");
    let (bin, modules) = (sandbox.path().join("bin"), sandbox.path().join("node_modules/.bin"));
    let link = sandbox.root().join("link");
    symlink(&bin, &link).unwrap();
    let usual = std::env::var("PATH").unwrap();
    for first in ["./bin", "bin", bin.to_str().unwrap(), modules.to_str().unwrap(), link.to_str().unwrap()] {
        for args in [&["review", "--committed", "--mode", "full"][..], &["doctor"], &["agents", "list"], &["trust", "--yes"]] {
            let mut command = sandbox.command(args);
            command.env("PATH", format!("{first}:{usual}"));
            let run = super::sandbox::finish(command, b"");
            let ran = fs::read_to_string(&mark).unwrap_or_default();
            assert_eq!(ran, "", "PATH={first}: {args:?} ran something: {run:?}");
            if args[0] == "review" {
                run.ends_with(1);
            } else if args[0] == "doctor" {
                assert!(run.stdout.contains("no program is taken from these entries of PATH"), "{run:?}");
            }
        }
    }
    // The trap works, and with nothing else on the PATH there is no git.
    let _ = std::process::Command::new("sh").args(["-c", "PATH=./bin git"]).current_dir(sandbox.path()).output();
    assert!(mark.exists());
    let mut command = sandbox.command(&["review"]);
    command.env("PATH", "./bin");
    super::sandbox::finish(command, b"").ends_with(2).says("relative entries and those inside the checkout do not count");
}

/// The name of a filter is anybody's text. Given to git as `key=value`, one with `=` in it would set another filter.
#[test]
fn the_name_of_a_filter_sets_nothing() {
    let sandbox = Sandbox::on_feature_from(&[(".gitattributes", "* filter=x\n"), ("app.py", CLEAN)]);
    let (mark, script) = canary(&sandbox);
    for key in ["clean", "smudge", "process"] {
        let config = sandbox.path().join(".git/config");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, format!("{text}[filter \"x.{key}={script} #\"]\n\tclean = cat\n")).unwrap();
    }
    sandbox.write("app.py", NO_TLS);
    sandbox.write("new.py", NO_TLS);
    for args in [&["review"][..], &["review", "--staged"], &["review", "--dry-run"]] {
        sandbox.tribunal(args);
        assert!(!mark.exists(), "{args:?} ran {}", fs::read_to_string(&mark).unwrap_or_default());
    }
    sandbox.review(&["--mode", "full"]).ends_with(1);
}

/// A pipe in the place of a file would be waited for, before anything else is looked at.
#[test]
fn a_pipe_in_the_git_directory_is_refused() {
    for name in ["config", "HEAD", "index", "packed-refs", "commondir", "refs/heads/other", "logs/HEAD", "info/exclude", "object"]
    {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", NO_TLS);
        sandbox.commit("Work");
        let blob = sandbox.git(&["rev-parse", "feature:app.py"]);
        let name = name.replace("object", &format!("objects/{}/{}", &blob[..2], &blob[2..]));
        let path = sandbox.path().join(".git").join(&name);
        let _ = fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        sandbox.tribunal(&["review"]).ends_with(2).says("special-file").says(&name);
    }
    // In the place of `.git` itself, and behind a link.
    let sandbox = Sandbox::on_feature();
    let pipe = sandbox.root().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::remove_file(sandbox.path().join(".git/index")).unwrap();
    symlink(&pipe, sandbox.path().join(".git/index")).unwrap();
    sandbox.tribunal(&["review"]).ends_with(2).says("special-file");
    symlink(&pipe, sandbox.outside().join(".git")).unwrap();
    sandbox.tribunal_in(&sandbox.outside(), &["review"]).ends_with(2).says("special-file");
}

/// A submodule is a repository with a configuration of its own, and git looks into it when it compares files.
#[test]
fn nothing_in_a_submodules_configuration_runs() {
    let sandbox = Sandbox::on_feature();
    let (mark, script) = canary(&sandbox);
    sandbox.git(&["init", "--quiet", "--initial-branch=main", "part"]);
    let part = sandbox.path().join("part");
    fs::write(part.join(".gitattributes"), "* filter=evil\n").unwrap();
    fs::write(part.join("a.txt"), "a\n").unwrap();
    sandbox.git_in(&part, &["add", "-A"]);
    sandbox.git_in(&part, &["commit", "--quiet", "-m", "Part"]);
    sandbox.git(&["-c", "advice.addEmbeddedRepo=false", "add", "part"]);
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Add a part");
    for key in ["filter.evil.clean", "core.fsmonitor"] {
        sandbox.git_in(&part, &["config", key, &script]);
    }
    fs::write(part.join("a.txt"), "b\n").unwrap();
    sandbox.write("app.py", format!("{NO_TLS}\n"));
    // The files of a new submodule are read by nobody.
    sandbox.tribunal(&["review"]).ends_with(3);
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
    let _ = std::process::Command::new("git").arg("status").current_dir(sandbox.path()).output();
    assert!(mark.exists(), "the trap works: plain git falls into it");
}

/// Objects that are missing are not fetched, by whatever transport a repository names.
#[test]
fn a_promisor_remote_is_never_asked() {
    for (key, value) in [("url", "ext::% %%S"), ("url", "ssh://127.0.0.1:1/x"), ("url", "git://127.0.0.1:1/x")] {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", NO_TLS);
        sandbox.commit("Work");
        let (mark, script) = canary(&sandbox);
        let blob = sandbox.git(&["rev-parse", "feature:app.py"]);
        fs::remove_file(sandbox.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
        let value = value.replace("%%", "\u{1}").replace('%', &script).replace('\u{1}', "%");
        for (key, value) in [
            (format!("remote.evil.{key}"), value.as_str()),
            ("remote.evil.promisor".into(), "true"),
            ("extensions.partialClone".into(), "evil"),
            ("core.repositoryFormatVersion".into(), "1"),
            ("core.sshCommand".into(), &script),
            ("core.gitProxy".into(), &script),
            ("protocol.allow".into(), "always"),
        ] {
            sandbox.git(&["config", &key, value]);
        }
        sandbox.tribunal(&["review", "--committed"]).ends_with(3).says("partial clone").says("git fetch");
        assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap());
    }
}

/// `core.worktree` cannot make another folder part of the change.
#[test]
fn a_work_tree_elsewhere_is_refused() {
    let sandbox = Sandbox::on_feature();
    let home = sandbox.root().join("home");
    fs::write(home.join("diary.txt"), "dear diary\n").unwrap();
    sandbox.git(&["config", "core.worktree", home.to_str().unwrap()]);
    for args in [&["review"][..], &["review", "--staged"], &["review", "--dry-run"], &["trust"], &["index"]] {
        let run = sandbox.tribunal(args).ends_with(2).says("foreign-work-tree");
        assert!(!run.stdout.contains("diary"), "{}", run.stdout);
    }
}

/// A `.git` that leads to a repository of the person's does not hand its content out.
#[test]
fn a_git_directory_elsewhere_is_refused() {
    let sandbox = Sandbox::on_feature();
    let outside = sandbox.outside();
    fs::write(outside.join(".git"), format!("gitdir: {}\n", sandbox.path().join(".git").display())).unwrap();
    sandbox.tribunal_in(&outside, &["review"]).ends_with(2).says("foreign-git-directory");
    fs::remove_file(outside.join(".git")).unwrap();
    symlink(sandbox.path().join(".git"), outside.join(".git")).unwrap();
    sandbox.tribunal_in(&outside, &["review"]).ends_with(2).says("foreign-git-directory");
    fs::remove_file(outside.join(".git")).unwrap();
    // A work tree that git made is linked in both directions.
    let linked = sandbox.root().join("linked");
    sandbox.git(&["worktree", "add", "--quiet", "-b", "other", linked.to_str().unwrap(), "main"]);
    fs::write(linked.join("app.py"), NO_TLS).unwrap();
    sandbox.tribunal_in(&linked, &["review"]).ends_with(1);
}

/// Point 7: a bare repository among the files of a change is not opened.
#[test]
fn an_embedded_bare_repository_is_not_opened() {
    let sandbox = Sandbox::on_feature();
    let (mark, script) = canary(&sandbox);
    let inner = sandbox.path().join("inner");
    sandbox.git(&["init", "--quiet", "--bare", "inner"]);
    for (key, value) in
        [("core.bare", "false"), ("core.worktree", ".."), ("filter.evil.clean", &script), ("core.fsmonitor", &script)]
    {
        sandbox.git_in(sandbox.root(), &["config", "--file", inner.join("config").to_str().unwrap(), key, value]);
    }
    sandbox.write(".gitattributes", "* filter=evil\n");
    for args in [&["review"][..], &["doctor"], &["review", "--staged"]] {
        let run = sandbox.tribunal_in(&inner, args);
        assert!(!mark.exists() && run.code != 0, "{args:?}: {run:?}");
    }
    sandbox.tribunal_in(&inner, &["review"]).ends_with(2).says("embedded-repository");
}

/// Point 7: a filter of the person's own, such as git-lfs, is not chosen by the attributes of a change when its files are written out
/// for a linter.
#[test]
fn a_change_chooses_no_filter() {
    let sandbox = Sandbox::on_feature();
    let (mark, script) = canary(&sandbox);
    for key in ["filter.mine.smudge", "filter.mine.clean"] {
        sandbox.git(&["config", "--global", key, &script]);
    }
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    sandbox.write(".gitattributes", "* filter=mine\n");
    sandbox.git(&["-c", "filter.mine.clean=cat", "add", "--all"]);
    sandbox.git(&["commit", "--quiet", "-m", "Choose a filter"]);
    let _ = fs::remove_file(&mark);
    let sarif = r#"{ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": [] }] }"#;
    let lint = sandbox.script("lint.sh", &format!("test -e app.py || exit 9\ncat <<'SARIF'\n{sarif}\nSARIF\n"));
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"rules\", \"lint\"]\n[agents.lint]\nkind = \"sarif\"\ncategory = \"E1\"\ncommand = {lint}\n"
    ));
    let review = sandbox.review(&["--committed"]);
    assert!(!mark.exists(), "a filter was run: {}", fs::read_to_string(&mark).unwrap());
    review.ends_with(1);
}

/// Objects of another repository are not read unless the person allowed it.
#[test]
fn borrowed_objects_need_the_persons_word() {
    let sandbox = Sandbox::on_feature();
    let clone = sandbox.root().join("clone");
    sandbox.git(&["clone", "--quiet", "--shared", ".", clone.to_str().unwrap()]);
    fs::write(clone.join("app.py"), NO_TLS).unwrap();
    sandbox.tribunal_in(&clone, &["review"]).ends_with(2).says("borrowed-objects").says("tribunal.alternates");
    let objects = sandbox.path().join(".git/objects");
    // To git, only a `#` in the first place begins a comment, and nothing is trimmed.
    let place = sandbox.path();
    let name = place.file_name().unwrap().to_str().unwrap();
    let list = clone.join(".git/objects/info/alternates");
    let before = fs::read_to_string(&list).unwrap();
    for folder in [" #", " "] {
        fs::create_dir(clone.join(".git/objects").join(folder)).unwrap();
        let line = format!("{folder}/../../../../{name}/.git/objects");
        fs::write(&list, format!("# a comment\n{line}\n")).unwrap();
        assert!(!sandbox.git_in(&clone, &["rev-parse", "origin/main^{tree}"]).is_empty(), "git finds its objects");
        sandbox.tribunal_in(&clone, &["review", "--base", "origin/main"]).ends_with(2).says("borrowed-objects");
    }
    fs::write(&list, before).unwrap();
    sandbox.git_in(sandbox.root(), &["config", "--global", "--add", "tribunal.alternates", objects.to_str().unwrap()]);
    sandbox.tribunal_in(&clone, &["review", "--base", "origin/main"]).ends_with(1);
    // git takes the quotes off and reads on behind them, so what is allowed must not be written so.
    fs::write(&list, format!("\"x\"/{}\n", objects.to_str().unwrap())).unwrap();
    sandbox.tribunal_in(&clone, &["review", "--base", "origin/main"]).ends_with(2).says("info/alternates");
}

/// The same where a link leads there, as `git-new-workdir` makes them: content of another repository would be reviewed and quoted.
#[test]
fn linked_objects_need_the_persons_word() {
    let private = |sandbox: &Sandbox| {
        let private = sandbox.root().join("private");
        sandbox.git(&["clone", "--quiet", "--no-hardlinks", ".", private.to_str().unwrap()]);
        sandbox.git_in(&private, &["pack-refs", "--all"]);
        sandbox.git_in(&private, &["repack", "--quiet", "-a", "-d"]);
        private.join(".git")
    };
    for path in ["objects", "objects/pack", "objects/info", "refs", "refs/heads", "packed-refs"] {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", NO_TLS);
        let (own, other) = (sandbox.path().join(".git").join(path), private(&sandbox).join(path));
        if path != "packed-refs" {
            // Nothing is lost, so that the repository works as before.
            for entry in walk(&own) {
                let to = other.join(entry.strip_prefix(&own).unwrap());
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                let _ = fs::copy(&entry, to);
            }
            fs::remove_dir_all(&own).unwrap();
        }
        symlink(&other, &own).unwrap();
        sandbox.git(&["rev-parse", "feature"]);
        for args in [&["review"][..], &["review", "--dry-run"], &["search", "words"]] {
            sandbox.tribunal(args).ends_with(2).says("borrowed-objects").says(path).says("tribunal.alternates");
        }
        let real = fs::canonicalize(&other).unwrap();
        sandbox.git(&["config", "--global", "--add", "tribunal.alternates", real.to_str().unwrap()]);
        sandbox.tribunal(&["review"]).ends_with(1);
    }
    // A branch that git wrote as a link to another one of the same repository.
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    symlink("main", sandbox.path().join(".git/refs/heads/same")).unwrap();
    sandbox.tribunal(&["review"]).ends_with(1);
}

/// Every file below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn nothing_was_written(folder: &Path) {
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "something was written through a link");
}

/// Links in the git directory are not written through.
#[test]
fn a_linked_folder_of_ours_is_refused() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    let outside = sandbox.outside();
    symlink(&outside, sandbox.path().join(".git/tribunal")).unwrap();
    for args in [&["review"][..], &["review", "--staged"], &["history"], &["index"], &["pr", "list"], &["doctor"], &["why", "1"]]
    {
        let run = sandbox.tribunal(args);
        assert_ne!(run.code, 0, "{args:?}");
        nothing_was_written(&outside);
    }
    sandbox.tribunal(&["review"]).ends_with(2).says("linked-folder");
    fs::remove_file(sandbox.path().join(".git/tribunal")).unwrap();
    sandbox.tribunal(&["review"]).ends_with(1);
    symlink(outside.join("x"), sandbox.path().join(".git/tribunal/move.lock")).unwrap();
    sandbox.tribunal(&["review"]).ends_with(2).says("linked-folder");
    nothing_was_written(&outside);
}

/// A log of a branch that is a link would have a line appended, with words that others chose.
#[test]
fn a_linked_log_is_not_appended_to() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(&["config", key, value]);
    }
    let profile = sandbox.outside().join("profile");
    fs::write(&profile, "# mine\n").unwrap();
    let log = sandbox.path().join(".git/logs/refs/heads/main");
    fs::remove_file(&log).unwrap();
    symlink(&profile, &log).unwrap();
    sandbox.tribunal(&["pr", "open", "--title", "; touch /tmp/x #", "--head", "feature", "--base", "main"]).ends_with(0);
    let run = sandbox.tribunal(&["pr", "merge", "1", "--method", "merge"]);
    assert_ne!(run.code, 0, "{run:?}");
    assert_eq!(fs::read_to_string(&profile).unwrap(), "# mine\n");
}

/// A linked work tree has a git directory of its own, with a log of `HEAD` and an index.
#[test]
fn a_link_in_a_linked_work_tree_is_not_written_through() {
    for (name, is_there) in [("logs/HEAD", false), ("index", true)] {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", NO_TLS);
        sandbox.commit("Work");
        for (key, value) in [("user.name", "; touch /tmp/x #"), ("user.email", "ada@example.com")] {
            sandbox.git(&["config", key, value]);
        }
        let linked = sandbox.root().join("linked");
        sandbox.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
        let path = sandbox.path().join(".git/worktrees/linked").join(name);
        let mine = sandbox.outside().join("mine");
        if is_there {
            fs::copy(&path, &mine).unwrap();
        } else {
            fs::write(&mine, "# mine\n").unwrap();
        }
        let before = fs::read(&mine).unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&mine, &path).unwrap();
        for folder in [linked.as_path(), &sandbox.path()] {
            let _ = sandbox.tribunal_in(folder, &["pr", "open", "--title", "T", "--head", "feature", "--base", "main"]);
            let run = sandbox.tribunal_in(folder, &["pr", "merge", "1", "--method", "merge"]);
            assert_ne!(run.code, 0, "{name}: {run:?}");
            assert_eq!(fs::read(&mine).unwrap(), before, "{name} was written through");
            assert_eq!(fs::read_dir(sandbox.outside()).unwrap().count(), 1, "{name}: something was left beside it");
        }
    }
}

/// A ledger that came with the repository, or that was edited, is never the reason for a green end.
#[test]
fn a_foreign_ledger_is_set_aside() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    sandbox.tribunal(&["review"]).ends_with(1);
    // Another account, as after unpacking: everything is there but the key.
    fs::remove_dir_all(sandbox.root().join("home/state")).unwrap();
    sandbox.tribunal(&["review"]).ends_with(1).says("does not carry the seal").says("set-aside-1");
    assert!(sandbox.path().join(".git/tribunal.set-aside-1/ledger.db").exists());
    sandbox.tribunal(&["review"]).ends_with(1).says("Nothing new");
}

/// Edits the ledger as somebody does who has the file and not the key.
fn edit(sandbox: &Sandbox, statement: &str) {
    let ledger = sandbox.path().join(".git/tribunal/ledger.db");
    let python = format!("import sqlite3; c = sqlite3.connect('{}'); c.execute(\"{statement}\"); c.commit()", ledger.display());
    assert!(std::process::Command::new("python3").arg("-c").arg(python).status().unwrap().success());
}

/// Every way to turn a stored review green ends in an error, and then in a review of its own.
#[test]
fn an_edited_ledger_is_never_green() {
    for statement in [
        "update document set body = replace(body, 'P0', 'P3')",
        "update document set outcome = 'clean', verdict = 'LGTM', findings = 0",
        "delete from document",
        "delete from seal",
        "create trigger evil after insert on document begin update document set outcome = 'clean'; end",
    ] {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", NO_TLS);
        sandbox.commit("Work");
        sandbox.tribunal(&["review"]).ends_with(1);
        edit(&sandbox, statement);
        let run = sandbox.tribunal(&["review"]);
        assert!(run.stderr.contains("ledger-changed") || run.stderr.contains("set-aside-1"), "{statement}: {run:?}");
        assert!(matches!(run.code, 1 | 3), "{statement}: {run:?}");
        sandbox.tribunal(&["review", "--format", "json"]).ends_with(1).prints("P0");
        assert!(sandbox.path().join(".git/tribunal.set-aside-1/ledger.db").exists(), "{statement}");
    }
}

/// The base for guidance is `origin`'s or `upstream`'s, not that of a contributor's fork that was added as a remote.
#[test]
fn another_remotes_head_is_not_the_base() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    sandbox.commit("Work");
    sandbox.git(&["update-ref", "refs/remotes/fork/main", "feature"]);
    sandbox.git(&["symbolic-ref", "refs/remotes/fork/HEAD", "refs/remotes/fork/main"]);
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.files(), ["app.py"]);
    assert_eq!(review.json["receipt"]["subject"], "feature against main");
}

/// Issue 16, point 10: a branch cannot make the person's own files part of the change by emptying `.gitignore`.
#[test]
fn what_the_base_ignores_is_not_part_of_the_change() {
    let sandbox =
        Sandbox::on_feature_from(&[(".gitignore", "*.local\nsettings/\n"), ("sub/.gitignore", "notes.txt\n"), ("app.py", CLEAN)]);
    sandbox.write(".gitignore", "");
    sandbox.write("sub/.gitignore", "");
    sandbox.commit("Ignore nothing");
    for path in ["mine.local", "settings/a.txt", "sub/notes.txt", "sub/deep/notes.txt", "new.py"] {
        sandbox.write(path, NO_TLS);
    }
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.files(), [".gitignore", "new.py", "sub/.gitignore"]);
    for path in ["mine.local", "settings/a.txt", "sub/notes.txt", "sub/deep/notes.txt", "--include-untracked"] {
        assert!(review.notices().contains(path), "{path}: {}", review.notices());
    }
    let review = sandbox.review(&["--include-untracked", "mine.local", "--include-untracked", "settings"]).ends_with(1);
    assert_eq!(review.files(), [".gitignore", "mine.local", "new.py", "settings/a.txt", "sub/.gitignore"]);
}

/// Point 10: what looks like a secret is not sent to reviewers without a yes.
#[test]
fn untracked_secrets_are_not_part_of_the_change() {
    let sandbox = Sandbox::on_feature();
    let key = format!("AKIA{}", "Z7QX2M4N6P8R5T3V");
    for path in [".env", "conf/server.pem", "id_rsa", "deploy/credentials.yml"] {
        sandbox.write(path, "PASSWORD=hunter2\n");
    }
    sandbox.write("notes.txt", format!("{key}\n"));
    sandbox.write("new.py", NO_TLS);
    let run = sandbox.tribunal(&["review", "--format", "json"]).ends_with(1);
    for text in ["hunter2", &key] {
        assert!(!run.stdout.contains(text) && !run.stderr.contains(text));
    }
    let review = sandbox.review(&["--mode", "full"]).ends_with(1);
    assert_eq!(review.files(), ["new.py"]);
    for path in [".env", "conf/server.pem", "id_rsa", "deploy/credentials.yml", "notes.txt"] {
        assert!(review.notices().contains(path), "{path}: {}", review.notices());
    }
    let review = sandbox.review(&["--include-untracked", "./conf"]).ends_with(1);
    assert_eq!(review.files(), ["conf/server.pem", "new.py"]);
    sandbox.tribunal(&["review", "--include-untracked", "nowhere"]).ends_with(2).says("unknown-file");
}

/// Point 14: nobody else on the machine can read what was reviewed, whatever the umask is.
#[test]
fn what_we_write_is_private() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    let loose = "umask 000; exec \"$0\" review --quiet";
    let mut command = sandbox.command(&[]);
    let program = command.get_program().to_owned();
    command = {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(loose).arg(program).env_clear().current_dir(sandbox.path());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        shell
    };
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let mode = |path: PathBuf| {
        fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{path:?}: {error}")).permissions().mode() & 0o777
    };
    let (own, state) = (sandbox.path().join(".git/tribunal"), sandbox.root().join("home/state/tribunal"));
    for (path, expected) in [
        (own.clone(), 0o700),
        (own.join("objects"), 0o700),
        (own.join("ledger.db"), 0o600),
        (own.join("owner"), 0o600),
        (state.clone(), 0o700),
        (state.join("ledger.key"), 0o600),
    ] {
        assert_eq!(mode(path.clone()), expected, "{}", path.display());
    }
}

/// Honest repositories that use a filter: what git-lfs keeps is compared by its pointer, and what another filter writes is not read.
#[test]
fn files_behind_filters_are_compared_without_running_them() {
    let pointer = |text: &str| {
        let hex = tribunal_core::findings::key::sha256_hex(text.as_bytes());
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hex}\nsize {}\n", text.len())
    };
    let sandbox = Sandbox::on_feature_from(&[
        (".gitattributes", "*.bin filter=lfs\n*.crypt filter=crypt\n"),
        ("same.bin", &pointer("the same")),
        ("other.bin", &pointer("before")),
        ("a.crypt", "ciphertext\n"),
        ("app.py", CLEAN),
    ]);
    let (mark, script) = canary(&sandbox);
    for key in ["filter.lfs.clean", "filter.lfs.process", "filter.crypt.clean"] {
        sandbox.git(&["config", "--global", key, &script]);
    }
    sandbox.write("same.bin", "the same");
    sandbox.write("other.bin", "after");
    sandbox.write("a.crypt", "plain secret\n");
    sandbox.write("app.py", NO_TLS);
    let review = sandbox.review(&[]).ends_with(1);
    assert_eq!(review.files(), ["app.py", "other.bin"]);
    assert!(review.notices().contains("a.crypt") && review.notices().contains("filter `crypt`"), "{}", review.notices());
    assert!(!mark.exists(), "a filter was run");
}
