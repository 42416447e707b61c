//! The report for a terminal.

use super::row::{Row, Status, checks_words};
use super::{Looped, Report};
use crate::publish::visible::visible_line;

pub fn text(report: &Report) -> String {
    let heading = if report.dry_run { "Dry run" } else { "Sweep" };
    let mut lines = vec![format!("{heading}: {}", visible_line(&report.target)), String::new()];
    lines.extend(table(report));
    if !report.pulls.is_empty() {
        lines.push(String::new());
    }
    for epic in &report.epics {
        let word = if epic.closed { "closed" } else { "open" };
        lines.push(format!("epic #{} {word}: {}", epic.number, visible_line(&epic.words)));
    }
    if report.dry_run {
        lines.push("Nothing was reviewed, submitted, pushed or merged.".to_owned());
    }
    lines.push(format!("Ended: {} ({}) — {}", report.stop, report.reason, visible_line(&report.explanation)));
    for fired in report.conditions.iter().filter(|fired| fired.name != report.stop) {
        lines.push(format!("Also: {} — {}", fired.name, visible_line(&fired.words)));
    }
    if let Some(looped) = &report.looped {
        lines.extend(figures(looped));
        for gate in &looped.gates {
            let by = gate.by.as_deref().map_or("nobody".to_owned(), visible_line);
            let question = visible_line(&gate.question);
            lines.push(format!("Gate {} (iteration {}): {question} → {} ({by})", gate.name, gate.iteration, gate.answer));
        }
    }
    lines.extend(report.notices.iter().map(|notice| format!("note: {}", visible_line(notice))));
    lines.extend(report.next_steps.iter().map(|step| format!("next: {}", visible_line(step))));
    lines.join("\n") + "\n"
}

fn table(report: &Report) -> Vec<String> {
    let cells = |row: &Row| {
        let last = match (&row.note, row.status) {
            (Some(note), _) => format!("{}: {}", row.status.words(), visible_line(note)),
            (None, Status::WouldReview) => format!("{} by pair {}", row.status.words(), row.pair.unwrap_or(1)),
            (None, status) => status.words().to_owned(),
        };
        let checks = checks_words(row.checks.as_ref());
        [format!("#{}", row.number), short(&row.title), checks, row.review.words().to_owned(), row.merge.words(), last]
    };
    let rows: Vec<[String; 6]> = report.pulls.iter().map(cells).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}  {}", cells.collect::<Vec<_>>().join("  "), row[5])
    };
    rows.iter().map(line).collect()
}

/// A title has its place in a line, and no more.
fn short(title: &str) -> String {
    const MOST: usize = 48;
    let title = visible_line(title);
    match title.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title,
    }
}

/// SL-156.
pub(super) fn figures(looped: &Looped) -> Vec<String> {
    let mut lines = vec![format!("Iterations: {}/{}", looped.iterations, looped.max_iterations)];
    lines.push(match looped.single {
        true => format!("Comments pushed: {}; merges attempted: {}", looped.comments_pushed, looped.merges_attempted),
        false => format!("Pull requests touched: {}/{}", looped.prs_touched, looped.max_prs),
    });
    lines.push(format!("Minutes: {}/{}", looped.minutes, looped.max_minutes));
    lines.push(match looped.max_dollars {
        Some(max) => format!("Dollars: {}/{max}", looped.dollars),
        None => format!("Dollars: {}, no ceiling", looped.dollars),
    });
    lines.push(format!("Budget file: {}", visible_line(&looped.budget_file)));
    lines.push(format!("History file: {}", visible_line(&looped.history_file)));
    lines
}
