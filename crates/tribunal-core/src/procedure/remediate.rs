//! `watch` and `respond`: feedback on a pull request is read, assessed, fixed, answered and waited for, in bounded cycles, until one
//! reason to stop holds. Both are this one machine with different policies.
//!
//! A pass consumes what was seen at its beginning, and the baseline of the next wait is taken there too: whatever is said while the
//! pass works differs from that baseline and wakes the loop (WL-123).

pub mod effect;
mod end;
mod pass;
mod preflight;
mod rounds;
mod route;
#[cfg(test)]
mod rules;
pub mod seen;
mod signs;
pub mod vigil;

pub use effect::{
    AnswerOutcome, Answering, Effect, FixOutcome, Input, Landing, Made, PullFacts, Seen, SeenItem, Trouble, Validation, Wake,
};
pub use pass::{Pass, Ready, Why};
pub use preflight::Preflight;
pub use route::{Proof, Reply, is_overtaken};

use super::review::Spend;
use super::{Millis, Step, StepError};
use crate::feedback::baseline::{Arm, Baseline, Change};
use crate::feedback::fixable::Fixable;
use crate::feedback::item::{Item, ItemId, Label, Surface};
use crate::ids::{AgentName, EffectKey, RunId, Sha};
use crate::policy::config::Policy;
use crate::policy::loops::{LoopKind, LoopPolicy};
use crate::pull::place::Place;
use crate::remedy::condition::{Blocker, Condition};
use crate::remedy::end::End;
use crate::remedy::ladder::Reason;
use crate::remedy::report::{Planned, Report};
use crate::remedy::signals::History;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which shape a stored state has.
pub const MODEL: u32 = 2;
/// Results that were thrown away because the head had moved; a branch that never rests is not ours to settle.
const MAX_DISCARDS: u32 = 5;

/// What was asked for. Stored with the run, so that resuming needs no file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub run: RunId,
    pub engine: String,
    pub place: Place,
    pub policy: Policy,
    pub loops: LoopPolicy,
    /// Agents that this author's change is not given to, and why.
    #[serde(default)]
    pub withheld: BTreeMap<AgentName, String>,
    /// Random, and unknown to whoever writes on the pull request.
    pub nonce: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub model: u32,
    pub request: Request,
    pub started_at: Millis,
    pub memory: Memory,
    pub phase: Phase,
}

/// What lasts from pass to pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub pull: Option<PullFacts>,
    /// Productive cycles (WL-47).
    pub cycles: u32,
    /// Times that the conversation was read.
    #[serde(default)]
    pub reads: u32,
    /// Times that something was found in it to work on.
    pub passes: u32,
    /// Times that an agent was sent to work (WL-98, `Routed`).
    pub routed: u32,
    pub waits: u32,
    pub discards: u32,
    /// Rejections of assessments, in all (RL-36).
    pub rejections: u32,
    /// Every item ever seen, as it was seen last.
    pub items: BTreeMap<ItemId, Item>,
    /// Those of them whose authors' words do not count here.
    #[serde(default)]
    pub left_out: BTreeSet<ItemId>,
    /// Those of them whose authors have no right to cause anything, and why.
    #[serde(default)]
    pub not_acted_on: BTreeMap<ItemId, String>,
    /// What became of it, for these last words.
    pub ends: BTreeMap<ItemId, (String, End)>,
    /// Items that were answered before and that we have tried to close.
    #[serde(default)]
    pub closed: BTreeSet<ItemId>,
    /// Fixes made for an item.
    pub fixes: BTreeMap<ItemId, u32>,
    pub history: History,
    /// What the last pass saw.
    pub baseline: Option<Baseline>,
    /// The first wait fires on an approval that was there already; later ones only on a new one (WL-124).
    pub armed: bool,
    /// When nothing happens until then, the loop ends (WL-125).
    pub idle_until: Millis,
    pub commits: Vec<(Sha, String)>,
    pub spend: Spend,
    /// The reviewer was asked again at this head, and has not answered yet.
    pub asked_at: Option<Sha>,
    /// Fixes were pushed that nothing has validated.
    #[serde(default)]
    pub unvalidated: bool,
    /// What a dry run would have said.
    #[serde(default)]
    pub planned: Vec<Planned>,
    /// Threads that we answered and could not close (WL-67).
    #[serde(default)]
    pub not_resolved: BTreeMap<ItemId, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    Preparing,
    Reading(Why),
    Closing(#[serde(deserialize_with = "pass::with_a_right")] Vec<Fixable>, Why),
    Assessing(Box<Pass>),
    Checking(Box<Pass>),
    Fixing(Box<Pass>),
    Validating(Box<Pass>),
    Landing(Box<Pass>),
    Homing(Box<Pass>),
    Answering(Box<Pass>),
    AskingAgain(Box<Pass>),
    Waiting,
    Posting(Box<Report>),
    Done(Box<Report>),
}

