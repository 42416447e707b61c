//! The hands of `watch` and `respond`: they read, ask, commit in our own clone, push, answer and wait. What to do is the procedure's
//! to say.

mod answer;
mod assess;
mod files;
mod fix;
mod land;
pub mod lint;
mod logs;
pub(crate) mod look;
mod record;
mod reply;
mod validate;
mod wait;
mod work;

use crate::effects::ask::{Agents, Slot};
use crate::effects::on_forge::OnForge;
use crate::{EngineError, Listener};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;
use tribunal_agent::rules::compile::RuleSet;
use tribunal_core::call::Question;
use tribunal_core::ids::{AgentName, Sha};
use tribunal_core::procedure::remediate::{Pass, Phase, State, Trouble};
use tribunal_core::procedure::review::Spend;
use tribunal_core::prompt::RunWords;
use tribunal_core::report::receipt::SeatState;
use tribunal_forge::git::Repository;
use tribunal_forge::git::write::Signature;

pub struct Remedies {
    pub on: OnForge,
    /// A clone of our own; on the local forge, the repository itself.
    pub repository: Arc<Repository>,
    pub rules: Arc<RuleSet>,
    pub agents: Agents,
    pub listener: Listener,
    /// Who our commits say made them.
    pub signature: Signature,
    /// Where the pages of `respond` go, in a folder for each pull request.
    pub pages: PathBuf,
}

impl Remedies {
    /// The pass that is under way.
    fn pass(state: &State) -> Result<&Pass, EngineError> {
        match &state.phase {
            Phase::Assessing(pass)
            | Phase::Checking(pass)
            | Phase::Fixing(pass)
            | Phase::Validating(pass)
            | Phase::Landing(pass)
            | Phase::Homing(pass)
            | Phase::Answering(pass)
            | Phase::AskingAgain(pass) => Ok(pass),
            Phase::Preparing | Phase::Reading(_) | Phase::Closing(..) | Phase::Waiting | Phase::Posting(_) | Phase::Done(_) => {
                Err(EngineError::Worker("no pass is under way".into()))
            }
        }
    }

    /// A file at a commit, if it is text.
    fn text_at(&self, commit: &Sha, path: &tribunal_core::ids::RepoPath) -> Option<String> {
        String::from_utf8(self.repository.file_at(commit, path.as_str())?).ok()
    }

    /// One question to an agent that thinks.
    async fn ask<T: DeserializeOwned>(
        &self,
        state: &State,
        case_id: &str,
        agent: &AgentName,
        name: String,
        question: Question,
        head: &Sha,
    ) -> Result<(Result<T, Trouble>, Spend), EngineError> {
        if let Some(why) = state.request.withheld.get(agent) {
            return Ok((Err(Trouble::Withheld(format!("{agent} is not given this change: {why}"))), Spend::default()));
        }
        let tree = match self.tree_for(state, agent, head).await? {
            Ok(tree) => tree,
            Err(reason) => return Ok((Err(Trouble::Failed(reason)), Spend::default())),
        };
        let slot = Slot { run: &state.request.run, case_id, agent, name, tree };
        let canary = RunWords::new(&state.request.nonce).canary;
        let (said, spend) = self.agents.ask_for::<T>(&state.request.policy, &slot, &canary, question, &|| {}).await?;
        Ok((said.map_err(trouble), spend))
    }
}

fn trouble(state: SeatState) -> Trouble {
    let words = state.trouble().unwrap_or_default();
    match state {
        SeatState::OverBudget { reason } => Trouble::OverBudget(reason.into_string()),
        SeatState::Unavailable { .. } => Trouble::Unavailable(words),
        _ => Trouble::Failed(words),
    }
}
