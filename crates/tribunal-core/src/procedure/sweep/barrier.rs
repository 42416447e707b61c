//! After all rounds, and not before (SL-83): what is approved is looked at, put in order, and merged one at a time. After each merge
//! those that it touched are brought up to date and reviewed again before their own (SL-79).

use super::drive::{Machine, Went};
use super::effect::{Act, Order, Outcome, Read, Seen, Ticket, Trouble};
use super::failure::{At, Failure};
use super::gates;
use super::landing::{Around, Landed, Landing, LandingNews, LandingStage, Step};
use super::merging::Known;
use super::pairs::NO_MONEY;
use super::permit::Permit;
use super::purse::Grant;
use super::request::MOST_PAIRS;
use super::screen::checks;
use super::tick::{Course, Tick};
use super::{Phase, StepError};
use crate::gate::{Answer, Gate};
use crate::ids::Sha;
use crate::merge::epic::EpicEnd;
use crate::merge::order::{Candidate, FOUNDATION, sequence};
use crate::pull::facts::PullState;
use crate::pull::told::Told;
use std::collections::{BTreeMap, BTreeSet};

const ENDED: &str = "the run ended before it was merged";

impl Machine {
    pub fn gather(&mut self, permit: Permit, mut tick: Box<Tick>) {
        let wanted = self.state.request.terms.merging;
        if !self.is_stopping() && wanted.is_allowed(&tick.policy) {
            tick.to_look = tick.approved().into_keys().collect();
        }
        self.gather_on(permit, tick);
    }

    fn gather_on(&mut self, permit: Permit, mut tick: Box<Tick>) {
        while !self.is_stopping() && self.state.flights.len() < MOST_PAIRS as usize {
            let Some(number) = tick.to_look.pop_front() else { break };
            let until = self.checks_until();
            self.read(Read::Look { number, until });
        }
        match (self.state.flights.is_empty(), self.is_stopping()) {
            (false, _) => self.state.phase = Phase::Gathering(tick),
            (true, true) => self.leave(Some(permit), tick),
            (true, false) => self.put_in_order(permit, tick),
        }
    }

    pub fn gathered(&mut self, permit: Permit, mut tick: Box<Tick>, number: u64, looked: Result<Box<Seen>, Trouble>) {
        match looked {
            Ok(seen) => {
                tick.checks.insert(number, checks(&seen));
                tick.seen.insert(number, *seen);
            }
            Err(trouble) => drop(tick.landed.insert(number, Landed::Failed(Failure::of(At::Look, &trouble)))),
        }
        self.gather_on(permit, tick);
    }

    fn put_in_order(&mut self, permit: Permit, mut tick: Box<Tick>) {
        let batch: Vec<Candidate> = tick.seen.values().map(candidate).collect();
        let sequence = sequence(&batch);
        for held in &sequence.held {
            tick.landed.insert(held.number, Landed::Held(gates::held_words(held.number, &held.because)));
        }
        let asks = self.state.request.terms.ask_order && sequence.steps.len() > 1;
        if asks {
            let heads: BTreeMap<u64, Sha> = tick.seen.iter().map(|(number, seen)| (*number, seen.facts.head.clone())).collect();
            let gate = gates::order(&sequence, &heads, self.answer_until());
            self.ask(permit, gate);
        }
        tick.course = Some(Course { sequence, next: 0, unsettled: BTreeSet::new() });
        if asks {
            self.state.phase = Phase::Ordering(tick);
        } else {
            self.land_next(permit, tick);
        }
    }

    pub fn ordered(&mut self, permit: Permit, mut tick: Box<Tick>, gate: &Gate, answer: &Answer) {
        if let Err(why) = Machine::consent(gate, answer) {
            let numbers = tick.course.take().map(|course| course.sequence.steps).unwrap_or_default();
            tick.landed.extend(numbers.into_iter().map(|step| (step.number, Landed::Held(why.clone()))));
        }
        self.land_next(permit, tick);
    }

    fn land_next(&mut self, permit: Permit, mut tick: Box<Tick>) {
        let approved = tick.approved();
        while let Some(course) = tick.course.as_mut() {
            let Some(number) = course.sequence.steps.get(course.next).map(|step| step.number) else { break };
            course.next += 1;
            let unsettled = course.unsettled.contains(&number);
            let Some((head, review)) = approved.get(&number).cloned() else { continue };
            let over = match (self.is_stopping(), self.state.is_out_of_time(self.now)) {
                (true, _) => Some(ENDED),
                (false, true) => Some("the time of the run is over"),
                (false, false) => None,
            };
            if let Some(why) = over {
                tick.landed.insert(number, Landed::Held(why.to_owned()));
                continue;
            }
            let (landing, step) = Landing::begin(number, head, review, unsettled);
            return self.land_on(permit, tick, landing, step);
        }
        self.leave(Some(permit), tick);
    }

    fn land_on(&mut self, permit: Permit, mut tick: Box<Tick>, mut landing: Landing, step: Step) {
        let number = landing.number;
        if self.is_stopping() && step != Step::Over {
            landing.stage = LandingStage::Over(Landed::Held(ENDED.to_owned()));
            return self.landed(permit, tick, landing);
        }
        match step {
            Step::Over => return self.landed(permit, tick, landing),
            Step::Look => {
                let until = self.checks_until();
                self.read(Read::Look { number, until });
            }
            Step::Update { head } => drop(self.act(permit, Act::Update { number, head })),
            Step::Ask { gate, head } => {
                let gate = self.gate_of(gate, number, &head);
                self.ask(permit, gate);
            }
            Step::Hold { head, holds } => drop(self.act(permit, Act::Hold { number, head, holds })),
            Step::Merge(warrant) => {
                self.state.tour.purse.merges += 1;
                self.act(permit, Act::Merge { warrant });
            }
            Step::Round(wish) => {
                let pair = tick.pair_of(number).unwrap_or(1);
                if self.fulfil(permit, number, pair, 0, &wish) == Grant::Refused {
                    let news = LandingNews::NoMoney(NO_MONEY.to_owned());
                    return self.landing_news(permit, tick, landing, news);
                }
            }
        }
        tick.landing = Some(landing);
        self.state.phase = Phase::Landing(tick);
    }

