//! How far a child came on its way into the sandbox, told across the fork by one shared page: an error of the sandbox must not read
//! like one of the program.
#![allow(unsafe_code)]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Stage {
    Start,
    Descriptors,
    Namespaces,
    Network,
    Files,
    Capabilities,
    Limits,
    Landlock,
    Filter,
    /// Everything holds; what fails now is the program.
    Program,
    /// The program has ended, and processes that it started have not.
    Survivors,
}

impl Stage {
    const ALL: [Stage; 11] = [
        Stage::Start,
        Stage::Descriptors,
        Stage::Namespaces,
        Stage::Network,
        Stage::Files,
        Stage::Capabilities,
        Stage::Limits,
        Stage::Landlock,
        Stage::Filter,
        Stage::Program,
        Stage::Survivors,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Stage::Start => "starting a process",
            Stage::Descriptors => "closing inherited descriptors",
            Stage::Namespaces => "making namespaces",
            Stage::Network => "making a network of its own",
            Stage::Files => "mounting the files that it may see",
            Stage::Capabilities => "dropping capabilities",
            Stage::Limits => "setting limits",
            Stage::Landlock => "applying Landlock",
            Stage::Filter => "applying the system-call filter",
            Stage::Program => "starting the program",
            Stage::Survivors => "ending its processes",
        }
    }
}

/// Shared with the child.
#[derive(Debug, Clone)]
pub struct Stages(Arc<Page>);

#[derive(Debug)]
struct Page(*const AtomicU32);

// SAFETY: the page is only read and written atomically, and lives until the last owner drops it.
unsafe impl Send for Page {}
// SAFETY: as above.
unsafe impl Sync for Page {}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: mapped by `Stages::new` with this size, and nobody else unmaps it.
        unsafe {
            libc::munmap(self.0.cast_mut().cast(), size_of::<AtomicU32>());
        }
    }
}

impl Stages {
    pub fn new() -> io::Result<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping of our own, filled with zeros, which is a valid number.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<AtomicU32>(), protection, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Ok(Self(Arc::new(Page(page.cast_const().cast()))))
        }
    }

    pub fn reach(&self, stage: Stage) {
        // SAFETY: the page is mapped as long as `self` is there.
        unsafe { &*self.0.0 }.store(stage as u32, Ordering::Relaxed);
    }

    pub fn reached(&self) -> Stage {
        // SAFETY: as above.
        let number = unsafe { &*self.0.0 }.load(Ordering::Relaxed);
        Stage::ALL.into_iter().find(|stage| *stage as u32 == number).unwrap_or(Stage::Start)
    }
}
