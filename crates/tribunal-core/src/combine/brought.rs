//! Findings that a receipt of another job brought along. Whoever sent the change may have written that receipt, so they can add to a
//! review and change nothing else in it: they verify no earlier finding, take no finding's place or name, and weigh nothing down.

use super::finding::{Finding, FindingOrigin, FindingPlace};
use crate::findings::key::normalise_code;

/// Adds them to what was found and carried here.
pub fn add(findings: &mut Vec<Finding>, brought: &[Finding]) {
    for claim in brought.iter().filter(|claim| claim.key.is_brought()) {
        if let Some(known) = findings.iter_mut().find(|finding| finding.key == claim.key) {
            // Brought before, and open since. It may get heavier, never lighter.
            if claim.p_code < known.p_code {
                known.p_code = claim.p_code;
                known.severity_emoji.clone_from(&claim.severity_emoji);
            }
            (known.line_start, known.line_end, known.side) = (claim.line_start, claim.line_end, claim.side);
        } else if found_here(claim, findings).is_none() {
            findings.push(Finding { origin: FindingOrigin::Fresh, ..claim.clone() });
        }
    }
}

/// Would adding them leave these findings other than they are?
pub fn adds(findings: &[Finding], brought: &[Finding]) -> bool {
    let mut together = findings.to_vec();
    add(&mut together, brought);
    let weight = |finding: &Finding| (finding.key.clone(), finding.p_code);
    !together.iter().map(weight).eq(findings.iter().map(weight))
}

/// The finding of our own that says the same of the same place, and says it no lighter.
pub fn found_here<'a>(claim: &Finding, findings: &'a [Finding]) -> Option<&'a Finding> {
    let place = |place: &FindingPlace| (place.category_code.clone(), normalise_code(&place.evidence));
    let claimed = (claim.category_code.clone(), normalise_code(&claim.evidence));
    let is_there = |ours: &Finding| {
        (&ours.file, ours.side) == (&claim.file, claim.side) && ours.all_places().any(|ours| place(&ours) == claimed)
    };
    let says_it = |ours: &&Finding| !ours.key.is_brought() && ours.p_code <= claim.p_code && is_there(ours);
    findings.iter().find(says_it).filter(|_| claim.key.is_brought())
}
