//! The report as a comment on the pull request.

use super::Report;
use crate::findings::admit::one_line;
use crate::findings::plain::plain;
use crate::publish::markdown::{code, inert};
use crate::remedy::answer::{address, table};
use crate::remedy::end::End;

const MAX_ROWS: usize = 100;

pub fn comment(report: &Report) -> String {
    let open = report.open().count();
    let settled = report.count(End::is_settled);
    let mut parts = vec![format!("**{}** — {}.", code(report.reason.word()), line(&report.explanation))];
    parts.push(format!("{} settled, {} open; {}.", items(settled), open, cycles(report.cycles)));
    let mut next: Vec<String> = report.next_actions.iter().map(|action| format!("- {}", line(action))).collect();
    if !next.is_empty() {
        next.insert(0, "**Next**\n".to_owned());
        parts.push(next.join("\n"));
    }
    let notes: Vec<String> = report
        .details
        .fields()
        .into_iter()
        .map(|(name, value)| {
            // Addresses come from the forge and are there to be followed.
            let value = if name.ends_with("_url") || name.ends_with("_urls") {
                value.split(", ").map(address).collect::<Vec<_>>().join(", ")
            } else {
                line(&value)
            };
            format!("- {}: {value}", name.replace('_', " "))
        })
        .chain(report.issues.iter().map(|issue| format!("- {}", line(issue))))
        .collect();
    if !notes.is_empty() {
        parts.push(format!("**Besides**\n\n{}", notes.join("\n")));
    }
    if !report.items.is_empty() {
        let summary = format!("{} in all", items(report.items.len()));
        parts.push(format!("<details><summary>{summary}</summary>\n\n{}\n\n</details>", table(&report.items, MAX_ROWS)));
    }
    parts.push(format!("{} calls, {} tokens, cost: {}", report.spend.calls, report.spend.tokens, report.spend.cost.words()));
    parts.join("\n\n") + "\n"
}

fn line(text: &str) -> String {
    inert(one_line(&plain(text)).trim_end_matches('.'))
}

fn items(count: usize) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

fn cycles(count: u32) -> String {
    if count == 1 { "1 cycle".to_owned() } else { format!("{count} cycles") }
}
