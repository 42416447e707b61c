//! On a plain git repository, without any server.

mod feedback;
mod library;
mod settles;
mod sweeps;

use super::town::Said;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

struct Plain {
    folder: TempDir,
}

impl Plain {
    fn new() -> Self {
        let plain = Plain { folder: tempfile::tempdir().unwrap() };
        plain.git(&["init", "--quiet", "--initial-branch=main"]);
        plain.commit("README.md", "text\n", "first");
        plain.git(&["checkout", "--quiet", "-b", "feature"]);
        plain
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"));
        for (name, value) in [("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")] {
            command.env(name, value).env(name.replace("AUTHOR", "COMMITTER"), value);
        }
        // Whoever sits here wrote what the base names.
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("TRIBUNAL_TRUST", "base");
        command.current_dir(self.repository());
        command
    }

    fn repository(&self) -> std::path::PathBuf {
        let folder = self.folder.path().join("repository");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn git(&self, args: &[&str]) {
        let output = self.command("git").args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, path: &str, text: &str, message: &str) {
        self.git(&["config", "user.name", "Ada"]);
        self.git(&["config", "user.email", "ada@example.org"]);
        std::fs::write(self.repository().join(Path::new(path)), text).unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "-m", message]);
    }

    fn tribunal(&self, args: &[&str]) -> Said {
        Said::of(self.command(env!("CARGO_BIN_EXE_tribunal")).args(args).output().unwrap())
    }

    fn shown(&self) -> Value {
        self.tribunal(&["pr", "show", "1", "--json"]).ended(0).json()
    }
}

/// Issue 5, build 3: any git repository is a forge; the whole story of a pull request works on it.
#[test]
fn a_whole_life() {
    let plain = Plain::new();
    plain.commit("app.py", "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n", "load");
    plain.tribunal(&["pr", "open", "--title", "Load"]).ended(0);
    plain.tribunal(&["review", "1"]).ended(1);
    let first = plain.shown();
    assert_eq!(first["threads"].as_array().unwrap().len(), 1);
    assert_eq!((first["threads"][0]["path"].as_str(), first["threads"][0]["line"].as_u64()), (Some("app.py"), Some(5)));
    assert_eq!(
        (first["checks"][0]["name"].as_str(), first["checks"][0]["state"].as_str()),
        (Some("tribunal/review"), Some("failure"))
    );
    assert_eq!(first["comments"].as_array().unwrap().len(), 1);

    assert!(plain.tribunal(&["review", "@"]).ended(1).stderr.contains("Nothing new since"));
    assert_eq!(plain.shown(), first);

    plain.commit("app.py", "import yaml\n\n\ndef load(text):\n    return yaml.safe_load(text)\n", "safe");
    plain.tribunal(&["review", "1"]).ended(0);
    let second = plain.shown();
    assert_eq!(second["threads"][0]["resolved"], true);
    assert!(second["threads"][0]["comments"][1]["body"].as_str().unwrap().starts_with("Fixed in "));
    assert_eq!(second["checks"][0]["state"], "success");
    assert_eq!(second["comments"].as_array().unwrap().len(), 1);

    plain.tribunal(&["pr", "merge", "1"]).ended(0);
    let merged = plain.tribunal(&["review", "1"]).ended(2);
    assert!(merged.stderr.contains("is merged"), "{}", merged.stderr);
}

/// PR-132 and the local forge: whoever sits at the machine decides.
#[test]
fn a_dismissed_finding_does_not_count() {
    let plain = Plain::new();
    plain.commit("app.py", "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n", "load");
    plain.tribunal(&["pr", "open", "--title", "Load"]).ended(0);
    plain.tribunal(&["review", "1"]).ended(1);
    plain.tribunal(&["pr", "comment", "1", "/tribunal dismiss F1 it is our own file"]).ended(0);
    let said = plain.tribunal(&["review", "1"]).ended(0);
    assert!(said.stdout.contains("1 dismissed"), "{}", said.stdout);
    assert_eq!(plain.shown()["checks"][0]["state"], "success");
    // A dismissal without a reason, or of nothing, is refused.
    plain.tribunal(&["dismiss", "F9", "--reason", "x"]).ended(2);
    plain.tribunal(&["dismiss", "F1", "--reason", " "]).ended(2);
}

/// The same without a pull request: the word of whoever sits there, on the last review of the checkout.
#[test]
fn a_finding_of_the_checkout_can_be_dismissed() {
    let plain = Plain::new();
    plain.commit("app.py", "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n", "load");
    plain.tribunal(&["review"]).ended(1);
    plain.tribunal(&["dismiss", "F1", "--reason", "our own file"]).ended(0);
    let said = plain.tribunal(&["review"]).ended(0);
    assert!(said.stdout.contains("1 dismissed"), "{}", said.stdout);
}

