//! Sends orders, takes outcomes and gives each to where the run is.

use super::effect::{Act, Effect, Order, Outcome, Read, Ticket, Trouble};
use super::permit::Permit;
use super::purse::{Grant, Limits};
use super::stops::Stop;
use super::tour::Tour;
use super::{Flight, MODEL, Phase, Request, State, StepError};
use crate::call::money::Money;
use crate::gate::Choice;
use crate::procedure::{Millis, Step};

/// A state on its way through one step.
pub(super) struct Machine {
    pub state: State,
    pub out: Vec<Effect>,
    pub now: Millis,
}

/// What a handler makes of an outcome.
pub(super) type Went = Result<(), StepError>;

pub(super) fn start(request: Request, now: Millis) -> Step<State, Effect> {
    let (tour, started_at) = (Tour::new(&request), Tour::started_at(&request, now));
    let state = State { model: MODEL, request, started_at, tour, flights: Default::default(), phase: Phase::Resting };
    let mut machine = Machine { state, out: Vec::new(), now };
    match Permit::of(&machine.state.request) {
        None => machine.discover(),
        Some(permit) => machine.set_out(permit),
    }
    machine.finished()
}

pub(super) fn interrupted(mut state: State) -> Step<State, Effect> {
    // Where the report is made already, there is nothing left to begin.
    if state.report().is_none() && !state.tour.stops.contains(&Stop::Interrupted) {
        state.tour.stops.push(Stop::Interrupted);
    }
    Step { state, effects: Vec::new() }
}

pub(super) fn done(mut state: State, ticket: Ticket, outcome: Outcome, now: Millis) -> Result<Step<State, Effect>, StepError> {
    let Some(flight) = state.flights.remove(&ticket) else { return Ok(Step { state, effects: Vec::new() }) };
    let mut machine = Machine { state, out: Vec::new(), now };
    machine.settle(&flight, &outcome);
    machine.heed(&outcome);
    machine.route(ticket, flight.order, outcome)?;
    Ok(machine.finished())
}

impl Machine {
    fn finished(self) -> Step<State, Effect> {
        Step { state: self.state, effects: self.out }
    }

    pub fn read(&mut self, read: Read) -> Ticket {
        self.send(Order::Read(read), Money::ZERO)
    }

    pub fn act(&mut self, _: Permit, act: Act) -> Ticket {
        self.send(Order::Act(act), Money::ZERO)
    }

    /// An act that costs something: what it may take is set aside first.
    pub fn pay(&mut self, _: Permit, others: u32, act: impl FnOnce(Option<Money>) -> Act) -> Grant {
        let purse = &self.state.tour.purse;
        let grant = self.limits().grant(purse.spent, self.state.reserved(), purse.asks(others));
        match grant {
            Grant::Go(allowance) => drop(self.send(Order::Act(act(allowance)), allowance.unwrap_or_default())),
            Grant::Wait => {}
            Grant::Refused => self.state.tour.purse.exhausted = true,
        }
        grant
    }

    fn send(&mut self, order: Order, reserved: Money) -> Ticket {
        self.state.tour.tickets += 1;
        let ticket = Ticket(self.state.tour.tickets);
        self.state.flights.insert(ticket, Flight { order: order.clone(), reserved });
        self.out.push(Effect { ticket, order });
        ticket
    }

    /// A loop has its own ceiling; a plain sweep the one of the policy, if somebody set it, and the usual one otherwise.
    fn limits(&self) -> Limits {
        let budget = &self.state.request.policy.budget;
        let (ceiling, strict) = match self.state.tour.ceilings {
            Some(ceilings) => (ceilings.dollars, ceilings.dollars_set),
            None => self.state.request.plain_ceiling(),
        };
        Limits { ceiling, strict, each: budget.run }
    }

    fn settle(&mut self, flight: &Flight, outcome: &Outcome) {
        let (Outcome::Reviewed { effort, .. } | Outcome::Responded { effort, .. }) = outcome else { return };
        let (limits, reserved) = (self.limits(), self.state.reserved());
        let had = limits.ceiling.map(|_| flight.reserved);
        let tour = &mut self.state.tour;
        tour.purse.settle(effort, had, limits.strict);
        // What one effort may take at most is another cap, and no matter of the run's.
        if let (Some(Trouble::OverBudget(_)), Some(had)) = (outcome.trouble(), had.filter(|had| *had < limits.each)) {
            tour.purse.came_short(had, &limits, reserved);
        }
        if tour.purse.unknown > 0 {
            tour.note("the price of an agent is not known; what it took is not in the sum");
        }
    }

