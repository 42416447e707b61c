use super::*;
use std::collections::BTreeMap;
use tribunal_core::linter::profile::Profile;
use tribunal_core::policy::linter::LinterConfigFrom;

/// A profile whose program is the shell, so that what a linter is given can be looked at.
fn profile(script: &str, more: &str) -> Profile {
    let text = format!(
        "about = 'x'\nprogram = 'sh'\ninstall = 'x'\nrole = 'staff-engineer'\nfiles = ['*.py']\nsuppressed_by = []\nargs = ['-c', '''{script}''', 'sh', '{{config}}', '{{files}}']\n{more}\n\
         [config]\nbase = ['lint.toml']\nnever = ['lint.js', 'plugins/**']\nwith = ['--config', '{{path}}']\nwithout = ['--isolated']\n\
         [output]\nformat = 'lines'\npattern = '^(?<file>[^:]+):(?<line>\\d+):(?<message>.+)$'\n\
         [sample]\npath = 'a.py'\ntext = ''\nrule = 'x'\n"
    );
    Profile::parse(&text).unwrap()
}

/// A tree in which the change brings orders of its own beside those of the base.
struct Hostile;

impl Sources for Hostile {
    fn export(&self, into: &Path) -> Result<(), String> {
        let files = ["a.py", "b.py", "lint.toml", "lint.js", "plugins/deep/x.py", "sub/lint.toml"];
        let files = files.into_iter().map(|path| (RepoPath::from(path), "of the change".to_owned())).collect();
        Given { files }.export(into)
    }

