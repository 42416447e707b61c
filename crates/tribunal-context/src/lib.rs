//! What a reviewer may read beyond the diff: a grammar per language, the symbols of a file, and an index of what a repository knows
//! besides its code. It talks to nobody, and writes nothing but its own index.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod grammar;
pub mod index;
pub mod outline;
pub mod symbols;
