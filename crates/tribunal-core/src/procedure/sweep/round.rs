//! The one round of a pull request in a tick (SL-1): review, response, re-evaluation, and never a second time.
//!
//! ```text
//! Looking ─► Rejecting                                                           (conflict markers)
//!         └► Reviewing ─► Saying ─► Over: approved
//!                               └► Responding ─► Rechecking ─► Verifying ─► Approving ─► Over: approved
//!                                             └───────────────────────────► Telling ─► Over: a person
//! ```
//! A step takes the round and gives another one back: there is no way from any place to an earlier one, and only a tick makes one, for
//! each pull request once.

use super::effect::{Concluded, Remaining, Responded, Reviewed, Seen, Stage, Trouble};
use super::failure::{At, Class, Failure};
use super::screen::{Screen, screen};
use crate::combine::verdict::Verdict;
use crate::ids::{AgentName, RunId, Sha};
use crate::merge::facts::Marker;
use crate::policy::config::RULES_AGENT;
use crate::pull::facts::PullState;
use crate::pull::pushable::NotPushable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Round {
    /// Its turn has not come.
    Waiting,
    Looking,
    Rejecting {
        head: Sha,
    },
    Reviewing {
        head: Sha,
        /// Why nothing may be pushed to it, so that nobody responds.
        #[serde(default = "NotPushable::unasked")]
        not_pushable: Option<NotPushable>,
    },
    Saying {
        review: Box<Reviewed>,
        #[serde(default = "NotPushable::unasked")]
        not_pushable: Option<NotPushable>,
    },
    Responding {
        review: Box<Reviewed>,
    },
    Rechecking {
        head: Sha,
        left: Vec<Remaining>,
    },
    Verifying {
        head: Sha,
        left: Vec<Remaining>,
    },
    Approving {
        review: Box<Reviewed>,
    },
    Telling {
        why: String,
        /// The review that is the last word about its head, where there was one.
        review: Option<Box<Reviewed>>,
    },
    Over(Ending),
}

/// How a pull request ended in a tick, before any merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Approved {
        head: Sha,
        review: RunId,
    },
    /// SL-36.
    Rejected,
    ChecksFailing(String),
    ChecksPending(String),
    Draft,
    Over(PullState),
    /// Nothing new since a review that was completed in an earlier tick (SL-146).
    Deferred {
        since: u32,
    },
    NeedsPerson(String),
    /// Somebody pushed; the next look is at another change.
    HeadMoved,
    Failed(Failure),
    OutOfMoney(String),
    /// A ceiling or the end of the run came before its turn.
    NotBegun(String),
    /// A person said so.
    LeftOut(String),
}

/// What a round asks for next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wish {
    Look,
    Reject {
        head: Sha,
        markers: Vec<Marker>,
    },
    Review {
        head: Sha,
        stage: Stage,
    },
    Conclude {
        head: Sha,
        review: RunId,
        verdict: Verdict,
    },
    /// Not by those who reviewed.
    Respond {
        head: Sha,
        review: RunId,
        without: BTreeSet<AgentName>,
    },
    Remains {
        head: Sha,
        items: Vec<Remaining>,
    },
}

/// What a round is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum News {
    Looked(Result<Box<Seen>, Trouble>),
    Rejected(Result<(), Trouble>),
    Reviewed(Result<Box<Reviewed>, Trouble>),
    Concluded(Result<Concluded, Trouble>),
    Responded(Result<Box<Responded>, Trouble>),
    Remained(Result<(), Trouble>),
    /// There is no money for what it wished.
    NoMoney(String),
}

/// What lasts beyond the round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Learnt {
    /// A review of its head was completed: made, and said. Approved is what it is only when nothing is left for anybody.
    Completed {
        review: Box<Reviewed>,
        approved: bool,
    },
    Responded(Box<Responded>),
    RejectedAt(Sha),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub round: Round,
    pub wish: Option<Wish>,
    pub learnt: Option<Learnt>,
}

impl Round {
    pub fn ending(&self) -> Option<&Ending> {
        match self {
            Round::Over(ending) => Some(ending),
            _ => None,
        }
    }

    pub fn begin(self) -> Turn {
        match self {
            Round::Waiting => go(Round::Looking, Wish::Look),
            other => Turn { round: other, wish: None, learnt: None },
        }
    }

