//! Which findings a second opinion is asked for: those whose being wrong would cost something, and that nobody else has confirmed.
//! Everything else is not worth a question.

use super::agreement::AGREED;
use super::finding::{Finding, FindingOrigin};
use super::opinion::may_judge;
use super::verdict::FailLevel;
use crate::findings::scale::{Confidence, Priority};
use crate::ids::AgentName;

/// Why a finding is doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It holds the change up, by the exit code or the verdict, and one vendor alone says so.
    Blocks,
    /// One vendor alone says it, and the reviewer is not sure.
    Unsure,
}

/// A finding that two vendors report is confirmed. A question and a P3 claim too little to be refuted. What was open before has
/// been judged before.
pub fn doubt(finding: &Finding, fail_level: FailLevel) -> Option<Doubt> {
    let is_open = finding.origin == FindingOrigin::Fresh && finding.counts();
    if !is_open || finding.support.voices >= AGREED {
        return None;
    }
    match finding.p_code {
        Priority::P3 | Priority::Q => None,
        priority if fail_level.of_verdicts().is_reached_by(priority) => Some(Doubt::Blocks),
        Priority::P0 | Priority::P1 => Some(Doubt::Blocks),
        Priority::P2 => (finding.confidence < Confidence::High).then_some(Doubt::Unsure),
    }
}

/// Is this agent asked about this finding?
pub fn is_asked(finding: &Finding, agent: &AgentName, fail_level: FailLevel) -> bool {
    may_judge(agent, finding) && doubt(finding, fail_level).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::agreement::Support;
    use crate::combine::dismissal::Dismissed;

    fn finding(p_code: Priority, confidence: Confidence, voices: f64) -> Finding {
        let support = Support { voices, ..Support::default() };
        Finding { p_code, confidence, support, ..crate::combine::tests::sample_finding() }
    }

    /// Issue 18, section 3: only doubtful findings go to the second opinion.
    #[test]
    fn only_what_is_doubtful_is_asked_about() {
        let doubted = |p_code, confidence, voices| doubt(&finding(p_code, confidence, voices), FailLevel::P0);
        assert_eq!(doubted(Priority::P0, Confidence::High, 1.0), Some(Doubt::Blocks));
        assert_eq!(doubted(Priority::P1, Confidence::High, 1.75), Some(Doubt::Blocks));
        assert_eq!(doubted(Priority::P0, Confidence::High, 2.0), None, "two vendors confirm it");
        assert_eq!(doubted(Priority::P2, Confidence::Medium, 1.0), Some(Doubt::Unsure));
        assert_eq!(doubted(Priority::P2, Confidence::High, 1.0), None);
        assert_eq!(doubted(Priority::Q, Confidence::Low, 1.0), None);
        assert_eq!(doubted(Priority::P3, Confidence::Low, 1.0), None);
    }

    #[test]
    fn a_stricter_level_doubts_more() {
        let sure = finding(Priority::P2, Confidence::High, 1.0);
        assert_eq!(doubt(&sure, FailLevel::P2), Some(Doubt::Blocks));
        assert_eq!(doubt(&sure, FailLevel::Never), None);
        let blocker = finding(Priority::P0, Confidence::High, 1.0);
        assert_eq!(doubt(&blocker, FailLevel::Never), Some(Doubt::Blocks), "the verdict says it all the same");
    }

    #[test]
    fn what_is_open_or_dismissed_is_not_asked_about_again() {
        let carried = Finding { origin: FindingOrigin::Carried, ..finding(Priority::P0, Confidence::High, 1.0) };
        assert_eq!(doubt(&carried, FailLevel::P0), None);
        let dismissed = Some(Dismissed { by: "ada".into(), reason: "known".into(), accepted: true });
        let dismissed = Finding { dismissed, ..finding(Priority::P0, Confidence::High, 1.0) };
        assert_eq!(doubt(&dismissed, FailLevel::P0), None);
    }
}
