//! Many voices, one finding (PR-74): same file, same side, same category and overlapping lines are one defect.
//!
//! Findings of different categories at one place stay apart and are related later. Grouping is by overlap alone, closed
//! transitively, so the order of the input cannot matter.

use super::finding::{Draft, Voice};
use crate::findings::admit::Admitted;
use crate::ids::FindingKey;
use std::cmp::Reverse;

pub fn merge(mut findings: Vec<Admitted>) -> Vec<Draft> {
    findings.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| rank(a).cmp(&rank(b))));
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
    groups.into_iter().map(one).collect()
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
