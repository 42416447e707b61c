//! Making commits for what shall be addressed: one for each item, one on top of the other, in our own clone. Each patch is checked
//! before it becomes a commit; none is pushed here.

use super::assess::{no_fixer, shown, title};
use super::{Remedies, lint};
use crate::EngineError;
use schemars::schema_for;
use std::collections::{BTreeMap, BTreeSet};
use tribunal_agent::rules::examples::added;
use tribunal_agent::rules::proof;
use tribunal_agent::rules::scan::scan;
use tribunal_core::call::Question;
use tribunal_core::diff::change::Change;
use tribunal_core::diff::parse::parse_diff;
use tribunal_core::feedback::fixable::Fixable;
use tribunal_core::feedback::item::ItemId;
use tribunal_core::feedback::lint::knowing;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::policy::agents::{AgentConfig, Means};
use tribunal_core::policy::config::RULES_AGENT;
use tribunal_core::procedure::remediate::{FixOutcome, Input, Made, Pass, State, Trouble};
use tribunal_core::procedure::review::Spend;
use tribunal_core::prompt::remedy::{items, to_fix};
use tribunal_core::prompt::{FIX, RunWords};
use tribunal_core::publish::outgoing::masked;
use tribunal_core::remedy::assess::{Assessment, Decision};
use tribunal_core::remedy::edits::{Fix, apply};
use tribunal_core::remedy::embedded::safe_fix;
use tribunal_core::remedy::patch::{self, By, Refusal};
use tribunal_core::remedy::rewrite::rewrites;
use tribunal_core::remedy::splice::{self, Moved, Splice};
use tribunal_core::remedy::suggestion;

impl Remedies {
    pub(super) async fn fix(&self, state: &State, case_id: &str) -> Result<Input, EngineError> {
        let pass = Self::pass(state)?;
        let mut made = Made { outcomes: BTreeMap::new(), tip: None, rewrites: Vec::new() };
        let mut spend = Spend::default();
        let mut tip = pass.head.clone();
        let mut spliced = Vec::new();
        for item in pass.leaders() {
            let Some(assessment) = pass.assessment(&item.id).filter(|assessment| assessment.decision == Decision::Address) else {
                continue;
            };
            if state.request.loops.fixer.as_str() == RULES_AGENT {
                let outcome = self.fix_by_rules(state, pass, item, &tip, &mut spliced)?;
                take(&mut made, &mut tip, item, outcome);
                continue;
            }
            let (outcome, took) = match self.fix_one(state, case_id, pass, item, assessment, &tip).await? {
                (Ok(outcome), took) => (outcome, took),
                // Without anything to show for it the loop must stop; with something, that something is landed first.
                (Err(trouble), took) if tip == pass.head => {
                    return Ok(Input::Fixed { made: Err(trouble), spend: spend.plus(took) });
                }
                (Err(trouble), took) => (FixOutcome::Nothing(trouble.words().to_owned()), took),
            };
            spend = spend.plus(took);
            take(&mut made, &mut tip, item, outcome);
        }
        self.enter_deferred(state, pass, &mut made, &tip)?;
        if let Some(tip) = &made.tip {
            made.rewrites = rewrites(&self.change_between(&pass.head, tip)?);
            self.repository.keep(&format!("fix/{}", state.request.run), tip)?;
        }
        Ok(Input::Fixed { made: Ok(made), spend })
    }

    async fn fix_one(
        &self,
        state: &State,
        case_id: &str,
        pass: &Pass,
        item: &Fixable,
        assessment: &Assessment,
        tip: &Sha,
    ) -> Result<(Result<FixOutcome, Trouble>, Spend), EngineError> {
        let agent = &state.request.loops.fixer;
        if !matches!(state.request.policy.agents.get(agent).map(AgentConfig::means), Some(Means::Model(..) | Means::Cli(..))) {
            return Ok((Err(no_fixer(agent)), Spend::default()));
        }
        let words = RunWords::new(&state.request.nonce);
        let mut spend = Spend::default();
        let mut problem: Option<String> = None;
        // Edits that do not apply get a second try with the reason; more would be guessing.
        for attempt in 0..2 {
            let texts = self.texts_at(item, tip);
            let question = Question {
                system: FIX.to_owned(),
                shared: items(&words, title(state), &shown(&[item], &texts)),
                own: to_fix(&words, assessment, problem.as_deref()),
                schema: schema_for!(Fix).to_value(),
                repair: None,
            };
            let name = format!("fix/{}/{}/{attempt}", pass.number, item.id);
            let (said, took) = self.ask::<Fix>(state, case_id, agent, name, question, tip).await?;
            spend = spend.plus(took);
            let fix = match said {
                // Its edits are code and stay; a key in them is refused as such.
                Ok(fix) => {
                    let [summary, cannot, class] = [&fix.summary, &fix.cannot, &fix.class].map(|text| masked(text));
                    Fix { summary, cannot, class, ..fix }
                }
                Err(trouble) => return Ok((Err(trouble), spend)),
            };
            if fix.edits.is_empty() {
                let why = if fix.cannot.is_empty() { "the fixer made no edit".to_owned() } else { fix.cannot };
                return Ok((Ok(FixOutcome::Nothing(why)), spend));
            }
            match self.commit(state, item, &fix, tip)? {
                Ok(outcome) => return Ok((Ok(outcome), spend)),
                Err(why) => problem = Some(why),
            }
        }
        let why = format!("the fixer's edits do not apply: {}", problem.unwrap_or_default());
        Ok((Ok(FixOutcome::Nothing(why)), spend))
    }

