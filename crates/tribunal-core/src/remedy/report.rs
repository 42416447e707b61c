//! The one account of a run (WL section 18, RL section 13, CF-23): facts, every item with its end, and why it stopped.
//!
//! The same [`Report`] is shown as text that other programs check ([`text`]), as a comment for people ([`comment`]), and as the
//! report and the files of the respond loop ([`respond`], [`files`]).

pub mod comment;
pub mod files;
pub mod respond;
pub mod text;
pub mod words;

#[cfg(test)]
mod tests;

use super::condition::Blocker;
use super::end::{End, Ended};
use super::ladder::{Reason, exit_code};
use super::signals::merge_advice::AdvisoryReason;
use crate::findings::scale::Priority;
use crate::ids::RepoPath;
use crate::pull::facts::PullState;
use crate::report::receipt::Cost;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub reason: Reason,
    pub explanation: String,
    /// Every condition that held, the reason among them (CF-23).
    pub conditions: Vec<Reason>,
    pub pull: PullFacts,
    /// Passes in which something was settled (CF-4).
    pub cycles: u32,
    pub seen: u32,
    /// Items that were new and asked for something.
    pub new_actionable: u32,
    /// Items that the passes settled; the text shows this number as `New actionable comments` (WL-100).
    pub resolved: u32,
    pub items: Vec<Ended>,
    /// How often items were given to a fixer.
    pub routed: u32,
    pub next_actions: Vec<String>,
    pub issues: Vec<String>,
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// With `blocked`: what stands in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<Blocker>,
    /// After a dry run: what would have been said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<Planned>,
    pub spend: Spending,
}

/// A reply that a dry run did not give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    pub place: String,
    pub words: String,
    pub resolve: bool,
}

impl Planned {
    pub fn line(&self) -> String {
        let resolves = if self.resolve { ", and would resolve it" } else { "" };
        format!("would say at {}: {}{resolves}", self.place, self.words)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullFacts {
    pub number: u64,
    pub state: PullState,
    pub branch: String,
    pub target: String,
    pub url: String,
}

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    pub calls: u32,
    pub tokens: u64,
    pub cost: Cost,
}

/// What some reasons say besides (WL-57).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Details {
    /// Who or what must decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalation_target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_url: Option<String>,
    /// `P1` to `P4` of WL-86.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale_text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_files: Vec<RepoPath>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster_thread_urls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesized_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_framing_rationale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advisory_reason: Option<AdvisoryReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structural_home: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocker_reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_candidates: Vec<String>,
    /// Escalations that came second to the reason, after a pass that fixed something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deferred_escalation_items: Vec<String>,
}

impl Details {
    pub fn is_empty(&self) -> bool {
        *self == Details::default()
    }

    /// Name and value of each that is there, in the order of the contract.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let list = |values: &[String]| (!values.is_empty()).then(|| values.join(", "));
        let files: Vec<String> = self.cluster_files.iter().map(RepoPath::to_string).collect();
        let all = [
            ("escalation_target", self.escalation_target.clone()),
            ("candidate_url", self.candidate_url.clone()),
            ("pattern_category", self.pattern_category.clone()),
            ("rationale_text", self.rationale_text.clone()),
            ("cluster_files", list(&files)),
            ("cluster_thread_urls", list(&self.cluster_thread_urls)),
            ("hypothesized_root", self.hypothesized_root.clone()),
            ("same_framing_rationale", self.same_framing_rationale.clone()),
            ("member_count", self.member_count.map(|count| count.to_string())),
            ("advisory_reason", self.advisory_reason.map(|reason| reason.word().to_owned())),
            ("structural_home", self.structural_home.clone()),
            ("recommendation_text", self.recommendation_text.clone()),
            ("blocker_reason", self.blocker_reason.clone()),
            ("blocked_candidates", list(&self.blocked_candidates)),
            ("deferred_escalation_items", list(&self.deferred_escalation_items)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl Report {
    /// A report that has nothing to add to its reason.
    pub fn new(reason: Reason, pull: PullFacts) -> Self {
        Report {
            reason,
            explanation: words::explanation(reason).to_owned(),
            conditions: vec![reason],
            pull,
            cycles: 0,
            seen: 0,
            new_actionable: 0,
            resolved: 0,
            items: Vec::new(),
            routed: 0,
            next_actions: words::next_actions(reason),
            issues: Vec::new(),
            details: Details::default(),
            blocker: None,
            planned: Vec::new(),
            spend: Spending::default(),
        }
    }

    /// What somebody still has to do something about, of what was to be looked at here.
    pub fn open(&self) -> impl Iterator<Item = &Ended> {
        self.items.iter().filter(|ended| !ended.end.is_settled() && !matches!(ended.end, End::LeftOut { .. }))
    }

    /// Open at `fail_level` or above. What nobody weighed is not below it.
    pub fn has_open_at(&self, fail_level: Priority) -> bool {
        self.open().any(|ended| ended.priority.is_none_or(|priority| priority <= fail_level))
    }

    /// The exit code of the command (design section 8).
    pub fn exit_code(&self, fail_level: Priority) -> u8 {
        match (self.reason, self.blocker) {
            (Reason::Blocked, Some(blocker)) => blocker.exit_code(),
            (reason, _) => exit_code(reason, self.has_open_at(fail_level)),
        }
    }

    fn count(&self, is: impl Fn(&End) -> bool) -> usize {
        self.items.iter().filter(|ended| is(&ended.end)).count()
    }
}
