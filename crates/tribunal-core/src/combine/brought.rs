//! Findings that a receipt of another job brought along. Whoever sent the change may have written that receipt, so they can add to a
//! review and change nothing else in it: they verify no earlier finding, take no finding's place or name, and weigh nothing down.

use super::finding::{Finding, FindingOrigin};
use crate::findings::anchor::Side;
use crate::findings::key::normalise_code;
use crate::ids::{CategoryCode, RepoPath};

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

/// The finding of our own that says the same of the same place, and says it no lighter.
pub fn found_here<'a>(claim: &Finding, findings: &'a [Finding]) -> Option<&'a Finding> {
    let says_it = |ours: &&Finding| !ours.key.is_brought() && ours.p_code <= claim.p_code && place(ours) == place(claim);
    findings.iter().find(says_it).filter(|_| claim.key.is_brought())
}

fn place(finding: &Finding) -> (&RepoPath, &CategoryCode, Side, String) {
    (&finding.file, &finding.category_code, finding.side, normalise_code(&finding.evidence))
}
