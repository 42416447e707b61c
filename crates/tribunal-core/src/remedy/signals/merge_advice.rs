//! Advice to stop and merge (WL-92). Only ever advice: nobody here merges (WL-116).

use super::diminishing::diminishing_returns;
use super::{History, Remembered};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AdvisoryReason {
    BoundedTail,
    DiminishingReturns,
    StructuralHome,
}

impl AdvisoryReason {
    pub fn word(self) -> &'static str {
        match self {
            AdvisoryReason::BoundedTail => "bounded-tail",
            AdvisoryReason::DiminishingReturns => "diminishing-returns",
            AdvisoryReason::StructuralHome => "structural-home",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeAdvice {
    pub fired: bool,
    pub evidence: Vec<String>,
    pub reason: Option<AdvisoryReason>,
    /// The tail lies on young code, so it is a cluster in the making and no reason to merge (WL-92).
    pub reroute: bool,
}

/// How many rounds in a row may have brought nothing but tail before more of them is pointless.
const TAIL_ROUNDS: usize = 2;

pub fn merge_advice(history: &History) -> MergeAdvice {
    let standing = &history.standing;
    // WL-67: what could not be closed on the forge is open, whatever we think of it.
    let unsettled = standing.open_actionable > 0 || standing.handled_unresolved > 0 || standing.escalation;
    let over = history.last().is_some_and(|round| round.over);
    if unsettled || !over || history.open().iter().any(|finding| finding.is_high()) {
        return MergeAdvice::default();
    }
    let tail = tail(history);
    if let Some(young) = tail.iter().find(|finding| history.is_young(finding)) {
        let evidence = vec![format!("{} is part of the tail, and its file is young", young.name())];
        return MergeAdvice { evidence, reroute: true, ..MergeAdvice::default() };
    }
    if let (Some(home), false) = (&standing.home, tail.is_empty()) {
        let framings: BTreeSet<Option<String>> = tail.iter().map(|finding| finding.framing_key()).collect();
        let one_idea = tail.len() >= 2 && framings.len() == 1 && !framings.contains(&None);
        let reason = if one_idea { AdvisoryReason::StructuralHome } else { AdvisoryReason::BoundedTail };
        let evidence =
            vec![format!("the last {TAIL_ROUNDS} rounds brought only light findings"), format!("they are tracked in {home}")];
        return MergeAdvice { fired: true, evidence, reason: Some(reason), reroute: false };
    }
    let diminishing = diminishing_returns(history);
    MergeAdvice {
        fired: diminishing.fired,
        evidence: diminishing.evidence,
        reason: diminishing.fired.then_some(AdvisoryReason::DiminishingReturns),
        reroute: false,
    }
}

/// What the last rounds brought, if it was light, came in every one of them, and does not grow.
fn tail(history: &History) -> Vec<&Remembered> {
    let from = history.rounds.len().saturating_sub(TAIL_ROUNDS);
    let rounds: Vec<Vec<&Remembered>> = history.rounds[from..]
        .iter()
        .map(|round| round.findings.iter().filter(|finding| finding.round == round.number).collect())
        .collect();
    let bounded = rounds.len() == TAIL_ROUNDS
        && rounds.iter().all(|new| !new.is_empty() && new.iter().all(|finding| !finding.is_high()))
        && rounds.windows(2).all(|pair| pair[1].len() <= pair[0].len());
    if bounded { rounds.concat() } else { Vec::new() }
}