    pub fn in_landing(&mut self, permit: Permit, ticket: Ticket, mut tick: Box<Tick>, order: &Order, outcome: Outcome) -> Went {
        let news = match (order, outcome) {
            (Order::Read(Read::Look { .. }), Outcome::Looked(looked)) => LandingNews::Looked(looked),
            (Order::Act(Act::Update { .. }), Outcome::Updated(updated)) => LandingNews::Updated(updated),
            (Order::Act(Act::Review { .. }), Outcome::Reviewed { said, .. }) => LandingNews::Reviewed(said),
            (Order::Act(Act::Conclude { .. }), Outcome::Concluded(concluded)) => LandingNews::Concluded(concluded),
            (Order::Act(Act::Merge { .. }), Outcome::Merged(merged)) => LandingNews::Merged(merged),
            (Order::Act(Act::Hold { .. }), Outcome::Held(held)) => LandingNews::Held(held),
            (Order::Act(Act::Epics { .. }), Outcome::Epics(ends)) => return self.epics(permit, tick, ends),
            (Order::Act(Act::Sync { number }), Outcome::Synced(synced)) => {
                if let Err(why) = synced {
                    let words = format!("the external index was not told of the merge of #{number} ({why}); update it by hand");
                    self.state.tour.note(words);
                }
                return self.after_merge(permit, tick);
            }
            _ => return Err(StepError::WrongAnswer(ticket.0)),
        };
        let Some(landing) = tick.landing.take() else { return Err(StepError::WrongAnswer(ticket.0)) };
        if let LandingNews::Looked(Ok(seen)) = &news {
            tick.checks.insert(landing.number, checks(seen));
        }
        if let LandingNews::Concluded(Ok(_)) = &news {
            self.state.tour.purse.comments += 1;
        }
        if let (LandingNews::Updated(Ok(super::effect::Updated::Head(head))), Some(tracked)) =
            (&news, self.state.tour.pulls.get_mut(&landing.number))
        {
            tracked.head = head.clone();
        }
        self.landing_news(permit, tick, landing, news);
        Ok(())
    }

    pub fn landing_answered(&mut self, permit: Permit, mut tick: Box<Tick>, gate: &Gate, answer: &Answer) {
        match tick.landing.take() {
            Some(landing) => {
                let news = LandingNews::Answered(Machine::consent(gate, answer));
                self.landing_news(permit, tick, landing, news);
            }
            None => self.land_next(permit, tick),
        }
    }

    fn landing_news(&mut self, permit: Permit, tick: Box<Tick>, landing: Landing, news: LandingNews) {
        let tracked = self.state.tour.pulls.get(&landing.number);
        let known = Known {
            wanted: self.state.request.terms.merging,
            consent: landing.consent.clone(),
            fixers: tracked.map(|tracked| tracked.fixers.clone()).unwrap_or_default(),
        };
        let after_feedback = tracked.is_some_and(|tracked| !tracked.heard.is_empty());
        let number = landing.number;
        let (landing, step, learnt) = landing.next(news, &Around { known: &known, after_feedback });
        self.learn(number, learnt);
        self.land_on(permit, tick, landing, step);
    }

    fn landed(&mut self, permit: Permit, mut tick: Box<Tick>, landing: Landing) {
        let number = landing.number;
        let Some(landed) = landing.landed().cloned() else { return self.land_next(permit, tick) };
        let merged = matches!(landed, Landed::Merged(_));
        tick.landed.insert(number, landed);
        if !merged {
            return self.land_next(permit, tick);
        }
        if let Some(tracked) = self.state.tour.pulls.get_mut(&number) {
            tracked.state = PullState::Merged;
        }
        if let Some(course) = tick.course.as_mut() {
            let unsettled = course.sequence.unsettled_by(number);
            course.unsettled.extend(unsettled);
        }
        if !self.is_stopping() {
            self.act(permit, Act::Epics { number });
            self.act(permit, Act::Sync { number });
        }
        self.after_merge(permit, tick).unwrap_or_default();
    }

    fn epics(&mut self, permit: Permit, tick: Box<Tick>, ends: Vec<(u64, EpicEnd)>) -> Went {
        self.state.tour.epics.extend(ends);
        self.after_merge(permit, tick)
    }

    /// The next one only when all that follows a merge is done.
    fn after_merge(&mut self, permit: Permit, tick: Box<Tick>) -> Went {
        if self.state.flights.is_empty() {
            self.land_next(permit, tick);
        } else {
            self.state.phase = Phase::Landing(tick);
        }
        Ok(())
    }
}

fn candidate(seen: &Seen) -> Candidate {
    let facts = &seen.facts;
    let depends_on = match &facts.dependencies {
        Told::Is(dependencies) => dependencies.iter().map(|dependency| dependency.on.number()).collect(),
        // What is not known is no order; the conditions do not let it pass.
        Told::Unknown(_) => BTreeSet::new(),
    };
    Candidate {
        number: facts.number,
        files: seen.files.clone(),
        foundation: facts.labels.iter().any(|label| label.eq_ignore_ascii_case(FOUNDATION)),
        depends_on,
        head_branch: facts.head_branch.clone(),
        base_branch: facts.base_branch.clone(),
        is_fork: facts.is_fork,
    }
}
