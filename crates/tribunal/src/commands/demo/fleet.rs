//! A fleet of pull requests in a throw-away repository: swept, merged in order, mended, and swept to the end.

use super::{expect, git, tribunal};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::path::Path;

const CONFIG: &str =
    "# The built-in rules are the only reviewers here, and their word is enough to merge.\n[merge]\nverified_by = \"rules\"\n";
const SPEC: &str =
    "# SPEC-0001: The shop\n\nPrices are rounded, an empty basket has no first item, receipts are printed, taxes are added.\n";
const SHOP: &str = "def total(items):\n    return sum(items)\n\n\ndef first(items):\n    return items[0]\n";
const ROUNDED: &str = "def total(items):\n    return round(sum(items), 2)\n\n\ndef first(items):\n    return items[0]\n";
const EMPTY: &str = "def total(items):\n    return sum(items)\n\n\ndef first(items):\n    return items[0] if items else None\n";
const SETTINGS: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";
const RECEIPT: &str = "from shop import total\n\n\ndef receipt(items):\n    return f\"{total(items):.2f}\"\n";
const MARKED: &str = "# Opening hours\n\n<<<<<<< HEAD\nNine to five.\n=======\nTen to six.\n>>>>>>> winter\n";

const STORIES: [&str; 5] = ["Read settings", "Round prices", "Allow an empty basket", "Print receipts", "Add taxes"];

/// A branch, where it begins, its file, what is in it, and what its pull request says.
struct Ship {
    branch: &'static str,
    from: &'static str,
    path: &'static str,
    text: &'static str,
    says: &'static str,
}

/// The epic is #1 and its stories #2 to #6, so the pull requests are #7 to #12.
const SHIPS: [Ship; 6] = [
    Ship { branch: "settings", from: "main", path: "settings.py", text: SETTINGS, says: "Fixes #2" },
    Ship { branch: "prices", from: "main", path: "shop.py", text: ROUNDED, says: "Fixes #3" },
    Ship { branch: "basket", from: "main", path: "shop.py", text: EMPTY, says: "Fixes #4" },
    Ship { branch: "receipts", from: "prices", path: "receipts.py", text: RECEIPT, says: "Fixes #5. Depends on #8" },
    Ship { branch: "taxes", from: "main", path: "taxes.py", text: "RATE = 19\n", says: "Fixes #6" },
    Ship { branch: "hours", from: "main", path: "HOURS.txt", text: MARKED, says: "Opening hours" },
];

pub fn show(top: &Path) -> Result<(), Situation> {
    build(top)?;
    out::note("A throw-away repository with a spec, its epic, five stories and six pull requests, without a server:");
    out::note("  #7 has a defect that rules can mend, #8 and #9 touch the same file, #10 stands on #8,");
    out::note("  the check of #11 is red, and #12 was committed with conflict markers.");
    let sweep = ["sweep", "SPEC-0001", "--merge", "--yes"];
    step(top, "what would be done", &["sweep", "SPEC-0001", "--dry-run"], exit::FINDINGS)?;
    step(top, "reviews, has mended, and merges in order what it may", &sweep, exit::FINDINGS)?;
    out::note("\nThat was exit code 1: two of them need a person. Somebody makes the check green and resolves the markers.");
    quietly(top, &["pr", "check", "11", "build", "--state", "success"])?;
    git(top, &["checkout", "--quiet", "hours"])?;
    write(top, "HOURS.txt", "# Opening hours\n\nTen to six.\n")?;
    git(top, &["commit", "--quiet", "--all", "-m", "Resolve"])?;
    git(top, &["checkout", "--quiet", "main"])?;
    step(top, "the rest, and the epic with it", &sweep, exit::DONE)
}

fn build(top: &Path) -> Result<(), Situation> {
    git(top, &["init", "--quiet", "--initial-branch=main"])?;
    std::fs::create_dir_all(top.join("docs/openspec/specs/shop")).map_err(failed)?;
    let design = "# Design\n\nPlain functions.\n";
    for (path, text) in [
        (".tribunal.toml", CONFIG),
        ("docs/openspec/specs/shop/spec.md", SPEC),
        ("docs/openspec/specs/shop/design.md", design),
        ("shop.py", SHOP),
    ] {
        write(top, path, text)?;
    }
    git(top, &["add", "."])?;
    git(top, &["commit", "--quiet", "-m", "A shop"])?;
    quietly(top, &["pr", "issue", "open", "--title", "SPEC-0001: The shop", "--body", "All of it."])?;
    for story in STORIES {
        let body = "For SPEC-0001. Part of #1\n\n### Acceptance Criteria\n\n- it works as the spec says\n";
        quietly(top, &["pr", "issue", "open", "--title", story, "--body", body])?;
    }
    for ship in SHIPS {
        git(top, &["checkout", "--quiet", "-b", ship.branch, ship.from])?;
        write(top, ship.path, ship.text)?;
        git(top, &["add", "."])?;
        git(top, &["commit", "--quiet", "-m", ship.branch])?;
        // A branch that is checked out would be moved under somebody's hands.
        git(top, &["checkout", "--quiet", "main"])?;
        let body = format!("{}. Part of #1, for SPEC-0001.", ship.says);
        let title = format!("{}{}", ship.branch[..1].to_uppercase(), &ship.branch[1..]);
        quietly(top, &["pr", "open", "--head", ship.branch, "--base", "main", "--title", &title, "--body", &body])?;
    }
    quietly(top, &["pr", "check", "11", "build", "--state", "failure"])
}

fn step(top: &Path, title: &str, args: &[&str], wanted: u8) -> Result<(), Situation> {
    out::note(&format!("\n\u{1b}[1m$ tribunal {}\u{1b}[0m   {title}\n", args.join(" ")));
    expect(wanted, tribunal(top, args, false).map_err(failed)?, title)
}

fn quietly(top: &Path, args: &[&str]) -> Result<(), Situation> {
    let output = super::command(top, args, true).and_then(|mut command| command.output()).map_err(failed)?;
    expect(exit::DONE, output.status, args[0])
}

fn write(top: &Path, path: &str, text: &str) -> Result<(), Situation> {
    std::fs::write(top.join(path), text).map_err(failed)
}

fn failed(error: std::io::Error) -> Situation {
    Situation::new("demo-failed", exit::INCOMPLETE, format!("the demo repository cannot be made: {error}"))
}