    fn of_base(&self, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Vec<(RepoPath, Vec<u8>)>, String> {
        let base = BTreeMap::from([("lint.toml", "of the base"), ("lint.js", "of the base"), ("sub/lint.toml", "of the base")]);
        let paths = base.into_iter().map(|(path, text)| (RepoPath::from(path), text.as_bytes().to_vec()));
        Ok(paths.filter(|(path, _)| wanted(path)).collect())
    }
}

fn look_with(config: &LinterConfig, script: &str, more: &str) -> Result<Found, AgentFailure> {
    let profile = profile(script, more);
    let changed = ["a.py", "-x.py", "lint.js", "readme.md"].map(RepoPath::from);
    let changed: Vec<Changed<'_>> =
        changed.iter().map(|path| Changed { path, text: "of the change", unsuppressed: None }).collect();
    ProfiledLinter { config: &LinterConfig { program: Some("sh".into()), ..config.clone() }, profile: &profile }
        .look(&changed, &Hostile)
}

fn look(script: &str, more: &str) -> Result<Vec<String>, AgentFailure> {
    Ok(look_with(&LinterConfig::of("x"), script, more)?.results.into_iter().map(|result| result.message).collect())
}

const LIST: &str = "echo \"f:1:$*\"; find . -type f | LC_ALL=C sort | while read f; do echo \"f:1:$f $(cat \"./$f\")\"; done";

/// Issue 18, section 2: a linter sees the changed files, and of the configuration only what the base has as data.
#[test]
fn a_linter_sees_the_change_and_the_base_s_data() {
    let seen = look(LIST, "").unwrap();
    assert_eq!(
        seen,
        [
            "--config lint.toml ./-x.py ./a.py",
            "./-x.py of the change",
            "./a.py of the change",
            "./lint.toml of the base",
            "./sub/lint.toml of the base",
        ]
    );
}

#[test]
fn a_linter_of_whole_trees_sees_no_orders_of_the_change() {
    let seen = look(LIST, "tree = 'whole'").unwrap();
    assert_eq!(
        seen[1..],
        ["./a.py of the change", "./b.py of the change", "./lint.toml of the base", "./sub/lint.toml of the base"]
    );
}

/// `config = "default"` leaves the base's out as well.
#[test]
fn a_person_may_want_the_defaults() {
    let config = LinterConfig { config: Some(LinterConfigFrom::Default), ..LinterConfig::of("x") };
    let found = look_with(&config, "echo \"f:1:$*\"", "").unwrap();
    assert_eq!(found.results[0].message, "--isolated ./-x.py ./a.py");
    assert_eq!(found.files.len(), 2);
}

/// Design rule 1: what did not look, or what nobody understood, is not clean.
#[test]
fn a_linter_that_did_not_look_has_failed() {
    let failure = |script: &str| look(script, "").unwrap_err().to_string();
    assert!(failure("echo 'no such option' >&2; exit 2").contains("ended with exit status: 2; it said: no such option"));
    assert!(failure("echo 'Traceback' >&2; exit 1").contains("named nothing that it found"));
    assert!(look("exit 0", "").unwrap().is_empty());
    assert_eq!(look("echo 'a.py:1:x'; exit 1", "").unwrap(), ["x"]);
}

/// Issue 16: run again over text without the suppressions that the change adds, and only over the files that have some. If it cannot look
/// at that, it has not looked.
#[test]
fn a_linter_looks_again_without_the_change_s_suppressions() {
    let paths = ["a.py", "b.py"].map(RepoPath::from);
    let look = |script: &str| {
        let profile = profile(script, "");
        let config = LinterConfig { program: Some("sh".into()), ..LinterConfig::of("x") };
        let changed = [
            Changed { path: &paths[0], text: "quiet", unsuppressed: Some("loud".into()) },
            Changed { path: &paths[1], text: "other", unsuppressed: None },
        ];
        let found = ProfiledLinter { config: &config, profile: &profile }.look(&changed, &Hostile)?;
        let messages = |results: Vec<LinterResult>| results.into_iter().map(|one| one.message).collect::<Vec<_>>();
        Ok::<_, AgentFailure>((messages(found.results), messages(found.unsuppressed)))
    };
    let each = "shift 2; for f in \"$@\"; do echo \"$f:1:$(cat \"$f\")\"; done";
    let (results, unsuppressed) = look(each).unwrap();
    assert_eq!((results, unsuppressed), (vec!["quiet".to_owned(), "other".to_owned()], vec!["loud".to_owned()]));
    let failure = look("grep -q loud a.py && exit 3 || exit 0").unwrap_err().to_string();
    assert!(failure.contains("suppress its results in a.py") && failure.contains("ended with"), "{failure}");
}

/// One that writes nothing where it finds nothing has looked if it also says so by its exit code, and if that is known of it.
#[test]
fn nothing_written_is_clean_only_where_that_is_known() {
    let look = |more: &str, script: &str| {
        let text = format!(
            "about = 'x'\nprogram = 'sh'\ninstall = 'x'\nrole = 'staff-engineer'\nfiles = ['*.py']\nsuppressed_by = []\nargs = ['-c', '{script}']\n\
             [output]\nformat = 'json'\n{more}each = ['']\nfile = '/f'\nline = '/l'\nmessage = '/m'\n[sample]\npath = 'a.py'\ntext = ''\nrule = 'x'\n"
        );
        let (profile, path) = (Profile::parse(&text).unwrap(), RepoPath::from("a.py"));
        let config = LinterConfig { program: Some("sh".into()), ..LinterConfig::of("x") };
        let changed = Changed { path: &path, text: "", unsuppressed: None };
        ProfiledLinter { config: &config, profile: &profile }.look(&[changed], &Hostile).map(|found| found.results.len())
    };
    assert_eq!(look("empty_if_clean = true\n", "exit 0").unwrap(), 0);
    assert!(look("empty_if_clean = true\n", "exit 1").is_err());
    assert!(look("", "exit 0").is_err());
}

/// One that is not installed is named with how to install it; where there is nothing for it to look at, that does not matter.
#[test]
fn a_missing_linter_is_named() {
    let profile = profile("exit 0", "");
    let config = LinterConfig { program: Some("no-such-linter-anywhere".into()), ..LinterConfig::of("x") };
    let linter = ProfiledLinter { config: &config, profile: &profile };
    let path = RepoPath::from("a.py");
    let failure = linter.look(&[Changed { path: &path, text: "", unsuppressed: None }], &Hostile).unwrap_err().to_string();
    assert!(failure.starts_with("not-run: `no-such-linter-anywhere` is not installed here"), "{failure}");
    assert!(linter.look(&[Changed { path: &"a.md".into(), text: "", unsuppressed: None }], &Hostile).unwrap().files.is_empty());
}

/// What a linter was told to write is read by us, outside of its sandbox: a link there would have us read what it may not, or never end.
#[cfg(unix)]
#[test]
fn a_linter_s_output_is_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let private = folder.path().join("private");
    std::fs::write(&private, "a.py:1:heron-words\n").unwrap();
    let to_file = |script: &str| {
        let text = format!(
            "about = 'x'\nprogram = 'sh'\ninstall = 'x'\nrole = 'staff-engineer'\nfiles = ['*.py']\nsuppressed_by = []\n\
             args = ['-c', \'\'\'{script}\'\'\', '{{output}}']\n\
             [output]\nformat = 'lines'\nstream = 'file'\npattern = '^(?<file>[^:]+):(?<line>\\d+):(?<message>.+)$'\n\
             [sample]\npath = 'a.py'\ntext = ''\nrule = 'x'\n"
        );
        let (profile, path) = (Profile::parse(&text).unwrap(), RepoPath::from("a.py"));
        let config = LinterConfig { program: Some("sh".into()), ..LinterConfig::of("x") };
        let changed = Changed { path: &path, text: "", unsuppressed: None };
        let found = ProfiledLinter { config: &config, profile: &profile }.look(&[changed], &Hostile)?;
        Ok::<_, AgentFailure>(found.results.into_iter().map(|result| result.message).collect::<Vec<_>>())
    };
    assert_eq!(to_file("echo a.py:1:own > \"$0\"").unwrap(), ["own"]);
    assert!(to_file("exit 0").unwrap().is_empty());
    for target in [private.to_str().unwrap(), "/dev/zero", "/proc/self/environ", "nowhere"] {
        let failure = to_file(&format!("ln -s {target} \"$0\"")).unwrap_err().to_string();
        assert!(failure.contains("not a regular file"), "{target}: {failure}");
    }
}

