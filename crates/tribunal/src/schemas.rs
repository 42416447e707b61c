//! The schemas we publish, made from the types that read and write the data.

use crate::cli::SchemaName;
use schemars::schema_for;
use tribunal_agent::rules::file::RuleFile;
use tribunal_core::findings::brief::Brief;
use tribunal_core::findings::report::Report;
use tribunal_core::findings::role::FrontMatter;
use tribunal_core::policy::config::Config;
use tribunal_core::procedure::settle::plan_file::Plan;
use tribunal_core::report::document::Document;

pub const ALL: [(&str, SchemaName); 7] = [
    ("config", SchemaName::Config),
    ("brief", SchemaName::Brief),
    ("report", SchemaName::Report),
    ("document", SchemaName::Document),
    ("rule", SchemaName::Rule),
    ("role", SchemaName::Role),
    ("plan", SchemaName::Plan),
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
    };
    serde_json::to_string_pretty(&schema).map(|text| text + "\n").unwrap_or_default()
}
