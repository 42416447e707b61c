//! What will be looked at, how far back, and by whom: decided before anyone looks.

pub mod attributes;
pub mod base;
pub mod files;
pub mod flags;
pub mod links;
pub mod lock_file;
pub mod mode;
pub mod panel;
pub mod pointer;
pub mod spec;
pub mod untracked;
