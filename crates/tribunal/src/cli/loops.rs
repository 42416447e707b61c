//! `watch`, `respond` and `await`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tribunal_core::policy::span::Span;

pub const EXIT_CODES: &str = "Exit codes:
  0    it came to a good end: clean, merged or closed, or only light remarks are left
  1    a person is needed: something is open that was not or may not be fixed
  2    wrong usage or configuration
  3    it could not do its work
  4    a budget stopped it
  5    blocked: the forge, its credentials or the repository's state
  75   nothing more happened within the time to wait; try again later
  130  interrupted; the same command goes on";

pub const AWAIT_EXIT_CODES: &str = "Exit codes:
  0    there was activity, and it has settled; it is printed
  2    wrong usage or configuration
  5    the forge or its credentials failed
  75   the time ran out; what was collected is printed
  130  interrupted";

/// How long is waited. The same flags everywhere; [wait] in the configuration has the same names.
#[derive(Debug, Args)]
pub struct WaitArgs {
    /// Between two looks, such as 30s
    #[arg(long, value_name = "TIME")]
    pub poll: Option<Span>,
    /// How long after the first activity what else comes is waited for, such as 60s
    #[arg(long, value_name = "TIME")]
    pub settle: Option<Span>,
    /// How long nothing may happen, such as 20m
    #[arg(long, value_name = "TIME")]
    pub idle: Option<Span>,
    /// How long the whole may take, such as 2h
    #[arg(long, value_name = "TIME")]
    pub total: Option<Span>,
}

#[derive(Debug, Args)]
pub struct LoopArgs {
    /// The pull request: its number, owner/name#number, its address, or @ for the current branch's
    #[arg(value_name = "PR", default_value = "@")]
    pub pull: String,
    /// Make one pass over what is there, and end
    #[arg(long)]
    pub once: bool,
    /// Make one pass, and print what would be pushed and said instead of doing it. Agents are asked, and cost what they cost
    #[arg(long)]
    pub dry_run: bool,
    /// Whose words count: trusted (who may write here, and registered bots), all, people, automated, a known reviewer (gemini, codex, copilot, coderabbit, claude), or a login
    #[arg(long, value_name = "WHO")]
    pub reviewer: Option<String>,
    /// At most so many cycles in which something was resolved
    #[arg(long, value_name = "N")]
    pub cycles: Option<u32>,
    /// The agent that makes fixes
    #[arg(long, value_name = "AGENT")]
    pub fixer: Option<String>,
    /// The agent that says what to do about each item; the fixer unless given
    #[arg(long, value_name = "AGENT")]
    pub assessor: Option<String>,
    /// The agent that checks that; another one than the assessor
    #[arg(long, value_name = "AGENT")]
    pub checker: Option<String>,
    /// A SARIF file whose results are feedback too, read anew at each look; may be given again
    #[arg(long, value_name = "FILE")]
    pub sarif: Vec<PathBuf>,
    /// The branch that the pull request must be against
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// Post the report on the pull request too
    #[arg(long)]
    pub comment: bool,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = LoopFormat::Text)]
    pub format: LoopFormat,
    /// Write the report to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl LoopArgs {
    /// One pass, as if it had been typed for this pull request.
    pub fn single_pass(pull: u64, reviewer: &str, fixer: Option<String>) -> Self {
        LoopArgs {
            pull: pull.to_string(),
            once: true,
            dry_run: false,
            reviewer: Some(reviewer.to_owned()),
            cycles: None,
            fixer,
            assessor: None,
            checker: None,
            sarif: Vec::new(),
            base: None,
            wait: WaitArgs { poll: None, settle: None, idle: None, total: None },
            comment: false,
            format: LoopFormat::Text,
            output: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoopFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Debug, Args)]
pub struct AwaitArgs {
    /// The pull request: its number, owner/name#number, its address, or @ for the current branch's
    #[arg(value_name = "PR", default_value = "@")]
    pub pull: String,
    /// Who is waited for: gemini, codex, copilot, coderabbit, claude, a login, trusted, people, automated or all
    #[arg(long, value_name = "WHO", default_value = "all")]
    pub reviewer: String,
    #[command(flatten)]
    pub wait: WaitArgs,
    /// How long at most; the same as --total
    #[arg(long, value_name = "TIME", conflicts_with = "total")]
    pub timeout: Option<Span>,
    /// Only what is newer than this moment counts, such as 2026-01-31T12:00:00Z. Open threads always count
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub after: Option<u64>,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

fn moment(text: &str) -> Result<u64, String> {
    tribunal_core::calendar::millis_of(text)
        .ok_or_else(|| "write it as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00".to_owned())
}
