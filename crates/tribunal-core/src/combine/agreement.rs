//! What the agreement of several reviewers is worth.
//!
//! Reviewers of different vendors make different mistakes, so each vendor counts as one voice. More reviewers of one vendor, and more
//! samples of one reviewer, share their mistakes: they count a part of a voice, and one vendor alone never counts as two. The owner of a
//! repository may weigh a reviewer below one voice.
//!
//! Two voices raise the confidence that is shown, and with it what is posted first. They never move a priority: that follows from what
//! the reviewer itself said (PR-75), so a guess stays a question however many share it (PR-106). What one weak voice says is folded: it is
//! listed and counted, and shown in one line. A P0 or P1 is never folded.

use super::finding::Finding;
use super::terms::Terms;
use crate::findings::scale::{Confidence, Priority};
use crate::ids::AgentName;
use crate::policy::vendor::Vendor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Who speaks, as far as it matters how much their agreement is worth. An agent that is not listed is a vendor of its own.
pub type Speakers = BTreeMap<AgentName, Speaker>;

#[derive(Debug, Clone, PartialEq)]
pub struct Speaker {
    pub vendor: Vendor,
    /// From 0 to 1, as the repository's owner says.
    pub weight: f64,
}

/// What the voices of a finding are worth together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Support {
    /// 1 for each vendor that reported it; more reviewers or samples of one vendor add a part of a voice.
    pub voices: f64,
    /// What the reviewer itself said, where agreement raised the confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_from: Option<Confidence>,
    /// One weak voice: listed in one line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
}

impl Default for Support {
    fn default() -> Self {
        Support { voices: 1.0, confidence_from: None, folded: false }
    }
}

/// Voices from which on a finding is confirmed by somebody else.
pub const AGREED: f64 = 2.0;
/// Voices from which on nothing is left to doubt.
const CERTAIN: f64 = 3.0;
/// Another sample of one reviewer, or the same reviewer in another role; and all of them together.
const SAMPLE: f64 = 0.25;
const SAMPLES: f64 = 0.5;
/// Another reviewer of one vendor.
const SAME_VENDOR: f64 = 0.5;
/// The most that one vendor counts: less than two vendors.
const ONE_VENDOR: f64 = 1.75;
/// A claim that two reviewers make is not weak, even if one vendor made both.
const REPEATED: f64 = 1.5;
/// What the owner weighs below this is folded unless it is a P0 or P1.
const MUTED: f64 = 0.5;

impl Support {
    /// For sorting: more voices first.
    pub fn rank(&self) -> std::cmp::Reverse<u32> {
        std::cmp::Reverse((self.voices * 100.0).round() as u32)
    }

    /// `2 voices`, `1.25 voices`.
    pub fn words(&self) -> String {
        format!("{} voice{}", self.voices, if self.voices == 1.0 { "" } else { "s" })
    }

    /// `high`, or `high, raised from medium by 2 voices`.
    pub fn confidence_words(&self, shown: Confidence) -> String {
        match self.confidence_from {
            Some(said) => format!("{}, raised from {} by {}", shown.word(), said.word(), self.words()),
            None => shown.word().to_owned(),
        }
    }
}

/// Weighs the voices of each finding: its support, and the confidence that is shown.
pub fn weigh(findings: &mut [Finding], speakers: &Speakers) {
    for finding in findings {
        // What an earlier review raised is not raised again.
        let said = finding.support.confidence_from.unwrap_or(finding.confidence);
        // Whoever wrote a receipt chose its names: it is one voice.
        let voices = if finding.key.is_brought() { 1.0 } else { voices(finding, speakers) };
        let shown = confidence(said, voices);
        finding.support = Support {
            voices,
            confidence_from: (shown != said).then_some(said),
            folded: is_weak(finding, said, voices, speakers),
        };
        finding.confidence = shown;
    }
}

/// How many independent voices have reported a finding.
pub fn voices(finding: &Finding, speakers: &Speakers) -> f64 {
    let mut reports: BTreeMap<&AgentName, BTreeSet<(&str, u32)>> = BTreeMap::new();
    for voice in &finding.agreement {
        reports.entry(&voice.agent).or_default().insert((voice.role.as_str(), voice.sample));
    }
    let mut vendors: BTreeMap<Vendor, Vec<f64>> = BTreeMap::new();
    for (agent, reports) in reports {
        let Speaker { vendor, weight } = speaker(agent, speakers);
        // A program says the same as often as it is asked.
        let repeats = if vendor.is_program() { 0 } else { reports.len() - 1 };
        let worth = (1.0 + (repeats as f64 * SAMPLE).min(SAMPLES)) * weight;
        vendors.entry(vendor).or_default().push(worth);
    }
    let of_vendor = |mut agents: Vec<f64>| {
        agents.sort_by(|a, b| b.total_cmp(a));
        let others: f64 = agents.iter().skip(1).map(|worth| worth * SAME_VENDOR).sum();
        (agents.first().copied().unwrap_or_default() + others).min(ONE_VENDOR)
    };
    let total: f64 = vendors.into_values().map(of_vendor).sum();
    (total * 100.0).round() / 100.0
}

fn speaker(agent: &AgentName, speakers: &Speakers) -> Speaker {
    speakers.get(agent).cloned().unwrap_or_else(|| Speaker { vendor: Vendor::Other(agent.0.clone()), weight: 1.0 })
}

/// The confidence that is shown.
pub fn confidence(said: Confidence, voices: f64) -> Confidence {
    match said {
        _ if voices >= CERTAIN => Confidence::High,
        said if voices >= AGREED => said.raised(),
        said => said,
    }
}

/// Is it said by one weak voice alone? P0 and P1 never are, and by default neither is a P2, which belongs on its line (PR-90). A P3 or
/// a question of one model is weak if the model says that it guesses, or is not sure and speaks of nothing that it quotes. What a
/// reviewer called a blocker stays in sight although it only guesses.
fn is_weak(finding: &Finding, said: Confidence, voices: f64, speakers: &Speakers) -> bool {
    match finding.p_code {
        Priority::P0 | Priority::P1 => false,
        Priority::P2 => voices < MUTED,
        Priority::P3 | Priority::Q if voices < MUTED => true,
        Priority::P3 | Priority::Q => {
            let is_program = finding.agreement.iter().any(|voice| speaker(&voice.agent, speakers).vendor.is_program());
            let was_blocker = finding.severity_adjustment.as_ref().is_some_and(|moved| moved.from.ends_with(Priority::P0.code()));
            let is_doubtful = match said {
                Confidence::Low => true,
                Confidence::Medium => !names_its_quote(finding),
                Confidence::High => false,
            };
            voices < REPEATED && !is_program && !was_blocker && is_doubtful
        }
    }
}

/// Does the claim speak of something that stands in its quote?
fn names_its_quote(finding: &Finding) -> bool {
    let code = Terms::of_texts(&[], &finding.evidence, 1.0);
    let claim = Terms::of_texts(&[(&finding.failure_mode, 1.0), (&finding.mitigation, 1.0)], "", 0.0);
    claim.weights().iter().any(|(term, _)| code.contains(*term))
}

#[cfg(test)]
mod tests;
