//! A seat that a linter with a profile plays.

use super::Effects;
use super::given::{Given, plan};
use super::seat::Answer;
use std::path::Path;
use tribunal_agent::AgentFailure;
use tribunal_agent::linter::{Changed, ProfiledLinter, Sources};
use tribunal_core::findings::role::Role;
use tribunal_core::findings::silenced::Silenced;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::linter::claim::{Linted, misplaced, unread};
use tribunal_core::linter::scope::widened;
use tribunal_core::linter::suppression::{PassedOver, Suppressions, is_read_otherwise};
use tribunal_core::linter::triage::read_table;
use tribunal_core::plan::files::Disposition;
use tribunal_core::plan::panel::Seat;
use tribunal_core::policy::linter::LinterConfig;
use tribunal_core::procedure::review::{Phase, State, Target};
use tribunal_forge::git::Repository;

/// The role with the categories that no other seat of this linter answers for.
pub(super) fn seated_widely(seat: &Seat, state: &State) -> Option<Role> {
    let seats = match &state.phase {
        Phase::Reviewing(reviewing) | Phase::Verifying(reviewing) => &reviewing.plan.panel.seats,
        _ => return None,
    };
    widened(seat, &state.request.roles, seats)
}

impl Effects {
    pub(super) fn play_linter(
        &self,
        seat: &Seat,
        config: &LinterConfig,
        role: &Role,
        state: &State,
        given: &Given,
    ) -> Result<Answer, AgentFailure> {
        let failed = AgentFailure::Failed;
        let profile = config.profile().ok_or_else(|| failed(format!("there is no linter profile `{}`", config.profile)))?;
        let Target::Trees { base, head, tip, .. } = &state.request.target else {
            return Err(failed("a linter needs files, and a bare diff has none".into()));
        };
        let repository = self.repository().map_err(|error| failed(error.to_string()))?;
        let plan = plan(state).map_err(failed)?;
        let reviewed = plan.files.iter().filter(|planned| planned.disposition == Disposition::Review);
        let reviewed = reviewed.filter_map(|planned| given.change().file(&planned.file.path));
        let (selection, suppressions, passed_over) = (
            profile.selection().map_err(failed)?,
            Suppressions::of(profile).map_err(failed)?,
            PassedOver::of(profile).map_err(failed)?,
        );
        // What it cannot look at, or only in another way than it was reviewed, does not count as looked at, and is named.
        let mut silenced: Vec<Silenced> = Vec::new();
        let mut changed = Vec::new();
        for file in reviewed {
            let Some(text) = file.new_text.as_deref() else { continue };
            if selection.is_withheld(&file.path) || selection.looks_at(&file.path) && profile.cannot_name(&file.path) {
                silenced.push(Silenced::unread(&file.path, 1));
                continue;
            }
            changed.push(Changed { path: &file.path, text, unsuppressed: suppressions.blanked(file) });
        }
        let own = read_table(&config.rules).map_err(failed)?;
        let mut found = ProfiledLinter { config, profile }
            .look(&changed, &Commits { repository, base: tip.as_ref().unwrap_or(base), head })?;
        for path in &found.files {
            let Some(file) = given.change().file(path) else { continue };
            let is_read_otherwise = file.new_text.as_deref().is_some_and(|text| is_read_otherwise(path, text));
            silenced.extend(passed_over.find(file).or_else(|| is_read_otherwise.then(|| Silenced::unread(path, 1))));
        }
        silenced.extend(unread(profile, &found.results, given.change()));
        // Any of its files may be the one that these are about.
        let misplaced =
            [&found.results, &found.unsuppressed].map(|results| misplaced(profile, &own, results, &found.given)).concat();
        if !misplaced.is_empty() {
            found.files.clear();
        }
        silenced.extend(misplaced);
        silenced.dedup_by(|one, other| one.path == other.path);
        found.files.retain(|path| !silenced.iter().any(|one| one.path == *path));
        let linted = Linted {
            name: seat.agent.as_str(),
            profile,
            own: &own,
            files: &found.files,
            results: &found.results,
            unsuppressed: &found.unsuppressed,
        };
        let (report, suppressed) = linted.report_on(role, given.change());
        silenced.extend(suppressed);
        Ok(Answer { report, silenced, linted: Some(found.files), ..Answer::default() })
    }
}

/// The tip of the base, whose configuration counts, and the head of a review.
pub(super) struct Commits<'a> {
    pub repository: &'a Repository,
    pub base: &'a Sha,
    pub head: &'a Sha,
}

impl Sources for Commits<'_> {
    fn export(&self, into: &Path) -> Result<(), String> {
        self.repository.export(self.head, into).map_err(|error| error.to_string())
    }

    fn of_base(&self, wanted: &dyn Fn(&RepoPath) -> bool) -> Result<Vec<(RepoPath, Vec<u8>)>, String> {
        let paths = self.repository.all_paths(self.base).map_err(|error| error.to_string())?;
        // A file that cannot be read is no configuration that could be left out silently.
        let read = |path: RepoPath| match self.repository.file_at(self.base, path.as_str()) {
            Some(bytes) => Ok((path, bytes)),
            None => Err(format!("{path} of the base cannot be read")),
        };
        paths.into_iter().filter(|path| wanted(path)).map(read).collect()
    }
}
