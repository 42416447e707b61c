//! `sweep` and `gate`.

use super::ListFormat;
use super::loops::LoopFormat;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use tribunal_core::gate::words::GateId;
use tribunal_core::policy::span::Span;

pub const EXIT_CODES: &str = "Exit codes:
  0    every pull request came to a good end, or there was none
  1    a person is needed: changes are requested, checks fail, something is held back, a gate said stop
  2    wrong usage or configuration
  3    a review or a response could not be made
  4    a ceiling was reached
  5    the forge or its credentials failed
  75   not yet: checks are running, another sweep is at work, a quota; try the same command later
  130  interrupted; what was under way was finished";

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("aim").args(["targets", "spec", "label", "search", "open", "pr"]).multiple(false)))]
pub struct SweepArgs {
    /// A spec (SPEC-0012), or pull requests: numbers, owner/name#number or addresses, all of one project
    #[arg(value_name = "SPEC|PR")]
    pub targets: Vec<String>,
    /// Open pull requests of a spec: those that name it, and those of its issues
    #[arg(long, value_name = "ID")]
    pub spec: Option<String>,
    /// Open pull requests with this label
    #[arg(long)]
    pub label: Option<String>,
    /// Open pull requests whose title, description, branch or author hold all of these words
    #[arg(long, value_name = "WORDS")]
    pub search: Option<String>,
    /// All open pull requests
    #[arg(long)]
    pub open: bool,
    /// How many reviewer-responder pairs work at the same time, at most 4
    #[arg(long, value_name = "N")]
    pub pairs: Option<u32>,
    /// Merge what is approved, in order, where every condition is met
    #[arg(long, conflicts_with = "no_merge")]
    pub merge: bool,
    /// Merge nothing, whatever the configuration says
    #[arg(long)]
    pub no_merge: bool,
    /// Look, and say what would be done; review, post, push and merge nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The module of a workspace whose specs and decisions count
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Ask nothing at the terminal; --merge is the approval of the order
    #[arg(long, short)]
    pub yes: bool,
    /// How long the answer to a question is waited for, such as 10m; then what is safe holds
    #[arg(long, value_name = "TIME")]
    pub answer_within: Option<Span>,
    /// How long running checks are waited for, such as 15m
    #[arg(long, value_name = "TIME")]
    pub checks: Option<Span>,
    /// Sweep again and again, under the ceilings below
    #[arg(long = "loop")]
    pub looping: bool,
    #[command(flatten)]
    pub loops: SweepLoopArgs,
    /// How to print the report
    #[arg(long, value_enum, default_value_t = LoopFormat::Text)]
    pub format: LoopFormat,
    /// Write the report to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// All of them are for the whole run, and need --loop.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --loop")]
pub struct SweepLoopArgs {
    /// Watch this one pull request until it is over
    #[arg(long, value_name = "PR", requires = "looping")]
    pub pr: Option<String>,
    /// Iterations at most. Default 5
    #[arg(long, value_name = "N", requires = "looping")]
    pub max_iterations: Option<u32>,
    /// Different pull requests at most. Default 20
    #[arg(long, value_name = "N", requires = "looping")]
    pub max_prs: Option<u32>,
    /// Minutes at most. Default 60
    #[arg(long, value_name = "N", requires = "looping")]
    pub max_minutes: Option<u64>,
    /// Dollars at most; 0 for no ceiling. Default 25
    #[arg(long, value_name = "DOLLARS", requires = "looping")]
    pub max_dollars: Option<f64>,
    /// When another sweep holds the lock
    #[arg(long, value_enum, requires = "looping")]
    pub lock: Option<LockArg>,
    /// Go on with the counters of the run that wrote the history last
    #[arg(long, requires = "looping")]
    pub resume: bool,
    /// The budget file; the history is written beside it. Default: in the git directory
    #[arg(long, value_name = "PATH", requires = "looping")]
    pub budget_file: Option<PathBuf>,
    /// Between two iterations, such as 5m. Default 5m
    #[arg(long, value_name = "TIME", requires = "looping")]
    pub every: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LockArg {
    /// Leave this iteration out
    Skip,
    /// Wait for it
    Wait,
    /// Ask whether to pass it over
    Force,
}

#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Questions that wait for a person
    List {
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Answer one of them
    Answer(AnswerArgs),
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The question's name, as `gate list` and the comment show it
    #[arg(value_name = "ID")]
    pub gate: GateId,
    /// One of its options
    pub choice: String,
    /// Why; kept with the answer
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// With `raise`: iterations at most
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u32>,
    /// With `raise`: different pull requests at most
    #[arg(long, value_name = "N")]
    pub max_prs: Option<u32>,
    /// With `raise`: minutes at most
    #[arg(long, value_name = "N")]
    pub max_minutes: Option<u64>,
    /// With `raise`: dollars at most
    #[arg(long, value_name = "DOLLARS")]
    pub max_dollars: Option<f64>,
}
