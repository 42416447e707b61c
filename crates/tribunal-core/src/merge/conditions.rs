//! What must hold before anything is merged (CF-1). The list is total and always in the same order, the most likely cause first, so
//! that whoever asks why nothing happens reads the reason in the first line that is not met.

mod judge;

use super::clearance::Clearance;
use super::facts::Facts;
use super::policy::{MergePolicy, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    Open,
    NotDraft,
    NoHoldLabel,
    NoConflict,
    NoConflictMarkers,
    DependenciesMerged,
    ChecksGreen,
    Reviewed,
    VerdictLgtm,
    NoBlockingFinding,
    Verified,
    NoChangesRequested,
    ThreadsSettled,
    Approvals,
    Author,
    FeedbackSettled,
    GatesAnswered,
    MethodAllowed,
    HeadGuarded,
    ForgeAllows,
    MergingAllowed,
}

impl Name {
    pub const ALL: [Name; 21] = [
        Name::Open,
        Name::NotDraft,
        Name::NoHoldLabel,
        Name::NoConflict,
        Name::NoConflictMarkers,
        Name::DependenciesMerged,
        Name::ChecksGreen,
        Name::Reviewed,
        Name::VerdictLgtm,
        Name::NoBlockingFinding,
        Name::Verified,
        Name::NoChangesRequested,
        Name::ThreadsSettled,
        Name::Approvals,
        Name::Author,
        Name::FeedbackSettled,
        Name::GatesAnswered,
        Name::MethodAllowed,
        Name::HeadGuarded,
        Name::ForgeAllows,
        Name::MergingAllowed,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Name::Open => "open",
            Name::NotDraft => "not-draft",
            Name::NoHoldLabel => "no-hold-label",
            Name::NoConflict => "no-conflict",
            Name::NoConflictMarkers => "no-conflict-markers",
            Name::DependenciesMerged => "dependencies-merged",
            Name::ChecksGreen => "checks-green",
            Name::Reviewed => "reviewed",
            Name::VerdictLgtm => "verdict-lgtm",
            Name::NoBlockingFinding => "no-blocking-finding",
            Name::Verified => "verified",
            Name::NoChangesRequested => "no-changes-requested",
            Name::ThreadsSettled => "threads-settled",
            Name::Approvals => "approvals",
            Name::Author => "author",
            Name::FeedbackSettled => "feedback-settled",
            Name::GatesAnswered => "gates-answered",
            Name::MethodAllowed => "method-allowed",
            Name::HeadGuarded => "head-guarded",
            Name::ForgeAllows => "forge-allows",
            Name::MergingAllowed => "merging-allowed",
        }
    }

    /// What it asks for, for a table of all of them.
    pub fn meaning(self) -> &'static str {
        match self {
            Name::Open => "the pull request is open",
            Name::NotDraft => "it is no draft",
            Name::NoHoldLabel => "no label of `merge.do_not_merge` is on it",
            Name::NoConflict => "it merges into its base without a conflict",
            Name::NoConflictMarkers => "no file of it holds conflict markers",
            Name::DependenciesMerged => "what it depends on is merged or closed, and it is not stacked on an open pull request",
            Name::ChecksGreen => "every check at the head is green, and every required one is there",
            Name::Reviewed => "a whole review of ours has read exactly this head, for a merge into this base",
            Name::VerdictLgtm => "its verdict is LGTM",
            Name::NoBlockingFinding => "no finding is open that blocks",
            Name::Verified => "somebody other than the one who fixed has looked (`merge.verified_by`)",
            Name::NoChangesRequested => "no person asks for changes",
            Name::ThreadsSettled => "no thread of a person is open",
            Name::Approvals => "as many people have approved this head for this base as the forge and `merge.approvals` ask for",
            Name::Author => {
                "its author and whoever pushed to it may write here, or somebody who may has approved exactly this head"
            }
            Name::FeedbackSettled => "no feedback that held a merge back has gone away unanswered",
            Name::GatesAnswered => "every question to a person is answered",
            Name::MethodAllowed => "the repository allows `merge.method`",
            Name::HeadGuarded => "the forge refuses a merge whose head has moved",
            Name::ForgeAllows => "nothing else on the forge is in the way",
            Name::MergingAllowed => "merging is turned on, by `merge.when` or `--merge`",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    pub name: Name,
    #[serde(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "kebab-case")]
pub enum Standing {
    Met {
        /// How, in a sentence.
        note: String,
    },
    Unmet {
        because: String,
        cure: Cure,
    },
    /// It could not be found out, which never merges.
    Unknown {
        because: String,
        cure: Cure,
    },
}

/// What helps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cure {
    pub by: By,
    pub what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// It passes by itself.
    Time,
    /// A command of ours.
    Tribunal,
    Person,
}

impl Condition {
    pub fn is_met(&self) -> bool {
        match self.standing {
            Standing::Met { .. } => true,
            Standing::Unmet { .. } | Standing::Unknown { .. } => false,
        }
    }

    /// How it stands, in a sentence.
    pub fn sentence(&self) -> &str {
        match &self.standing {
            Standing::Met { note } => note,
            Standing::Unmet { because, .. } | Standing::Unknown { because, .. } => because,
        }
    }

    pub fn cure(&self) -> Option<&Cure> {
        match &self.standing {
            Standing::Met { .. } => None,
            Standing::Unmet { cure, .. } | Standing::Unknown { cure, .. } => Some(cure),
        }
    }
}

/// All conditions of one pull request at one head. Only [`conditions`] makes one, so that a clearance rests on all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    list: Vec<Condition>,
    clearance: Option<Clearance>,
}

/// Judges every condition, in the order of [`Name::ALL`].
pub fn conditions(policy: &MergePolicy, facts: &Facts, wanted: Wanted) -> Conditions {
    let mut list: Vec<Condition> = Vec::with_capacity(Name::ALL.len());
    for name in Name::ALL {
        let standing = judge::standing(name, policy, facts, wanted, &list);
        list.push(Condition { name, standing });
    }
    let review = facts.review_of_head().filter(|_| list.iter().all(Condition::is_met));
    let clearance = review.map(|review| Clearance::new(facts, policy.method, &review.run));
    Conditions { list, clearance }
}

impl Conditions {
    pub fn list(&self) -> &[Condition] {
        &self.list
    }

    pub fn get(&self, name: Name) -> Option<&Condition> {
        self.list.iter().find(|condition| condition.name == name)
    }

    pub fn unmet(&self) -> impl Iterator<Item = &Condition> {
        self.list.iter().filter(|condition| !condition.is_met())
    }

    /// The reason, if there is one.
    pub fn first_unmet(&self) -> Option<&Condition> {
        self.unmet().next()
    }

    /// Everything holds but that nobody has turned merging on: approved, and a person merges (SL-71).
    pub fn is_approved(&self) -> bool {
        self.unmet().all(|condition| condition.name == Name::MergingAllowed)
    }

    /// Nothing but patience is needed.
    pub fn only_waits(&self) -> bool {
        self.first_unmet().is_some() && self.unmet().all(|condition| condition.cure().is_some_and(|cure| cure.by == By::Time))
    }

    /// The right to merge, when every condition is met.
    pub fn clearance(&self) -> Option<&Clearance> {
        self.clearance.as_ref()
    }
}
