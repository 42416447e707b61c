//! What is done about feedback: by whom, how far, and when it stops.
//!
//! An assessor says what shall be done about each item ([`assess`]); a fixer's patch is held to what a fix may be ([`patch`]);
//! [`answer`] has the words that are posted and says which threads may be closed. [`signals`] tell when fixing no longer helps,
//! [`ladder`] which reason ends a loop, and [`report`] is the one account of it.

pub mod answer;
pub mod assess;
pub mod awaited;
pub mod condition;
pub mod edits;
pub mod embedded;
pub mod end;
pub mod ladder;
pub mod patch;
pub mod record;
pub mod report;
pub mod rewrite;
pub mod signals;
pub mod splice;
pub mod suggestion;
