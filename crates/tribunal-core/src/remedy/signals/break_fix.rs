//! Fixes that break what other fixes mended (WL-90). Two of three signs in one file, and the loop must stop.

use super::{History, Remembered, Signal, Status};
use crate::ids::RepoPath;
use std::collections::BTreeMap;

/// What a loop that was stopped by it gives as its blocker (WL-62).
pub const MUTATION_DECAY: &str = "mutation-decay";

const OF_THREE: usize = 2;

/// Signs count within one file: an oscillation here and an overlap there are two accidents, not a pattern.
pub fn break_fix(history: &History) -> Signal {
    let mut files: BTreeMap<Option<&RepoPath>, Vec<&Remembered>> = BTreeMap::new();
    for finding in history.open() {
        files.entry(finding.path.as_ref()).or_default().push(finding);
    }
    for findings in files.values() {
        let signs: Vec<String> = [overlap, oscillation, reappearance]
            .iter()
            .filter_map(|sign| findings.iter().find_map(|finding| sign(history, finding)))
            .collect();
        if signs.len() >= OF_THREE {
            return Signal { fired: true, evidence: signs };
        }
    }
    Signal::default()
}

/// On the lines of something else that was fixed before. Its own old lines do not count: there it would always overlap.
fn overlap(history: &History, finding: &Remembered) -> Option<String> {
    let span = finding.span()?;
    let fixed = history.earlier().iter().flat_map(|round| &round.findings).filter(|then| then.status == Status::Fixed);
    let other =
        fixed.filter(|then| !then.is_same(finding)).find(|then| then.span().is_some_and(|lines| lines.overlaps(&span)))?;
    Some(format!("{} stands on the lines of {}, which was fixed", finding.name(), other.name()))
}

fn oscillation(history: &History, finding: &Remembered) -> Option<String> {
    let now = matches!(finding.status, Status::Regressed | Status::Cycling);
    let fixed = history
        .earlier()
        .iter()
        .any(|round| was(round.findings.iter(), finding).is_some_and(|then| then.status == Status::Fixed));
    (now && fixed).then(|| format!("{} went from fixed back to open", finding.name()))
}

/// Open two rounds ago, gone or fixed in the last one, and open now.
fn reappearance(history: &History, finding: &Remembered) -> Option<String> {
    let [.., before, between, _] = &history.rounds[..] else { return None };
    let then = was(before.findings.iter(), finding)?;
    let gone = was(between.findings.iter(), finding).is_none_or(|then| !then.status.is_open());
    gone.then(|| format!("{} was there in round {} and is there again", then.name(), before.number))
}

fn was<'a>(mut findings: impl Iterator<Item = &'a Remembered>, finding: &Remembered) -> Option<&'a Remembered> {
    findings.find(|then| then.is_same(finding))
}
