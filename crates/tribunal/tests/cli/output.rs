//! What is printed: to whom, in which format, and valid against which schema (issue 3, point 8; design section 8).

use super::sandbox::{CLEAN, NO_TLS, NO_TLS_RULE, PATIENCE, SHARED_LIST, SHARED_LIST_RULE, Sandbox, answering, claim, str_of};
use fake_forge_base::{Draft, JsonSchema};
use serde_json::{Value, json};
use std::fs;

const SARIF_SCHEMA: &str = include_str!("../schemas/sarif-2.1.0.json");
const RDJSON_SCHEMA: &str = include_str!("../schemas/rdjson-DiagnosticResult.json");

fn compiled(schema: &Value) -> JsonSchema {
    JsonSchema::new(schema, Draft::V2020_12).unwrap()
}

#[track_caller]
fn validates(schema: &str, instance: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let problems: Vec<String> = compiled(&schema).misfits(instance).iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

/// A change with everything in it: P0 and P1, a fix, a deletion's finding, an odd path, skipped files, an agent that failed.
fn everything() -> Sandbox {
    let sandbox = Sandbox::on_feature_from(&[("app.py", ""), ("tests/test_app.py", "def test_add():\n    assert 1 + 1 == 2\n")]);
    sandbox.write("app.py", SHARED_LIST);
    sandbox.write("odd name ü#%.py", NO_TLS);
    sandbox.write("fixable.py", "def empty(name):\n    return name is ''\n");
    sandbox.write("Cargo.lock", "x\n");
    fs::remove_file(sandbox.path().join("tests/test_app.py")).unwrap();
    sandbox.commit("Everything");
    sandbox.seat("sdet", "exit 1\n");
    sandbox
}

/// Issue 3, point 8: the JSON document is versioned and its schema is published.
#[test]
fn json_is_valid_against_the_published_schema() {
    let sandbox = everything();
    let schema = sandbox.tribunal(&["schema", "document"]).ends_with(0).stdout;
    let first = sandbox.review(&[]).ends_with(3);
    assert_eq!(first.json["version"], 1);
    validates(&schema, &first.json);
    sandbox.seat("sdet", &answering(&json!({ "findings": [] })));
    sandbox.write("app.py", NO_TLS);
    let second = sandbox.review(&[]).ends_with(1);
    validates(&schema, &second.json);
}

/// PR-36: the keys of the document are those of the contract.
#[test]
fn json_has_the_keys_of_the_contract() {
    let review = Sandbox::with_shared_list().review(&[]);
    for key in [
        "mode",
        "base",
        "head",
        "last_sha",
        "status",
        "subagent_failures",
        "summary_line",
        "findings",
        "spec_gaps",
        "prior_verifications",
        "checked_and_clean",
    ] {
        assert!(review.json.get(key).is_some(), "{key}");
    }
    let finding = review.finding(SHARED_LIST_RULE);
    for key in [
        "id",
        "p_code",
        "severity_emoji",
        "slug",
        "category",
        "file",
        "line_start",
        "line_end",
        "confidence",
        "blast",
        "justification",
        "failure_mode",
        "mitigation",
        "evidence",
        "details",
        "severity_adjustment",
    ] {
        assert!(finding.get(key).is_some(), "{key}");
    }
}

/// The schema of the configuration accepts what `tribunal init` writes, and refuses an unknown key.
#[test]
fn the_configuration_schema_fits_what_init_writes() {
    let sandbox = Sandbox::on_feature();
    let schema = sandbox.tribunal(&["schema", "config"]).ends_with(0).stdout;
    let written: toml::Value = toml::from_str(&sandbox.tribunal(&["init", "--dry-run"]).ends_with(0).stdout).unwrap();
    validates(&schema, &serde_json::to_value(written).unwrap());
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(!compiled(&schema).misfits(&json!({ "review": { "fail_levle": "P1" } })).is_empty());
}

/// Issue 3, point 4 c: the schemas of what an agent reads and answers are published.
#[test]
fn the_report_schema_accepts_a_report_and_refuses_a_wrong_one() {
    let schema = Sandbox::on_feature().tribunal(&["schema", "report"]).ends_with(0).stdout;
    validates(&schema, &json!({ "findings": [claim("E1", "x", "y")] }));
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(!compiled(&schema).misfits(&json!({ "findings": [{ "category": "E1" }] })).is_empty());
}

/// Every schema that can be printed is a schema.
#[test]
fn every_published_schema_compiles() {
    let sandbox = Sandbox::on_feature();
    for name in ["config", "brief", "report", "document", "rule", "role"] {
        let schema = sandbox.tribunal(&["schema", name]).ends_with(0).json();
        assert!(JsonSchema::new(&schema, Draft::V2020_12).is_ok(), "{name}");
        assert!(
            str_of(&schema, "title").contains("version 1") || name == "rule" || name == "role",
            "{name}: {}",
            schema["title"]
        );
    }
}

/// Issue 3, point 8: SARIF 2.1.0, valid against the official schema, with fingerprints and fixes.
#[test]
fn sarif_is_valid_against_the_official_schema() {
    let sandbox = everything();
    let sarif = sandbox.tribunal(&["review", "--format", "sarif"]).ends_with(3).json();
    // The published text has one pattern that is no ECMA regular expression (`language`: a stray bracket, mended in errata 01).
    let stray = "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$";
    assert!(SARIF_SCHEMA.contains(stray));
    validates(&SARIF_SCHEMA.replace(stray, "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$"), &sarif);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["partialFingerprints"].as_object().is_some_and(|prints| !prints.is_empty())));
    assert!(results.iter().any(|result| result.get("fixes").is_some()), "{results:#?}");
    let uris: Vec<&str> =
        results.iter().map(|result| str_of(&result["locations"][0]["physicalLocation"]["artifactLocation"], "uri")).collect();
    assert!(uris.contains(&"odd%20name%20%C3%BC%23%25.py"), "{uris:?}");
}

