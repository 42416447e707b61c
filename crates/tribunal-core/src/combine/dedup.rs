//! Many voices, one finding (PR-74): same file, same side, same category and overlapping lines are one defect.
//!
//! Findings of different categories at one place stay apart and are related later. Grouping is by overlap alone, closed
//! transitively, so the order of the input cannot matter.
//!
//! Two rules that one agent sees at one place are two defects by its own word: they stay apart as well, and what others say of
//! the place goes to the weightiest.

use super::finding::{Draft, Voice};
use crate::findings::admit::Admitted;
use crate::ids::{AgentName, FindingKey};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

pub fn merge(mut findings: Vec<Admitted>) -> Vec<Draft> {
    findings.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| rank(a).cmp(&rank(b))));
    overlapping(findings).into_iter().flat_map(by_rule).map(one).collect()
}

/// Sorted findings, by the place that they share.
fn overlapping(findings: Vec<Admitted>) -> Vec<Vec<Admitted>> {
    let mut groups: Vec<Vec<Admitted>> = Vec::new();
    let mut reach = 0;
    for finding in findings {
        match groups.last_mut() {
            Some(group) if same_place(&group[0], &finding) && finding.anchor.line_start <= reach => {
                reach = reach.max(finding.anchor.line_end);
                group.push(finding);
            }
            _ => {
                reach = finding.anchor.line_end;
                groups.push(vec![finding]);
            }
        }
    }
    groups
}

/// A group as it is, or split by the rules of the agent that named most of them here.
fn by_rule(group: Vec<Admitted>) -> Vec<Vec<Admitted>> {
    let mut rules: BTreeMap<&AgentName, BTreeSet<&str>> = BTreeMap::new();
    for finding in &group {
        if let Some(rule) = &finding.rule {
            rules.entry(&finding.agent).or_default().insert(rule);
        }
    }
    let most = rules.into_iter().max_by_key(|(agent, rules)| (rules.len(), Reverse(*agent)));
    let Some((speaker, _)) = most.filter(|(_, rules)| rules.len() > 1).map(|(agent, rules)| (agent.clone(), rules.len())) else {
        return vec![group];
    };
    let (own, others): (Vec<Admitted>, Vec<Admitted>) =
        group.into_iter().partition(|finding| finding.agent == speaker && finding.rule.is_some());
    let mut split: BTreeMap<Option<String>, Vec<Admitted>> = BTreeMap::new();
    for finding in own {
        split.entry(finding.rule.clone()).or_default().push(finding);
    }
    // What another rule held together may lie apart without it.
    let mut parts: Vec<Vec<Admitted>> = split.into_values().flat_map(overlapping).collect();
    for finding in others {
        let nearest = parts.iter_mut().filter(|part| part.iter().any(|known| touches(known, &finding)));
        match nearest.min_by(|a, b| lead(a).cmp(&lead(b))) {
            Some(part) => part.push(finding),
            None => parts.push(vec![finding]),
        }
    }
    parts
}

fn lead(part: &[Admitted]) -> impl Ord + '_ {
    part.iter().map(rank).min()
}

fn touches(a: &Admitted, b: &Admitted) -> bool {
    a.anchor.line_start <= b.anchor.line_end && b.anchor.line_start <= a.anchor.line_end
}

type Place<'a> = (&'a str, crate::findings::anchor::Side, &'a str, u32, u32);

fn place(finding: &Admitted) -> Place<'_> {
    let anchor = &finding.anchor;
    (finding.path.as_str(), anchor.side, finding.category.as_str(), anchor.line_start, anchor.line_end)
}

fn same_place(a: &Admitted, b: &Admitted) -> bool {
    (&a.path, a.anchor.side, &a.category) == (&b.path, b.anchor.side, &b.category)
}

/// The strongest statement leads: heaviest, surest, best justified; ties are broken by content, never by arrival.
fn rank(finding: &Admitted) -> impl Ord + '_ {
    (
        Reverse((finding.severity, finding.confidence, finding.justification)),
        finding.role.as_str(),
        finding.agent.as_str(),
        finding.failure_mode.as_str(),
        finding.mitigation.as_str(),
    )
}

fn one(mut group: Vec<Admitted>) -> Draft {
    group.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| place(a).cmp(&place(b))));
    let mut agreement: Vec<Voice> = group
        .iter()
        .map(|finding| Voice { role: finding.role.clone(), agent: finding.agent.clone(), rule: finding.rule.clone() })
        .collect();
    agreement.sort();
    agreement.dedup();
    let mut also: Vec<String> = group[1..].iter().map(|finding| finding.failure_mode.clone()).collect();
    also.sort();
    also.dedup();
    also.retain(|text| text != &group[0].failure_mode);
    let fix = group.iter().find_map(|finding| finding.fix.clone());
    let mut lead = group.swap_remove(0);
    lead.fix = lead.fix.or(fix);
    Draft { key: FindingKey::new(""), slug: lead.slug.clone(), lead, agreement, also, forced: None }
}
