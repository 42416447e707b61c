//! What a child may touch. Flags of a coding agent are wishes; this is the boundary.
//!
//! Four layers, each of which works without privileges, and each of which is left out loudly where the system lacks it:
//!
//! | layer | file | takes away |
//! |---|---|---|
//! | Landlock | [`files`] | files outside the lists, TCP ports but ours, signals and abstract sockets of others |
//! | seccomp | [`calls`] | system calls that no reviewer needs: tracing, mounting, namespaces, keys, io_uring, UDP |
//! | namespaces | [`space`] | other processes, other networks; everything inside dies with its first process |
//! | bubblewrap | [`bubblewrap`] | the same, and files, where our own namespaces or Landlock are not to be had |
//!
//! Limits on memory, processes and output are the supervisor's ([`crate::process`]): no limit of the kernel counts a family.

use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub(crate) mod bubblewrap;
#[cfg(target_os = "linux")]
pub(crate) mod calls;
#[cfg(target_os = "linux")]
pub(crate) mod enter;
#[cfg(target_os = "linux")]
pub(crate) mod files;
#[cfg(target_os = "linux")]
pub(crate) mod space;
pub mod strength;

pub use strength::{Strength, describe, strength};

/// What a child may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reads {
    /// The whole machine, as its user may: linters need toolchains in places that nobody can list.
    Everything,
    /// The system's programs and libraries, and these: `run` may also be executed, `read` only read.
    Only { run: Vec<PathBuf>, read: Vec<PathBuf> },
}

/// Whom a child may talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    Any,
    None,
    /// One TCP port of this machine.
    Port(u16),
}

impl Network {
    /// As configs say it.
    pub fn open(yes: bool) -> Self {
        if yes { Network::Any } else { Network::None }
    }
}

/// The limits of one child and of all that it starts.
#[derive(Debug, Clone)]
pub struct Limits {
    pub reads: Reads,
    pub writable: Vec<PathBuf>,
    pub network: Network,
    /// Processes, network and names of its own, where the system allows it.
    pub apart: bool,
    /// Bytes of memory, over the whole family.
    pub memory: Option<u64>,
    /// Processes, over the whole family.
    pub processes: Option<usize>,
    /// Bytes of one written file.
    pub file_size: Option<u64>,
}

impl Limits {
    /// For a program that the config names: it reads the machine and writes its own folders.
    pub fn open(writable: Vec<PathBuf>, network: Network) -> Self {
        Self { reads: Reads::Everything, writable, network, apart: false, memory: None, processes: None, file_size: None }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
