//! What a reviewer may read beyond the diff.
//!
//! For now that is syntax: a grammar per language and the symbols of a file. It writes nothing and talks to nobody.

pub mod grammar;
pub mod outline;
