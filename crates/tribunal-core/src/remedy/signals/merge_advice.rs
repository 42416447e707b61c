//! Advice to stop and merge (WL-92). Only ever advice: nobody here merges (WL-116).

use super::diminishing::diminishing_returns;
use super::{History, Remembered};
use crate::feedback::item::ItemId;
use crate::ids::RepoPath;
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

/// What the advice rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// The light rest has its place.
    BoundedTail {
        home: String,
    },
    DiminishingReturns,
    /// The rest is one idea, and has its place.
    StructuralHome {
        home: String,
    },
}

impl Advice {
    pub fn reason(&self) -> AdvisoryReason {
        match self {
            Advice::BoundedTail { .. } => AdvisoryReason::BoundedTail,
            Advice::DiminishingReturns => AdvisoryReason::DiminishingReturns,
            Advice::StructuralHome { .. } => AdvisoryReason::StructuralHome,
        }
    }

    pub fn home(&self) -> Option<&str> {
        match self {
            Advice::BoundedTail { home } | Advice::StructuralHome { home } => Some(home),
            Advice::DiminishingReturns => None,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeAdvice {
    pub fired: bool,
    pub evidence: Vec<String>,
    pub advice: Option<Advice>,
    /// The tail lies on young code, so it is a cluster in the making and no reason to merge (WL-92).
    pub reroute: bool,
    /// What of the tail lies on young code, and where.
    #[serde(default)]
    pub young: Vec<ItemId>,
    #[serde(default)]
    pub young_files: Vec<RepoPath>,
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
    let young: Vec<&Remembered> = tail.iter().filter(|finding| history.is_young(finding)).copied().collect();
    if !young.is_empty() {
        return rerouted(&young);
    }
    if let (Some(home), false) = (&standing.home, tail.is_empty()) {
        let framings: BTreeSet<Option<String>> = tail.iter().map(|finding| finding.framing_key()).collect();
        let one_idea = tail.len() >= 2 && framings.len() == 1 && !framings.contains(&None);
        let evidence =
            vec![format!("the last {TAIL_ROUNDS} rounds brought only light findings"), format!("they are tracked in {home}")];
        let home = home.clone();
        let advice = if one_idea { Advice::StructuralHome { home } } else { Advice::BoundedTail { home } };
        return MergeAdvice { fired: true, evidence, advice: Some(advice), ..MergeAdvice::default() };
    }
    let diminishing = diminishing_returns(history);
    MergeAdvice {
        fired: diminishing.fired,
        evidence: diminishing.evidence,
        advice: diminishing.fired.then_some(Advice::DiminishingReturns),
        ..MergeAdvice::default()
    }
}

fn rerouted(young: &[&Remembered]) -> MergeAdvice {
    let files: BTreeSet<RepoPath> = young.iter().filter_map(|finding| finding.path.clone()).collect();
    MergeAdvice {
        evidence: young.iter().map(|finding| format!("{} is part of the tail, and its file is young", finding.name())).collect(),
        reroute: true,
        young: young.iter().map(|finding| finding.item.clone()).collect(),
        young_files: files.into_iter().collect(),
        ..MergeAdvice::default()
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
