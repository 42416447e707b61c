//! The sticky summary comment (PR-85 to PR-89), as it would be published.

use super::markdown::{code, fenced, inert};
use super::marker::{Mark, note};
use super::memory::Memory;
use super::outgoing::{HiddenLine, Outgoing, filtered};
use crate::combine::agreement::AGREED;
use crate::combine::finding::{Finding, listing_order};
use crate::combine::rule_proposal::Proposal;
use crate::combine::severity::is_posted_inline;
use crate::findings::key::sha256_hex;
use crate::findings::scale::Priority;
use crate::ids::{FindingId, FindingKey};
use crate::library::hint::Hint;
use crate::report::document::Document;
use crate::report::receipt::LookedBy;
use std::collections::{BTreeMap, BTreeSet};

/// What the pull request adds to a review: where its findings stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    pub urls: BTreeMap<FindingId, String>,
    /// Should stand on a line, and the forge has none for them; written out in full here instead.
    pub without_line: BTreeSet<FindingId>,
    /// Of those, the ones that were never posted on a line.
    pub unplaced: BTreeSet<FindingId>,
    /// Threads that a person closed while the finding is still there.
    pub resolved_by: BTreeMap<FindingId, String>,
}

/// The body as `--format markdown` shows it: nobody has posted anything yet.
pub fn sticky(document: &Document) -> Outgoing {
    let text = parts(document, &Links::default(), usize::MAX).into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n\n");
    Outgoing::marked(&header(document), &(text + "\n"), &[])
}

/// The first line of every summary.
pub const FIRST_LINE: &str = "<!-- pr-review:sticky -->";

/// The body for a pull request: within the forge's limit, with what the next review needs, and with the mark in its last line.
pub fn sticky_for(
    document: &Document,
    names: &BTreeMap<FindingKey, FindingId>,
    links: &Links,
    limit: usize,
    seal: impl Fn(&Mark) -> HiddenLine,
) -> Outgoing {
    let mark = |memory: Option<String>, text: String| {
        seal(&Mark::Sticky { head: document.head.clone(), run: document.receipt.run.clone(), memory, text: Some(text) })
    };
    let header = header(document);
    let head = header.iter().map(|line| &**line).collect::<Vec<_>>().join("\n");
    // A mark with two hashes is as long as any mark gets.
    let room = limit.saturating_sub(mark(Some("0".repeat(64)), "0".repeat(64)).len() + head.len() + 10);
    // What the next review needs comes first, up to two thirds of the room: what is not in the text is in the report, and what is
    // not in the memory is lost on another machine.
    let memory = Memory { unplaced: links.unplaced.clone(), ..Memory::of(document, names.clone()) };
    let packed = memory.pack_within(room / 3 * 2);
    let text = fitted(document, links, room.saturating_sub(packed.as_ref().map_or(0, |packed| packed.line.len() + 1)));
    let hash = text_hash(&format!("{head}\n\n{text}"));
    let tail = match packed {
        Some(packed) => vec![packed.line, mark(Some(packed.hash), hash)],
        None => vec![mark(None, hash)],
    };
    Outgoing::marked(&header, &format!("{text}\n\n"), &tail)
}

/// What stands in it for people, without anything hidden: the summary of a check run.
pub fn sticky_text(document: &Document, links: &Links, limit: usize) -> String {
    fitted(document, links, limit)
}

/// PR-85: what other tools look for.
fn header(document: &Document) -> [HiddenLine; 4] {
    let status = document.tier.wording().split_once(' ').map_or("", |(_, words)| words);
    [note("sticky", ""), note("sha", document.head.as_str()), note("version", "2"), note("status", status)]
}

/// What a claim says while the review is being posted: the summary as far as it is known, without anything that a reader could take
/// for a finished one. Subscribers are notified of this text; the summary takes its place.
pub fn claim_text(document: &Document, limit: usize) -> String {
    let room = limit.saturating_sub(1_000);
    // Without the hidden lines: they name a head as reviewed, which is not so yet.
    format!("> ⏳ Tribunal is posting this review.\n\n{}", fitted(document, &Links::default(), room))
}

