//! What is done next, and what its result changes.

use super::effect::{Effect, Look, Merging, Refinement};
use super::plan_file::write::changes;
use super::plan_file::{Plan, Status, Task, TaskId};
use super::reconcile::{beside, reconciled, record};
use super::seen::{Given, PullSeen};
use super::stance::{Escalation, Stance, stance};
use super::{Next, Phase, State};
use crate::combine::verdict::Outcome;
use crate::ids::Sha;
use crate::policy::settle::Specialist;
use crate::procedure::Millis;
use crate::procedure::order::Hindrance;
use crate::publish::verdict::Assessment;
use crate::pull::facts::PullState;
use crate::report::document::Document;
use std::collections::{BTreeMap, BTreeSet};

/// Looks in a row that may fail while it watches.
const MAX_FAILURES: u32 = 5;

/// What a task is to have done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Job {
    Review { number: u64, head: Sha, assessment: Assessment },
    Label { number: u64, label: String },
    Refine { number: u64, head: Sha },
    Merge { number: u64, head: Sha },
}

impl State {
    pub(super) fn look(&mut self) -> Next {
        self.memory.looks += 1;
        self.memory.fresh_looks += 1;
        self.memory.again = false;
        (Phase::Looking, vec![Effect::Look { nth: self.memory.looks }])
    }

    pub(super) fn looked(&mut self, look: Look, now: Millis) -> Next {
        let level = self.request.level;
        self.memory.failures = 0;
        let mut plan = look.plan.clone();
        self.memory.seen.clear();
        let mut owners = owners(&plan);
        for task in &mut plan.tasks {
            self.memory.began.entry(task.id.clone()).or_insert(task.status);
            match look.tasks.get(&task.id) {
                Some(Ok(seen)) => {
                    let owner = seen.pull.as_ref().map(|pull| owners.entry(pull.number).or_insert_with(|| task.id.clone()));
                    let mut seen = seen.clone();
                    if let Some(owner) = owner.filter(|owner| **owner != task.id) {
                        (task.status, seen) = beside(task.status, seen, owner);
                    }
                    *task = reconciled(task, &seen, level);
                    let notes = seen.notes.iter().map(|note| format!("{}: {note}", task.id));
                    let fresh: Vec<String> = notes.filter(|note| !self.memory.notes.contains(note)).collect();
                    self.memory.notes.extend(fresh);
                    self.memory.seen.insert(task.id.clone(), seen);
                }
                // Nothing is known, so nothing is done (CF-9).
                Some(Err(reason)) => {
                    self.memory.hindered.insert(task.id.clone(), Hindrance::Forge { reason: reason.clone() });
                }
                None => {}
            }
        }
        if self.request.remember_level {
            plan.automation_level = Some(level);
        }
        self.memory.filed = Some(look.plan);
        self.memory.plan = Some(plan);
        self.go_on(now)
    }

    /// While it watches, a forge that does not answer for a while is waited for (CF-9: nothing is done meanwhile).
    pub(super) fn not_looked(&mut self, why: Hindrance, now: Millis) -> Next {
        self.memory.failures += 1;
        if !self.request.watch || self.memory.failures > MAX_FAILURES || now >= self.total_until() {
            return self.end(Some(why), false);
        }
        self.wait(now)
    }

    /// The next thing to do, or the end.
    pub(super) fn go_on(&mut self, now: Millis) -> Next {
        self.escalate();
        if self.request.dry_run {
            return self.end(None, false);
        }
        let changes = match (&self.memory.filed, &self.memory.plan) {
            (Some(filed), Some(plan)) => changes(filed, plan),
            _ => Vec::new(),
        };
        if !changes.is_empty() {
            self.memory.writes += 1;
            return (Phase::Writing, vec![Effect::Write { nth: self.memory.writes, changes }]);
        }
        if let Some((task, job)) = self.next_job() {
            return self.begin(task, job);
        }
        let tasks = self.memory.plan.as_ref().map_or(0, |plan| plan.tasks.len());
        if self.memory.again && (self.memory.fresh_looks as usize) < 3 + 3 * tasks {
            return self.look();
        }
        let parents = self.parents();
        if !parents.is_empty() || (self.request.level.reviews() && !self.memory.merged_issues.is_empty()) {
            self.memory.closings += 1;
            let effect =
                Effect::Close { nth: self.memory.closings, merged: self.memory.merged_issues.clone(), parents: parents.clone() };
            return (Phase::Closing { parents: parents.into_keys().collect() }, vec![effect]);
        }
        self.wait_or_end(now)
    }

