//! How the respond loop reports its end (RL-59 to RL-62): the first line says which of four it is.

use super::Report;
use super::files::{Awaited, Folder};
use crate::findings::anchor::fold;
use crate::publish::visible::visible_line;
use crate::remedy::end::End;
use crate::remedy::ladder::Reason;

/// How it ended. The original had one error status; a forge that fails and a wait that was broken off have their own (RL-56, RL-62).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RespondEnd {
    ReadyForMerge,
    NoChangesNeeded,
    /// A limit of the agent's context or of the run; goes on in a fresh one.
    ContextLimitReached {
        reason: String,
        last_action_time: String,
        after: String,
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
    Cancelled,
}

impl RespondEnd {
    /// How a report ends the respond loop. Nothing where it has no word for the reason: a person is needed, and the report of the
    /// watch loop says for what.
    pub fn of(report: &Report, waited_minutes: u64) -> Option<RespondEnd> {
        let reason = report.details.blocker_reason.clone().unwrap_or_default();
        match report.reason {
            Reason::Clean | Reason::PrMerged | Reason::PrClosed if report.resolved > 0 => Some(RespondEnd::ReadyForMerge),
            Reason::Clean | Reason::PrMerged | Reason::PrClosed => Some(RespondEnd::NoChangesNeeded),
            Reason::WatchWindowElapsed => Some(RespondEnd::TimedOut { minutes: waited_minutes }),
            Reason::Blocked if reason.starts_with("assessment") => Some(RespondEnd::ValidationFailed { reason }),
            Reason::Blocked => Some(RespondEnd::ForgeFailed { reason }),
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
            RespondEnd::ContextLimitReached { .. } => "PR_REVIEW_HANDOFF",
            RespondEnd::TimedOut { .. } => "PR_REVIEW_TIMEOUT",
            RespondEnd::ValidationFailed { .. } | RespondEnd::ForgeFailed { .. } | RespondEnd::Cancelled => "PR_REVIEW_ERROR",
        }
    }

    pub fn status(&self, awaited: &Awaited) -> String {
        match self {
            RespondEnd::ReadyForMerge => "READY_FOR_MERGE".to_owned(),
            RespondEnd::NoChangesNeeded => "NO_CHANGES_NEEDED".to_owned(),
            RespondEnd::ContextLimitReached { .. } => "CONTEXT_LIMIT_REACHED".to_owned(),
            RespondEnd::TimedOut { .. } => format!("{}_TIMEOUT", awaited.token()),
            RespondEnd::ValidationFailed { .. } => "VALIDATION_FAILED".to_owned(),
            RespondEnd::ForgeFailed { .. } => "FORGE_FAILED".to_owned(),
            RespondEnd::Cancelled => "CANCELLED".to_owned(),
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
        RespondEnd::ContextLimitReached { reason, .. }
        | RespondEnd::ValidationFailed { reason }
        | RespondEnd::ForgeFailed { reason } => Some(one(reason)),
        RespondEnd::Cancelled => Some("the wait was broken off".to_owned()),
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
        RespondEnd::ContextLimitReached { last_action_time, after, .. } => {
            let action = format!("RE_REVIEW_REQUESTED at {}", one(last_action_time));
            section(
                &mut lines,
                "Current State",
                &[
                    ("Phase", format!("WAITING_FOR_{}", awaited.token())),
                    ("Last action", action),
                    ("After timestamp", one(after)),
                ],
            );
            section(&mut lines, "Progress So Far", &counts(report));
            lines.extend([
                String::new(),
                "Recommendation: start a fresh run; it goes on with the wait from the saved state.".to_owned(),
            ]);
            section(&mut lines, "Files", &[("State", folder.file("state.md"))]);
        }
        RespondEnd::TimedOut { minutes } => {
            lines.push(format!("Waited: {minutes} minutes for {}", awaited.login()));
            section(&mut lines, "Files", &[("State", folder.file("state.md"))]);
        }
        RespondEnd::ValidationFailed { .. } | RespondEnd::ForgeFailed { .. } | RespondEnd::Cancelled => {
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
