//! `sweep`: a set of pull requests is reviewed by reviewer–responder pairs, one round each, and what is approved is merged in order;
//! with `--loop` again and again, under budgets, stop conditions and gates. One machine for both: a plain sweep is one tick.

pub mod effect;
pub mod history;
pub mod lock;
pub mod report;
pub mod request;

pub use effect::{Act, Effect, Input, Order, Outcome, Read, Ticket, Trouble};
pub use request::Request;
