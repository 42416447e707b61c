//! Development tasks. `cargo xtask test` is what the README tells people to run, and what CI runs.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bench;
mod contract;
mod corpus;
mod docs;
mod layers;
mod peers;
mod picture;
mod test;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::Command;

#[derive(Parser)]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold before a change lands
    Test,
    /// Print each figure that was promised, next to its limit
    Bench {
        /// Only these
        only: Option<bench::Part>,
    },
    /// Used by `bench`: milliseconds to parse and anchor a repository's large diff
    #[command(hide = true)]
    ParseTime { repository: PathBuf },
    /// Used by `bench`: milliseconds to put a large batch in order
    #[command(hide = true)]
    OrderTime,
    /// Used by `bench`: watches many pull requests of one project
    #[command(hide = true)]
    WatchMany { origin: String, token: String },
    /// Fetch or build what tests talk to: agent CLIs, a small model, a Gitea server
    Peers {
        /// Also build the Gitea server's web pages, for looking at it in a browser
        #[arg(long)]
        web: bool,
    },
    /// Fail on a dependency that the design forbids
    Layers,
    /// Generate the reference pages and schemas
    Docs {
        /// Fail if they are not up to date instead of writing them
        #[arg(long)]
        check: bool,
    },
    /// Check that every contract rule names a test that exists, or says why not
    Contract,
    /// Draw the README's terminal picture from a real run of the demonstration
    Picture {
        /// Instead, show a reviewed pull request on a real Gitea server in a browser
        #[arg(long)]
        forge: bool,
    },
    /// Run the built-in rules over repositories whose branch `release` is compared with `main`
    Corpus {
        repositories: Vec<PathBuf>,
        /// Print this many findings, chosen evenly
        #[arg(long, default_value_t = 0)]
        sample: usize,
    },
}

fn main() -> Result<()> {
    match Xtask::parse().task {
        Task::Test => test::run(),
        Task::Bench { only } => bench::run(only),
        Task::ParseTime { repository } => bench::parse_time(&repository).map(|time| println!("{time}")),
        Task::OrderTime => bench::order_time().map(|time| println!("{time}")),
        Task::WatchMany { origin, token } => bench::watch_many(&origin, &token),
        Task::Peers { web: false } => peers::run(),
        Task::Peers { web: true } => peers::gitea::build_web(),
        Task::Layers => layers::run(),
        Task::Docs { check } => docs::run(check),
        Task::Contract => contract::run(),
        Task::Picture { forge: false } => picture::run(),
        Task::Picture { forge: true } => picture::run_forge(),
        Task::Corpus { repositories, sample } => corpus::run(&repositories, sample),
    }
}

/// The repository's root, wherever the task is run from.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// `cargo run` tells its program by the environment what it is. A cargo that is started in there takes that for news, and builds
/// crates again whose build looks at it, with everything that depends on them.
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    let is_told = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_told)) {
        command.env_remove(name);
    }
    command
}

/// Runs a program at the root and fails with it.
fn run(program: &str, args: &[&str]) -> Result<()> {
    eprintln!("\n$ {program} {}", args.join(" "));
    let status =
        command(program).args(args).current_dir(root()).status().with_context(|| format!("{program} cannot be started"))?;
    if !status.success() {
        bail!("{program} {} ended with {status}", args.join(" "));
    }
    Ok(())
}
