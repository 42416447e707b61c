//! One seat: an agent plays a role, and its report goes through the gate.

use super::Effects;
use super::given::plan;
use super::thinking::role;
use crate::sarif_file;
use crate::{EngineError, Progress};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tribunal_agent::AgentFailure;
use tribunal_agent::command::CommandAgent;
use tribunal_agent::rules::compile::RuleSet;
use tribunal_agent::rules::scan::{Depth, Scan, scan};
use tribunal_agent::sarif::SarifAgent;
use tribunal_context::outline::outline;
use tribunal_core::combine::recheck::{Rerun, recheck};
use tribunal_core::diff::change::{Change, ChangedFile};
use tribunal_core::diff::language::{Language, is_test_path};
use tribunal_core::findings::admit::{Gate, admit};
use tribunal_core::findings::key::Outline;
use tribunal_core::findings::report::{CleanCheck, Report};
use tribunal_core::findings::role::Role;
use tribunal_core::findings::window::Window;
use tribunal_core::ids::{CategoryCode, RepoPath};
use tribunal_core::plan::files::Disposition;
use tribunal_core::plan::panel::Seat;
use tribunal_core::policy::agents::{AgentConfig, KeySource, Means};
use tribunal_core::procedure::review::{Input, Plan, SeatAnswer, Spend, State, Target};
use tribunal_core::report::receipt::{Cost, Reading, RulesDepth, SeatState};

type Answer = (Report, BTreeMap<RepoPath, RulesDepth>);

impl Effects {
    pub(super) fn run_seat(&self, seat: Seat, state: &State, patch: Option<Vec<u8>>) -> Result<Input, EngineError> {
        (self.listener)(Progress::SeatStarted(seat.clone()));
        let cost = match state.request.policy.agents.get(&seat.agent).map(AgentConfig::means) {
            Some(Means::Command) => Cost::Unknown,
            Some(Means::Rules | Means::Sarif | Means::Model(..) | Means::Cli(..) | Means::NotTrusted) | None => Cost::Free,
        };
        let answer = self.play(&seat, state, patch, cost).unwrap_or_else(|failure| {
            let state = match failure {
                AgentFailure::Failed(reason) => SeatState::Failed { reason },
                AgentFailure::TimedOut { after_seconds } => SeatState::TimedOut { after_seconds },
            };
            SeatAnswer::troubled(state, Spend { cost, ..Spend::default() })
        });
        (self.listener)(Progress::SeatFinished {
            seat: seat.clone(),
            findings: answer.report.findings.len(),
            failure: answer.state.trouble(),
        });
        Ok(Input::SeatFinished { seat, answer: Box::new(answer) })
    }

