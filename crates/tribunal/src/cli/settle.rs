//! `settle`.

use super::loops::LoopFormat;
use clap::Args;
use std::path::PathBuf;
use tribunal_core::policy::settle::Level;
use tribunal_core::policy::span::Span;

pub const EXIT_CODES: &str = "Exit codes:
  0    every task is done, under way, or waits for a person who knows of it
  1    a person is needed: a task was escalated, or one is due at level 0
  2    wrong usage, configuration or plan
  3    a review could not do its work
  4    a budget stopped it
  5    the forge or its credentials failed
  75   not yet: a quota, checks that run, or the time to wait ran out; try again later
  130  interrupted; the same command goes on";

#[derive(Debug, Args)]
pub struct SettleArgs {
    /// The plan; the newest .hall-cache/plans/*/plan.json unless given
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// 0 lists what is due, 1 reviews, 2 also merges what is clean; the plan remembers it
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<Level>,
    /// Settle a plan at another level than it has been settled at so far
    #[arg(long, short)]
    pub yes: bool,
    /// Read the plan and the forge, print what would be done, and write nothing at all
    #[arg(long, conflicts_with = "watch")]
    pub dry_run: bool,
    /// Stay until every task is at its end
    #[arg(long)]
    pub watch: bool,
    /// Between two looks of --watch, such as 2m
    #[arg(long, value_name = "TIME", requires = "watch")]
    pub poll: Option<Span>,
    /// How long --watch may take, such as 8h
    #[arg(long, value_name = "TIME", requires = "watch")]
    pub total: Option<Span>,
    /// Where the plan's repository is, as its address or owner/name; that of this checkout unless given
    #[arg(long, value_name = "REPOSITORY")]
    pub repo: Option<String>,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = LoopFormat::Text)]
    pub format: LoopFormat,
    /// Write the report to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
