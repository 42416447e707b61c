//! A pull request as any forge knows it: where it is, what is in it, what was said about it, and what the forge can do.
//!
//! One vocabulary for five forges. What a forge cannot do is a [`capability::Capability`], never a guess.

pub mod capability;
pub mod chronological;
pub mod command;
pub mod desk;
pub mod facts;
pub mod fault;
pub mod place;
pub mod pushable;
pub mod reports;
pub mod spoken;
pub mod talk;
pub mod told;
