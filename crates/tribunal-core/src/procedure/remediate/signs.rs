//! The rounds as the signs need them, and what the signs come to.

use super::pass::Pass;
use super::{FixOutcome, State};
use crate::feedback::item::{Item, Label};
use crate::remedy::assess::Decision;
use crate::remedy::condition::{Blocker, Condition};
use crate::remedy::ladder::Reason;
use crate::remedy::signals::detect::{Detected, detect};
use crate::remedy::signals::{Remembered, Round, Status, Touched};

impl State {
    /// A round begins: its items are remembered as they stand.
    pub(super) fn open_round(&mut self, pass: &Pass) {
        let number = u32::try_from(self.memory.history.rounds.len()).unwrap_or(u32::MAX).saturating_add(1);
        let findings = pass.leaders().map(|item| self.remembered(item, pass, number)).collect();
        let round = Round { number, findings, ..Round::default() };
        self.memory.history.rounds.push(round);
        self.memory.history.standing.at_ceiling = self.memory.cycles + 1 >= self.request.loops.cycles;
    }

    /// The head moved away under a round: nothing came of it, and the same items are looked at again as if for the first time.
    pub(super) fn drop_round(&mut self) {
        self.memory.history.rounds.pop_if(|round| !round.over);
    }

    fn remembered(&self, item: &Item, pass: &Pass, number: u32) -> Remembered {
        let rounds = &self.memory.history.rounds;
        let known = rounds.iter().flat_map(|round| &round.findings).find(|finding| finding.item == item.id);
        let fixes = self.memory.fixes.get(&item.id).copied().unwrap_or(0);
        let status = match (item.label, fixes) {
            (Label::FollowupAfterFix, 2..) => Status::Cycling,
            (Label::FollowupAfterFix, _) => Status::Regressed,
            (Label::Actionable | Label::Handled, _) => Status::Open,
        };
        Remembered {
            item: item.id.clone(),
            path: item.path.clone(),
            lines: item.line.map(|line| (line, line)),
            framing: pass.assessment(&item.id).and_then(|assessment| assessment.framing.clone()),
            priority: item.priority,
            category: None,
            slug: None,
            round: known.map_or(number, |known| known.round),
            status,
            race: false,
            nature: None,
        }
    }

    /// The assessor has said what each fix would be.
    pub(super) fn name_framings(&mut self, pass: &Pass) {
        let Some(round) = self.memory.history.rounds.last_mut() else { return };
        for finding in &mut round.findings {
            finding.framing = pass.assessment(&finding.item).and_then(|assessment| assessment.framing.clone());
        }
    }

    /// The round is over: what was fixed, what the fixes wrote, and what is left (PR-119).
    pub(super) fn close_round(&mut self, pass: &Pass) {
        let outcomes = pass.made.as_ref().filter(|_| pass.landed.is_some()).map(|made| &made.outcomes);
        let Some(round) = self.memory.history.rounds.last_mut() else { return };
        // What was declined or deferred is settled and is nobody's unfinished work.
        round.findings.retain(|finding| {
            let decision = pass.assessment(&finding.item).map(|assessment| assessment.decision);
            !matches!(decision, Some(Decision::Decline | Decision::Defer | Decision::Noise))
        });
        for finding in &mut round.findings {
            let Some(FixOutcome::Made { .. } | FixOutcome::With { .. }) = outcomes.and_then(|made| made.get(&finding.item))
            else {
                continue;
            };
            finding.status = Status::Fixed;
            if let (Some(path), Some((first, last))) = (&finding.path, finding.lines) {
                round.touched.push(Touched { path: path.clone(), first, last });
            }
        }
        round.over = true;
        let open = round.findings.iter().filter(|finding| finding.status.is_open()).count();
        let standing = &mut self.memory.history.standing;
        standing.open_actionable = u32::try_from(open).unwrap_or(u32::MAX);
        standing.handled_unresolved = u32::try_from(self.memory.not_resolved.len()).unwrap_or(u32::MAX);
        standing.escalation = !pass.conditions.is_empty();
        standing.home = pass.homes.values().find_map(|home| home.clone().ok()).or_else(|| standing.home.take());
    }

    /// What the signs say now (WL-62, WL-66). Several findings of one kind in one single review are several fixes: a common cause shows
    /// when fixing some of them did not end the others, so it is looked for from the second round on.
    pub(super) fn signs(&self) -> Option<Condition> {
        let detected = detect(&self.memory.history);
        let is_first = self.memory.history.rounds.len() < 2;
        let reason = detected.reason.filter(|reason| !(is_first && *reason == Reason::RootClusterSuspected))?;
        Some(condition(reason, &detected))
    }
}

fn condition(reason: Reason, detected: &Detected) -> Condition {
    let (stage, detail, evidence) = match reason {
        Reason::Blocked => ("mutation-decay", "fixes undo earlier fixes".to_owned(), detected.break_fix.evidence.clone()),
        Reason::RootClusterSuspected if detected.cluster.fired => {
            ("cluster", detected.cluster.hypothesized_root.clone(), detected.cluster.evidence.clone())
        }
        Reason::RootClusterSuspected => {
            ("axis", "one place draws findings round after round".to_owned(), detected.axis.evidence.clone())
        }
        Reason::UserInputRequired if detected.gate_b.fired => {
            ("convergence-audit", "the fixes themselves draw findings of one kind".to_owned(), detected.gate_b.evidence.clone())
        }
        Reason::UserInputRequired => {
            ("stubborn", "the same finding was fixed as often as is allowed".to_owned(), detected.exhausted.evidence.clone())
        }
        Reason::MaxCyclesReached => {
            ("same-finding-repeat", "a finding came back after its fix".to_owned(), detected.repeat.evidence.clone())
        }
        Reason::MergeAdvised => (
            "merge-advice",
            "nothing actionable is left; a person may merge".to_owned(),
            detected.merge_advisory.evidence.clone(),
        ),
        _ => (
            "diminishing-returns",
            "more rounds would bring only light remarks".to_owned(),
            [detected.diminishing_returns.evidence.clone(), detected.gate_a.evidence.clone()].concat(),
        ),
    };
    // Whether to go on at all is then a person's to say.
    let blocker = (reason == Reason::Blocked).then_some(Blocker::Person);
    Condition { stage: Some(stage.to_owned()), detail, evidence, blocker, ..Condition::of(reason) }
}
