//! One process's attempt to publish: look, ask what is next, do it, look again. It remembers what the forge has accepted, because lists
//! lag behind: what was posted once is never posted again, and what may have been posted is looked for twice, with a pause, before it
//! is sent a second time.

use super::claim::{Claim, ClaimRank, Clocks, LEASE, rank, removable};
use super::marker::{Mark, seal};
use super::memory::Memory;
use super::outgoing::Outgoing;
use super::reconcile::{Desired, Observed, Plan, PostId, Stop, View, Write, closing, plan};
use super::status::is_contradicted;
use super::sticky::claim_text;
use super::threads::OwnThread;
use crate::combine::verdict::Outcome;
use crate::ids::{FindingId, RunId};
use crate::procedure::Millis;
use std::collections::BTreeSet;

/// After so many looks something is wrong that looking does not mend.
const MAX_LOOKS: u32 = 60;
/// Looks for something that was accepted, before it is taken as hidden.
const MAX_LAGS: u32 = 3;
/// Looks for something that may have been accepted, before it is sent again.
const DOUBT_LOOKS: u32 = 2;
/// Times that a review is sent although it is not known what became of the last one.
const MAX_REVIEWS: u32 = 3;
const MAX_CLAIMS: u32 = 8;
/// Looks for the result of whoever came first: about half a minute.
const MAX_WAITS: u32 = 14;

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Carry these out in order and report each. A doubt ends the list. Then look again, unless they were the last.
    Write {
        writes: Vec<Write>,
        last: bool,
    },
    /// Look again after so long.
    Pause(Millis),
    End(Ending),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// All is there.
    Published,
    Stopped(Stop),
    /// Another run has posted the same review of the same head meanwhile: its result counts.
    Standing(Box<Memory>),
    /// Another run has posted a review meanwhile that this one does not build on.
    Overtaken {
        run: RunId,
    },
    /// Another run is posting, and did not come to an end while this one waited.
    Busy {
        run: RunId,
    },
    /// The forge does not show what it accepted.
    Hidden,
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written<'a> {
    /// Accepted. A comment that was created has an id; findings that the forge would not place are named.
    Done { id: Option<&'a str>, refused: &'a [FindingId] },
    /// It may have happened.
    Unsure,
    /// It did not happen.
    Failed,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Claimed {
    #[default]
    No,
    Sent {
        at: Millis,
        /// The id, once it is known.
        id: Option<String>,
        /// It was seen to be the first. It stays the first for as long as it lives, whatever a later list shows.
        is_held: bool,
    },
}

#[derive(Debug, Clone)]
pub struct Attempt {
    /// Random: by it this process knows its claims again.
    nonce: String,
    claim: Claimed,
    /// Another claim was earlier.
    has_lost: bool,
    /// Accepted by the forge.
    posted: BTreeSet<FindingId>,
    /// A review was sent, and its answer was lost.
    unsure_review: bool,
    /// What was removed, or could not be: it is not tried again.
    tidied: BTreeSet<PostId>,
    /// Empty reviews as the last look showed them.
    empty: BTreeSet<String>,
    looks: u32,
    lags: u32,
    doubts: u32,
    waits: u32,
    claims: u32,
    reviews: u32,
}

impl Attempt {
    pub fn new(nonce: impl Into<String>) -> Self {
        Attempt {
            nonce: nonce.into(),
            claim: Claimed::No,
            has_lost: false,
            posted: BTreeSet::new(),
            unsure_review: false,
            tidied: BTreeSet::new(),
            empty: BTreeSet::new(),
            looks: 0,
            lags: 0,
            doubts: 0,
            waits: 0,
            claims: 0,
            reviews: 0,
        }
    }

    /// A claim that is to be removed by whoever stops early. After a review was sent it stays: it shows to others that there may be
    /// one, even while no list shows it. A head that moved is another matter: whoever comes next has other things to post.
    pub fn open_claim(&self, ending: Option<&Ending>) -> Option<&str> {
        let is_over = matches!(ending, Some(Ending::Stopped(_) | Ending::Overtaken { .. } | Ending::Standing(_)));
        self.claim_id().filter(|_| is_over || (self.posted.is_empty() && !self.unsure_review))
    }

    /// Each claim has a nonce of its own: an old list may still show one that was withdrawn, which must not be taken for the new one.
    fn claim_nonce(&self) -> String {
        format!("{}.{}", self.nonce, self.claims)
    }

    fn is_mine(&self, claim: &Claim<'_>) -> bool {
        claim.nonce.rsplit_once('.').is_some_and(|(nonce, _)| nonce == self.nonce)
    }

    fn claim_id(&self) -> Option<&str> {
        match &self.claim {
            Claimed::Sent { id, .. } => id.as_deref(),
            Claimed::No => None,
        }
    }

