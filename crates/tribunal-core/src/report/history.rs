//! Earlier reviews of the same case, in a line each.

use super::document::Document;
use crate::combine::verdict::Outcome;
use crate::ids::{RunId, Sha};
use crate::publish::summary::plain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More than this many are not listed.
pub const KEPT: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastReview {
    pub iteration: u32,
    pub run: RunId,
    pub head: Sha,
    pub outcome: Outcome,
    /// `2 findings (P1×2)`.
    pub words: String,
}

impl PastReview {
    pub fn of(document: &Document) -> Self {
        PastReview {
            iteration: document.iteration,
            run: document.receipt.run.clone(),
            head: document.head.clone(),
            outcome: document.outcome,
            words: plain(document),
        }
    }
}

/// The history with one more at its end, oldest first.
pub fn remember(mut history: Vec<PastReview>, past: PastReview) -> Vec<PastReview> {
    history.retain(|known| known.run != past.run);
    history.push(past);
    let over = history.len().saturating_sub(KEPT);
    history.drain(..over);
    history
}
