//! Posting a verdict is reconciliation too: is it said, may it be said, and then one review. Asked again after every doubt, it finds
//! what stands and says nothing twice.

use super::block::{Block, words};
use super::{Sitting, Standing, event, standing};
use crate::ids::{RunId, Sha};
use crate::merge::words::named;
use crate::procedure::order::Hindrance;
use crate::publish::drafts::Drafts;
use crate::publish::marker::{Mark, MarkerKey, seal};
use crate::publish::outgoing::Outgoing;
use crate::publish::reconcile::Stop;
use crate::pull::capability::{Capabilities, Capability};
use crate::pull::chronological::Chronological;
use crate::pull::facts::{Account, Pull, PullState};
use crate::pull::fault::ForgeFault;
use crate::pull::talk::{NewReview, Review, ReviewEvent, ReviewState};
use crate::report::document::Document;
use std::collections::BTreeMap;

/// A forge may add its own words to a body.
const ROOM: usize = 1_000;

/// What should be said, and by whom.
pub struct Desired<'a> {
    pub document: &'a Document,
    pub sitting: &'a Sitting,
    pub run: &'a RunId,
    pub closing: &'a [String],
    pub case_id: &'a str,
    pub me: &'a Account,
    pub capabilities: &'a Capabilities,
    pub key: &'a MarkerKey,
    /// A stronger event was refused.
    pub only_comment: bool,
}

/// What stands there now.
#[derive(Debug, Clone)]
pub struct Observed {
    pub pull: Pull,
    pub reviews: Vec<Review>,
    /// What waits in reviews of ours that were never submitted, by review.
    pub drafted: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// On this occasion it has been said, and that counts whatever we would say now.
    Stands(Standing),
    Post {
        /// Ours, half made by a request that was cut off (TS-102).
        remove: Vec<String>,
        review: NewReview,
    },
}

/// Why nothing may be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refrain {
    /// The review is half a one and found nothing: it has no verdict (design rule 1).
    NoVerdict,
    Stop(Stop),
    /// It is to be merged into another branch than the one that it was reviewed for.
    BaseChanged {
        to: String,
    },
}

impl From<Refrain> for Hindrance {
    fn from(refrain: Refrain) -> Self {
        match refrain {
            Refrain::NoVerdict => Hindrance::Agent { reason: "the review is incomplete and has no verdict".into() },
            Refrain::BaseChanged { to } => {
                Hindrance::InTheWay { reason: format!("its base was changed to {} meanwhile", named(&to)) }
            }
            Refrain::Stop(Stop::HeadMoved { to }) => Hindrance::HeadMoved { to: Some(to) },
            Refrain::Stop(Stop::Closed) => Hindrance::NotOpen { state: PullState::Closed },
            Refrain::Stop(Stop::ForeignDraft) => {
                Hindrance::InTheWay { reason: "somebody is writing a review by hand under the same account".into() }
            }
        }
    }
}

/// Does the list of reviews lack what was posted along with the review itself?
pub fn contradicts(desired: &Desired<'_>, observed: &Observed) -> bool {
    let has_comments = desired.document.findings.iter().any(|finding| finding.inline && finding.dismissed.is_none());
    has_comments && !observed.reviews.iter().any(|review| review.author.is(desired.me))
}

