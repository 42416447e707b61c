//! What was posted of a review, and where.

use crate::ids::{FindingId, RunId, Sha};
use crate::publish::reconcile::Write;
use crate::pull::facts::CheckState;
use crate::pull::place::Place;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The pull request that a review is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullSubject {
    #[serde(flatten)]
    pub place: Place,
    pub title: String,
    pub url: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Publication {
    pub end: PublicationEnd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sticky_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CheckState>,
    /// Requests that changed something.
    pub writes: u32,
    pub inline: u32,
    pub answered: u32,
    pub resolved: u32,
    /// Findings that the forge would not put on their line; the summary holds them in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unplaced: Vec<FindingId>,
    /// A dry run: what would have been written, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub planned: Vec<Write>,
    /// What could not be done, and why; nothing here stopped the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<String>,
}

/// How publishing ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublicationEnd {
    #[default]
    Published,
    /// Somebody pushed meanwhile: the result is about a head that is not there any more, and nothing was posted.
    HeadMoved { to: Sha },
    /// Closed or merged meanwhile; nothing was posted.
    Closed,
    /// Under the same account somebody is writing a review by hand, which ours would sweep along.
    ForeignDraft,
    /// Another run has posted a review meanwhile that this one does not build on; nothing was posted over it.
    Overtaken { run: RunId },
    /// The forge or its credentials failed; the same command goes on from there.
    Failed { reason: String, may_pass: bool },
}
