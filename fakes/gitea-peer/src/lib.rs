#![doc = include_str!("../README.md")]
// The whole crate is test code: it fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod install;
mod runner;
mod seed;
mod server;
mod stage;

pub use server::{AUTHOR, BOT, GiteaPeer, MAINTAINER, STRANGER};
pub use stage::{GiteaStage, login};
