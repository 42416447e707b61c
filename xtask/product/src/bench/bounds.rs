//! How time grows with a change, and how much memory a very large one takes.

use super::{Figure, git, git_in, median, review_ending};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// Replaced lines, each with a finding before and after: the worst case for comparing the two.
const LINES: usize = 2_000;
/// Megabytes of text in the very large change.
const MEGABYTES: usize = 148;

pub fn figures(binary: &Path, work: &Path) -> Result<Vec<Figure>> {
    let replaced = replaced_lines(work)?;
    let time = |head: &str| median(3, || review_ending(binary, &replaced, head, &[0, 1]).map(|run| run.0));
    let (one, four) = (time("one")?, time("four")?);
    let very_large = very_large(work)?;
    let (large, memory) = review_ending(binary, &very_large, "large", &[3])?;
    println!("{LINES} replaced lines: {one:.0} ms; four times as many: {four:.0} ms; {MEGABYTES} MiB of text: {large:.0} ms");
    Ok(vec![
        Figure { name: "four times the replaced lines".into(), value: four / one, limit: 5.0, unit: "×" },
        Figure { name: format!("{MEGABYTES} MiB of text, peak memory"), value: memory, limit: 400.0, unit: "MB" },
        Figure { name: format!("{MEGABYTES} MiB of text, whole review"), value: large / 1000.0, limit: 60.0, unit: "s" },
    ])
}

fn new_repository(work: &Path, name: &str) -> Result<PathBuf> {
    let folder = work.join(name);
    fs::create_dir_all(&folder)?;
    git(&folder, &["init", "--quiet", "--initial-branch=main"])?;
    Ok(folder)
}

fn replaced_lines(work: &Path) -> Result<PathBuf> {
    let folder = new_repository(work, "replaced")?;
    let calls = |count: usize, extra: &str| -> String {
        (0..count).map(|n| format!("requests.get(u{n}{extra}, verify=False, timeout=9)\n")).collect()
    };
    for (path, count) in [("one.py", LINES), ("four.py", 4 * LINES)] {
        fs::write(folder.join(path), format!("import requests\n{}", calls(count, "")))?;
    }
    git(&folder, &["add", "."])?;
    git(&folder, &["commit", "--quiet", "-m", "calls"])?;
    for (branch, path, count) in [("one", "one.py", LINES), ("four", "four.py", 4 * LINES)] {
        git(&folder, &["checkout", "--quiet", "-b", branch, "main"])?;
        fs::write(folder.join(path), format!("import requests\n{}", calls(count, "+1")))?;
        git(&folder, &["commit", "--quiet", "--all", "-m", branch])?;
    }
    Ok(folder)
}

fn very_large(work: &Path) -> Result<PathBuf> {
    let folder = new_repository(work, "very-large")?;
    git(&folder, &["commit", "--quiet", "--allow-empty", "-m", "empty"])?;
    git(&folder, &["checkout", "--quiet", "-b", "large"])?;
    let line = "a line of text that somebody may have written, of usual length\n";
    for file in 0..MEGABYTES {
        fs::write(folder.join(format!("{file}.txt")), format!("{file}\n{}", line.repeat(1024 * 1024 / line.len())))?;
    }
    git(&folder, &["add", "."])?;
    git_in(&folder).args(["commit", "--quiet", "-m", "large"]).status()?;
    Ok(folder)
}