    /// The commit for a fix, or why its edits cannot be used.
    fn commit(&self, state: &State, item: &Fixable, fix: &Fix, tip: &Sha) -> Result<Result<FixOutcome, String>, EngineError> {
        let files = match apply(&fix.edits, |path| self.text_at(tip, path)) {
            Ok(files) => files,
            Err(problem) => return Ok(Err(problem.to_string())),
        };
        if let Some(path) = files.keys().find(|path| !self.repository.may_be_rewritten(tip, path)) {
            return Ok(Ok(FixOutcome::Refused(Refusal::Outside { path: path.clone() })));
        }
        if files.is_empty() {
            return Ok(Ok(FixOutcome::Refused(Refusal::Empty)));
        }
        let summary = patch::subject(&fix.summary, item);
        let by = By { fixer: &state.request.loops.fixer, answers_person: Self::pass(state)?.answers_person(&item.id) };
        let message = knowing(&patch::message(&summary, [&item.id], &state.request.run, &by), lint::known(state));
        let commit = self.repository.commit_files(tip, &files, &self.signature, &message.into())?;
        let change = self.change_between(tip, &commit)?;
        if let Err(refusal) = patch::check(&change, &state.request.loops.fix, item.path.as_ref()) {
            return Ok(Ok(FixOutcome::Refused(refusal)));
        }
        let paths: BTreeSet<RepoPath> = files.into_keys().collect();
        let lines = u32::try_from(change.added_count() + change.removed_count()).unwrap_or(u32::MAX);
        let class = fix.claimed_class();
        Ok(Ok(FixOutcome::Made { commit, summary, files: paths.into_iter().collect(), lines, class }))
    }

    fn change_between(&self, old: &Sha, new: &Sha) -> Result<Change, EngineError> {
        parse_diff(&self.repository.patch_between(old, new)?)
            .map_err(|error| EngineError::Worker(format!("the patch of a fix cannot be read: {error}")))
    }

    /// The embedded fixer. What it does is known line by line for the head that was read; `made` are the changes before this one.
    fn fix_by_rules(
        &self,
        state: &State,
        pass: &Pass,
        item: &Fixable,
        tip: &Sha,
        made: &mut Vec<(ItemId, Splice)>,
    ) -> Result<FixOutcome, EngineError> {
        let Some(EmbeddedFix { summary, path, splices }) = self.embedded_fix(&pass.head, item) else {
            return Ok(FixOutcome::Nothing("no rule and no suggestion block says how".into()));
        };
        let moved = match splice::after(&splices, made) {
            Moved::To(moved) => moved,
            Moved::Done(other) => return Ok(FixOutcome::With { item: other }),
            Moved::Taken(_) => return Ok(FixOutcome::Nothing("another item's fix changed the same lines in another way".into())),
        };
        let edit = self.text_at(tip, &path).and_then(|text| splice::edit(&moved, &text));
        let fix = Fix { summary, edits: edit.into_iter().collect(), cannot: String::new(), class: String::new() };
        let outcome = self.commit(state, item, &fix, tip)?.unwrap_or_else(FixOutcome::Nothing);
        if matches!(outcome, FixOutcome::Made { .. }) {
            made.extend(splices.into_iter().map(|splice| (item.id.clone(), splice)));
        }
        Ok(outcome)
    }

    /// What can be fixed without thinking: a suggestion block of the comment, or a rule's own fix at its line.
    pub(super) fn embedded_fix(&self, head: &Sha, item: &Fixable) -> Option<EmbeddedFix> {
        let (path, line) = (item.path.as_ref()?, item.line?);
        let text = self.text_at(head, path)?;
        let range = (item.start_line.unwrap_or(line).min(line), line);
        if let Some(block) = suggestion::suggestion(item)
            && let Some(splice) = suggestion::splice(&block, path, range, &text)
        {
            let summary = format!("Apply the suggestion at {path}");
            return Some(EmbeddedFix { summary, path: path.clone(), splices: vec![splice] });
        }
        let found = scan(&self.rules, &added(path.as_str(), &text), |_| true).ok()?;
        let (claim, fix) = safe_fix(item, &found.claims)?;
        if proof::problem(&self.rules, path, &text, &found.claims, claim).is_some() {
            return None;
        }
        let splices = splice::splices(fix, path, &text)?;
        Some(EmbeddedFix { summary: claim.mitigation.clone(), path: path.clone(), splices })
    }
}

/// What the embedded fixer does for an item, in one file.
pub(super) struct EmbeddedFix {
    summary: String,
    path: RepoPath,
    splices: Vec<Splice>,
}

/// Notes what came of an item; the next one builds on it.
fn take(made: &mut Made, tip: &mut Sha, item: &Fixable, outcome: FixOutcome) {
    if let FixOutcome::Made { commit, .. } = &outcome {
        *tip = commit.clone();
        made.tip = Some(commit.clone());
    }
    made.outcomes.insert(item.id.clone(), outcome);
}
