//! Everything that must hold: form, layers, contract; then one build of everything, which is linted while it is compiled; then the tests.

mod binaries;
mod memory_folder;

use crate::{contract, layers, peers};
use anyhow::{Context as _, Result, anyhow, bail};
use binaries::{Binary, run_binaries};
use serde_json::Value;
use std::process::{Command, Stdio};

pub fn run() -> Result<()> {
    check_form()?;
    // Half of fetching is waiting, and compiling leaves a core idle now and then: together they take less.
    let built = std::thread::scope(|scope| {
        let peers = scope.spawn(peers::run);
        let built = build(&["--workspace"]);
        let fetched = peers.join().map_err(|_| anyhow!("the peers could not be fetched: see above"))?;
        built.and_then(|built| fetched.map(|()| built))
    })?;
    let folder = memory_folder::make();
    let folder = folder.as_ref().and_then(|folder| folder.path().to_str());
    let variables: Vec<(&str, &str)> = folder.map(|folder| ("TRIBUNAL_TEST_MEMORY", folder)).into_iter().collect();
    // Beside them, what the documentation shows.
    std::thread::scope(|scope| {
        let examples = scope.spawn(run_examples);
        let ran = run_binaries(&built, &variables, &[]);
        let examples = examples.join().map_err(|_| anyhow!("the examples of the documentation could not be run: see above"))?;
        ran.and(examples)
    })
}

fn run_examples() -> Result<()> {
    let output = cargo(&["test", "--quiet", "--doc", "--workspace"]).output().context("cargo cannot be started")?;
    if !output.status.success() {
        eprintln!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        bail!("an example of the documentation failed");
    }
    Ok(())
}

/// What a person waits for between two edits: nothing that starts a server or an agent's CLI, no exploration
/// of all orders of two machines' requests, and a tenth of the simulations.
pub fn run_quick() -> Result<()> {
    check_form()?;
    let built = build(&["--workspace", "--lib", "--test", "loops", "--test", "settles", "--test", "sweeps"])?;
    let tenth = [("LOOP_STEPS", "100000"), ("SETTLE_STEPS", "30000"), ("SWEEP_STEPS", "30000"), ("PROPTEST_CASES", "32")];
    run_binaries(&built, &tenth, &["cli::weakened", "whichever_request_comes_first"])
}

/// What needs no compiler; a second or two.
fn check_form() -> Result<()> {
    xtask::run("cargo", &["fmt", "--all", "--check"])?;
    layers::run()?;
    contract::run()
}

/// Clippy's driver is the compiler with lints: what it compiles need not be checked by a second build. Every build uses it, so that
/// none has to be made again for another.
fn cargo(args: &[&str]) -> Command {
    let mut command = xtask::command("cargo");
    command.args(args).env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    // How `cargo clippy -- --deny warnings` passes its arguments on.
    command.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    command
}

fn build(what: &[&str]) -> Result<Vec<Binary>> {
    eprintln!("\n$ cargo test --no-run {} (linted)", what.join(" "));
    let output = cargo(&["test", "--no-run", "--message-format=json-render-diagnostics"])
        .args(what)
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
