//! The end of a tick, and of the run: what failed twice is asked about, files are written, the report is given, the lock is let go, in
//! this order (SL-117 to SL-121).

use super::drive::{Machine, Went};
use super::effect::{Act, Order, Outcome, Read, Ticket};
use super::export;
use super::failure::Failure;
use super::gates;
use super::history::TickOutcome;
use super::landing::Landed;
use super::permit::Permit;
use super::report::Row;
use super::round::{Ending, Round};
use super::stops::{Stop, ceilings_reached};
use super::tick::Tick;
use super::{Phase, StepError};
use crate::gate::{Answer, Choice, Gate};

/// Ticks in a row without an external index that end a run (SL-135).
const MOST_INDEX_FAILURES: u32 = 2;

impl Machine {
    /// Every pull request of the tick has come as far as it will. Without a permit it was only looked at.
    pub fn leave(&mut self, permit: Option<Permit>, mut tick: Box<Tick>) {
        for round in tick.rounds.values_mut().filter(|round| !round.is_over()) {
            *round = Round::Over(Ending::NotBegun("the run ended before its turn".into()));
        }
        let Some(permit) = permit else { return self.preview(tick) };
        let until = self.answer_until();
        let numbers: Vec<u64> = tick.rounds.keys().copied().collect();
        for number in numbers {
            let Some(gate) = self.count_failure(&tick, number, until) else { continue };
            self.ask(permit, gate);
        }
        if self.state.flights.is_empty() {
            self.close_tick(permit, tick);
        } else {
            self.state.phase = Phase::Leaving(tick);
        }
    }

    /// SL-134 #6: the same cause twice in a row is a person's to decide, in a loop that would try again.
    fn count_failure(&mut self, tick: &Tick, number: u64, until: u64) -> Option<Gate> {
        let failure = failure_of(tick, number).cloned();
        let ending = tick.rounds.get(&number).and_then(Round::ending);
        let idle = matches!(ending, Some(Ending::Deferred { .. } | Ending::NotBegun(_) | Ending::LeftOut(_)));
        let tracked = self.state.tour.pulls.get_mut(&number).filter(|_| !idle)?;
        let times = tracked.count(failure.as_ref().map(Failure::signature));
        let (failure, head) = (failure?, tracked.head.clone());
        let asks = times >= 2 && self.state.request.looping().is_some() && !self.is_stopping();
        asks.then(|| gates::repeated_failure(number, &head, &failure.signature(), &failure.sentence(), until))
    }

    pub fn failure_answered(&mut self, permit: Permit, mut tick: Box<Tick>, gate: &Gate, answer: &Answer) {
        if let Some(number) = gate.number {
            match answer.choice {
                Choice::Skip => self.leave_out(&mut tick, number, "it failed twice for one cause"),
                // The next failure for the same cause asks again.
                Choice::Retry => {
                    let streak = self.state.tour.pulls.get_mut(&number).and_then(|tracked| tracked.streak.as_mut());
                    streak.into_iter().for_each(|streak| streak.times = 1);
                }
                _ => {}
            }
        }
        if self.state.flights.is_empty() {
            self.close_tick(permit, tick);
        } else {
            self.state.phase = Phase::Leaving(tick);
        }
    }

    fn close_tick(&mut self, permit: Permit, tick: Box<Tick>) {
        self.write_rows(&tick);
        let tour = &mut self.state.tour;
        tour.iterations += 1;
        tour.index_failures = if tick.index_failed.is_some() { tour.index_failures + 1 } else { 0 };
        if let Some(why) = tick.index_failed.clone().filter(|_| tour.index_failures >= MOST_INDEX_FAILURES) {
            self.stop(Stop::Index { why });
        }
        let reached = ceilings_reached(&self.state.tour, &self.state.request, self.state.started_at, self.now);
        reached.into_iter().for_each(|stop| self.stop(stop));
        if self.state.request.looping().is_none() {
            if !self.is_stopping() {
                self.stop(Stop::Complete);
            }
            return self.give_report(permit);
        }
        let outcome = match (self.is_stopping(), &tick.errored) {
            (true, _) => TickOutcome::Halted,
            (false, Some(_)) => TickOutcome::Errored,
            (false, None) => TickOutcome::Ok,
        };
        self.export(permit, Some(&tick), outcome);
    }

