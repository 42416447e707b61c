#![doc = include_str!("../README.md")]
// The whole crate is test code: it fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod proxy;
mod script;
mod turns;

pub use proxy::LossyProxy;
pub use script::{Harm, Rule, Seen};
