//! A merged finding: the unit that is shown, stored, compared and published. Its JSON keys are those of PR-36, extended.

use super::agreement::Support;
use super::dismissal::Dismissed;
use crate::findings::anchor::Side;
use crate::findings::race::RaceTag;
use crate::findings::report::{Fix, TraceStep};
use crate::findings::scale::{Blast, Confidence, Justification, Priority, Severity};
use crate::ids::{AgentName, CategoryCode, FindingId, FindingKey, RepoPath, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub id: FindingId,
    pub key: FindingKey,
    pub p_code: Priority,
    pub severity_emoji: String,
    pub slug: String,
    /// The category as the reviewer wrote it: `[S1 Input validation / trust boundary]`.
    pub category: String,
    pub category_code: CategoryCode,
    pub file: RepoPath,
    pub line_start: u32,
    pub line_end: u32,
    /// `old` for what was deleted.
    pub side: Side,
    /// The function or type around it; empty at the top level.
    pub symbol: String,
    pub confidence: Confidence,
    pub blast: Blast,
    pub justification: Justification,
    pub failure_mode: String,
    pub mitigation: String,
    pub evidence: String,
    pub details: Option<String>,
    pub notes: Option<String>,
    pub severity_adjustment: Option<SeverityAdjustment>,
    /// Everyone who reported it. More than one is a signal worth seeing.
    pub agreement: Vec<Voice>,
    /// What its voices are worth together.
    #[serde(default)]
    pub support: Support,
    /// What the others said of the same defect, in their words; with the line if they cite another one.
    pub also: Vec<String>,
    /// Where the others cite it, if not here in this category, and the fixes that they propose instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<FindingPlace>,
    /// Further places in the same file where the same rule matches. They stand and fall with this finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<FurtherPlace>,
    /// Other findings at the same lines (PR-74).
    pub related: Vec<FindingId>,
    pub origin: FindingOrigin,
    pub reversible: Option<bool>,
    pub race: Option<RaceTag>,
    pub rule: Option<String>,
    pub fix: Option<Fix>,
    /// How the data gets there, where a rule has followed it: the source, the steps, the sink.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// The fix lies outside this change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mitigation_out_of_scope: bool,
    /// Would be posted on its line; the rest is listed in the summary.
    pub inline: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissed: Option<Dismissed>,
}

/// How many repeats a text names.
const MAX_SHOWN_REPEATS: usize = 20;

/// Where another reviewer reported the same defect.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FindingPlace {
    pub line_start: u32,
    pub line_end: u32,
    pub category_code: CategoryCode,
    /// The function or type around it; empty at the top level.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub symbol: String,
    pub evidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    /// Every place that it was reported at, its own first.
    pub fn all_places(&self) -> impl Iterator<Item = FindingPlace> + '_ {
        let own = FindingPlace {
            line_start: self.line_start,
            line_end: self.line_end,
            category_code: self.category_code.clone(),
            symbol: self.symbol.clone(),
            evidence: self.evidence.clone(),
            fix: self.fix.clone(),
        };
        std::iter::once(own).chain(self.places.iter().cloned())
    }

    /// Names the lines of the further places, for people. Nothing for a finding with one place.
    pub fn further_lines(&self) -> Option<String> {
        let (shown, rest) = self.repeats.split_at(self.repeats.len().min(MAX_SHOWN_REPEATS));
        let lines: Vec<String> = shown.iter().map(|place| place.line_start.to_string()).collect();
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let noun = if self.repeats.len() == 1 { "line" } else { "lines" };
        (!lines.is_empty()).then(|| format!("the same in {noun} {}{more}", lines.join(", ")))
    }

    /// Does it count against the change? Only an accepted dismissal takes it out.
    pub fn counts(&self) -> bool {
        !self.dismissed.as_ref().is_some_and(|dismissed| dismissed.accepted)
    }
}

/// A place of a repeated finding that is not its first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FurtherPlace {
    /// The key that a finding of this place alone would have.
    pub key: FindingKey,
    pub line_start: u32,
    pub line_end: u32,
    pub symbol: String,
    pub evidence: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Voice {
    pub role: RoleName,
    pub agent: AgentName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Which of several samples of the agent; 0 for the first or only one.
    #[serde(default, skip_serializing_if = "crate::plan::panel::is_first")]
    pub sample: u32,
}

impl Voice {
    /// The same reviewer in the same role, whichever time it was asked.
    pub fn is_same_reviewer(&self, other: &Voice) -> bool {
        (&self.role, &self.agent, &self.rule) == (&other.role, &other.agent, &other.rule)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingOrigin {
    /// Found in this review.
    Fresh,
    /// Found earlier and not shown to be fixed.
    Carried,
}

/// Why the merged weight differs from what the reviewer said. Always shown (PR-77, PR-109).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeverityAdjustment {
    pub from: String,
    pub to: String,
    pub reason: String,
}

/// A question for the author of the spec. Never blocks, never counts against the change (PR-53, PR-107).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpecGap {
    pub id: FindingId,
    pub key: FindingKey,
    pub section: String,
    pub title: String,
    pub spec_quote: String,
    pub code_quote: String,
    pub questions: Vec<String>,
    pub file: RepoPath,
    pub line: u32,
    pub blast: Blast,
}

/// A finding on its way: merged, but without weight and without a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub key: FindingKey,
    pub slug: String,
    pub lead: crate::findings::admit::Admitted,
    pub agreement: Vec<Voice>,
    pub also: Vec<String>,
    pub places: Vec<FindingPlace>,
    /// A batch is a question whatever its members were.
    pub forced: Option<Severity>,
}

/// Most urgent first, then what was found here, then what more voices said, then by place.
pub fn order(a: &Finding, b: &Finding) -> Ordering {
    let rank = |finding: &Finding| (finding.p_code, finding.key.is_brought(), finding.support.folded, finding.support.rank());
    rank(a).cmp(&rank(b)).then_with(|| by_place(a, b))
}

/// Most urgent first, then by place (PR-85): how a summary lists them.
pub fn listing_order(a: &Finding, b: &Finding) -> Ordering {
    (a.p_code, a.key.is_brought()).cmp(&(b.p_code, b.key.is_brought())).then_with(|| by_place(a, b))
}

fn by_place(a: &Finding, b: &Finding) -> Ordering {
    let place = |finding: &Finding| (finding.line_start, finding.line_end);
    (&a.file, place(a), &a.category_code, &a.key).cmp(&(&b.file, place(b), &b.category_code, &b.key))
}
