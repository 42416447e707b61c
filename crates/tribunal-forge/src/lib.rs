//! Where changes come from, and later where words go. The only crate that will ever hold forge tokens.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod git;
