//! Asking what shall be done about each item, and having that checked.

use super::Remedies;
use crate::effects::ask::Tree;
use crate::effects::blocking;
use crate::{EngineError, Progress};
use schemars::schema_for;
use std::collections::BTreeMap;
use std::sync::Arc;
use tribunal_core::call::Question;
use tribunal_core::feedback::fixable::Fixable;
use tribunal_core::feedback::item::Surface;
use tribunal_core::feedback::log::places;
use tribunal_core::ids::{AgentName, RepoPath, Sha};
use tribunal_core::policy::agents::{AgentConfig, Means};
use tribunal_core::policy::config::RULES_AGENT;
use tribunal_core::procedure::remediate::{Input, Pass, State, Trouble};
use tribunal_core::procedure::review::Spend;
use tribunal_core::prompt::remedy::{Shown, items, to_assess, to_check};
use tribunal_core::prompt::{ASSESS, CHECK, RunWords};
use tribunal_core::publish::outgoing::masked_texts;
use tribunal_core::remedy::assess::{Admitted, Assessments, Checkup, CheckupAnswer, admit, by_rules};

impl Remedies {
    pub(super) async fn assess(&self, state: &State, case_id: &str, attempt: u32) -> Result<Input, EngineError> {
        let pass = Self::pass(state)?;
        let agent = &state.request.loops.assessor;
        let texts = self.texts(pass);
        let leaders: Vec<&Fixable> = pass.leaders().collect();
        (self.listener)(Progress::Working { what: format!("{agent} assesses {} items", leaders.len()) });
        if agent.as_str() == RULES_AGENT {
            let accepted = leaders.iter().map(|item| by_rules(item, self.embedded_fix(&pass.head, item).is_some())).collect();
            let admitted = Admitted { accepted, ..Admitted::default() };
            self.write_assessment(state, pass, &admitted.accepted);
            return Ok(Input::Assessed { said: Ok(admitted), spend: Spend::default() });
        }
        let (said, spend) = {
            let words = RunWords::new(&state.request.nonce);
            let question = Question {
                system: ASSESS.to_owned(),
                shared: items(&words, title(state), &shown(&leaders, &texts)),
                own: to_assess(&words, &pass.rejections),
                schema: schema_for!(Assessments).to_value(),
                repair: None,
            };
            let name = format!("assess/{}/{attempt}", pass.number);
            let (said, spend) = self.ask::<Assessments>(state, case_id, agent, name, question, &pass.head).await?;
            (said.map(|said| said.assessments), spend)
        };
        let owned: Vec<Fixable> = leaders.into_iter().cloned().collect();
        let said = said.map(|assessments| masked_texts(&admit(assessments, &owned, &|path| texts.get(path).map(String::as_str))));
        if let Ok(admitted) = &said {
            self.write_assessment(state, pass, &admitted.accepted);
        }
        Ok(Input::Assessed { said, spend })
    }

    pub(super) async fn check(&self, state: &State, case_id: &str, attempt: u32) -> Result<Input, EngineError> {
        let pass = Self::pass(state)?;
        let Some(agent) = &state.request.loops.checker else {
            return Ok(Input::Checked { said: Ok(Checkup::Approved), spend: Spend::default() });
        };
        let words = RunWords::new(&state.request.nonce);
        let (texts, leaders) = (self.texts(pass), pass.leaders().collect::<Vec<_>>());
        let question = Question {
            system: CHECK.to_owned(),
            shared: items(&words, title(state), &shown(&leaders, &texts)),
            own: to_check(&words, &pass.assessments),
            schema: schema_for!(CheckupAnswer).to_value(),
            repair: None,
        };
        let name = format!("check/{}/{attempt}", pass.number);
        let (said, spend) = self.ask::<CheckupAnswer>(state, case_id, agent, name, question, &pass.head).await?;
        let said = said.map(|answer| Checkup::from(masked_texts(&answer)));
        if let Ok(Checkup::Rejected { why }) = &said {
            self.write_rejection(state, why);
        }
        Ok(Input::Checked { said, spend })
    }

    /// The files that the items of a pass speak of, as they are at its head.
    pub(super) fn texts(&self, pass: &Pass) -> BTreeMap<RepoPath, String> {
        pass.items.iter().flat_map(|item| self.texts_at(item, &pass.head)).collect()
    }

    /// The file that an item stands in, and those that the log of a check names.
    pub(super) fn texts_at(&self, item: &Fixable, tip: &Sha) -> BTreeMap<RepoPath, String> {
        let named = match item.surface {
            Surface::Check { .. } => places(&item.body, &|path| self.repository.has_file(tip, path)),
            Surface::Thread { .. } | Surface::Comment { .. } | Surface::Review { .. } => Vec::new(),
        };
        let paths = item.path.iter().cloned().chain(named.into_iter().map(|(path, _)| path));
        paths.filter_map(|path| Some((path.clone(), self.text_at(tip, &path)?))).collect()
    }

    /// A CLI reads more than the question; it is given a copy of the head.
    pub(super) async fn tree_for(
        &self,
        state: &State,
        agent: &AgentName,
        head: &Sha,
    ) -> Result<Result<Option<Arc<Tree>>, String>, EngineError> {
        if !matches!(state.request.policy.agents.get(agent).map(AgentConfig::means), Some(Means::Cli(..))) {
            return Ok(Ok(None));
        }
        let (repository, head, root) = (Arc::clone(&self.repository), head.clone(), self.agents.scratch.clone());
        let made = blocking(move || {
            repository.bring_tree(&head).map_err(|error| error.to_string())?;
            Tree::of(&repository, &head, &root)
        });
        Ok(made.await?.map(|tree| Some(Arc::new(tree))))
    }
}

pub(super) fn title(state: &State) -> &str {
    state.memory.pull.as_ref().map_or("", |pull| pull.title.as_str())
}

pub(super) fn shown<'a>(items: &[&'a Fixable], texts: &'a BTreeMap<RepoPath, String>) -> Vec<Shown<'a>> {
    let code = |item: &Fixable| item.path.as_ref().and_then(|path| texts.get(path)).map(String::as_str);
    let named = |item: &Fixable| match item.surface {
        Surface::Check { .. } => {
            let found = places(&item.body, &|path| texts.contains_key(path)).into_iter();
            found.filter_map(|(path, line)| Some((path.clone(), line, texts.get(&path)?.as_str()))).collect()
        }
        Surface::Thread { .. } | Surface::Comment { .. } | Surface::Review { .. } => Vec::new(),
    };
    items.iter().map(|item| Shown { item, code: code(item), named: named(item) }).collect()
}

/// What is not an agent's fault is still no answer.
pub(super) fn no_fixer(agent: &AgentName) -> Trouble {
    Trouble::Failed(format!("a fixer must be `rules`, a model or an agent CLI; [agents.{agent}] is none of them"))
}
