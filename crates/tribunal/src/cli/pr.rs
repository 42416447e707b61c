//! What may be typed after `tribunal pr`.

use super::ListFormat;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use std::path::PathBuf;

pub const EXIT_CODES: &str = "Exit codes:
  0    done
  1    a person is needed: a conflict, uncommitted work in the way, another head than named
  2    wrong usage: an unknown number, branch, thread or line, not open, no identity
  3    git or the ledger failed
  75   not yet: somebody else was faster; run the same command again";

#[derive(Debug, Subcommand)]
pub enum PrCommand {
    /// Open a pull request for a branch
    Open(OpenArgs),
    /// List pull requests
    List {
        /// Closed and merged ones too
        #[arg(long)]
        all: bool,
        /// Only those with this label
        #[arg(long)]
        label: Option<String>,
        #[command(flatten)]
        output: ListOutput,
    },
    /// Show a pull request: facts, checks, reviews, threads, comments
    Show {
        #[command(flatten)]
        pull: OnePull,
        #[command(flatten)]
        output: ListOutput,
    },
    /// Comment on a pull request or an issue
    Comment {
        /// The number, or @ for the current branch's
        pull: String,
        /// What to say; - reads it from standard input
        text: String,
        #[command(flatten)]
        dry: Dry,
    },
    /// Review a pull request, with comments on lines
    Review(ReviewPullArgs),
    /// Answer in a thread
    Reply {
        /// The number, or @ for the current branch's
        pull: String,
        /// The thread's id, as `pr show` prints it
        thread: String,
        /// What to say; - reads it from standard input
        text: String,
        #[command(flatten)]
        dry: Dry,
    },
    /// Mark a thread as resolved
    Resolve {
        #[command(flatten)]
        thread: OneThread,
        #[command(flatten)]
        dry: Dry,
    },
    /// Open a resolved thread again
    Unresolve {
        #[command(flatten)]
        thread: OneThread,
        #[command(flatten)]
        dry: Dry,
    },
    /// Record the result of a check at the head of a pull request
    Check {
        /// The number, or @ for the current branch's
        pull: String,
        /// The name of the check; its latest result counts
        name: String,
        #[arg(long, value_enum)]
        state: CheckArg,
        /// One sentence about the result
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        /// Where to read more
        #[arg(long)]
        url: Option<String>,
        /// What it printed, of which the end is kept; - reads it from standard input
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
        #[command(flatten)]
        dry: Dry,
    },
    /// Merge a pull request
    #[command(after_help = EXIT_CODES)]
    Merge(MergeArgs),
    /// Merge the base branch into a pull request's branch
    Update {
        #[command(flatten)]
        pull: OnePull,
        #[command(flatten)]
        dry: Dry,
    },
    /// Close a pull request without merging it
    Close {
        #[command(flatten)]
        pull: OnePull,
        #[command(flatten)]
        dry: Dry,
    },
    /// Open a closed pull request again
    Reopen {
        #[command(flatten)]
        pull: OnePull,
        #[command(flatten)]
        dry: Dry,
    },
    /// Say that a draft is ready to be merged
    Ready {
        #[command(flatten)]
        pull: OnePull,
        #[command(flatten)]
        dry: Dry,
    },
    /// Put a label on a pull request or an issue, or take it off
    Label {
        /// The number, or @ for the current branch's
        pull: String,
        #[arg(value_enum)]
        action: LabelAction,
        label: String,
        #[command(flatten)]
        dry: Dry,
    },
    /// Issues: work that is left for later
    Issue {
        #[command(subcommand)]
        command: IssueCommand,
    },
}

