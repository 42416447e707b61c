//! Rules that follow data: from where untrusted data comes in, through what is done with it, to where it must not arrive.
//!
//! [`entry`] is what a rule says in its file, [`compile`] makes one matcher of all flow rules of a language, [`evaluator`] goes through
//! the functions that a change touches, and [`find`] tells the ways that it found. Pure: text and rules in, flows out.

mod branches;
mod calls;
mod checks;
mod code;
pub mod compile;
pub mod entry;
mod evaluator;
mod exemptions;
mod fields;
pub mod find;
mod functions;
mod local_functions;
mod marks;
mod origin;
mod pattern;
mod state;
mod syntax;
pub mod tables;
