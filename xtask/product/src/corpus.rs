//! The built-in rules over real history: how much they say, and a sample to check by hand.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use tribunal_core::report::document::Document;

pub fn run(repositories: &[PathBuf], sample: usize) -> Result<()> {
    xtask::run("cargo", &["build", "--release", "--quiet", "-p", "tribunal"])?;
    let binary = xtask::root().join("target/release/tribunal");
    let home = tempfile::tempdir()?;
    let mut all = Vec::new();
    let mut by_rule: BTreeMap<String, usize> = BTreeMap::new();
    let mut added_in_all = 0;
    for repository in repositories {
        let output = Command::new(&binary)
            .args(["review", "--range", "main..release", "--format", "json", "--quiet", "--mode", "full"])
            .current_dir(repository)
            .env("HOME", home.path())
            .output()?;
        let document: Document = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{}: {}", repository.display(), String::from_utf8_lossy(&output.stderr)))?;
        let added: u64 = document
            .receipt
            .coverage
            .accounts
            .iter()
            .filter(|account| account.rules_depth == Some(tribunal_core::report::receipt::RulesDepth::Syntax))
            .map(|account| u64::from(account.added))
            .sum();
        added_in_all += added;
        println!("{:>5} findings in {added:>7} added lines of parsed code  {}", document.findings.len(), repository.display());
        for finding in document.findings {
            *by_rule.entry(finding.slug.clone()).or_default() += 1;
            all.push((repository.display().to_string(), finding));
        }
    }
    println!(
        "\n{} findings in {added_in_all} added lines: {:.2} per 1,000",
        all.len(),
        all.len() as f64 * 1000.0 / added_in_all.max(1) as f64
    );
    for (rule, count) in by_rule {
        println!("{count:>6} {rule}");
    }
    // Sorted by key, which is a hash: an order that has nothing to do with the content, and is the same every time.
    all.sort_by(|a, b| a.1.key.cmp(&b.1.key));
    for (repository, finding) in all.iter().take(sample) {
        println!(
            "\n{repository} {}:{} {} {}\n{}",
            finding.file, finding.line_start, finding.p_code, finding.slug, finding.evidence
        );
    }
    Ok(())
}
