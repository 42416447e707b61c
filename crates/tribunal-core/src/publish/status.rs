//! The commit status: the one thing that branch protection should read (CF-2). It passes only with a whole review behind it.

use super::needs_person::says_needs_person;
use super::outgoing::Outgoing;
use super::summary;
use crate::combine::verdict::Outcome;
use crate::findings::scale::Priority;
use crate::pull::facts::{Check, CheckState};
use crate::pull::talk::{Annotation, AnnotationLevel, NewCheckRun, NewStatus};
use crate::report::document::Document;

pub const CONTEXT: &str = "tribunal/review";
/// GitHub refuses a longer description.
const MAX_DESCRIPTION: usize = 140;
/// The text of a check run; GitHub takes 65,535.
const MAX_SUMMARY: usize = 60_000;

pub fn status(document: &Document) -> NewStatus {
    NewStatus {
        context: CONTEXT.into(),
        state: state(document),
        description: Outgoing::shortened(&summary::plain(document), MAX_DESCRIPTION),
        url: document.pull.as_ref().map(|pull| pull.url.clone()).filter(|url| !url.is_empty()),
    }
}

/// Does a commit say it already?
pub fn stands(wanted: &NewStatus, checks: &[Check]) -> bool {
    checks.iter().any(|check| {
        check.name == wanted.context && check.state == wanted.state && wanted.description == check.description.as_str()
    })
}

/// Does the status of its head say that a later review found what this one, which passes, did not? What a sweep leaves to a person is
/// no result of a review.
pub fn is_contradicted(document: &Document, checks: &[Check]) -> bool {
    let is_red = |check: &Check| check.name == CONTEXT && check.state == CheckState::Failure && !says_needs_person(check);
    state(document) == CheckState::Success && checks.iter().any(is_red)
}

/// Nothing was reviewed, and that is not green.
pub fn not_run(reason: &str) -> NewStatus {
    let description = Outgoing::shortened(&format!("Not reviewed: {reason}"), MAX_DESCRIPTION);
    NewStatus { context: CONTEXT.into(), state: CheckState::Error, description, url: None }
}

fn state(document: &Document) -> CheckState {
    match (document.outcome, document.exit_code()) {
        (Outcome::Incomplete | Outcome::NotRun, _) => CheckState::Error,
        (Outcome::Clean | Outcome::Findings, 0) => CheckState::Success,
        (Outcome::Clean | Outcome::Findings, _) => CheckState::Failure,
    }
}

/// The same as annotations, for a GitHub App.
pub fn check_run(document: &Document, summary: &str) -> NewCheckRun {
    let annotations = document.findings.iter().filter(|finding| finding.dismissed.is_none()).map(|finding| Annotation {
        path: finding.file.0.clone(),
        start_line: finding.line_start,
        end_line: finding.line_end,
        level: match finding.p_code {
            Priority::P0 => AnnotationLevel::Failure,
            Priority::P1 => AnnotationLevel::Warning,
            Priority::P2 | Priority::P3 | Priority::Q => AnnotationLevel::Notice,
        },
        title: format!("{} {} {}", finding.id, finding.p_code, finding.slug).into(),
        message: match finding.mitigation.as_str() {
            "" => finding.failure_mode.as_str().into(),
            mitigation => format!("{}\n{mitigation}", finding.failure_mode).into(),
        },
    });
    NewCheckRun {
        name: CONTEXT.into(),
        state: state(document),
        title: Outgoing::shortened(&summary::plain(document), MAX_DESCRIPTION),
        summary: Outgoing::shortened(summary, MAX_SUMMARY),
        annotations: annotations.collect(),
    }
}

/// A status as a check run without annotations, for a GitHub App.
pub fn plain_check_run(status: &NewStatus) -> NewCheckRun {
    NewCheckRun {
        name: status.context.clone(),
        state: status.state,
        title: status.description.clone(),
        summary: status.description.clone(),
        annotations: Vec::new(),
    }
}