    fn play(&self, seat: &Seat, state: &State, patch: Option<Vec<u8>>, cost: Cost) -> Result<SeatAnswer, AgentFailure> {
        let failed = |error: &dyn std::fmt::Display| AgentFailure::Failed(error.to_string());
        let plan = plan(state).map_err(AgentFailure::Failed)?;
        let given = self.given(state, patch).map_err(AgentFailure::Failed)?;
        let role = role(seat, state).map_err(AgentFailure::Failed)?;
        let agent = state.request.policy.agents.get(&seat.agent).ok_or_else(|| failed(&"the agent is unknown"))?;
        let in_scope = plan
            .files
            .iter()
            .filter(|planned| planned.in_scope)
            .map(|planned| (&planned.file.path, planned.disposition))
            .collect();
        let view = View { plan, change: given.change(), in_scope };
        let (report, depths) = match agent {
            AgentConfig::Rules {} => self.play_rules(role, &view)?,
            AgentConfig::Command { command, timeout_seconds, env, key, network } => {
                // Its own key is passed on under its own name; the configuration refuses every other key there.
                let mut env = env.clone();
                env.extend(key.iter().filter_map(KeySource::variable).map(str::to_owned));
                let agent = CommandAgent { command, timeout: *timeout_seconds, env: &env, network: network.unwrap_or(true) };
                let scratch = scratch()?;
                let brief = given.assignment(state, plan).brief(role);
                (agent.review(&brief, scratch.path())?, BTreeMap::new())
            }
            AgentConfig::Sarif { file, command, timeout_seconds, env, network, category, categories } => {
                let agent = SarifAgent { category: category.as_deref(), categories };
                let (bytes, root) = match (file, command) {
                    (Some(file), _) => {
                        let target = match &state.request.target {
                            Target::Trees { head, .. } => self.repository.as_deref().map(|repository| (repository, head)),
                            Target::Patch { .. } => None,
                        };
                        sarif_file::read(file, target).map_err(AgentFailure::Failed)?
                    }
                    (None, Some(command)) => {
                        let Target::Trees { head, .. } = &state.request.target else {
                            return Err(AgentFailure::Failed("a linter needs files, and a bare diff has none".into()));
                        };
                        let (copy, home) = (scratch()?, scratch()?);
                        self.repository()
                            .and_then(|repository| repository.export(head, copy.path()))
                            .map_err(|error| failed(&error))?;
                        let bytes =
                            SarifAgent::lint(command, copy.path(), home.path(), env, network.unwrap_or(false), *timeout_seconds)?;
                        (bytes, copy.path().to_path_buf())
                    }
                    (None, None) => return Err(AgentFailure::Failed("it has neither a file nor a command".into())),
                };
                (agent.report(role, &bytes, given.change(), Some(&root))?, BTreeMap::new())
            }
            AgentConfig::NotTrusted(stub) => return Err(AgentFailure::Failed(format!("not-run: {}", stub.why))),
            _ => return Err(AgentFailure::Failed(format!("a `{}` agent is not played here", agent.kind()))),
        };
        let outlines = outlines(&report, given.change());
        let gate = Gate {
            role,
            agent: &seat.agent,
            change: given.change(),
            outlines: &outlines,
            window: given.window.as_deref().filter(|_| Window::binds(agent)),
            has_repo: plan.flags.has_repo,
            spec: state.request.spec.as_deref(),
            watch: None,
        };
        let mut report = admit(report, &gate);
        if !Window::binds(agent) {
            // A linter runs over every file; the rules name those that they looked at.
            let is_linter = matches!(agent, AgentConfig::Sarif { .. });
            let looked_at = |path: &RepoPath| depths.contains_key(path) || (is_linter && given.change().file(path).is_some());
            // A file that was too large to take in is part of the plan alone, and it does differ.
            let differs = |path: &RepoPath| plan.files.iter().any(|planned| &planned.file.path == path);
            let found = &report.findings;
            let rerun = Rerun { role, agent: &seat.agent, found, looked_at: &looked_at, differs: &differs };
            report.prior = recheck(&plan.prior, &rerun);
        }
        let files = given.files(plan).len() as u32;
        Ok(SeatAnswer {
            state: SeatState::Ok,
            report,
            depths,
            reading: Reading { files, read: files, parts: 1 },
            spend: Spend { cost, ..Spend::default() },
        })
    }

    fn play_rules(&self, role: &Role, view: &View<'_>) -> Result<Answer, AgentFailure> {
        if let Some(reason) = self.rules.cannot_play(role) {
            return Err(AgentFailure::Failed(reason));
        }
        let scanned =
            self.scan.get_or_init(|| scan(&self.rules, &view.for_rules(), |file| view.is_in_scope(&file.path)).map(Arc::new));
        let scanned = scanned.as_ref().map_err(|error| AgentFailure::Failed(error.to_string()))?;
        let depths = scanned
            .depths
            .iter()
            .map(|(path, depth)| {
                let depth = match depth {
                    Depth::Syntax => RulesDepth::Syntax,
                    Depth::Lines => RulesDepth::Lines,
                };
                (path.clone(), depth)
            })
            .collect();
        let report = Report {
            findings: scanned.claims.iter().filter(|claim| role.owns(&claim.category)).cloned().collect(),
            checked_clean: clean_checks(&self.rules, role, scanned),
            ..Report::default()
        };
        Ok((report, depths))
    }
}

