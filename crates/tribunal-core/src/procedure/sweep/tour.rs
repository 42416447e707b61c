//! What lasts from tick to tick.

use super::effect::{Found, Responded, Reviewed};
use super::history::{Carried, TrackedLine};
use super::lock::Holder;
use super::purse::Purse;
use super::report::Row;
use super::request::{Ceilings, Request};
use super::round::Learnt;
use super::stops::Stop;
use crate::calendar::millis_of;
use crate::call::money::Money;
use crate::gate::{Answer, Gate, Raise};
use crate::ids::{AgentName, RunId, Sha};
use crate::merge::epic::EpicEnd;
use crate::merge::reviewed_place::ReviewedPlace;
use crate::procedure::Millis;
use crate::pull::facts::PullState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tour {
    pub tickets: u64,
    /// Ticks that were begun, skipped ones too.
    pub ticks: u32,
    /// Those that were not skipped (CF-4).
    pub iterations: u32,
    /// In a loop.
    pub ceilings: Option<Ceilings>,
    pub purse: Purse,
    /// Pull requests whose round was begun (SL-131).
    pub touched: BTreeSet<u64>,
    /// Ticks in a row in which an external index did not answer.
    pub index_failures: u32,
    pub pulls: BTreeMap<u64, Tracked>,
    /// What an earlier run left, until it was looked at.
    pub carried: BTreeMap<u64, TrackedLine>,
    /// Typed, and not there.
    #[serde(default)]
    pub missing: BTreeSet<u64>,
    /// Not worked on any more in this run, and why.
    pub left_out: BTreeMap<u64, String>,
    pub gates: Vec<Asked>,
    /// Why it ends, as soon as anything says so: from then on nothing new is begun.
    pub stops: Vec<Stop>,
    pub epics: BTreeMap<u64, EpicEnd>,
    /// How each stands, as of the last tick that looked at it.
    pub rows: BTreeMap<u64, Row>,
    pub notices: Vec<String>,
    pub locked: bool,
    /// Whom a person was asked to pass over.
    pub passed_over: Option<Holder>,
}

/// A question and its answer, for the record; neither is ever used again (SL-157).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub tick: u32,
    pub iteration: u32,
    pub gate: Gate,
    pub answer: Answer,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tracked {
    pub found: Found,
    /// The last that is known of; our own pushes count.
    pub head: Sha,
    pub head_at_start: Sha,
    pub state: PullState,
    pub completed: Option<Completed>,
    /// The head that was rejected for its conflict markers.
    pub rejected: Option<(Sha, u32)>,
    /// Agents that have put fixes into it. They review it no more.
    pub fixers: BTreeSet<AgentName>,
    /// People whose comments the responder answered.
    pub heard: BTreeSet<String>,
    pub streak: Option<Streak>,
}

/// A review that was made and said. The head and the base say whether a change was reviewed (SL-146); that this run pushed it does not
/// (SL-147).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    pub review: Reviewed,
    pub approved: bool,
    pub iteration: u32,
}

/// The same failure, tick after tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    pub signature: String,
    pub times: u32,
}

impl Tracked {
    pub fn new(found: Found) -> Self {
        Tracked {
            head: found.head.clone(),
            head_at_start: found.head.clone(),
            state: found.state,
            found,
            completed: None,
            rejected: None,
            fixers: BTreeSet::new(),
            heard: BTreeSet::new(),
            streak: None,
        }
    }

    /// A tick has found it.
    pub fn found(&mut self, found: Found) {
        (self.head, self.head_at_start, self.state) = (found.head.clone(), found.head.clone(), found.state);
        self.found = found;
    }

    pub fn learn(&mut self, learnt: Learnt, iteration: u32) {
        match learnt {
            Learnt::Completed { review, approved } => {
                self.head = review.head.clone();
                self.completed = Some(Completed { review: *review, approved, iteration });
            }
            Learnt::RejectedAt(head) => self.rejected = Some((head, iteration)),
            Learnt::Responded(response) => self.responded(*response),
        }
    }

    fn responded(&mut self, response: Responded) {
        if let Some(head) = response.head {
            self.head = head;
            self.fixers.extend(response.agents);
        }
        self.heard.extend(response.people);
    }

    /// The review of the head as it is, for the base as it is.
    pub fn completed_at_head(&self) -> Option<&Completed> {
        let now = ReviewedPlace::new(&self.head, Some(&self.found.base_branch));
        let of = |review: &Reviewed| ReviewedPlace::new(&review.head, review.base_branch.as_ref()).is_same(now);
        self.completed.as_ref().filter(|completed| of(&completed.review))
    }

    /// The tick in which the head as it is was looked at to the end, and whether it was approved (SL-146).
    pub fn done_at_head(&self) -> Option<(u32, bool)> {
        let completed = self.completed_at_head();
        let rejected = self.rejected.as_ref().filter(|(head, _)| *head == self.head);
        completed.map(|done| (done.iteration, done.approved)).or(rejected.map(|(_, iteration)| (*iteration, false)))
    }

