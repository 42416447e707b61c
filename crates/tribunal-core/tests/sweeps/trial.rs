//! One seed from its beginning to its end: several runs in one world, killed and resumed, interrupted, and always judged.

use super::cast::{Cast, people_a_forge, policy, request};
use super::chance::Chance;
use super::forge::Forge;
use super::hands::run;
use super::history::Event;
use super::judge::judge;
use super::world::{Process, World};
use std::collections::BTreeMap;
use tribunal_core::procedure::sweep::{Effect, Input, Report, Request, State, step};

#[derive(Debug, Default)]
pub struct Outcome {
    pub steps: u64,
    pub merges: u64,
    pub stops: Vec<String>,
    pub statuses: Vec<String>,
    pub gates: Vec<String>,
}

/// No world may take more than this, whatever happens.
const MOST_STEPS: u64 = 60_000;

/// A run, and the process that works for it while it lives.
pub struct Instance {
    pub me: Process,
    pub state: Option<State>,
    /// What is under way, as a host has it in its ledger.
    pub open: Vec<Effect>,
    pub alive: bool,
}

pub struct Trial {
    pub world: World,
    pub instances: Vec<Instance>,
    pub steps: u64,
    next_pid: u32,
}

/// Lives one seed through, and tells its story where something goes wrong.
pub fn live(seed: u64) -> Result<Outcome, String> {
    let mut chance = Chance::new(seed);
    let cast = Cast::new(&mut chance);
    let mut forge = Forge::new(policy(&mut chance));
    people_a_forge(&mut chance, &mut forge);
    let runs = chance.pick(&[1, 1, 2, 3]);
    let requests: Vec<Request> = (0..runs).map(|at| request(&mut chance, &format!("run-{at}"))).collect();
    let mut trial = Trial::new(World::new(chance, cast, forge));
    let lived = requests.into_iter().try_for_each(|request| trial.begin(request)).and_then(|()| trial.live());
    lived.and_then(|()| trial.outcome()).map_err(|wrong| trial.story(seed, &wrong))
}

impl Trial {
    pub fn new(world: World) -> Self {
        Trial { world, instances: Vec::new(), steps: 0, next_pid: 100 }
    }

    fn pid(&mut self) -> u32 {
        self.next_pid += 1;
        self.world.alive.insert(self.next_pid);
        self.next_pid
    }

    pub fn begin(&mut self, request: Request) -> Result<(), String> {
        let me = Process { run: request.run.clone(), pid: self.pid() };
        let event = Event::Began { run: me.run.clone(), at: self.world.now(), request: Box::new(request.clone()) };
        self.world.forge.history.0.push(event);
        self.instances.push(Instance { me, state: None, open: Vec::new(), alive: true });
        let at = self.instances.len() - 1;
        self.step(at, Input::Start { request: Box::new(request) })
    }

    pub fn live(&mut self) -> Result<(), String> {
        while let Some(at) = self.somebody() {
            self.turn(at)?;
            if self.steps > MOST_STEPS {
                return Err(format!("it has not ended after {MOST_STEPS} steps"));
            }
        }
        Ok(())
    }

    fn somebody(&mut self) -> Option<usize> {
        let left: Vec<usize> =
            (0..self.instances.len()).filter(|at| !self.instances[*at].state.as_ref().is_some_and(State::is_settled)).collect();
        (!left.is_empty()).then(|| self.world.chance.pick(&left))
    }

    pub fn turn(&mut self, at: usize) -> Result<(), String> {
        self.steps += 1;
        if !self.instances[at].alive {
            self.resume(at);
            return Ok(());
        }
        if self.world.happens(|odds| odds.crash) {
            self.kill(at);
            return Ok(());
        }
        if self.world.happens(|odds| odds.interrupt) && self.world.interrupted.insert(self.instances[at].me.run.clone()) {
            let run = self.instances[at].me.run.clone();
            if self.instances[at].state.as_ref().is_some_and(|state| state.report().is_none()) {
                self.world.forge.history.0.push(Event::Interrupted { run });
            }
            return self.step(at, Input::Interrupted);
        }
        let count = self.instances[at].open.len() as u64;
        if count == 0 {
            return Err(format!("{} has nothing under way and is not over", self.instances[at].me.run));
        }
        let which = self.world.chance.below(count) as usize;
        let effect = self.instances[at].open[which].clone();
        let state = self.instances[at].state.as_ref().ok_or("there is no state")?;
        let Some(outcome) = run(&mut self.world, &self.instances[at].me, &state.request, &effect) else { return Ok(()) };
        if self.world.happens(|odds| odds.crash) {
            // Done, and nobody knows.
            self.kill(at);
            return Ok(());
        }
        self.instances[at].open.remove(which);
        self.step(at, Input::Done { ticket: effect.ticket, outcome: Box::new(outcome) })
    }

