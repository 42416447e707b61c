//! `tribunal index` and `tribunal search`

use super::ListFormat;
use clap::{Args, ValueEnum};
use tribunal_core::library::page::Kind;

#[derive(Debug, Args)]
pub struct IndexArgs {
    /// Only this kind; may be given several times
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: Vec<KindArg>,
    /// The module of [library.modules] whose records count
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Throw the index away and read everything anew
    #[arg(long)]
    pub rebuild: bool,
    /// Leave the forge alone
    #[arg(long)]
    pub no_issues: bool,
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub format: ListFormat,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for: words, or a sentence
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only this kind; may be given several times
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: Vec<KindArg>,
    /// The module of [library.modules] whose records count
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// Hits at most
    #[arg(long, short = 'n', default_value_t = 8)]
    pub limit: usize,
    /// Hits below are not shown, 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = 0.3)]
    pub min_score: f64,
    /// Ask the index as it is, without bringing it up to date
    #[arg(long)]
    pub no_refresh: bool,
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    Decision,
    Spec,
    Issue,
    Code,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Kind {
        match kind {
            KindArg::Decision => Kind::Decision,
            KindArg::Spec => Kind::Spec,
            KindArg::Issue => Kind::Issue,
            KindArg::Code => Kind::Code,
        }
    }
}

/// Those that were named, or all of them.
pub fn kinds(named: &[KindArg]) -> Vec<Kind> {
    if named.is_empty() { Kind::ALL.to_vec() } else { named.iter().map(|kind| Kind::from(*kind)).collect() }
}
