//! A change that silences the linters that review it (issue 16): with comments, and with files from which a linter takes its settings.

use super::linters::{names, review_with, script_named};
use super::peers;
use super::sandbox::{Sandbox, str_of};
use serde_json::{Value, json};
use std::path::PathBuf;
use tribunal_core::linter::built_in;

/// Says what it finds in lines without a `noqa`.
const OBEDIENT: &str = r#"printf '['; sep=''
grep -n 'eval\|itms' app.py | grep -iv noqa | while IFS=: read -r line text; do
  case "$text" in *eval*) rule=S307;; *) rule=F821;; esac
  printf '%s{"code":"%s","filename":"./app.py","location":{"row":%s,"column":1},"end_location":{"row":%s,"column":9},"message":"m","fix":null}' "$sep" "$rule" "$line" "$line"; sep=','
done; printf ']'; exit 0"#;

fn seat(sandbox: &Sandbox, name: &str) {
    sandbox.configure_person(&format!("[panel]\nsecurity-reviewer = []\nsdet = []\nstaff-engineer = ['{name}']\n"));
}

/// A grave match is put as a question, so that the review is not clean; a light one is named in a notice.
#[test]
fn what_a_change_silences_is_said() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", "old = len(itms)  # noqa\n")]);
    let programs = [script_named(&sandbox, "ruff", &format!("[ \"$1\" = --version ] && exit 0\n{OBEDIENT}"))];
    seat(&sandbox, "ruff");
    sandbox.write("app.py", "old = len(itms)  # noqa\nnew = len(itms)  # noqa: F821\nrun = eval(text)  # NoQA\n");
    sandbox.commit("Quiet");
    let review = review_with(&sandbox, &programs);
    assert_eq!(review.json["subagent_failures"], json!([]));
    let found: Vec<(&str, &str, u64)> = review
        .findings()
        .map(|finding| (str_of(finding, "rule"), str_of(finding, "p_code"), finding["line_start"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [("S307", "Q", 3)]);
    assert_eq!(review.json["outcome"], "findings");
    let notices = review.notices();
    assert!(notices.contains("1 match is silenced by what this change adds: F821 at app.py:2."), "{notices}");
}

/// Files that a linter may leave out without a word are not counted as looked at, and named.
#[test]
fn a_file_that_a_linter_may_leave_out_is_not_clean_by_its_word() {
    let sandbox = Sandbox::on_feature_from(&[("app.go", "package app\n")]);
    let programs = [script_named(&sandbox, "go", "exit 0")];
    seat(&sandbox, "govet");
    sandbox.write("app.go", "//go:build cgo\n\npackage app\n\nvar Limit = 1\n");
    sandbox.write("other.go", "package app\n\nvar Other = 1\n");
    sandbox.commit("Only with cgo");
    let review = review_with(&sandbox, &programs);
    let notices = review.notices();
    assert!(notices.contains("where it did not look: app.go:1."), "{notices}");
    let read =
        &review.json["receipt"]["seats"].as_array().unwrap().iter().find(|seat| seat["agent"] == "govet").unwrap()["reading"];
    assert_eq!(read["files"], 1, "{read}");
}

fn files_read_by(review: &super::sandbox::Document, agent: &str) -> Value {
    let seats = review.json["receipt"]["seats"].as_array().unwrap();
    seats.iter().find(|seat| seat["agent"] == agent).unwrap()["reading"]["files"].clone()
}

/// Issue 16: a result about a file that a linter was not given is not dropped unseen, and none of its files counts as looked at.
#[test]
fn results_that_a_change_moves_elsewhere_are_named() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", "old = 1\n")]);
    let moved = r#"[ "$1" = --version ] && exit 0
echo '[{"code":"S307","filename":"elsewhere.py","location":{"row":4},"end_location":{"row":4},"message":"m","fix":null}]'; exit 1"#;
    let programs = [script_named(&sandbox, "ruff", moved)];
    seat(&sandbox, "ruff");
    sandbox.write("app.py", "old = 1\nrun = eval(text)\n");
    sandbox.commit("Moved");
    let review = review_with(&sandbox, &programs);
    assert!(review.notices().contains("where it did not look: elsewhere.py:4."), "{}", review.notices());
    assert_eq!(files_read_by(&review, "ruff"), 0);
}

/// The same with a real linter that obeys such a line: its profile knows the line.
#[test]
fn cppcheck_is_not_moved_elsewhere() {
    let Some(programs) = peers::linters() else { return };
    let sandbox = Sandbox::on_feature_from(&[("readme", "base\n")]);
    let sample = &built_in::profile("cppcheck").unwrap().sample;
    sandbox.write("quiet.c", format!("#line 1 \"elsewhere.c\"\n{}", sample.text));
    sandbox.write("loud.c", &sample.text);
    sandbox.commit("Moved");
    seat(&sandbox, "cppcheck");
    let review = review_with(&sandbox, &programs);
    assert_eq!(review.json["subagent_failures"], json!([]));
    assert!(review.findings().any(|finding| names(finding, "cppcheck", &sample.rule) && finding["file"] == "loud.c"));
    assert!(review.notices().contains("quiet.c:1"), "{}", review.notices());
}

