//! The one account of a sweep (SL-92, SL-156, CF-23): each pull request with how it stands, why the run ended, and what it took. The
//! same [`Report`] is shown as text, as Markdown and as JSON; a tick of a loop shows its [`status`] block.

pub mod markdown;
pub mod row;
pub mod status;
pub mod text;

pub use row::{MergeCell, ReviewCell, Row, Status};

use crate::call::money::Money;
use crate::ids::RunId;
use crate::remedy::ladder::Reason;
use crate::remedy::report::Spending;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal sweep report, version 1")]
pub struct Report {
    pub version: u32,
    pub run: RunId,
    /// What was swept, for people.
    pub target: String,
    /// Nothing was reviewed, submitted, pushed or merged.
    pub dry_run: bool,
    /// Why it ended, by the ladder of all loops.
    pub reason: Reason,
    /// The condition that decided, by its own name, and in a line.
    pub stop: String,
    pub explanation: String,
    /// All that held, the first one among them (CF-23).
    pub conditions: Vec<Fired>,
    pub exit_code: u8,
    pub pairs: u32,
    pub pulls: Vec<Row>,
    pub epics: Vec<EpicRow>,
    /// Of a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looped: Option<Looped>,
    pub notices: Vec<String>,
    pub next_steps: Vec<String>,
    pub spend: Spending,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fired {
    pub name: String,
    pub words: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EpicRow {
    pub number: u64,
    pub closed: bool,
    pub words: String,
}

/// SL-156.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Looped {
    pub iterations: u32,
    pub max_iterations: u32,
    /// `--pr N`: pull requests are not counted, comments and merges are shown instead (SL-149).
    pub single: bool,
    pub prs_touched: u32,
    pub max_prs: u32,
    pub comments_pushed: u32,
    pub merges_attempted: u32,
    pub minutes: u64,
    pub max_minutes: u64,
    pub dollars: Money,
    /// Nothing: no ceiling.
    pub max_dollars: Option<Money>,
    pub gates: Vec<GateRow>,
    pub budget_file: String,
    pub history_file: String,
}

/// A question and its answer. Both were struck out where `[sweep] redact` says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    pub iteration: u32,
    pub name: String,
    pub question: String,
    pub answer: String,
    /// Nothing: nobody answered.
    pub by: Option<String>,
}

impl Report {
    pub fn to_json(&self) -> String {
        // A struct of strings, numbers and lists always serialises.
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }
}
