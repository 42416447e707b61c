//! Everything Tribunal says about a review, in every format. Nothing is worded anywhere else.

pub mod anchor;
pub mod attempt;
pub mod claim;
pub mod code_span;
pub mod difference;
pub mod doubles;
pub mod drafts;
pub mod inline;
pub mod markdown;
pub mod marker;
pub mod memory;
pub mod needs_person;
pub mod outgoing;
pub mod rdjson;
pub mod reconcile;
pub mod refused;
pub mod resend;
pub mod sarif;
pub mod say_once;
pub mod status;
pub mod sticky;
pub mod summary;
pub mod threads;
pub mod verdict;
pub mod visible;

#[cfg(test)]
pub mod paper;
#[cfg(test)]
pub mod tests;