    pub fn step(&mut self, at: usize, input: Input) -> Result<(), String> {
        let (now, run) = (self.world.now(), self.instances[at].me.run.clone());
        if let Input::Done { ticket, outcome } = &input {
            let came = Event::Came { run: run.clone(), at: now, ticket: *ticket, outcome: (**outcome).clone() };
            self.world.forge.history.0.push(came);
        }
        let state = self.instances[at].state.take();
        let done = step(state, input, now).map_err(|error| format!("{run}: {error}"))?;
        for effect in &done.effects {
            self.world.forge.history.0.push(Event::Sent { run: run.clone(), at: now, effect: effect.clone() });
        }
        if done.state.is_settled() {
            self.world.alive.remove(&self.instances[at].me.pid);
            let report = done.state.report().cloned().ok_or("it ended without a report")?;
            self.world.forge.history.0.push(Event::Ended { run, report: Box::new(report) });
        }
        self.instances[at].open.extend(done.effects);
        self.instances[at].state = Some(done.state);
        Ok(())
    }

    fn kill(&mut self, at: usize) {
        self.world.alive.remove(&self.instances[at].me.pid);
        self.instances[at].alive = false;
    }

    /// Only what is stored lasts, and what was under way is begun again.
    fn resume(&mut self, at: usize) {
        let pid = self.pid();
        let instance = &mut self.instances[at];
        instance.me.pid = pid;
        instance.alive = true;
        let stored = serde_json::to_string(&instance.state).expect("a state can be stored");
        let state: Option<State> = serde_json::from_str(&stored).expect("a stored state can be read");
        assert_eq!(state, instance.state, "a state is read as it was stored");
        let flights = state.iter().flat_map(|state| &state.flights);
        instance.open = flights.map(|(ticket, flight)| Effect { ticket: *ticket, order: flight.order.clone() }).collect();
        instance.state = state;
        let away = self.world.chance.pick(&[1_000, 60_000, 600_000]);
        self.world.pass_time(away);
    }

    pub fn report(&self, at: usize) -> Option<&Report> {
        self.instances[at].state.as_ref().and_then(State::report)
    }

    pub fn outcome(&self) -> Result<Outcome, String> {
        let judged = judge(&self.world.forge.history)?;
        let mut outcome = Outcome { steps: self.steps, merges: judged.merges, ..Outcome::default() };
        for at in 0..self.instances.len() {
            let report = self.report(at).ok_or("there is no report")?;
            outcome.stops.push(report.stop.clone());
            outcome.statuses.extend(report.pulls.iter().map(|row| format!("{:?}", row.status)));
            let state = self.instances[at].state.as_ref().ok_or("there is no state")?;
            outcome.gates.extend(state.tour.gates.iter().map(|asked| format!("{}={}", asked.gate.name, asked.answer.choice)));
        }
        Ok(outcome)
    }

    pub fn story(&self, seed: u64, wrong: &str) -> String {
        let events = &self.world.forge.history.0;
        let began = events.iter().filter(|event| matches!(event, Event::Began { .. })).map(Event::line);
        let end = events[events.len().saturating_sub(60)..].iter().map(Event::line);
        let story: Vec<String> = began.chain(end).collect();
        format!("seed {seed}: {wrong}\n{:?}\n{}\nSWEEP_SEED={seed}", self.world.cast, story.join("\n"))
    }
}

/// How often each was seen.
pub type Tally = BTreeMap<String, u64>;
