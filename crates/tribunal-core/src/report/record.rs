//! What became of what each reviewer said, over all reviews that a ledger holds. A repository's owner weighs reviewers by it
//! (`[panel.weight]`); nothing else is done with it.

use super::document::Document;
use crate::combine::dismissal::Dismissal;
use crate::combine::finding::{Finding, Voice};
use crate::combine::prior::VerifiedBy;
use crate::findings::report::Verification;
use crate::ids::{FindingId, FindingKey};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Findings of one reviewer, each counted once for the life of its change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Record {
    pub reported: u32,
    /// A reviewer verified that the code was changed.
    pub fixed: u32,
    /// Somebody dismissed it, and did not write the change.
    pub dismissed: u32,
    /// A second opinion argued it away.
    pub refuted: u32,
    /// Open when its change was last reviewed.
    pub open: u32,
    /// Gone in another way: its code left the change, or its rule was switched off.
    pub withdrawn: u32,
    /// Of those reported: also reported by another reviewer.
    pub agreed: u32,
}

impl Record {
    /// The share of what came to an end for the better: fixed, of fixed, dismissed and refuted.
    pub fn accepted(&self) -> Option<f64> {
        let decided = self.fixed + self.dismissed + self.refuted;
        (decided > 0).then(|| f64::from(self.fixed) / f64::from(decided))
    }

    fn count(&mut self, end: End, is_agreed: bool) {
        self.reported += 1;
        self.agreed += u32::from(is_agreed);
        *match end {
            End::Fixed => &mut self.fixed,
            End::Dismissed => &mut self.dismissed,
            End::Refuted => &mut self.refuted,
            End::Open => &mut self.open,
            End::Withdrawn => &mut self.withdrawn,
        } += 1;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Fixed,
    Dismissed,
    Refuted,
    Open,
    Withdrawn,
}

/// All reviews of one change, oldest first, and what was dismissed of it.
#[derive(Debug, Clone, Default)]
pub struct ReviewedChange {
    pub documents: Vec<Document>,
    pub dismissals: Vec<Dismissal>,
}

/// By what a record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordBy {
    Agent,
    /// Agent and rule; what an agent says without a rule stands under the agent's name.
    Rule,
}

impl RecordBy {
    fn name(self, voice: &Voice) -> String {
        match (self, &voice.rule) {
            (RecordBy::Rule, Some(rule)) => format!("{}/{rule}", voice.agent),
            (RecordBy::Rule | RecordBy::Agent, _) => voice.agent.0.clone(),
        }
    }
}

pub fn records(changes: &[ReviewedChange], by: RecordBy) -> BTreeMap<String, Record> {
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    for change in changes {
        for (voices, end) in ends(change) {
            let agents: BTreeSet<&str> = voices.iter().map(|voice| voice.agent.as_str()).collect();
            let names: BTreeSet<String> = voices.iter().map(|voice| by.name(voice)).collect();
            for name in names {
                records.entry(name).or_default().count(end, agents.len() > 1);
            }
        }
    }
    records
}

/// Each finding of a change once: everybody who reported it, and what became of it.
fn ends(change: &ReviewedChange) -> Vec<(BTreeSet<Voice>, End)> {
    let mut voices: BTreeMap<FindingId, BTreeSet<Voice>> = BTreeMap::new();
    let mut ends: BTreeMap<FindingId, End> = BTreeMap::new();
    let mut refuted: BTreeMap<FindingKey, BTreeSet<Voice>> = BTreeMap::new();
    let is_own = |finding: &&Finding| !finding.key.is_brought();
    for document in &change.documents {
        let open: BTreeSet<FindingId> = document.findings.iter().map(|finding| finding.id).collect();
        for finding in document.findings.iter().filter(is_own) {
            voices.entry(finding.id).or_default().extend(finding.agreement.iter().cloned());
            let is_dismissed = finding.dismissed.as_ref().is_some_and(|word| word.accepted);
            ends.insert(finding.id, if is_dismissed { End::Dismissed } else { End::Open });
        }
        for prior in document.prior_verifications.iter().filter(|prior| !open.contains(&prior.prior_id)) {
            let end = match (prior.verification, prior.by) {
                (Verification::Yes, VerifiedBy::Reviewer) => End::Fixed,
                (Verification::Yes, VerifiedBy::Comparison | VerifiedBy::Settings) => End::Withdrawn,
                (Verification::Unclear | Verification::No, _) => continue,
            };
            // What was dismissed was decided, whatever became of its code.
            ends.entry(prior.prior_id).and_modify(|known| {
                if *known != End::Dismissed {
                    *known = end;
                }
            });
        }
        for finding in &document.refuted {
            refuted.entry(finding.key.clone()).or_default().extend(finding.agreement.iter().cloned());
        }
    }
    for dismissal in change.dismissals.iter().filter(|dismissal| dismissal.dismissed.accepted) {
        ends.entry(dismissal.id).and_modify(|end| *end = End::Dismissed);
    }
    let decided = ends.into_iter().filter_map(|(id, end)| Some((voices.remove(&id)?, end)));
    let decided: Vec<(BTreeSet<Voice>, End)> = decided.collect();
    decided.into_iter().chain(refuted.into_values().map(|voices| (voices, End::Refuted))).collect()
}

#[cfg(test)]
mod tests;
