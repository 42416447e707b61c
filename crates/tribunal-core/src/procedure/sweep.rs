//! `sweep`: a set of pull requests is reviewed by reviewer–responder pairs, one round each, and what is approved is merged in order;
//! with `--loop` again and again, under budgets, stop conditions and gates. One machine for both: a plain sweep is one tick.
//!
//! ```text
//! Acquire ─► Discover ─► Look × n ─► (Ask × n) ─► rounds, a lane for each pair ─► Look × n ─► (Ask) ─► landings, one at a time
//!    ▲                                                                                                        │
//!    │                                                                                          (Ask × n) ◄───┘
//!    └── Rest ◄── Release ◄── (Export) ◄───────────────────────────────────────────────────────────┤
//!                                                                   Done ◄── Release ◄── Report ◄──┘
//! ```
//! As soon as anything says that the run ends, nothing new is begun: what is under way comes back, is written down, and the one report
//! is given.

pub mod account;
mod asking;
mod barrier;
mod discovering;
mod drive;
pub mod effect;
mod ending;
pub mod export;
pub mod failure;
pub mod find;
pub mod gates;
pub mod history;
pub mod landing;
mod leaving;
pub mod lock;
mod locking;
pub mod merging;
mod pairs;
mod permit;
mod progress;
pub mod purse;
pub mod report;
pub mod request;
pub mod round;
pub mod screen;
pub mod stops;
pub mod tick;
pub mod tour;
pub mod words;

pub use effect::{Act, Effect, Input, Order, Outcome, Read, Ticket, Trouble};
pub use report::Report;
pub use request::Request;

use super::{Millis, Step, StepError};
use crate::call::money::Money;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tick::Tick;
use tour::Tour;

/// Which shape a stored state has.
pub const MODEL: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub model: u32,
    pub request: Request,
    /// Of a resumed run: when that one began (SL-138).
    pub started_at: Millis,
    pub tour: Tour,
    /// What is under way.
    pub flights: BTreeMap<Ticket, Flight>,
    pub phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    pub order: Order,
    /// Set aside for it.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub reserved: Money,
}

fn is_nothing(money: &Money) -> bool {
    *money == Money::ZERO
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    Acquiring,
    Discovering(Box<Tick>),
    /// Those that a resumed run left at another head are asked about.
    Reattaching(Box<Tick>),
    Screening(Box<Tick>),
    /// Criteria that are not clear.
    Clarifying(Box<Tick>),
    Budgeting(Box<Tick>),
    Rounds(Box<Tick>),
    /// All rounds are over; what is approved is looked at before the first merge (SL-83).
    Gathering(Box<Tick>),
    Ordering(Box<Tick>),
    Landing(Box<Tick>),
    Leaving(Box<Tick>),
    Exporting,
    Reporting(Box<Report>),
    Releasing(Option<Box<Report>>),
    Resting,
    Done(Box<Report>),
}

impl State {
    pub fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Done(_))
    }

    pub fn upgrade(self) -> Result<Self, StepError> {
        if self.model > MODEL { Err(StepError::LaterModel(self.model)) } else { Ok(self) }
    }

    pub fn report(&self) -> Option<&Report> {
        match &self.phase {
            Phase::Reporting(report) | Phase::Releasing(Some(report)) | Phase::Done(report) => Some(report),
            _ => None,
        }
    }

    fn tick_mut(&mut self) -> Option<&mut Tick> {
        match &mut self.phase {
            Phase::Discovering(tick)
            | Phase::Reattaching(tick)
            | Phase::Screening(tick)
            | Phase::Clarifying(tick)
            | Phase::Budgeting(tick)
            | Phase::Rounds(tick)
            | Phase::Gathering(tick)
            | Phase::Ordering(tick)
            | Phase::Landing(tick)
            | Phase::Leaving(tick) => Some(tick),
            Phase::Acquiring | Phase::Exporting | Phase::Reporting(_) | Phase::Releasing(_) | Phase::Resting | Phase::Done(_) => {
                None
            }
        }
    }

    /// Set aside for everything that is under way.
    pub fn reserved(&self) -> Money {
        self.flights.values().map(|flight| flight.reserved).sum()
    }

    /// When the wall clock of a loop has run out.
    pub fn deadline(&self) -> Option<Millis> {
        let minutes = self.tour.ceilings.map(|ceilings| ceilings.minutes)?;
        Some(self.started_at.saturating_add(minutes.saturating_mul(60_000)))
    }

    pub fn is_out_of_time(&self, now: Millis) -> bool {
        self.deadline().is_some_and(|deadline| now >= deadline)
    }
}

/// One step. The outcome of something that is not under way is old news, and changes nothing.
pub fn step(state: Option<State>, input: Input, now: Millis) -> Result<Step<State, Effect>, StepError> {
    match (state, input) {
        (None, Input::Start { request }) => Ok(drive::start(*request, now)),
        (None, Input::Done { .. } | Input::Interrupted) => Err(StepError::NotStarted),
        (Some(_), Input::Start { .. }) => Err(StepError::AlreadyStarted),
        (Some(state), Input::Interrupted) => Ok(drive::interrupted(state)),
        (Some(state), Input::Done { ticket, outcome }) => drive::done(state, ticket, *outcome, now),
    }
}
