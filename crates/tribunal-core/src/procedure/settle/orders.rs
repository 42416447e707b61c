//! What is ordered for one task: the review of its pull request, its refinement, and the words of its verdict.

use super::plan_file::{Task, TaskId};
use super::{State, words};
use crate::combine::verdict::Verdict;
use crate::ids::{AgentName, RunId, Sha};
use crate::policy::config::RULES_AGENT;
use crate::policy::settle::Specialist;
use crate::procedure::order::{RemedyOrder, ReviewOrder};
use crate::publish::verdict::Assessment;
use std::collections::BTreeMap;

/// A persona longer than this is a book.
const MAX_PERSONA: usize = 20_000;

impl State {
    fn task(&self, id: &TaskId) -> Option<&Task> {
        self.memory.plan.as_ref()?.task(id)
    }

    /// TS-51, TS-89: the criteria exactly as the issue has them. CF-13: the specialist's persona is text for the reviewers, and the
    /// specialist itself, or whoever refined, is none of them.
    pub fn review_order(&self, run: RunId, id: &TaskId, number: u64, head: &Sha, persona: Option<&str>) -> Option<ReviewOrder> {
        let task = self.task(id)?;
        let issue = self.memory.seen.get(id).and_then(|seen| seen.issue.as_ref()).map(|issue| issue.body.clone());
        let spec = issue.or_else(|| task.issue_body.clone()).filter(|text| !text.trim().is_empty());
        Some(ReviewOrder {
            run,
            number,
            head: head.clone(),
            spec,
            context: persona.map(|text| persona_words(&task.specialist, text)),
            not_by: self.not_by(task),
            allowance: None,
            references: None,
        })
    }

    fn not_by(&self, task: &Task) -> BTreeMap<AgentName, String> {
        let author = (AgentName::new(task.specialist.clone()), "it wrote this change".to_owned());
        let fixer = match &self.request.policy.specialist {
            Specialist::Agent(agent) if task.assessed.is_some() => Some((agent.clone(), "it fixed this change".to_owned())),
            Specialist::Agent(_) | Specialist::Awaited | Specialist::Mentioned(_) | Specialist::Labelled(_) => None,
        };
        // Rules have no fix to defend (CF-27).
        [author].into_iter().chain(fixer).filter(|(agent, _)| agent.as_str() != RULES_AGENT).collect()
    }

    /// `me`: the findings of our own panel are what is refined, and nobody else's words.
    pub fn remedy_order(&self, run: RunId, number: u64, head: &Sha, me: &str) -> RemedyOrder {
        let fixer = match &self.request.policy.specialist {
            Specialist::Agent(agent) => Some(agent.clone()),
            Specialist::Awaited | Specialist::Mentioned(_) | Specialist::Labelled(_) => None,
        };
        RemedyOrder { run, number, head: head.clone(), fixer, reviewer: me.to_owned(), allowance: None }
    }

    /// The lines below a verdict.
    pub fn closing(&self, id: &TaskId, assessment: Assessment, verdict: Option<Verdict>) -> Vec<String> {
        let (Some(task), Some(verdict)) = (self.task(id), verdict) else { return Vec::new() };
        let person = self.person(task);
        words::closing(assessment, verdict, self.request.level, person.as_deref(), &self.request.policy)
    }
}

/// Every line is quoted, so that none of them is taken for a directive of the configuration.
pub(super) fn persona_words(specialist: &str, text: &str) -> String {
    let mut end = text.len().min(MAX_PERSONA);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let quoted: Vec<String> = text[..end].lines().map(|line| format!("> {line}")).collect();
    // TS-49, TS-84: the first heading says who it is; without one the name does.
    let heading = text.lines().find_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches(['#', ' ']).trim());
    let who = heading.filter(|heading| !heading.is_empty()).unwrap_or(specialist);
    format!("The change was written by {who}. What that specialist goes by:\n{}", quoted.join("\n"))
}
