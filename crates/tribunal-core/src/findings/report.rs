//! What a reviewer answers: the JSON that a `command` agent prints, and what the built-in rules and SARIF readers produce too.
//!
//! One shape for all of them, so that one gate ([`super::admit`]) holds for all of them.

use super::admit::DropReason;
use super::scale::{Blast, Confidence, Justification, Severity};
use crate::ids::{CategoryCode, FindingId, RepoPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A reviewer's whole answer. Zero findings is a valid result (PR-56).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tribunal reviewer report, version 1")]
pub struct Report {
    /// Required: an answer without it, such as `{}`, says nothing about the change, and must not read as clean.
    pub findings: Vec<Claim>,
    /// Owned categories that do not apply to this change (PR-59).
    #[serde(default)]
    pub not_applicable: Vec<CategoryCode>,
    /// Owned categories that were looked at and found clean, with what was looked at.
    #[serde(default)]
    pub checked_clean: Vec<CleanCheck>,
    /// One entry for every prior finding that the brief listed (PR-70).
    #[serde(default)]
    pub prior: Vec<PriorStatus>,
    /// What is missing outside this change and blocks it (verdict `BLOCKED`).
    #[serde(default)]
    pub missing_prerequisites: Vec<String>,
    /// Paths the reviewer could not read, with the reason. Left empty: it read all it was given.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// Results of a linter that lie outside this change: too many to list, and counted. No part of the format.
    #[serde(skip)]
    pub left_alone: BTreeMap<DropReason, u32>,
}

/// One report from those on the parts of a change. A category is clean, or does not apply, only if every part says so.
pub fn join(reports: Vec<Report>) -> Report {
    let mut joined = Report::default();
    let clean_in_all = |category: &CategoryCode, all: &[Report]| {
        all.iter().all(|report| {
            report.checked_clean.iter().any(|check| &check.category == category) || report.not_applicable.contains(category)
        })
    };
    let inapplicable_in_all =
        |category: &CategoryCode, all: &[Report]| all.iter().all(|report| report.not_applicable.contains(category));
    for report in &reports {
        for check in &report.checked_clean {
            let known = joined.checked_clean.iter().any(|known| known.category == check.category);
            if !known && clean_in_all(&check.category, &reports) {
                joined.checked_clean.push(check.clone());
            }
        }
        for category in &report.not_applicable {
            if !joined.not_applicable.contains(category) && inapplicable_in_all(category, &reports) {
                joined.not_applicable.push(category.clone());
            }
        }
    }
    for report in reports {
        joined.findings.extend(report.findings);
        joined.unread.extend(report.unread);
        joined.missing_prerequisites.extend(report.missing_prerequisites);
        // A part in which a defect's code does not stand cannot say that it is gone: only the clearest answer counts, and a
        // defect that is seen in one part is not gone because another part does not show it.
        for status in report.prior {
            match joined.prior.iter_mut().find(|known| known.id == status.id) {
                Some(known) if known.verification == Verification::Unclear || status.verification == Verification::No => {
                    *known = status;
                }
                Some(_) => {}
                None => joined.prior.push(status),
            }
        }
    }
    joined
}

/// One defect claim in the finding contract (PR-57).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub category: CategoryCode,
    pub file: RepoPath,
    /// Only a hint: the line is found from the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    pub confidence: Confidence,
    pub blast: Blast,
    /// Absent means hygiene (PR-60).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub justification: Option<Justification>,
    /// Lines of the diff, verbatim. Without it the claim is dropped (PR-58).
    #[serde(default)]
    pub evidence: String,
    /// One line: what breaks if this ships.
    pub failure_mode: String,
    /// One line: the fix.
    #[serde(default)]
    pub mitigation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// Kebab case name of the problem; the category's slug if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The drop signal the reviewer saw itself (PR-62).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<DropSignal>,
    /// `spec-auditor`: the sentence of the spec that is violated, verbatim. `evidence` is its code quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_quote: Option<String>,
    /// Questions for the spec's author; makes the claim a spec gap (PR-53).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The fix lies outside this change (verdict map, CF-12).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mitigation_out_of_scope: bool,
    /// `true`: code only; `false`: data or contracts are gone once shipped (PR-92). Absent when unclear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversible: Option<bool>,
    /// The rule that fired, for rules and linters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// A replacement that repairs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
    /// How the data gets there: the source, the steps, the sink. Only rules know it: no part of the format.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub trace: Vec<TraceStep>,
}