/// Design rule 1: an incomplete review is no successful invocation, and says who failed.
#[test]
fn sarif_tells_an_incomplete_review() {
    let sarif = everything().tribunal(&["review", "--format", "sarif"]).json();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert!(invocation["toolExecutionNotifications"].to_string().contains("sdet"));
}

/// The fix in SARIF is the fix: applied to the file it gives the code that was meant.
#[test]
fn a_fix_in_sarif_replaces_whole_lines() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("fixable.py", "def empty(name):\n    return name is ''\n");
    let sarif = sandbox.tribunal(&["review", "--format", "sarif"]).json();
    let replacement = &sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "    return name == ''\n");
    assert_eq!(replacement["deletedRegion"], json!({ "startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 1 }));
}

/// Issue 3, point 8: rdjson, valid against reviewdog's schema.
#[test]
fn rdjson_is_valid_against_reviewdogs_schema() {
    let sandbox = everything();
    let rdjson = sandbox.tribunal(&["review", "--format", "rdjson"]).ends_with(3).json();
    validates(RDJSON_SCHEMA, &rdjson);
    let diagnostics = rdjson["diagnostics"].as_array().unwrap();
    let open = sandbox.tribunal(&["show", "--format", "json"]).json()["findings"].as_array().unwrap().len();
    // PR-6: the reviewer that failed is told as well.
    assert_eq!(diagnostics.len(), open + 1);
    let failed = diagnostics.iter().find(|diagnostic| diagnostic["code"]["value"] == "reviewer-failed").unwrap();
    assert!(str_of(failed, "message").contains("sdet (helper) failed"), "{failed}");
    let tls = diagnostics.iter().find(|diagnostic| diagnostic["code"]["value"] == NO_TLS_RULE).unwrap();
    assert_eq!((str_of(tls, "severity"), str_of(&tls["location"], "path")), ("ERROR", "odd name ü#%.py"));
    assert_eq!(tls["location"]["range"]["start"]["line"], 5);
}

/// PR-24, PR-91: the sticky body with its two markers, then the inline bodies as they would be published.
#[test]
fn markdown_holds_the_sticky_and_the_inline_bodies() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", NO_TLS);
    let head = sandbox.commit("Work");
    let run = sandbox.tribunal(&["review", "--format", "markdown"]).ends_with(1);
    assert!(run.stdout.starts_with(&format!("<!-- pr-review:sticky -->\n<!-- pr-review:sha={head} -->")), "{}", run.stdout);
    run.prints("🔴 Blocking issues found")
        .prints("![P0](https://img.shields.io/badge/P0-red)")
        .prints("**Failure mode**:")
        .prints("**Mitigation**:")
        .prints("<details><summary>Evidence</summary>")
        .prints("```diff\n+    return requests.get(url, timeout=5, verify=False)\n```")
        .prints("<!-- pr-review:finding-id=F1 -->")
        .prints("<!-- pr-review:justification=Asymmetric -->")
        .prints("📊 Overview by category")
        .prints("🔎 Categories in which no rule matched");
}

/// PR-6, PR-109: a failed reviewer stands in the header of the sticky.
#[test]
fn markdown_names_a_failed_reviewer() {
    everything().tribunal(&["review", "--format", "markdown"]).ends_with(3).prints("⚠️ Partial — sdet failed");
}

/// Design rule 6: text of the change is inert in what would be published.
#[test]
fn markdown_makes_foreign_text_inert() {
    let sandbox = Sandbox::with_shared_list();
    let hostile = claim("E1", "    return items", "@everyone see #1 <img src=x> ![a](https://evil.example/x.png)");
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [hostile] })));
    let run = sandbox.tribunal(&["review", "--format", "markdown"]).ends_with(0);
    // In a code span they are text.
    let stdout = run.stdout.replace("`@everyone`", "").replace("`#1`", "");
    for live in ["@everyone", "#1 ", "<img", "![a]", "https://evil"] {
        assert!(!stdout.contains(live), "{live} in\n{}", run.stdout);
    }
}

