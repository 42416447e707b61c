#![doc = include_str!("../README.md")]
// A fake that cannot go on stops the test that uses it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod app;
mod checks;
mod gate;
mod graphql;
mod issues;
mod merge;
mod model;
mod pulls;
mod reviews;
mod route;
mod rules;
mod site;
mod talk;
mod view;

pub use app::{APP_ID, CLIENT_ID, private_key};
pub use model::{Anchor, Draft};
pub use site::{Quirk, Site};

pub type GitHub = fake_forge_base::Server<Site>;
type Base = fake_forge_base::Base<Quirk>;
