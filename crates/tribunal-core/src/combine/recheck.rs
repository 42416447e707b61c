//! Rules and linters verify their own findings, and no one else's: the same program was run again over the same file, and it
//! does not change its mind.

use super::finding::Finding;
use super::prior::OpenFinding;
use crate::findings::admit::Admitted;
use crate::findings::report::{PriorStatus, Verification};
use crate::findings::role::Role;
use crate::findings::window::same_code;
use crate::ids::{AgentName, RepoPath};

/// A program that was run again.
pub struct Rerun<'a> {
    pub role: &'a Role,
    pub agent: &'a AgentName,
    pub found: &'a [Admitted],
    /// Could this rule look at all of this file?
    pub looked_at: &'a dyn Fn(&RepoPath, &str) -> bool,
    /// Does this file still differ from the base?
    pub differs: &'a dyn Fn(&RepoPath) -> bool,
}

pub fn recheck(open: &[OpenFinding], rerun: &Rerun<'_>) -> Vec<PriorStatus> {
    let owned = open.iter().filter(|open| rerun.role.owns(&open.finding.category_code));
    owned.filter_map(|prior| status(&prior.finding, open, rerun)).collect()
}

fn status(prior: &Finding, open: &[OpenFinding], rerun: &Rerun<'_>) -> Option<PriorStatus> {
    let rules = rules_of(prior, rerun.agent);
    let rule = *rules.first()?;
    let is_again =
        |found: &&Admitted| found.rule.as_deref().is_some_and(|rule| rules.contains(&rule)) && is_same_code(prior, found);
    // Equal code may stand in several functions; what another open finding answers for says nothing of this one.
    let is_another_s = |found: &Admitted| {
        found.symbol != prior.symbol
            && open.iter().any(|open| open.finding.symbol == found.symbol && is_same_code(&open.finding, found))
    };
    let again = rerun.found.iter().filter(is_again).find(|found| !is_another_s(found));
    let (verification, note) = match again {
        Some(found) => (Verification::No, format!("{rule} still matches at {}:{}", prior.file, found.anchor.line_start)),
        None if (rerun.looked_at)(&prior.file, rule) => {
            (Verification::Yes, format!("{rule} was run again over {} and no longer matches the cited code", prior.file))
        }
        None if !(rerun.differs)(&prior.file) => (Verification::Yes, format!("{} no longer differs from the base", prior.file)),
        None => return None,
    };
    Some(PriorStatus { id: prior.id, verification, note })
}

/// The rules by which this agent spoke for a finding.
fn rules_of<'a>(finding: &'a Finding, agent: &AgentName) -> Vec<&'a str> {
    let own = finding.agreement.iter().filter(|voice| &voice.agent == agent);
    own.filter_map(|voice| voice.rule.as_deref()).collect()
}

fn is_same_code(finding: &Finding, found: &Admitted) -> bool {
    (&finding.file, &finding.category_code) == (&found.path, &found.category) && same_code(&finding.evidence, &found.anchor.quote)
}
