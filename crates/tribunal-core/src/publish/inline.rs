//! The body of an inline comment (PR-90 to PR-93), as it would be published.

use super::markdown::{fenced, inert};
use super::marker::note;
use super::outgoing::{HiddenLine, Outgoing};
use crate::combine::finding::Finding;
use crate::findings::admit::FIX_LEFT_OUT;
use crate::findings::anchor::Side;
use crate::findings::report::{Fix, FixKind, TraceStep};
use crate::findings::scale::{Justification, Priority};
use crate::pull::capability::{Capabilities, Capability};
use crate::pull::place::ForgeKind;
use serde::Serialize;

/// One comment on one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InlineComment {
    pub path: String,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    pub side: &'static str,
    pub body: Outgoing,
}

/// How a forge writes a suggestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    GitHub,
    /// The range is counted from the commented line.
    GitLab,
    /// Nothing there can be applied by a click, so the fix is only shown.
    Plain,
}

impl Dialect {
    pub fn of(capabilities: &Capabilities) -> Self {
        match (capabilities.can(Capability::Suggestions), capabilities.kind) {
            (true, ForgeKind::GitLab) => Dialect::GitLab,
            (true, _) => Dialect::GitHub,
            (false, _) => Dialect::Plain,
        }
    }
}

pub fn inline_comments(findings: &[Finding]) -> Vec<InlineComment> {
    findings.iter().filter(|finding| finding.inline).map(inline_comment).collect()
}

fn inline_comment(finding: &Finding) -> InlineComment {
    InlineComment {
        path: finding.file.0.clone(),
        line: finding.line_end,
        start_line: (finding.line_start != finding.line_end).then_some(finding.line_start),
        side: match finding.side {
            Side::New => "RIGHT",
            Side::Old => "LEFT",
        },
        body: inline_body(finding, Dialect::GitHub, None),
    }
}

/// The comment, with our mark in its last line if there is one.
pub fn inline_body(finding: &Finding, dialect: Dialect, mark: Option<HiddenLine>) -> Outgoing {
    let colour = match finding.p_code {
        Priority::P0 => "red",
        Priority::P1 => "orange",
        Priority::P2 | Priority::P3 | Priority::Q => "yellow",
    };
    let code = finding.p_code.code();
    let mut body = format!("**![{code}](https://img.shields.io/badge/{code}-{colour}) {}**\n\n", finding.slug);
    body.push_str(&claim(finding));
    if let Some(fix) = suggestion(finding, dialect) {
        body.push_str(&format!("{fix}\n\n"));
    }
    if let Some(reason) = fix_left_out(finding) {
        body.push_str(&format!("{}\n\n", inert(reason)));
    }
    body.push_str(&proof(finding));
    let own = [note("finding-id", &finding.id.to_string()), note("justification", finding.justification.word())];
    Outgoing::marked(&[], &body, &own.into_iter().chain(mark).collect::<Vec<_>>())
}

/// The same without a line under it, for the summary.
pub fn told(finding: &Finding) -> String {
    format!("**{} {}**\n\n{}{}", finding.p_code, finding.slug, claim(finding), proof(finding))
}

fn claim(finding: &Finding) -> String {
    let mut body = format!("**Failure mode**: {}\n\n", inert(&finding.failure_mode));
    if !finding.mitigation.is_empty() {
        body.push_str(&format!("**Mitigation**: {}\n\n", inert(&finding.mitigation)));
    }
    body
}

fn proof(finding: &Finding) -> String {
    let mut body = String::new();
    let sign = match finding.side {
        Side::New => '+',
        Side::Old => '-',
    };
    let evidence: Vec<String> = finding.evidence.lines().map(|line| format!("{sign}{line}")).collect();
    body.push_str(&format!("<details><summary>Evidence</summary>\n\n{}\n\n</details>\n\n", fenced("diff", &evidence.join("\n"))));
    if !finding.trace.is_empty() {
        body.push_str(&format!(
            "<details><summary>How the data gets there</summary>\n\n{}\n\n</details>\n\n",
            path_of_data(finding)
        ));
    }
    if let Some(places) = finding.further_lines() {
        body.push_str(&format!(
            "<details><summary>{} further places</summary>\n\nIn this file, {places}.\n\n</details>\n\n",
            finding.repeats.len()
        ));
    }
    if !finding.also.is_empty() {
        let also: Vec<String> = finding.also.iter().map(|text| format!("- {}", inert(text))).collect();
        body.push_str(&format!("<details><summary>Also said of this place</summary>\n\n{}\n\n</details>\n\n", also.join("\n")));
    }
    body.push_str(&format!("<sub>{}</sub>\n", facts(finding)));
    body
}

