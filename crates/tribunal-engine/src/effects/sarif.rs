//! A seat that a linter without a profile plays: a SARIF file, or a command that prints one.
//!
//! Nothing is known of the linter itself, so what may suppress a result is what suppresses one for any linter that has a profile.

use super::Effects;
use super::given::Given;
use super::linter::Commits;
use super::seat::{Answer, scratch};
use crate::checkout_file;
use std::path::Path;
use tribunal_agent::AgentFailure;
use tribunal_agent::linter::without_the_change_s_suppressions;
use tribunal_agent::sarif::{Linter, SarifAgent};
use tribunal_core::diff::change::ChangedFile;
use tribunal_core::findings::report::{Claim, Report};
use tribunal_core::findings::role::Role;
use tribunal_core::findings::silenced::{self, Means, Silenced};
use tribunal_core::ids::RepoPath;
use tribunal_core::linter::suppression::{Settings, Suppressions, staying, unread};
use tribunal_core::policy::agents::AgentConfig;
use tribunal_core::procedure::review::{State, Target};

impl Effects {
    pub(super) fn play_sarif(
        &self,
        config: &AgentConfig,
        role: &Role,
        state: &State,
        given: &Given,
    ) -> Result<Answer, AgentFailure> {
        let failed = AgentFailure::Failed;
        let AgentConfig::Sarif { file, command, timeout_seconds, env, network: _, read, category, categories } = config else {
            return Err(failed("it is no SARIF agent".into()));
        };
        let agent = SarifAgent { category: category.as_deref(), categories };
        let change = given.change();
        let suppressions = Suppressions::of_any().map_err(failed)?;
        let texts = suppressions.blanked_files(change);
        let settings = Settings::of_any().map_err(failed)?;
        let trees = match &state.request.target {
            Target::Trees { base, head, tip, .. } => Some((tip.as_ref().unwrap_or(base), head)),
            Target::Patch { .. } => None,
        };
        match (file, command) {
            (Some(file), _) => {
                let tree = trees.and_then(|(_, head)| self.repository.as_deref().map(|repository| (repository, head)));
                let (bytes, root) = checkout_file::read_sarif(file, tree).map_err(failed)?;
                let mut report = agent.report(role, &bytes, change, Some(&root))?;
                let is_suppressing = |path: &RepoPath| texts.iter().any(|(suppressing, _)| suppressing == path);
                let mut suppressed = agent.suppressed(role, &bytes, change, Some(&root))?;
                suppressed.retain(|claim| is_suppressing(&claim.file));
                let mut silenced = add(&mut report, &suppressed, Means::Comment);
                // Few linters name what was suppressed: of the others only the comment, or the setting, is known.
                silenced.extend(unread(&suppressions, change, &suppressed));
                silenced.extend(staying(change).map_err(failed)?);
                let settings = settings.changed(change);
                silenced.extend(settings.iter().map(|file| Silenced::unread(&file.path, 1)));
                let is_read = |path: &RepoPath| settings.is_empty() && !silenced.iter().any(|one| one.path == *path);
                let linted = change.files.iter().map(|file| file.path.clone()).filter(is_read).collect();
                Ok(Answer { silenced, linted: Some(linted), ..Answer::of(report) })
            }
            (None, Some(command)) => {
                let (base, head) = trees.ok_or_else(|| failed("a linter needs files, and a bare diff has none".into()))?;
                let linter = Linter { command, env, network: config.has_open_network(), read, timeout: *timeout_seconds };
                let repository = self.repository().map_err(|error| failed(error.to_string()))?;
                let look = |prepare: &dyn Fn(&Path) -> Result<(), String>| {
                    let (copy, home) = (scratch()?, scratch()?);
                    repository.export(head, copy.path()).map_err(|error| failed(error.to_string()))?;
                    prepare(copy.path()).map_err(failed)?;
                    agent.report(role, &linter.run(copy.path(), home.path())?, change, Some(copy.path()))
                };
                let mut report = look(&|_| Ok(()))?;
                let mut silenced = staying(change).map_err(failed)?;
                let changed = settings.changed(change);
                if texts.is_empty() && changed.is_empty() {
                    return Ok(Answer { silenced, ..Answer::of(report) });
                }
                let commits = Commits { repository, base, head };
                match look(&|copy| without_the_change_s_suppressions(copy, &commits, &settings, &texts)) {
                    Ok(again) => {
                        let suppressed: Vec<Claim> = again.findings.into_iter().filter(|claim| !says(&report, claim)).collect();
                        silenced.extend(add(&mut report, &suppressed, Means::CommentOrSetting));
                    }
                    // What the base's say of how a program is built may not fit the change.
                    Err(_) if texts.is_empty() && changed.iter().all(|file| settings.is_manifest(file)) => {
                        silenced.extend(changed.iter().map(|file| Silenced::unread(&file.path, 1)));
                    }
                    Err(failure) => return Err(failed(cannot_look(&changed, &texts, &failure))),
                }
                Ok(Answer { silenced, ..Answer::of(report) })
            }
            (None, None) => Err(failed("it has neither a file nor a command".into())),
        }
    }
}

fn says(report: &Report, claim: &Claim) -> bool {
    let place = |claim: &Claim| (claim.file.clone(), claim.line_start, claim.rule.clone());
    report.findings.iter().any(|said| place(said) == place(claim))
}

/// Puts into the report what weighs too much to be only listed, and gives back the rest.
fn add(report: &mut Report, suppressed: &[Claim], means: Means) -> Vec<Silenced> {
    report.checked_clean.retain(|clean| !suppressed.iter().any(|claim| claim.category == clean.category));
    let (questions, silenced) = silenced::split(suppressed, means);
    report.findings.extend(questions);
    silenced
}

fn cannot_look(settings: &[&ChangedFile], texts: &[(RepoPath, String)], failure: &AgentFailure) -> String {
    let mut names: Vec<String> =
        settings.iter().map(|file| &file.path).chain(texts.iter().map(|(path, _)| path)).map(RepoPath::to_string).collect();
    names.truncate(3);
    format!("this change touches what a linter obeys ({}), and it cannot look without that: {failure}", names.join(", "))
}
