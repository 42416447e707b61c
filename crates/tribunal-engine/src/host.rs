//! Hosts keep a run's state, deliver inputs one at a time, and run effects. The embedded one is the first.

pub mod embedded;
