//! Everything that must hold: form, layers, documents, then the tests.

use crate::{contract, docs, layers, peers};
use anyhow::Result;

pub fn run_all(steps: &[(&str, &[&str])]) -> Result<()> {
    for (program, args) in steps {
        crate::run(program, args)?;
    }
    Ok(())
}

pub fn run_checks() -> Result<()> {
    layers::run()?;
    contract::run()?;
    docs::run(true)
}

pub fn run() -> Result<()> {
    crate::run("cargo", &["fmt", "--all", "--check"])?;
    run_checks()?;
    peers::run()?;
    run_all(&[
        ("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
        ("cargo", &["test", "--workspace"]),
    ])
}