/// Issue 5, build 1: what names no pull request is refused with the ways to name one.
#[test]
fn what_names_no_pull_request_is_refused() {
    let plain = Plain::new();
    for asked in ["nonsense", "https://example.org/", "0"] {
        let said = plain.tribunal(&["review", asked]).ended(2);
        assert!(said.stderr.contains("names no pull request"), "{}", said.stderr);
    }
    let said = plain.tribunal(&["review", "7"]);
    assert!(said.code == 5 && said.stderr.contains("error["), "{said:?}");
    plain.tribunal(&["review", "@"]).ended(2);
}

const UNSAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";

impl Plain {
    fn printed(&self, args: &[&str]) -> String {
        let output = self.command("git").args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// Issue 6: the loop works on a plain repository. A branch that nobody stands on is moved; nobody's files are touched (WL-18).
#[test]
fn a_watch_fixes_a_branch_that_nobody_stands_on() {
    let plain = Plain::new();
    plain.commit("app.py", UNSAFE, "load");
    plain.tribunal(&["pr", "open", "--title", "Load"]).ended(0);
    plain.git(&["checkout", "--quiet", "main"]);
    plain.tribunal(&["review", "1"]).ended(1);
    let report = plain.tribunal(&["watch", "1", "--once", "--format", "json"]).ended(0).json();
    assert_eq!((report["reason"].as_str(), report["resolved"].as_u64()), (Some("clean"), Some(1)), "{report:#}");
    assert!(plain.printed(&["show", "feature:app.py"]).contains("yaml.safe_load(text)"));
    assert!(plain.printed(&["log", "-1", "--format=%B", "feature"]).contains("Tribunal-Item: thread:"));
    assert_eq!((plain.printed(&["status", "--porcelain"]), plain.repository().join("app.py").exists()), (String::new(), false));
    let thread = plain.shown()["threads"][0].clone();
    assert!(thread["comments"][1]["body"].as_str().unwrap().starts_with("Fixed in "), "{thread:#}");
    let before = plain.shown();
    plain.tribunal(&["watch", "1", "--once"]).ended(0);
    assert_eq!(plain.shown(), before);
}

/// WL-18: on a branch that somebody stands on, their files move along if they are clean, and nothing is done if they are not.
#[test]
fn a_watch_leaves_uncommitted_work_alone() {
    let plain = Plain::new();
    plain.commit("app.py", UNSAFE, "load");
    plain.tribunal(&["pr", "open", "--title", "Load"]).ended(0);
    plain.tribunal(&["review", "1"]).ended(1);
    let (file, head) = (plain.repository().join("app.py"), plain.printed(&["rev-parse", "feature"]));
    std::fs::write(&file, format!("{UNSAFE}# mine\n")).unwrap();
    let report = plain.tribunal(&["watch", "1", "--once", "--format", "json"]).ended(1).json();
    assert_eq!(report["reason"], "blocked", "{report:#}");
    assert!(report["details"]["blocker_reason"].as_str().unwrap().contains("app.py"), "{report:#}");
    assert_eq!(plain.printed(&["rev-parse", "feature"]), head);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{UNSAFE}# mine\n"));

    std::fs::write(&file, UNSAFE).unwrap();
    plain.tribunal(&["watch", "1", "--once"]).ended(0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("yaml.safe_load(text)"), "the work tree moved along");
    assert_eq!(plain.printed(&["status", "--porcelain"]), "");
}

/// WL-18: nothing is done in the middle of a merge, and the trunk is not pushed to, whatever it is to be merged into.
#[test]
fn a_watch_keeps_away_from_a_merge_and_from_the_trunk() {
    let plain = Plain::new();
    plain.commit("app.py", UNSAFE, "load");
    plain.tribunal(&["pr", "open", "--title", "Load"]).ended(0);
    plain.git(&["checkout", "--quiet", "main"]);
    plain.commit("other.md", "text\n", "other");
    plain.git(&["checkout", "--quiet", "feature"]);
    plain.git(&["merge", "--quiet", "--no-commit", "--no-ff", "main"]);
    let report = plain.tribunal(&["watch", "1", "--once", "--format", "json"]).ended(1).json();
    assert!(report["details"]["blocker_reason"].as_str().unwrap().starts_with("preflight: "), "{report:#}");
    plain.git(&["merge", "--abort"]);

    plain.git(&["branch", "release", "main~1"]);
    plain.git(&["checkout", "--quiet", "main"]);
    plain.tribunal(&["pr", "open", "--title", "Release", "--base", "release"]).ended(0);
    let report = plain.tribunal(&["watch", "2", "--once", "--format", "json"]).ended(1).json();
    assert!(report["details"]["blocker_reason"].as_str().unwrap().contains("`main` itself"), "{report:#}");
}
