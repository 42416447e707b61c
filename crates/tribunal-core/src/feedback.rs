//! What reviewers say on a pull request, people, bots, our own panel and checks alike, as items that can be answered.
//!
//! [`gather`] makes the items, [`reviewer`] says whose they are, [`dedup`] which of them are one. [`injection`] looks for words that
//! want to steer us, [`dashboard`] for findings that stand elsewhere, [`baseline`] for what is new, and [`settle`] waits until nobody is talking any more.

pub mod baseline;
pub mod dashboard;
pub mod dedup;
pub mod fixable;
pub mod gather;
pub mod injection;
pub mod item;
pub mod lint;
pub mod log;
pub mod reviewer;
pub mod right;
pub mod settle;
pub mod words;

#[cfg(test)]
pub(crate) mod samples;
