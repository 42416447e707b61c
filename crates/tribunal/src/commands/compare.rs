//! `tribunal compare A B`

use super::history::{find, ledger};
use super::review::read_document;
use crate::cli::ListFormat;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use tribunal_core::combine::finding::Finding;
use tribunal_core::publish::visible::visible_line;
use tribunal_core::report::comparison::{Comparison, compare};

pub async fn run(before: &str, after: &str, format: ListFormat) -> Result<u8, Situation> {
    let ledger = ledger(before).await?;
    let (before, after) = (find(&ledger, before).await?, find(&ledger, after).await?);
    let first = read_document(&before.body, &before.run)?;
    let second = read_document(&after.body, &after.run)?;
    let comparison = compare(&first, &second);
    match format {
        ListFormat::Json => {
            let Comparison { appeared, vanished, stayed, agreement } = &comparison;
            let body = serde_json::json!({ "before": before.run, "after": after.run, "appeared": appeared, "vanished": vanished,
                                           "stayed": stayed, "agreement": agreement });
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
            for finding in &comparison.appeared {
                out::say(&line('+', "31", finding))?;
            }
            for finding in &comparison.vanished {
                out::say(&line('-', "32", finding))?;
            }
            for change in &comparison.agreement {
                out::say(&format!("\u{1b}[36m~\u{1b}[0m {} {}", change.id, change.words()))?;
            }
            out::say(&format!(
                "{} appeared, {} vanished, {} stayed ({} → {})",
                comparison.appeared.len(),
                comparison.vanished.len(),
                comparison.stayed,
                before.run,
                after.run
            ))?;
        }
    }
    Ok(exit::DONE)
}