/// Design rules 6 and 9: code between backticks is code as Markdown sees it, so nothing gets out beside it.
#[test]
fn markdown_matches_backticks_as_its_readers_do() {
    let sandbox = Sandbox::with_shared_list();
    let hostile =
        claim("E1", "    return items", "`` a ` b `` <img src=x onerror=alert(1)> <!-- pr-review:finding-id=F9 --> @octocat `");
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [hostile] })));
    let run = sandbox.tribunal(&["review", "--format", "markdown"]).ends_with(0);
    // In a span of code, a name calls nobody.
    let shown = run.stdout.replace("`@octocat`", "");
    assert_ne!(shown, run.stdout);
    for live in ["<img", "finding-id=F9 -->", "@octocat"] {
        assert!(!shown.contains(live), "{live} in\n{shown}");
    }
}

/// Design rule 6: a path or a message cannot move the cursor or colour a person's terminal.
#[test]
fn control_characters_of_a_change_never_reach_the_output() {
    let sandbox = Sandbox::with_shared_list();
    let hostile = claim("E1", "    return items", "Clear \u{1b}[2J the screen\u{7}.");
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [hostile] })));
    sandbox.write("evil\u{1b}[31m.py", NO_TLS);
    for format in ["text", "markdown"] {
        let run = sandbox.tribunal(&["review", "--mode", "full", "--color", "always", "--format", format]);
        assert!(!run.stdout.contains("\u{1b}[2J") && !run.stdout.contains("evil\u{1b}[31m"), "{format}: {:?}", run.stdout);
        assert!(!run.stdout.contains('\u{7}'), "{format}");
    }
}

