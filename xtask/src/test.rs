//! Everything that must hold: form, layers, documents, then the tests.

use crate::{contract, docs, layers};
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
    run_all(&[
        ("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
        ("cargo", &["test", "--workspace"]),
    ])
}
