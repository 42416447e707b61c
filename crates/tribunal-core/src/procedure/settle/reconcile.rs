//! The plan in the light of the forge (TS-41 to TS-46), which wins every conflict (TS-85, CF-8).

use super::plan_file::{Cycle, Mode, Status, Task, TaskId};
use super::seen::{Given, IssueSeen, PullSeen, TaskSeen};
use super::stance::{Stance, stance};
use crate::combine::verdict::Verdict;
use crate::policy::settle::Level;
use crate::publish::verdict::Assessment;
use crate::pull::facts::PullState;

/// The labels by which the Hall says how far a specialist is (TS-42).
const LABELS: [(&str, Status); 4] = [
    ("hall:in-progress", Status::InProgress),
    ("hall:awaiting-input", Status::AwaitingInput),
    ("hall:post-mortem", Status::Failed),
    ("hall:invoker-queued", Status::Dispatched),
];

/// The task as it really is. Run again on its own result it changes nothing.
pub fn reconciled(task: &Task, seen: &TaskSeen, level: Level) -> Task {
    let mut now = task.clone();
    if let Some(pull) = &seen.pull {
        now.github_pr = Some(pull.number);
        for given in &pull.verdicts {
            record(&mut now, given);
        }
    }
    now.status = status(&now, seen);
    if now.status != Status::Escalated {
        now.escalation = None;
    }
    // TS-43 and TS-45 in one: what is due says so, at a level that reviews (TS-93). It is never taken back here (TS-46), but a task that
    // is at its end is not due any more (TS-92).
    if let Stance::Due { assessment, .. } = stance(&now, seen)
        && level.reviews()
    {
        now.needs_review = true;
        now.review_cycle = Some(Cycle(assessment));
    }
    if now.status.is_terminal() {
        now.needs_review = false;
    }
    now
}

/// A task whose issue is closed by the pull request of another one: how it stands, and what is seen of it. A pull request is one task's
/// (TS-1): it is assessed once, and a plan in which it stands twice could not be read again. Merged it has done both.
pub fn beside(status: Status, seen: TaskSeen, owner: &TaskId) -> (Status, TaskSeen) {
    let TaskSeen { issue, pull, mut notes } = seen;
    let status = match pull {
        Some(pull) if pull.state == PullState::Merged => Status::Done,
        Some(pull) => {
            notes.push(format!("#{} closes its issue too, and is the pull request of {owner}", pull.number));
            status
        }
        None => status,
    };
    (status, TaskSeen { issue, pull: None, notes })
}

/// What an assessment leaves in the plan (TS-61, TS-65, TS-96): the head that was read, and never one that was fetched later.
pub fn record(task: &mut Task, given: &Given) {
    let cycle = Cycle(given.assessment);
    if task.assessed > Some(cycle) {
        return;
    }
    let is_news = task.assessed < Some(cycle);
    task.assessed = Some(cycle);
    task.last_reviewed_sha = Some(given.head.clone());
    task.verdict = if is_news { given.verdict } else { given.verdict.or(task.verdict) };
    if is_news {
        task.needs_review = false;
        task.review_cycle = Some(match (given.assessment, given.verdict) {
            (Assessment::First, Some(Verdict::Minor)) => Cycle(Assessment::Second),
            _ => cycle,
        });
    }
}

fn status(task: &Task, seen: &TaskSeen) -> Status {
    let open_status = |pull: &PullSeen| match (task.status, pull.state) {
        // A person has merged it, or we have and were killed: that is what became of it, whatever was thought before.
        (_, PullState::Merged) => Status::Merged,
        // Ours to keep: only a person takes it further.
        (Status::Escalated, _) => Status::Escalated,
        (Status::Done, _) => Status::Done,
        // CF-25: when its pull request opens.
        (_, PullState::Open) => Status::Reviewing,
        (_, PullState::Closed) => without_pull(task, seen.issue.as_ref(), true),
    };
    match (&seen.pull, task.status) {
        (Some(pull), _) => open_status(pull),
        (None, Status::Escalated | Status::Done) => task.status,
        (None, _) => without_pull(task, seen.issue.as_ref(), false),
    }
}

/// `given_up`: there was a pull request, and it was closed without being merged.
fn without_pull(task: &Task, issue: Option<&IssueSeen>, given_up: bool) -> Status {
    match issue {
        Some(issue) if issue.open => {
            let said = LABELS.iter().find(|(label, _)| issue.labels.iter().any(|known| known == label));
            match (said, given_up) {
                (Some((_, status)), _) => *status,
                (None, true) => Status::Failed,
                (None, false) => task.status,
            }
        }
        // Advice and research end with their issue; there is nothing to merge.
        Some(_) if task.mode != Mode::Doing && !given_up => Status::Done,
        Some(_) => Status::Failed,
        None if given_up => Status::Failed,
        None => task.status,
    }
}

#[cfg(test)]
mod tests;
