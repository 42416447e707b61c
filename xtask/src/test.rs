//! Everything that must hold: form, layers, documents, then the tests.

use crate::{contract, docs, layers, peers};
use anyhow::{Result, anyhow};

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
    // Half of fetching is waiting, and either build leaves a core idle now and then: together they take less.
    std::thread::scope(|scope| {
        let peers = scope.spawn(peers::run);
        let built = run_all(&[
            ("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
            ("cargo", &["test", "--workspace", "--no-run"]),
        ]);
        let fetched = peers.join().map_err(|_| anyhow!("the peers could not be fetched: see above"))?;
        built.and(fetched)
    })?;
    crate::run("cargo", &["test", "--workspace"])
}
