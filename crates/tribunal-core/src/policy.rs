//! What people may set, what it means, and where each value came from.

pub mod config;
pub mod context;
pub mod layers;
