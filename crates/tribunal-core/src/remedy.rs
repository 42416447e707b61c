//! What is done about feedback: by whom, how far, and when it stops.

pub mod assess;
pub mod ladder;
