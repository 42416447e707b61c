//! `tribunal spend`: what agents have cost.

use crate::cli::{ListFormat, SpendArg};
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use tribunal_core::call::money::Money;
use tribunal_store::SpendBy;

pub async fn run(by: SpendArg, format: ListFormat) -> Result<u8, Situation> {
    let by = match by {
        SpendArg::Month => SpendBy::Month,
        SpendArg::Change => SpendBy::Case,
        SpendArg::Run => SpendBy::Run,
        SpendArg::Agent => SpendBy::Agent,
    };
    let totals = match super::history::existing().await? {
        Some(ledger) => ledger.totals(by).await?,
        None => Vec::new(),
    };
    match format {
        ListFormat::Json => {
            let entries: Vec<_> = totals
                .iter()
                .map(|total| {
                    serde_json::json!({ "name": total.name, "calls": total.calls, "known_micro_usd": total.cost,
                                        "calls_of_unknown_cost": total.unknown, "tokens": total.tokens })
                })
                .collect();
            out::json(&entries.into())?;
        }
        ListFormat::Text if totals.is_empty() => out::say("Nothing was spent: no model and no agent CLI was asked yet.")?,
        ListFormat::Text => {
            let rows = totals.iter().map(|total| {
                let known = Money { micros: u64::try_from(total.cost).unwrap_or(0) };
                let cost = match total.unknown {
                    0 => known.to_string(),
                    calls if calls == total.calls => "unknown".to_owned(),
                    calls => format!("{known} + {calls} unknown"),
                };
                vec![total.name.clone(), total.calls.to_string(), total.tokens.to_string(), cost]
            });
            out::say(&table(&["WHAT", "CALLS", "TOKENS", "COST"], rows))?;
        }
    }
    Ok(exit::DONE)
}
