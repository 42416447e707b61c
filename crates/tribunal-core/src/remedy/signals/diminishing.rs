//! Rounds that bring less and less (WL-91, PR-120): advice to stop, never a verdict.

use super::{History, Nature, Remembered, Signal};

/// Two rounds at least, the last one over, nothing grave and nothing actionable open, and what came new was light and no more than
/// before. Never at the ceiling: there the limit is the reason.
pub fn diminishing_returns(history: &History) -> Signal {
    let [.., before, last] = &history.rounds[..] else { return Signal::default() };
    let standing = &history.standing;
    let open = standing.open_actionable + standing.handled_unresolved;
    let quiet = open == 0 && !standing.escalation && history.open().is_empty();
    if !last.over || !quiet || standing.at_ceiling {
        return Signal::default();
    }
    let newest = history.newest();
    let earlier = before.findings.iter().filter(|finding| finding.round == before.number).count();
    if newest.is_empty() || newest.iter().any(|finding| finding.is_high()) || newest.len() > earlier {
        return Signal::default();
    }
    Signal {
        fired: true,
        evidence: vec![format!(
            "round {} brought {} new findings, round {} brought {}, none of them P0 or P1",
            before.number,
            earlier,
            last.number,
            newest.len()
        )],
    }
}

/// What a person may choose when gate A holds (PR-120).
pub const GATE_A_CHOICES: [&str; 3] = ["ship", "polish", "re-review-full"];

/// Gate A: there is something new, and all of it is hygiene.
///
/// A finding of the contract without a justification is hygiene (PR-120). A foreign reviewer's remark has no justification because
/// nobody asked for one, so it says nothing and keeps the gate shut; so does a P0 or P1, which is never hygiene (PR-125).
pub fn gate_a(history: &History) -> Signal {
    let newest = history.newest();
    if newest.is_empty() || !newest.iter().all(|finding| is_hygiene(finding)) {
        return Signal::default();
    }
    Signal::from_evidence(newest.iter().map(|finding| format!("{} is hygiene", finding.name())).collect())
}

fn is_hygiene(finding: &Remembered) -> bool {
    match finding.nature {
        Some(Nature::Hygiene) => !finding.is_high(),
        Some(Nature::Historical | Nature::Precedent | Nature::Reachable | Nature::Asymmetric) => false,
        None => finding.panel && finding.category.is_some() && !finding.is_high(),
    }
}
