//! The page that says how often each built-in rule was right on changes of public projects. The numbers are in `docs/rule-record.json`,
//! how they were got in `docs/quality.md`; the rules that the data names must exist.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::fs;
use tribunal_agent::rules::load::LoadedRule;
use xtask::root;

const DATA: &str = "docs/rule-record.json";
const HEAD: &str = "# The record of each rule\n\nMade from `docs/rule-record.json`; [Quality](../quality.md#precision-of-the-built-in-rules) says how it was measured. \
*Found* is how often the rule spoke, *lines* on how many added lines in its languages. A sample of what it found was judged: *true*, a reviewer \
would want it raised about as heavily; *arguable*, correct but debatable; *false*, wrong or harmless. *Changed* rules were narrowed, asked about or \
rewritten after this was seen, so their numbers describe what they were.\n";

pub fn page(rules: &[LoadedRule]) -> Result<String> {
    let text = fs::read_to_string(root().join(DATA)).with_context(|| format!("{DATA} is missing"))?;
    let data: Value = serde_json::from_str(&text).with_context(|| DATA.to_owned())?;
    let records = data["rules"].as_object().with_context(|| format!("{DATA} has no `rules`"))?;
    let unknown: Vec<&String> = records.keys().filter(|id| !rules.iter().any(|rule| rule.file.id == **id)).collect();
    if !unknown.is_empty() {
        bail!("{DATA} names rules that do not exist: {unknown:?}");
    }
    let mut page = HEAD.to_owned();
    page.push_str(&format!(
        "\n{} ranges of {} repositories, {} added lines. {} of {} rules spoke; the others found nothing there.\n\n",
        data["ranges"],
        data["repositories"],
        data["added_lines"],
        records.len(),
        rules.len()
    ));
    let columns = ["lines", "found", "repositories", "true", "arguable", "false"];
    page.push_str(&format!("| rule | {} | |\n| --- |{} --- |\n", columns.join(" | "), " --- |".repeat(columns.len())));
    for (id, record) in records {
        let numbers: Vec<String> = columns.iter().map(|column| record[column].to_string()).collect();
        let changed = if record["changed"] == Value::Bool(true) { "changed" } else { "" };
        page.push_str(&format!("| [{id}](rules/{id}.md) | {} | {changed} |\n", numbers.join(" | ")));
    }
    Ok(page)
}
