//! The outgoing filter on this machine (issue 16, C13 and C14): what agents, linters and commands say, before it is kept or printed.

use super::sandbox::{SHARED_LIST_LINE, Sandbox, answering, claim, finish};
use serde_json::json;

const MARK: &str = "<!-- tribunal:1 a.b -->";
// In two parts, so that secret scanners pass over this file.
const AWS: &str = concat!("AK", "IAQ3WZ7T5RY2KXQ3WZ");

/// All formats.
fn printed(sandbox: &Sandbox) -> String {
    let formats = ["text", "json", "sarif", "rdjson", "markdown"];
    formats.iter().map(|format| sandbox.tribunal(&["show", "last", "--format", format]).stdout).collect()
}

/// The same, and the ledger as its file is.
fn everything(sandbox: &Sandbox) -> String {
    let mut all = printed(sandbox);
    let folder = sandbox.path().join(".git/tribunal");
    all.push_str(&String::from_utf8_lossy(&std::fs::read(folder.join("ledger.db")).unwrap()));
    all.push_str(&String::from_utf8_lossy(&std::fs::read(folder.join("ledger.db-wal")).unwrap_or_default()));
    all
}

/// A command agent's fix that adds a link, a mark, a hidden character or a key is not offered, and the reason is told.
#[test]
fn a_fix_that_may_not_leave_is_named() {
    for (replacement, reason) in [
        ("def add(item, items=None):  # https://evil.example/x", "it adds a link"),
        ("def add(item, items=None):\u{202e}", "it holds characters that cannot be seen"),
        (&format!("def add(item, items=None):\n    {MARK}"), "it holds a hidden mark"),
        (&format!("def add(item, items=None):  # {AWS}"), "it holds a secret"),
    ] {
        let sandbox = Sandbox::with_shared_list();
        let mut hostile = claim("E5", SHARED_LIST_LINE, "Callers see each other's items.");
        hostile["fix"] = json!({ "line_start": 1, "line_end": 1, "replacement": replacement });
        let command = sandbox.script("helper.sh", &answering(&json!({ "findings": [hostile] })));
        sandbox.configure_person(&format!(
            "[panel]\nstaff-engineer = [\"helper\"]\n[agents.helper]\nkind = \"command\"\ncommand = {command}\n"
        ));
        let review = sandbox.review(&[]);
        let finding = review.findings().next().expect("the finding itself is kept").clone();
        assert!(finding["fix"].is_null(), "{finding:#}");
        assert!(finding["notes"].as_str().unwrap_or_default().contains(reason), "{finding:#}");
        let markdown = sandbox.tribunal(&["show", "last", "--format", "markdown"]).stdout;
        assert!(markdown.contains("The suggested fix is left out") && !markdown.contains("```suggestion"), "{markdown}");
        let said = everything(&sandbox);
        assert!(!said.contains("evil.example") && !said.contains(AWS) && !said.contains(MARK), "{said}");
    }
}

/// A linter's message is prose of somebody else's.
#[test]
fn a_linters_message_is_made_harmless() {
    let sandbox = Sandbox::with_shared_list();
    let file = sandbox.outside().join("lint.sarif");
    let message = format!("See [this](https://evil.example/x) {MARK} @everyone {AWS} \u{9b}2J");
    let sarif = json!({ "version": "2.1.0", "runs": [{
        "tool": { "driver": { "name": "lint", "rules": [{ "id": "L1" }] } },
        "results": [{ "ruleId": "L1", "level": "error", "message": { "text": message },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": "app.py" }, "region": { "startLine": 1 } } }] }],
    }] });
    std::fs::write(&file, sarif.to_string()).unwrap();
    sandbox.configure_person(&format!(
        "[panel]\nstaff-engineer = [\"lint\"]\n[agents.lint]\nkind = \"sarif\"\ncategory = \"E5\"\nfile = \"{}\"\n",
        file.display()
    ));
    let review = sandbox.review(&[]);
    assert_eq!(review.findings().count(), 1, "{:?}", review.found());
    let said = everything(&sandbox);
    for live in ["evil.example", MARK, AWS] {
        assert!(!said.contains(live), "{live:?} in\n{said}");
    }
    // The ledger keeps what cannot be seen as it was; nothing prints it so.
    assert!(!printed(&sandbox).contains('\u{9b}'));
    // In a code span a mention is text.
    let markdown = sandbox.tribunal(&["show", "last", "--format", "markdown"]).stdout;
    assert!(markdown.contains("`@everyone`") && !markdown.replace("`@everyone`", "").contains("@everyone"), "{markdown}");
}

/// A key of a kind that no rule looks for is in no output either when the environment calls it a secret.
#[test]
fn a_secret_of_the_environment_is_in_no_output() {
    let sandbox = Sandbox::on_feature();
    let secret = "zz9-plural-z-alpha-4711";
    sandbox.write("app.py", format!("import yaml\nx = yaml.load(y)  # {secret}\n"));
    sandbox.commit("Work");
    let mut command = sandbox.command(&["review", "--format", "json"]);
    command.env("DEPLOY_TOKEN", secret);
    let run = finish(command, b"");
    assert!(run.stdout.contains("py-yaml-unsafe-load"), "{}", run.stdout);
    assert!(!run.stdout.contains(secret) && run.stdout.contains("masked"), "{}", run.stdout);
}

/// C14: JSON of `search` quotes what others wrote; a terminal obeys none of it.
#[test]
fn search_prints_no_control_characters() {
    let text =
        "# ADR-0001: Retries\n\nStatus: accepted\n\n## Decision\n\nEach client may retry\u{202e} once\u{9b}31m, with a budget.\n";
    let sandbox = Sandbox::on_feature_from(&[("docs/adrs/0001-retries.md", text), ("app.py", "x = 1\n")]);
    for format in ["json", "text"] {
        let run = sandbox.tribunal(&["search", "--format", format, "retry", "budget"]).ends_with(0);
        assert!(run.stdout.contains("0001-retries.md"), "{}", run.stdout);
        assert!(!run.stdout.contains(['\u{202e}', '\u{9b}']), "{format}: {:?}", run.stdout);
    }
}
