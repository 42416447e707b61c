//! The one document a review ends in. Every format (terminal, JSON, SARIF, rdjson, Markdown) is a view of it.

use super::history::PastReview;
use super::publication::{Publication, PullSubject};
use super::receipt::{Receipt, SeatState};
use crate::combine::CleanSlug;
use crate::combine::finding::{Finding, SpecGap};
use crate::combine::opinion::Refuted;
use crate::combine::prior::PriorVerification;
use crate::combine::rule_proposal::Proposal;
use crate::combine::verdict::{FailLevel, HoldUp, Outcome, Status, Tier, Verdict, exit_code};
use crate::findings::admit::Dropped;
use crate::ids::Sha;
use crate::library::hint::Hint;
use crate::plan::panel::Seat;
use crate::publish::visible::{visible, visible_line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// PR-36's document with its key names, extended by what a receipt needs. Version 1; keys are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal review document, version 1")]
pub struct Document {
    pub version: u32,
    /// `local`, or `pull` for a pull request.
    pub mode: String,
    pub base: Sha,
    pub head: Sha,
    pub last_sha: Option<Sha>,
    pub status: Status,
    /// The severity tier, which `partial-failure` would hide (PR-38).
    pub tier: Tier,
    pub outcome: Outcome,
    /// Absent when the review is incomplete and nothing was found.
    pub verdict: Option<Verdict>,
    pub subagent_failures: Vec<SeatFailure>,
    pub summary_line: String,
    pub findings: Vec<Finding>,
    pub spec_gaps: Vec<SpecGap>,
    pub prior_verifications: Vec<PriorVerification>,
    pub checked_and_clean: Vec<CleanSlug>,
    pub missing_prerequisites: Vec<String>,
    /// Claims that were not kept, and why. Never silent.
    pub dropped: Vec<Dropped>,
    /// Records and issues that the change should perhaps name. Questions, which never block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Hint>,
    /// Findings that a second opinion refuted.
    #[serde(default)]
    pub refuted: Vec<Refuted>,
    /// Lines of configuration that this team's dismissals suggest. None is in force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Proposal>,
    /// What a reader should know before the findings: a widened review, files that were not read, who looked.
    pub notices: Vec<String>,
    pub fail_level: FailLevel,
    /// 1 for the first review of a case.
    #[serde(default = "first")]
    pub iteration: u32,
    /// Earlier reviews of the same case, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<PastReview>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullSubject>,
    /// What was posted of it; nothing when it was not to be posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publication: Option<Publication>,
    /// How many P3 findings a summary lists; the rest is only counted there.
    pub max_listed_p3: u32,
    pub receipt: Receipt,
}

fn first() -> u32 {
    1
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeatFailure {
    #[serde(flatten)]
    pub seat: Seat,
    pub reason: String,
}

impl Document {
    pub fn exit_code(&self) -> u8 {
        exit_code(self.outcome, self.hold_up(), &self.findings, self.fail_level)
    }

    /// What kept the review from being whole.
    fn hold_up(&self) -> HoldUp {
        let standing = self.receipt.seats.iter().filter(|seat| seat.replaced_by.is_none()).map(|seat| &seat.state);
        let states = standing.chain(self.receipt.second_opinion.iter().map(|opinion| &opinion.state));
        let troubled: Vec<&SeatState> = states.filter(|state| **state != SeatState::Ok).collect();
        if troubled.iter().any(|state| matches!(state, SeatState::OverBudget { .. })) {
            HoldUp::Budget
        } else if !troubled.is_empty() && troubled.iter().all(|state| matches!(state, SeatState::Unavailable { .. })) {
            HoldUp::Outage
        } else {
            HoldUp::Other
        }
    }

    /// The same review, shown again because nothing changed since (PR-34). What was open still is, so it is shown too.
    pub fn standing(self) -> Self {
        Document { status: Status::Noop, ..self }
    }

    /// The document for people's eyes: control characters and invisible ones, which a change may hold to fool a terminal or a
    /// reader, are written out. Only for showing; keys and evidence of the stored document stay as they are.
    pub fn for_display(&self) -> Self {
        let shown = serde_json::to_value(self).map(|value| displayed(value, false)).and_then(serde_json::from_value);
        shown.unwrap_or_else(|_| self.clone())
    }

    /// The bytes that are stored, compared and printed with `--format json`.
    pub fn to_json(&self) -> String {
        // A struct of strings, numbers and lists always serialises.
        serde_json::to_string_pretty(self).map(|text| text + "\n").unwrap_or_default()
    }
}

fn displayed(value: Value, one_line: bool) -> Value {
    match value {
        Value::String(text) => Value::String(if one_line { visible_line(&text) } else { visible(&text) }),
        Value::Array(items) => Value::Array(items.into_iter().map(|item| displayed(item, one_line)).collect()),
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .map(|(key, value)| {
                    // Paths, and sentences that may name one.
                    let one_line = matches!(key.as_str(), "file" | "path" | "subject" | "notices" | "reason" | "summary_line");
                    (key, displayed(value, one_line))
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}