#[derive(Debug, Subcommand)]
pub enum IssueCommand {
    /// Open an issue
    Open {
        #[arg(long)]
        title: String,
        /// What it is about; - reads it from standard input
        #[arg(long, value_name = "TEXT", default_value = "")]
        body: String,
        /// May be given again
        #[arg(long)]
        label: Vec<String>,
        #[command(flatten)]
        dry: Dry,
    },
    /// List issues
    List {
        /// Closed ones too
        #[arg(long)]
        all: bool,
        /// Only those that hold all of these words
        #[arg(long, value_name = "TEXT", default_value = "")]
        words: String,
        #[command(flatten)]
        output: ListOutput,
    },
    /// Show an issue with its comments
    Show {
        number: String,
        #[command(flatten)]
        output: ListOutput,
    },
    /// Close an issue
    Close {
        number: String,
        #[command(flatten)]
        dry: Dry,
    },
    /// Open a closed issue again
    Reopen {
        number: String,
        #[command(flatten)]
        dry: Dry,
    },
}

#[derive(Debug, Clone, Copy, Args)]
pub struct Dry {
    /// Check everything, say what would be done, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct ListOutput {
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub format: ListFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

impl ListOutput {
    pub fn is_json(self) -> bool {
        self.json || self.format == ListFormat::Json
    }
}

#[derive(Debug, Args)]
pub struct OnePull {
    /// The number, or @ for the current branch's
    #[arg(default_value = "@", value_name = "PULL")]
    pub pull: String,
}

#[derive(Debug, Args)]
pub struct OneThread {
    /// The number, or @ for the current branch's
    pub pull: String,
    /// The thread's id, as `pr show` prints it
    pub thread: String,
}

#[derive(Debug, Args)]
pub struct OpenArgs {
    /// The branch to be merged; the current one if not given
    #[arg(long, value_name = "BRANCH")]
    pub head: Option<String>,
    /// The branch to merge into; the default branch if not given
    #[arg(long, value_name = "BRANCH")]
    pub base: Option<String>,
    /// One line; the commit's subject or the branch's name if not given
    #[arg(long)]
    pub title: Option<String>,
    /// What it is about; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,
    /// Not ready to be merged
    #[arg(long)]
    pub draft: bool,
    #[command(flatten)]
    pub dry: Dry,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("event").required(true).args(["approve", "request_changes", "comment"])))]
pub struct ReviewPullArgs {
    /// The number, or @ for the current branch's
    pub pull: String,
    /// It may be merged as it is
    #[arg(long)]
    pub approve: bool,
    /// It may not be merged as it is; say why
    #[arg(long)]
    pub request_changes: bool,
    /// Neither approve nor ask for changes
    #[arg(long)]
    pub comment: bool,
    /// The review as a whole; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,
    /// A comment on a line, on lines (FILE:3-7) or on a file (FILE); may be given again
    #[arg(long, num_args = 2, value_names = ["FILE:LINE", "TEXT"])]
    pub line: Vec<String>,
    /// The same, with lines of the file as it was before the change
    #[arg(long, num_args = 2, value_names = ["FILE:LINE", "TEXT"])]
    pub old_line: Vec<String>,
    /// The head that was read; refused if it is another one by now
    #[arg(long, value_name = "SHA")]
    pub head: Option<String>,
    #[command(flatten)]
    pub dry: Dry,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    #[command(flatten)]
    pub pull: OnePull,
    #[arg(long, value_enum, default_value_t = MethodArg::Squash)]
    pub method: MethodArg,
    /// The head that was looked at; refused if it is another one by now
    #[arg(long, value_name = "SHA")]
    pub head: Option<String>,
    /// First line of the commit's message
    #[arg(long)]
    pub title: Option<String>,
    /// The rest of it; - reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    #[command(flatten)]
    pub dry: Dry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodArg {
    /// One commit with the whole change
    Squash,
    /// A commit that joins both histories
    Merge,
    /// Each commit on top of the base
    Rebase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckArg {
    Success,
    Failure,
    Pending,
    /// It did not come to a result
    Error,
    /// Left out on purpose
    Skipped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabelAction {
    Add,
    Remove,
}
