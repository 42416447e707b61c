//! The pages of `respond` that people and other tools read (RL-13): exports of what the ledger knows, written anew each time. Without
//! them nothing is lost, so a disk that refuses them stops nothing.

use super::Remedies;
use crate::{Progress, now};
use tribunal_core::calendar::rfc3339;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::policy::loops::LoopKind;
use tribunal_core::procedure::remediate::{FixOutcome, Pass, State};
use tribunal_core::publish::outgoing::masked;
use tribunal_core::remedy::assess::Assessment;
use tribunal_core::remedy::end::End;
use tribunal_core::remedy::report::files::{
    AssessedBy, Awaited, Phase, SavedState, assessment_md, changes_md, state_md, validation_md,
};

impl Remedies {
    /// The loop has ended.
    pub fn close_pages(&self, state: &State) {
        self.write_state(state, Phase::Complete, "COMPLETE");
    }

    pub(super) fn write_assessment(&self, state: &State, pass: &Pass, assessments: &[Assessment]) {
        let Some(pull) = &state.memory.pull else { return };
        let time = rfc3339(now());
        let by = AssessedBy {
            number: pull.number,
            branch: &pull.branch,
            agent: state.request.loops.assessor.as_str(),
            time: &time,
            iteration: state.memory.cycles + 1,
        };
        self.write(state, "assessment.md", &assessment_md(&by, &pass.items, assessments));
    }

    pub(super) fn write_rejection(&self, state: &State, why: &str) {
        let faults = [why.to_owned()];
        let page = validation_md(state.request.place.number, state.memory.cycles + 1, state.memory.rejections + 1, &faults);
        self.write(state, "validation.md", &page);
    }

    pub(super) fn write_changes(&self, state: &State, pass: &Pass, head: &Sha) {
        let Some(pull) = &state.memory.pull else { return };
        let outcomes = pass.made.iter().flat_map(|made| made.outcomes.values());
        let changes: Vec<(RepoPath, String)> = outcomes
            .filter_map(|outcome| match outcome {
                FixOutcome::Made { summary, files, .. } => Some(files.iter().map(|file| (file.clone(), summary.clone()))),
                FixOutcome::With { .. } | FixOutcome::Recorded { .. } | FixOutcome::Refused(_) | FixOutcome::Nothing(_) => None,
            })
            .flatten()
            .collect();
        self.write(state, "changes.md", &changes_md(pull.number, &pull.branch, head, &changes));
    }

    /// How far the loop has come, for whoever takes it up (RL-51).
    pub(super) fn write_state(&self, state: &State, phase: Phase, action: &str) {
        let ends = |is: fn(&End) -> bool| {
            u32::try_from(state.memory.ends.values().filter(|(_, end)| is(end)).count()).unwrap_or(u32::MAX)
        };
        let saved = SavedState {
            iteration_count: state.memory.cycles,
            last_action_time: rfc3339(now()),
            last_action: action.to_owned(),
            pr_number: state.request.place.number,
            pr_url: state.memory.pull.as_ref().map(|pull| pull.url.clone()).unwrap_or_default(),
            threads_addressed_total: ends(|end| matches!(end, End::Fixed { .. })),
            threads_declined_total: ends(|end| matches!(end, End::Declined { .. })),
            threads_deferred_total: ends(|end| matches!(end, End::Deferred { .. })),
        };
        let awaited = Awaited(state.request.loops.reviewer.clone());
        self.write(state, "state.md", &state_md(&saved, phase, &awaited, &state.memory.commits));
    }

    fn write(&self, state: &State, name: &str, text: &str) {
        if state.request.loops.kind != LoopKind::Respond || state.request.loops.dry_run {
            return;
        }
        let folder = self.pages.join(state.request.place.number.to_string());
        let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(name), masked(text)));
        if let Err(error) = written {
            (self.listener)(Progress::Working { what: format!("{} cannot be written: {error}", folder.join(name).display()) });
        }
    }
}
