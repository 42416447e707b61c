//! `tribunal history`, `show`, `replay`: the ledger, read.

use super::review::{print, read_document};
use crate::cli::{ListFormat, OutputArgs};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use crate::workspace;
use std::sync::Arc;
use tribunal_agent::rules::compile::RuleSet;
use tribunal_engine::effects::Effects;
use tribunal_engine::effects::ask::{Agents, Recording};
use tribunal_engine::host::embedded::Host;
use tribunal_store::{DocumentRow, Ledger};

pub async fn existing() -> Result<Option<Ledger>, Situation> {
    let repository = workspace::discover_optional()?;
    workspace::existing_ledger(&workspace::ledger_folder(repository.as_ref())).await
}

/// The ledger, to look a run up in it.
pub async fn ledger(run: &str) -> Result<Arc<Ledger>, Situation> {
    existing().await?.map(Arc::new).ok_or_else(|| no_run(run))
}

fn no_run(name: &str) -> Situation {
    Situation::new("unknown-run", exit::USAGE, format!("there is no finished run `{name}` in this ledger"))
        .help("`tribunal history` lists the runs")
}

pub async fn list(limit: u32, format: ListFormat) -> Result<u8, Situation> {
    let rows = match existing().await? {
        Some(ledger) => ledger.history(i64::from(limit)).await?,
        None => Vec::new(),
    };
    match format {
        ListFormat::Json => {
            let entries: Vec<serde_json::Value> = rows
                .iter()
                .map(|row| {
                    serde_json::json!({ "run": row.run, "finished_at": row.at, "subject": row.subject, "base": row.base, "head": row.head,
                                        "outcome": row.outcome, "verdict": row.verdict, "findings": row.findings })
                })
                .collect();
            out::json(&entries.into())?;
        }
        ListFormat::Text if rows.is_empty() => out::say("No reviews yet. Start with: tribunal review")?,
        ListFormat::Text => {
            let lines = rows.iter().map(|row| {
                vec![
                    row.run.clone(),
                    when(row.at),
                    row.outcome.clone(),
                    verdict_words(row),
                    row.findings.to_string(),
                    row.head.get(..12).unwrap_or(&row.head).to_owned(),
                    row.subject.clone(),
                ]
            });
            out::say(&table(&["RUN", "WHEN", "OUTCOME", "VERDICT", "OPEN", "HEAD", "WHAT"], lines))?;
        }
    }
    Ok(exit::DONE)
}

/// Rules alone give no verdict that a person should read as one.
fn verdict_words(row: &DocumentRow) -> String {
    read_document(&row.body, &row.run)
        .map_or_else(|_| row.verdict.clone(), |document| document.receipt.verdict_words().to_owned())
}

fn when(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis)
        .map(|time| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

/// A run by id, by the beginning of its id, or `last`.
pub async fn find(ledger: &Ledger, name: &str) -> Result<DocumentRow, Situation> {
    let rows = ledger.history(i64::MAX).await?;
    let mut matching = rows.into_iter().filter(|row| name == "last" || row.run.starts_with(name));
    let found = matching.next().ok_or_else(|| no_run(name))?;
    if name != "last" && found.run != name && matching.next().is_some() {
        return Err(Situation::new("unknown-run", exit::USAGE, format!("several runs begin with `{name}`"))
            .help("`tribunal history` lists the runs"));
    }
    Ok(found)
}

pub async fn show(run: &str, output: &OutputArgs) -> Result<u8, Situation> {
    let row = find(&*ledger(run).await?, run).await?;
    let document = read_document(&row.body, &row.run)?;
    print(&document, output)?;
    Ok(exit::DONE)
}

pub async fn replay(run: &str, output: &OutputArgs) -> Result<u8, Situation> {
    let ledger = ledger(run).await?;
    let row = find(&ledger, run).await?;
    let rules = Arc::new(RuleSet::new(Vec::new())?);
    let agents = Agents::new(Arc::clone(&ledger), workspace::scratch_root(), Recording::default());
    let effects = Effects::new(None, rules, agents, Arc::new(|_| {}));
    let host = Host { ledger, effects: Arc::new(effects), folder: std::path::PathBuf::new() };
    let replay = host.replay(&row.run).await?;
    match (&replay.replayed, &replay.stored) {
        (Some(replayed), Some(stored)) if replayed == stored => {
            let document = read_document(replayed, &row.run)?;
            print(&document, output)?;
            out::note(&format!("Replayed {}: the same {} bytes.", row.run, stored.len()));
            Ok(exit::DONE)
        }
        _ => Err(Situation::new(
            "replay-differs",
            exit::FINDINGS,
            format!("replaying {} gave another result than the one that is stored", row.run),
        )
        .help("was it recorded by another version of Tribunal? its receipt names the engine")),
    }
}