impl State {
    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Done(_))
    }

    /// Model 1 did not ask who may write. Its items have no right, so a pass that is under way cannot go on: it ends here, nothing is
    /// pushed, and the same command begins anew.
    pub fn upgrade(mut self) -> Result<Self, StepError> {
        if self.model > MODEL {
            return Err(StepError::LaterModel(self.model));
        }
        if self.model == 1 && self.is_in_a_pass() {
            let why = "the run was begun by an older version, which did not ask who may write here; start it again";
            let report = self.make_report(vec![Condition::blocked(Blocker::Later, "resuming", why)]);
            self.phase = Phase::Done(Box::new(report));
        }
        self.model = MODEL;
        Ok(self)
    }

    fn is_in_a_pass(&self) -> bool {
        match &self.phase {
            Phase::Preparing | Phase::Reading(_) | Phase::Waiting | Phase::Posting(_) | Phase::Done(_) => false,
            Phase::Closing(..)
            | Phase::Assessing(_)
            | Phase::Checking(_)
            | Phase::Fixing(_)
            | Phase::Validating(_)
            | Phase::Landing(_)
            | Phase::Homing(_)
            | Phase::Answering(_)
            | Phase::AskingAgain(_) => true,
        }
    }

    pub fn report(&self) -> Option<&Report> {
        match &self.phase {
            Phase::Posting(report) | Phase::Done(report) => Some(report),
            _ => None,
        }
    }

    /// When the whole must be over.
    pub fn total_until(&self) -> Millis {
        self.started_at.saturating_add(self.request.loops.wait.total.as_millis())
    }
}

type Next = (Phase, Vec<Effect>);

/// One step. An input that does not fit the phase is the answer to something that was overtaken, and changes nothing.
pub fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, StepError> {
    let Some(mut state) = state else {
        let Input::Start { request } = input else { return Err(StepError::NotStarted) };
        let idle_until = now.saturating_add(request.loops.wait.idle.as_millis());
        let memory = Memory { idle_until, ..Memory::default() };
        let state = State { model: MODEL, request: *request, started_at: now, memory, phase: Phase::Preparing };
        return Ok(Step { state, effects: vec![Effect::Prepare] });
    };
    if matches!(input, Input::Start { .. }) {
        return Err(StepError::AlreadyStarted);
    }
    let phase = std::mem::replace(&mut state.phase, Phase::Preparing);
    let (phase, effects) = advance(&mut state, phase, input, now);
    state.phase = phase;
    Ok(Step { state, effects })
}

