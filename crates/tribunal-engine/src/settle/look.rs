//! One look: the plan as it is written, and each of its tasks as the forge has it.

use super::work::of_plan;
use super::{Settling, file};
use crate::{EngineError, Progress};
use std::collections::BTreeMap;
use std::path::Path;
use tribunal_core::procedure::settle::link::{Linked, pull_of};
use tribunal_core::procedure::settle::plan_file::{Status, Task, read::read};
use tribunal_core::procedure::settle::seen::{Eyes, IssueSeen, PullSeen, TaskSeen};
use tribunal_core::procedure::settle::{Input, Look, State};
use tribunal_core::pull::chronological::Chronological;
use tribunal_core::pull::facts::{Account, Pull, PullFilter, PullState};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::Review;

/// Lists of pull requests that are read once for all tasks, and only if one of them needs it.
#[derive(Default)]
struct Lists {
    open: Option<Vec<Pull>>,
    all: Option<Vec<Pull>>,
}

impl Settling {
    pub(super) async fn look(&self, state: &State) -> Result<Input, EngineError> {
        (self.listener)(Progress::Working { what: "reads the plan and its pull requests".into() });
        let path = Path::new(&state.request.plan);
        let plan = match file::read(path).and_then(|text| read(&text).map_err(|error| format!("{}: {error}", path.display()))) {
            Ok(plan) => plan,
            Err(problem) => return Ok(Input::Looked(Err(of_plan(problem)))),
        };
        let me = self.on.forge.identity().await?;
        let mut lists = Lists::default();
        let mut tasks = BTreeMap::new();
        for task in &plan.tasks {
            // What is merged stays merged; once in a run it is believed to no plan.
            let is_known = state.memory.looks > 1 && task.status.is_done();
            if is_known || (task.github_issue.is_none() && task.github_pr.is_none()) {
                continue;
            }
            let seen = match self.task(state, task, &me, &mut lists).await {
                Ok(seen) => Ok(seen),
                // The forge as a whole is in trouble, and not this task.
                Err(fault) if fault.may_pass() || fault.is_uncertain() => return Err(fault.into()),
                Err(fault) => Err(fault.to_string()),
            };
            tasks.insert(task.id.clone(), seen);
        }
        Ok(Input::Looked(Ok(Box::new(Look { plan, tasks }))))
    }

    async fn task(&self, state: &State, task: &Task, me: &Account, lists: &mut Lists) -> Result<TaskSeen, ForgeFault> {
        let issue = match task.github_issue {
            Some(number) => Some(IssueSeen::of(&self.on.forge.issue(number).await?)),
            None => None,
        };
        let issue_open = issue.as_ref().is_none_or(|issue| issue.open);
        let (pull, notes) = self.pull(task, issue_open, lists).await?;
        let pull = match pull {
            Some(pull) => Some(self.seen(state, &pull, me).await?),
            None => None,
        };
        Ok(TaskSeen { issue, pull, notes })
    }

    /// The one that the plan names, or the one that the issue leads to. A closed one may have a successor.
    async fn pull(&self, task: &Task, issue_open: bool, lists: &mut Lists) -> Result<(Option<Pull>, Vec<String>), ForgeFault> {
        let named = match task.github_pr {
            Some(number) => Some(self.on.forge.pull(number).await?),
            None => None,
        };
        if named.as_ref().is_some_and(|pull| pull.state != PullState::Closed) || task.github_issue.is_none() {
            return Ok((named, Vec::new()));
        }
        if lists.open.is_none() {
            lists.open = Some(self.on.forge.pulls(&PullFilter::default()).await?);
        }
        let open: Vec<Pull> = lists.open.iter().flatten().filter(|pull| pull.state == PullState::Open).cloned().collect();
        let Linked { pull, notes } = pull_of(task, &open);
        if pull.is_some() || named.is_some() {
            return Ok((pull.cloned().or(named), notes));
        }
        // An issue that was closed, or a review that was begun, speaks of a pull request that is open no more.
        if issue_open && task.status != Status::Reviewing {
            return Ok((None, notes));
        }
        if lists.all.is_none() {
            lists.all = Some(self.on.forge.pulls(&PullFilter { all_states: true, ..PullFilter::default() }).await?);
        }
        let past = pull_of(task, lists.all.as_deref().unwrap_or_default()).pull.cloned();
        Ok((past, notes))
    }

    pub(super) async fn seen(&self, state: &State, pull: &Pull, me: &Account) -> Result<PullSeen, ForgeFault> {
        let reviews: Vec<Review> = match pull.state {
            PullState::Open => self.on.forge.reviews(pull.number).await?,
            PullState::Closed | PullState::Merged => Vec::new(),
        };
        let case_id = state.request.place(pull.number).case_id();
        let authors: Vec<&Account> = reviews.iter().map(|review| &review.author).collect();
        let permissions = self.on.permissions(&authors).await?;
        let bots = &state.request.policy.bots;
        let eyes = Eyes { me, case_id: &case_id, key: &self.on.key, bots, permissions: &permissions };
        Ok(PullSeen::of(pull, &Chronological::of(&reviews), &eyes))
    }
}
