//! Rules and linters verify their own findings, and no one else's: the same program was run again over the same file, and it
//! does not change its mind.

use super::finding::{Finding, FindingPlace};
use super::prior::OpenFinding;
use crate::findings::admit::Admitted;
use crate::findings::report::{PriorStatus, Verification};
use crate::findings::role::Role;
use crate::findings::window::is_part;
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
    /// Is the rule switched on for this file?
    pub is_active: &'a dyn Fn(&RepoPath, &str) -> bool,
    /// Does a comment that this change adds silence the rule in this file?
    pub is_silenced: &'a dyn Fn(&RepoPath, &str) -> bool,
}

pub fn recheck(open: &[OpenFinding], rerun: &Rerun<'_>) -> Vec<PriorStatus> {
    let owned = open.iter().filter(|open| rerun.role.owns(&open.finding.category_code));
    owned.filter_map(|prior| status(&prior.finding, open, rerun)).collect()
}

fn status(prior: &Finding, open: &[OpenFinding], rerun: &Rerun<'_>) -> Option<PriorStatus> {
    let rules = rules_of(prior, rerun.agent);
    let active = rules.iter().find(|rule| (rerun.is_active)(&prior.file, rule));
    let rule = *active.or(rules.first())?;
    let is_again =
        |found: &&Admitted| found.rule.as_deref().is_some_and(|rule| rules.contains(&rule)) && is_same_code(prior, found);
    // Equal code may stand in several functions; what another open finding answers for says nothing of this one.
    let is_another_s = |found: &Admitted| {
        found.symbol != prior.symbol
            && open.iter().any(|open| open.finding.symbol == found.symbol && is_same_code(&open.finding, found))
    };
    let again = rerun.found.iter().filter(is_again).find(|found| !is_another_s(found));
    let mut is_switched_off = false;
    let (verification, note) = match again {
        Some(found) => (Verification::No, format!("{rule} still matches at {}:{}", prior.file, found.anchor.line_start)),
        None if active.is_none() => {
            is_switched_off = true;
            (Verification::Yes, format!("{rule} is switched off, or is no longer one of the rules"))
        }
        None if (rerun.is_silenced)(&prior.file, rule) => {
            is_switched_off = true;
            (Verification::Yes, format!("{rule} is silenced in {} by a comment that this change adds", prior.file))
        }
        None if (rerun.looked_at)(&prior.file, rule) => {
            (Verification::Yes, format!("{rule} was run again over {} and no longer matches the cited code", prior.file))
        }
        None if !(rerun.differs)(&prior.file) => (Verification::Yes, format!("{} no longer differs from the base", prior.file)),
        None => return None,
    };
    Some(PriorStatus { id: prior.id, verification, note, is_switched_off })
}

/// The rules by which this agent spoke for a finding.
fn rules_of<'a>(finding: &'a Finding, agent: &AgentName) -> Vec<&'a str> {
    let own = finding.agreement.iter().filter(|voice| &voice.agent == agent);
    own.filter_map(|voice| voice.rule.as_deref()).collect()
}

/// A finding of several voices is open as long as one of the places that they cited is.
fn is_same_code(finding: &Finding, found: &Admitted) -> bool {
    let is_there = |place: FindingPlace| place.category_code == found.category && is_part(&place.evidence, &found.anchor.quote);
    finding.file == found.path && finding.all_places().any(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::finding::Voice;
    use crate::findings::role::built_in_roles;

    fn rechecked(is_active: bool, is_silenced: bool) -> String {
        let mut finding = crate::combine::tests::sample_finding();
        let agent = AgentName::from("rules");
        finding.agreement =
            vec![Voice { role: "staff-engineer".into(), agent: agent.clone(), rule: Some("no-tls".into()), sample: 0 }];
        let roles = built_in_roles().unwrap();
        let rerun = Rerun {
            role: roles.iter().find(|role| role.owns(&finding.category_code)).unwrap(),
            agent: &agent,
            found: &[],
            looked_at: &|_, _| true,
            differs: &|_| true,
            is_active: &|_, _| is_active,
            is_silenced: &|_, _| is_silenced,
        };
        recheck(&[OpenFinding::new(finding)], &rerun).remove(0).note
    }

    /// PR-70: the note says what is true: a rule that was not run has not looked.
    #[test]
    fn a_rule_says_why_it_no_longer_matches() {
        assert_eq!(rechecked(true, false), "no-tls was run again over src/a.py and no longer matches the cited code");
        assert_eq!(rechecked(false, false), "no-tls is switched off, or is no longer one of the rules");
        assert_eq!(rechecked(true, true), "no-tls is silenced in src/a.py by a comment that this change adds");
    }
}
