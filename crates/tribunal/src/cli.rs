//! What may be typed.

pub mod library;
pub mod loops;
pub mod pr;
pub mod settle;
pub mod sweep;
pub mod why;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes:
  0    reviewed, and nothing at or above the fail level is open
  1    findings at or above --fail-level (default P0)
  2    wrong usage or configuration, or nothing to review
  3    incomplete: a reviewer failed, or a file could not be read
  4    a budget stopped it
  5    the forge or its credentials failed
  75   not yet: try the same command later
  130  interrupted";

const TRUST_HELP: &str = "\
A repository's configuration can name programs to run, variables and keys to pass on, and hosts to contact. None of it counts until
you trust it, the base's version included; its seats end as `not-run: not trusted` and the review is incomplete. What you trust is
recorded by hash in your own state folder, for this repository, and ends with the next change of these values.

In CI, TRIBUNAL_TRUST=base trusts what the base says, and never what the change says.";

/// A panel of independent reviewers for every change.
#[derive(Debug, Parser)]
#[command(name = "tribunal", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Colour: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto)]
    pub color: Colour,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Review a change: the current branch, what is staged, a commit, a range, or a diff
    #[command(after_help = EXIT_CODES)]
    Review(Box<ReviewArgs>),
    /// Post a review that was made elsewhere with --no-publish
    Publish(PublishArgs),
    /// Say that a finding is known and accepted, and why
    Dismiss(DismissArgs),
    /// Stay with a pull request and have what reviewers say fixed and answered, until a reason to stop
    #[command(after_help = loops::EXIT_CODES)]
    Watch(Box<loops::LoopArgs>),
    /// Answer a reviewer's feedback: wait until it has settled, assess, fix, reply, ask again
    #[command(after_help = loops::EXIT_CODES)]
    Respond(Box<loops::LoopArgs>),
    /// Wait until review activity on a pull request has settled, and print it
    #[command(after_help = loops::AWAIT_EXIT_CODES)]
    Await(loops::AwaitArgs),
    /// Review a set of pull requests, have what was asked for answered, and merge what is approved, in order
    #[command(after_help = sweep::EXIT_CODES)]
    Sweep(Box<sweep::SweepArgs>),
    /// Questions of a sweep that only a person may answer
    Gate {
        #[command(subcommand)]
        command: sweep::GateCommand,
    },
    /// Settle the tasks of a plan: a verdict on each pull request, one refinement, then merge or a person
    #[command(after_help = settle::EXIT_CODES)]
    Settle(Box<settle::SettleArgs>),
    /// Say what keeps pull requests from being merged, condition by condition
    #[command(after_help = why::EXIT_CODES)]
    Why(why::WhyArgs),
    /// Read decision records, specs, issues and code into the index
    Index(library::IndexArgs),
    /// Look something up in decision records, specs, issues and code
    Search(library::SearchArgs),
    /// Pull requests and issues of this repository, without a server
    #[command(after_help = pr::EXIT_CODES)]
    Pr {
        #[command(subcommand)]
        command: Box<pr::PrCommand>,
    },
    /// List earlier reviews of this repository
    History {
        /// How many, newest first
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Show an earlier review again
    Show {
        /// A run's id or its beginning, or `last`
        #[arg(default_value = "last")]
        run: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Run an earlier review's recorded inputs again and compare the result byte for byte
    Replay {
        #[arg(default_value = "last")]
        run: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Which findings appear and vanish between two reviews
    Compare {
        before: String,
        after: String,
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Write a small commented configuration for this repository
    Init {
        /// Print it instead of writing it
        #[arg(long)]
        dry_run: bool,
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Check the set-up and say what is missing
    Doctor,
    /// List the agents that are configured and those found on this machine
    Agents {
        #[command(subcommand)]
        command: Option<AgentsCommand>,
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// What agents have cost, by month, change, run or agent
    Spend {
        #[arg(long, value_enum, default_value_t = SpendArg::Month)]
        by: SpendArg,
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Configuration
    Config {
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Trust what this repository's configuration runs, passes on and contacts, and this checkout's own version of it
    #[command(after_help = TRUST_HELP)]
    Trust {
        /// A pull request whose base is to be trusted: a number, owner/name#number or an address. Default: this checkout
        pull: Option<String>,
        /// Trust what the base says, and leave alone how this checkout differs from it
        #[arg(long, conflicts_with = "pull")]
        base: bool,
        /// Show it and record nothing
        #[arg(long)]
        dry_run: bool,
        /// Record without asking
        #[arg(long, short)]
        yes: bool,
    },
    /// Explain a rule, a category, a role, a priority or an error code
    Explain { name: String },
    /// Built-in rules
    Rules {
        #[command(subcommand)]
        command: RulesCommand,
    },
    /// Make a throw-away repository with planted defects, review it, show the result, leave nothing behind
    Demo {
        /// Sweep a fleet of pull requests instead: reviewed, mended and merged in order
        #[arg(long, conflicts_with_all = ["format", "output"])]
        fleet: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print a shell's completion script
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    Man,
    /// Print a published JSON schema
    Schema {
        #[arg(value_enum)]
        name: SchemaName,
    },
}

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Ask an agent one tiny question, and show what it took
    Test { name: String },
    /// What became of what each reviewer reported: fixed, dismissed, refuted, still open
    Record {
        #[arg(long, value_enum, default_value_t = RecordArg::Agent)]
        by: RecordArg,
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordArg {
    Agent,
    /// Each rule of the built-in rules and of linters by itself
    Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpendArg {
    Month,
    Change,
    Run,
    Agent,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Every value in force and where it came from
    Show {
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the rules
    List {
        #[arg(long, value_enum, default_value_t = ListFormat::Text)]
        format: ListFormat,
    },
    /// Run rule files' own examples
    Test {
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    Config,
    Brief,
    Report,
    Document,
    Rule,
    Role,
    Plan,
    SweepReport,
    SweepLock,
    SweepBudget,
    SweepHistory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Sarif,
    Rdjson,
    Markdown,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the result to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Incremental where that is safe
    Auto,
    Full,
    Incremental,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailLevelArg {
    #[value(name = "P0", alias = "p0")]
    P0,
    #[value(name = "P1", alias = "p1")]
    P1,
    #[value(name = "P2", alias = "p2")]
    P2,
    #[value(name = "P3", alias = "p3")]
    P3,
    Never,
}

#[derive(Debug, Args)]
pub struct PublishArgs {
    /// The JSON document that `tribunal review PR --no-publish --format json --output FILE` wrote
    pub receipt: PathBuf,
    /// The pull request it must be of; without one, the open pull request of the branch that is checked out
    #[arg(value_name = "PR")]
    pub pull: Option<String>,
    /// Print exactly what would be posted instead of posting it
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct DismissArgs {
    /// The finding's name, such as F3
    pub finding: String,
    /// The pull request; without one the last review of this checkout is meant
    #[arg(value_name = "PR")]
    pub pull: Option<String>,
    /// Why it does not matter; shown with the finding
    #[arg(long)]
    pub reason: String,
    /// Say what would be done, and record and post nothing
    #[arg(long, requires = "pull")]
    pub dry_run: bool,
}

impl ReviewArgs {
    /// As if nothing had been typed.
    pub fn plain() -> Self {
        ReviewArgs {
            pull: None,
            no_publish: false,
            base: None,
            committed: false,
            include_untracked: Vec::new(),
            staged: false,
            commit: None,
            range: None,
            diff_file: None,
            stdin: false,
            mode: ModeArg::Auto,
            spec: Vec::new(),
            test_direction: None,
            context: None,
            fail_level: None,
            skip: Vec::new(),
            resume: None,
            agent: None,
            budget: None,
            record: false,
            play: None,
            dry_run: false,
            output: OutputArgs { format: Format::Text, output: None },
        }
    }
}

#[derive(Debug, Args)]
#[group(skip)]
pub struct ReviewArgs {
    /// A pull request: its number, owner/name#number, its address, or @ for the current branch's. Without one the change in this
    /// checkout is reviewed, and nothing is posted
    #[arg(value_name = "PR", conflicts_with_all = ["base", "committed", "staged", "commit", "range", "diff_file", "stdin", "resume"])]
    pub pull: Option<String>,
    /// Review the pull request, but post nothing
    #[arg(long, requires = "pull")]
    pub no_publish: bool,
    /// Compare with this branch or commit instead of the default branch
    #[arg(long, value_name = "REF", conflicts_with_all = ["staged", "commit", "range", "diff_file", "stdin"])]
    pub base: Option<String>,
    /// Leave uncommitted work out
    #[arg(long, conflicts_with_all = ["staged", "commit", "range", "diff_file", "stdin"])]
    pub committed: bool,
    /// Review this untracked file or folder too, although it is named or looks like a secret, or the base ignores it; may be
    /// given again
    #[arg(long, value_name = "PATH", conflicts_with_all = ["committed", "staged", "commit", "range", "diff_file", "stdin", "pull"])]
    pub include_untracked: Vec<PathBuf>,
    /// Review what is staged
    #[arg(long, conflicts_with_all = ["commit", "range", "diff_file", "stdin"])]
    pub staged: bool,
    /// Review one commit
    #[arg(long, value_name = "SHA", conflicts_with_all = ["range", "diff_file", "stdin"])]
    pub commit: Option<String>,
    /// Review a range: A..B compares the two, A...B what B adds since they parted
    #[arg(long, value_name = "A..B", conflicts_with_all = ["diff_file", "stdin"])]
    pub range: Option<String>,
    /// Review a diff in a file
    #[arg(long, value_name = "FILE", conflicts_with = "stdin")]
    pub diff_file: Option<PathBuf>,
    /// Review a diff on standard input
    #[arg(long)]
    pub stdin: bool,
    /// How far back to look: auto is incremental where that is safe
    #[arg(long, value_enum, default_value_t = ModeArg::Auto)]
    pub mode: ModeArg,
    /// A spec to hold the change against: a file, or text
    #[arg(long, value_name = "PATH|TEXT")]
    pub spec: Vec<String>,
    /// How coverage is judged: "integration required; location=tests/api.rs; focus=expired tokens"
    #[arg(long, value_name = "TEXT")]
    pub test_direction: Option<String>,
    /// What reviewers should know, and severity directives: a file, or text
    #[arg(long, value_name = "PATH|TEXT")]
    pub context: Option<String>,
    /// Fail (exit 1) on findings at or above this
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub fail_level: Option<FailLevelArg>,
    /// Leave these files out (glob); may be given again
    #[arg(long, value_name = "GLOB")]
    pub skip: Vec<String>,
    /// Go on with a run that was killed: the newest of this repository, or the one named
    // What a run reads and how it judges was settled when it began.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = [
        "base", "committed", "staged", "commit", "range", "diff_file", "stdin", "mode", "spec", "test_direction", "context",
        "fail_level", "skip", "include_untracked",
    ])]
    pub resume: Option<String>,
    /// Have this agent play every role, whatever [panel] says
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub agent: Option<String>,
    /// Spend at most this much on this run
    #[arg(long, value_name = "DOLLARS", conflicts_with = "resume")]
    pub budget: Option<f64>,
    /// Keep every question beside its answer in the ledger; answers are kept anyway
    #[arg(long)]
    pub record: bool,
    /// Give the answers that agents gave in an earlier run instead of asking them
    #[arg(long, value_name = "RUN", conflicts_with = "resume")]
    pub play: Option<String>,
    /// Say what would be reviewed, by whom and what it may cost, and stop. For a pull request: review it, and print exactly what
    /// would be posted instead of posting it
    #[arg(long, conflicts_with = "resume")]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}
