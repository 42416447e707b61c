//! What is said to people: at the end of a verdict, and in the report.

use super::plan_file::{Status, Task};
use super::report::Next;
use super::seen::Word;
use super::stance::{Escalation, Route, route};
use crate::combine::verdict::Verdict;
use crate::policy::settle::{Level, SettlePolicy, Specialist};
use crate::publish::verdict::Assessment;

/// Who decides, when only a person can (CF-26).
pub fn person(invoker: Option<&str>, reviewers: &[String], policy: &SettlePolicy) -> Option<String> {
    let named = invoker.map(|login| login.trim().trim_start_matches('@').to_owned());
    named.or_else(|| reviewers.first().cloned()).or_else(|| policy.escalate_to.clone())
}

/// The lines below a verdict: whom it concerns, and what is asked of them.
pub fn closing(
    assessment: Assessment,
    verdict: Verdict,
    level: Level,
    person: Option<&str>,
    policy: &SettlePolicy,
) -> Vec<String> {
    let addressed = |words: &str| match person {
        Some(login) => format!("@{login}: {words}"),
        None => format!("Nobody is named to decide: {words}"),
    };
    match route(assessment, verdict) {
        // What is merged without anybody needs nobody's attention.
        Route::Settle if level.merges() => Vec::new(),
        Route::Settle => vec![addressed("it is clean and waits for your review and merge.")],
        Route::Refine => match &policy.specialist {
            Specialist::Mentioned(mention) => vec![format!("{mention} please address this on the same branch.")],
            Specialist::Awaited | Specialist::Labelled(_) | Specialist::Agent(_) => Vec::new(),
        },
        Route::Escalate => {
            let reason = Escalation::Verdict { assessment, verdict }.words();
            vec![addressed(&format!("this needs your decision ({reason}). Nothing more is done about it without you."))]
        }
    }
}

/// TS-64, with one word for one state (TS-98).
pub fn summary(reviewed: u32, settled: u32, refining: u32) -> String {
    format!("Review dispatch complete: {reviewed} reviewed, {settled} settled (MERGED/ESCALATED), {refining} pending REFINE.")
}

/// One line on what comes next for a task.
pub fn next(next: &Next, task: &Task, person: Option<&str>) -> String {
    let who = person.map_or_else(|| "nobody is named to decide".to_owned(), |login| format!("@{login} decides"));
    match next {
        Next::Over => match task.status {
            Status::Escalated => {
                let reason =
                    task.escalation.as_deref().map_or_else(|| "escalated".to_owned(), crate::publish::visible::visible_line);
                format!("{who}: {reason}")
            }
            _ => "nothing".to_owned(),
        },
        Next::AwaitsPull => "the specialist opens a pull request".to_owned(),
        Next::PullMissing => "it is due, but has no open pull request; skipped".to_owned(),
        Next::Draft => "it is a draft".to_owned(),
        Next::WithPerson { by, word } => match word {
            Word::Approved => format!("{by} has approved it and goes on with it"),
            Word::ChangesRequested => format!("{by} has asked for changes and goes on with it"),
        },
        Next::Due { assessment } => format!("due for {}; --level 1 reviews it", assessment.word()),
        Next::Assess { assessment } => format!("{} at its head", assessment.word()),
        Next::Merge => "merged, if every condition holds".to_owned(),
        Next::AwaitsMerge => match person {
            Some(login) => format!("clean: @{login} reviews and merges it"),
            None => "clean: a person reviews and merges it".to_owned(),
        },
        Next::MergeWaits { reason } => format!("clean, and merged later: {}", crate::publish::visible::visible_line(reason)),
        Next::MergeStuck { reason } => format!("clean, but cannot be merged: {}", crate::publish::visible::visible_line(reason)),
        Next::DependsOn { on } => format!("clean, and waits for {on}"),
        Next::Refine => "the specialist pushes a fix to the same branch".to_owned(),
        Next::Held { by } => format!("held: it depends on {by}, which was escalated"),
        Next::Hindered { hindrance } => format!("not done: {}", crate::publish::visible::visible_line(&hindrance.to_string())),
    }
}