    pub fn next(&mut self, desired: &Desired<'_>, observed: &Observed, now: Millis) -> Turn {
        self.looks += 1;
        if self.looks > MAX_LOOKS {
            return Turn::End(Ending::Hidden);
        }
        let view = match View::of(desired, observed) {
            Ok(view) => view,
            Err(stop) => return Turn::End(Ending::Stopped(stop)),
        };
        if let Some(ending) = overtaken(desired, observed, &view, &self.posted) {
            return self.give_back(&view).unwrap_or(Turn::End(ending));
        }
        let clocks = Clocks { last_event: &observed.pull.updated_at, now };
        let nonce = self.claim_nonce();
        let over = removable(&view.claims, &nonce, &desired.document.receipt.run, clocks);
        let shown = view.claims.iter().find(|claim| claim.nonce == nonce).map(|claim| claim.comment.id.clone());
        let claim = shown.or_else(|| self.claim_id().map(str::to_owned));
        let mut plan = plan(desired, observed, &view, &self.posted, claim.as_deref());
        plan.tidy.retain(|write| write.removes().is_none_or(|post| !self.tidied.contains(&post)));
        plan.empty_reviews.retain(|id| !self.tidied.contains(&PostId::Review(id.clone())));
        if plan.needs_claim()
            && let Some(turn) = self.claim_turn(desired, &view, &plan, now)
        {
            return turn;
        }
        if let Some(turn) = self.doubt_turn(desired, &view, &plan, &over) {
            return turn;
        }
        if let Some(review) = plan.review {
            if self.reviews == MAX_REVIEWS {
                return Turn::End(Ending::Hidden);
            }
            self.reviews += 1;
            let writes = plan.tidy.into_iter().chain([review]).collect();
            return Turn::Write { writes, last: false };
        }
        if let Some(turn) = self.tidy_turn(desired, &mut plan) {
            return turn;
        }
        let mut writes = std::mem::take(&mut plan.tidy);
        let over = over.into_iter().filter(|id| !self.has_removed(id)).collect();
        writes.extend(closing(&plan, &view, claim.as_deref(), over));
        if writes.is_empty() { Turn::End(Ending::Published) } else { Turn::Write { writes, last: true } }
    }

    /// Nothing while this process holds the claim.
    fn claim_turn(&mut self, desired: &Desired<'_>, view: &View<'_>, plan: &Plan, now: Millis) -> Option<Turn> {
        let run = &desired.document.receipt.run;
        let rank = rank(&view.claims, &self.claim_nonce(), run);
        let Claimed::Sent { at, id, is_held } = self.claim.clone() else {
            // One that was to be withdrawn, or whose answer was lost.
            if let Some(turn) = self.give_back(view) {
                return Some(turn);
            }
            let rival = view.claims.iter().find(|claim| claim.run != *run);
            return Some(match rival.filter(|_| self.has_lost) {
                Some(rival) if self.waits >= MAX_WAITS => Turn::End(Ending::Busy { run: rival.run.clone() }),
                Some(_) => {
                    self.waits += 1;
                    Turn::Pause((500 << self.waits.min(4)).min(3_000))
                }
                None => self.make_claim(desired, view, now),
            });
        };
        // Its own comment can be turned into the summary at any time; for the rest others may soon take the claim for a dead one.
        let is_late = now.saturating_sub(at) > LEASE / 2 && (plan.review.is_some() || !plan.answers.is_empty());
        match rank {
            ClaimRank::First { id } if is_late => {
                self.claim = Claimed::No;
                Some(withdraw(id))
            }
            _ if is_held && !is_late => None,
            ClaimRank::Absent if self.lags < MAX_LAGS => {
                self.lags += 1;
                Some(Turn::Pause(250 << self.lags))
            }
            // It was never made.
            ClaimRank::Absent if id.is_none() => {
                (self.claim, self.lags) = (Claimed::No, 0);
                Some(self.make_claim(desired, view, now))
            }
            ClaimRank::Absent => Some(Turn::End(Ending::Hidden)),
            ClaimRank::Behind { id, .. } => {
                (self.claim, self.has_lost) = (Claimed::No, true);
                Some(withdraw(id))
            }
            ClaimRank::First { id } => {
                self.claim = Claimed::Sent { at, id: Some(id), is_held: true };
                None
            }
        }
    }

    fn has_removed(&self, comment: &str) -> bool {
        self.tidied.contains(&PostId::Comment(comment.to_owned()))
    }

    fn make_claim(&mut self, desired: &Desired<'_>, view: &View<'_>, now: Millis) -> Turn {
        if self.claims == MAX_CLAIMS {
            return Turn::End(Ending::Hidden);
        }
        self.claims += 1;
        self.claim = Claimed::Sent { at: now, id: None, is_held: false };
        let document = desired.document;
        let (head, run) = (document.head.clone(), document.receipt.run.clone());
        let mark = Mark::Claim { head, run, nonce: self.claim_nonce() };
        let text = match view.sticky {
            Some(_) => format!("> ⏳ Tribunal is posting what is new in `{}`.", document.head.short()),
            None => claim_text(document, desired.capabilities.body_limit),
        };
        let body = Outgoing::sealed(&text, seal(&mark, desired.case_id, desired.key));
        Turn::Write { writes: vec![Write::Claim { body }], last: false }
    }

