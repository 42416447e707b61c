//! Linters by one word (issue 18, section 2). The first tests put a script in the place of a linter; the others run the real ones, each
//! over a change that also brings the configuration that would make the linter run its code or look away.

use super::peers;
use super::sandbox::{Document, Run, SHARED_LIST, SHARED_LIST_RULE, Sandbox, finish, str_of};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tribunal_core::linter::built_in;

/// Runs the binary with more programs on its PATH.
fn tribunal_with(sandbox: &Sandbox, programs: &[PathBuf], args: &[&str]) -> Run {
    let mut path: Vec<PathBuf> = programs.to_vec();
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = sandbox.command(args);
    command.env("PATH", std::env::join_paths(path).unwrap_or_else(|_| OsString::new()));
    finish(command, b"")
}

pub fn review_with(sandbox: &Sandbox, programs: &[PathBuf]) -> Document {
    let run = tribunal_with(sandbox, programs, &["review", "--format", "json", "--mode", "full"]);
    Document { code: run.code, json: run.json() }
}

/// A folder for the PATH, with a script under the name of a linter.
pub fn script_named(sandbox: &Sandbox, name: &str, text: &str) -> PathBuf {
    let folder = sandbox.root().join("agents/bin");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

const RUFF: &str = r#"cat <<'JSON'
[{"code":"B006","filename":"./app.py","location":{"row":1,"column":1},"end_location":{"row":1,"column":9},"message":"Mutable default","fix":null},
 {"code":"S608","filename":"./app.py","location":{"row":2,"column":1},"end_location":{"row":2,"column":9},"message":"Query from text","fix":null}]
JSON
exit 1"#;
const BANDIT: &str = r#"cat <<'JSON'
{"errors":[],"results":[{"filename":"./app.py","line_number":2,"test_id":"B608","issue_severity":"MEDIUM","issue_text":"SQL from a string"}]}
JSON
exit 1"#;

fn agents_of(finding: &serde_json::Value) -> Vec<&str> {
    finding["agreement"].as_array().unwrap().iter().map(|voice| str_of(voice, "agent")).collect()
}

/// What two linters and the rules say of one line is one finding, and a linter's security rules count in whatever seat it has.
#[test]
fn equal_issues_meet() {
    let sandbox = Sandbox::with_shared_list();
    script_named(&sandbox, "bandit", BANDIT);
    let programs = [script_named(&sandbox, "ruff", RUFF)];
    sandbox.configure_person("[panel]\nstaff-engineer = ['rules', 'ruff', 'bandit']\n");
    let review = review_with(&sandbox, &programs).ends_with(0);
    assert_eq!(review.json["subagent_failures"], json!([]));
    assert_eq!(agents_of(review.finding(SHARED_LIST_RULE)), ["ruff", "rules"]);
    let query = review.findings().find(|finding| finding["category_code"] == "S2").unwrap();
    assert_eq!((agents_of(query), &query["p_code"]), (vec!["bandit", "ruff"], &json!("P1")));
}

/// A linter of the change would be silent about the change.
#[test]
fn the_installed_linter_runs_in_place_of_the_changes_own() {
    let sandbox = Sandbox::with_shared_list();
    let installed = script_named(&sandbox, "ruff", RUFF);
    for folder in ["bin", "node_modules/.bin"] {
        sandbox.write(format!("{folder}/ruff"), "#!/bin/sh\necho '[]'\n");
        fs::set_permissions(sandbox.path().join(folder).join("ruff"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    sandbox.commit("Bring a linter");
    sandbox.configure_person("[panel]\nstaff-engineer = ['rules', 'ruff']\n");
    for own in [sandbox.path().join("bin"), sandbox.path().join("node_modules/.bin"), "./bin".into(), "".into()] {
        let review = review_with(&sandbox, &[own.clone(), installed.clone()]);
        assert_eq!(agents_of(review.finding(SHARED_LIST_RULE)), ["ruff", "rules"], "{}", own.display());
    }
    // Where only the change has one, none is installed.
    if std::env::split_paths(&std::env::var_os("PATH").unwrap()).all(|folder| !folder.join("ruff").exists()) {
        let review = review_with(&sandbox, &[sandbox.path().join("bin")]).ends_with(3);
        let reason = str_of(&review.json["subagent_failures"][0], "reason").to_owned();
        assert!(reason.contains("`ruff` is not installed here"), "{reason}");
    }
}

/// Issue 16: a word of a repository's file names a program, and counts once the person trusted it.
#[test]
fn a_word_of_the_repository_needs_trust() {
    let sandbox = Sandbox::with_shared_list();
    let programs = [script_named(&sandbox, "ruff", RUFF)];
    sandbox.switch("main");
    sandbox.write(".tribunal.toml", "[panel]\nstaff-engineer = ['rules', 'ruff']\n");
    sandbox.commit("Seat ruff");
    sandbox.switch("feature");
    sandbox.git(&["rebase", "--quiet", "main"]);
    let refused = review_with(&sandbox, &programs).ends_with(3);
    let failure = &refused.json["subagent_failures"][0];
    assert!(str_of(failure, "reason").contains("not trusted: agents.ruff"), "{failure}");
    assert_eq!(agents_of(refused.finding(SHARED_LIST_RULE)), ["rules"]);
    tribunal_with(&sandbox, &programs, &["trust", "--yes"]).ends_with(0);
    assert_eq!(agents_of(review_with(&sandbox, &programs).ends_with(0).finding(SHARED_LIST_RULE)), ["ruff", "rules"]);
}

/// A linter that is not installed leaves its seat open, with how to install it; where it has nothing to look at, it is not missed.
#[test]
fn a_missing_linter_is_incomplete() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.configure_person(
        "[panel]\nstaff-engineer = ['rules', 'gone', 'shellcheck']\n[agents.gone]\nkind = 'linter'\nprofile = 'ruff'\nprogram = 'no-such-ruff'\n",
    );
    let review = review_with(&sandbox, &[]).ends_with(3);
    let failures = review.json["subagent_failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:?}");
    let reason = str_of(&failures[0], "reason");
    assert!(
        reason.contains("not-run: `no-such-ruff` is not installed here") && reason.contains("uv tool install ruff"),
        "{reason}"
    );
}

/// The base's configuration counts, the change's does not; a result that the person's table calls off is none.
#[test]
fn the_base_configures_and_the_person_weighs() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", ""), ("ruff.toml", "# of the base\n")]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.write("ruff.toml", "# of the change\n");
    sandbox.commit("Share a list");
    let script = format!("grep -q 'of the base' ruff.toml || exit 9\nls | grep -v -e app.py -e ruff.toml && exit 8\n{RUFF}");
    let programs = [script_named(&sandbox, "ruff", &script)];
    sandbox.configure_person("[panel]\nstaff-engineer = ['ruff']\n[agents.ruff]\nkind = 'linter'\nprofile = 'ruff'\nrules = { S608 = 'off', B006 = 'E1 suggestion' }\n");
    let review = review_with(&sandbox, &programs).ends_with(0);
    assert_eq!(review.json["subagent_failures"], json!([]));
    let found: Vec<_> = review.findings().filter(|finding| finding["rule"] == "B006").collect();
    assert_eq!((found.len(), str_of(found[0], "category_code"), str_of(found[0], "p_code")), (1, "E1", "P2"));
    assert!(review.findings().all(|finding| finding["rule"] != "S608"));
}

/// `agents`, `doctor` and `agents test` name what is here.
#[test]
fn linters_are_listed_and_tried() {
    let sandbox = Sandbox::with_shared_list();
    let sample = r#"case "$1" in --version) echo 'ruff 9.8.7'; exit 0;; esac
echo '[{"code":"F821","filename":"sample.py","location":{"row":2},"end_location":{"row":2},"message":"m","fix":null}]'; exit 1"#;
    let programs = [script_named(&sandbox, "ruff", sample)];
    tribunal_with(&sandbox, &programs, &["agents"]).ends_with(0).prints("ruff 9.8.7");
    tribunal_with(&sandbox, &programs, &["doctor"]).prints("ruff 9.8.7");
    tribunal_with(&sandbox, &programs, &["agents", "test", "ruff"])
        .ends_with(0)
        .prints("ruff works: ruff 9.8.7 found F821 in its sample");
    let broken = [script_named(&sandbox, "ruff", "echo 'no such flag' >&2; exit 2")];
    tribunal_with(&sandbox, &broken, &["agents", "test", "ruff"]).ends_with(3).says("no such flag");
    sandbox.write("ruff.toml", "");
    tribunal_with(&sandbox, &broken, &["init", "--dry-run"]).ends_with(0);
    assert!(!tribunal_with(&sandbox, &broken, &["init", "--dry-run"]).stdout.contains("\"ruff\""), "it does not work here");
    let works = [script_named(&sandbox, "ruff", sample)];
    tribunal_with(&sandbox, &works, &["init", "--dry-run"]).ends_with(0).prints("staff-engineer = [\"rules\", \"ruff\"]");
}

/// A file of a change that would have a linter run its code, or look away.
type Orders<'a> = &'a [(&'a str, &'a str)];

/// Reviews a change that brings the sample of a profile and, beside it, orders for the linter. `@MARK@` is a file that its code would
/// write; the code also breaks the run, because the sandbox throws away what it writes.
fn real(name: &str, orders: Orders<'_>) {
    let Some(programs) = peers::linters() else { return };
    let profile = built_in::profile(name).unwrap();
    let Some(program) = programs.iter().map(|folder| folder.join(&profile.program)).find(|path| path.is_file()) else {
        panic!("{name} is no linter that `cargo xtask peers` fetches");
    };
    let sample = &profile.sample;
    let sandbox = Sandbox::unborn();
    sandbox.write("readme", "base\n");
    sample.beside.iter().for_each(|(path, text)| sandbox.write(path.as_str(), text));
    sandbox.commit("Base");
    sandbox.git(&["checkout", "--quiet", "-b", "feature"]);
    let mark = sandbox.outside().join("mark");
    sandbox.write(sample.path.as_str(), &sample.text);
    orders.iter().for_each(|(path, text)| sandbox.write(path, text.replace("@MARK@", mark.to_str().unwrap())));
    sandbox.commit("Change");
    sandbox.configure_person(&format!("[panel]\nsecurity-reviewer = []\nsdet = []\nstaff-engineer = ['{name}']\n"));
    let review = review_with(&sandbox, &programs);
    assert_eq!(review.json["subagent_failures"], json!([]), "{name} at {}", program.display());
    let is_sample = |finding: &&serde_json::Value| finding["file"] == sample.path.as_str() && names(finding, name, &sample.rule);
    assert!(review.findings().any(|finding| is_sample(&finding)), "{name}: {:#}", review.json["findings"]);
    assert!(!mark.exists(), "{name} ran code of the change");
}

/// Does the linter say this of the rule, alone or in a batch?
pub fn names(finding: &serde_json::Value, agent: &str, rule: &str) -> bool {
    finding["agreement"].as_array().unwrap().iter().any(|voice| voice["agent"] == agent && voice["rule"] == rule)
}

const PYTHON: &str = "open('@MARK@', 'w').write('ran')\nraise SystemExit(7)\n";
const SCRIPT: &str = "require('fs').writeFileSync('@MARK@', 'ran'); process.exit(7);\n";
const MODULE: &str = "import fs from 'node:fs'; fs.writeFileSync('@MARK@', 'ran'); process.exit(7);\n";

#[test]
fn ruff_takes_no_orders_of_a_change() {
    real(
        "ruff",
        &[
            ("ruff.toml", "extend = 'other.toml'\nexclude = ['*']\n"),
            ("other.toml", "[lint]\nselect = []\n"),
            ("pyproject.toml", "[tool.ruff]\nexclude = ['*']\n"),
        ],
    );
}

#[test]
fn bandit_takes_no_orders_of_a_change() {
    real(
        "bandit",
        &[
            (".bandit", "[bandit]\nskips = B602\n"),
            ("bandit.yaml", "skips: [B602]\n"),
            ("json.py", PYTHON),
            ("stevedore/__init__.py", PYTHON),
            ("bandit.py", PYTHON),
            ("yaml.py", PYTHON),
        ],
    );
}

#[test]
fn flake8_takes_no_orders_of_a_change() {
    let orders = "[flake8]\nignore = F821\n[flake8:local-plugins]\nextension =\n  X = evil:run\npaths = .\n";
    real(
        "flake8",
        &[
            (".flake8", orders),
            ("setup.cfg", orders),
            ("evil.py", PYTHON),
            ("ast.py", PYTHON),
            ("pyflakes/__init__.py", PYTHON),
            ("pycodestyle.py", PYTHON),
        ],
    );
}

#[test]
fn pylint_takes_no_orders_of_a_change() {
    let orders = "[MAIN]\ninit-hook=\"open('@MARK@', 'w'); import os; os._exit(7)\"\nload-plugins=evil\ndisable=all\n";
    real(
        "pylint",
        &[
            (".pylintrc", orders),
            ("pylintrc", orders),
            ("evil.py", PYTHON),
            ("json.py", PYTHON),
            ("typing.py", PYTHON),
            // It imports these by name, the first one where another file speaks of it.
            ("gi.py", PYTHON),
            ("isort.py", PYTHON),
            ("isort/__init__.py", PYTHON),
            ("window.py", "import gi.repository.Gtk\nimport gi.repository.GLib\n"),
            ("sub/__init__.py", PYTHON),
        ],
    );
}

/// Issue 16: a module of the change that pylint would import printed an empty report for it.
#[test]
fn pylint_is_not_talked_over_by_a_module_of_the_change() {
    let Some(programs) = peers::linters() else { return };
    let quiet = "import os\nos.write(1, b'{\"messages\": [], \"statistics\": {}}')\nos._exit(0)\n";
    let sandbox = Sandbox::on_feature();
    ["gi.py", "isort.py", "sub/gi.py"].iter().for_each(|path| sandbox.write(path, quiet));
    let faulty = "import gi.repository.Gtk\n\n\ndef count(items):\n    return len(itms)\n";
    ["window.py", "sub/window.py"].iter().for_each(|path| sandbox.write(path, faulty));
    sandbox.commit("Windows");
    sandbox.configure_person("[panel]\nsecurity-reviewer = []\nsdet = []\nstaff-engineer = ['pylint']\n");
    let review = review_with(&sandbox, &programs);
    assert_eq!(review.json["subagent_failures"], json!([]));
    let mut found: Vec<_> = review
        .findings()
        .filter(|finding| names(finding, "pylint", "undefined-variable"))
        .map(|finding| (str_of(finding, "file").to_owned(), finding["line_start"].as_u64().unwrap()))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("sub/window.py".to_owned(), 5), ("window.py".to_owned(), 5)]);
}