/// Is the text of a summary what its mark says? A mark of an earlier release does not say, and then it is. Exactly two lines are no
/// part of the text: the mark, and the memory that the mark names.
pub fn is_intact(body: &str, text: Option<&str>, memory: Option<&str>) -> bool {
    let Some(wanted) = text else { return true };
    let mut lines: Vec<&str> = body.trim_end().lines().collect();
    lines.pop();
    if memory.is_some_and(|hash| lines.last().is_some_and(|line| sha256_hex(line.trim().as_bytes()) == hash)) {
        lines.pop();
    }
    text_hash(&lines.join("\n")) == wanted
}

/// Forges differ in how they keep line breaks and the white space at the ends.
fn text_hash(text: &str) -> String {
    sha256_hex(text.replace('\r', "").trim().as_bytes())
}

/// Was this once a summary of ours? Whoever edits one may take its mark away; a quotation of it has other lines.
pub fn was_sticky(body: &str) -> bool {
    body.lines().map(str::trim_end).any(|line| line == FIRST_LINE || line.starts_with(super::memory::OPENING))
}

/// A part of the sticky, and how soon it goes when there is no room; 0 stays.
struct Part {
    text: String,
    spare: u8,
}

impl Part {
    fn must(text: String) -> Self {
        Part { text, spare: 0 }
    }

    fn spare(rank: u8, text: String) -> Self {
        Part { text, spare: rank }
    }
}

/// As much as fits, filtered. First whole sections go, the least needed first; then the list is cut, and says so.
fn fitted(document: &Document, links: &Links, room: usize) -> String {
    let join = |parts: &[Part]| parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n\n");
    let mut listed = usize::MAX;
    loop {
        let mut kept = parts(document, links, listed);
        kept.iter_mut().for_each(|part| part.text = filtered(&part.text));
        loop {
            let text = join(&kept);
            if text.len() <= room {
                return text;
            }
            let Some(most) = kept.iter().map(|part| part.spare).max().filter(|most| *most > 0) else { break };
            kept.retain(|part| part.spare != most);
        }
        listed = listed.min(document.findings.len()) / 2;
        if listed == 0 {
            // Not even the bare frame fits: the line that says what came out is worth more than none.
            return filtered(&document.summary_line);
        }
    }
}

fn parts(document: &Document, links: &Links, listed: usize) -> Vec<Part> {
    let mut parts = vec![Part::must("> 🤖 Automated review by Tribunal. People decide.".to_owned())];
    parts.extend(document.notices.iter().map(|notice| Part::must(format!("> {}", inert(notice)))));
    parts.push(Part::must(document.summary_line.clone()));
    let open: Vec<&Finding> = document.findings.iter().filter(|finding| finding.dismissed.is_none()).collect();
    if open.len() >= 2 {
        parts.push(Part::must(format!("> {}", narrative(&open))));
    }
    parts.extend(open_list(document, &open, links, listed).map(Part::must));
    parts.extend(weak(&open, listed).map(Part::must));
    let inline = open.iter().filter(|finding| finding.inline && !links.without_line.contains(&finding.id)).count();
    if inline > 0 {
        parts.push(Part::must(format!("📍 **Inline comments**: {inline} on the lines they speak of, under *Files changed*")));
    }
    parts.extend(beyond_caps(document, &open).map(Part::must));
    parts.extend(written_out(&open, links).map(|text| Part::spare(1, text)));
    parts.extend(dismissed(document).map(Part::must));
    parts.extend(proposals(document).map(|text| Part::spare(1, text)));
    parts.extend(adjustments(document).map(Part::must));
    parts.extend(iteration(document).map(|text| Part::spare(2, text)));
    parts.push(Part::spare(3, folded("📊 Overview by category", &overview(&open))));
    parts.extend(spec_gaps(document).map(|text| Part::spare(1, text)));
    parts.extend(references(document).map(|text| Part::spare(2, text)));
    parts.extend(not_read(document).map(Part::must));
    let clean_title = match document.receipt.looked_by() {
        LookedBy::Agents => format!("✅ Checked & clean ({})", document.checked_and_clean.len()),
        LookedBy::RulesAlone(_) => format!("🔎 Categories in which no rule matched ({})", document.checked_and_clean.len()),
    };
    parts.push(Part::spare(4, folded(&clean_title, &clean(document))));
    parts.extend(not_kept(document).map(|text| Part::spare(5, text)));
    parts.extend(history(document).map(|text| Part::spare(5, text)));
    parts.push(Part::must(format!("---\n\n{}", footer(document))));
    parts
}

