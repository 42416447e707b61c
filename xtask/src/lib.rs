//! What development tasks share: where the repository is, and how programs are started in it.

use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// The repository's root, wherever a task is run from.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// Where what tests talk to is found; a link to the cache that [`crate`]'s `peers` task fills.
pub fn peers_folder() -> PathBuf {
    root().join("target/peers")
}

/// `cargo run` tells its program by the environment what it is. A cargo that is started in there takes that for news, and builds
/// crates again whose build looks at it, with everything that depends on them.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let is_told = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_told)) {
        command.env_remove(name);
    }
    command.current_dir(root());
    command
}

/// Runs a program at the root and fails with it.
pub fn run(program: &str, args: &[&str]) -> Result<()> {
    eprintln!("\n$ {program} {}", args.join(" "));
    let status = command(program).args(args).status().with_context(|| format!("{program} cannot be started"))?;
    if !status.success() {
        bail!("{program} {} ended with {status}", args.join(" "));
    }
    Ok(())
}
