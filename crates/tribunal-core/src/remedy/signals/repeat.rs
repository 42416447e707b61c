//! The same finding, again (WL-51), and how often it may be tried at all (CF-3, PR-114).

use super::{History, Remembered, Signal, Status};

/// The same finding is remediated at most this often, in every procedure (CF-3).
pub const MAX_REMEDIATIONS: u32 = 3;

/// Fixed in an earlier round, raised again, and still there after another pass. Before that pass is over the reviewer's second word
/// is only feedback like any other.
pub fn same_finding_repeat(history: &History) -> Signal {
    let over = history.last().is_some_and(|round| round.over);
    let evidence = history
        .open()
        .into_iter()
        .filter(|_| over)
        .filter_map(|finding| {
            let fixed = rounds_of(history, finding).find(|(_, then)| then.status == Status::Fixed)?;
            Some(format!("{} was fixed in round {} and is still raised", finding.name(), fixed.0))
        })
        .collect();
    Signal::from_evidence(evidence)
}

/// In how many rounds it was worked on.
pub fn remediations(history: &History, finding: &Remembered) -> u32 {
    let mut tried: Vec<u32> = rounds_of(history, finding)
        .filter(|(_, then)| matches!(then.status, Status::Fixed | Status::Fixing))
        .map(|(round, _)| round)
        .collect();
    tried.dedup();
    u32::try_from(tried.len()).unwrap_or(u32::MAX)
}

/// May it be tried once more?
pub fn may_remediate(history: &History, finding: &Remembered) -> bool {
    remediations(history, finding) < MAX_REMEDIATIONS
}

/// Something is open that has had all its tries: a person must look at it.
pub fn exhausted(history: &History) -> Signal {
    let evidence = history
        .open()
        .into_iter()
        .filter(|finding| finding.status != Status::Fixing && !may_remediate(history, finding))
        .map(|finding| {
            format!("{} was worked on in {} rounds and is still raised", finding.name(), remediations(history, finding))
        })
        .collect();
    Signal::from_evidence(evidence)
}

/// Where it was before and is now. Two threads of one round are two claims, however alike they are.
fn rounds_of<'a>(history: &'a History, finding: &'a Remembered) -> impl Iterator<Item = (u32, &'a Remembered)> {
    let now = history.last().map_or(0, |round| round.number);
    history
        .rounds
        .iter()
        .flat_map(|round| round.findings.iter().map(move |then| (round.number, then)))
        .filter(move |(round, then)| if *round == now { then.item == finding.item } else { then.is_same(finding) })
}