/// The change as the plan wants it read.
struct View<'a> {
    plan: &'a Plan,
    change: &'a Change,
    /// Planned files that this review looks at.
    in_scope: BTreeMap<&'a RepoPath, Disposition>,
}

impl View<'_> {
    fn is_in_scope(&self, path: &RepoPath) -> bool {
        self.in_scope.contains_key(path)
    }

    /// The change without what is left out. What a tool wrote keeps its lines but loses its text, so that only line rules see
    /// it. Files outside the scope stay: a check of the whole diff must know that a test was touched, whenever it was.
    fn for_rules(&self) -> Change {
        let planned: BTreeMap<&RepoPath, Disposition> =
            self.plan.files.iter().map(|planned| (&planned.file.path, planned.disposition)).collect();
        let files = self
            .change
            .files
            .iter()
            .filter_map(|file| match planned.get(&file.path)? {
                Disposition::Review => Some(file.clone()),
                Disposition::LinesOnly => Some(ChangedFile { new_text: None, ..file.clone() }),
                Disposition::Skip(_) => None,
            })
            .collect();
        Change { files, repository_has_tests: self.change.repository_has_tests }
    }
}

fn scratch() -> Result<tempfile::TempDir, AgentFailure> {
    tempfile::Builder::new()
        .prefix("tribunal-")
        .tempdir()
        .map_err(|error| AgentFailure::Failed(format!("no scratch folder: {error}")))
}

pub(super) fn outlines(report: &Report, change: &Change) -> BTreeMap<RepoPath, Outline> {
    let mut outlines = BTreeMap::new();
    for claim in &report.findings {
        if outlines.contains_key(&claim.file) {
            continue;
        }
        if let Some(file) = change.file(&claim.file)
            && let (Some(language), Some(text)) = (file.language(), file.new_text.as_deref())
        {
            outlines.insert(claim.file.clone(), outline(language, text));
        }
    }
    outlines
}

/// A category is clean when rules of it really looked at something and nothing matched.
fn clean_checks(rules: &RuleSet, role: &Role, scanned: &Scan) -> Vec<CleanCheck> {
    let found: BTreeSet<&CategoryCode> = scanned.claims.iter().map(|claim| &claim.category).collect();
    let looked_at: Vec<Looked<'_>> = scanned
        .depths
        .iter()
        .map(|(path, depth)| Looked {
            path,
            syntax: Language::of(path).filter(|_| *depth == Depth::Syntax),
            is_test: is_test_path(path),
        })
        .collect();
    role.categories
        .iter()
        .filter(|category| !found.contains(&category.code))
        .filter_map(|category| {
            let mut looked = 0;
            let mut files = BTreeSet::new();
            for rule in rules.rules.iter().filter(|rule| rule.file.category == category.code) {
                let seen = looked_at.iter().filter(|file| {
                    let speaks =
                        rule.file.rule.is_none() || file.syntax.is_some_and(|language| rule.file.languages.contains(&language));
                    speaks && rule.looks_at(file.path, file.is_test)
                });
                let mut any = false;
                for file in seen {
                    any = true;
                    files.insert(file.path);
                }
                looked += usize::from(any);
            }
            (looked > 0).then(|| CleanCheck {
                category: category.code.clone(),
                evidence: format!("{looked} rule{} over {} file{}, no match", plural(looked), files.len(), plural(files.len())),
            })
        })
        .collect()
}

/// A scanned file, as far as it matters which rules could see it.
struct Looked<'a> {
    path: &'a RepoPath,
    syntax: Option<Language>,
    is_test: bool,
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
