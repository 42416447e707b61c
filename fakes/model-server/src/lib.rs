#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod asked;
mod attack;
mod cache;
mod embeddings;
mod record;
mod reply;
mod script;
mod server;
mod trap;
mod wire;

pub use attack::{Attack, ON_DISK};
pub use record::{Accounting, Received};
pub use script::{CacheMinimum, Fault, Matcher, Nth, Reply, ReportPlan, Rule, Script, ToolCall};
pub use server::ModelServer;
pub use trap::{Hit, Protocol, TrapServer};
pub use wire::{Usage, Wire};