/// Issue 16: after its first look a linter may have left links where its files and its home were. Nothing of ours goes through them: the
/// second look has a copy and a home of its own.
#[cfg(unix)]
#[test]
fn a_second_look_follows_no_link_that_the_first_one_left() {
    let outside = tempfile::tempdir().unwrap();
    let mine = outside.path().join("mine");
    for tree in ["", "tree = 'whole'"] {
        for path in ["a.py", "sub/a.py"] {
            std::fs::write(&mine, "of the person").unwrap();
            std::fs::create_dir_all(outside.path().join("folder")).unwrap();
            let script = format!(
                "shift 2; if grep -q quiet \"$1\"; then rm -rf sub a.py \"$HOME/.own\"; ln -s {mine} a.py; ln -s {folder} sub; ln -s {folder} \"$HOME/left\"; fi; \
                 test -e \"$HOME/left\" -a -e \"$1\" && grep -q loud \"$1\" && exit 9; echo \"f:1:$(cat \"$1\")\"",
                mine = mine.display(),
                folder = outside.path().join("folder").display(),
            );
            let (profile, path) = (profile(&script, tree), RepoPath::from(path));
            let config = LinterConfig { program: Some("sh".into()), ..LinterConfig::of("x") };
            let changed = Changed { path: &path, text: "quiet", unsuppressed: Some("loud".into()) };
            let given =
                Given { files: BTreeMap::from([(path.clone(), "quiet".to_owned()), ("lint.toml".into(), String::new())]) };
            let found = ProfiledLinter { config: &config, profile: &profile }.look(&[changed], &given);
            assert_eq!(std::fs::read_to_string(&mine).unwrap(), "of the person", "{tree}");
            assert_eq!(std::fs::read_dir(outside.path().join("folder")).unwrap().count(), 0, "{tree}");
            assert_eq!(found.unwrap().unsuppressed.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(), ["loud"]);
        }
    }
}

