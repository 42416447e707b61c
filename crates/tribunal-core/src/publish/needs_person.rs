//! What a sweep left to a person at a head keeps the status of that head red. A review of the same head that passes does not change
//! that: anybody can cause one, with a receipt or by opening the pull request again.
//!
//! It is lifted by a new head, or by a later verdict `LGTM` of a sweep at the same head, for the same base, once no thread of somebody else is open.

use super::marker::{Mark, MarkerKey, read};
use super::status::CONTEXT;
use super::verdict::{Sitting, standing};
use crate::calendar::millis_of;
use crate::combine::verdict::Verdict;
use crate::merge::reviewed_place::ReviewedPlace;
use crate::pull::chronological::Chronological;
use crate::pull::facts::{Account, Check, CheckState};
use crate::pull::talk::{Comment, NewStatus, Review, ReviewState, Thread};
use crate::report::document::Document;

const NEEDS_A_PERSON: &str = "Needs a person: ";

/// What a pull request shows, as far as it decides.
pub struct Shown<'a> {
    pub comments: &'a [Comment],
    pub reviews: &'a [Review],
    pub threads: &'a [Thread],
    pub checks: &'a [Check],
}

/// Whose marks count.
pub struct Signer<'a> {
    pub me: &'a Account,
    pub case_id: &'a str,
    pub key: &'a MarkerKey,
}

/// The status of a head that was reviewed and left to a person. It is not green, whatever a single review of it said.
pub fn needs_person(items: u32) -> NewStatus {
    let what = match items {
        0 => "see the comment on what remains".to_owned(),
        1 => "1 item remains".to_owned(),
        _ => format!("{items} items remain"),
    };
    NewStatus {
        context: CONTEXT.into(),
        state: CheckState::Failure,
        description: format!("{NEEDS_A_PERSON}{what}").into(),
        url: None,
    }
}

pub fn says_needs_person(check: &Check) -> bool {
    check.name == CONTEXT && check.state == CheckState::Failure && check.description.starts_with(NEEDS_A_PERSON)
}

/// The red status that this head keeps, if something at it was left to a person and not lifted since.
pub fn kept_red(document: &Document, shown: &Shown<'_>, signer: &Signer<'_>) -> Option<NewStatus> {
    let head = &document.head;
    let told: Vec<(&Comment, u32)> = shown
        .comments
        .iter()
        .filter(|comment| comment.author.is(signer.me))
        .filter_map(|comment| match read(&comment.body, signer.case_id, signer.key)?.mark {
            // Under a broken seal too: somebody edited our comment, and that lifts nothing.
            Mark::Remains { head: at, items, .. } if at == *head => Some((comment, items)),
            _ => None,
        })
        .collect();
    // Somebody may have deleted our comment; the status still says it.
    let standing_status = shown.checks.iter().find(|check| says_needs_person(check));
    if told.is_empty() && standing_status.is_none() {
        return None;
    }
    let is_after_all = |at: &str| {
        let at = millis_of(at);
        told.iter().all(|(comment, _)| matches!((at, millis_of(&comment.created_at)), (Some(at), Some(told)) if at >= told))
    };
    let is_open = |thread: &Thread| !thread.resolved && thread.first().is_some_and(|first| !first.author.is(signer.me));
    let is_lifted = !shown.threads.iter().any(is_open) && has_later_approval(document, shown, signer, is_after_all);
    let items = told.iter().map(|(_, items)| *items).max();
    (!is_lifted).then(|| match (items, standing_status) {
        (Some(items), _) => needs_person(items),
        (None, Some(check)) => NewStatus { description: check.description.as_str().into(), ..needs_person(0) },
        (None, None) => needs_person(0),
    })
}

fn has_later_approval(document: &Document, shown: &Shown<'_>, signer: &Signer<'_>, is_after_all: impl Fn(&str) -> bool) -> bool {
    let place = ReviewedPlace::new(&document.head, document.receipt.base_branch.as_ref());
    let said = standing(&Chronological::of(shown.reviews), signer.me, signer.case_id, signer.key);
    said.iter().any(|verdict| {
        let review = shown.reviews.iter().find(|review| review.id == verdict.review);
        verdict.place().is_same(place)
            && verdict.verdict == Some(Verdict::Lgtm)
            && matches!(verdict.sitting, Sitting::Sweep { .. })
            && verdict.state != ReviewState::Dismissed
            && review.is_some_and(|review| is_after_all(&review.submitted_at))
    })
}

#[cfg(test)]
mod tests;