fn advance(state: &mut State, phase: Phase, input: Input, now: Millis) -> Next {
    match (phase, input) {
        (Phase::Preparing, Input::Prepared(Ok(found))) => match preflight::problem(&found) {
            Some(why) => state.end(vec![Condition::blocked(Blocker::Person, "preflight", why)]),
            None => state.read(Why::First),
        },
        (Phase::Preparing, Input::Prepared(Err(why))) => state.end(vec![Condition::blocked(Blocker::Forge, "preflight", why)]),
        (Phase::Reading(reading), Input::Seen(Err(why))) => {
            let mut conditions = reading.decided();
            conditions.push(Condition::blocked(Blocker::Forge, "reading", why));
            state.end(conditions)
        }
        (Phase::Reading(why), Input::Seen(Ok(seen))) => state.look(why, *seen, now),
        (Phase::Closing(items, why), Input::Closed(outcomes)) => state.closed(&items, why, &outcomes),
        (Phase::Assessing(pass), Input::Assessed { said, spend }) => {
            state.memory.spend = state.memory.spend.plus(spend);
            state.assessed(pass, said, now)
        }
        (Phase::Checking(pass), Input::Checked { said, spend }) => {
            state.memory.spend = state.memory.spend.plus(spend);
            state.checked(pass, said, now)
        }
        (Phase::Fixing(pass), Input::Fixed { made, spend }) => {
            state.memory.spend = state.memory.spend.plus(spend);
            state.fixed(pass, made, now)
        }
        (Phase::Validating(pass), Input::Validated(validation)) => state.validated(pass, validation, now),
        (Phase::Landing(pass), Input::Landed(landing)) => state.landed(pass, landing, now),
        (Phase::Homing(pass), Input::Homed(homes)) => state.homed(pass, homes, now),
        (Phase::Answering(pass), Input::Answered(answering)) => state.answered(pass, answering, now),
        (Phase::AskingAgain(pass), Input::AskedAgain(asked)) => state.asked_again(pass, asked, now),
        (Phase::Waiting, Input::Woken(wake)) => state.woken(wake, now),
        (Phase::Posting(mut report), Input::Posted(posted)) => {
            if let Err(why) = posted {
                report.issues.push(format!("The report could not be posted on the pull request: {why}"));
            }
            (Phase::Done(report), Vec::new())
        }
        (phase, _) => (phase, Vec::new()),
    }
}

impl State {
    fn read(&mut self, why: Why) -> Next {
        self.memory.reads += 1;
        (Phase::Reading(why), vec![Effect::Read { nth: self.memory.reads }])
    }

    /// Waits for something to happen. `active`: it has begun, and only has to settle.
    fn wait(&mut self, active: bool, now: Millis) -> Next {
        let until = self.wait_until();
        if now >= until {
            return self.read(Why::Unwatched);
        }
        self.memory.waits += 1;
        let arm = self.arm();
        self.memory.armed = true;
        (Phase::Waiting, vec![Effect::Wait { nth: self.memory.waits, until, arm, active }])
    }

    fn wait_until(&self) -> Millis {
        self.memory.idle_until.min(self.total_until())
    }

    fn arm(&self) -> Arm {
        if self.memory.armed { Arm::Rearm } else { Arm::Initial }
    }

    fn woken(&mut self, wake: Wake, now: Millis) -> Next {
        match wake {
            Wake::Changed(Change::Merged) => self.end(vec![Condition::of(Reason::PrMerged)]),
            Wake::Changed(Change::Closed) => self.end(vec![Condition::of(Reason::PrClosed)]),
            // Only the latest approval counts, and only after a look at what else was said (WL-11, CF-20).
            Wake::Changed(Change::Approved { by }) => self.read(Why::Approved { by }),
            Wake::Changed(Change::Changed) => self.read(Why::Event),
            // An arm that ends without a word is armed again with the same baseline (WL-126).
            Wake::Changed(Change::Nothing) => self.wait(false, now),
            // What came after the last poll is looked at before nobody watches any more (WL-130).
            Wake::TimedOut => self.read(Why::Unwatched),
            Wake::Failed(why) => self.end(vec![Condition::blocked(Blocker::Forge, "polling", why)]),
        }
    }

