//! What is deferred, entered into the repository's record: one commit for all of a pass, on top of its fixes.

use super::{Remedies, lint};
use crate::EngineError;
use std::collections::BTreeMap;
use tribunal_core::feedback::fixable::Fixable;
use tribunal_core::feedback::lint::knowing;
use tribunal_core::ids::Sha;
use tribunal_core::policy::loops::Defer;
use tribunal_core::procedure::remediate::{FixOutcome, Made, Pass, State};
use tribunal_core::remedy::assess::{Assessment, Decision};
use tribunal_core::remedy::patch::{By, message};
use tribunal_core::remedy::record::{Recorded, SUBJECT, record};

impl Remedies {
    pub(super) fn enter_deferred(&self, state: &State, pass: &Pass, made: &mut Made, tip: &Sha) -> Result<(), EngineError> {
        let loops = &state.request.loops;
        let of = |item| pass.assessment(item).filter(|assessment| assessment.decision == Decision::Defer);
        let deferred: Vec<(&Fixable, &Assessment)> = pass.leaders().filter_map(|item| Some((item, of(&item.id)?))).collect();
        if loops.defer != Defer::Record || deferred.is_empty() {
            return Ok(());
        }
        let old = self.text_at(tip, &loops.record);
        let is_unreadable = old.is_none() && self.repository.has_file(tip, &loops.record);
        if is_unreadable || !self.repository.may_be_rewritten(tip, &loops.record) {
            let why = format!("{} is no text file that could be added to", loops.record);
            made.outcomes.extend(deferred.iter().map(|(item, _)| (item.id.clone(), FixOutcome::Nothing(why.clone()))));
            return Ok(());
        }
        let url = state.memory.pull.as_ref().map_or("", |pull| pull.url.as_str());
        let place = &state.request.place;
        let Recorded { text, homes } = record(old.as_deref(), &loops.record, (&place.case_id(), place.number, url), &deferred);
        let commit = match text {
            Some(text) => {
                let answers_person = deferred.iter().any(|(item, _)| pass.answers_person(&item.id));
                let by = By { fixer: &loops.fixer, answers_person };
                let message = message(SUBJECT, deferred.iter().map(|(item, _)| &item.id), &state.request.run, &by);
                let files = BTreeMap::from([(loops.record.clone(), text)]);
                let message = knowing(&message, lint::known(state));
                Some(self.repository.commit_files(tip, &files, &self.signature, &message.into())?)
            }
            None => None,
        };
        if commit.is_some() {
            made.tip.clone_from(&commit);
        }
        let outcomes = homes.into_iter().map(|(id, home)| (id, FixOutcome::Recorded { commit: commit.clone(), home }));
        made.outcomes.extend(outcomes);
        Ok(())
    }
}
