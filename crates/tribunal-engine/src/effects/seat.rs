//! One seat: an agent plays a role, and its report goes through the gate.

use super::Effects;
use super::given::plan;
use super::linter::seated_widely;
use super::thinking::role;
use crate::{EngineError, Progress};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tribunal_agent::AgentFailure;
use tribunal_agent::command::CommandAgent;
use tribunal_agent::rules::clock::TimeLimits;
use tribunal_agent::rules::compile::RuleSet;
use tribunal_agent::rules::scan::{Depth, Scan, scan_visible};
use tribunal_agent::rules::visible::{Look, VisibleChange};
use tribunal_agent::scratch::Scratch;
use tribunal_context::outline::outline;
use tribunal_core::combine::recheck::{Rerun, recheck};
use tribunal_core::diff::change::{Change, FileStatus};
use tribunal_core::diff::language::{Language, is_test_path};
use tribunal_core::findings::admit::{Author, Gate, admit};
use tribunal_core::findings::cited_path::CitedPaths;
use tribunal_core::findings::key::Outline;
use tribunal_core::findings::leak::Watch;
use tribunal_core::findings::report::{Claim, CleanCheck, Report};
use tribunal_core::findings::role::Role;
use tribunal_core::findings::silenced::{self, Silenced};
use tribunal_core::findings::window::Window;
use tribunal_core::ids::{CategoryCode, RepoPath};
use tribunal_core::plan::files::{Disposition, NotReviewed};
use tribunal_core::plan::panel::Seat;
use tribunal_core::policy::agents::{AgentConfig, KeySource, Means};
use tribunal_core::policy::disabled_in::DisabledIn;
use tribunal_core::procedure::review::{Input, Plan, SeatAnswer, Spend, State};
use tribunal_core::report::receipt::{ContextGiven, Cost, Reading, RulesDepth, SeatState};

/// A brief holds the whole change, whatever the window of what a command asks.
const BRIEF_TOKENS: u64 = 60_000;

/// What an agent answered, and how closely it looked if it is the rules.
#[derive(Default)]
pub(super) struct Answer {
    pub report: Report,
    pub depths: BTreeMap<RepoPath, RulesDepth>,
    pub rules: u32,
    pub cut: BTreeMap<RepoPath, NotReviewed>,
    pub silenced: Vec<Silenced>,
    /// The files that a linter with a profile was given.
    pub linted: Option<BTreeSet<RepoPath>>,
    /// What a command was given beside the change.
    pub context: Option<Box<ContextGiven>>,
}

impl Answer {
    pub(super) fn of(report: Report) -> Self {
        Self { report, ..Self::default() }
    }
}

