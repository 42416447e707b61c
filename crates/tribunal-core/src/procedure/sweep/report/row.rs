//! One pull request in a report.

use super::super::failure::{Class, Failure};
use super::super::landing::Landed;
use super::super::leaving::failure_of;
use super::super::round::Ending;
use super::super::screen::{Checks, Screen};
use super::super::tick::Tick;
use super::super::tour::Tracked;
use crate::combine::verdict::Verdict;
use crate::ids::Sha;
use crate::pull::facts::{MergeMethod, PullState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    pub number: u64,
    pub title: String,
    pub url: String,
    pub branch: String,
    pub head: Sha,
    /// 1 for the first; nothing when it had no turn.
    pub pair: Option<u32>,
    /// What it was held against. Without one compliance is unproved (SL-27).
    pub spec: Option<String>,
    /// Nothing: they were not looked at.
    pub checks: Option<Checks>,
    pub review: ReviewCell,
    pub merge: MergeCell,
    pub status: Status,
    /// Why, where the status alone does not say it.
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    pub iteration: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewCell {
    Approved,
    ChangesRequested,
    Blocked,
    Rejected,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeCell {
    Merged(MergeMethod),
    PendingManual,
    Held,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Complete,
    PendingManualMerge,
    NeedsHumanFollowUp,
    ChecksFailing,
    ChecksPending,
    Rejected,
    Draft,
    Over,
    Deferred,
    HeadMoved,
    Failed,
    OutOfBudget,
    NotBegun,
    LeftOut,
    WouldReview,
    WouldReject,
}

impl ReviewCell {
    pub fn words(self) -> &'static str {
        match self {
            ReviewCell::Approved => "Approved",
            ReviewCell::ChangesRequested => "Changes requested",
            ReviewCell::Blocked => "Blocked",
            ReviewCell::Rejected => "Rejected: conflict markers",
            ReviewCell::None => "—",
        }
    }
}

impl MergeCell {
    pub fn words(self) -> String {
        match self {
            MergeCell::Merged(method) => format!("Merged ({})", method.word()),
            MergeCell::PendingManual => "Pending manual merge".into(),
            MergeCell::Held => "Held".into(),
            MergeCell::None => "—".into(),
        }
    }
}

impl Status {
    pub fn words(self) -> &'static str {
        match self {
            Status::Complete => "Complete",
            Status::PendingManualMerge => "Approved, pending manual merge",
            Status::NeedsHumanFollowUp => "Needs human follow-up",
            Status::ChecksFailing => "Skipped (CI failing)",
            Status::ChecksPending => "Waiting for CI",
            Status::Rejected => "Rejected: conflict markers",
            Status::Draft => "Skipped (draft)",
            Status::Over => "Over",
            Status::Deferred => "Deferred: no new commits",
            Status::HeadMoved => "Head moved, look again",
            Status::Failed => "Failed",
            Status::OutOfBudget => "Stopped by the budget",
            Status::NotBegun => "Not begun",
            Status::LeftOut => "Left out",
            Status::WouldReview => "Would be reviewed",
            Status::WouldReject => "Would be rejected: conflict markers",
        }
    }

    /// Whose it is when the run is over.
    pub fn needs_person(self) -> bool {
        matches!(self, Status::NeedsHumanFollowUp | Status::Rejected | Status::Deferred | Status::Failed)
    }
}

/// What a cell for checks says.
pub fn checks_words(checks: Option<&Checks>) -> String {
    match checks {
        None => "—".into(),
        Some(Checks::Green(note)) if note == "no checks" => "Pass (no checks)".into(),
        Some(Checks::Green(_)) => "Pass".into(),
        Some(Checks::Pending(_)) => "Pending".into(),
        Some(Checks::Failing(_)) => "Failing".into(),
        Some(Checks::Unread(_)) => "Unknown".into(),
    }
}

impl Row {
    /// `ending`: nothing in a dry run, where it would have its turn.
    pub fn of(tracked: &Tracked, tick: &Tick, ending: Option<&Ending>, may_merge: bool, iteration: u32) -> Row {
        let number = tracked.found.number;
        let landed = tick.landed.get(&number);
        let (status, note) = match ending {
            Some(ending) => status(ending, landed, may_merge),
            None => match tick.screens.get(&number) {
                Some(Screen::Markers(markers)) => (Status::WouldReject, Some(format!("{} lines", markers.len()))),
                Some(Screen::Pending(words)) => (Status::ChecksPending, Some(words.clone())),
                _ => (Status::WouldReview, None),
            },
        };
        Row {
            number,
            title: tracked.found.title.clone(),
            url: tracked.found.url.clone(),
            branch: tracked.found.branch.clone(),
            head: tracked.head.clone(),
            pair: tick.pair_of(number),
            spec: tracked.found.spec.clone(),
            checks: tick.checks.get(&number).cloned(),
            review: review(tracked),
            merge: merge(ending, landed, may_merge),
            status,
            note,
            failure: failure_of(tick, number).cloned(),
            iteration,
        }
    }

