//! The one report of a run.

use super::effect::Merging;
use super::plan_file::{Plan, Status, Task};
use super::report::{self, Next as Then, TaskReport};
use super::seen::TaskSeen;
use super::stance::{Stance, stance};
use super::work::{held_by, waits_for};
use super::{Next, Phase, State, words};
use crate::procedure::order::Hindrance;
use crate::publish::visible::visible_line;

impl State {
    pub(super) fn end(&mut self, failed: Option<Hindrance>, timed_out: bool) -> Next {
        let (request, memory) = (&self.request, &self.memory);
        let plan = memory.plan.as_ref();
        let mut report = report::empty(request.run.clone(), plan, request.level, request.dry_run);
        report.tasks = plan.map(|plan| plan.tasks.iter().map(|task| self.told(plan, task)).collect()).unwrap_or_default();
        report.reviewed = memory.reviewed;
        let ended = |task: &&TaskReport| {
            let is_end = matches!(task.status, Status::Merged | Status::Escalated);
            is_end && memory.began.get(&task.id) != Some(&task.status)
        };
        report.settled = report.tasks.iter().filter(ended).count() as u32;
        report.refining = report.tasks.iter().filter(|task| task.next == Then::Refine).count() as u32;
        report.closed.clone_from(&memory.closed);
        report.notes.clone_from(&memory.notes);
        report.timed_out = timed_out;
        report.failed = failed;
        report.summary = report.line();
        (Phase::Done(Box::new(report)), Vec::new())
    }

    /// Who decides about a task (CF-26).
    pub fn person(&self, task: &Task) -> Option<String> {
        let invoker = self.memory.plan.as_ref().and_then(|plan| plan.invoker.as_deref());
        let reviewers = self.memory.seen.get(&task.id).and_then(|seen| seen.pull.as_ref()).map(|pull| pull.reviewers.as_slice());
        words::person(invoker, reviewers.unwrap_or_default(), &self.request.policy)
    }

    fn told(&self, plan: &Plan, task: &Task) -> TaskReport {
        let nothing = TaskSeen::default();
        let seen = self.memory.seen.get(&task.id).unwrap_or(&nothing);
        let next = self.then(plan, task, seen);
        let person = self.person(task);
        TaskReport {
            id: task.id.clone(),
            title: visible_line(&task.title),
            status: task.status,
            pull: task.github_pr,
            head: seen.pull.as_ref().map(|pull| pull.head.clone()),
            verdict: task.verdict,
            assessed: task.assessed.map(|cycle| cycle.0),
            words: words::next(&next, task, person.as_deref()),
            next,
            person,
        }
    }

    fn then(&self, plan: &Plan, task: &Task, seen: &TaskSeen) -> Then {
        let level = self.request.level;
        if task.status.is_terminal() {
            return Then::Over;
        }
        if let Some(hindrance) = self.memory.hindered.get(&task.id) {
            return Then::Hindered { hindrance: hindrance.clone() };
        }
        if let Some(by) = held_by(plan, task) {
            return Then::Held { by };
        }
        match stance(task, seen) {
            // What is to be escalated is, before anything is told.
            Stance::Over | Stance::Escalate { .. } => Then::Over,
            Stance::NoPull => Then::AwaitsPull,
            Stance::PullMissing => Then::PullMissing,
            Stance::Draft => Then::Draft,
            Stance::WithPerson { by, word } => Then::WithPerson { by, word },
            Stance::Due { assessment, .. } if level.reviews() => Then::Assess { assessment },
            Stance::Due { assessment, .. } => Then::Due { assessment },
            Stance::Refining { .. } => Then::Refine,
            Stance::Ready { .. } if !level.merges() => Then::AwaitsMerge,
            Stance::Ready { .. } => match (waits_for(plan, task), self.memory.unmerged.get(&task.id)) {
                (Some(on), _) => Then::DependsOn { on },
                (None, Some(Merging::Waits { reason })) => Then::MergeWaits { reason: reason.clone() },
                (None, Some(Merging::Stuck { reason })) => Then::MergeStuck { reason: reason.clone() },
                (None, Some(Merging::Merged) | None) => Then::Merge,
            },
        }
    }
}
