//! How things look in a terminal.

pub mod frame;
pub mod progress;
pub mod render;
pub mod table;
