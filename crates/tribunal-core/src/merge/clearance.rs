//! The right to merge one pull request at one head. It can be had from conditions that are all met and from nothing else, and an order
//! for a forge is made of it: what was never cleared cannot be merged, by construction.

use super::conditions::{Condition, Conditions};
use super::facts::Facts;
use super::words::named;
use crate::ids::{RunId, Sha};
use crate::publish::outgoing::Outgoing;
use crate::pull::facts::{MergeMethod, MergeOrder};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clearance {
    number: u64,
    head: Sha,
    base_branch: String,
    method: MergeMethod,
    /// The run whose receipt it rests on.
    run: RunId,
}

impl Clearance {
    pub(super) fn new(facts: &Facts, method: MergeMethod, run: &RunId) -> Self {
        Clearance {
            number: facts.number,
            head: facts.head.clone(),
            base_branch: facts.base_branch.clone(),
            method,
            run: run.clone(),
        }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn head(&self) -> &Sha {
        &self.head
    }

    pub fn base_branch(&self) -> &str {
        &self.base_branch
    }

    pub fn method(&self) -> MergeMethod {
        self.method
    }

    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// What a forge is asked to do. The head guards it; the words of the commit are what the repository's settings make them.
    pub fn order(&self) -> MergeOrder {
        MergeOrder { head: self.head.clone(), method: self.method, title: Outgoing::default(), message: Outgoing::default() }
    }

    /// A forge guards a merge by the head alone, so the base is asked for once more right before.
    pub fn is_for(&self, base_branch: &str) -> Result<(), Lapse> {
        match self.base_branch == base_branch {
            true => Ok(()),
            false => Err(Lapse::BaseChanged { cleared: self.base_branch.clone(), found: base_branch.to_owned() }),
        }
    }

    /// Asked again right before the merge, with everything read anew: whatever is not as it was takes the right back.
    pub fn still_holds(&self, now: &Facts, conditions: &Conditions) -> Result<(), Lapse> {
        if now.head != self.head {
            return Err(Lapse::HeadMoved { cleared: self.head.clone(), found: now.head.clone() });
        }
        self.is_for(&now.base_branch)?;
        match conditions.clearance() {
            Some(clearance) if clearance == self => Ok(()),
            Some(_) => Err(Lapse::Different),
            None => Err(Lapse::Unmet(conditions.unmet().cloned().collect())),
        }
    }
}

/// Why a clearance is no longer one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Lapse {
    #[error("the head was {} when it was cleared, and is {} now", .cleared.short(), .found.short())]
    HeadMoved { cleared: Sha, found: Sha },
    #[error("its base was {} when it was cleared, and is {} now", named(.cleared), named(.found))]
    BaseChanged { cleared: String, found: String },
    /// Another method or another review: as good, and not the one that was cleared.
    #[error("its review or the way it is merged is not what was cleared")]
    Different,
    #[error("{}", .0.first().map_or("a condition is not met", Condition::sentence))]
    Unmet(Vec<Condition>),
}