    fn wait_or_end(&mut self, now: Millis) -> Next {
        let plan = self.memory.plan.as_ref();
        let all_over = plan.is_none_or(|plan| plan.tasks.iter().all(|task| task.status.is_terminal()));
        if !self.request.watch || all_over {
            return self.end(None, false);
        }
        if now >= self.total_until() {
            return self.end(None, true);
        }
        self.wait(now)
    }

    fn wait(&mut self, now: Millis) -> Next {
        self.memory.waits += 1;
        let until = now.saturating_add(self.request.policy.poll.as_millis()).min(self.total_until());
        (Phase::Waiting, vec![Effect::Wait { nth: self.memory.waits, until }])
    }

    pub(super) fn woken(&mut self, now: Millis) -> Next {
        if now >= self.total_until() {
            return self.end(None, true);
        }
        // What did not work then may work now.
        self.memory.hindered.clear();
        self.memory.unmerged.clear();
        self.memory.fresh_looks = 0;
        self.look()
    }

    /// TS-70: whatever is not clean and not to be refined is a person's, at every level.
    fn escalate(&mut self) {
        let Some(plan) = &mut self.memory.plan else { return };
        for task in &mut plan.tasks {
            let Some(seen) = self.memory.seen.get(&task.id) else { continue };
            if let Stance::Escalate { reason } = stance(task, seen) {
                hand_over(task, &reason);
            }
        }
    }

    fn next_job(&self) -> Option<(TaskId, Job)> {
        let plan = self.memory.plan.as_ref()?;
        plan.tasks.iter().find_map(|task| Some((task.id.clone(), self.job(plan, task)?)))
    }

    fn job(&self, plan: &Plan, task: &Task) -> Option<Job> {
        let (seen, level) = (self.memory.seen.get(&task.id)?, self.request.level);
        let pull = seen.pull.as_ref()?;
        let is_free = level.reviews() && held_by(plan, task).is_none() && !self.memory.hindered.contains_key(&task.id);
        match stance(task, seen) {
            _ if !is_free => None,
            Stance::Due { assessment, head } => Some(Job::Review { number: pull.number, head, assessment }),
            Stance::Ready { head } => {
                let may = level.merges() && waits_for(plan, task).is_none() && !self.memory.unmerged.contains_key(&task.id);
                may.then_some(Job::Merge { number: pull.number, head })
            }
            Stance::Refining { head } => self.refinement(task, pull, head),
            Stance::Over
            | Stance::NoPull
            | Stance::PullMissing
            | Stance::Draft
            | Stance::WithPerson { .. }
            | Stance::Escalate { .. } => None,
        }
    }

    /// TS-72 to TS-77: the review has asked; this is what else starts the specialist.
    fn refinement(&self, task: &Task, pull: &PullSeen, head: Sha) -> Option<Job> {
        match &self.request.policy.specialist {
            Specialist::Awaited | Specialist::Mentioned(_) => None,
            Specialist::Labelled(label) => {
                let is_there = pull.labels.contains(label) || self.memory.labelled.contains(&task.id);
                (!is_there).then(|| Job::Label { number: pull.number, label: label.clone() })
            }
            Specialist::Agent(_) => {
                let is_done = self.memory.refined.get(&task.id) == Some(&head);
                (!is_done).then_some(Job::Refine { number: pull.number, head })
            }
        }
    }