impl Effects {
    pub(super) fn run_seat(&self, seat: Seat, state: &State, patch: Option<Vec<u8>>) -> Result<Input, EngineError> {
        (self.listener)(Progress::SeatStarted(seat.clone()));
        let cost = match state.request.policy.agents.get(&seat.agent).map(AgentConfig::means) {
            Some(Means::Command) => Cost::Unknown,
            Some(Means::Rules | Means::Sarif | Means::Model(..) | Means::Cli(..) | Means::NotTrusted) | None => Cost::Free,
        };
        let answer = self.play(&seat, state, patch, cost).unwrap_or_else(|failure| {
            let state = match failure {
                AgentFailure::Failed(reason) => SeatState::Failed { reason: reason.into() },
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
        let wide = matches!(agent, AgentConfig::Linter(_)).then(|| seated_widely(seat, state)).flatten();
        let role = wide.as_ref().unwrap_or(role);
        let view = View { plan, change: given.change() };
        let Answer { report, depths, rules, cut, silenced, linted, context } = match agent {
            AgentConfig::Rules {} => self.play_rules(role, &view)?,
            AgentConfig::Command { command, timeout_seconds, env, key, network: _, read } => {
                // Its own key is passed on under its own name; the configuration refuses every other key there.
                let mut env = env.clone();
                env.extend(key.iter().filter_map(KeySource::variable).map(str::to_owned));
                let network = agent.has_open_network();
                let agent = CommandAgent { command, timeout: *timeout_seconds, env: &env, network, read };
                let scratch = scratch()?;
                let context = self.context(state, &given, plan);
                let beside = context.beside(plan, BRIEF_TOKENS);
                let around = given.around(plan, &context, BRIEF_TOKENS);
                let brief = given.assignment(state, plan, &beside).brief(role, around.excerpts.clone());
                let context = context.given(state, &beside, &[&around]);
                Answer { context: Some(Box::new(context)), ..Answer::of(agent.review(&brief, scratch.path())?) }
            }
            AgentConfig::Sarif { .. } => self.play_sarif(agent, role, state, &given)?,
            AgentConfig::Linter(linter) => self.play_linter(seat, linter, role, state, &given)?,
            AgentConfig::NotTrusted(stub) => return Err(AgentFailure::Failed(format!("not-run: {}", stub.why))),
            _ => return Err(AgentFailure::Failed(format!("a `{}` agent is not played here", agent.kind()))),
        };
        // A rule that is switched off for a path says nothing there, whoever runs it.
        let disabled = DisabledIn::new(&state.request.policy.disabled_in).map_err(AgentFailure::Failed)?;
        let is_program = !Window::binds(agent);
        let is_off = |path: &RepoPath, rule: &str| is_program && disabled.is_disabled(path, rule);
        let mut report = report;
        report.findings.retain(|claim| !claim.rule.as_deref().is_some_and(|rule| is_off(&claim.file, rule)));
        let outlines = outlines(&report, given.change());
        // A command writes prose as an agent does; it gets no canary word.
        let watch = Watch::new(std::iter::empty(), "");
        let author = match agent {
            AgentConfig::Rules {} => Author::Rules,
            AgentConfig::Sarif { .. } | AgentConfig::Linter(_) => Author::Linter,
            _ => Author::Agent(&watch),
        };
        let gate = Gate {
            role,
            agent: &seat.agent,
            change: given.change(),
            outlines: &outlines,
            window: given.window.as_deref().filter(|_| Window::binds(agent)),
            has_repo: plan.flags.has_repo,
            spec: state.request.spec.as_deref(),
            directives: &state.request.directives(),
            author,
        };
        let mut report = admit(report, &gate);
        if !Window::binds(agent) {
            // A linter runs over every file; the rules name those that they looked at.
            let is_linter = matches!(agent, AgentConfig::Sarif { .. });
            // A rule that could not look at all of a file proves nothing fixed: no change mends a defect by hiding it.
            let needs_syntax = |rule: &str| self.rules.get(rule).is_none_or(|rule| rule.file.needs_syntax());
            let is_gone = |path: &RepoPath| given.change().file(path).is_some_and(|file| file.status == FileStatus::Deleted);
            // Under its new name a file may be none that the rule looks at: no change mends a defect by calling its file a test.
            let looks_at = |path: &RepoPath, rule: &str| {
                self.rules.get(rule).is_none_or(|rule| rule.looks_at(path, is_test_path(path))) || is_gone(path)
            };
            let could_look = |path: &RepoPath, rule: &str| match (depths.get(path), cut.get(path)) {
                (_, Some(NotReviewed::OutOfTime)) | (None, _) => false,
                (Some(RulesDepth::Syntax), _) => true,
                (Some(RulesDepth::Lines), _) => !needs_syntax(rule) || is_gone(path),
            };
            let looked_at = |path: &RepoPath, rule: &str| match (&linted, is_linter) {
                (Some(files), _) => files.contains(path) || is_gone(path),
                (None, true) => given.change().file(path).is_some(),
                (None, false) => looks_at(path, rule) && could_look(path, rule),
            };
            // A file that was too large to take in is part of the plan alone, and it does differ.
            let differs = |path: &RepoPath| plan.files.iter().any(|planned| &planned.file.path == path);
            let found = &report.findings;
            let is_known = |rule: &str| is_linter || linted.is_some() || self.rules.get(rule).is_some();
            let is_active = |path: &RepoPath, rule: &str| is_known(rule) && !is_off(path, rule);
            let is_silenced = |path: &RepoPath, rule: &str| silenced.iter().any(|one| one.is_of(path, rule));
            let rerun = Rerun {
                role,
                agent: &seat.agent,
                found,
                looked_at: &looked_at,
                differs: &differs,
                is_active: &is_active,
                is_silenced: &is_silenced,
            };
            report.prior = recheck(&plan.prior, &rerun);
        }
        let files = linted.map_or_else(|| given.files(plan).len(), |linted| linted.len()) as u32;
        Ok(SeatAnswer {
            state: SeatState::Ok,
            report,
            depths,
            rules,
            cut,
            silenced,
            reading: Reading { files, read: files, parts: 1 },
            spend: Spend { cost, ..Spend::default() },
            context,
        })
    }

    fn play_rules(&self, role: &Role, view: &View<'_>) -> Result<Answer, AgentFailure> {
        if let Some(reason) = self.rules.cannot_play(role) {
            return Err(AgentFailure::Failed(reason));
        }
        let scanned = self.scan.get_or_init(|| scan_visible(&self.rules, &view.for_rules(), TimeLimits::default()).map(Arc::new));
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
        let own = |claim: &&Claim| role.owns(&claim.category);
        let (questions, silenced) = silenced::split(scanned.silenced.iter().filter(own), silenced::Means::Comment);
        let checks = checks(&self.rules, role, scanned);
        let report = Report {
            findings: scanned.claims.iter().filter(own).cloned().chain(questions).collect(),
            checked_clean: clean_checks(&checks, scanned),
            ..Report::default()
        };
        let rules = checks.iter().map(|check| check.rules as u32).sum();
        Ok(Answer { report, depths, rules, cut: scanned.cut.iter().cloned().collect(), silenced, linted: None, context: None })
    }
}

/// The change as the plan wants it read.
struct View<'a> {
    plan: &'a Plan,
    change: &'a Change,
}

impl<'a> View<'a> {
    /// The change without what is left out. Of what a tool wrote, only the lines are looked at. Files outside the scope stay: a
    /// check of the whole diff must know that a test was touched, whenever it was.
    fn for_rules(&self) -> VisibleChange<'a> {
        let planned: BTreeMap<&RepoPath, Option<Look>> = self
            .plan
            .files
            .iter()
            .map(|planned| {
                let look = match planned.disposition {
                    Disposition::Review | Disposition::LinesOnly(_) if !planned.in_scope => Some(Look::Aside),
                    Disposition::Review => Some(Look::Whole),
                    Disposition::LinesOnly(_) => Some(Look::Lines),
                    Disposition::Skip(_) | Disposition::NotReviewed(_) => None,
                };
                (&planned.file.path, look)
            })
            .collect();
        VisibleChange::new(self.change, |file| planned.get(&file.path).copied().flatten())
    }
}

pub(super) fn scratch() -> Result<Scratch, AgentFailure> {
    Scratch::temporary().map_err(|error| AgentFailure::Failed(format!("no scratch folder: {error}")))
}

pub(super) fn outlines(report: &Report, change: &Change) -> BTreeMap<RepoPath, Outline> {
    let mut outlines = BTreeMap::new();
    let paths = CitedPaths::new(change);
    for claim in &report.findings {
        let Some(file) = paths.find(&claim.file).filter(|file| !outlines.contains_key(&file.path)) else { continue };
        if let (Some(language), Some(text)) = (file.language(), file.new_text.as_deref()) {
            outlines.insert(file.path.clone(), outline(language, text));
        }
    }
    outlines
}

/// What the rules of one category have looked at.
struct CategoryCheck<'a> {
    category: &'a CategoryCode,
    rules: usize,
    files: usize,
}

