//! Everything that must hold: form, layers, contract; then one build of everything, which is linted while it is compiled; then the tests.

mod binaries;

use crate::{contract, layers, peers};
use anyhow::{Context as _, Result, anyhow, bail};
use binaries::{Binary, run_binaries};
use serde_json::Value;
use std::process::Stdio;

pub fn run() -> Result<()> {
    check_form()?;
    // Half of fetching is waiting, and compiling leaves a core idle now and then: together they take less.
    let built = std::thread::scope(|scope| {
        let peers = scope.spawn(peers::run);
        let built = build(&["--workspace"]);
        let fetched = peers.join().map_err(|_| anyhow!("the peers could not be fetched: see above"))?;
        built.and_then(|built| fetched.map(|()| built))
    })?;
    run_binaries(&built, &[])
}

/// What a person waits for between two edits: nothing that starts a server, and a tenth of the simulations.
pub fn run_quick() -> Result<()> {
    check_form()?;
    let built = build(&["--workspace", "--lib", "--test", "loops", "--test", "settles", "--test", "sweeps"])?;
    run_binaries(&built, &[("TRIBUNAL_SIMULATE", "10"), ("PROPTEST_CASES", "32")])
}

/// What needs no compiler; a second or two.
fn check_form() -> Result<()> {
    xtask::run("cargo", &["fmt", "--all", "--check"])?;
    layers::run()?;
    contract::run()
}

/// One build: clippy's driver is the compiler with lints, so that nothing has to be checked first and then compiled again.
fn build(what: &[&str]) -> Result<Vec<Binary>> {
    eprintln!("\n$ cargo test --no-run {} (linted)", what.join(" "));
    let output = xtask::command("cargo")
        .args(["test", "--no-run", "--message-format=json-render-diagnostics"])
        .args(what)
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        // How `cargo clippy -- --deny warnings` passes its arguments on.
        .env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")
        .stderr(Stdio::inherit())
        .output()
        .context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("the build or its lints failed: see above");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built: Vec<Binary> = messages.filter_map(|message| Binary::of(&message)).collect();
    if built.is_empty() {
        bail!("cargo built no tests");
    }
    built.sort();
    Ok(built)
}