#[test]
fn mypy_takes_no_orders_of_a_change() {
    let orders = "[mypy]\nplugins = ./evil.py\nignore_errors = True\n";
    let comment = "# mypy: plugins=./evil.py\n";
    real(
        "mypy",
        &[
            ("mypy.ini", orders),
            (".mypy.ini", orders),
            ("evil.py", PYTHON),
            ("inline.py", comment),
            ("pathspec/__init__.py", PYTHON),
            ("sub/.python-version", "path:./evil\n"),
        ],
    );
}

#[test]
fn yamllint_takes_no_orders_of_a_change() {
    real(
        "yamllint",
        &[(".yamllint", "rules: {key-duplicates: disable}\n"), (".yamllint.yml", "ignore: '*'\n"), ("yaml.py", PYTHON)],
    );
}

#[test]
fn codespell_takes_no_orders_of_a_change() {
    let orders = "[codespell]\nskip = *\nignore-words-list = recieve\n";
    real(
        "codespell",
        &[(".codespellrc", orders), ("setup.cfg", orders), ("codespell_lib/__init__.py", PYTHON), ("chardet.py", PYTHON)],
    );
}

#[test]
fn typos_takes_no_orders_of_a_change() {
    let orders = "[files]\nextend-exclude = ['*']\n";
    real("typos", &[("_typos.toml", orders), ("typos.toml", orders), (".ignore", "*\n")]);
}

