//! The order in which a large batch is merged.

use super::{Figure, median, millis};
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeSet;
use std::time::Instant;
use tribunal_core::ids::RepoPath;
use tribunal_core::merge::order::{Candidate, sequence};
use xtask::root;

const PULLS: u64 = 1000;

pub fn figures() -> Result<Vec<Figure>> {
    Ok(vec![Figure { name: "1,000 pull requests, merge order".into(), value: median(5, optimised)?, limit: 200.0, unit: "ms" }])
}

fn optimised() -> Result<f64> {
    let output = xtask::command("cargo")
        .args(["run", "--release", "--quiet", "-p", "xtask-product", "--", "order-time"])
        .current_dir(root())
        .output()?;
    String::from_utf8(output.stdout)?.trim().parse().with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Everybody changes the one file that everybody changes, thirty of two hundred others, and every third waits for another.
pub fn order_time() -> Result<f64> {
    let file = |number: u64, nth: u64| RepoPath::new(format!("src/{}.rs", (number * 31 + nth * 17) % 200));
    let candidate = |number: u64| Candidate {
        number,
        files: (0..30).map(|nth| file(number, nth)).chain([RepoPath::from("CHANGELOG.md")]).collect(),
        foundation: number.is_multiple_of(50),
        depends_on: if number.is_multiple_of(3) { BTreeSet::from([number / 3]) } else { BTreeSet::new() },
        head_branch: format!("branch-{number}"),
        base_branch: "main".into(),
        is_fork: false,
    };
    let batch: Vec<Candidate> = (1..=PULLS).map(candidate).collect();
    let begun = Instant::now();
    let sequence = sequence(&batch);
    let time = millis(begun.elapsed());
    if sequence.steps.len() as u64 != PULLS {
        bail!("only {} of {PULLS} have a place", sequence.steps.len());
    }
    Ok(time)
}
