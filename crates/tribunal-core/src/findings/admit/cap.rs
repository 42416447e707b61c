//! Which claims are kept where a reviewer makes too many: those that will weigh most. A flood of small ones must not wash a grave one
//! away, and a grave one that is not kept makes the seat incomplete.

use super::{Gate, batch_of, is_spec_gap, one_line, verified_reach};
use crate::combine::severity::{Weighed, weigh};
use crate::findings::cited_path::CitedPaths;
use crate::findings::report::Claim;
use crate::findings::scale::{Justification, Priority};
use std::cmp::Reverse;

/// More findings are noise, whoever reports them.
pub const MAX_CLAIMS: usize = 200;
/// So many claims are looked at: each is searched for in the change.
pub const MAX_READ: usize = 1_000;

/// The claims with the priority that each will have; none for those that are dropped whatever they weigh. Only where there are too
/// many they are sorted, the heaviest and surest first.
pub fn heaviest_first(claims: Vec<Claim>, gate: &Gate<'_>, paths: &CitedPaths<'_>) -> Vec<(Option<Priority>, Claim)> {
    let is_many = claims.len() > MAX_CLAIMS;
    let weighed = claims.into_iter().map(|claim| (expected_priority(&claim, gate, paths), claim));
    let mut weighed: Vec<(Option<Priority>, Claim)> = weighed.collect();
    if is_many {
        weighed.sort_by_key(|(priority, claim)| (priority.is_none(), *priority, Reverse(claim.confidence)));
    }
    weighed
}

/// What the merge will make of a claim, if its evidence stands.
fn expected_priority(claim: &Claim, gate: &Gate<'_>, paths: &CitedPaths<'_>) -> Option<Priority> {
    let category = gate.role.category(&claim.category)?;
    let file = paths.find(&claim.file)?;
    let batch = batch_of(claim, gate.window.is_some()).ok()?;
    if batch.is_some() || is_spec_gap(&claim.questions, &one_line(&claim.failure_mode)) {
        return Some(Priority::Q);
    }
    let (blast, confidence) = verified_reach(gate.has_repo, claim.blast, claim.confidence);
    let weighed = Weighed {
        category: &category.code,
        path: &file.path,
        said: claim.severity.unwrap_or(category.severity),
        cap: category.cap,
        confidence,
        blast,
        justification: claim.justification.unwrap_or(Justification::Hygiene),
        is_test: file.is_test(),
        is_sample: file.is_sample(),
        is_prose: file.is_prose(),
    };
    Some(weigh(&weighed, gate.directives).0)
}