pub fn next(desired: &Desired<'_>, observed: &Observed) -> Result<Next, Refrain> {
    let said = standing(&Chronological::of(&observed.reviews), desired.me, desired.case_id, desired.key);
    // The oldest: where two of us were at it at once, it is the one that everybody goes by.
    if let Some(said) = said.into_iter().find(|said| &said.sitting == desired.sitting) {
        return Ok(Next::Stands(said));
    }
    let verdict = desired.document.verdict.ok_or(Refrain::NoVerdict)?;
    let (pull, head) = (&observed.pull, &desired.document.head);
    if pull.state != PullState::Open {
        return Err(Refrain::Stop(Stop::Closed));
    }
    if &pull.head.sha != head {
        return Err(Refrain::Stop(Stop::HeadMoved { to: pull.head.sha.clone() }));
    }
    let reviewed_for = desired.document.receipt.base_branch.as_ref();
    if reviewed_for.is_some_and(|branch| *branch != pull.base.branch) {
        return Err(Refrain::BaseChanged { to: pull.base.branch.clone() });
    }
    let drafts = Drafts { reviews: &observed.reviews, drafted: &observed.drafted };
    let remove = drafts.ours(desired.me, desired.case_id, desired.key).map_err(Refrain::Stop)?;
    let base_branch = reviewed_for.cloned();
    let mark =
        Mark::Verdict { sitting: desired.sitting.clone(), run: desired.run.clone(), verdict, head: head.clone(), base_branch };
    let sealed = seal(&mark, desired.case_id, desired.key);
    let room = desired.capabilities.body_limit.saturating_sub(sealed.len() + ROOM);
    let block = Block {
        document: desired.document,
        verdict,
        sitting: desired.sitting,
        branch: &pull.head.branch,
        closing: desired.closing,
    };
    let can_approve = desired.capabilities.can(Capability::Approve) && !desired.only_comment;
    let review = NewReview {
        commit: head.clone(),
        event: event(verdict, pull.author.is(desired.me), can_approve),
        body: Outgoing::marked(&[], &format!("{}\n", words(&block, room)), &[sealed]),
        comments: Vec::new(),
    };
    Ok(Next::Post { remove, review })
}

/// The earlier verdict that says the same of the same head as `ours`, which was just posted: two machines were at it at once. The later
/// one is taken back by whoever posted it, where the forge lets reviews be removed.
pub fn earlier_double(desired: &Desired<'_>, observed: &Observed, ours: &str) -> Option<Standing> {
    let said = standing(&Chronological::of(&observed.reviews), desired.me, desired.case_id, desired.key);
    let place = said.iter().position(|said| said.review == ours)?;
    let is_same_occasion = |earlier: &Standing| match (&earlier.sitting, desired.sitting) {
        (Sitting::Sweep { .. }, Sitting::Sweep { .. }) => true,
        (earlier, sitting) => earlier == sitting,
    };
    let is_double = |earlier: &Standing| {
        is_same_occasion(earlier)
            && earlier.head == desired.document.head
            && earlier.base_branch == desired.document.receipt.base_branch
            && earlier.verdict == desired.document.verdict
            && earlier.state != ReviewState::Dismissed
    };
    said.into_iter().take(place).find(is_double)
}

/// The verdict that was just taken by the forge, before it shows it.
pub fn taken(desired: &Desired<'_>, head: &Sha, event: ReviewEvent, review: String, url: String) -> Standing {
    Standing {
        sitting: desired.sitting.clone(),
        run: desired.run.clone(),
        verdict: desired.document.verdict,
        head: head.clone(),
        base_branch: desired.document.receipt.base_branch.clone(),
        state: match event {
            ReviewEvent::Comment => ReviewState::Commented,
            ReviewEvent::Approve => ReviewState::Approved,
            ReviewEvent::RequestChanges => ReviewState::ChangesRequested,
        },
        review,
        url,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It may be said, or something has changed: look before anything else is sent.
    LookAgain,
    /// The event was refused, not the words (CF-2).
    OnlyComment,
    Stop,
}

/// What follows when the forge does not take it.
pub fn after_fault(event: ReviewEvent, fault: &ForgeFault) -> Then {
    match fault {
        fault if fault.is_uncertain() => Then::LookAgain,
        // Another head, or a draft that appeared: the next look says which.
        ForgeFault::Conflict { .. } => Then::LookAgain,
        ForgeFault::Refused { .. } | ForgeFault::Forbidden { .. } | ForgeFault::Unsupported { .. }
            if event != ReviewEvent::Comment =>
        {
            Then::OnlyComment
        }
        _ => Then::Stop,
    }
}
