//! A second opinion: another agent tried to refute each finding against the code. What a refutation does is decided here.
//!
//! A refutation counts if it says in a line why, and quotes code of the change or of its files that shows it. It removes a finding
//! that one agent alone reported. A blocker, and what several agents found independently, is never argued away by one more model:
//! it becomes a question, and the reason stands beside it.

use super::finding::{Finding, FindingOrigin, SeverityAdjustment, Voice};
use crate::findings::scale::Priority;
use crate::ids::{AgentName, CategoryCode, FindingId, FindingKey, RepoPath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the second agent answers: the schema of its reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Tribunal second opinion, version 1")]
pub struct Opinions {
    /// One entry for each finding that was asked about.
    pub opinions: Vec<Opinion>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opinion {
    pub id: FindingId,
    pub stand: Stand,
    /// One line: why.
    #[serde(default)]
    pub reason: String,
    /// Lines of the code, verbatim, that show it. A refutation without them does not count.
    #[serde(default)]
    pub evidence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stand {
    Confirmed,
    Refuted,
    Unsure,
}

/// An opinion after its quote was looked up in the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedOpinion {
    pub id: FindingId,
    pub stand: Stand,
    pub reason: String,
    /// The quote stands in the code.
    pub shown: bool,
}

/// A finding that was argued away. Never silent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refuted {
    pub id: FindingId,
    pub key: FindingKey,
    pub p_code: Priority,
    pub category: CategoryCode,
    pub file: RepoPath,
    pub line: u32,
    pub failure_mode: String,
    /// Who had reported it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement: Vec<Voice>,
    pub by: AgentName,
    pub reason: String,
}

/// Whether an agent may judge a finding: nobody judges what he alone has said.
pub fn may_judge(agent: &AgentName, finding: &Finding) -> bool {
    finding.origin == FindingOrigin::Fresh && finding.agreement.iter().any(|voice| &voice.agent != agent)
}

pub fn apply(findings: Vec<Finding>, agent: &AgentName, opinions: &[CheckedOpinion]) -> (Vec<Finding>, Vec<Refuted>) {
    let (mut kept, mut refuted) = (Vec::new(), Vec::new());
    for finding in findings {
        let opinion = opinions.iter().find(|opinion| opinion.id == finding.id);
        let Some(opinion) = opinion.filter(|opinion| counts(opinion) && may_judge(agent, &finding)) else {
            kept.push(finding);
            continue;
        };
        if finding.p_code == Priority::P0 || voices(&finding) > 1 {
            kept.push(questioned(finding, agent, &opinion.reason));
        } else {
            refuted.push(Refuted {
                id: finding.id,
                key: finding.key,
                p_code: finding.p_code,
                category: finding.category_code,
                file: finding.file,
                line: finding.line_start,
                failure_mode: finding.failure_mode,
                agreement: finding.agreement,
                by: agent.clone(),
                reason: opinion.reason.clone(),
            });
        }
    }
    kept.sort_by(super::finding::order);
    (kept, refuted)
}

fn counts(opinion: &CheckedOpinion) -> bool {
    opinion.stand == Stand::Refuted && opinion.shown && !opinion.reason.is_empty()
}

fn voices(finding: &Finding) -> usize {
    finding.agreement.iter().map(|voice| &voice.agent).collect::<BTreeSet<_>>().len()
}

fn questioned(finding: Finding, agent: &AgentName, reason: &str) -> Finding {
    let from = format!("{} {}", finding.severity_emoji, finding.p_code);
    let emoji = Priority::Q.emoji().to_owned();
    let to = format!("{emoji} {}", Priority::Q);
    Finding {
        severity_adjustment: Some(SeverityAdjustment { from, to, reason: format!("{agent} disputes it: {reason}") }),
        p_code: Priority::Q,
        severity_emoji: emoji,
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: u32, p_code: Priority, agents: &[&str]) -> Finding {
        let voice = |agent: &&str| Voice { role: "sdet".into(), agent: (*agent).into(), rule: None, sample: 0 };
        Finding {
            p_code,
            id: FindingId(id),
            agreement: agents.iter().map(voice).collect(),
            ..crate::combine::tests::sample_finding()
        }
    }

    fn refutes(id: u32) -> CheckedOpinion {
        CheckedOpinion { id: FindingId(id), stand: Stand::Refuted, reason: "the caller checks it".into(), shown: true }
    }

    /// Issue 4, build 9: refuted findings are dropped or demoted by rule, and shown as such.
    #[test]
    fn one_voice_is_dropped_many_voices_and_blockers_become_questions() {
        let findings = vec![
            finding(1, Priority::P2, &["a"]),
            finding(2, Priority::P0, &["a"]),
            finding(3, Priority::P1, &["a", "b"]),
            finding(4, Priority::P2, &["a"]),
        ];
        let (kept, refuted) = apply(findings, &"judge".into(), &[refutes(1), refutes(2), refutes(3)]);
        assert_eq!(refuted.iter().map(|finding| finding.id.0).collect::<Vec<_>>(), [1]);
        let of = |id: u32| kept.iter().find(|finding| finding.id.0 == id).unwrap();
        assert_eq!((of(2).p_code, of(3).p_code, of(4).p_code), (Priority::Q, Priority::Q, Priority::P2));
        assert!(of(2).severity_adjustment.as_ref().unwrap().reason.contains("judge disputes it"));
    }

    /// A refutation needs a reason and a quote that stands in the code, and nobody judges himself.
    #[test]
    fn an_empty_refutation_changes_nothing() {
        for opinion in [
            CheckedOpinion { shown: false, ..refutes(1) },
            CheckedOpinion { reason: String::new(), ..refutes(1) },
            CheckedOpinion { stand: Stand::Unsure, ..refutes(1) },
        ] {
            assert_eq!(apply(vec![finding(1, Priority::P2, &["a"])], &"judge".into(), &[opinion]).0.len(), 1);
        }
        assert_eq!(apply(vec![finding(1, Priority::P2, &["a"])], &"a".into(), &[refutes(1)]).0.len(), 1);
    }
}
