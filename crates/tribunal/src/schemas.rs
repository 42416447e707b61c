//! The schemas we publish, made from the types that read and write the data.

use crate::cli::SchemaName;
use schemars::schema_for;
use tribunal_agent::rules::file::RuleFile;
use tribunal_core::findings::brief::Brief;
use tribunal_core::findings::report::Report;
use tribunal_core::findings::role::FrontMatter;
use tribunal_core::policy::config::Config;
use tribunal_core::procedure::settle::plan_file::Plan;
use tribunal_core::procedure::sweep;
use tribunal_core::procedure::sweep::history::{BudgetFile, HistoryLine};
use tribunal_core::procedure::sweep::lock::Holder;
use tribunal_core::report::document::Document;

pub const ALL: [(&str, SchemaName); 11] = [
    ("config", SchemaName::Config),
    ("brief", SchemaName::Brief),
    ("report", SchemaName::Report),
    ("document", SchemaName::Document),
    ("rule", SchemaName::Rule),
    ("role", SchemaName::Role),
    ("plan", SchemaName::Plan),
    ("sweep-report", SchemaName::SweepReport),
    ("sweep-lock", SchemaName::SweepLock),
    ("sweep-budget", SchemaName::SweepBudget),
    ("sweep-history", SchemaName::SweepHistory),
];

pub fn schema(name: SchemaName) -> String {
    let schema = match name {
        SchemaName::Config => schema_for!(Config),
        SchemaName::Brief => schema_for!(Brief),
        SchemaName::Report => schema_for!(Report),
        SchemaName::Document => schema_for!(Document),
        SchemaName::Rule => schema_for!(RuleFile),
        SchemaName::Role => schema_for!(FrontMatter),
        SchemaName::Plan => schema_for!(Plan),
        SchemaName::SweepReport => schema_for!(sweep::Report),
        SchemaName::SweepLock => schema_for!(Holder),
        SchemaName::SweepBudget => schema_for!(BudgetFile),
        // One line of it.
        SchemaName::SweepHistory => schema_for!(HistoryLine),
    };
    serde_json::to_string_pretty(&schema).map(|text| text + "\n").unwrap_or_default()
}
