//! The gates of a tick, in their mended order (SL-142): what a resumed run left elsewhere, criteria that are not clear, budgets. What
//! concerns different pull requests is asked at the same time; nothing goes on before all is answered.

use super::Phase;
use super::drive::Machine;
use super::effect::Act;
use super::gates::{self, Projected};
use super::permit::Permit;
use super::round::{Ending, Round};
use super::screen::Screen;
use super::stops::ceilings_reached;
use super::tick::Tick;
use super::tour::Asked;
use crate::gate::{Answer, Choice, Gate, GateName};

impl Machine {
    pub fn ask(&mut self, permit: Permit, gate: Gate) {
        self.act(permit, Act::Ask { gate: Box::new(gate) });
    }

    /// What was asked and answered, verbatim; what is no answer to the question is nobody's.
    pub fn record(&mut self, gate: Gate, answer: Answer) -> Answer {
        let answer = gate.admit(answer);
        let (tick, iteration) = (self.state.tour.ticks, self.iteration());
        self.state.tour.gates.push(Asked { tick, iteration, gate, answer: answer.clone() });
        answer
    }

    pub fn answered(&mut self, permit: Permit, phase: Phase, gate: &Gate, answer: &Answer) {
        match phase {
            Phase::Reattaching(tick) => self.reattached(permit, tick, gate, answer),
            Phase::Clarifying(tick) => self.clarified(permit, tick, gate, answer),
            Phase::Budgeting(tick) => self.budgeted(permit, tick, answer),
            Phase::Ordering(tick) => self.ordered(permit, tick, gate, answer),
            Phase::Landing(tick) => self.landing_answered(permit, tick, gate, answer),
            Phase::Leaving(tick) => self.failure_answered(permit, tick, gate, answer),
            Phase::Acquiring => self.force_answered(permit, gate, answer),
            // No other phase asks.
            other => self.state.phase = other,
        }
    }

    /// SL-158: what a resumed run left at another head is somebody's to decide.
    pub fn reattach(&mut self, permit: Permit, mut tick: Box<Tick>) {
        let until = self.answer_until();
        for (number, line) in std::mem::take(&mut self.state.tour.carried) {
            let open = line.state_at_end == crate::pull::facts::PullState::Open;
            match tick.rounds.get(&number) {
                Some(Round::Waiting) if open => {
                    let Some(tracked) = self.state.tour.pulls.get(&number) else { continue };
                    let gate = gates::divergence(number, &line.head_sha_at_iteration_end, &tracked.head, until);
                    self.ask(permit, gate);
                }
                Some(Round::Waiting) => {
                    let why = format!("it was {} in the run that is resumed", line.state_at_end.word());
                    self.state.tour.note(format!("PR #{number}: {why}"));
                    self.leave_out(&mut tick, number, &why);
                }
                Some(_) | None => {}
            }
        }
        self.go_on_when_answered(permit, tick, Phase::Reattaching, |machine, permit, tick| {
            machine.begin_screening(Some(permit), tick);
        });
    }

    fn reattached(&mut self, permit: Permit, mut tick: Box<Tick>, gate: &Gate, answer: &Answer) {
        if let (Some(number), Choice::Skip) = (gate.number, answer.choice) {
            self.leave_out(&mut tick, number, "its head is not where the resumed run left it");
        }
        self.go_on_when_answered(permit, tick, Phase::Reattaching, |machine, permit, tick| {
            machine.begin_screening(Some(permit), tick);
        });
    }

    /// SL-140: only what could be reviewed is asked about.
    pub fn clarify(&mut self, permit: Permit, tick: Box<Tick>) {
        let until = self.answer_until();
        let waiting: Vec<u64> = tick.waiting().collect();
        for number in waiting {
            let reviewable = matches!(tick.screens.get(&number), Some(Screen::Ready | Screen::Pending(_)));
            let Some(tracked) = self.state.tour.pulls.get(&number).filter(|_| reviewable) else { continue };
            let Some(issue) = &tracked.found.issue else { continue };
            let Some(why) = &issue.ambiguous else { continue };
            let gate = gates::ambiguous(number, &tracked.head, issue.number, why, until);
            self.ask(permit, gate);
        }
        self.go_on_when_answered(permit, tick, Phase::Clarifying, Machine::weigh_budgets);
    }