    fn begin(&mut self, task: TaskId, job: Job) -> Next {
        self.memory.attempts += 1;
        let attempt = self.memory.attempts;
        let (phase, effect) = match job {
            Job::Review { number, head, assessment } => {
                let effect = Effect::Review { task: task.clone(), number, head: head.clone(), assessment, attempt };
                (Phase::Reviewing { task, head, assessment }, effect)
            }
            Job::Label { number, label } => (Phase::Labelling { task: task.clone() }, Effect::Label { task, number, label }),
            Job::Refine { number, head } => {
                let effect = Effect::Refine { task: task.clone(), number, head: head.clone(), attempt };
                (Phase::Refining { task, head }, effect)
            }
            Job::Merge { number, head } => (Phase::Merging { task: task.clone() }, Effect::Merge { task, number, head, attempt }),
        };
        (phase, vec![effect])
    }

    pub(super) fn reviewed(
        &mut self,
        task: TaskId,
        head: &Sha,
        assessment: Assessment,
        reviewed: Result<Box<Document>, Hindrance>,
        now: Millis,
    ) -> Next {
        let document = match reviewed.and_then(|document| whole(document, head)) {
            Ok(document) => document,
            Err(hindrance) => return self.hindered(&task, hindrance, now),
        };
        let Some(number) = self.number(&task) else { return self.go_on(now) };
        let effect = Effect::Give { task: task.clone(), number, assessment, attempt: self.memory.attempts };
        (Phase::Giving { task, assessment, document }, vec![effect])
    }

    pub(super) fn gave(&mut self, task: &TaskId, gave: Result<Given, Hindrance>, now: Millis) -> Next {
        let given = match gave {
            Ok(given) => given,
            Err(hindrance) => return self.hindered(task, hindrance, now),
        };
        self.memory.reviewed += 1;
        if let Some(pull) = self.memory.seen.get_mut(task).and_then(|seen| seen.pull.as_mut())
            && !pull.verdicts.iter().any(|known| known.assessment == given.assessment)
        {
            pull.verdicts.push(given.clone());
            pull.verdicts.sort_by_key(|given| given.assessment);
        }
        if let Some(task) = self.task_mut(task) {
            record(task, &given);
        }
        self.go_on(now)
    }

    pub(super) fn labelled(&mut self, task: TaskId, labelled: Result<(), Hindrance>, now: Millis) -> Next {
        if let Err(hindrance) = labelled {
            return self.hindered(&task, hindrance, now);
        }
        self.memory.labelled.insert(task);
        self.go_on(now)
    }

    pub(super) fn refined(&mut self, task: TaskId, head: Sha, refined: Result<Refinement, Hindrance>, now: Millis) -> Next {
        match refined {
            Err(hindrance) => return self.hindered(&task, hindrance, now),
            Ok(refinement) if refinement.commits > 0 => {
                self.memory.refined.insert(task, head);
                self.memory.again = true;
            }
            // The one refinement is spent, and there is nothing that a second assessment could find better.
            Ok(refinement) => {
                if let Some(task) = self.task_mut(&task) {
                    hand_over(task, &Escalation::NothingRefined { said: refinement.said });
                }
            }
        }
        self.go_on(now)
    }

    pub(super) fn merged(&mut self, id: &TaskId, merged: Result<Merging, Hindrance>, now: Millis) -> Next {
        match merged {
            Err(hindrance) => return self.hindered(id, hindrance, now),
            Ok(Merging::Merged) => {
                if let Some(pull) = self.memory.seen.get_mut(id).and_then(|seen| seen.pull.as_mut()) {
                    pull.state = PullState::Merged;
                }
                let issue = self.task_mut(id).and_then(|task| {
                    task.status = Status::Merged;
                    task.needs_review = false;
                    task.github_issue
                });
                self.memory.merged_issues.extend(issue);
                self.memory.carried.clear();
            }
            Ok(why @ (Merging::Waits { .. } | Merging::Stuck { .. })) => {
                self.memory.unmerged.insert(id.clone(), why);
            }
        }
        self.go_on(now)
    }

