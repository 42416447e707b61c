//! The report as Markdown, with the sections of SL-92; after a dry run the preview of SL-44; of a loop the figures of SL-156.

use super::super::words::cell;
use super::row::{Row, Status, checks_words};
use super::{Looped, Report};
use crate::publish::markdown::{code, inert};

pub fn markdown(report: &Report) -> String {
    let mut parts = if report.dry_run { preview(report) } else { complete(report) };
    if let Some(looped) = &report.looped {
        parts.push(section("Loop", figures(looped)));
        parts.push(section("Gates", gates(looped)));
    }
    if !report.notices.is_empty() {
        parts.push(section("Notices", list(report.notices.iter().map(|notice| inert(notice)))));
    }
    if !report.next_steps.is_empty() {
        parts.push(section("Next Steps", list(report.next_steps.iter().cloned())));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

fn complete(report: &Report) -> Vec<String> {
    let row = |row: &Row| {
        format!(
            "| {} | {} | {} | {} | {} | {} |",
            link(row),
            inert(&row.title),
            checks_words(row.checks.as_ref()),
            row.review.words(),
            row.merge.words(),
            row.status.words()
        )
    };
    let rows: Vec<String> = report.pulls.iter().map(row).collect();
    let table =
        format!("| PR | Title | CI | Review | Merge | Status |\n| --- | --- | --- | --- | --- | --- |\n{}", rows.join("\n"));
    let with_note = |row: &&Row| row.note.is_some() && !matches!(row.status, Status::ChecksFailing);
    vec![
        format!("## Review Complete: {}", inert(&report.target)),
        format!("{}\n\n{}", counts(report), ended(report)),
        section("Results", if rows.is_empty() { "No pull request.".into() } else { table }),
        section("Needs Human Follow-up", notes(report.pulls.iter().filter(|row| row.status.needs_person()))),
        section("Skipped (CI failing)", notes(report.pulls.iter().filter(|row| row.status == Status::ChecksFailing))),
        section("Others", notes(report.pulls.iter().filter(|row| !row.status.needs_person()).filter(with_note))),
        section("Epics", epics(report)),
        section("Worktrees", "None: fixes are made in a clone of Tribunal's own.".into()),
        unproved(report),
    ]
}

/// SL-44.
fn preview(report: &Report) -> Vec<String> {
    let row = |(place, row): (usize, &Row)| {
        let pair = match (row.pair, row.status) {
            (Some(pair), Status::WouldReview) => pair.to_string(),
            (_, Status::ChecksFailing) => "Skipped".into(),
            (_, status) => status.words().to_owned(),
        };
        let checks = checks_words(row.checks.as_ref());
        format!("| {} | {} | {} | {} | {checks} | {pair} |", place + 1, link(row), inert(&row.title), cell(&row.branch))
    };
    let rows: Vec<String> = report.pulls.iter().enumerate().map(row).collect();
    let table = format!("| # | PR | Title | Branch | CI | Pair |\n| --- | --- | --- | --- | --- | --- |\n{}", rows.join("\n"));
    vec![
        format!("## Dry Run: {}", inert(&report.target)),
        counts(report),
        if rows.is_empty() { "No pull request.".into() } else { table },
        "Nothing was reviewed, submitted, pushed or merged.".into(),
    ]
}

fn counts(report: &Report) -> String {
    let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    format!("{}, {}.", count(report.pulls.len(), "pull request"), count(report.pairs as usize, "pair"))
}

fn ended(report: &Report) -> String {
    let also: Vec<String> =
        report.conditions.iter().filter(|fired| fired.name != report.stop).map(|fired| fired.name.clone()).collect();
    let also = if also.is_empty() { String::new() } else { format!(" (also: {})", also.join(", ")) };
    format!("Ended: {} ({}) — {}{also}", code(&report.stop), report.reason, inert(&report.explanation))
}

/// SL-27: what no spec was held against is not proved to comply with one.
fn unproved(report: &Report) -> String {
    let free = report.pulls.iter().filter(|row| row.spec.is_none() && row.pair.is_some());
    let free: Vec<String> = free.map(|row| format!("#{}", row.number)).collect();
    match free.is_empty() {
        true => String::new(),
        false => format!("No spec was found for {}: whether they comply with one is unproved.", free.join(", ")),
    }
}

fn notes<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let note = |row: &Row| {
        let note = row.note.as_deref().map(|note| format!(": {}", inert(note))).unwrap_or_default();
        format!("{} {}{note}", link(row), row.status.words())
    };
    list(rows.map(note))
}

fn epics(report: &Report) -> String {
    let of = |closed: bool| {
        let epics = report.epics.iter().filter(move |epic| epic.closed == closed);
        list(epics.map(|epic| format!("#{}: {}", epic.number, inert(&epic.words))))
    };
    let titled = |title: &str, words: String| if words.is_empty() { words } else { format!("{title}:\n{words}") };
    [titled("Closed", of(true)), titled("Still open", of(false))]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn figures(looped: &Looped) -> String {
    list(super::text::figures(looped).into_iter())
}

fn gates(looped: &Looped) -> String {
    let row = |gate: &super::GateRow| {
        let by = gate.by.as_deref().map_or("nobody".to_owned(), inert);
        format!("iteration {}: {} — {} → {} ({by})", gate.iteration, gate.name, inert(&gate.question), inert(&gate.answer))
    };
    list(looped.gates.iter().map(row))
}

fn section(title: &str, body: String) -> String {
    if body.is_empty() { body } else { format!("### {title}\n\n{body}") }
}

fn list(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

/// The forge makes a link of the number where it is shown there; elsewhere the number is enough.
fn link(row: &Row) -> String {
    format!("#{}", row.number)
}