fn folded(summary: &str, body: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n{body}\n\n</details>")
}

/// One line on the shape of the cluster: where it is and what it is about.
fn narrative(findings: &[&Finding]) -> String {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    let mut slugs: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *files.entry(finding.file.as_str()).or_default() += 1;
        *slugs.entry(finding.slug.as_str()).or_default() += 1;
    }
    let most = |counts: &BTreeMap<&str, usize>| {
        counts
            .iter()
            .max_by_key(|(name, count)| (**count, std::cmp::Reverse(**name)))
            .map(|(name, count)| ((*name).to_owned(), *count))
    };
    let (file, in_file) = most(&files).unwrap_or_default();
    let (slug, of_slug) = most(&slugs).unwrap_or_default();
    let shape = if of_slug > 1 { format!(", {} of them {}", of_slug, code(&slug)) } else { String::new() };
    if files.len() == 1 {
        format!("{} findings, all in {}{shape}.", findings.len(), code(&file))
    } else {
        format!("{} findings in {} files{shape}; most in {} ({in_file}).", findings.len(), files.len(), code(&file))
    }
}

fn open_list(document: &Document, open: &[&Finding], links: &Links, listed: usize) -> Option<String> {
    if open.is_empty() {
        return None;
    }
    let mut listed_open: Vec<&&Finding> = open.iter().filter(|finding| !finding.support.folded).collect();
    listed_open.sort_by(|a, b| listing_order(a, b));
    let (minor, main): (Vec<&&Finding>, Vec<&&Finding>) =
        listed_open.into_iter().partition(|finding| finding.p_code == Priority::P3);
    let bullet = |finding: &&&Finding| {
        let id = match links.urls.get(&finding.id).filter(|url| !url.is_empty()) {
            Some(url) => format!("[{}]({url})", finding.id),
            None => finding.id.to_string(),
        };
        let closed = links.resolved_by.get(&finding.id);
        let closed = closed.map(|by| format!(" · thread closed by {}, still there", inert(by))).unwrap_or_default();
        let agreed = if finding.support.voices >= AGREED { format!(" · {}", finding.support.words()) } else { String::new() };
        format!("- **{id}** {} {} — {}{agreed}{closed}", finding.p_code, code(&finding.slug), code(&place(finding)))
    };
    let mut lines: Vec<String> = main.iter().take(listed).map(bullet).collect();
    let listed_p3 = (document.max_listed_p3 as usize).min(listed);
    lines.extend(minor.iter().take(listed_p3).map(bullet));
    if main.len() > listed {
        lines.push(format!(
            "- … and {} more: there is no room for them here; `tribunal show` and the JSON report list all",
            main.len() - listed
        ));
    }
    if minor.len() > listed_p3 {
        lines.push(format!("- … and {} more P3, in the JSON report", minor.len() - listed_p3));
    }
    let folded = open.iter().filter(|finding| finding.support.folded).count();
    if folded > 0 {
        lines.push(format!("- … and {folded} that one weak voice reports, folded below"));
    }
    Some(format!("## 📋 Currently open ({})\n\n{}", open.len(), lines.join("\n")))
}

/// What one weak voice reports, a line each: open and counted as the rest.
fn weak(open: &[&Finding], listed: usize) -> Option<String> {
    let weak: Vec<&&Finding> = open.iter().filter(|finding| finding.support.folded).collect();
    if weak.is_empty() {
        return None;
    }
    let line = |finding: &&&Finding| {
        let (slug, place) = (code(&finding.slug), code(&place(finding)));
        format!("- **{}** {} {slug} — {place}: {}", finding.id, finding.p_code, inert(&finding.failure_mode))
    };
    let mut lines: Vec<String> = weak.iter().take(listed).map(line).collect();
    if weak.len() > listed {
        lines.push(format!("- … and {} more, in the JSON report", weak.len() - listed));
    }
    Some(folded(&format!("🔉 Reported by one weak voice ({})", weak.len()), &lines.join("\n")))
}

