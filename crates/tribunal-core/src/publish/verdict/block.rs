//! The verdict block (TS-24 to TS-27): what stands in the body of the review, and below it what its reader is to do.

use super::{Assessment, Sitting};
use crate::combine::finding::Finding;
use crate::combine::verdict::Verdict;
use crate::findings::scale::Priority;
use crate::publish::markdown::{code, fenced, inert};
use crate::publish::outgoing::filtered;
use crate::publish::visible::{visible, visible_line};
use crate::report::document::Document;
use crate::report::receipt::LookedBy;

/// More are counted: nobody acts on a longer list.
const MAX_FINDINGS: usize = 20;
/// Of one sentence of a reviewer's.
const MAX_SENTENCE: usize = 600;
/// Of one replacement that is written out.
const MAX_FIX: usize = 2_000;

/// What is said.
pub struct Block<'a> {
    pub document: &'a Document,
    pub verdict: Verdict,
    pub sitting: &'a Sitting,
    /// Where a fix goes.
    pub branch: &'a str,
    /// Whole lines for the end, in our own words: whom it concerns, and what is asked of them.
    pub closing: &'a [String],
}

/// TS-25: what comes next is a function of the verdict.
pub fn next(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Lgtm => "merge",
        Verdict::Minor => "address-and-resubmit",
        Verdict::Major | Verdict::Blocked => "escalate-to-invoker",
    }
}

/// At most so many bytes. What is dropped first is what is also told elsewhere: written-out fixes, then findings from the end.
pub fn words(block: &Block<'_>, limit: usize) -> String {
    let findings = deciding(block.document);
    let most = findings.len().min(MAX_FINDINGS);
    let mut said = String::new();
    // All findings without their fixes say more than some of them with theirs.
    for (shown, fixes) in (0..=most).rev().flat_map(|shown| [(shown, true), (shown, false)]) {
        said = written(block, &findings, shown, fixes);
        if said.len() > limit {
            continue;
        }
        said = filtered(&said);
        if said.len() <= limit {
            return said;
        }
    }
    cut(&filtered(&said), limit)
}

fn written(block: &Block<'_>, findings: &[&Finding], shown: usize, fixes: bool) -> String {
    let mut said = format!(
        "VERDICT: {}\n\nFINDINGS:\n{}\n\nNEXT: {}\n",
        block.verdict.word(),
        bullets(block, findings, shown),
        next(block.verdict)
    );
    let mut below = Vec::new();
    if block.verdict == Verdict::Minor && !is_final(block.sitting) {
        below.push(format!(
            "Please push a fix commit for what is listed above to the same branch, {}, and open no new pull request.",
            code(&visible_line(block.branch))
        ));
        if fixes {
            below.extend(findings.iter().take(shown).filter_map(|finding| fix(finding)));
        }
    }
    if is_final(block.sitting) {
        below.push(FINAL.to_owned());
    }
    let lighter = block.document.findings.iter().filter(|finding| finding.counts()).count() - findings.len();
    if lighter > 0 {
        let (remarks, they) = if lighter == 1 { ("remark", "it does") } else { ("remarks", "they do") };
        below.push(format!("{lighter} lighter {remarks} besides; {they} not count against the change."));
    }
    if only_rules_looked(block.document) {
        below.push(ONLY_RULES.to_owned());
    }
    below.extend(block.closing.iter().cloned());
    for paragraph in below {
        said.push_str(&format!("\n{paragraph}\n"));
    }
    said
}

/// TS-26.
const FINAL: &str = "This was the second and last assessment (ASSESS-2): one refinement is the cap, so this verdict is final.";

/// TS-18: nobody who can read has compared the change with its criteria, and its reader must not think so.
const ONLY_RULES: &str = "Only rules and linters have looked: nobody has held the change against what its issue asks for.";

fn only_rules_looked(document: &Document) -> bool {
    matches!(document.receipt.looked_by(), LookedBy::RulesAlone(_))
}

fn is_final(sitting: &Sitting) -> bool {
    matches!(sitting, Sitting::Settle { assessment: Assessment::Second })
}

/// Those that the verdict rests on (CF-12), the most urgent first.
fn deciding(document: &Document) -> Vec<&Finding> {
    let decides = |finding: &&Finding| finding.counts() && matches!(finding.p_code, Priority::P0 | Priority::P1);
    document.findings.iter().filter(decides).collect()
}

fn bullets(block: &Block<'_>, findings: &[&Finding], shown: usize) -> String {
    if block.verdict == Verdict::Lgtm {
        return "- none".to_owned();
    }
    let missing =
        block.document.missing_prerequisites.iter().map(|what| format!("- missing: {} [severity: major]", sentence(what)));
    let told = findings.iter().take(shown).map(|finding| bullet(finding));
    let rest = &findings[shown..];
    let more = (!rest.is_empty())
        .then(|| format!("- {} more, told on their lines or in the summary [severity: {}]", rest.len(), heaviest(rest)));
    let lines: Vec<String> = missing.take(MAX_FINDINGS).chain(told).chain(more).collect();
    lines.join("\n")
}

fn bullet(finding: &Finding) -> String {
    let place = code(&visible_line(&format!("{}:{}", finding.file, finding.line_start)));
    let mut line = format!("- {} {} {place}: {}", finding.id, finding.p_code, sentence(&finding.failure_mode));
    if !finding.mitigation.is_empty() {
        line.push_str(&format!(" Wanted: {}", sentence(&finding.mitigation)));
    }
    format!("{line} [severity: {}]", severity(finding))
}

/// TS-22: can it be fixed here, without anybody's decision?
fn severity(finding: &Finding) -> &'static str {
    let fixable = !finding.mitigation.is_empty() && !finding.mitigation_out_of_scope;
    match finding.p_code {
        Priority::P0 => "major",
        Priority::P1 if !fixable => "major",
        Priority::P1 | Priority::P2 | Priority::P3 | Priority::Q => "minor",
    }
}

fn heaviest(findings: &[&Finding]) -> &'static str {
    if findings.iter().any(|finding| severity(finding) == "major") { "major" } else { "minor" }
}

/// TS-68: the exact change, where the reviewer gave one.
fn fix(finding: &Finding) -> Option<String> {
    let fix = finding.fix.as_ref().filter(|fix| fix.written().len() <= MAX_FIX)?;
    let lines = if fix.line_start == fix.line_end {
        format!("line {}", fix.line_start)
    } else {
        format!("lines {} to {}", fix.line_start, fix.line_end)
    };
    let place = format!("{} in {}, {lines}", finding.id, code(&visible_line(finding.file.as_str())));
    let choice = if fix.kind.is_safe() { "" } else { " (one way, not the only one)" };
    let main = match fix.replacement.as_str() {
        "" => format!("{place}{choice}: delete."),
        text => format!("{place}{choice}, replaced by:\n\n{}", fenced("", &visible(text))),
    };
    let added =
        fix.insertions.iter().map(|added| format!("and before line {}:\n\n{}", added.line, fenced("", &visible(&added.text))));
    Some(std::iter::once(main).chain(added).collect::<Vec<_>>().join("\n\n"))
}

/// Somebody else's sentence: one line, harmless, and not too long.
fn sentence(text: &str) -> String {
    let line = inert(&cut(&visible_line(text.trim()), MAX_SENTENCE));
    if line.ends_with(['.', '!', '?', '…']) { line } else { line + "." }
}

/// At most so many bytes, cut between characters.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
