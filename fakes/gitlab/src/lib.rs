#![doc = include_str!("../README.md")]
// A fake that cannot go on stops the test that uses it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod call;
mod drafts;
mod issues;
mod merging;
mod notes;
mod people;
mod position;
mod requests;
mod shape;
mod site;
mod state;
mod statuses;

pub use site::GitLab;
pub use state::{Quirk, Rules};