/// PR-109: what the team's dismissals suggest. It is in force when somebody writes it down.
fn proposals(document: &Document) -> Option<String> {
    let entry = |proposal: &Proposal| format!("💡 {}\n\n{}", inert(&proposal.sentence()), fenced("toml", &proposal.config));
    let entries: Vec<String> = document.proposals.iter().map(entry).collect();
    (!entries.is_empty()).then(|| entries.join("\n\n"))
}

/// Which findings would have an inline comment, if there were not so many of their priority.
fn beyond_caps(document: &Document, open: &[&Finding]) -> Option<String> {
    let beyond = |priority: Priority| {
        let listed = open.iter().filter(|finding| finding.p_code == priority && !finding.inline && !finding.support.folded);
        let ids: Vec<String> = listed.map(|finding| finding.id.to_string()).collect();
        let is_cut = !ids.is_empty() && is_posted_inline(priority, document.iteration);
        is_cut.then(|| format!("{} {priority} ({})", ids.len(), ids.join(", ")))
    };
    let counted: Vec<String> = [Priority::P1, Priority::P2].into_iter().filter_map(beyond).collect();
    (!counted.is_empty()).then(|| format!("📃 **Listed only**, beyond the limit of inline comments: {}", counted.join(", ")))
}

/// Findings that found no line, in full: demoted, never lost.
fn written_out(open: &[&Finding], links: &Links) -> Option<String> {
    let without: Vec<&&Finding> = open.iter().filter(|finding| links.without_line.contains(&finding.id)).collect();
    if without.is_empty() {
        return None;
    }
    let entries: Vec<String> = without
        .iter()
        .map(|finding| format!("### {} {}\n\n{}", finding.id, code(&place(finding)), super::inline::told(finding)))
        .collect();
    Some(folded(&format!("📎 Without a line of their own ({})", without.len()), &entries.join("\n\n")))
}

/// PR-132: waved away, by whom and why; what the author alone waved away still counts.
fn dismissed(document: &Document) -> Option<String> {
    let rows: Vec<String> = document
        .findings
        .iter()
        .filter_map(|finding| {
            let word = finding.dismissed.as_ref()?;
            let counts = if word.accepted { "" } else { " · still counts: the author alone cannot clear it" };
            Some(format!(
                "- **{}** {} {} — {}: {}{counts}",
                finding.id,
                finding.p_code,
                code(&place(finding)),
                inert(&word.by),
                inert(&word.reason)
            ))
        })
        .collect();
    (!rows.is_empty()).then(|| format!("## 🙈 Dismissed ({})\n\n{}", rows.len(), rows.join("\n")))
}

fn history(document: &Document) -> Option<String> {
    if document.history.is_empty() {
        return None;
    }
    let rows: Vec<String> = document
        .history
        .iter()
        .rev()
        .map(|past| {
            format!("| {} | `{}` | {} | {} |", past.iteration, past.head.short(), past.outcome.word(), inert(&past.words))
        })
        .collect();
    let table = format!("| Review | Head | Outcome | Open then |\n| --- | --- | --- | --- |\n{}", rows.join("\n"));
    Some(folded(&format!("🕘 Earlier reviews ({})", document.history.len()), &table))
}

fn place(finding: &Finding) -> String {
    format!("{}:{}", finding.file, finding.line_start)
}

fn adjustments(document: &Document) -> Option<String> {
    let rows: Vec<String> = document
        .findings
        .iter()
        .filter_map(|finding| {
            let adjustment = finding.severity_adjustment.as_ref()?;
            Some(format!(
                "| {} | {} | {} → {} | {} |",
                finding.id,
                inert(&finding.category),
                adjustment.from,
                adjustment.to,
                inert(&adjustment.reason)
            ))
        })
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "## ⚖️ Severity adjustments\n\n| # | Category | Adjustment | Reason |\n| --- | --- | --- | --- |\n{}",
            rows.join("\n")
        )
    })
}