/// The steps of a trace as a numbered list.
fn path_of_data(finding: &Finding) -> String {
    let step = |(number, step): (usize, &TraceStep)| format!("{number}. line {}: {}", step.line, inert(&step.note));
    (1..).zip(&finding.trace).map(step).collect::<Vec<_>>().join("\n")
}

/// `blast: … · reversible · confidence: … · justification: …`; an unclear reversibility is left out (PR-92).
fn facts(finding: &Finding) -> String {
    let mut parts = vec![format!("blast: {}", finding.blast.word())];
    match finding.reversible {
        Some(true) => parts.push("reversible".into()),
        Some(false) => parts.push("not reversible".into()),
        None => {}
    }
    parts.push(format!("confidence: {}", finding.support.confidence_words(finding.confidence)));
    if finding.justification != Justification::Hygiene {
        parts.push(format!("justification: {}", finding.justification.word()));
    }
    let agents: std::collections::BTreeSet<_> = finding.agreement.iter().map(|voice| &voice.agent).collect();
    if agents.len() > 1 {
        parts.push(format!("{} reviewers agree", agents.len()));
    }
    parts.join(" · ")
}

/// Why a fix that the reviewer proposed is not shown.
fn fix_left_out(finding: &Finding) -> Option<&str> {
    let notes = finding.notes.as_deref()?;
    notes.find(FIX_LEFT_OUT).map(|at| &notes[at..])
}

/// A suggestion block replaces exactly the anchored lines; what touches others is shown as text.
fn suggestion(finding: &Finding, dialect: Dialect) -> Option<String> {
    let fix = finding.fix.as_ref().filter(|_| finding.side == Side::New)?;
    let is_anchored = (fix.line_start, fix.line_end) == (finding.line_start, finding.line_end);
    let shown = match dialect {
        Dialect::GitHub if is_anchored && fix.insertions.is_empty() => suggestion_block("suggestion", &fix.replacement),
        // The comment stands on the last line, so the range reaches up from there.
        Dialect::GitLab if is_anchored && fix.insertions.is_empty() => {
            suggestion_block(&format!("suggestion:-{}+0", finding.line_end - finding.line_start), &fix.replacement)
        }
        Dialect::GitHub | Dialect::GitLab | Dialect::Plain => shown_fix(finding, fix),
    };
    Some(match fix.kind {
        FixKind::Safe => shown,
        FixKind::Offered => format!("{shown}\n\nThis is one way to fix it. Check that it is the one you want."),
    })
}

/// A block without any line deletes; one with an empty line leaves that.
fn suggestion_block(info: &str, replacement: &str) -> String {
    if replacement.is_empty() { format!("```{info}\n```") } else { fenced(info, replacement) }
}

/// A fix as code with its places.
fn shown_fix(finding: &Finding, fix: &Fix) -> String {
    let language = finding.file.extension().filter(|ext| ext.bytes().all(|byte| byte.is_ascii_alphanumeric())).unwrap_or("");
    let is_anchored = (fix.line_start, fix.line_end) == (finding.line_start, finding.line_end);
    let lines = match (fix.line_start, fix.line_end) {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("lines {first} to {last}"),
    };
    let main = match fix.replacement.as_str() {
        "" => format!("**Suggested**: delete {lines}."),
        text if is_anchored && fix.insertions.is_empty() => format!("**Suggested**:\n\n{}", fenced(language, text)),
        text => format!("**Suggested** for {lines}:\n\n{}", fenced(language, text)),
    };
    let added =
        fix.insertions.iter().map(|added| format!("Add before line {}:\n\n{}", added.line, fenced(language, &added.text)));
    std::iter::once(main).chain(added).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remedy::suggestion::parse_suggestion;

    /// What is read back from a block is what was meant, also where that is nothing.
    #[test]
    fn a_block_says_what_stands_there_afterwards() {
        let lines = |replacement: &str| parse_suggestion(&suggestion_block("suggestion", replacement)).unwrap().lines;
        assert_eq!(lines(""), Vec::<String>::new());
        assert_eq!(lines("a\n\nb"), ["a", "", "b"]);
    }
}
