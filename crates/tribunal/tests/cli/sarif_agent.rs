//! Linters as reviewers (issue 3, point 4 b).

use super::sandbox::{SHARED_LIST, SHARED_LIST_LINE, SHARED_LIST_RULE, Sandbox, str_of};
use serde_json::{Value, json};

fn sarif(uri: &str, line: u32) -> Value {
    json!({ "version": "2.1.0", "runs": [{
        "tool": { "driver": { "name": "lint", "rules": [{ "id": "L1", "help": { "text": "Use a tuple." } }] } },
        "results": [{ "ruleId": "L1", "level": "error", "message": { "text": "The default is mutable." },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": line } } }] }],
    }] })
}

fn seat_linter(sandbox: &Sandbox, agent: &str) {
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"rules\", \"lint\"]\n[agents.lint]\nkind = \"sarif\"\ncategory = \"E5\"\n{agent}\n"
    ));
}

/// A result on an added line becomes a finding; here it agrees with the rules.
#[test]
fn a_sarif_file_is_read() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("lint.sarif");
    std::fs::write(&file, sarif("app.py", 1).to_string()).unwrap();
    seat_linter(&sandbox, &format!("file = \"{}\"", file.display()));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.findings().count(), 1, "{:?}", review.found());
    let finding = review.findings().next().unwrap();
    let agents: Vec<&str> = finding["agreement"].as_array().unwrap().iter().map(|voice| str_of(voice, "agent")).collect();
    assert_eq!(agents, ["lint", "rules"]);
    assert_eq!(finding["evidence"], SHARED_LIST_LINE);
}

/// Issue 3, point 5: a result on a line that the change did not touch is not this change's fault.
#[test]
fn a_result_on_an_old_line_is_left_alone() {
    let sandbox = Sandbox::on_feature_from(&[("app.py", SHARED_LIST)]);
    sandbox.write("app.py", format!("{SHARED_LIST}\nLIMIT = 1\n"));
    let file = sandbox.outside().join("lint.sarif");
    std::fs::write(&file, sarif("app.py", 1).to_string()).unwrap();
    seat_linter(&sandbox, &format!("file = \"{}\"", file.display()));
    assert!(sandbox.review(&[]).ends_with(0).found().is_empty());
}

/// Design rule 2: what is not kept is counted, also where a result lies outside of the change; and a byte order mark does no harm.
#[test]
fn results_outside_of_the_change_are_counted() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("lint.sarif");
    seat_linter(&sandbox, &format!("file = \"{}\"", file.display()));
    for uri in ["../n.py", "file:///etc/passwd", "other.py"] {
        std::fs::write(&file, format!("\u{feff}{}", sarif(uri, 1))).unwrap();
        let review = sandbox.review(&["--mode", "full"]).ends_with(0);
        assert_eq!(review.json["subagent_failures"], json!([]), "{uri}");
        assert_eq!(review.json["receipt"]["dropped"], json!({ "not-in-change": 1 }), "{uri}");
        assert_eq!(review.json["dropped"], json!([]), "a linter speaks of the whole tree; it is counted, not listed");
    }
}

/// A linter runs in a copy of the changed tree, not in the checkout, and its exit code of 1 means results.
#[test]
fn a_linter_is_run_in_a_copy_of_the_change() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("uncommitted.txt", "here\n");
    // It answers only if it sees the changed file and the uncommitted one; then it spoils its copy.
    let script = format!(
        "grep -q 'items=\\[\\]' app.py && cat uncommitted.txt > /dev/null || exit 9\necho spoilt > app.py\ncat <<'SARIF'\n{}\nSARIF\nexit 1\n",
        sarif("app.py", 1)
    );
    let command = sandbox.script("lint.sh", &script);
    seat_linter(&sandbox, &format!("command = {command}"));
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!(review.json["subagent_failures"], json!([]));
    assert_eq!(review.finding(SHARED_LIST_RULE)["agreement"].as_array().unwrap().len(), 2);
    assert_eq!(sandbox.read("app.py"), SHARED_LIST, "the checkout is untouched");
}

