//! What a reviewer may say, and what of it is kept.
//!
//! A reviewer answers with a [`report::Report`]. [`admit`] checks each claim against the change (owned category, evidence that
//! stands in the diff, one-line fields, race tag, inclusion threshold) and turns it into an [`admit::Admitted`] finding with an
//! anchor, or into a counted drop. Nothing a reviewer wrote goes further without passing here.

pub mod about;
pub mod admit;
pub mod anchor;
pub mod answer;
pub mod brief;
pub mod category;
pub mod cited_path;
pub mod key;
pub mod leak;
pub mod plain;
pub mod present;
pub mod quote;
pub mod race;
pub mod report;
pub mod role;
pub mod rule_severity;
pub mod scale;
pub mod silenced;
pub mod window;
