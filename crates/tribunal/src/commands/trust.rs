//! `tribunal trust`: show how this checkout's configuration differs from the base, and record that it is fine.

use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::workspace::guidance::{Files, at_commit, differing, in_work_tree, is_trusted, trust};
use crate::workspace::{self, Person};
use std::io::{BufRead as _, IsTerminal as _};
use tribunal_core::publish::difference::{Row, difference};
use tribunal_core::publish::visible::visible_line;

pub fn run(dry_run: bool, yes: bool) -> Result<u8, Situation> {
    let repository = workspace::discover()?;
    let person = Person::here();
    let before = workspace::guidance_base(&repository).map(|base| at_commit(&repository, &base)).unwrap_or_default();
    let here = in_work_tree(&repository)?;
    let changed = differing(&before, &here);
    if changed.is_empty() {
        out::say("Configuration, roles and rules are the base's own; there is nothing to trust.")?;
        return Ok(exit::DONE);
    }
    for path in &changed {
        show(path, &before, &here)?;
    }
    if is_trusted(&repository, &person, &here) {
        out::say("Already trusted.")?;
        return Ok(exit::DONE);
    }
    if dry_run {
        out::say("Nothing was recorded.")?;
        return Ok(exit::DONE);
    }
    if !yes && !confirmed()? {
        return Err(Situation::new("not-trusted", exit::FINDINGS, "nothing was recorded; the base's version stays in force")
            .help("answer y, or pass --yes"));
    }
    trust(&repository, &person, &here)?;
    out::say("Trusted: exactly this content, in this repository, for you.")?;
    Ok(exit::DONE)
}

fn show(path: &str, before: &Files, here: &Files) -> Result<(), Situation> {
    let (old, new) = (before.get(path), here.get(path));
    let what = match (old, new) {
        (None, _) => " (not in the base)",
        (_, None) => " (only in the base)",
        (Some(_), Some(_)) => "",
    };
    out::say(&format!("\u{1b}[1m{}\u{1b}[0m{what}", visible_line(path)))?;
    for row in difference(old.map_or("", String::as_str), new.map_or("", String::as_str)) {
        out::say(&match row {
            Row::Place(place) => format!("\u{1b}[2m{place}\u{1b}[0m"),
            Row::Same(line) => format!(" {line}"),
            Row::Removed(line) => format!("\u{1b}[31m-{line}\u{1b}[0m"),
            Row::Added(line) => format!("\u{1b}[32m+{line}\u{1b}[0m"),
        })?;
    }
    Ok(())
}

fn confirmed() -> Result<bool, Situation> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    out::page("Trust this content? [y/N] ")?;
    let mut answer = String::new();
    Ok(std::io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y"))
}
