#![doc = include_str!("../README.md")]
// The whole crate is test code: a check fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checkout;
mod checks;
mod past;
pub mod record;
mod run;
mod scene;
mod stage;
mod voice;

pub use checkout::Checkout;
pub use checks::{checks, tried_by};
pub use past::plain_client;
pub use run::{Check, run};
pub use stage::{Stage, Who};
pub use voice::Voice;
