//! What two reviews say of the same findings: which appeared, which vanished, and what agreement changed about the others.

use super::document::Document;
use crate::combine::finding::{Finding, order};
use crate::findings::scale::Confidence;
use crate::ids::{FindingId, FindingKey};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub appeared: Vec<Finding>,
    pub vanished: Vec<Finding>,
    pub stayed: usize,
    /// Findings of both that other voices joined or left.
    pub agreement: Vec<AgreementChange>,
}

/// What the number of voices changed about a finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementChange {
    pub id: FindingId,
    pub key: FindingKey,
    pub before: AgreementState,
    pub after: AgreementState,
}

/// How a finding stands in one review.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgreementState {
    pub voices: f64,
    pub confidence: Confidence,
    pub folded: bool,
    /// From 1, in the order of the findings.
    pub rank: usize,
}

impl AgreementChange {
    /// `1 voice → 2 voices, confidence medium → high, folded → listed, place 3 → 1`.
    pub fn words(&self) -> String {
        let (before, after) = (&self.before, &self.after);
        let voices = |state: &AgreementState| format!("{} voice{}", state.voices, if state.voices == 1.0 { "" } else { "s" });
        let listed = |state: &AgreementState| if state.folded { "folded" } else { "listed" };
        let mut parts = vec![format!("{} → {}", voices(before), voices(after))];
        if before.confidence != after.confidence {
            parts.push(format!("confidence {} → {}", before.confidence.word(), after.confidence.word()));
        }
        if before.folded != after.folded {
            parts.push(format!("{} → {}", listed(before), listed(after)));
        }
        if before.rank != after.rank {
            parts.push(format!("place {} → {}", before.rank, after.rank));
        }
        parts.join(", ")
    }
}

pub fn compare(before: &Document, after: &Document) -> Comparison {
    let (old, new) = (by_key(before), by_key(after));
    let missing_in = |ours: &ByKey<'_>, theirs: &ByKey<'_>| {
        let missing = ours.iter().filter(|(key, _)| !theirs.contains_key(*key)).map(|(_, (_, finding))| (*finding).clone());
        let mut findings: Vec<Finding> = missing.collect();
        findings.sort_by(order);
        findings
    };
    let mut agreement: Vec<AgreementChange> = new
        .iter()
        .filter_map(|(key, (rank, finding))| {
            let (old_rank, known) = old.get(*key)?;
            let (before, after) = (agreement_state(*old_rank, known), agreement_state(*rank, finding));
            let is_changed = before.voices != after.voices || before.folded != after.folded;
            is_changed.then(|| AgreementChange { id: finding.id, key: (*key).clone(), before, after })
        })
        .collect();
    agreement.sort_by_key(|change| change.after.rank);
    Comparison {
        appeared: missing_in(&new, &old),
        vanished: missing_in(&old, &new),
        stayed: new.keys().filter(|key| old.contains_key(*key)).count(),
        agreement,
    }
}

type ByKey<'a> = BTreeMap<&'a FindingKey, (usize, &'a Finding)>;

fn by_key(document: &Document) -> ByKey<'_> {
    (1..).zip(&document.findings).map(|(rank, finding)| (&finding.key, (rank, finding))).collect()
}

fn agreement_state(rank: usize, finding: &Finding) -> AgreementState {
    let support = &finding.support;
    AgreementState { voices: support.voices, confidence: finding.confidence, folded: support.folded, rank }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::agreement::Support;

    #[test]
    fn what_agreement_changed_is_said() {
        let of = |key: &str, voices, confidence, folded| {
            let support = Support { voices, folded, confidence_from: None };
            Finding { key: key.into(), confidence, support, ..crate::combine::tests::sample_finding() }
        };
        let document = |findings| Document { findings, ..crate::publish::tests::first() };
        let before = document(vec![of("a", 1.0, Confidence::High, false), of("b", 1.0, Confidence::Low, true)]);
        let after = document(vec![
            of("b", 2.0, Confidence::Medium, false),
            of("a", 1.0, Confidence::High, false),
            of("c", 1.0, Confidence::High, false),
        ]);
        let comparison = compare(&before, &after);
        let words: Vec<String> = comparison.agreement.iter().map(AgreementChange::words).collect();
        assert_eq!(words, ["1 voice → 2 voices, confidence low → medium, folded → listed, place 2 → 1"]);
        assert_eq!((comparison.appeared.len(), comparison.vanished.len(), comparison.stayed), (1, 0, 2));
    }
}
