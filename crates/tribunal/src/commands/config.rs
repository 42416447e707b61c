//! `tribunal config show`

use crate::cli::ListFormat;
use crate::situation::{Situation, exit};
use crate::terminal::out;
use crate::terminal::table::table;
use crate::workspace;
use std::collections::BTreeMap;
use tribunal_core::policy::config::Policy;
use tribunal_core::publish::visible::visible_line;

pub fn show(format: ListFormat) -> Result<u8, Situation> {
    let repository = workspace::discover_optional()?;
    let setup = workspace::set_up(repository.as_ref(), None)?;
    let mut values: BTreeMap<String, (String, String)> =
        defaults(&setup.policy).into_iter().map(|(key, value)| (key, (value, "default".to_owned()))).collect();
    for (key, (source, value)) in &setup.merged.origins {
        values.insert(key.clone(), (value.to_string(), source.clone()));
    }
    match format {
        ListFormat::Json => {
            let body: serde_json::Map<_, _> = values
                .into_iter()
                .map(|(key, (value, source))| (key, serde_json::json!({ "value": value, "source": source })))
                .collect();
            out::json(&body.into())?;
        }
        ListFormat::Text => {
            let rows = values.into_iter().map(|(key, (value, source))| vec![key, value, source]);
            out::say(&table(&["KEY", "VALUE", "FROM"], rows))?;
            for notice in &setup.notices {
                out::say(&format!("! {}", visible_line(notice)))?;
            }
        }
    }
    Ok(exit::DONE)
}

/// What is in force where nobody said anything. Keys that were set are printed over these.
fn defaults(policy: &Policy) -> Vec<(String, String)> {
    let mut rows = vec![
        ("review.fail_level".to_owned(), format!("{:?}", policy.fail_level)),
        ("review.base".to_owned(), "(the default branch)".to_owned()),
        ("review.max_inline_p1".to_owned(), policy.caps.inline_p1.to_string()),
        ("review.max_inline_p2".to_owned(), policy.caps.inline_p2.to_string()),
        ("review.max_listed_p3".to_owned(), policy.caps.listed_p3.to_string()),
        ("files.skip".to_owned(), "[]".to_owned()),
        ("files.review".to_owned(), "[]".to_owned()),
        ("files.max_bytes".to_owned(), policy.max_bytes.to_string()),
        ("files.max_total_bytes".to_owned(), policy.max_total_bytes.to_string()),
        ("rules.disable".to_owned(), "[]".to_owned()),
    ];
    for (role, players) in &policy.panel {
        rows.push((
            format!("panel.{role}"),
            format!("{:?}", players.iter().map(|player| player.agent.as_str()).collect::<Vec<_>>()),
        ));
    }
    rows.push(("budget.run_usd".to_owned(), policy.budget.run.dollars().to_string()));
    rows.push(("budget.run_tokens".to_owned(), policy.budget.run_tokens.to_string()));
    rows
}