/// One line on the way of data through a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceStep {
    /// A line of the new file, counted from 1.
    pub line: u32,
    /// What happens there, in a few words.
    pub note: String,
}

/// Why a claim may not deserve to be said (PR-62, PR-127). Each has one outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropSignal {
    /// (A) needs a refactoring that nobody has planned.
    Hypothetical,
    /// (B) about code that the last fix wrote.
    SelfIntroduced,
    /// (C) pins how code is called instead of what it must do.
    CallShape,
    /// (D) style without effect at run time.
    Style,
    /// (E) the author dismissed it earlier, and nothing new is known.
    Dismissed,
    /// (F) outside the scope that the change declares.
    OutOfScope,
}

/// Whole lines of the new file, replaced by other text. Lines are 1-based and inclusive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fix {
    pub line_start: u32,
    pub line_end: u32,
    /// Without the last line's newline. Empty: the lines are deleted.
    pub replacement: String,
    #[serde(default, skip_serializing_if = "FixKind::is_safe")]
    pub kind: FixKind,
    /// Lines that the replacement needs elsewhere in the file, such as imports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub insertions: Vec<Insertion>,
}

/// Who may apply a fix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FixKind {
    /// The fixer applies it unattended.
    #[default]
    Safe,
    /// It holds a choice: a person or a model decides.
    Offered,
}

/// New lines, put before a line of the file as it is. A line behind the last one appends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Insertion {
    pub line: u32,
    /// Without the last line's newline.
    pub text: String,
}

impl FixKind {
    pub fn is_safe(&self) -> bool {
        matches!(self, FixKind::Safe)
    }
}

impl Fix {
    /// Replaces lines and nothing else.
    pub fn of_lines(line_start: u32, line_end: u32, replacement: String) -> Self {
        Self { line_start, line_end, replacement, kind: FixKind::Safe, insertions: Vec::new() }
    }

    /// Everything that it would write.
    pub fn written(&self) -> String {
        let inserted = self.insertions.iter().map(|insertion| insertion.text.as_str());
        std::iter::once(self.replacement.as_str()).chain(inserted).collect::<Vec<_>>().join("\n")
    }

    /// Whether its lines are lines.
    pub fn is_well_placed(&self) -> bool {
        self.line_start >= 1 && self.line_start <= self.line_end && self.insertions.iter().all(|insertion| insertion.line >= 1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CleanCheck {
    pub category: CategoryCode,
    /// One line: what was looked at.
    pub evidence: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorStatus {
    pub id: FindingId,
    pub verification: Verification,
    /// What changed, or what still stands. A `yes` without it does not count.
    pub note: String,
    /// Nothing changed in the code: the rule that reported it is switched off or silenced. Said by rules alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub is_switched_off: bool,
}

/// Is the defect gone? (PR-70, PR-72)
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verification {
    Yes,
    Unclear,
    No,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unread {
    pub path: RepoPath,
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 4, build 4: what one part did not look at is not clean.
    #[test]
    fn clean_means_clean_in_every_part() {
        let clean = |codes: &[&str]| Report {
            checked_clean: codes.iter().map(|code| CleanCheck { category: (*code).into(), evidence: "looked".into() }).collect(),
            ..Report::default()
        };
        let joined = join(vec![clean(&["S1", "S2"]), clean(&["S2"])]);
        assert_eq!(joined.checked_clean.iter().map(|check| check.category.as_str()).collect::<Vec<_>>(), ["S2"]);
    }
}