    fn clarified(&mut self, permit: Permit, mut tick: Box<Tick>, gate: &Gate, answer: &Answer) {
        if let Some(number) = gate.number {
            match answer.choice {
                Choice::Skip => tick.end(number, Ending::LeftOut("its acceptance criteria are not clear".into())),
                Choice::Escalate => {
                    tick.end(number, Ending::NeedsPerson("its acceptance criteria are not clear, and a person must say".into()));
                }
                _ => {}
            }
        }
        self.go_on_when_answered(permit, tick, Phase::Clarifying, Machine::weigh_budgets);
    }

    /// SL-143: one question for all budgets; where one is used up, that is the end and nothing is asked.
    fn weigh_budgets(&mut self, permit: Permit, tick: Box<Tick>) {
        let state = &self.state;
        let reached = ceilings_reached(&state.tour, &state.request, state.started_at, self.now);
        if !reached.is_empty() {
            reached.into_iter().for_each(|stop| self.stop(stop));
            return self.leave(Some(permit), tick);
        }
        let pulls = tick.waiting().filter(|number| !state.tour.touched.contains(number)).count();
        let projected = Projected { pulls: u32::try_from(pulls).unwrap_or(u32::MAX), efforts: tick.efforts() };
        let tripped = gates::tripped(&state.tour, &state.request, projected, state.started_at, self.now);
        if !tripped.is_empty() && tick.waiting().next().is_some() {
            let gate = gates::budget(&tripped, self.answer_until());
            self.ask(permit, gate);
        }
        self.go_on_when_answered(permit, tick, Phase::Budgeting, Machine::begin_rounds);
    }

    fn budgeted(&mut self, permit: Permit, tick: Box<Tick>, answer: &Answer) {
        if let (Choice::Raise, Some(raise)) = (answer.choice, &answer.raise) {
            self.state.tour.raise(raise);
        }
        self.go_on_when_answered(permit, tick, Phase::Budgeting, Machine::begin_rounds);
    }

    /// For the rest of the run.
    pub fn leave_out(&mut self, tick: &mut Tick, number: u64, why: &str) {
        self.state.tour.left_out.insert(number, why.to_owned());
        if tick.rounds.get(&number).is_some_and(|round| *round == Round::Waiting) {
            tick.end(number, Ending::LeftOut(why.to_owned()));
        }
    }

    pub fn go_on_when_answered(
        &mut self,
        permit: Permit,
        tick: Box<Tick>,
        stay: fn(Box<Tick>) -> Phase,
        go_on: fn(&mut Machine, Permit, Box<Tick>),
    ) {
        match (self.state.flights.is_empty(), self.is_stopping()) {
            (false, _) => self.state.phase = stay(tick),
            (true, true) => self.leave(Some(permit), tick),
            (true, false) => go_on(self, permit, tick),
        }
    }

    /// Whether a person said that it may be merged; if not, what is said of that.
    pub fn consent(gate: &Gate, answer: &Answer) -> Result<String, String> {
        use crate::gate::Answerer;
        match (&answer.by, answer.choice) {
            (Answerer::Person(by), Choice::Merge) => Ok(by.clone()),
            (Answerer::Person(by), _) => Err(gates::held_by(gate, Some(by))),
            (Answerer::Nobody, _) => Err(gates::held_by(gate, None)),
        }
    }

    pub fn gate_of(&self, name: GateName, number: u64, head: &crate::ids::Sha) -> Gate {
        let until = self.answer_until();
        let heard: Vec<&str> = self
            .state
            .tour
            .pulls
            .get(&number)
            .map(|tracked| tracked.heard.iter().map(String::as_str).collect())
            .unwrap_or_default();
        match name {
            GateName::PostFeedbackMerge => gates::post_feedback(number, head, &heard, until),
            _ => gates::confirm(number, head, until),
        }
    }
}
