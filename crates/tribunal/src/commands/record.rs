//! `tribunal agents record`: what became of what each reviewer reported.

use super::review::read_document;
use crate::cli::{ListFormat, RecordArg};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use std::collections::BTreeMap;
use tribunal_core::report::record::{Record, RecordBy, ReviewedChange, records};
use tribunal_store::Ledger;

pub async fn run(by: RecordArg, format: ListFormat) -> Result<u8, Situation> {
    let changes = match super::history::existing().await? {
        Some(ledger) => changes(&ledger).await?,
        None => Vec::new(),
    };
    let by = match by {
        RecordArg::Agent => RecordBy::Agent,
        RecordArg::Rule => RecordBy::Rule,
    };
    let records = records(&changes, by);
    match format {
        ListFormat::Json => {
            let entry = |(name, record): (&String, &Record)| {
                serde_json::json!({ "name": name, "reported": record.reported, "fixed": record.fixed, "dismissed": record.dismissed,
                                    "refuted": record.refuted, "open": record.open, "withdrawn": record.withdrawn,
                                    "agreed": record.agreed, "accepted": record.accepted() })
            };
            out::json(&records.iter().map(entry).collect())?;
        }
        ListFormat::Text if records.is_empty() => out::say("No findings yet. Start with: tribunal review")?,
        ListFormat::Text => {
            let rows = records.iter().map(|(name, record)| {
                let accepted = record.accepted().map_or("–".to_owned(), |share| format!("{:.0} %", share * 100.0));
                let counts = [record.reported, record.fixed, record.dismissed, record.refuted, record.open, record.withdrawn];
                let counts = counts.iter().chain([&record.agreed]).map(u32::to_string);
                std::iter::once(name.clone()).chain(counts).chain([accepted]).collect()
            });
            let headings = ["WHO", "REPORTED", "FIXED", "DISMISSED", "REFUTED", "OPEN", "WITHDRAWN", "AGREED", "ACCEPTED"];
            out::say(&table(&headings, rows))?;
            out::say(
                "ACCEPTED is the share of FIXED in what was fixed, dismissed or refuted. [panel.weight] weighs a reviewer.",
            )?;
        }
    }
    Ok(exit::DONE)
}

/// Every change that the ledger knows, with its reviews from the first to the last.
async fn changes(ledger: &Ledger) -> Result<Vec<ReviewedChange>, Situation> {
    let mut changes: BTreeMap<String, ReviewedChange> = BTreeMap::new();
    for row in ledger.history(i64::MAX).await?.into_iter().rev() {
        let document = read_document(&row.body, &row.run)?;
        changes.entry(row.case_id).or_default().documents.push(document);
    }
    for (case_id, body) in ledger.all_dismissals().await? {
        let Ok(dismissal) = serde_json::from_str(&body) else { continue };
        changes.entry(case_id).or_default().dismissals.push(dismissal);
    }
    Ok(changes.into_values().collect())
}