/// Design rule 6: no command shows a name, a path or a message of others raw, on whichever stream.
#[test]
fn no_command_shows_control_characters_of_others() {
    let sandbox = Sandbox::on_feature();
    sandbox.git(&["checkout", "--quiet", "-b", "turned\u{202e}around"]);
    sandbox.write("a\u{1b}[31m\nb.py", NO_TLS);
    sandbox.write(".tribunal.toml", "[review]\nfail_level = \"never\"\n");
    let role = "---\nname: keeper\nabout: \"Keeps \\e[2K.\"\ncategories:\n  - { code: K1, name: Kept, slug: kept, severity: suggestion }\n---\nLook \u{1b}[2K\rwell.\n";
    sandbox.write(".tribunal/reviewers/keeper.md", role);
    sandbox.tribunal(&["trust", "--yes"]).ends_with(0);
    for args in [
        &["review", "--dry-run"][..],
        &["review"],
        &["review", "--format", "json"],
        &["show", "--format", "sarif"],
        &["history"],
        &["history", "--format", "json"],
        &["compare", "last", "last", "--format", "json"],
        &["explain", "keeper"],
        &["doctor"],
        &["config", "show"],
        &["review", "--base", "no\u{1b}[2K\u{202e}where"],
    ] {
        let mut all = args.to_vec();
        all.extend(["--color", "always"]);
        let run = sandbox.tribunal(&all);
        for shown in [&run.stdout, &run.stderr] {
            assert!(!shown.contains(['\r', '\u{202e}']) && !shown.contains("\u{1b}[2K"), "{args:?}: {shown:?}");
            assert!(!shown.contains("\u{1b}[31m\n") && !shown.contains("31m\nb.py"), "{args:?}: {shown:?}");
        }
    }
    sandbox.tribunal(&["review", "--dry-run"]).prints("a<U+001B>[31m<U+000A>b.py");
    sandbox.tribunal(&["explain", "keeper"]).ends_with(0).prints("Look <U+001B>[2K<U+000D>well.");
}

/// Design section 8: `--output FILE`.
#[test]
fn output_writes_the_file_and_nothing_on_stdout() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("report.json");
    let run = sandbox.tribunal(&["review", "--format", "json", "--output", file.to_str().unwrap()]).ends_with(0);
    assert_eq!(run.stdout, "");
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(written, sandbox.tribunal(&["show", "--format", "json"]).stdout);
    assert_eq!(fs::read_dir(sandbox.outside()).unwrap().count(), 1, "only the report is left");
}

/// A report is for others too: the file is as readable as any that a program writes.
#[test]
fn an_output_file_is_readable_like_any_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::with_shared_list();
    let (file, usual) = (sandbox.outside().join("report.txt"), sandbox.outside().join("usual.txt"));
    fs::write(&usual, "x").unwrap();
    sandbox.tribunal(&["review", "--output", file.to_str().unwrap()]).ends_with(0);
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), mode(&usual));
}

/// A link is followed: what it leads to is replaced, with its rights, and the link stays.
#[test]
fn output_follows_links_and_keeps_rights() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let sandbox = Sandbox::with_shared_list();
    let (real, link) = (sandbox.outside().join("real.json"), sandbox.outside().join("link"));
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.json", &link).unwrap();
    symlink("missing.json", sandbox.outside().join("dangling")).unwrap();
    for name in ["link", "dangling"] {
        let path = sandbox.outside().join(name);
        sandbox.tribunal(&["review", "--format", "json", "-o", path.to_str().unwrap()]).ends_with(0);
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink(), "{name}");
    }
    for name in ["real.json", "missing.json"] {
        assert!(fs::read_to_string(sandbox.outside().join(name)).unwrap().contains("\"version\": 1"), "{name}");
    }
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(sandbox.outside()).unwrap().count(), 4, "no draft is left");
}

/// A pipe is written to and stays a pipe.
#[test]
fn output_writes_into_a_pipe() {
    use std::os::unix::fs::FileTypeExt as _;
    let sandbox = Sandbox::with_shared_list();
    let pipe = sandbox.outside().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (sender, read) = std::sync::mpsc::channel();
    let reader = pipe.clone();
    std::thread::spawn(move || sender.send(fs::read_to_string(reader)));
    sandbox.tribunal(&["review", "--format", "json", "-o", pipe.to_str().unwrap()]).ends_with(0);
    let text = read.recv_timeout(PATIENCE).expect("nothing was written into the pipe").unwrap();
    assert!(text.contains(SHARED_LIST_RULE));
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
}

