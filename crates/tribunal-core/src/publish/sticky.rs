//! The sticky summary comment (PR-85 to PR-89), as it would be published.

use super::markdown::{code, fenced, inert};
use crate::combine::finding::Finding;
use crate::combine::verdict::Verdict;
use crate::findings::scale::Priority;
use crate::report::document::Document;
use std::collections::{BTreeMap, BTreeSet};

pub fn sticky(document: &Document) -> String {
    let mut parts = vec![format!("<!-- pr-review:sticky -->\n<!-- pr-review:sha={} -->", document.head)];
    parts.push("> 🤖 Automated review by Tribunal. People decide.".to_owned());
    for notice in &document.notices {
        parts.push(format!("> {}", inert(notice)));
    }
    parts.push(document.summary_line.clone());
    if document.findings.len() >= 2 {
        parts.push(format!("> {}", narrative(&document.findings)));
    }
    parts.extend(open_list(document));
    let inline = document.findings.iter().filter(|finding| finding.inline).count();
    if inline > 0 {
        parts.push(format!("📍 **Inline comments**: {inline} on the lines they speak of, under *Files changed*"));
    }
    parts.extend(adjustments(document));
    parts.extend(iteration(document));
    parts.push(folded("📊 Overview by category", &overview(&document.findings)));
    parts.extend(spec_gaps(document));
    parts.push(folded(&format!("✅ Checked & clean ({})", document.checked_and_clean.len()), &clean(document)));
    parts.extend(not_kept(document));
    parts.push(format!("---\n\n{}", footer(document)));
    parts.join("\n\n") + "\n"
}

fn folded(summary: &str, body: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n{body}\n\n</details>")
}

/// One line on the shape of the cluster: where it is and what it is about.
fn narrative(findings: &[Finding]) -> String {
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

fn open_list(document: &Document) -> Option<String> {
    let listed_p3 = document.max_listed_p3 as usize;
    if document.findings.is_empty() {
        return None;
    }
    let (minor, main): (Vec<&Finding>, Vec<&Finding>) =
        document.findings.iter().partition(|finding| finding.p_code == Priority::P3);
    let bullet = |finding: &&Finding| {
        format!("- **{}** {} {} — {}", finding.id, finding.p_code, code(&finding.slug), code(&place(finding)))
    };
    let mut lines: Vec<String> = main.iter().map(bullet).collect();
    lines.extend(minor.iter().take(listed_p3).map(bullet));
    if minor.len() > listed_p3 {
        lines.push(format!("- … and {} more P3, in the JSON report", minor.len() - listed_p3));
    }
    Some(format!("## 📋 Currently open ({})\n\n{}", document.findings.len(), lines.join("\n")))
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
    let since = document.last_sha.as_ref()?;
    let rows: Vec<String> = document
        .prior_verifications
        .iter()
        .map(|prior| {
            let name =
                format!("{} {} {} ({}:{})", prior.prior_id, prior.p_code, code(&prior.slug), inert(&prior.file), prior.line);
            format!("| {name} | {} |", inert(&prior.display()))
        })
        .collect();
    let heading = format!("## 🔄 Last iteration changes (`{}..{}`)", since.short(), document.head.short());
    (!rows.is_empty()).then(|| format!("{heading}\n\n| Prior | Status |\n| --- | --- |\n{}", rows.join("\n")))
}

fn overview(findings: &[Finding]) -> String {
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

fn clean(document: &Document) -> String {
    if document.checked_and_clean.is_empty() {
        return "Nothing was checked and found clean.".to_owned();
    }
    let lines: Vec<String> =
        document.checked_and_clean.iter().map(|check| format!("- {}: {}", code(&check.slug), inert(&check.evidence))).collect();
    lines.join("\n")
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
        text.push_str(&format!(", {} skipped by rule or size", coverage.skipped));
    }
    text.push_str(&format!(
        " · outcome `{}` · verdict `{}` · run `{}`</sub>",
        document.outcome.word(),
        Verdict::words(document.verdict),
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
    let mut text = sticky(document);
    for comment in super::inline::inline_comments(&document.findings) {
        text.push_str(&format!("\n<!-- inline: {}:{} -->\n\n{}", comment.path.replace("--", "- -"), comment.line, comment.body));
    }
    text
}