/// Needs Go itself, which is no peer: a machine without it has nothing to prove.
#[test]
fn go_vet_is_not_moved_elsewhere() {
    if !std::process::Command::new("go").arg("version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: go is not installed");
        return;
    }
    let sandbox = Sandbox::on_feature_from(&[("go.mod", "module example.org/sample\n\ngo 1.21\n")]);
    sandbox.write(
        "sample.go",
        "package sample\n\nimport \"fmt\"\n\n//line elsewhere.go:1\nfunc Show(name string) {\n\tfmt.Printf(\"%d\\n\", name)\n}\n",
    );
    sandbox.commit("Moved");
    seat(&sandbox, "govet");
    let review = review_with(&sandbox, &[]);
    assert_eq!(review.json["subagent_failures"], json!([]));
    assert!(review.notices().contains("sample.go:5"), "{}", review.notices());
    assert!(review.notices().contains("elsewhere.go:2"), "{}", review.notices());
    assert_eq!(files_read_by(&review, "govet"), 0);
}

fn sarif_of(rule: &str, line: u32, more: &Value) -> Value {
    let mut result = json!({ "ruleId": rule, "level": "error", "message": { "text": "m" },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "app.py" }, "region": { "startLine": line } } }] });
    for (key, value) in more.as_object().unwrap() {
        result[key] = value.clone();
    }
    json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint", "rules": [{ "id": rule }] } }, "results": [result] }] })
}

fn seat_sarif(sandbox: &Sandbox, category: &str, agent: &str) {
    sandbox.configure_person(&format!(
        "[panel]\nsecurity-reviewer = []\nsdet = []\nstaff-engineer = ['lint']\n[agents.lint]\nkind = 'sarif'\ncategory = '{category}'\n{agent}\n"
    ));
}

/// A command of which nothing is known is run again: without the comments, and with the base's settings of linters.
#[test]
fn a_command_is_run_again_without_them() {
    let none = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": [] }] });
    for (file, text, app) in [
        (".flake8", "[flake8]\nignore = ALL\n", "run = eval(text)\n"),
        ("other.txt", "x\n", "run = eval(text)  # type: ignore\n"),
        ("other.txt", "x\n", "run = eval(text)  # nosemgrep: no-eval\n"),
    ] {
        let sandbox = Sandbox::on_feature_from(&[("app.py", "\n"), (".flake8", "[flake8]\n")]);
        let script = format!(
            "if grep -q ALL .flake8 || grep -q 'ignore\\|nosemgrep' app.py; then cat <<'SARIF'\n{none}\nSARIF\nelse cat <<'SARIF'\n{}\nSARIF\nfi\n",
            sarif_of("no-eval", 1, &json!({}))
        );
        let command = sandbox.script("lint.sh", &script);
        seat_sarif(&sandbox, "E5", &format!("command = {command}"));
        sandbox.write(file, text);
        sandbox.write("app.py", app);
        sandbox.commit("Quiet");
        let review = sandbox.review(&["--mode", "full"]);
        assert_eq!(review.json["subagent_failures"], json!([]), "{app}");
        assert!(review.notices().contains("no-eval at app.py:1"), "{app}: {}", review.notices());
    }
}

/// If it cannot look without what the change adds, it has not looked.
#[test]
fn a_linter_that_only_works_the_changes_way_has_not_looked() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", "\n")]);
    let none = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": [] }] });
    let command = sandbox.script("lint.sh", &format!("test -f .flake8 || exit 7\ncat <<'SARIF'\n{none}\nSARIF\n"));
    seat_sarif(&sandbox, "E5", &format!("command = {command}"));
    sandbox.write(".flake8", "[flake8]\n");
    sandbox.write("app.py", "run = 1\n");
    sandbox.commit("Settings");
    let review = sandbox.review(&["--mode", "full"]).ends_with(3);
    let reason = str_of(&review.json["subagent_failures"][0], "reason");
    assert!(reason.contains("what a linter obeys (.flake8)"), "{reason}");
}

/// What a SARIF file names as suppressed in the source counts as silenced where the change added the comment; of a file that names
/// nothing, only the comment is known.
#[test]
fn a_sarif_file_is_read_with_what_is_suppressed() {
    let review_of = |app: &str, more: Value| {
        let sandbox = Sandbox::on_feature_from(&[("app.py", "\n")]);
        let file = sandbox.outside().join("lint.sarif");
        std::fs::write(&file, sarif_of("no-eval", 1, &more).to_string()).unwrap();
        seat_sarif(&sandbox, "E5", &format!("file = \"{}\"", file.display()));
        sandbox.write("app.py", app);
        sandbox.commit("Quiet");
        let review = sandbox.review(&["--mode", "full"]);
        assert_eq!(review.json["subagent_failures"], json!([]));
        (review.findings().count(), review.notices())
    };
    let in_source = json!({ "suppressions": [{ "kind": "inSource" }] });
    let (count, notices) = review_of("run = eval(text)  # nosem\n", in_source.clone());
    assert!(count == 0 && notices.contains("no-eval at app.py:1"), "{notices}");
    assert!(!review_of("run = eval(text)\n", in_source).1.contains("silenced"), "by nothing that the change adds");
    let external = json!({ "suppressions": [{ "kind": "external" }] });
    assert!(!review_of("run = eval(text)\n", external).1.contains("silenced"));
    let (count, notices) = review_of("run = 1\nrun = eval(text)  # nosem\n", json!({}));
    assert!(count == 1 && notices.contains("where it did not look: app.py:2."), "{notices}");
}