    /// `fixers`: agents that have put fixes into this change before. Nothing is made of news that does not belong to where the round is.
    pub fn next(self, news: News, fixers: &BTreeSet<AgentName>) -> Turn {
        match (self, news) {
            (Round::Looking, News::Looked(Ok(seen))) => looked(&seen),
            (Round::Looking, News::Looked(Err(trouble))) => troubled(At::Look, &trouble),
            (Round::Rejecting { head }, News::Rejected(Ok(()))) => {
                Turn { learnt: Some(Learnt::RejectedAt(head)), ..over(Ending::Rejected) }
            }
            (Round::Rejecting { .. }, News::Rejected(Err(trouble))) => troubled(At::Reject, &trouble),
            (Round::Reviewing { head, not_pushable }, News::Reviewed(Ok(review))) => match disqualified(&review, &head, fixers) {
                Some(turn) => turn,
                None => say(review, not_pushable),
            },
            (Round::Reviewing { .. }, News::Reviewed(Err(trouble))) => troubled(At::Review, &trouble),
            (Round::Reviewing { .. }, News::NoMoney(words)) => over(Ending::OutOfMoney(words)),
            (Round::Saying { review, not_pushable }, News::Concluded(Ok(_))) => said(review, not_pushable),
            (Round::Saying { .. }, News::Concluded(Err(trouble))) => troubled(At::Conclude, &trouble),
            (Round::Responding { review }, News::Responded(Ok(response))) => responded(&review, response),
            (Round::Responding { .. }, News::Responded(Err(trouble))) => troubled(At::Respond, &trouble),
            (Round::Responding { review }, News::NoMoney(words)) => {
                let why = format!("nobody could respond: {words}");
                tell(review.head.clone(), review.blocking.clone(), why, None)
            }
            (Round::Rechecking { head, left }, News::Looked(Ok(seen))) => rechecked(head, left, &seen),
            (Round::Rechecking { .. }, News::Looked(Err(trouble))) => troubled(At::Look, &trouble),
            (Round::Verifying { head, left }, News::Reviewed(Ok(review))) => match disqualified(&review, &head, fixers) {
                Some(turn) => turn,
                None => verified(review, left),
            },
            (Round::Verifying { .. }, News::Reviewed(Err(trouble))) => troubled(At::Verify, &trouble),
            (Round::Verifying { head, left }, News::NoMoney(words)) => {
                let why = format!("nobody could look at the response: {words}");
                tell(head, left, why, None)
            }
            (Round::Approving { review }, News::Concluded(Ok(_))) => approved(review),
            (Round::Approving { .. }, News::Concluded(Err(trouble))) => troubled(At::Conclude, &trouble),
            (Round::Telling { why, review }, News::Remained(Ok(()))) => {
                let learnt = review.map(|review| Learnt::Completed { review, approved: false });
                Turn { learnt, ..over(Ending::NeedsPerson(why)) }
            }
            (Round::Telling { .. }, News::Remained(Err(trouble))) => troubled(At::Summary, &trouble),
            (round, _) => Turn { round, wish: None, learnt: None },
        }
    }
}

fn go(round: Round, wish: Wish) -> Turn {
    Turn { round, wish: Some(wish), learnt: None }
}

fn over(ending: Ending) -> Turn {
    Turn { round: Round::Over(ending), wish: None, learnt: None }
}

fn troubled(at: At, trouble: &Trouble) -> Turn {
    over(match trouble {
        Trouble::HeadMoved => Ending::HeadMoved,
        Trouble::OverBudget(words) => Ending::OutOfMoney(words.clone()),
        Trouble::Forge(_)
        | Trouble::Incomplete(_)
        | Trouble::Unavailable(_)
        | Trouble::Withheld(_)
        | Trouble::NotPushed(_)
        | Trouble::Index(_)
        | Trouble::Setup(_)
        | Trouble::Displaced(_) => Ending::Failed(Failure::of(at, trouble)),
    })
}

fn looked(seen: &Seen) -> Turn {
    let head = seen.facts.head.clone();
    match screen(seen) {
        Screen::Markers(markers) => go(Round::Rejecting { head: head.clone() }, Wish::Reject { head, markers }),
        Screen::Ready => {
            let not_pushable = seen.facts.not_pushable();
            go(Round::Reviewing { head: head.clone(), not_pushable }, Wish::Review { head, stage: Stage::First })
        }
        other => over(unfit(other)),
    }
}

/// How a pull request ends that cannot be reviewed now. Markers are somebody's to answer where the tick says so.
pub fn unfit(screen: Screen) -> Ending {
    match screen {
        Screen::Over(state) => Ending::Over(state),
        Screen::Draft => Ending::Draft,
        Screen::Unread(words) => Ending::Failed(Failure::new(At::Look, Class::Forge, words)),
        Screen::Failing(words) => Ending::ChecksFailing(words),
        Screen::Pending(words) => Ending::ChecksPending(words),
        Screen::Markers(_) => Ending::Rejected,
        Screen::Ready => Ending::NotBegun("its turn did not come".into()),
    }
}