/// Absolute paths of the copy are paths of the repository.
#[test]
fn absolute_paths_of_a_linter_are_understood() {
    let sandbox = Sandbox::with_shared_list();
    let body = sarif("@HERE@/app.py", 1).to_string();
    let command = sandbox.script("lint.sh", &format!("cat <<'SARIF' | sed \"s|@HERE@|file://$PWD|\"\n{body}\nSARIF\n"));
    seat_linter(&sandbox, &format!("command = {command}"));
    assert_eq!(sandbox.review(&[]).ends_with(0).finding(SHARED_LIST_RULE)["agreement"].as_array().unwrap().len(), 2);
}

/// PR-11: only the linter itself can say that its finding is gone; the rules beside it cannot, and it says so of no other file.
#[test]
fn a_linter_verifies_its_own_findings() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", "LIMIT = 1\nOTHER = 2\n");
    sandbox.commit("Limit");
    let file = sandbox.outside().join("lint.sarif");
    std::fs::write(&file, sarif("app.py", 1).to_string()).unwrap();
    seat_linter(&sandbox, &format!("file = \"{}\"", file.display()));
    let id = str_of(sandbox.review(&[]).ends_with(0).finding("l1"), "id").to_owned();
    let again = |review: &super::sandbox::Document| {
        let prior = &review.json["prior_verifications"][0];
        assert_eq!((str_of(prior, "prior_id"), &review.json["receipt"]["mode"]), (id.as_str(), &json!("incremental")));
        (str_of(prior, "verification").to_owned(), review.findings().count())
    };
    sandbox.write("other.py", "x = 1\n");
    sandbox.commit("Elsewhere");
    let elsewhere = sandbox.review(&[]).ends_with(0);
    assert_eq!(again(&elsewhere), ("no".into(), 1));
    assert_eq!(elsewhere.json["dropped"], json!([]));
    sandbox.write("app.py", "LIMIT = 2\nOTHER = 2\n");
    sandbox.commit("Fix");
    std::fs::write(&file, sarif("none.py", 1).to_string()).unwrap();
    assert_eq!(again(&sandbox.review(&[]).ends_with(0)), ("yes".into(), 0));
}

#[track_caller]
fn fails_visibly(script: &str, reason: &str) {
    let sandbox = Sandbox::with_shared_list();
    let command = sandbox.script("lint.sh", script);
    seat_linter(&sandbox, &format!("command = {command}"));
    let review = sandbox.review(&[]).ends_with(3);
    let failure = &review.json["subagent_failures"][0];
    assert_eq!((str_of(failure, "role"), str_of(failure, "agent")), ("staff-engineer", "lint"));
    assert!(str_of(failure, "reason").contains(reason), "{failure}");
    assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}")]);
}

/// A linter that prints nothing has not looked.
#[test]
fn a_silent_linter_fails_visibly() {
    fails_visibly("echo 'config missing' >&2\nexit 2\n", "config missing");
}

#[test]
fn a_linter_that_prints_something_else_fails_visibly() {
    fails_visibly("echo 'All checks passed!'\n", "not SARIF");
}

/// In SARIF, no `results` at all means that the tool did not look.
#[test]
fn sarif_without_results_fails_visibly() {
    fails_visibly("echo '{\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"x\"}}}]}'\n", "no results");
}

/// A file without any run is a linter that was not run.
#[test]
fn sarif_without_runs_fails_visibly() {
    fails_visibly("echo '{\"version\": \"2.1.0\", \"runs\": []}'\n", "");
}

/// A SARIF file that is not there is a failed reviewer.
#[test]
fn a_missing_sarif_file_fails_visibly() {
    let sandbox = Sandbox::with_shared_list();
    seat_linter(&sandbox, "file = \"lint.sarif\"");
    let review = sandbox.review(&[]).ends_with(3);
    assert!(str_of(&review.json["subagent_failures"][0], "reason").contains("lint.sarif"));
}

/// Issue 3, point 2: a linter needs files, and a bare diff has none; that is said, not passed over.
#[test]
fn a_linter_cannot_look_at_a_bare_diff_and_says_so() {
    let sandbox = Sandbox::with_shared_list();
    let command = sandbox.script("lint.sh", "exit 0\n");
    seat_linter(&sandbox, &format!("command = {command}"));
    let diff = sandbox.git(&["diff", "main", "feature"]) + "\n";
    let run = sandbox.tribunal_reading(&sandbox.path(), &["review", "--stdin"], diff).ends_with(3);
    run.prints("staff-engineer (lint) failed");
}

