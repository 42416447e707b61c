//! A change, read once from git's own diff and then only looked at: files, hunks, line maps, text.

pub mod apply;
pub mod change;
pub mod conflict;
pub mod language;
pub mod parse;
pub mod prefix;
pub mod purpose;
pub mod series;
