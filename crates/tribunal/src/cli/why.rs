//! `why`.

use clap::{Args, ValueEnum};

pub const EXIT_CODES: &str = "Exit codes:
  0    each of them could be merged now, or none is open
  1    a person is needed for at least one
  2    wrong usage or configuration
  5    the forge or its credentials failed
  75   only time is needed: checks are running, or the forge is not ready; try again later";

#[derive(Debug, Args)]
pub struct WhyArgs {
    /// Pull requests: a number, owner/name#number, an address, or @ for the current branch's. Without any: all that are open
    #[arg(value_name = "PR")]
    pub pulls: Vec<String>,
    /// Judge as if merging were turned on
    #[arg(long)]
    pub merge: bool,
    #[arg(long, value_enum, default_value_t = WhyFormat::Text)]
    pub format: WhyFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhyFormat {
    Text,
    Json,
    Markdown,
}