/// The real linters, each over its sample with the comment that its own documentation gives.
fn real(name: &str, silence: fn(&str) -> String) {
    let Some(programs) = peers::linters() else { return };
    let profile = built_in::profile(name).unwrap();
    let sample = &profile.sample;
    let files: Vec<(&str, &str)> = [("readme", "base\n")]
        .into_iter()
        .chain(sample.beside.iter().map(|(path, text)| (path.as_str(), text.as_str())))
        .collect();
    let quiet = silence(&sample.text);
    assert_ne!(quiet, sample.text);
    let of = |text: &str, programs: &[PathBuf]| {
        let sandbox = Sandbox::on_feature_from(&files);
        sandbox.write(sample.path.as_str(), text);
        // Prose alone has no engineer look at it.
        sandbox.write("beside.py", "LIMIT = 1\n");
        sandbox.commit("Quiet");
        seat(&sandbox, name);
        let review = review_with(&sandbox, programs);
        assert_eq!(review.json["subagent_failures"], json!([]), "{name}");
        let has_question = review.findings().any(|finding| names(finding, name, &sample.rule) && finding["p_code"] == "Q");
        let count = review.findings().filter(|finding| finding["file"] == sample.path.as_str()).count();
        (has_question, count, review.notices())
    };
    let (has_question, count, notices) = of(&quiet, &programs);
    assert!(has_question || notices.contains(&format!("{} at {}:", sample.rule, sample.path)), "{name}: {notices}");
    assert!(has_question || count == 0, "{name}: it obeys its comment: {count} findings");
}

#[test]
fn ruff_is_not_silenced_in_silence() {
    real("ruff", |text| format!("# ruff: noqa\n{text}"));
    real("ruff", |text| text.replace("len(itms)", "len(itms)  # noqa: F821"));
}

#[test]
fn flake8_is_not_silenced_in_silence() {
    real("flake8", |text| format!("# flake8: noqa\n{text}"));
}

#[test]
fn pylint_is_not_silenced_in_silence() {
    real("pylint", |text| format!("# pylint: skip-file\n{text}"));
}

#[test]
fn mypy_is_not_silenced_in_silence() {
    real("mypy", |text| format!("# mypy: ignore-errors\n{text}"));
    real("mypy", |text| text.replace("return number", "return number  # type: ignore[return-value]"));
}

#[test]
fn bandit_is_not_silenced_in_silence() {
    real("bandit", |text| text.replace("shell=True)", "shell=True)  # nosec"));
}

#[test]
fn eslint_is_not_silenced_in_silence() {
    real("eslint", |text| format!("/* eslint-disable */\n{text}"));
    real("eslint", |text| format!("/* eslint use-isnan: \"off\" */\n{text}"));
}

#[test]
fn biome_is_not_silenced_in_silence() {
    real("biome", |text| format!("// biome-ignore-all lint: no\n{text}"));
}

#[test]
fn oxlint_is_not_silenced_in_silence() {
    real("oxlint", |text| format!("/* oxlint-disable */\n{text}"));
}

#[test]
fn stylelint_is_not_silenced_in_silence() {
    real("stylelint", |text| format!("/* stylelint-disable */\n{text}"));
}

#[test]
fn markdownlint_is_not_silenced_in_silence() {
    real("markdownlint", |text| format!("<!-- markdownlint-disable -->\n\n{text}"));
}

#[test]
fn shellcheck_is_not_silenced_in_silence() {
    real("shellcheck", |text| text.replace("#!/bin/sh\n", "#!/bin/sh\n# shellcheck disable=all\n"));
}

#[test]
fn hadolint_is_not_silenced_in_silence() {
    real("hadolint", |text| text.replace("RUN", "# hadolint ignore=DL3004\nRUN"));
}

#[test]
fn yamllint_is_not_silenced_in_silence() {
    real("yamllint", |text| format!("# yamllint disable-file\n{text}"));
}

#[test]
fn codespell_is_not_silenced_in_silence() {
    real("codespell", |text| text.replace("it.\n", "it. # codespell:ignore\n"));
}

#[test]
fn zizmor_is_not_silenced_in_silence() {
    real("zizmor", |text| text.replace("title }}\n", "title }} # zizmor: ignore[template-injection]\n"));
}

#[test]
fn cppcheck_is_not_silenced_in_silence() {
    real("cppcheck", |text| text.replace("    return", "    // cppcheck-suppress arrayIndexOutOfBounds\n    return"));
}