fn iteration(document: &Document) -> Option<String> {
    let rows: Vec<String> = document
        .prior_verifications
        .iter()
        .map(|prior| {
            let name =
                format!("{} {} {} ({}:{})", prior.prior_id, prior.p_code, code(&prior.slug), inert(&prior.file), prior.line);
            format!("| {name} | {} |", inert(&prior.display()))
        })
        .collect();
    let heading = match &document.last_sha {
        Some(since) => format!("## 🔄 Last iteration changes (`{}..{}`)", since.short(), document.head.short()),
        None => "## 🔄 Earlier findings".to_owned(),
    };
    (!rows.is_empty()).then(|| format!("{heading}\n\n| Prior | Status |\n| --- | --- |\n{}", rows.join("\n")))
}

fn overview(findings: &[&Finding]) -> String {
    if findings.is_empty() {
        return "No open findings.".to_owned();
    }
    let mut rows: BTreeMap<&str, (BTreeMap<Priority, usize>, BTreeSet<&str>)> = BTreeMap::new();
    for finding in findings {
        let (counts, files) = rows.entry(finding.category.as_str()).or_default();
        *counts.entry(finding.p_code).or_default() += 1;
        files.insert(finding.file.as_str());
    }
    let mut table = "| Category | P0 | P1 | P2 | P3 | Q | Files |\n| --- | --- | --- | --- | --- | --- | --- |\n".to_owned();
    for (category, (counts, files)) in rows {
        let numbers: Vec<String> =
            Priority::ALL.iter().map(|priority| counts.get(priority).copied().unwrap_or(0).to_string()).collect();
        table.push_str(&format!("| {} | {} | {} |\n", inert(category), numbers.join(" | "), files.len()));
    }
    table.trim_end().to_owned()
}

fn spec_gaps(document: &Document) -> Option<String> {
    if document.spec_gaps.is_empty() {
        return None;
    }
    let entries: Vec<String> = document
        .spec_gaps
        .iter()
        .map(|gap| {
            let questions: Vec<String> = gap.questions.iter().enumerate().map(|(n, text)| format!("{}. {}", n + 1, inert(text))).collect();
            format!(
                "### ❓ {} {} — {}\n\n{} · spec-author confirm\n\n**Spec quote**:\n\n{}\n\n**Code quote**:\n\n{}\n\n**Question for spec author**:\n\n{}\n\nThis does not block.",
                gap.id,
                inert(&gap.section),
                inert(&gap.title),
                code(gap.blast.word()),
                fenced("text", &gap.spec_quote),
                fenced("text", &gap.code_quote),
                questions.join("\n")
            )
        })
        .collect();
    Some(folded(&format!("❓ Spec gap questions ({})", document.spec_gaps.len()), &entries.join("\n\n")))
}

/// SL-40 to SL-42: what is asked, and on what grounds.
fn references(document: &Document) -> Option<String> {
    if document.references.is_empty() {
        return None;
    }
    let entry = |hint: &Hint| {
        let section = if hint.section.is_empty() { String::new() } else { format!(", section {}", inert(&hint.section)) };
        let words: Vec<String> = hint.words.iter().map(|word| code(word)).collect();
        format!(
            "- {}\n  {}{section} · score {:.2} · in common: {}\n  > {}",
            inert(&hint.question()),
            code(&hint.place),
            hint.score,
            words.join(", "),
            inert(&hint.quote)
        )
    };
    let entries: Vec<String> = document.references.iter().map(entry).collect();
    let title = format!("🔎 References that may be missing ({})", document.references.len());
    Some(folded(&title, &format!("{}\n\nThese are questions, and block nothing.", entries.join("\n"))))
}

