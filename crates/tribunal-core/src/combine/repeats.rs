//! Repeats of one rule in one file: one finding that lists its further places, so that a flood reads as one line.
//!
//! Two matches stand alone; from the third on the first one speaks for all. What is folded keeps its key in the finding, so that
//! the next review recognises every place: the finding is open until the last of its places is gone, and a place that nobody has
//! seen before is news. A finding with a fix stands alone, because each fix is applied to its own lines, and so does one with a trace or
//! with several reporters.

use super::finding::{Finding, FindingOrigin, FurtherPlace};
use super::prior::OpenFinding;
use crate::findings::anchor::Side;
use crate::findings::scale::{Confidence, Priority};
use crate::ids::{AgentName, CategoryCode, FindingId, FindingKey, RepoPath};
use std::collections::BTreeMap;

/// As many matches of one rule in one file are folded.
pub const MIN_REPEATS: usize = 3;

/// The key of a finding and those of its further places. What a receipt brought along answers for no place of ours.
pub fn keys(finding: &Finding) -> impl Iterator<Item = &FindingKey> {
    let further = finding.repeats.iter().filter(|_| !finding.key.is_brought());
    std::iter::once(&finding.key).chain(further.map(|place| &place.key))
}

/// `known` names the findings that were open before, by their keys of today.
pub fn fold(findings: &mut Vec<Finding>, prior: &[OpenFinding], known: &BTreeMap<FindingKey, FindingId>) {
    for open in prior.iter().filter(|open| !open.finding.repeats.is_empty()) {
        fold_as_before(findings, &open.finding, known);
    }
    let mut groups: BTreeMap<Repeat, Vec<Finding>> = BTreeMap::new();
    let mut alone: Vec<Finding> = Vec::new();
    for finding in std::mem::take(findings) {
        match Repeat::of(&finding).filter(|_| is_new(&finding)) {
            Some(repeat) => groups.entry(repeat).or_default().push(finding),
            None => alone.push(finding),
        }
    }
    for mut group in groups.into_values() {
        group.sort_by_key(|finding| (finding.line_start, finding.line_end, finding.key.clone()));
        if group.len() >= MIN_REPEATS {
            let further = group.split_off(1);
            group[0].repeats = further.into_iter().map(place).collect();
        }
        alone.append(&mut group);
    }
    *findings = alone;
}

/// Gives an open finding the places that it had and that are still there.
fn fold_as_before(findings: &mut Vec<Finding>, open: &Finding, known: &BTreeMap<FindingKey, FindingId>) {
    let is_it = |finding: &Finding| known.get(&finding.key) == Some(&open.id);
    let Some(lead) = findings.iter().find(|finding| is_it(finding)).cloned() else { return };
    let is_place = |finding: &Finding| {
        is_new(finding)
            && finding.p_code >= lead.p_code
            && Repeat::of(finding).is_some()
            && keys(open).any(|key| *key == finding.key)
    };
    let (places, mut others): (Vec<Finding>, Vec<Finding>) = std::mem::take(findings).into_iter().partition(is_place);
    if let Some(lead) = others.iter_mut().find(|finding| is_it(finding)) {
        lead.repeats = places.into_iter().map(place).collect();
        lead.repeats.sort_by_key(|place| (place.line_start, place.key.clone()));
    }
    *findings = others;
}

fn is_new(finding: &Finding) -> bool {
    finding.origin == FindingOrigin::Fresh && finding.repeats.is_empty()
}

/// What repeats have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Repeat {
    file: RepoPath,
    side_is_old: bool,
    agent: AgentName,
    rule: String,
    category: CategoryCode,
    priority: Priority,
    confidence: Confidence,
}

impl Repeat {
    fn of(finding: &Finding) -> Option<Self> {
        let [voice] = finding.agreement.as_slice() else { return None };
        let is_plain = finding.fix.is_none() && finding.also.is_empty() && finding.places.is_empty() && finding.trace.is_empty();
        let rule = finding.rule.clone().filter(|_| is_plain && !finding.key.is_brought())?;
        Some(Self {
            file: finding.file.clone(),
            side_is_old: finding.side == Side::Old,
            agent: voice.agent.clone(),
            rule,
            category: finding.category_code.clone(),
            priority: finding.p_code,
            confidence: finding.confidence,
        })
    }
}

fn place(finding: Finding) -> FurtherPlace {
    FurtherPlace {
        key: finding.key,
        line_start: finding.line_start,
        line_end: finding.line_end,
        symbol: finding.symbol,
        evidence: finding.evidence,
    }
}

#[cfg(test)]
mod tests;