    /// The exit code that it asks for (design section 8).
    pub fn exit_code(&self) -> u8 {
        match (self.status, self.failure.as_ref().map(|failure| failure.class)) {
            (Status::Failed, Some(Class::Forge)) => 5,
            (Status::Failed, Some(Class::Budget)) | (Status::OutOfBudget | Status::NotBegun, _) => 4,
            (Status::Failed, Some(Class::Later)) | (Status::HeadMoved | Status::ChecksPending, _) => 75,
            (Status::Failed, Some(Class::Agent) | None) => 3,
            (Status::Failed, Some(Class::Withheld | Class::Push | Class::Checks | Class::Merge)) => 1,
            (Status::NeedsHumanFollowUp | Status::ChecksFailing | Status::Rejected | Status::Deferred, _) => 1,
            (
                Status::Complete
                | Status::PendingManualMerge
                | Status::Draft
                | Status::Over
                | Status::LeftOut
                | Status::WouldReview
                | Status::WouldReject,
                _,
            ) => 0,
        }
    }
}

/// What was said of the head as it is.
fn review(tracked: &Tracked) -> ReviewCell {
    let completed = tracked.completed_at_head();
    match completed.map(|completed| (completed.approved, completed.review.verdict)) {
        Some((true, _)) => ReviewCell::Approved,
        Some((false, Verdict::Blocked)) => ReviewCell::Blocked,
        Some((false, _)) => ReviewCell::ChangesRequested,
        None if tracked.rejected.as_ref().is_some_and(|(head, _)| *head == tracked.head) => ReviewCell::Rejected,
        None => ReviewCell::None,
    }
}

fn merge(ending: Option<&Ending>, landed: Option<&Landed>, may_merge: bool) -> MergeCell {
    match (landed, ending) {
        (Some(Landed::Merged(method)), _) => MergeCell::Merged(*method),
        (Some(Landed::Held(_) | Landed::Waits(_)), _) => MergeCell::Held,
        (Some(Landed::HeadMoved | Landed::NeedsPerson(_) | Landed::Failed(_)), _) => MergeCell::None,
        (None, Some(Ending::Approved { .. })) => {
            if may_merge {
                MergeCell::Held
            } else {
                MergeCell::PendingManual
            }
        }
        (None, _) => MergeCell::None,
    }
}

fn status(ending: &Ending, landed: Option<&Landed>, may_merge: bool) -> (Status, Option<String>) {
    let some = |words: &String| Some(words.clone());
    match (landed, ending) {
        (Some(Landed::Merged(_)), _) => (Status::Complete, None),
        (Some(Landed::Held(words) | Landed::NeedsPerson(words)), _) => (Status::NeedsHumanFollowUp, some(words)),
        (Some(Landed::Waits(words)), _) => (Status::ChecksPending, some(words)),
        (Some(Landed::HeadMoved), _) | (None, Ending::HeadMoved) => (Status::HeadMoved, None),
        (Some(Landed::Failed(failure)), _) | (None, Ending::Failed(failure)) => (Status::Failed, Some(failure.sentence())),
        (None, Ending::Approved { .. }) if may_merge => (Status::NotBegun, Some("the run ended before it was merged".into())),
        (None, Ending::Approved { .. }) => (Status::PendingManualMerge, None),
        (None, Ending::Rejected) => (Status::Rejected, None),
        (None, Ending::ChecksFailing(words)) => (Status::ChecksFailing, some(words)),
        (None, Ending::ChecksPending(words)) => (Status::ChecksPending, some(words)),
        (None, Ending::Draft) => (Status::Draft, None),
        (None, Ending::Over(state)) => (Status::Over, Some(over(*state).to_owned())),
        (None, Ending::Deferred { since }) => (Status::Deferred, Some(format!("no new commits since iteration {since}"))),
        (None, Ending::NeedsPerson(words)) => (Status::NeedsHumanFollowUp, some(words)),
        (None, Ending::OutOfMoney(words)) => (Status::OutOfBudget, some(words)),
        (None, Ending::NotBegun(words)) => (Status::NotBegun, some(words)),
        (None, Ending::LeftOut(words)) => (Status::LeftOut, some(words)),
    }
}

fn over(state: PullState) -> &'static str {
    match state {
        PullState::Merged => "it is merged",
        PullState::Closed => "it was closed",
        PullState::Open => "it is open",
    }
}