fn clean(document: &Document) -> String {
    if document.checked_and_clean.is_empty() {
        return "Nothing was checked and found clean.".to_owned();
    }
    let lines: Vec<String> =
        document.checked_and_clean.iter().map(|check| format!("- {}: {}", code(&check.slug), inert(&check.evidence))).collect();
    lines.join("\n")
}

/// Names that are listed for one reason.
const MAX_NAMES: usize = 10;

/// Every file that was not read in full, by reason and name.
fn not_read(document: &Document) -> Option<String> {
    let coverage = &document.receipt.coverage;
    let line = |words: &str, paths: Vec<&str>| {
        let names: Vec<String> = paths.iter().take(MAX_NAMES).map(|path| code(path)).collect();
        let more = match paths.len().saturating_sub(MAX_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more, in the JSON report"),
        };
        format!("- {words}: {}{more}", names.join(", "))
    };
    let groups = coverage.by_reason();
    let mut lines: Vec<String> = groups
        .iter()
        .map(|(words, accounts)| line(words, accounts.iter().map(|account| account.path.as_str()).collect()))
        .collect();
    let count: usize = groups.iter().map(|(_, accounts)| accounts.len()).sum();
    let by_lines: Vec<&str> = coverage.by_lines().map(|account| account.path.as_str()).collect();
    if !by_lines.is_empty() {
        lines.push(line("read by the rules line by line, without a grammar", by_lines));
    }
    (!lines.is_empty()).then(|| folded(&format!("📂 Not read in full ({count})"), &lines.join("\n")))
}

fn not_kept(document: &Document) -> Option<String> {
    let count: u32 = document.receipt.dropped.values().sum();
    if count == 0 {
        return None;
    }
    let lines: Vec<String> =
        document.receipt.dropped.iter().map(|(reason, count)| format!("- {count} × {}", reason.explanation())).collect();
    Some(folded(&format!("🗑️ Claims not kept ({count})"), &lines.join("\n")))
}

fn footer(document: &Document) -> String {
    let receipt = &document.receipt;
    let coverage = &receipt.coverage;
    let mut text = format!("<sub>Tribunal {} · reviewed `{}..{}`", receipt.engine, document.base.short(), document.head.short());
    if let Some(since) = &document.last_sha {
        text.push_str(&format!(" · last reviewed `{}`", since.short()));
    }
    text.push_str(&format!(
        " · {} of {} files read",
        coverage.reviewed + coverage.lines_only + coverage.unchanged,
        coverage.files
    ));
    if coverage.unread > 0 {
        text.push_str(&format!(", {} not read by anyone", coverage.unread));
    }
    if coverage.skipped > 0 {
        text.push_str(&format!(", {} exempt by the base", coverage.skipped));
    }
    if coverage.not_reviewed > 0 {
        text.push_str(&format!(", {} could not be read", coverage.not_reviewed));
    }
    text.push_str(&format!(
        " · outcome `{}` · verdict `{}` · run `{}`</sub>",
        document.outcome.word(),
        receipt.verdict_words(),
        receipt.run
    ));
    text
}

/// PR-7: when all reviewers fail, the failure is reported and nothing is published. No marker stands here, so that nobody takes
/// it for a review of this head.
fn nothing_to_publish(document: &Document) -> String {
    let reasons: Vec<String> = document
        .subagent_failures
        .iter()
        .map(|failure| format!("- {} ({}): {}", failure.seat.role, inert(failure.seat.agent.as_str()), inert(&failure.reason)))
        .collect();
    format!(
        "{}\n\n{}\n\nNobody has read `{}..{}`, so there is nothing to publish.\n",
        document.summary_line,
        reasons.join("\n"),
        document.base.short(),
        document.head.short()
    )
}

/// The whole of what `--format markdown` prints: the sticky body, then each inline comment under its place.
pub fn markdown(document: &Document) -> String {
    if !document.receipt.is_of_a_review() {
        return nothing_to_publish(document);
    }
    let mut text = sticky(document).into_string();
    for comment in super::inline::inline_comments(&document.findings) {
        text.push_str(&format!("\n---\n\n{}:\n\n{}", code(&format!("{}:{}", comment.path, comment.line)), comment.body));
    }
    text
}
