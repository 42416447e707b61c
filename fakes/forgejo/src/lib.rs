#![doc = include_str!("../README.md")]
// A fake that cannot go on stops the test that uses it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod call;
mod comments;
mod contract;
mod issues;
mod jobs;
mod merging;
mod paths;
mod pulls;
mod reviews;
mod shape;
mod site;
mod state;
mod statuses;

pub use contract::Contract;
pub use paths::{PATHS, SINCE_17};
pub use site::Forgejo;
pub use state::{Quirk, Rules, Team};