    /// It failed in a tick, or did not. Says how often in a row, and for the same reason.
    pub fn count(&mut self, signature: Option<String>) -> u32 {
        self.streak = signature.map(|signature| {
            let before = self.streak.take().filter(|streak| streak.signature == signature).map_or(0, |streak| streak.times);
            Streak { signature, times: before + 1 }
        });
        self.streak.as_ref().map_or(0, |streak| streak.times)
    }
}

impl Tour {
    pub fn new(request: &Request) -> Self {
        let ceilings = request.looping().map(|looping| looping.ceilings);
        let mut tour = Tour { ceilings, ..Tour::default() };
        if let Some(carried) = request.looping().and_then(|looping| looping.carried.as_deref()) {
            tour.carry(carried, ceilings);
        }
        tour
    }

    /// Counters and tracked pull requests come back; the file's ceilings win over flags (SL-129, SL-157).
    fn carry(&mut self, carried: &Carried, asked: Option<Ceilings>) {
        let budget = &carried.budget;
        let dollars = Money::from_dollars(budget.max_dollars).filter(|money| *money > Money::ZERO);
        let strict = asked.is_some_and(|ceilings| ceilings.dollars_set);
        let kept = Ceilings {
            iterations: budget.max_iterations,
            pulls: budget.max_prs,
            minutes: budget.max_minutes,
            dollars,
            dollars_set: strict && dollars.is_some(),
        };
        if asked.is_some_and(|asked| asked.figures() != kept.figures()) {
            self.notices
                .push("the ceilings of the resumed run hold, whatever was typed; answer its budget gate with `raise`".into());
        }
        self.ceilings = Some(kept);
        self.iterations = budget.iterations_used;
        self.purse = Purse {
            spent: Money::from_dollars(budget.dollars_estimate).unwrap_or_default(),
            tokens_in: budget.tokens_in,
            tokens_out: budget.tokens_out,
            agents: budget.agents_dispatched,
            comments: budget.comments_pushed,
            merges: budget.merges_attempted,
            ..Purse::default()
        };
        self.touched = budget.prs_touched.iter().filter_map(|name| name.trim_start_matches('#').parse().ok()).collect();
        self.index_failures = budget.qmd_failures_consecutive;
        self.carried = carried.pulls.clone();
        self.ticks = carried.ticks;
    }

    /// The clock of a resumed run goes on (SL-138).
    pub fn started_at(request: &Request, now: Millis) -> Millis {
        let carried = request.looping().and_then(|looping| looping.carried.as_deref());
        carried.and_then(|carried| millis_of(&carried.budget.started_at)).map_or(now, |then| then.min(now))
    }

    /// The name under which a loop keeps its files: a resumed run goes on with those of the one that it resumes.
    pub fn loop_name(request: &Request) -> RunId {
        let carried = request.looping().and_then(|looping| looping.carried.as_deref());
        carried.and_then(|carried| carried.run.clone()).unwrap_or_else(|| request.run.clone())
    }

    pub fn is_stopping(&self) -> bool {
        !self.stops.is_empty()
    }

    /// A ceiling is only ever moved up, and only by a person's answer (SL-129).
    pub fn raise(&mut self, raise: &Raise) {
        let Some(ceilings) = self.ceilings.as_mut() else { return };
        ceilings.iterations = ceilings.iterations.max(raise.iterations.unwrap_or(0));
        ceilings.pulls = ceilings.pulls.max(raise.pulls.unwrap_or(0));
        ceilings.minutes = ceilings.minutes.max(raise.minutes.unwrap_or(0));
        if let (Some(ceiling), Some(raised)) = (ceilings.dollars, raise.dollars) {
            ceilings.dollars = Some(ceiling.max(raised));
        }
    }

    /// Once for the same words.
    pub fn note(&mut self, words: impl Into<String>) {
        let words = words.into();
        if !self.notices.contains(&words) {
            self.notices.push(words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::combine::verdict::Verdict;

    fn found(base_branch: &str) -> Found {
        Found {
            number: 7,
            title: "Add a cart".into(),
            url: String::new(),
            branch: "cart".into(),
            head: "1111".into(),
            base_branch: base_branch.into(),
            state: PullState::Open,
            labels: vec![],
            issue: None,
            spec: None,
        }
    }

    /// In a loop an approved head has its turn again once it is aimed at another branch.
    #[test]
    fn an_approved_head_is_not_done_for_another_base() {
        let review = |base_branch: Option<&str>| Reviewed {
            head: "1111".into(),
            base_branch: base_branch.map(str::to_owned),
            run: "r".into(),
            verdict: Verdict::Lgtm,
            blocking: vec![],
            agents: BTreeSet::new(),
        };
        let mut tracked = Tracked::new(found("eve/base"));
        tracked.learn(Learnt::Completed { review: Box::new(review(Some("eve/base"))), approved: true }, 1);
        assert_eq!(tracked.done_at_head(), Some((1, true)));
        tracked.found(found("main"));
        assert_eq!(tracked.done_at_head(), None);
        tracked.learn(Learnt::Completed { review: Box::new(review(None)), approved: true }, 2);
        assert_eq!(tracked.done_at_head(), None, "it does not say for which base");
    }
}
