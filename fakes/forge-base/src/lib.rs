#![doc = include_str!("../README.md")]
// A fake that cannot go on stops the test that uses it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod base;
mod clock;
mod diff;
mod faults;
mod git;
mod git_http;
mod json_schema;
mod log;
mod paging;
mod people;
mod protection;
mod server;
mod wire;

pub use base::{Base, Project};
pub use clock::{Clock, Ids};
pub use diff::{Diff, FileDiff, FileStatus, Hunk, Line, Mark};
pub use faults::{Fault, Faults, Times};
pub use git::{Change, MergeWay, Repository};
pub use json_schema::{Draft, JsonSchema, Misfit};
pub use log::{Entry, Log};
pub use paging::{Paged, page};
pub use people::{Kind, Level, People, Token, User};
pub use protection::{Protection, closing};
pub use server::{Server, Site};
pub use wire::{Fate, Reply, Request};
