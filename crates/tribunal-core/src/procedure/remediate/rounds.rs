//! The rounds as the signs need them: what was raised, of what kind, what became of it, and which lines the fixes wrote.

use super::pass::Pass;
use super::{FixOutcome, State};
use crate::feedback::item::{Item, Label, Voice};
use crate::findings::about::About;
use crate::ids::RepoPath;
use crate::remedy::assess::Decision;
use crate::remedy::rewrite::{after, written};
use crate::remedy::signals::structural::StructuralFix;
use crate::remedy::signals::{Remembered, Round, Status};

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
        let About { category, slug, race, nature, fix: _ } = about(item, pass);
        Remembered {
            item: item.id.clone(),
            path: item.path.clone(),
            lines: item.line.map(|line| (item.start_line.unwrap_or(line).min(line), line)),
            framing: pass.assessment(&item.id).and_then(|assessment| assessment.framing.clone()),
            priority: item.priority,
            category,
            slug,
            round: known.map_or(number, |known| known.round),
            status,
            race,
            nature,
            panel: item.voice == Voice::Panel,
        }
    }

    /// The assessor has said what each fix would be, and what others' items are about.
    pub(super) fn note_assessed(&mut self, pass: &Pass) {
        let Some(round) = self.memory.history.rounds.last_mut() else { return };
        for finding in &mut round.findings {
            let Some(item) = pass.item(&finding.item) else { continue };
            finding.framing = pass.assessment(&finding.item).and_then(|assessment| assessment.framing.clone());
            let About { category, slug, race, nature, fix: _ } = about(item, pass);
            (finding.category, finding.slug, finding.race, finding.nature) = (category, slug, race, nature);
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
            let outcome = outcomes.and_then(|made| made.get(&finding.item));
            if let Some(FixOutcome::Made { .. } | FixOutcome::With { .. }) = outcome {
                finding.status = Status::Fixed;
            }
        }
        round.structural = outcomes.into_iter().flat_map(|made| made.values()).flat_map(claims).collect();
        round.over = true;
        let open = round.findings.iter().filter(|finding| finding.status.is_open()).count();
        let standing = &mut self.memory.history.standing;
        standing.open_actionable = u32::try_from(open).unwrap_or(u32::MAX);
        standing.handled_unresolved = u32::try_from(self.memory.not_resolved.len()).unwrap_or(u32::MAX);
        standing.escalation = !pass.conditions.is_empty();
        standing.home = pass.homes.values().find_map(|home| home.clone().ok()).or_else(|| standing.home.take());
        self.note_touched(pass);
    }

    /// What the fixes wrote; what earlier ones wrote has moved along with it.
    fn note_touched(&mut self, pass: &Pass) {
        let Some(made) = pass.made.as_ref().filter(|_| pass.landed.is_some()) else { return };
        for round in &mut self.memory.history.rounds {
            round.touched = round.touched.iter().filter_map(|lines| after(lines, &made.rewrites)).collect();
        }
        if let Some(round) = self.memory.history.rounds.last_mut() {
            round.touched = written(&made.rewrites);
        }
    }
}

/// Our own finding's mark says what it is about; of others the assessor does.
fn about(item: &Item, pass: &Pass) -> About {
    if !item.about.is_empty() {
        return item.about.clone();
    }
    pass.assessment(&item.id).map(|assessment| assessment.about.clone()).unwrap_or_default()
}

/// What a fix claims to have made impossible, in each file that it changed.
fn claims(outcome: &FixOutcome) -> Vec<StructuralFix> {
    let FixOutcome::Made { class: Some(class), files, .. } = outcome else { return Vec::new() };
    let claim = |path: &RepoPath| StructuralFix { path: path.clone(), class: Some(class.clone()), cases: Vec::new() };
    files.iter().map(claim).collect()
}