#[test]
fn zizmor_takes_no_orders_of_a_change() {
    let orders = "rules:\n  template-injection:\n    disable: true\n";
    real("zizmor", &[("zizmor.yml", orders), (".github/zizmor.yml", orders)]);
}

#[test]
fn shellcheck_takes_no_orders_of_a_change() {
    real("shellcheck", &[(".shellcheckrc", "disable=SC2115\n"), ("shellcheckrc", "disable=all\n")]);
}

#[test]
fn hadolint_takes_no_orders_of_a_change() {
    real("hadolint", &[(".hadolint.yaml", "ignored: [DL3004]\n"), (".hadolint.yml", "ignored: [DL3004]\n")]);
}

#[test]
fn cppcheck_takes_no_orders_of_a_change() {
    real("cppcheck", &[("cppcheck.cfg", "<def/>\n"), ("suppressions.txt", "*\n")]);
}

#[test]
fn eslint_takes_no_orders_of_a_change() {
    real(
        "eslint",
        &[
            ("eslint.config.js", SCRIPT),
            ("eslint.config.mjs", MODULE),
            (".eslintrc.js", SCRIPT),
            (".eslintrc.json", "{ \"root\": true, \"rules\": { \"use-isnan\": \"off\" } }"),
            (".eslintignore", "*\n"),
            ("package.json", "{ \"type\": \"module\", \"eslintConfig\": { \"plugins\": [\"./evil.js\"] } }"),
            // It looks here before it takes its own formatter.
            ("node_modules/eslint-formatter-json/index.js", SCRIPT),
            ("node_modules/eslint-formatter-json.js", SCRIPT),
            ("node_modules/espree/index.js", SCRIPT),
            ("node_modules/jiti/index.js", SCRIPT),
        ],
    );
}