fn checks<'a>(rules: &RuleSet, role: &'a Role, scanned: &Scan) -> Vec<CategoryCheck<'a>> {
    // What could not be looked at whole stands under no clean category.
    let cut: BTreeSet<&RepoPath> = scanned.cut.iter().map(|(path, _)| path).collect();
    let looked_at: Vec<Looked<'_>> = scanned
        .depths
        .iter()
        .filter(|(path, _)| !cut.contains(path))
        .map(|(path, depth)| Looked {
            path,
            syntax: Language::of(path).filter(|_| *depth == Depth::Syntax),
            is_test: is_test_path(path),
        })
        .collect();
    role.categories
        .iter()
        .map(|category| {
            let mut looked = 0;
            let mut files = BTreeSet::new();
            for rule in rules.rules.iter().filter(|rule| rule.file.category == category.code) {
                let seen = looked_at.iter().filter(|file| {
                    let speaks =
                        !rule.file.needs_syntax() || file.syntax.is_some_and(|language| rule.file.languages.contains(&language));
                    speaks && rule.looks_at(file.path, file.is_test)
                });
                let mut any = false;
                for file in seen {
                    any = true;
                    files.insert(file.path);
                }
                looked += usize::from(any);
            }
            CategoryCheck { category: &category.code, rules: looked, files: files.len() }
        })
        .collect()
}

/// A category is clean when rules of it really looked at something and nothing matched.
fn clean_checks(checks: &[CategoryCheck<'_>], scanned: &Scan) -> Vec<CleanCheck> {
    let found: BTreeSet<&CategoryCode> = scanned.claims.iter().map(|claim| &claim.category).collect();
    let clean = checks.iter().filter(|check| check.rules > 0 && !found.contains(check.category));
    clean
        .map(|CategoryCheck { category, rules, files }| CleanCheck {
            category: (*category).clone(),
            evidence: format!("{rules} rule{} over {files} file{}, no match", plural(*rules), plural(*files)),
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
