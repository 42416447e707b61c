//! The pure core of Tribunal: the domain, every decision and every wording.
//!
//! Nothing here reads a file, a clock, an environment variable or a socket, and no map is unordered: the same input gives the
//! same output, byte for byte. The folders are the flow of a review: a [`diff`] is planned ([`plan`]), given to reviewers whose
//! answers (a [`linter`]'s results among them) become [`findings`], merged ([`combine`]), put into a [`report`] and said ([`publish`]). What anybody says on a pull
//! request is [`feedback`], what is done about it a [`remedy`]; whether it may be merged is said by [`mod@merge`]. What a
//! repository knows besides its code is its [`library`]. [`procedure`] holds the state machines that drive it, [`policy`] what
//! people may set.

// Tests may stop at the first surprise; nothing else may.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod budget;
pub mod calendar;
pub mod call;
pub mod combine;
pub mod diff;
pub mod feedback;
pub mod findings;
pub mod gate;
pub mod ids;
pub mod library;
pub mod linter;
pub mod merge;
pub mod plan;
pub mod policy;
pub mod procedure;
pub mod program_path;
pub mod prompt;
pub mod publish;
pub mod pull;
pub mod remedy;
pub mod report;