/// `/dev/stdout` means the open descriptor, also where that is a file, and also where a shell appends to it.
#[test]
fn output_writes_to_an_open_descriptor() {
    let sandbox = Sandbox::with_shared_list();
    let log = sandbox.outside().join("log");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        fs::write(&log, "before\n").unwrap();
        let stdout = fs::OpenOptions::new().append(true).open(&log).unwrap();
        let mut command = sandbox.command(&["review", "--output", name]);
        assert!(command.stdout(stdout).status().unwrap().success());
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("before\n") && text.contains(SHARED_LIST_RULE), "{name}: {text}");
    }
}

/// Design section 8: a result that cannot be written has one exit code, whichever way it was to go.
#[test]
fn a_result_that_cannot_be_written_is_incomplete() {
    let sandbox = Sandbox::with_shared_list();
    sandbox
        .tribunal(&["review", "--output", "/nonexistent/report"])
        .ends_with(3)
        .says("output-failed")
        .says("tribunal show last");
    sandbox.tribunal(&["review", "--output", sandbox.outside().to_str().unwrap()]).ends_with(3).says("cannot be written");
    for args in [
        &["review"][..],
        &["review", "--dry-run"],
        &["history"],
        &["history", "--format", "json"],
        &["show"],
        &["compare", "last", "last"],
        &["rules", "list"],
        &["config", "show"],
        &["explain", "S1"],
        &["doctor"],
        &["trust"],
        &["init", "--dry-run"],
        &["schema", "report"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["--version"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = sandbox.command(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {stderr}");
        assert!(stderr.contains("standard output cannot be written") && !stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

/// Design section 8: stdout for results, stderr for talk.
#[test]
fn a_result_is_all_that_is_on_stdout() {
    let sandbox = Sandbox::with_shared_list();
    let run = sandbox.tribunal(&["review", "--format", "json"]).ends_with(0);
    assert_eq!(run.json()["version"], 1);
    assert_eq!(run.stderr, "");
    let again = sandbox.tribunal(&["review", "--format", "json", "--quiet"]).ends_with(0);
    assert_eq!((str_of(&again.json(), "status"), again.stderr.as_str()), ("noop", ""), "--quiet says nothing but errors");
}

/// Design section 8: colour only on a terminal.
#[test]
fn there_is_no_colour_in_a_pipe() {
    let sandbox = everything();
    for args in [
        &["review"][..],
        &["show"],
        &["show", "nobody"],
        &["history"],
        &["doctor"],
        &["config", "show"],
        &["explain", "S1"],
        &["rules", "list"],
        &["compare", "last", "last"],
        &["--help"],
    ] {
        let run = sandbox.tribunal(args);
        assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "{args:?}: {run:?}");
    }
}

/// `--color always` is for people who pipe into a pager.
#[test]
fn colour_can_be_asked_for() {
    let run = Sandbox::with_shared_list().tribunal(&["review", "--color", "always"]).ends_with(0);
    assert!(run.stdout.contains('\u{1b}'));
}

/// Colour never gets into a file or a format for machines.
#[test]
fn formats_for_machines_have_no_colour() {
    let sandbox = everything();
    for format in ["json", "sarif", "rdjson", "markdown"] {
        let run = sandbox.tribunal(&["review", "--mode", "full", "--color", "always", "--format", format]);
        assert!(!run.stdout.contains('\u{1b}'), "{format}");
    }
}

/// Design section 8: a pipe that closes early ends it quietly.
#[test]
fn a_closed_pipe_is_no_error() {
    let sandbox = Sandbox::with_shared_list();
    for args in [&["rules", "list"][..], &["review"], &["history"], &["completions", "bash"], &["man"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox.command(args).stdin(std::process::Stdio::null()).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

/// Design section 8: the fail level decides between 0 and 1, and nothing else.
#[test]
fn the_fail_level_decides_the_exit_code() {
    let sandbox = Sandbox::with_shared_list();
    for (level, code) in [("P0", 0), ("P1", 1), ("P2", 1), ("never", 0)] {
        let review = sandbox.review(&["--fail-level", level]).ends_with(code);
        assert_eq!(review.found(), [format!("app.py:{SHARED_LIST_RULE}")], "{level}");
    }
}

/// PR-21: a directive of the context moves a severity at the merge, and the adjustment is on record.
#[test]
fn a_directive_moves_a_severity_and_is_recorded() {
    let sandbox = Sandbox::with_shared_list();
    let review = sandbox.review(&["--context", "raise E5 in app.py to P0: billing path"]).ends_with(1);
    let finding = review.finding(SHARED_LIST_RULE);
    assert_eq!(finding["p_code"], "P0");
    assert_eq!(finding["severity_adjustment"]["reason"], "context: billing path");
    sandbox.tribunal(&["show", "--format", "markdown"]).prints("## ⚖️ Severity adjustments").prints("billing path");
}

/// Issue 18, section 0 point 5: rules alone approve nothing, in nothing that people read. Programs find what they found before.
#[test]
fn rules_alone_approve_nothing() {
    let sandbox = Sandbox::on_feature();
    sandbox.write("app.py", CLEAN.replace("add", "join"));
    sandbox.commit("Work");
    let review = sandbox.review(&[]).ends_with(0);
    assert_eq!((review.text("verdict"), review.text("status"), review.text("outcome")), ("LGTM", "approved", "clean"));
    let check = &review.json["receipt"]["rules_check"];
    assert!(check["rules"].as_u64() > Some(20) && check["files"] == 1, "{check}");
    for words in [&["show"][..], &["show", "--format", "markdown"], &["history"]] {
        let run = sandbox.tribunal(words).ends_with(0);
        let read: String = run.stdout.lines().filter(|line| !line.starts_with("<!-- pr-review:")).collect();
        assert!(!read.contains("Approved") && !read.contains("LGTM"), "{}", run.stdout);
    }
    let rules = check["rules"].as_u64().unwrap();
    sandbox.tribunal(&["show"]).prints(&format!("Review: no rule matched · 0 findings · {rules} rules over 1 file\n"));
    // An agent that has looked approves.
    sandbox.seat("staff-engineer", &answering(&json!({ "findings": [] })));
    sandbox.tribunal(&["review"]).ends_with(0).prints("Review: ✅ Approved").prints("verdict LGTM");
}

/// The whole of what a person sees.
#[test]
fn the_text_of_a_small_review() {
    let sandbox = Sandbox::with_shared_list();
    let run = sandbox.tribunal(&["review"]).ends_with(0);
    let filters = vec![
        (r"run r[0-9a-f]+", "run [RUN]"),
        (r"[0-9a-f]{12}\.\.[0-9a-f]{12}", "[BASE]..[HEAD]"),
        (r"[0-9]+ rules over", "[N] rules over"),
    ];
    insta::with_settings!({ filters => filters }, {
        insta::assert_snapshot!(run.stdout, @r"
        P1: F1 py-mutable-default-argument [E5 Logic correctness]
         --> app.py:1:1
          |
        1 | def add(item, items=[]):
          | ^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = breaks: The list, dict or set is made once and shared by every call, so one caller's data shows up in the
                    next call.
          = fix: Default to `None` and create the container inside the function.
          = note: Reachable · blast Local · confidence high · by rules

        ! Built-in rules only: no model and no person has read this change.
        Review: ⚠️ Review before merge · 1 finding (P1×1) · [N] rules over 1 file
        ✓ security-reviewer (rules)  ✓ staff-engineer (rules)  ✓ sdet (rules)
        feature against main [BASE]..[HEAD] · 1 of 1 files read, +3 -2 · verdict MINOR · run [RUN]
        ");
    });
}
