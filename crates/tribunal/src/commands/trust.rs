//! `tribunal trust`: show how this checkout's configuration differs from the base, and record that it is fine.

use crate::situation::{Situation, exit};
use crate::workspace::guidance::{Files, at_commit, differing, in_work_tree, is_trusted, trust};
use crate::workspace::{self, Person};
use std::io::{BufRead as _, IsTerminal as _, Write as _};

pub fn run(dry_run: bool, yes: bool) -> Result<u8, Situation> {
    let repository = workspace::discover()?;
    let person = Person::here();
    let before = workspace::guidance_base(&repository).map(|base| at_commit(&repository, &base)).unwrap_or_default();
    let here = in_work_tree(&repository)?;
    let changed = differing(&before, &here);
    if changed.is_empty() {
        anstream::println!("Configuration, roles and rules are the base's own; there is nothing to trust.");
        return Ok(exit::DONE);
    }
    for path in &changed {
        show(path, &before, &here);
    }
    if is_trusted(&repository, &person, &here) {
        anstream::println!("Already trusted.");
        return Ok(exit::DONE);
    }
    if dry_run {
        anstream::println!("Nothing was recorded.");
        return Ok(exit::DONE);
    }
    if !yes && !confirmed() {
        return Err(Situation::new("not-trusted", exit::FINDINGS, "nothing was recorded; the base's version stays in force")
            .help("answer y, or pass --yes"));
    }
    trust(&repository, &person, &here)?;
    anstream::println!("Trusted: exactly this content, in this repository, for you.");
    Ok(exit::DONE)
}

fn show(path: &str, before: &Files, here: &Files) {
    anstream::println!("\u{1b}[1m{path}\u{1b}[0m");
    let lines =
        |files: &Files| files.get(path).map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).unwrap_or_default();
    let (old, new) = (lines(before), lines(here));
    for line in old.iter().filter(|line| !new.contains(line)) {
        anstream::println!("\u{1b}[31m-{line}\u{1b}[0m");
    }
    for line in new.iter().filter(|line| !old.contains(line)) {
        anstream::println!("\u{1b}[32m+{line}\u{1b}[0m");
    }
}

fn confirmed() -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    anstream::print!("Trust this content? [y/N] ");
    let _ = std::io::stdout().flush();
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
}