    /// What moved is looked at again, a few times; everything else is for the next run, or for after the next wait.
    fn hindered(&mut self, task: &TaskId, hindrance: Hindrance, now: Millis) -> Next {
        let moved = matches!(hindrance, Hindrance::HeadMoved { .. } | Hindrance::NotOpen { .. });
        self.memory.hindered.insert(task.clone(), hindrance);
        if moved && self.memory.fresh_looks < 3 {
            self.memory.hindered.remove(task);
            self.memory.again = true;
            return self.look();
        }
        self.go_on(now)
    }

    /// TS-105: issues of larger work all of whose tasks are done, with the issues of those tasks.
    fn parents(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let Some(plan) = self.memory.plan.as_ref().filter(|_| self.request.level.reviews()) else { return BTreeMap::new() };
        let mut parents: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for task in &plan.tasks {
            let Some(parent) = task.board_parent else { continue };
            parents.entry(parent).or_default().extend(task.github_issue);
        }
        let is_done = |parent: &u64| {
            let parts = plan.tasks.iter().filter(|task| task.board_parent == Some(*parent) || task.github_issue == Some(*parent));
            parts.into_iter().all(|task| task.status.is_done())
        };
        parents.retain(|parent, _| is_done(parent) && !self.memory.carried.contains(parent));
        parents
    }

    pub(super) fn task_mut(&mut self, id: &TaskId) -> Option<&mut Task> {
        self.memory.plan.as_mut()?.tasks.iter_mut().find(|task| &task.id == id)
    }

    fn number(&self, task: &TaskId) -> Option<u64> {
        self.memory.seen.get(task)?.pull.as_ref().map(|pull| pull.number)
    }
}

/// Which task the plan gives each pull request to.
fn owners(plan: &Plan) -> BTreeMap<u64, TaskId> {
    plan.tasks.iter().filter_map(|task| Some((task.github_pr?, task.id.clone()))).collect()
}

fn hand_over(task: &mut Task, reason: &Escalation) {
    task.status = Status::Escalated;
    task.needs_review = false;
    task.escalation = Some(reason.words());
}

/// Only a whole review of what was asked for is an assessment (design rules 1 and 7).
fn whole(document: Box<Document>, head: &Sha) -> Result<Box<Document>, Hindrance> {
    if &document.head != head {
        return Err(Hindrance::HeadMoved { to: Some(document.head) });
    }
    let reason = || format!("the review is incomplete: {}", document.summary_line);
    match (document.outcome, document.exit_code()) {
        (Outcome::Clean | Outcome::Findings, _) => Ok(document),
        (Outcome::Incomplete | Outcome::NotRun, 4) => Err(Hindrance::Budget { reason: reason() }),
        (Outcome::Incomplete | Outcome::NotRun, 75) => Err(Hindrance::NotYet { reason: reason() }),
        (Outcome::Incomplete | Outcome::NotRun, _) => Err(Hindrance::Agent { reason: reason() }),
    }
}

/// TS-33: the escalated task that this one comes after, however far back.
pub(super) fn held_by(plan: &Plan, task: &Task) -> Option<TaskId> {
    let mut known: BTreeSet<&TaskId> = BTreeSet::new();
    let mut open: Vec<&Task> = plan.before(task);
    while let Some(before) = open.pop() {
        if before.status == Status::Escalated {
            return Some(before.id.clone());
        }
        if known.insert(&before.id) {
            open.extend(plan.before(before));
        }
    }
    None
}

/// What must be done before it may be merged (TS-36, `depends_on`).
pub(super) fn waits_for(plan: &Plan, task: &Task) -> Option<TaskId> {
    task.depends_on.iter().find(|id| plan.task(id).is_some_and(|before| !before.status.is_done())).cloned()
}
