//! What the loops work on besides words, in a plain repository.

use super::super::loops::agents::{KEY, model, script, word};
use super::super::loops::lints;
use super::{Plain, Said, UNSAFE};
use fake_model_server::{Matcher, ModelServer, Reply};
use serde_json::json;

impl Plain {
    /// A model of this server assesses and fixes.
    fn think_with(&self, server: &ModelServer, more: &str) {
        let folder = self.folder.path().join("home/.config/tribunal");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), format!("[fix]\nagent = \"m\"\n{more}{}", model("m", server))).unwrap();
    }

    fn thinks(&self, args: &[&str]) -> Said {
        Said::of(self.command(env!("CARGO_BIN_EXE_tribunal")).env("THE_KEY", KEY).args(args).output().unwrap())
    }
}

/// WL-71, issue 6: a plain repository keeps what a check printed, if it is told, and the loop works from it.
#[test]
fn a_failing_check_is_fixed_by_its_log() {
    let plain = Plain::new();
    plain.commit("total.py", "def total(items):\n    return sum(itms)\n", "total");
    plain.tribunal(&["pr", "open", "--title", "Total"]).ended(0);
    plain.git(&["checkout", "--quiet", "main"]);
    let log = plain.folder.path().join("ci.log");
    let filler = "collecting\n".repeat(20_000);
    std::fs::write(&log, format!("{filler}total.py:2: \u{1b}[31mNameError\u{1b}[0m: name 'itms' is not defined\n")).unwrap();
    let missing = plain.tribunal(&["pr", "check", "1", "ci/test", "--state", "failure", "--log", "nowhere.log"]).ended(2);
    assert!(missing.stderr.contains("nowhere.log"), "{}", missing.stderr);
    plain.tribunal(&["pr", "check", "1", "ci/test", "--state", "failure", "--log", log.to_str().unwrap()]).ended(0);
    let edits = json!([{ "path": "total.py", "find": "itms", "replace": "items" }]);
    let fix = json!({ "summary": "Name the list as it is called", "edits": edits, "cannot": "" });
    let told = Matcher::any().contains("total.py:2: NameError: name 'itms'").own_contains("Make the fix");
    let server = ModelServer::start(script(vec![word("check:ci/test", "address", "")], &[]).rule(told, Reply::Json(fix)));
    plain.think_with(&server, "");
    let report = plain.thinks(&["watch", "1", "--once", "--format", "json"]).ended(0).json();
    assert_eq!(report["reason"], "clean", "{report:#}");
    assert_eq!(plain.printed(&["show", "feature:total.py"]), "def total(items):\n    return sum(items)");
}

/// Issue 6: the configuration names files of the checkout; they are opened wherever in it one stands.
#[test]
fn a_configured_sarif_file_is_read() {
    let plain = Plain::new();
    plain.commit("app.py", UNSAFE, "load");
    plain.tribunal(&["pr", "open", "--title", "Load"]).ended(0);
    plain.git(&["checkout", "--quiet", "main"]);
    let folder = plain.folder.path().join("home/.config/tribunal");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "[watch]\nsarif = [\"out/lint.sarif\"]\n").unwrap();
    let missing = plain.tribunal(&["watch", "1", "--once"]).ended(2);
    assert!(missing.stderr.contains("error[bad-sarif]") && missing.stderr.contains("out/lint.sarif"), "{}", missing.stderr);
    std::fs::create_dir_all(plain.repository().join("out")).unwrap();
    lints::write(&plain.repository().join("out/lint.sarif"), &[lints::result("B506", "app.py", 5)]);
    let inside = plain
        .command(env!("CARGO_BIN_EXE_tribunal"))
        .args(["watch", "1", "--once", "--format", "json"])
        .current_dir(plain.repository().join("out"))
        .output();
    let report = Said::of(inside.unwrap()).ended(0).json();
    assert_eq!((report["reason"].as_str(), report["resolved"].as_u64()), (Some("clean"), Some(1)), "{report:#}");
    assert!(plain.printed(&["show", "feature:app.py"]).contains("yaml.safe_load(text)"));
    // `respond` has its own list.
    plain.tribunal(&["respond", "1", "--once"]).ended(0);
}

/// WL-85, CF-18: in a plain repository too, what is deferred is entered into a file, on the branch that the change is on.
#[test]
fn what_is_deferred_is_recorded() {
    let plain = Plain::new();
    plain.commit("total.py", "def total(items):\n    return sum(items)\n", "total");
    plain.tribunal(&["pr", "open", "--title", "Total"]).ended(0);
    plain.tribunal(&["pr", "review", "1", "--comment", "--line", "total.py:1", "It takes any type."]).ended(0);
    plain.git(&["checkout", "--quiet", "main"]);
    let thread = plain.shown()["threads"][0]["id"].as_str().unwrap().to_owned();
    let server = ModelServer::start(script(vec![word(&format!("thread:{thread}"), "defer", "def total(items):")], &[]));
    plain.think_with(&server, "defer = \"record\"\n");
    let report = plain.thinks(&["watch", "1", "--once", "--format", "json"]).ended(0).json();
    assert_eq!(report["reason"], "clean", "{report:#}");
    let record = plain.printed(&["show", "feature:docs/deferred.md"]);
    assert!(record.contains("It takes any type.") && record.matches("## D-").count() == 1, "{record}");
    let said = plain.shown()["threads"][0]["comments"][1]["body"].as_str().unwrap().to_owned();
    assert!(said.starts_with("Deferred to docs/deferred.md#d-"), "{said}");
    assert_eq!(plain.tribunal(&["pr", "issue", "list", "--json"]).ended(0).json(), json!([]));
    // A file that instructs agents is no record; that is said before anything happens.
    plain.think_with(&server, "defer = \"record\"\nrecord = \"AGENTS.md\"\n");
    assert!(plain.thinks(&["watch", "1", "--once"]).ended(2).stderr.contains("AGENTS.md"));
}
