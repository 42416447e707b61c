//! How things look in a terminal.

pub mod asker;
pub mod file;
pub mod frame;
pub mod out;
pub mod progress;
pub mod pull;
pub mod render;
pub mod sweep;
pub mod table;