    /// What is said of the run as a whole.
    fn heed(&mut self, outcome: &Outcome) {
        match outcome.trouble() {
            Some(Trouble::Displaced(words)) => {
                self.state.tour.locked = false;
                self.stop(Stop::LockLost { words: words.clone() });
            }
            Some(Trouble::Index(words)) => {
                if let Some(tick) = self.state.tick_mut() {
                    tick.index_failed = Some(words.clone());
                }
            }
            _ => {}
        }
    }

    pub fn stop(&mut self, stop: Stop) {
        if !self.state.tour.stops.contains(&stop) {
            self.state.tour.stops.push(stop);
        }
    }

    /// Nothing new is begun.
    pub fn is_stopping(&self) -> bool {
        self.state.tour.is_stopping()
    }

    /// Until when checks are waited for.
    pub fn checks_until(&self) -> Option<Millis> {
        let until = self.now.saturating_add(self.state.request.terms.checks.as_millis());
        let until = self.state.deadline().map_or(until, |deadline| until.min(deadline));
        (until > self.now).then_some(until)
    }

    pub fn answer_until(&self) -> Millis {
        let until = self.now.saturating_add(self.state.request.terms.answer.as_millis());
        self.state.deadline().map_or(until, |deadline| until.min(deadline)).max(self.now)
    }

    /// The iteration that a tick is, while it runs.
    pub fn iteration(&self) -> u32 {
        self.state.tour.iterations + 1
    }

    fn route(&mut self, ticket: Ticket, order: Order, outcome: Outcome) -> Went {
        let wrong = Err(StepError::WrongAnswer(ticket.0));
        let phase = std::mem::replace(&mut self.state.phase, Phase::Resting);
        let permit = Permit::of(&self.state.request);
        match (phase, order, outcome, permit) {
            (Phase::Discovering(tick), Order::Read(Read::Discover { .. }), Outcome::Discovered(found), permit) => {
                self.discovered(permit, tick, found);
                Ok(())
            }
            (Phase::Screening(tick), Order::Read(Read::Look { number, .. }), Outcome::Looked(looked), permit) => {
                self.screened(permit, tick, number, looked);
                Ok(())
            }
            // A dry run has no other phase.
            (_, _, _, None) => wrong,
            (phase, order, outcome, Some(permit)) => self.route_earnest(permit, ticket, phase, order, outcome),
        }
    }

    fn route_earnest(&mut self, permit: Permit, ticket: Ticket, phase: Phase, order: Order, outcome: Outcome) -> Went {
        let wrong = Err(StepError::WrongAnswer(ticket.0));
        match (phase, order) {
            (Phase::Acquiring, Order::Act(Act::Acquire { .. })) => match outcome {
                Outcome::Acquired(acquired) => {
                    self.acquired(permit, acquired);
                    Ok(())
                }
                _ => wrong,
            },
            (phase, Order::Act(Act::Ask { gate })) => match outcome {
                Outcome::Answered(answer) => {
                    let answer = self.record(*gate.clone(), answer);
                    if answer.choice == Choice::Stop {
                        self.stop(Stop::Gate { gate: gate.name, iteration: self.iteration() });
                    }
                    self.answered(permit, phase, &gate, &answer);
                    Ok(())
                }
                _ => wrong,
            },
            (Phase::Rounds(tick), order) => self.in_round(permit, ticket, tick, &order, outcome),
            (Phase::Gathering(tick), Order::Read(Read::Look { number, .. })) => match outcome {
                Outcome::Looked(looked) => {
                    self.gathered(permit, tick, number, looked);
                    Ok(())
                }
                _ => wrong,
            },
            (Phase::Landing(tick), order) => self.in_landing(permit, ticket, tick, &order, outcome),
            (phase, order) => self.in_closing(permit, ticket, phase, &order, &outcome),
        }
    }
}

impl Outcome {
    /// Why it did not come about, if it did not.
    pub fn trouble(&self) -> Option<&Trouble> {
        match self {
            Outcome::Discovered(Err(trouble))
            | Outcome::Looked(Err(trouble))
            | Outcome::Rejected(Err(trouble))
            | Outcome::Reviewed { said: Err(trouble), .. }
            | Outcome::Concluded(Err(trouble))
            | Outcome::Responded { said: Err(trouble), .. }
            | Outcome::Remained(Err(trouble))
            | Outcome::Updated(Err(trouble))
            | Outcome::Merged(Err(trouble))
            | Outcome::Held(Err(trouble)) => Some(trouble),
            _ => None,
        }
    }
}
