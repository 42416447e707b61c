//! Rules and linters verify their own findings, and no one else's: the same program was run again over the same file, and it
//! does not change its mind.

use super::prior::OpenFinding;
use crate::findings::report::{Claim, PriorStatus, Verification};
use crate::findings::role::Role;
use crate::findings::window::same_code;
use crate::ids::{AgentName, RepoPath};

/// A program that was run again.
pub struct Rerun<'a> {
    pub role: &'a Role,
    pub agent: &'a AgentName,
    pub claims: &'a [Claim],
    /// Did it look at this file?
    pub looked_at: &'a dyn Fn(&RepoPath) -> bool,
    /// Does this file still differ from the base?
    pub differs: &'a dyn Fn(&RepoPath) -> bool,
}

pub fn recheck(open: &[OpenFinding], rerun: &Rerun<'_>) -> Vec<PriorStatus> {
    let owned = open.iter().filter(|open| rerun.role.owns(&open.finding.category_code));
    owned.filter_map(|open| status(open, rerun)).collect()
}

fn status(open: &OpenFinding, rerun: &Rerun<'_>) -> Option<PriorStatus> {
    let finding = &open.finding;
    let own = finding.agreement.iter().filter(|voice| &voice.agent == rerun.agent);
    let rules: Vec<&str> = own.filter_map(|voice| voice.rule.as_deref()).collect();
    let rule = *rules.first()?;
    let again = rerun.claims.iter().find(|claim| {
        claim.file == finding.file
            && claim.rule.as_deref().is_some_and(|rule| rules.contains(&rule))
            && same_code(&claim.evidence, &finding.evidence)
    });
    let (verification, note) = match again {
        Some(claim) => (Verification::No, format!("{rule} still matches at {}:{}", finding.file, claim.line_start.unwrap_or(0))),
        None if (rerun.looked_at)(&finding.file) => {
            (Verification::Yes, format!("{rule} was run again over {} and no longer matches the cited code", finding.file))
        }
        None if !(rerun.differs)(&finding.file) => {
            (Verification::Yes, format!("{} no longer differs from the base", finding.file))
        }
        None => return None,
    };
    Some(PriorStatus { id: finding.id, verification, note })
}