/// A review that is not about this head, or by somebody who wrote the change, decides nothing (CF-13, CF-16). Rules have no fix to
/// defend (CF-27).
pub(super) fn disqualified(review: &Reviewed, head: &Sha, fixers: &BTreeSet<AgentName>) -> Option<Turn> {
    if review.head != *head {
        return Some(over(Ending::HeadMoved));
    }
    let own = review.agents.iter().find(|agent| agent.as_str() != RULES_AGENT && fixers.contains(agent))?;
    let words = format!("`{own}` has written a part of this change, and cannot review it");
    Some(over(Ending::Failed(Failure::new(At::Review, Class::Agent, words))))
}

pub fn approves(review: &Reviewed) -> bool {
    review.verdict == Verdict::Lgtm && review.blocking.is_empty()
}

fn say(review: Box<Reviewed>, not_pushable: Option<NotPushable>) -> Turn {
    // A verdict that its own findings do not bear out is not said.
    let verdict = if review.verdict == Verdict::Lgtm && !review.blocking.is_empty() { Verdict::Major } else { review.verdict };
    let wish = Wish::Conclude { head: review.head.clone(), review: review.run.clone(), verdict };
    go(Round::Saying { review, not_pushable }, wish)
}

/// SL-54, SL-57: a clean one needs no response; what the responder cannot push to is a person's.
fn said(review: Box<Reviewed>, not_pushable: Option<NotPushable>) -> Turn {
    if approves(&review) {
        return approved(review);
    }
    let person = |review: Box<Reviewed>, why: &str| Turn {
        learnt: Some(Learnt::Completed { review, approved: false }),
        ..over(Ending::NeedsPerson(why.to_owned()))
    };
    match (review.verdict, not_pushable) {
        (Verdict::Blocked, _) => person(review, "something outside of the pull request is missing"),
        (Verdict::Lgtm | Verdict::Minor | Verdict::Major, Some(refusal)) => {
            person(review, &format!("changes are requested, and {refusal}"))
        }
        (Verdict::Lgtm | Verdict::Minor | Verdict::Major, None) => {
            let without = review.agents.iter().filter(|agent| agent.as_str() != RULES_AGENT).cloned().collect();
            let wish = Wish::Respond { head: review.head.clone(), review: review.run.clone(), without };
            let learnt = Learnt::Completed { review: review.clone(), approved: false };
            Turn { learnt: Some(learnt), ..go(Round::Responding { review }, wish) }
        }
    }
}

fn approved(review: Box<Reviewed>) -> Turn {
    let ending = Ending::Approved { head: review.head.clone(), review: review.run.clone() };
    Turn { learnt: Some(Learnt::Completed { review, approved: true }), ..over(ending) }
}

fn responded(review: &Reviewed, response: Box<Responded>) -> Turn {
    let left = response.left.clone();
    let turn = match response.head.clone() {
        Some(head) => go(Round::Rechecking { head, left }, Wish::Look),
        // The same head has the same findings.
        None => {
            let items = review.blocking.iter().cloned().chain(left).collect();
            tell(review.head.clone(), items, "the responder could resolve none of what was asked for".into(), None)
        }
    };
    Turn { learnt: Some(Learnt::Responded(response)), ..turn }
}

/// SL-64, SL-65.
fn rechecked(head: Sha, left: Vec<Remaining>, seen: &Seen) -> Turn {
    if seen.facts.head != head {
        return over(Ending::HeadMoved);
    }
    match screen(seen) {
        Screen::Ready => go(Round::Verifying { head: head.clone(), left }, Wish::Review { head, stage: Stage::Second }),
        Screen::Failing(words) => over(Ending::Failed(Failure::new(At::Checks, Class::Checks, words))),
        Screen::Markers(markers) => {
            let words = format!("conflict markers stand in {} places after the response", markers.len());
            over(Ending::Failed(Failure::new(At::Checks, Class::Checks, words)))
        }
        other => over(unfit(other)),
    }
}

/// SL-66, SL-67, SL-102.
fn verified(review: Box<Reviewed>, left: Vec<Remaining>) -> Turn {
    if approves(&review) && left.is_empty() {
        let wish = Wish::Conclude { head: review.head.clone(), review: review.run.clone(), verdict: Verdict::Lgtm };
        return go(Round::Approving { review }, wish);
    }
    let items = review.blocking.iter().cloned().chain(left).collect();
    tell(review.head.clone(), items, "CI green, code changes requested".into(), Some(review))
}

fn tell(head: Sha, items: Vec<Remaining>, why: String, review: Option<Box<Reviewed>>) -> Turn {
    go(Round::Telling { why, review }, Wish::Remains { head, items })
}