#[test]
fn biome_takes_no_orders_of_a_change() {
    let orders = "{ \"linter\": { \"enabled\": false }, \"plugins\": [\"./evil.grit\"], \"files\": { \"includes\": [\"!**\"] } }";
    real(
        "biome",
        &[
            ("biome.json", orders),
            ("biome.jsonc", orders),
            ("evil.grit", "`$x` where { }"),
            ("node_modules/@biomejs/cli-linux-x64/biome", SCRIPT),
        ],
    );
}

#[test]
fn oxlint_takes_no_orders_of_a_change() {
    let orders = "{ \"jsPlugins\": [\"./evil.js\"], \"rules\": { \"use-isnan\": \"off\" }, \"ignorePatterns\": [\"*\"] }";
    real(
        "oxlint",
        &[
            (".oxlintrc.json", orders),
            ("evil.js", SCRIPT),
            ("oxlint.config.ts", MODULE),
            ("node_modules/oxlint/dist/cli.js", MODULE),
        ],
    );
}

#[test]
fn stylelint_takes_no_orders_of_a_change() {
    real(
        "stylelint",
        &[
            ("stylelint.config.js", SCRIPT),
            ("stylelint.config.mjs", MODULE),
            (".stylelintignore", "*\n"),
            ("node_modules/stylelint/lib/index.mjs", MODULE),
            ("node_modules/stylelint/package.json", "{ \"type\": \"module\", \"main\": \"lib/index.mjs\" }"),
            ("node_modules/postcss/index.js", SCRIPT),
            (".stylelintrc.json", "{ \"rules\": {} }"),
        ],
    );
}

