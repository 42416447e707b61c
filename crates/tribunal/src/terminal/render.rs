//! The result, in the format that was asked for.

use super::frame::frame;
use crate::cli::{Format, OutputArgs};
use crate::situation::{Situation, exit};
use annotate_snippets::Renderer;
use std::collections::BTreeMap;
use std::io::Write as _;
use tribunal_core::combine::verdict::{Outcome, Verdict};
use tribunal_core::publish::{rdjson::rdjson, sarif::sarif, sticky::markdown};
use tribunal_core::report::document::Document;
use tribunal_core::report::receipt::{FileEnd, SeatState};

pub fn write(document: &Document, output: &OutputArgs) -> Result<(), Situation> {
    let text = match output.format {
        Format::Text => text(&document.for_display()),
        Format::Json => document.to_json(),
        Format::Sarif => sarif(document),
        Format::Rdjson => rdjson(document),
        Format::Markdown => markdown(&document.for_display()),
    };
    match &output.output {
        None => {
            let mut stdout = anstream::stdout().lock();
            stdout
                .write_all(text.as_bytes())
                .and_then(|()| stdout.flush())
                .or_else(unless_closed)
                .map_err(|error| Situation::new("engine-failed", exit::INCOMPLETE, format!("standard output: {error}")))
        }
        Some(path) => {
            let plain = anstream::adapter::strip_str(&text).to_string();
            // Written beside and moved over, so that a full disk never leaves half a report.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
            let failed = |error: std::io::Error| {
                Situation::new("engine-failed", exit::USAGE, format!("{} cannot be written: {error}", path.display()))
                    .help("the review itself is kept: tribunal show last")
            };
            let draft = folder.join(format!(".tribunal-{}", std::process::id()));
            std::fs::write(&draft, plain).and_then(|()| std::fs::rename(&draft, path)).map_err(|error| {
                let _ = std::fs::remove_file(&draft);
                failed(error)
            })?;
            Ok(())
        }
    }
}

/// `tribunal review | head` has seen enough; that is no error.
fn unless_closed(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const GREEN: &str = "\u{1b}[32m";
const RESET: &str = "\u{1b}[0m";

pub fn text(document: &Document) -> String {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for finding in &document.findings {
        out.push_str(&frame(finding, &renderer));
        out.push_str("\n\n");
    }
    for gap in &document.spec_gaps {
        out.push_str(&format!("{BOLD}Q: {} {}{RESET} {}:{}\n", gap.id, gap.title, gap.file, gap.line));
        for question in &gap.questions {
            out.push_str(&format!("  ? {question}\n"));
        }
        out.push('\n');
    }
    for prior in &document.prior_verifications {
        out.push_str(&format!(
            "{} {} {} ({}:{}) {}\n",
            prior.prior_id,
            prior.p_code,
            prior.slug,
            prior.file,
            prior.line,
            prior.display()
        ));
    }
    if !document.prior_verifications.is_empty() {
        out.push('\n');
    }
    for failure in &document.subagent_failures {
        out.push_str(&format!("{RED}✗ {} ({}) failed:{RESET} {}\n", failure.seat.role, failure.seat.agent, failure.reason));
    }
    for missing in &document.missing_prerequisites {
        out.push_str(&format!("{RED}✗ missing outside this change:{RESET} {missing}\n"));
    }
    for notice in &document.notices {
        out.push_str(&format!("{YELLOW}!{RESET} {notice}\n"));
    }
    out.push_str(&skipped(document));
    let colour = match document.outcome {
        Outcome::Clean => GREEN,
        Outcome::Findings => YELLOW,
        Outcome::Incomplete | Outcome::NotRun => RED,
    };
    out.push_str(&format!("{colour}{}{RESET}\n", document.summary_line.replace("**", "")));
    out.push_str(&format!("{DIM}{}{RESET}\n", receipt(document)));
    out
}

/// Every file that was not read, grouped by why.
fn skipped(document: &Document) -> String {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for account in &document.receipt.coverage.accounts {
        match account.ended {
            FileEnd::Skipped(reason) => groups.entry(reason.words()).or_default().push(account.path.as_str()),
            FileEnd::LinesOnly => groups.entry("generated, lines only").or_default().push(account.path.as_str()),
            FileEnd::Reviewed | FileEnd::Unchanged => {}
        }
    }
    let mut out = String::new();
    for (reason, paths) in groups {
        let named = paths.iter().take(4).copied().collect::<Vec<_>>().join(", ");
        let more = if paths.len() > 4 { format!(" and {} more", paths.len() - 4) } else { String::new() };
        out.push_str(&format!("{DIM}- {reason}: {named}{more}{RESET}\n"));
    }
    out
}

fn receipt(document: &Document) -> String {
    let receipt = &document.receipt;
    let coverage = &receipt.coverage;
    let looked: Vec<String> = receipt
        .seats
        .iter()
        .map(|seat| {
            let mark = match seat.state {
                SeatState::Ok => "✓",
                SeatState::Failed { .. }
                | SeatState::TimedOut { .. }
                | SeatState::Unavailable { .. }
                | SeatState::OverBudget { .. } => "✗",
            };
            format!("{mark} {} ({})", seat.seat.role, seat.seat.agent)
        })
        .collect();
    let mut parts = vec![
        format!("{} {}..{}", receipt.subject, document.base.short(), document.head.short()),
        format!(
            "{} of {} files read, +{} -{}",
            coverage.reviewed + coverage.lines_only + coverage.unchanged,
            coverage.files,
            coverage.added_lines,
            coverage.removed_lines
        ),
    ];
    if coverage.unchanged > 0 {
        parts.push(format!("{} of them by the last review", coverage.unchanged));
    }
    let dropped: u32 = receipt.dropped.values().sum();
    if dropped > 0 {
        parts.push(format!("{dropped} claim{} not kept", if dropped == 1 { "" } else { "s" }));
    }
    if let Some(opinion) = &receipt.second_opinion {
        parts.push(format!("{} of {} findings refuted by {}", opinion.refuted, opinion.asked, opinion.agent));
    }
    if !receipt.bill.usage.is_nothing() || receipt.bill.seats_of_unknown_cost > 0 {
        let usage = &receipt.bill.usage;
        parts.push(format!(
            "cost {} ({} tokens in, {} cached, {} out)",
            receipt.bill.words(),
            usage.total_input(),
            usage.cache_read,
            usage.output
        ));
    }
    parts.push(format!("verdict {}", Verdict::words(document.verdict)));
    format!("{}\n{} · run {}", looked.join("  "), parts.join(" · "), receipt.run)
}
