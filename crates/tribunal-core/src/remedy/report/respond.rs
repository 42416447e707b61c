//! How the respond loop reports its end (RL-59 to RL-62): the first line says which of four it is.

use super::Report;
use super::files::{Awaited, Folder};
use crate::findings::anchor::fold;
use crate::publish::visible::visible_line;
use crate::remedy::condition::Blocker;
use crate::remedy::end::End;
use crate::remedy::ladder::Reason;

/// How it ended. The original had one error status; a forge that fails and a wait that was broken off have their own (RL-56, RL-62).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RespondEnd {
    ReadyForMerge,
    NoChangesNeeded,
    /// A limit of the run; it goes on in a fresh one.
    HandedOff {
        limit: Limit,
        reason: String,
        /// When, as `await --after` takes it.
        at: String,
    },
    TimedOut {
        minutes: u64,
    },
    ValidationFailed {
        reason: String,
    },
    ForgeFailed {
        reason: String,
    },
}

/// What a run may come to the end of. No agent's context lasts from question to question, so that is none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Budget,
    /// An agent or a reviewer is out of reach for now.
    Reach,
}

impl RespondEnd {
    /// How a report ends the respond loop. Nothing where it has no word for the reason: a person is needed, and the report of the
    /// watch loop says for what.
    pub fn of(report: &Report, waited_minutes: u64, now: &str) -> Option<RespondEnd> {
        let handed_off = |limit, reason| Some(RespondEnd::HandedOff { limit, reason, at: now.to_owned() });
        let reason = report.details.blocker_reason.clone().unwrap_or_default();
        match report.reason {
            Reason::Clean | Reason::PrMerged | Reason::PrClosed if report.resolved > 0 => Some(RespondEnd::ReadyForMerge),
            Reason::Clean | Reason::PrMerged | Reason::PrClosed => Some(RespondEnd::NoChangesNeeded),
            Reason::WatchWindowElapsed => Some(RespondEnd::TimedOut { minutes: waited_minutes }),
            Reason::Blocked => match report.blocker {
                Some(Blocker::Budget) => handed_off(Limit::Budget, reason),
                Some(Blocker::Later) => handed_off(Limit::Reach, reason),
                Some(Blocker::Forge) => Some(RespondEnd::ForgeFailed { reason }),
                Some(Blocker::Person | Blocker::Agent) | None => Some(RespondEnd::ValidationFailed { reason }),
            },
            Reason::InjectionSuspect
            | Reason::HighSeverityRejection
            | Reason::UserInputRequired
            | Reason::PlannerEscalation
            | Reason::BreakFixBreak
            | Reason::RootClusterSuspected
            | Reason::DiminishingReturns
            | Reason::MergeAdvised
            | Reason::MaxIterationsReached
            | Reason::MaxCyclesReached
            | Reason::PassComplete => None,
        }
    }

    pub fn first_line(&self) -> &'static str {
        match self {
            RespondEnd::ReadyForMerge | RespondEnd::NoChangesNeeded => "PR_REVIEW_COMPLETE",
            RespondEnd::HandedOff { .. } => "PR_REVIEW_HANDOFF",
            RespondEnd::TimedOut { .. } => "PR_REVIEW_TIMEOUT",
            RespondEnd::ValidationFailed { .. } | RespondEnd::ForgeFailed { .. } => "PR_REVIEW_ERROR",
        }
    }

    pub fn status(&self, awaited: &Awaited) -> String {
        match self {
            RespondEnd::ReadyForMerge => "READY_FOR_MERGE".to_owned(),
            RespondEnd::NoChangesNeeded => "NO_CHANGES_NEEDED".to_owned(),
            RespondEnd::HandedOff { limit: Limit::Budget, .. } => "BUDGET_REACHED".to_owned(),
            RespondEnd::HandedOff { limit: Limit::Reach, .. } => "OUT_OF_REACH".to_owned(),
            RespondEnd::TimedOut { .. } => format!("{}_TIMEOUT", awaited.token()),
            RespondEnd::ValidationFailed { .. } => "VALIDATION_FAILED".to_owned(),
            RespondEnd::ForgeFailed { .. } => "FORGE_FAILED".to_owned(),
        }
    }
}

/// `commits` are those of this run, `iterations` those of the whole loop.
pub fn respond_report(
    report: &Report,
    end: &RespondEnd,
    iterations: u32,
    commits: usize,
    awaited: &Awaited,
    folder: &Folder,
) -> String {
    let mut lines = vec![
        end.first_line().to_owned(),
        String::new(),
        format!("Status: {}", end.status(awaited)),
        format!("PR: #{}", report.pull.number),
    ];
    let reason = match end {
        RespondEnd::HandedOff { reason, .. } | RespondEnd::ValidationFailed { reason } | RespondEnd::ForgeFailed { reason } => {
            Some(one(reason))
        }
        RespondEnd::ReadyForMerge | RespondEnd::NoChangesNeeded | RespondEnd::TimedOut { .. } => None,
    };
    lines.extend(reason.map(|reason| format!("Reason: {reason}")));
    lines.push(format!("Iterations: {iterations}"));
    match end {
        RespondEnd::ReadyForMerge | RespondEnd::NoChangesNeeded => {
            section(&mut lines, "Summary", &counts(report));
            lines.push(format!("- Commits: {commits}"));
            section(
                &mut lines,
                "Files",
                &[
                    ("Assessment", folder.file("assessment.md")),
                    ("Changes", folder.file("changes.md")),
                    ("State", folder.file("state.md")),
                ],
            );
        }
        RespondEnd::HandedOff { limit, at, .. } => {
            let phase = match limit {
                Limit::Budget => "STOPPED".to_owned(),
                Limit::Reach => format!("WAITING_FOR_{}", awaited.token()),
            };
            section(&mut lines, "Current State", &[("Phase", phase), ("After timestamp", one(at))]);
            section(&mut lines, "Progress So Far", &counts(report));
            lines.extend([
                String::new(),
                "Recommendation: start it again; what is answered stays answered, and the rest is taken up.".to_owned(),
            ]);
            section(&mut lines, "Files", &[("State", folder.file("state.md"))]);
        }
        RespondEnd::TimedOut { minutes } => {
            lines.push(format!("Waited: {minutes} minutes for {}", awaited.login()));
            section(&mut lines, "Files", &[("State", folder.file("state.md"))]);
        }
        RespondEnd::ValidationFailed { .. } | RespondEnd::ForgeFailed { .. } => {
            section(&mut lines, "Files", &[("State", folder.file("state.md"))]);
        }
    }
    lines.join("\n") + "\n"
}

fn section(lines: &mut Vec<String>, header: &str, items: &[(&str, String)]) {
    lines.extend([String::new(), format!("{header}:")]);
    lines.extend(items.iter().map(|(label, value)| format!("- {label}: {value}")));
}

fn counts(report: &Report) -> [(&'static str, String); 4] {
    let assessed = report.count(|end| !matches!(end, End::LeftOut { .. } | End::AnsweredBefore));
    [
        ("Threads assessed", assessed.to_string()),
        ("Addressed", report.count(|end| matches!(end, End::Fixed { .. })).to_string()),
        ("Declined", report.count(|end| matches!(end, End::Declined { .. })).to_string()),
        ("Deferred", report.count(|end| matches!(end, End::Deferred { .. })).to_string()),
    ]
}

fn one(text: &str) -> String {
    visible_line(&fold(text))
}
