//! The built-in reviewer: rules that are files a user can read, copy and override.
//!
//! [`load`] reads rule files, [`compile`] turns them into matchers, [`scan`] runs them over a change, [`examples`] proves each
//! against its own examples, [`fix`] repairs what a rule matched and [`proof`] checks a repair before it is made. A rule speaks only of lines that the change added: what was there before is not its fault.

mod checks;
pub mod clock;
mod comments;
pub mod compile;
pub mod examples;
pub mod file;
pub mod fix;
pub mod flow;
pub mod lines;
pub mod load;
mod misread;
pub mod object;
mod old;
mod php_names;
pub mod proof;
mod rust_macros;
pub mod scan;
mod suppress;
mod syntax;
mod threads;
pub mod visible;
mod yaml;