/// A tree in which a text that begins with `-> ` is a link.
#[cfg(unix)]
struct Linked(&'static [(&'static str, &'static str)]);

#[cfg(unix)]
impl Sources for Linked {
    fn export(&self, into: &Path) -> Result<(), String> {
        for (path, text) in self.0 {
            let (path, text) = (into.join(path), *text);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => std::fs::write(path, text).unwrap(),
            }
        }
        Ok(())
    }

    fn of_base(&self, _: &dyn Fn(&RepoPath) -> bool) -> Result<Vec<(RepoPath, Vec<u8>)>, String> {
        Ok(Vec::new())
    }
}

/// Issue 16: what a linter obeys is taken out at any depth, and does not come back through a link.
#[cfg(unix)]
#[test]
fn a_whole_tree_holds_no_orders_behind_links_or_below() {
    let tree = Linked(&[
        ("a.py", "text"),
        ("modules/evil/plugins/x", "order"),
        ("plugins/x", "order"),
        ("stuff/x", "order"),
        ("modules/linked/plugins", "-> ../../stuff"),
        ("folder", "-> stuff"),
        ("named", "-> lint.js"),
        ("lint.js", "order"),
        ("file", "-> a.py"),
        (".tool-versions", "python path:./stuff"),
        ("sub/mise.toml", "order"),
        ("sub/.config/mise/config.toml", "order"),
        ("sub/.envrc", "order"),
        ("sub/node_modules/x.js", "order"),
    ]);
    let profile = profile("find . ! -type d | LC_ALL=C sort | while read f; do echo \"f:1:$f\"; done", "tree = 'whole'");
    let config = LinterConfig { program: Some("sh".into()), ..LinterConfig::of("x") };
    let path = RepoPath::from("a.py");
    let changed = Changed { path: &path, text: "text", unsuppressed: None };
    let found = ProfiledLinter { config: &config, profile: &profile }.look(&[changed], &tree).unwrap();
    let seen: Vec<&str> = found.results.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(seen, ["./a.py", "./file", "./stuff/x"]);
}

/// Issue 16: what a tool imports is not what the change calls `json` or `gi`; its results name the files as the repository does.
#[test]
fn a_tool_that_imports_its_files_is_given_no_name_that_can_be_imported() {
    let script =
        "for f in \"$@\"; do echo \"$f:1:$f in $(basename \"$f\" .py) $(cat \"$f\")\"; done; find . -type f | sed s/$/:1:there/";
    let more = "imports_its_files = true";
    let profile = profile(&format!("shift; {script}"), more);
    let config = LinterConfig { program: Some("sh".into()), ..LinterConfig::of("x") };
    let paths = ["gi.py", "pkg/__init__.py", "pkg/json.py"].map(RepoPath::from);
    let changed: Vec<_> =
        paths.iter().map(|path| Changed { path, text: path.as_str(), unsuppressed: Some("loud".into()) }).collect();
    let given = Given { files: BTreeMap::new() };
    let found = ProfiledLinter { config: &config, profile: &profile }.look(&changed, &given).unwrap();
    for (results, text) in [(&found.results, None), (&found.unsuppressed, Some("loud"))] {
        assert_eq!(results.len(), 6, "{results:?}");
        for path in &paths {
            let of_path: Vec<&str> =
                results.iter().filter(|one| one.file == path.as_str()).map(|one| one.message.as_str()).collect();
            assert_eq!((of_path.len(), of_path[1]), (2, "there"), "{results:?}");
            assert!(of_path[0].ends_with(text.unwrap_or(path.as_str())), "{of_path:?}");
            let stem = path.as_str().trim_end_matches(".py").rsplit('/').next().unwrap();
            assert!(of_path[0].contains(&format!("in {stem} ")), "{of_path:?}");
        }
    }
    let whole = format!("tree = 'whole'\n{more}");
    assert!(std::panic::catch_unwind(|| self::profile("exit 0", &whole)).is_err(), "a whole tree has its own names");
}
