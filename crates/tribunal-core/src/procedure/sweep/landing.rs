//! One approved pull request on its way into its base: brought up to date where it must be, reviewed again when that changed its head,
//! looked at once more, and merged (SL-68, SL-79).
//!
//! ```text
//! Updating ─► Rechecking ─► Reviewing ─► Saying ─┐
//!     ▲                                          ▼
//!     └──────────────────────────────────── Looking ⇄ Asking
//!                                                ├► Merging ─► Over
//!                                                └► Holding ─► Over
//! ```

use super::effect::{Concluded, Merged, Reviewed, Seen, Stage, Trouble, Updated};
use super::failure::{At, Class, Failure};
use super::merging::{Known, Warrant};
use super::round::{Ending, Learnt, Wish, approves, disqualified};
use super::screen::{Screen, screen};
use crate::combine::verdict::Verdict;
use crate::gate::GateName;
use crate::ids::{AgentName, RunId, Sha};
use crate::merge::facts::Consent;
use crate::merge::hold::{Hold, Source, unrecorded};
use crate::merge::policy::Confirm;
use crate::pull::facts::MergeMethod;
use crate::pull::told::Told;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A base that never rests is not ours to catch up with.
const MOST_UPDATES: u32 = 2;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landing {
    pub number: u64,
    /// The head that is approved, and the review that says so.
    pub head: Sha,
    pub review: RunId,
    pub updates: u32,
    pub consent: Option<Consent>,
    /// The branch that it is to be merged into, as the last look saw it: what a person is asked about.
    #[serde(default)]
    pub base_branch: Option<String>,
    pub stage: LandingStage,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LandingStage {
    Updating,
    Rechecking {
        head: Sha,
    },
    Reviewing {
        head: Sha,
    },
    Saying {
        review: Box<Reviewed>,
    },
    Looking,
    Asking,
    Merging {
        method: MergeMethod,
    },
    /// What people said holds it back, and that is put on record before anybody can take it back.
    Holding {
        landed: Box<Landed>,
    },
    Over(Landed),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landed {
    Merged(MergeMethod),
    /// Approved, and nothing more is done about it now; why.
    Held(String),
    /// Only time is needed; what for.
    Waits(String),
    HeadMoved,
    /// What a later review of it asks for.
    NeedsPerson(String),
    Failed(Failure),
}

/// What it asks for next; a review and its word are a round's wishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Look,
    Update { head: Sha },
    Round(Wish),
    Ask { gate: GateName, head: Sha },
    Merge(Box<Warrant>),
    Hold { head: Sha, holds: Vec<Hold> },
    Over,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LandingNews {
    Looked(Result<Box<Seen>, Trouble>),
    Updated(Result<Updated, Trouble>),
    Reviewed(Result<Box<Reviewed>, Trouble>),
    Concluded(Result<Concluded, Trouble>),
    /// Somebody said that it may be merged, or did not.
    Answered(Result<String, String>),
    Merged(Result<Merged, Trouble>),
    Held(Result<(), Trouble>),
    NoMoney(String),
}

/// What a landing has to know of its run.
pub struct Around<'a> {
    pub known: &'a Known,
    /// The responder has answered people, and nobody has looked again since (SL-144).
    pub after_feedback: bool,
}

impl Landing {
    /// `unsettled`: something was merged that shares its files, or that it stands on.
    pub fn begin(number: u64, head: Sha, review: RunId, unsettled: bool) -> (Landing, Step) {
        let stage = if unsettled { LandingStage::Updating } else { LandingStage::Looking };
        let step = if unsettled { Step::Update { head: head.clone() } } else { Step::Look };
        let updates = u32::from(unsettled);
        (Landing { number, head, review, updates, consent: None, base_branch: None, stage }, step)
    }

    pub fn landed(&self) -> Option<&Landed> {
        match &self.stage {
            LandingStage::Over(landed) => Some(landed),
            _ => None,
        }
    }

    fn over(mut self, landed: Landed) -> (Landing, Step, Option<Learnt>) {
        self.stage = LandingStage::Over(landed);
        (self, Step::Over, None)
    }

    fn go(mut self, stage: LandingStage, step: Step) -> (Landing, Step, Option<Learnt>) {
        self.stage = stage;
        (self, step, None)
    }

    fn troubled(self, at: At, trouble: &Trouble) -> (Landing, Step, Option<Learnt>) {
        let landed = match trouble {
            Trouble::HeadMoved => Landed::HeadMoved,
            other => Landed::Failed(Failure::of(at, other)),
        };
        self.over(landed)
    }

    pub fn next(self, news: LandingNews, around: &Around<'_>) -> (Landing, Step, Option<Learnt>) {
        let fixers = &around.known.fixers;
        match (self.stage.clone(), news) {
            (LandingStage::Updating, LandingNews::Updated(Ok(updated))) => self.updated(updated),
            (LandingStage::Updating, LandingNews::Updated(Err(trouble))) => self.troubled(At::Update, &trouble),
            (LandingStage::Rechecking { head }, LandingNews::Looked(Ok(seen))) => self.rechecked(head, &seen),
            (LandingStage::Rechecking { .. } | LandingStage::Looking, LandingNews::Looked(Err(trouble))) => {
                self.troubled(At::Look, &trouble)
            }
            (LandingStage::Reviewing { head }, LandingNews::Reviewed(Ok(review))) => self.reviewed(&head, review, fixers),
            (LandingStage::Reviewing { .. }, LandingNews::Reviewed(Err(trouble))) => self.troubled(At::Verify, &trouble),
            (LandingStage::Reviewing { .. }, LandingNews::NoMoney(words)) => {
                self.over(Landed::Failed(Failure::new(At::Verify, Class::Budget, words)))
            }
            (LandingStage::Saying { review }, LandingNews::Concluded(Ok(_))) => self.said(review),
            (LandingStage::Saying { .. }, LandingNews::Concluded(Err(trouble))) => self.troubled(At::Conclude, &trouble),
            (LandingStage::Looking, LandingNews::Looked(Ok(seen))) => self.looked(&seen, around),
            (LandingStage::Asking, LandingNews::Answered(Ok(by))) => {
                let consent = Some(Consent { by, head: self.head.clone(), base_branch: self.base_branch.clone() });
                Landing { consent, ..self }.go(LandingStage::Looking, Step::Look)
            }
            (LandingStage::Asking, LandingNews::Answered(Err(why))) => self.over(Landed::Held(why)),
            (LandingStage::Merging { method }, LandingNews::Merged(Ok(merged))) => self.merged(merged, method),
            (LandingStage::Merging { .. }, LandingNews::Merged(Err(trouble))) => self.troubled(At::Merge, &trouble),
            (LandingStage::Holding { landed }, LandingNews::Held(Ok(()))) => self.over(*landed),
            (LandingStage::Holding { .. }, LandingNews::Held(Err(trouble))) => self.troubled(At::Hold, &trouble),
            (_, _) => (self, Step::Over, None),
        }
    }

    fn updated(self, updated: Updated) -> (Landing, Step, Option<Learnt>) {
        match updated {
            Updated::Head(head) if head == self.head => self.go(LandingStage::Looking, Step::Look),
            Updated::Head(head) => self.go(LandingStage::Rechecking { head }, Step::Look),
            Updated::Conflict(words) => {
                let words = format!("it conflicts with its base: {words}");
                self.over(Landed::Failed(Failure::new(At::Update, Class::Merge, words)))
            }
            Updated::Refused(words) => self.over(Landed::Failed(Failure::new(At::Update, Class::Merge, words))),
        }
    }

    fn rechecked(self, head: Sha, seen: &Seen) -> (Landing, Step, Option<Learnt>) {
        if seen.facts.head != head {
            return self.over(Landed::HeadMoved);
        }
        match screen(seen) {
            Screen::Ready => {
                let wish = Wish::Review { head: head.clone(), stage: Stage::Updated };
                self.go(LandingStage::Reviewing { head }, Step::Round(wish))
            }
            Screen::Pending(words) => self.over(Landed::Waits(words)),
            Screen::Failing(words) => self.over(Landed::Failed(Failure::new(At::Checks, Class::Checks, words))),
            Screen::Markers(_) => {
                let words = "conflict markers stand in it since its base was brought in";
                self.over(Landed::Failed(Failure::new(At::Update, Class::Merge, words)))
            }
            Screen::Unread(words) => self.over(Landed::Failed(Failure::new(At::Look, Class::Forge, words))),
            Screen::Draft => self.over(Landed::Held("it is a draft now".into())),
            Screen::Over(state) => self.over(Landed::Held(format!("it is {} now", state.word()))),
        }
    }

    fn reviewed(self, head: &Sha, review: Box<Reviewed>, fixers: &BTreeSet<AgentName>) -> (Landing, Step, Option<Learnt>) {
        if let Some(turn) = disqualified(&review, head, fixers) {
            let landed = match turn.round.ending() {
                Some(Ending::Failed(failure)) => Landed::Failed(failure.clone()),
                _ => Landed::HeadMoved,
            };
            return self.over(landed);
        }
        let verdict = match (approves(&review), review.verdict) {
            (false, Verdict::Lgtm) => Verdict::Major,
            (_, verdict) => verdict,
        };
        let wish = Wish::Conclude { head: review.head.clone(), review: review.run.clone(), verdict };
        self.go(LandingStage::Saying { review }, Step::Round(wish))
    }

    fn said(mut self, review: Box<Reviewed>) -> (Landing, Step, Option<Learnt>) {
        let approved = approves(&review);
        let (head, run) = (review.head.clone(), review.run.clone());
        let learnt = Some(Learnt::Completed { review, approved });
        if !approved {
            let words = "since its base was brought in, changes are requested".to_owned();
            let (landing, step, _) = self.over(Landed::NeedsPerson(words));
            return (landing, step, learnt);
        }
        (self.head, self.review) = (head, run);
        // What anybody said was said of another head.
        self.consent = None;
        let (landing, step, _) = self.go(LandingStage::Looking, Step::Look);
        (landing, step, learnt)
    }

    /// The last look: what is cleared now is merged now.
    fn looked(mut self, seen: &Seen, around: &Around<'_>) -> (Landing, Step, Option<Learnt>) {
        if seen.facts.head != self.head {
            return self.over(Landed::HeadMoved);
        }
        if seen.behind && self.updates < MOST_UPDATES {
            self.updates += 1;
            let head = self.head.clone();
            return self.go(LandingStage::Updating, Step::Update { head });
        }
        if seen.behind {
            return self.over(Landed::Waits("its base moves faster than it can be brought up to date".into()));
        }
        self.base_branch = Some(seen.facts.base_branch.clone());
        // A yes to a merge into another branch is none to this one.
        self.consent = self.consent.take().filter(|consent| consent.place().is_same(seen.facts.place()));
        let is_answered = |hold: &Hold| hold.source == Source::Answered && hold.stands(&seen.facts);
        let after_feedback =
            around.after_feedback || matches!(&seen.facts.holds, Told::Is(holds) if holds.iter().any(is_answered));
        let needs = match (after_feedback, seen.policy.confirm, &self.consent) {
            (_, _, Some(_)) => None,
            (true, _, None) => Some(GateName::PostFeedbackMerge),
            (false, Confirm::Always, None) => Some(GateName::MergeOrder),
            (false, Confirm::Auto, None) => None,
        };
        // Nobody is asked about what could not be merged anyway.
        let asked = Consent { by: String::new(), head: self.head.clone(), base_branch: self.base_branch.clone() };
        let consent = if needs.is_some() { Some(asked) } else { self.consent.clone() };
        let known = Known { consent, ..around.known.clone() };
        let judged = known.conditions(seen);
        let Some(clearance) = judged.clearance().filter(|clearance| *clearance.run() == self.review).cloned() else {
            let sentence = judged.first_unmet().map_or("another review of it was made meanwhile", |unmet| unmet.sentence());
            let sentence = sentence.to_owned();
            let landed = if judged.only_waits() { Landed::Waits(sentence) } else { Landed::Held(sentence) };
            let holds = unrecorded(&seen.facts);
            if holds.is_empty() {
                return self.over(landed);
            }
            let head = self.head.clone();
            return self.go(LandingStage::Holding { landed: Box::new(landed) }, Step::Hold { head, holds });
        };
        match needs {
            Some(gate) => {
                let head = self.head.clone();
                self.go(LandingStage::Asking, Step::Ask { gate, head })
            }
            None => {
                let method = clearance.method();
                self.go(LandingStage::Merging { method }, Step::Merge(Box::new(Warrant { clearance, known })))
            }
        }
    }

    fn merged(self, merged: Merged, method: MergeMethod) -> (Landing, Step, Option<Learnt>) {
        match merged {
            Merged::Done => self.over(Landed::Merged(method)),
            Merged::Changed(words) => self.over(Landed::Held(words)),
            Merged::Refused(words) => self.over(Landed::Failed(Failure::new(At::Merge, Class::Merge, words))),
        }
    }
}
