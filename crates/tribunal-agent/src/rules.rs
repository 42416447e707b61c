//! The built-in reviewer: rules that are files a user can read, copy and override.
//!
//! [`load`] reads rule files, [`compile`] turns them into matchers, [`scan`] runs them over a change, [`examples`] proves each
//! against its own examples, [`fix`] repairs what a rule matched and [`proof`] checks a repair before it is made. A rule speaks only of lines that the change added: what was there before is not its fault.

mod checks;
pub mod clock;
pub mod compile;
pub mod examples;
pub mod file;
pub mod fix;
pub mod flow;
pub mod lines;
pub mod load;
pub mod object;
mod old;
pub mod proof;
pub mod scan;
mod suppress;
mod syntax;
pub mod visible;