#[test]
fn markdownlint_takes_no_orders_of_a_change() {
    real(
        "markdownlint",
        &[
            (".markdownlint.json", "{ \"default\": false }"),
            (".markdownlint.cjs", SCRIPT),
            (".markdownlintignore", "*\n"),
            ("node_modules/markdownlint/index.js", SCRIPT),
        ],
    );
}

/// Names that a shell, a flag or a pattern would read otherwise.
#[test]
fn odd_names_of_files_are_only_names() {
    let Some(programs) = peers::linters() else { return };
    let sandbox = Sandbox::on_feature();
    let odd = ["--config=x.py", "a b.py", "[a].py", "$(touch x).py", "deep/-r.py"];
    odd.iter().for_each(|path| sandbox.write(Path::new(path), "def count(items):\n    return len(itms)\n"));
    sandbox.commit("Odd names");
    sandbox.configure_person("[panel]\nstaff-engineer = ['ruff']\n");
    let review = review_with(&sandbox, &programs);
    assert_eq!(review.json["subagent_failures"], json!([]));
    let mut found: Vec<&str> =
        review.findings().filter(|finding| names(finding, "ruff", "F821")).map(|finding| str_of(finding, "file")).collect();
    found.sort_unstable();
    let mut all = odd;
    all.sort_unstable();
    assert_eq!(found, all);
}
