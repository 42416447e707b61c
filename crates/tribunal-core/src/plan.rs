//! What will be looked at, how far back, and by whom: decided before anyone looks.

pub mod files;
pub mod flags;
pub mod links;
pub mod mode;
pub mod panel;
pub mod spec;