    /// What a pass may consume was seen just now.
    fn look(&mut self, why: Why, seen: Seen, now: Millis) -> Next {
        let before = self.memory.baseline.replace(seen.baseline.clone());
        self.memory.pull = Some(seen.pull.clone());
        // A check that fails no more, or has not failed at this commit, is not shown any more. Words stay, shown or not.
        let checks = self.memory.items.values_mut().filter(|item| matches!(item.surface, Surface::Check { .. }));
        checks.for_each(|item| item.label = Label::Handled);
        for entry in &seen.items {
            let mut item = entry.item.clone();
            // A fix takes the line away that the item spoke of, or moves it; while nobody says more, it is named where it was read.
            if let Some(known) = self.memory.items.get(&item.id) {
                item.line = if known.last_word == item.last_word { known.line.or(item.line) } else { item.line.or(known.line) };
            }
            if entry.in_scope {
                self.memory.left_out.remove(&item.id);
            } else {
                self.memory.left_out.insert(item.id.clone());
            }
            match entry.right.refusal() {
                None => drop(self.memory.not_acted_on.remove(&item.id)),
                Some(why) => drop(self.memory.not_acted_on.insert(item.id.clone(), why)),
            }
            self.memory.items.insert(item.id.clone(), item);
        }
        let unclosed = self.unclosed(&seen);
        if !unclosed.is_empty() && matches!(why, Why::First | Why::Event) {
            // It is looked at again afterwards, for the same reason and against the same baseline.
            self.memory.baseline = before.or(self.memory.baseline.take());
            let nth = u32::try_from(self.memory.closed.len()).unwrap_or(u32::MAX);
            return (Phase::Closing(unclosed, why), vec![Effect::Close { nth }]);
        }
        match pass::plan(self, why, seen, before.as_ref(), now) {
            pass::Planned::End(conditions) => self.end(conditions),
            pass::Planned::LookAgain(why) => self.read(why),
            // It was looked at just now.
            pass::Planned::Wait { .. } if now >= self.wait_until() => self.end(vec![Condition::window_elapsed()]),
            pass::Planned::Wait { active } => self.wait(active, now),
            pass::Planned::Work(pass) => {
                self.open_round(&pass);
                self.assess(pass)
            }
        }
    }

    fn assess(&mut self, pass: Box<Pass>) -> Next {
        self.memory.routed += 1;
        let effect = Effect::Assess { pass: pass.number, attempt: pass.rejections.len() as u32 };
        (Phase::Assessing(pass), vec![effect])
    }

    fn is_respond(&self) -> bool {
        self.request.loops.kind == LoopKind::Respond
    }

    /// Items that are still open and that we have not settled either.
    fn open_items(&self) -> BTreeSet<ItemId> {
        let counts = |item: &&Item| !self.memory.left_out.contains(&item.id) && !self.memory.not_acted_on.contains_key(&item.id);
        let open = self.memory.items.values().filter(|item| item.is_open() && !self.settled(item)).filter(counts);
        open.map(|item| item.id.clone()).collect()
    }
}

impl Effect {
    /// Unique within a run: doing it twice must do no harm.
    pub fn key(&self, run: &RunId) -> EffectKey {
        let name = match self {
            Effect::Prepare => "prepare".to_owned(),
            Effect::Read { nth } => format!("read/{nth}"),
            Effect::Assess { pass, attempt } => format!("assess/{pass}/{attempt}"),
            Effect::Check { pass, attempt } => format!("check/{pass}/{attempt}"),
            Effect::Fix { pass } => format!("fix/{pass}"),
            Effect::Validate { pass, .. } => format!("validate/{pass}"),
            Effect::Land { pass, .. } => format!("land/{pass}"),
            Effect::Home { pass } => format!("home/{pass}"),
            Effect::Answer { pass } => format!("answer/{pass}"),
            Effect::AskAgain { pass } => format!("ask-again/{pass}"),
            Effect::Wait { nth, .. } => format!("wait/{nth}"),
            Effect::Close { nth } => format!("close/{nth}"),
            Effect::Post => "post".to_owned(),
        };
        EffectKey(format!("{run}/{name}"))
    }
}

#[cfg(test)]
mod tests;
