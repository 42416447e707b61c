//! `tribunal compare A B`

use super::history::{find, ledger};
use super::review::read_document;
use crate::cli::ListFormat;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use std::collections::BTreeMap;
use tribunal_core::combine::finding::Finding;
use tribunal_core::ids::FindingKey;
use tribunal_core::publish::visible::visible_line;
use tribunal_core::report::document::Document;

pub async fn run(before: &str, after: &str, format: ListFormat) -> Result<u8, Situation> {
    let ledger = ledger(before).await?;
    let (before, after) = (find(&ledger, before).await?, find(&ledger, after).await?);
    let first = read_document(&before.body, &before.run)?;
    let second = read_document(&after.body, &after.run)?;
    let (old, new) = (by_key(&first), by_key(&second));
    let missing_in = |ours: &BTreeMap<&FindingKey, &Finding>, theirs: &BTreeMap<&FindingKey, &Finding>| {
        let mut findings: Vec<Finding> =
            ours.iter().filter(|(key, _)| !theirs.contains_key(*key)).map(|(_, finding)| (*finding).clone()).collect();
        findings.sort_by(tribunal_core::combine::finding::order);
        findings
    };
    let (appeared, vanished) = (missing_in(&new, &old), missing_in(&old, &new));
    let stayed = new.keys().filter(|key| old.contains_key(*key)).count();
    match format {
        ListFormat::Json => {
            let body = serde_json::json!({ "before": before.run, "after": after.run, "appeared": appeared, "vanished": vanished, "stayed": stayed });
            out::json(&body)?;
        }
        ListFormat::Text => {
            let line = |sign: char, colour: &str, finding: &Finding| {
                format!(
                    "\u{1b}[{colour}m{sign}\u{1b}[0m {} {} {} {}:{} {}",
                    finding.id,
                    finding.p_code,
                    visible_line(&finding.slug),
                    visible_line(finding.file.as_str()),
                    finding.line_start,
                    visible_line(&finding.failure_mode)
                )
            };
            for finding in &appeared {
                out::say(&line('+', "31", finding))?;
            }
            for finding in &vanished {
                out::say(&line('-', "32", finding))?;
            }
            out::say(&format!(
                "{} appeared, {} vanished, {stayed} stayed ({} → {})",
                appeared.len(),
                vanished.len(),
                before.run,
                after.run
            ))?;
        }
    }
    Ok(exit::DONE)
}

fn by_key(document: &Document) -> BTreeMap<&FindingKey, &Finding> {
    document.findings.iter().map(|finding| (&finding.key, finding)).collect()
}
