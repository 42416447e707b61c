//! Where a task stands, and so what is to be done about it. One function, asked after every look and after every verdict, so that
//! nothing depends on how a task came to be where it is.

use super::plan_file::{Cycle, Status, Task};
use super::seen::{PullSeen, TaskSeen, Word};
use crate::combine::verdict::Verdict;
use crate::ids::Sha;
use crate::merge::reviewed_place::ReviewedPlace;
use crate::publish::verdict::Assessment;
use crate::publish::visible::visible_line;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Stance {
    /// At its end (TS-38).
    Over,
    /// The specialist has not opened a pull request.
    NoPull,
    /// The plan says that it is due, and there is nothing open to review (TS-79).
    PullMissing,
    Draft,
    /// A person is at it, and is not to be trampled on (TS-100).
    WithPerson {
        by: String,
        word: Word,
    },
    Due {
        assessment: Assessment,
        head: Sha,
    },
    /// Clean at its head.
    Ready {
        head: Sha,
    },
    /// Waits for its one refinement.
    Refining {
        head: Sha,
    },
    Escalate {
        reason: Escalation,
    },
}

/// Why only a person can go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Escalation {
    Verdict {
        assessment: Assessment,
        verdict: Verdict,
    },
    /// It was changed after its last assessment, and there is no third (TS-17).
    ChangedAfterLast,
    /// Our verdict was tampered with, was sealed with another key, or stands in the plan alone.
    VerdictUnreadable,
    /// The refinement was made, and changed nothing.
    NothingRefined {
        said: String,
    },
}

impl Escalation {
    pub fn words(&self) -> String {
        match self {
            Escalation::Verdict { assessment: Assessment::First, verdict } => match verdict {
                Verdict::Blocked => "BLOCKED: a prerequisite outside of the pull request is missing".into(),
                Verdict::Lgtm | Verdict::Minor | Verdict::Major => {
                    format!("{}: it needs a decision that is not the specialist's", verdict.word())
                }
            },
            Escalation::Verdict { assessment: Assessment::Second, verdict } => {
                format!("{} at the second and last assessment", verdict.word())
            }
            Escalation::ChangedAfterLast => "it or its base was changed after its last assessment, and there is no third".into(),
            Escalation::VerdictUnreadable => {
                "its last verdict cannot be proved: its seal does not open, it does not name the base, or it stands in the plan alone".into()
            }
            Escalation::NothingRefined { said } => format!("the refinement changed nothing: {}", visible_line(said)),
        }
    }
}

/// TS-12: where a verdict leads. Only MINOR, and only at the first assessment, is refined (TS-13 to TS-16).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    Settle,
    Refine,
    Escalate,
}

pub fn route(assessment: Assessment, verdict: Verdict) -> Route {
    match (assessment, verdict) {
        (Assessment::First | Assessment::Second, Verdict::Lgtm) => Route::Settle,
        (Assessment::First, Verdict::Minor) => Route::Refine,
        (Assessment::First, Verdict::Major | Verdict::Blocked) => Route::Escalate,
        (Assessment::Second, Verdict::Minor | Verdict::Major | Verdict::Blocked) => Route::Escalate,
    }
}

pub fn stance(task: &Task, seen: &TaskSeen) -> Stance {
    if task.status.is_terminal() {
        return Stance::Over;
    }
    let Some(pull) = seen.pull.as_ref().filter(|pull| pull.is_open()) else {
        return if task.needs_review || task.status == Status::Reviewing { Stance::PullMissing } else { Stance::NoPull };
    };
    let given = assessed(task, pull);
    if let Some(reason) = given.iter().find_map(escalates) {
        return Stance::Escalate { reason };
    }
    let person = |wanted: Word| pull.people.iter().find(|(_, word)| **word == wanted).map(|(by, word)| (by.clone(), *word));
    if let Some((by, word)) = person(Word::ChangesRequested) {
        return Stance::WithPerson { by, word };
    }
    let (last, head) = (given.last(), pull.head.clone());
    // Aimed at another branch it is another change. What does not say at which leads on, and makes nothing ready.
    let at_head = last.filter(|last| last.place().is_some_and(|at| *at.head == head && !at.is_of_other_base(pull.place())));
    let is_clean = |last: &Assessed| {
        last.proved && last.verdict == Some(Verdict::Lgtm) && last.place().is_some_and(|at| at.is_same(pull.place()))
    };
    if at_head.is_some_and(is_clean) {
        return Stance::Ready { head };
    }
    if let Some((by, word)) = person(Word::Approved) {
        return Stance::WithPerson { by, word };
    }
    if at_head.is_some_and(|last| last.verdict == Some(Verdict::Minor)) {
        return Stance::Refining { head };
    }
    if pull.draft {
        return Stance::Draft;
    }
    match last.map(|last| last.assessment) {
        None => Stance::Due { assessment: Assessment::First, head },
        Some(Assessment::First) => Stance::Due { assessment: Assessment::Second, head },
        Some(Assessment::Second) if at_head.is_some() => Stance::Escalate { reason: Escalation::VerdictUnreadable },
        Some(Assessment::Second) => Stance::Escalate { reason: Escalation::ChangedAfterLast },
    }
}

