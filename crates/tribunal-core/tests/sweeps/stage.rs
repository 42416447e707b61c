//! A calm world for one run, in which a test says what is out of the ordinary.

use super::cast::Cast;
use super::chance::Chance;
use super::forge::{Forge, Pr};
use super::hands::name;
use super::history::{Event, History};
use super::judge::judge;
use super::trial::Trial;
use super::world::World;
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::merge::policy::{MergePolicy, When};
use tribunal_core::procedure::sweep::history::HistoryLine;
use tribunal_core::procedure::sweep::lock::{Holder, Skill};
use tribunal_core::procedure::sweep::report::Row;
use tribunal_core::procedure::sweep::{Act, Effect, Input, Order, Outcome, Report, Request, State};

pub struct Stage {
    pub trial: Trial,
    request: Option<Request>,
}

/// How it ended.
pub struct Told {
    pub report: Report,
    pub state: State,
    pub history: History,
}

impl Stage {
    /// The base merges what is approved.
    pub fn new(request: Request) -> Self {
        let policy = MergePolicy { when: When::Approved, ..MergePolicy::default() };
        let mut world = World::new(Chance::new(7), Cast::calm(), Forge::new(policy));
        world.scripted.insert(GateName::BudgetEscalation, Choice::Continue);
        Stage { trial: Trial::new(world), request: Some(request) }
    }

    pub fn pull(mut self, change: impl FnOnce(&mut Pr)) -> Self {
        self.trial.world.forge.open(change);
        self
    }

    pub fn world(mut self, change: impl FnOnce(&mut World)) -> Self {
        change(&mut self.trial.world);
        self
    }

    pub fn answer(mut self, gate: GateName, choice: Choice) -> Self {
        self.trial.world.scripted.insert(gate, choice);
        self
    }

    /// The next effect of this name comes to that.
    pub fn plan(mut self, effect: &str, outcome: Outcome) -> Self {
        self.trial.world.planned.entry(effect.to_owned()).or_default().push_back(outcome);
        self
    }

    /// Somebody else has the lock, and lives.
    pub fn locked(mut self) -> Self {
        self.trial.world.alive.insert(9);
        self.trial.world.forge.set_lock(Some(other()));
        self
    }

    fn begin(&mut self) {
        if let Some(request) = self.request.take() {
            self.trial.begin(request).expect("it begins");
        }
    }

    /// Until it is about to do something of this name, or is over.
    pub fn until(mut self, effect: &str) -> Self {
        self.begin();
        while !self.under_way().contains(&effect.to_owned()) && !self.state().is_settled() {
            self.trial.turn(0).expect("it goes on");
        }
        self
    }

    /// What is under way.
    pub fn under_way(&self) -> Vec<String> {
        self.trial.instances[0].open.iter().map(name).collect()
    }

    pub fn state(&self) -> &State {
        self.trial.instances[0].state.as_ref().expect("a state")
    }

    pub fn interrupt(mut self) -> Self {
        let run = self.trial.instances[0].me.run.clone();
        self.trial.world.interrupted.insert(run.clone());
        self.trial.world.forge.history.0.push(Event::Interrupted { run });
        self.trial.step(0, Input::Interrupted).expect("it is interrupted");
        self
    }

    /// To its end, and judged.
    pub fn run(mut self) -> Told {
        self.begin();
        self.trial.live().expect("it ends");
        let history = self.trial.world.forge.history.clone();
        judge(&history).map_err(|wrong| self.trial.story(7, &wrong)).unwrap();
        let state = self.state().clone();
        Told { report: state.report().cloned().expect("a report"), state, history }
    }
}

pub fn other() -> Holder {
    Holder {
        pid: 9,
        iteration: 1,
        started_at: "2026-11-16T07:30:00Z".into(),
        skill: Skill::Review,
        run: Some("other".into()),
        process: None,
    }
}

impl Told {
    pub fn sent(&self) -> impl Iterator<Item = &Effect> {
        self.history.0.iter().filter_map(|event| match event {
            Event::Sent { effect, .. } => Some(effect),
            _ => None,
        })
    }

    /// The names of everything that was sent, in its order.
    pub fn names(&self) -> Vec<String> {
        self.sent().map(name).collect()
    }

    pub fn count(&self, effect: &str) -> usize {
        self.names().iter().filter(|name| *name == effect).count()
    }

    pub fn place(&self, effect: &str) -> usize {
        self.names().iter().position(|name| name == effect).unwrap_or_else(|| panic!("no {effect} in {:?}", self.names()))
    }

    pub fn row(&self, number: u64) -> &Row {
        self.report.pulls.iter().find(|row| row.number == number).expect("a row")
    }

    pub fn status(&self, number: u64) -> String {
        format!("{:?}", self.row(number).status)
    }

    pub fn note(&self, number: u64) -> &str {
        self.row(number).note.as_deref().unwrap_or_default()
    }

    pub fn lines(&self) -> Vec<&HistoryLine> {
        let lines = self.sent().filter_map(|effect| match &effect.order {
            Order::Act(Act::Export { line, .. }) => Some(&**line),
            _ => None,
        });
        lines.collect()
    }

    /// Name and answer of each gate.
    pub fn gates(&self) -> Vec<String> {
        self.state.tour.gates.iter().map(|asked| format!("{}={}", asked.gate.name, asked.answer.choice)).collect()
    }

    pub fn questions(&self) -> Vec<&str> {
        self.state.tour.gates.iter().map(|asked| asked.gate.question.as_str()).collect()
    }
}
