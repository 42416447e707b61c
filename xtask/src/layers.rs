//! Who may depend on whom (design section 4). A forbidden edge fails: what thinks cannot post, and the core stays pure.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use xtask::root;

/// Crate → the crates of ours it may use.
const OURS: [(&str, &[&str]); 8] = [
    ("tribunal-core", &[]),
    ("tribunal-store", &[]),
    ("tribunal-programs", &["tribunal-core"]),
    ("tribunal-context", &["tribunal-core"]),
    ("tribunal-forge", &["tribunal-core", "tribunal-programs"]),
    // Never the forge: what thinks cannot post, push or merge, by construction.
    ("tribunal-agent", &["tribunal-context", "tribunal-core", "tribunal-programs"]),
    (
        "tribunal-engine",
        &["tribunal-agent", "tribunal-context", "tribunal-core", "tribunal-forge", "tribunal-programs", "tribunal-store"],
    ),
    (
        "tribunal",
        &["tribunal-agent", "tribunal-core", "tribunal-engine", "tribunal-forge", "tribunal-programs", "tribunal-store"],
    ),
];

/// All that the core may use from outside: data, errors, small pure parsers.
const CORE_MAY_USE: [&str; 15] = [
    "base64",
    "diffy",
    "globset",
    "hmac",
    "miniz_oxide",
    "pulldown-cmark",
    "regex",
    "schemars",
    "serde",
    "serde-saphyr",
    "serde_json",
    "sha2",
    "thiserror",
    "toml",
    "whatlang",
];

/// Each file of SQLite has one crate that knows its tables: what reaches it, by whom it may be used, for what.
const SQL: [(&str, &str, &str); 2] =
    [("sqlx", "tribunal-store", "the ledger"), ("rusqlite", "tribunal-context", "the index of what a project knows")];

/// Words that have no place in pure code.
const IMPURE: [&str; 9] =
    ["std::fs", "std::env::", "std::net", "std::process", "SystemTime", "Instant::now", "HashMap", "HashSet", "std::thread"];

pub fn run() -> Result<()> {
    let metadata =
        xtask::command("cargo").args(["metadata", "--format-version", "1", "--no-deps"]).current_dir(root()).output()?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout).context("cargo metadata")?;
    let mut wrong = Vec::new();
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["kind"].is_null() {
                edges.entry(name.clone()).or_default().insert(dependency["name"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    for (name, allowed) in OURS {
        for dependency in edges.get(name).into_iter().flatten().filter(|dependency| dependency.starts_with("tribunal")) {
            if !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("{name} may not depend on {dependency}"));
            }
        }
    }
    for dependency in
        edges.get("tribunal-core").into_iter().flatten().filter(|dependency| !CORE_MAY_USE.contains(&dependency.as_str()))
    {
        wrong.push(format!("tribunal-core may not depend on {dependency}"));
    }
    for (name, dependencies) in &edges {
        for (sql, owner, what) in SQL {
            if dependencies.contains(sql) && name != owner {
                wrong.push(format!("{name} may not depend on {sql}: it is for {what}, in {owner}"));
            }
        }
    }
    wrong.extend(impure_words()?);
    if !wrong.is_empty() {
        bail!("forbidden edges:\n  {}", wrong.join("\n  "));
    }
    eprintln!("layers: {} crates, no forbidden edge", OURS.len());
    Ok(())
}

fn impure_words() -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut folders = vec![root().join("crates/tribunal-core/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
                if let Some(word) = IMPURE.iter().find(|word| line.contains(*word)) {
                    wrong.push(format!("{}:{}: `{word}` in the pure core", path.display(), number + 1));
                }
            }
        }
    }
    Ok(wrong)
}