fn escalates(given: &Assessed) -> Option<Escalation> {
    match given.verdict {
        None => Some(Escalation::VerdictUnreadable),
        Some(verdict) => match route(given.assessment, verdict) {
            Route::Settle | Route::Refine => None,
            Route::Escalate => Some(Escalation::Verdict { assessment: given.assessment, verdict }),
        },
    }
}

/// An assessment that was made, by whatever is known of it.
struct Assessed {
    assessment: Assessment,
    verdict: Option<Verdict>,
    /// Nothing when nobody knows any more what was read.
    head: Option<Sha>,
    /// The branch that it was to be merged into, where our seal says so.
    base_branch: Option<String>,
    /// It stands on the forge under our seal. Nothing is clean without that (design rule 1).
    proved: bool,
}

impl Assessed {
    fn place(&self) -> Option<ReviewedPlace<'_>> {
        Some(ReviewedPlace::new(self.head.as_ref()?, self.base_branch.as_ref()))
    }
}

/// Every assessment that was ever made of it: on the forge, by other tools under our account, and in the plan. The larger count counts
/// (TS-99).
fn assessed(task: &Task, pull: &PullSeen) -> Vec<Assessed> {
    [Assessment::First, Assessment::Second].into_iter().filter_map(|assessment| one_assessed(assessment, task, pull)).collect()
}

fn one_assessed(assessment: Assessment, task: &Task, pull: &PullSeen) -> Option<Assessed> {
    let remembered = in_plan(assessment, task);
    if let Some(given) = pull.verdicts.iter().find(|given| given.assessment == assessment) {
        let verdict = given.verdict.or(remembered.and_then(|known| known.verdict));
        let (head, base_branch) = (Some(given.head.clone()), given.base_branch.clone());
        return Some(Assessed { assessment, verdict, head, base_branch, proved: given.verdict.is_some() });
    }
    let by_tool = match assessment {
        Assessment::First => pull.unmarked.first(),
        Assessment::Second => pull.unmarked.get(1..).and_then(<[_]>::last),
    };
    match by_tool {
        Some(tool) => {
            let (verdict, head) = (Some(tool.verdict), tool.head.clone());
            Some(Assessed { assessment, verdict, head, base_branch: None, proved: false })
        }
        None => remembered,
    }
}

/// A file of the original knows no `assessed`: a head that was reviewed was assessed, and a second cycle had a first.
fn in_plan(assessment: Assessment, task: &Task) -> Option<Assessed> {
    let refined = task.review_cycle == Some(Cycle(Assessment::Second));
    let last = match (task.assessed, &task.last_reviewed_sha) {
        (Some(Cycle(last)), _) => last,
        (None, Some(_)) => Assessment::First,
        (None, None) if refined => Assessment::First,
        (None, None) => return None,
    };
    // Anything worse would have been its end.
    let usual =
        if assessment == Assessment::First && (refined || last == Assessment::Second) { Verdict::Minor } else { Verdict::Lgtm };
    let is_last = assessment == last;
    (assessment <= last).then(|| Assessed {
        assessment,
        verdict: Some(task.verdict.filter(|_| is_last && task.assessed.is_some()).unwrap_or(usual)),
        head: task.last_reviewed_sha.clone().filter(|_| is_last),
        base_branch: None,
        proved: false,
    })
}

#[cfg(test)]
mod tests;