    /// A line, a block, and the budget file where it is ours to write: without the lock it is another run's.
    pub fn export(&mut self, permit: Permit, tick: Option<&Tick>, outcome: TickOutcome) {
        let budget = self.state.tour.locked.then(|| Box::new(export::budget(&self.state, self.now)));
        let line = Box::new(export::line(&self.state, tick, outcome, self.now));
        let status = super::report::status::block(&self.state, outcome, self.now);
        self.act(permit, Act::Export { line, budget, status });
        self.state.phase = Phase::Exporting;
    }

    /// It ends before its tick has begun.
    pub fn halt(&mut self, permit: Permit) {
        match self.state.request.looping() {
            Some(_) => self.export(permit, None, TickOutcome::Halted),
            None => self.give_report(permit),
        }
    }

    pub fn write_rows(&mut self, tick: &Tick) {
        let (iteration, wanted) = (self.iteration(), self.state.request.terms.merging);
        let may_merge = wanted.is_allowed(&tick.policy);
        for (number, round) in &tick.rounds {
            let Some(tracked) = self.state.tour.pulls.get(number) else { continue };
            let row = Row::of(tracked, tick, round.ending(), may_merge, iteration);
            self.state.tour.rows.insert(*number, row);
        }
    }

    /// The one report, before the lock is let go.
    pub fn give_report(&mut self, permit: Permit) {
        let report = Box::new(super::ending::report(&self.state, self.now));
        self.act(permit, Act::Report { report: report.clone() });
        self.state.phase = Phase::Reporting(report);
    }

    /// SL-44: what would be done, and nothing is.
    pub fn preview(&mut self, mut tick: Box<Tick>) {
        tick.distribute(self.state.request.terms.pairs);
        if !self.is_stopping() {
            self.stop(Stop::Complete);
        }
        self.write_rows(&tick);
        self.state.phase = Phase::Done(Box::new(super::ending::report(&self.state, self.now)));
    }

    pub fn in_closing(&mut self, permit: Permit, ticket: Ticket, phase: Phase, order: &Order, outcome: &Outcome) -> Went {
        match (phase, order, outcome) {
            (Phase::Exporting, Order::Act(Act::Export { .. }), Outcome::Exported(exported)) => {
                if let Err(why) = exported {
                    self.state.tour.note(format!("the files of the loop could not be written: {why}"));
                }
                self.let_go_or_report(permit);
                Ok(())
            }
            (Phase::Reporting(report), Order::Act(Act::Report { .. }), Outcome::Reported) => {
                if self.state.tour.locked {
                    self.release(permit);
                    self.state.phase = Phase::Releasing(Some(report));
                } else {
                    self.state.phase = Phase::Done(report);
                }
                Ok(())
            }
            (Phase::Releasing(report), Order::Act(Act::Release { .. }), Outcome::Released) => {
                self.state.tour.locked = false;
                match report {
                    Some(report) => self.state.phase = Phase::Done(report),
                    None => self.rest(permit),
                }
                Ok(())
            }
            (Phase::Resting, Order::Read(Read::Rest { .. }), Outcome::Rested) => {
                if self.is_stopping() {
                    self.give_report(permit);
                } else {
                    self.begin_tick(permit);
                }
                Ok(())
            }
            (_, _, _) => Err(StepError::WrongAnswer(ticket.0)),
        }
    }

    fn let_go_or_report(&mut self, permit: Permit) {
        if self.is_stopping() {
            self.give_report(permit);
        } else if self.state.tour.locked {
            self.release(permit);
            self.state.phase = Phase::Releasing(None);
        } else {
            self.rest(permit);
        }
    }

    fn release(&mut self, permit: Permit) {
        let tick = self.state.tour.ticks;
        self.act(permit, Act::Release { tick });
    }

    /// Until the next tick; no longer than the clock of the run, whose end it then meets.
    fn rest(&mut self, permit: Permit) {
        if self.is_stopping() {
            return self.give_report(permit);
        }
        let every = self.state.request.looping().map_or(0, |looping| looping.every.as_millis());
        let until = self.now.saturating_add(every);
        let until = self.state.deadline().map_or(until, |deadline| until.min(deadline));
        self.read(Read::Rest { until });
        self.state.phase = Phase::Resting;
    }
}

/// Why it failed in this tick, if it did; a merge comes after its round.
pub(super) fn failure_of(tick: &Tick, number: u64) -> Option<&Failure> {
    match (tick.landed.get(&number), tick.rounds.get(&number).and_then(Round::ending)) {
        (Some(Landed::Failed(failure)), _) | (None, Some(Ending::Failed(failure))) => Some(failure),
        _ => None,
    }
}
