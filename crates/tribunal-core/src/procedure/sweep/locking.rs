//! Each tick begins with the lock of the set, before any other work (SL-109, SL-123).

use super::Phase;
use super::drive::Machine;
use super::effect::{Acquired, Act, How};
use super::gates;
use super::history::TickOutcome;
use super::lock::{Held, Holder};
use super::permit::Permit;
use super::request::LockMode;
use super::stops::{Stop, ceilings_reached, minutes_since};
use crate::gate::{Answer, Choice, Gate};

impl Machine {
    /// The first tick; a resumed run that somebody has stopped has none (SL-134 #10).
    pub fn set_out(&mut self, permit: Permit) {
        let carried = self.state.request.looping().and_then(|looping| looping.carried.as_ref());
        if let Some((gate, iteration)) = carried.and_then(|carried| carried.stopped.clone()) {
            self.stop(Stop::StoppedBefore { gate, iteration });
            return self.give_report(permit);
        }
        self.begin_tick(permit);
    }

    pub fn begin_tick(&mut self, permit: Permit) {
        self.state.tour.ticks += 1;
        let until = self.state.deadline();
        let how = match (self.lock_mode(), until) {
            (LockMode::Wait, Some(until)) => How::Wait { until },
            (LockMode::Skip | LockMode::Force | LockMode::Wait, _) => How::Once,
        };
        self.acquire(permit, how);
    }

    fn acquire(&mut self, permit: Permit, how: How) {
        let tick = self.state.tour.ticks;
        self.act(permit, Act::Acquire { tick, how });
        self.state.phase = Phase::Acquiring;
    }

    /// A plain sweep has no next tick to put its work off to, and asks nobody.
    fn lock_mode(&self) -> LockMode {
        self.state.request.looping().map(|looping| looping.lock).unwrap_or_default()
    }

    pub fn acquired(&mut self, permit: Permit, acquired: Acquired) {
        match acquired {
            Acquired::Got { reaped, note } => {
                self.state.tour.locked = true;
                if let Some(pid) = reaped {
                    self.state.tour.note(format!("the lock of process {pid}, which is gone, was removed"));
                }
                note.into_iter().for_each(|note| self.state.tour.note(note));
                self.enter(permit);
            }
            Acquired::Busy { holder, note } => {
                note.into_iter().for_each(|note| self.state.tour.note(note));
                self.busy(permit, &holder, false);
            }
            Acquired::TimedOut { holder } => self.busy(permit, &holder, true),
            Acquired::Failed(words) => {
                self.stop(Stop::LockFailed { words });
                self.halt(permit);
            }
        }
    }

    fn busy(&mut self, permit: Permit, holder: &Holder, waited: bool) {
        if self.state.request.looping().is_none() {
            self.stop(Stop::LockHeld { holder: holder.words() });
        }
        if self.is_stopping() {
            return self.halt(permit);
        }
        match self.lock_mode().on_held(waited) {
            Held::SkipTick => self.skip_tick(permit, holder),
            Held::OutOfTime => {
                let max = self.state.tour.ceilings.map_or(0, |ceilings| ceilings.minutes);
                self.stop(Stop::Minutes { elapsed: minutes_since(self.state.started_at, self.now), max });
                self.skip_tick(permit, holder);
            }
            Held::AskToForce => {
                let gate = gates::force_unlock(&holder.words(), self.answer_until());
                self.state.tour.passed_over = Some(holder.clone());
                self.ask(permit, gate);
                self.state.phase = Phase::Acquiring;
            }
        }
    }

    /// SL-126: `no` skips the tick, and ends nothing.
    pub fn force_answered(&mut self, permit: Permit, _: &Gate, answer: &Answer) {
        let Some(holder) = self.state.tour.passed_over.take() else { return self.halt(permit) };
        match answer.choice {
            _ if self.is_stopping() => self.halt(permit),
            Choice::Yes => {
                self.state.tour.note(format!("the lock of {} was passed over", holder.words()));
                self.acquire(permit, How::Seize { holder: Box::new(holder) });
            }
            _ => self.skip_tick(permit, &holder),
        }
    }

    /// One line, and no counter moves (SL-153).
    fn skip_tick(&mut self, permit: Permit, holder: &Holder) {
        self.state.tour.note(format!("tick {} was skipped: the lock is held by {}", self.state.tour.ticks, holder.words()));
        if self.state.is_out_of_time(self.now) && !self.is_stopping() {
            let max = self.state.tour.ceilings.map_or(0, |ceilings| ceilings.minutes);
            self.stop(Stop::Minutes { elapsed: minutes_since(self.state.started_at, self.now), max });
        }
        self.export(permit, None, TickOutcome::SkippedLock);
    }

    /// Stops win over gates, and come before anything is read (SL-111).
    fn enter(&mut self, permit: Permit) {
        if !self.is_stopping() {
            let stops = ceilings_reached(&self.state.tour, &self.state.request, self.state.started_at, self.now);
            stops.into_iter().for_each(|stop| self.stop(stop));
        }
        if self.is_stopping() {
            return self.halt(permit);
        }
        self.discover();
    }
}
