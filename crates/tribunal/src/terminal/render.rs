//! The result, in the format that was asked for.

use super::file;
use super::frame::frame;
use super::out::{self, Printable};
use crate::cli::{Format, OutputArgs};
use crate::situation::Situation;
use annotate_snippets::Renderer;
use std::collections::BTreeSet;
use tribunal_core::combine::finding::Finding;
use tribunal_core::combine::verdict::Outcome;
use tribunal_core::publish::outgoing::masked_texts;
use tribunal_core::publish::{rdjson::rdjson, sarif::sarif, sticky::markdown};
use tribunal_core::report::document::Document;
use tribunal_core::report::receipt::{LookedBy, SeatState};

pub fn write(document: &Document, output: &OutputArgs) -> Result<(), Situation> {
    // A document of an earlier version may have been kept with its keys.
    let document = &masked_texts(document);
    let printable = match output.format {
        Format::Text => Printable::page(&text(&document.for_display(), width(output))),
        Format::Json => Printable::json_text(&document.to_json()),
        Format::Sarif => Printable::json_text(&sarif(document)),
        Format::Rdjson => Printable::json_text(&rdjson(document)),
        Format::Markdown => Printable::plain(&markdown(&document.for_display())),
    };
    match &output.output {
        None => out::write(&printable),
        Some(path) => file::write(path, &anstream::adapter::strip_str(printable.as_str()).to_string()),
    }
}

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const GREEN: &str = "\u{1b}[32m";
const RESET: &str = "\u{1b}[0m";

/// A pipe and a file have no width.
fn width(output: &OutputArgs) -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(std::io::stdout()).filter(|_| output.output.is_none());
    terminal.map(|(width, _)| usize::from(width.0))
}

pub fn text(document: &Document, width: Option<usize>) -> String {
    let coloured = anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    // Without a width the renderer keeps its own idea of how much code to show.
    let renderer = width.map_or_else(|| renderer.clone(), |width| renderer.clone().term_width(width.max(20)));
    let mut out = String::new();
    for finding in document.findings.iter().filter(|finding| !finding.support.folded) {
        out.push_str(&frame(finding, &renderer, width.unwrap_or(usize::MAX)));
        out.push_str("\n\n");
    }
    out.push_str(&weak(document));
    for gap in &document.spec_gaps {
        out.push_str(&format!("{BOLD}Q: {} {}{RESET} {}:{}\n", gap.id, gap.title, gap.file, gap.line));
        for question in &gap.questions {
            out.push_str(&format!("  ? {question}\n"));
        }
        out.push('\n');
    }
    for hint in &document.references {
        let words = hint.words.join(", ");
        out.push_str(&format!(
            "{BOLD}?{RESET} {}\n  {}:{} {} (score {:.2}: {words})\n\n",
            hint.question(),
            hint.place,
            hint.line,
            hint.section,
            hint.score
        ));
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
    for proposal in &document.proposals {
        out.push_str(&format!("{YELLOW}!{RESET} {}\n", proposal.sentence()));
        out.extend(proposal.config.lines().map(|line| format!("    {line}\n")));
    }
    out.push_str(&skipped(document));
    let colour = match (document.outcome, document.receipt.looked_by()) {
        (Outcome::Clean, LookedBy::Agents) => GREEN,
        // What no rule matched is not known to be good.
        (Outcome::Clean, LookedBy::RulesAlone(_)) => BOLD,
        (Outcome::Findings, _) => YELLOW,
        (Outcome::Incomplete | Outcome::NotRun, _) => RED,
    };
    out.push_str(&format!("{colour}{}{RESET}\n", document.summary_line.replace("**", "")));
    out.push_str(&format!("{DIM}{}{RESET}\n", receipt(document)));
    out
}

/// What one weak voice reports, a line each.
fn weak(document: &Document) -> String {
    let weak: Vec<&Finding> = document.findings.iter().filter(|finding| finding.support.folded).collect();
    if weak.is_empty() {
        return String::new();
    }
    let mut out = format!("{DIM}Reported by one weak voice ({}), in full with --format json:{RESET}\n", weak.len());
    for finding in weak {
        let (place, agents) = (format!("{}:{}", finding.file, finding.line_start), agents(finding));
        out.push_str(&format!(
            "{DIM}  {} {} {} {place} {} (by {agents}, confidence {}){RESET}\n",
            finding.id,
            finding.p_code,
            finding.slug,
            finding.failure_mode,
            finding.confidence.word()
        ));
    }
    out + "\n"
}

/// Who reported it, each once.
pub fn agents(finding: &Finding) -> String {
    let agents: BTreeSet<&str> = finding.agreement.iter().map(|voice| voice.agent.as_str()).collect();
    agents.into_iter().collect::<Vec<_>>().join(", ")
}

/// Every file that was not read, grouped by why.
fn skipped(document: &Document) -> String {
    let mut out = String::new();
    for (reason, accounts) in document.receipt.coverage.by_reason() {
        let paths: Vec<&str> = accounts.iter().map(|account| account.path.as_str()).collect();
        let named = paths.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        let more = if paths.len() > 8 { format!(" and {} more", paths.len() - 8) } else { String::new() };
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
                | SeatState::OverBudget { .. }
                | SeatState::Withheld { .. }
                | SeatState::NotTrusted { .. } => "✗",
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
    parts.push(format!("verdict {}", receipt.verdict_words()));
    format!("{}\n{} · run {}", looked.join("  "), parts.join(" · "), receipt.run)
}