const EMPTY: &str = r#"{ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": [] }] }"#;

/// Reviews with a SARIF file of the checkout, and says what became of its seat.
fn seat_of_file(sandbox: &Sandbox, file: &str) -> String {
    seat_linter(sandbox, &format!("file = \"{file}\""));
    let review = sandbox.review(&["--mode", "full"]);
    let failure = review.json["subagent_failures"].as_array().unwrap().iter().find(|failure| failure["agent"] == "lint");
    failure.map_or_else(
        || "green".to_owned(),
        |failure| {
            assert_eq!((review.code, &review.json["outcome"]), (3, &json!("incomplete")));
            str_of(failure, "reason").to_owned()
        },
    )
}

/// Issue 16, B8: a SARIF file that the change brings is the author's word, not a linter's.
#[test]
fn a_sarif_file_of_the_change_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("out/lint.sarif", EMPTY);
    assert_eq!(seat_of_file(&sandbox, "out/lint.sarif"), "green", "nobody has committed it");
    sandbox.git(&["add", "out/lint.sarif"]);
    assert!(seat_of_file(&sandbox, "out/lint.sarif").contains("git tracks out/lint.sarif"), "staged");
    sandbox.commit("Bring results");
    for name in ["out/lint.sarif", "./out/lint.sarif", "OUT/lint.sarif"] {
        let ended = seat_of_file(&sandbox, name);
        assert!(ended.contains("git tracks out/lint.sarif") || ended.contains("cannot be read"), "{name}: {ended}");
    }
    let whole = sandbox.path().join("out/lint.sarif");
    assert!(seat_of_file(&sandbox, whole.to_str().unwrap()).contains("git tracks"), "by its whole path");
    assert!(seat_of_file(&sandbox, "app.py/../out/lint.sarif") != "green");
    // Taken out of the index, it still stands at the head.
    sandbox.git(&["rm", "--quiet", "--cached", "out/lint.sarif"]);
    assert!(seat_of_file(&sandbox, "out/lint.sarif").contains("git tracks"), "only out of the index");
}

/// The same where it is reached through a link of the change, or through one from outside.
#[test]
fn a_sarif_file_behind_a_link_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("real/empty.sarif", EMPTY);
    for (target, link) in [("../real/empty.sarif", "out/lint.sarif"), ("real", "results")] {
        let path = sandbox.path().join(link);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }
    sandbox.commit("Bring links");
    for name in ["out/lint.sarif", "results/empty.sarif"] {
        assert!(seat_of_file(&sandbox, name).contains("is a link"), "{name}");
    }
    let outside = sandbox.outside().join("lint.sarif");
    std::os::unix::fs::symlink(sandbox.path().join("real/empty.sarif"), &outside).unwrap();
    assert!(seat_of_file(&sandbox, outside.to_str().unwrap()).contains("git tracks"));
}

/// Another commit than the one that is checked out may bring it too.
#[test]
fn a_sarif_file_of_the_reviewed_commit_is_refused() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("lint.sarif", EMPTY);
    let brings = sandbox.commit("Bring results");
    sandbox.switch("main");
    sandbox.write("lint.sarif", EMPTY);
    seat_linter(&sandbox, "file = \"lint.sarif\"");
    let review = sandbox.review(&["--range", &format!("main...{brings}")]).ends_with(3);
    assert!(
        str_of(&review.json["subagent_failures"][0], "reason").contains("git tracks lint.sarif"),
        "{:#}",
        review.json["subagent_failures"]
    );
}

/// What names no tool says nothing of what was looked at.
#[test]
fn a_sarif_file_without_a_tool_is_no_review() {
    let sandbox = Sandbox::with_shared_list();
    for (text, words) in [
        ("", "not SARIF"),
        ("{}", "not SARIF"),
        (r#"{ "version": "2.1.0", "runs": [] }"#, "no results"),
        (r#"{ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "" } }, "results": [] }] }"#, "names no tool"),
    ] {
        sandbox.write("lint.sarif", text);
        let ended = seat_of_file(&sandbox, "lint.sarif");
        assert!(ended.contains(words), "{text}: {ended}");
    }
}
