//! Development tasks that need the product itself, run as `cargo xtask bench` and so on.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bench;
mod corpus;
mod docs;
mod picture;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Print each figure that was promised, next to its limit
    Bench {
        /// Only these
        only: Option<bench::Part>,
        /// For `voices`: the recorded reviews; by default `../shared/data/panel-recordings.json`. For `context`: a folder with a cases.txt
        recordings: Option<PathBuf>,
    },
    /// Used by `bench`: milliseconds to parse and anchor a repository's large diff
    #[command(hide = true)]
    ParseTime { repository: PathBuf },
    /// Used by `bench`: milliseconds to put a large batch in order
    #[command(hide = true)]
    OrderTime,
    /// Used by `bench`: groups recorded remarks by their words, and prints how well and how fast as JSON
    #[command(hide = true)]
    MeasureVoices { recordings: PathBuf },
    /// Used by `bench`: watches many pull requests of one project
    #[command(hide = true)]
    WatchMany { origin: String, token: String },
    /// Generate the reference pages and schemas
    Docs {
        /// Fail if they are not up to date instead of writing them
        #[arg(long)]
        check: bool,
    },
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
        Task::Bench { only, recordings } => bench::run(only, recordings),
        Task::ParseTime { repository } => bench::parse_time(&repository).map(|time| println!("{time}")),
        Task::OrderTime => bench::order_time().map(|time| println!("{time}")),
        Task::MeasureVoices { recordings } => bench::measure_voices(&recordings).map(|figures| println!("{figures}")),
        Task::WatchMany { origin, token } => bench::watch_many(&origin, &token),
        Task::Docs { check } => docs::run(check),
        Task::Picture { forge: false } => picture::run(),
        Task::Picture { forge: true } => picture::run_forge(),
        Task::Corpus { repositories, sample } => corpus::run(&repositories, sample),
    }
}