    /// A claim of this process that stands there and is not wanted.
    fn give_back(&mut self, view: &View<'_>) -> Option<Turn> {
        let mine = |claim: &&Claim<'_>| self.is_mine(claim) && !self.has_removed(&claim.comment.id);
        let id = view.claims.iter().find(mine)?.comment.id.clone();
        self.claim = Claimed::No;
        Some(withdraw(id))
    }

    /// Nothing is posted on the word of a list that contradicts what is known.
    fn doubt_turn(&mut self, desired: &Desired<'_>, view: &View<'_>, plan: &Plan, over: &[String]) -> Option<Turn> {
        // Whoever left a claim behind may have posted its review too.
        let is_left_behind = |claim: &Claim<'_>| !self.is_mine(claim) && over.contains(&claim.comment.id);
        let was_begun = view.claims.iter().any(is_left_behind) || view.is_unverified();
        let in_doubt = self.unsure_review || was_begun;
        if plan.review.is_some() && in_doubt && self.doubts < DOUBT_LOOKS {
            self.doubts += 1;
            return Some(Turn::Pause(400 << self.doubts));
        }
        let is_shown = view.shows_all(desired.document, &self.posted) && view.shows_some(desired.document, &view.posted);
        if !desired.is_restated && self.lags < MAX_LAGS && !is_shown {
            self.lags += 1;
            return Some(Turn::Pause(200 << self.lags));
        }
        None
    }

    /// Empty reviews go when two looks agree, and after the comments that were in them.
    fn tidy_turn(&mut self, desired: &Desired<'_>, plan: &mut Plan) -> Option<Turn> {
        let has_doubles = plan.tidy.iter().any(|write| matches!(write, Write::DeleteInline { .. }));
        if has_doubles && desired.capabilities.can_delete_reviews() {
            return Some(Turn::Write { writes: std::mem::take(&mut plan.tidy), last: false });
        }
        let agreed: BTreeSet<String> = plan.empty_reviews.intersection(&self.empty).cloned().collect();
        let is_news = plan.empty_reviews != agreed;
        self.empty.clone_from(&plan.empty_reviews);
        if is_news {
            return Some(Turn::Pause(300));
        }
        plan.tidy.extend(agreed.into_iter().map(|review| Write::DeleteReview { review }));
        None
    }

    /// Takes in what became of a write.
    pub fn wrote(&mut self, write: &Write, written: &Written<'_>) {
        self.tidied.extend(write.removes());
        match (write, written) {
            (Write::Claim { .. }, Written::Done { id, .. }) => {
                if let Claimed::Sent { id: kept, .. } = &mut self.claim {
                    *kept = id.map(str::to_owned);
                }
                self.lags = 0;
            }
            (Write::Claim { .. }, Written::Failed) => self.claim = Claimed::No,
            // It may stand there still; the next look tells.
            (Write::Withdraw { id }, Written::Unsure) => drop(self.tidied.remove(&PostId::Comment(id.clone()))),
            (Write::Review { findings, .. }, Written::Done { refused, .. }) => {
                self.posted.extend(findings.iter().filter(|id| !refused.contains(id)));
                (self.unsure_review, self.lags) = (false, 0);
            }
            (Write::Review { .. }, Written::Unsure) => (self.unsure_review, self.doubts) = (true, 0),
            // Refused as a whole: what it was about is no longer in doubt.
            (Write::Review { .. }, Written::Failed) => self.reviews -= 1,
            (Write::EditSticky { id, .. } | Write::Withdraw { id }, Written::Done { .. })
                if self.claim_id() == Some(id.as_str()) =>
            {
                self.claim = Claimed::No;
            }
            _ => {}
        }
    }
}

fn withdraw(id: String) -> Turn {
    Turn::Write { writes: vec![Write::Withdraw { id }], last: false }
}

/// Does the pull request show a review that this one knows nothing of? Posting over it would drop what that one found. One that this
/// review comes after, or that our own threads or the status are newer than, was put back by somebody: it is nobody's result.
fn overtaken(desired: &Desired<'_>, observed: &Observed, view: &View<'_>, posted: &BTreeSet<FindingId>) -> Option<Ending> {
    let memory = view.memory.as_ref()?;
    let is_earlier = desired.document.history.iter().any(|past| past.run == memory.document.receipt.run);
    let others: Vec<OwnThread<'_>> = view.threads.kept.iter().filter(|thread| !posted.contains(&thread.id)).cloned().collect();
    if is_earlier || memory.is_older_than(&others) || is_contradicted(&memory.document, &observed.checks) {
        return None;
    }
    let (theirs, ours) = (&memory.document, desired.document);
    let run = &theirs.receipt.run;
    if *run == ours.receipt.run || Some(run) == desired.built_on {
        return None;
    }
    let is_whole = matches!(theirs.outcome, Outcome::Clean | Outcome::Findings);
    let is_same = theirs.head == ours.head
        && theirs.base == ours.base
        && theirs.receipt.base_branch == ours.receipt.base_branch
        && theirs.receipt.fingerprint == ours.receipt.fingerprint;
    Some(match is_same && is_whole {
        true => Ending::Standing(Box::new(memory.clone())),
        false => Ending::Overtaken { run: run.clone() },
    })
}

#[cfg(test)]
mod tests;
