//! What linters found, handed to the loop as SARIF files.

use super::super::town::Town;
use super::{Running, commits_since, configure, ends, everything, file, head, looped, until};
use forge_conformance::Who;
use serde_json::{Value, json};
use std::path::Path;

/// A rule's fix, a fix that the linter carries, and something that nobody can fix.
const SHOP: &str =
    "import os\nimport yaml\n\n\ndef load(text):\n    return yaml.load(text)\n\n\ndef total(items):\n    return sum(items)\n";
const FIXED: &str =
    "import yaml\n\n\ndef load(text):\n    return yaml.safe_load(text)\n\n\ndef total(items):\n    return sum(items)";

pub fn result(rule: &str, path: &str, line: u32) -> Value {
    let region = json!({ "startLine": line, "startColumn": 1 });
    let place = json!({ "physicalLocation": { "artifactLocation": { "uri": path }, "region": region } });
    json!({ "ruleId": rule, "level": "warning", "message": { "text": format!("{rule} is broken here.") }, "locations": [place] })
}

/// With its own fix: the line goes.
pub fn removed(mut result: Value, path: &str, line: u32) -> Value {
    let region = json!({ "startLine": line, "startColumn": 1, "endLine": line + 1, "endColumn": 1 });
    let replacement = json!({ "deletedRegion": region, "insertedContent": { "text": "" } });
    let change = json!({ "artifactLocation": { "uri": path }, "replacements": [replacement] });
    result["fixes"] = json!([{ "artifactChanges": [change] }]);
    result
}

pub fn write(file: &Path, results: &[Value]) {
    let log = json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "lint" } }, "results": results }] });
    std::fs::write(file, log.to_string()).unwrap();
}

/// Issue 6: results of a linter are worked on like a check's: each fix is a commit that names its result, what the change did not write
/// is left alone, and the same file says nothing twice, whatever became of its lines.
pub async fn lints_are_fixed(town: &Town) {
    configure(town, "").await;
    let (number, branch, first) = town.pull(&[("shop.py", Some(SHOP))]).await;
    let (address, sarif) = (town.address(number), town.machine.folder().join("lint.sarif"));
    let name = sarif.to_str().unwrap();
    let unused = removed(result("L1", "shop.py", 1), "shop.py", 1);
    let results = [unused, result("L2", "/builds/shop/shop.py", 6), result("L3", "shop.py", 9), result("L4", "README.md", 1)];
    write(&sarif, &results);
    let report = looped(town, &["watch", &address, "--once", "--sarif", name]).ended(1).json();
    assert_eq!(report["reason"], "user-input-required", "{report:#}");
    assert_eq!(ends(&report), ["lint shop.py:1 fixed", "lint shop.py:6 fixed", "lint shop.py:9 asked"], "{report:#}");
    assert_eq!(file(town, &branch, "shop.py").await, FIXED);
    let commits = commits_since(town, &branch, &first).await;
    let named: Vec<bool> = commits.iter().map(|message| message.contains("Tribunal-Item: lint:lint/L")).collect();
    assert_eq!(named, [true, true], "{commits:#?}");

    // The same file again, on the same machine and with nothing remembered: its lines have moved, and nothing is fixed twice.
    let before = everything(town, number).await;
    let again = looped(town, &["watch", &address, "--once", "--sarif", name]).ended(1).json();
    assert_eq!((ends(&again), &again["resolved"]), (vec!["lint shop.py:8 asked".to_owned()], &json!(0)), "{again:#}");
    assert_eq!(everything(town, number).await, before);
    // The linter has nothing to say any more.
    write(&sarif, &[]);
    let clean = looped(town, &["watch", &address, "--once", "--sarif", name]).ended(0).json();
    assert_eq!(clean["reason"], "clean", "{clean:#}");

    // A file that is not there, or is no SARIF, stops the loop before it begins.
    std::fs::write(&sarif, "{\"version\": \"2.1.0\", \"runs\": [").unwrap();
    let nowhere = town.machine.folder().join("nowhere.sarif");
    for (given, words) in [(name, "not SARIF"), (nowhere.to_str().unwrap(), "nowhere.sarif")] {
        let refused = town.run(&["watch", &address, "--once", "--sarif", given]).ended(2);
        assert!(refused.stderr.contains("error[bad-sarif]") && refused.stderr.contains(words), "{}", refused.stderr);
    }
    assert_eq!(everything(town, number).await, before);
}

/// WL-10: a linter that is run while the loop waits wakes it up.
pub async fn a_linter_wakes_it_up(town: &Town) {
    configure(town, "").await;
    let (number, branch, first) = town.pull(&[("shop.py", Some(SHOP))]).await;
    let sarif = town.machine.folder().join("late.sarif");
    write(&sarif, &[]);
    let words =
        ["watch", &town.address(number), "--sarif", sarif.to_str().unwrap(), "--poll", "1s", "--idle", "30m", "--total", "60m"];
    let mut running = Running::start(town, &words);
    running.waits().await;
    write(&sarif, &[removed(result("L1", "shop.py", 1), "shop.py", 1)]);
    until("the fix", || async { (head(town, number).await != first).then_some(()) }).await;
    assert!(!file(town, &branch, "shop.py").await.contains("import os"));
    write(&sarif, &[]);
    running.waits().await;
    town.stage.forge_as(Who::Maintainer).close(number).await.unwrap();
    let report = running.end().await.ended(0).json();
    assert_eq!((&report["reason"], ends(&report)), (&json!("pr-closed"), vec!["lint shop.py:1 fixed".to_owned()]));
    assert_eq!(commits_since(town, &branch, &first).await.len(), 1);
}
