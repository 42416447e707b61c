//! A sweep and the index of its project: one that is not there, one that is told, and issues that cannot be synced.

use super::Plain;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const RETRIES: &str =
    "# Retries have a budget\n\n## Decision\n\nEvery client retries a failed request once, within the retry budget of its run.\n";
const PLAIN: &str = "[merge]\nverified_by = \"rules\"\n[wait]\npoll = \"1s\"\n";

impl Plain {
    /// A decision, an issue, and a pull request (#2) that names neither; `qmd` is a script where one is given.
    fn with_records(qmd: Option<&str>) -> Plain {
        let plain = Plain::new();
        plain.git(&["checkout", "--quiet", "main"]);
        fs::create_dir_all(plain.repository().join("docs/adrs")).unwrap();
        plain.commit("docs/adrs/0001-retries.md", RETRIES, "decide");
        let qmd = qmd.map(|script| {
            let path = plain.folder.path().join("qmd");
            let log = plain.folder.path().join("home/.cache/qmd/log");
            fs::create_dir_all(log.parent().unwrap()).unwrap();
            fs::write(&path, format!("#!/bin/sh\necho \"$*\" | head -1 >> {}\n{script}\n", log.display())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            format!("[library.qmd]\ncommand = [\"{}\"]\ncollection = \"shop\"\n", path.display())
        });
        plain.commit(".tribunal.toml", &format!("{PLAIN}{}", qmd.unwrap_or_default()), "configuration");
        let body = "The client should retry within a budget.";
        plain.tribunal(&["pr", "issue", "open", "--title", "Requests hang without a retry", "--body", body]).ended(0);
        plain.git(&["checkout", "--quiet", "-b", "retry", "main"]);
        plain.commit("retry_budget.py", "def fetch_with_retry(url, budget):\n    return send(url, budget)\n", "retry");
        plain.git(&["checkout", "--quiet", "main"]);
        plain
            .tribunal(&[
                "pr",
                "open",
                "--head",
                "retry",
                "--base",
                "main",
                "--title",
                "Retry with a budget",
                "--body",
                "Adds it.",
            ])
            .ended(0);
        plain
    }

    fn told(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("home/.cache/qmd/log")).unwrap_or_default();
        log.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
    }

    fn said_on_2(&self) -> String {
        self.tribunal(&["pr", "show", "2", "--json"]).ended(0).stdout
    }
}

/// SL-43: nothing is reviewed without the index that was asked for.
#[test]
fn an_index_that_is_not_there_ends_a_sweep() {
    for (script, words) in
        [("echo 'no such index' >&2; exit 78", "no such index"), ("echo other-adrs", "no collection shop-adrs")]
    {
        let plain = Plain::with_records(Some(script));
        let report = plain.tribunal(&["sweep", "2", "--format", "json"]).ended(75).json();
        assert_eq!(report["stop"], "qmd_unreachable", "{report:#}");
        assert!(report["explanation"].as_str().unwrap().contains(words), "{report:#}");
        assert!(plain.tribunal(&["history"]).stdout.lines().count() <= 1, "something was reviewed");
    }
}

/// SL-69: after a merge the index is told, and the merge stands whatever it says.
#[test]
fn an_index_is_told_after_a_merge() {
    let answers = "case \"$1\" in collection) echo shop-adrs; echo shop-issues ;; update) ;; *) echo '[]' ;; esac";
    let plain = Plain::with_records(Some(answers));
    plain.tribunal(&["sweep", "2", "--merge", "--yes", "--format", "json"]).ended(0);
    let told = plain.told();
    assert_eq!(told.last().map(String::as_str), Some("update"), "{told:?}");
    assert!(told.iter().any(|line| line.starts_with("query")), "{told:?}");
    assert_eq!(plain.tribunal(&["pr", "show", "2", "--json"]).ended(0).json()["pull"]["state"], "merged");
}

/// SL-87, SL-106: issues that cannot be kept are looked for on the forge itself, which is said; the review is made.
#[test]
fn a_sync_that_fails_asks_the_forge_itself() {
    let plain = Plain::with_records(None);
    // A file where the folder of the pages should be.
    let library = plain.repository().join(".git/tribunal/library");
    fs::create_dir_all(&library).unwrap();
    fs::write(library.join("issues"), "in the way").unwrap();
    plain.tribunal(&["sweep", "2", "--format", "json"]).ended(0);
    let said = plain.said_on_2();
    assert!(said.contains("The issues could not be synced"), "{said}");
    assert!(said.contains("Requests hang without a retry") && said.contains("ADR-0001"), "{said}");
}
