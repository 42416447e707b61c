//! What a child may touch. Flags of a coding agent are wishes; this is the boundary.
//!
//! Every program that we start for somebody else's text (agent CLIs, `command` agents, linters, validation commands) gets the same
//! profile: it reads the system's programs, its own installation and what it was given; it writes its own folders; it talks to
//! nobody unless the config says so. There is no wider profile to choose.
//!
//! | layer | file | takes away |
//! |---|---|---|
//! | namespaces | [`space`], [`view`] | every file that is not listed, other processes, other networks; `/tmp` and `/dev/shm` are the child's own |
//! | Landlock | [`files`] | the same files once more, TCP ports, signals and abstract sockets of others |
//! | seccomp | [`calls`] | sockets of every family that is not needed, and calls that no reviewer needs |
//! | bubblewrap | [`bubblewrap`] | the same as namespaces, where we may not make them ourselves |
//!
//! [`plan`] decides which of them a child gets on this machine, or that it cannot run. A layer that was decided on and cannot be
//! built ends the child: it never runs with less.
//!
//! Limits on memory, processes, disk and output are watched by the supervisor ([`crate::process`]): no limit of the kernel counts a
//! family.

use std::path::PathBuf;
use tribunal_core::policy::confinement::ProgramNetwork;

#[cfg(target_os = "linux")]
pub(crate) mod bubblewrap;
#[cfg(target_os = "linux")]
pub(crate) mod calls;
#[cfg(target_os = "linux")]
pub(crate) mod enter;
#[cfg(target_os = "linux")]
pub(crate) mod files;
pub mod home;
pub mod installed;
pub(crate) mod plan;
#[cfg(target_os = "linux")]
pub(crate) mod probe;
pub mod reads;
#[cfg(target_os = "linux")]
pub(crate) mod space;
pub mod strength;
#[cfg(target_os = "linux")]
pub(crate) mod view;

pub use plan::{Facts, NotConfined};
pub use reads::Reads;
pub use strength::{Strength, describe, lack, lack_that_is_allowed, strength};

/// Whom a child may talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    Any,
    None,
    /// One TCP port of this machine.
    Port(u16),
}

impl From<ProgramNetwork> for Network {
    fn from(network: ProgramNetwork) -> Self {
        match network {
            ProgramNetwork::Nobody => Network::None,
            ProgramNetwork::Anybody => Network::Any,
            // Which port it is makes no difference to what it takes.
            ProgramNetwork::OurPort => Network::Port(1),
        }
    }
}

impl Network {
    /// As configs say it.
    pub fn open(yes: bool) -> Self {
        if yes { Network::Any } else { Network::None }
    }
}

const MEBIBYTE: u64 = 1024 * 1024;
const GIBIBYTE: u64 = 1024 * MEBIBYTE;

/// The limits of one child and of all that it starts. Each of them has a value: none can be left out.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Beside the system's programs and libraries.
    pub reads: Reads,
    pub writable: Vec<PathBuf>,
    pub network: Network,
    /// Bytes of memory, over the whole family.
    pub memory: u64,
    /// Processes, over the whole family.
    pub processes: usize,
    /// Files that one process has open.
    pub open_files: u64,
    /// Bytes of one written file.
    pub file_size: u64,
    /// Bytes that the writable folders may grow by.
    pub disk: u64,
    /// Files and folders that they may grow by.
    pub files: u64,
}

impl Limits {
    /// For an agent or a linter.
    pub fn new(reads: Reads, writable: Vec<PathBuf>, network: Network) -> Self {
        Self {
            reads,
            writable,
            network,
            memory: 4 * GIBIBYTE,
            processes: 128,
            open_files: 8192,
            file_size: GIBIBYTE,
            disk: 2 * GIBIBYTE,
            files: 200_000,
        }
    }

    /// For commands that build and test.
    pub fn for_builds(self) -> Self {
        Self { memory: 8 * GIBIBYTE, processes: 512, file_size: 4 * GIBIBYTE, disk: 16 * GIBIBYTE, files: 1_000_000, ..self }
    }
}

/// The person's word, given in their own environment, that programs may run where this machine cannot confine them. No file of a
/// repository can say it.
pub const UNCONFINED: &str = "TRIBUNAL_UNCONFINED";

pub fn may_run_unconfined() -> bool {
    std::env::var_os(UNCONFINED).is_some_and(|word| word == "1")
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
