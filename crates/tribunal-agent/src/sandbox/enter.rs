//! From `fork` to `exec`: how a child becomes a confined one, and who keeps it.
//!
//! ```text
//! supervisor (us) ── keeper ── [first process of the own namespace] ── program ── whatever it starts
//! ```
//!
//! The keeper is a copy of us that does nothing but wait. Every orphan in the family becomes its child, so a daemon that leaves its
//! group and session is still found; and when we are killed, even by `kill -9`, the kernel tells the keeper, which ends them all.
#![allow(unsafe_code)]

use super::{Limits, Network, Reads, calls, files, space};
use crate::process::family;
use landlock::RulesetCreated;
use seccompiler::BpfProgram;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// Everything the child needs, made before the fork: after it, nothing may be looked up.
struct Entry {
    apart: bool,
    door: Option<(u16, RawFd)>,
    ruleset: Option<RulesetCreated>,
    is_narrow: bool,
    filters: Vec<BpfProgram>,
    limits: Vec<(Resource, u64)>,
    supervisor: libc::pid_t,
}

/// What the supervisor keeps of it.
pub struct Confined {
    /// The child has processes of its own: its family ends with its first process.
    pub apart: bool,
    /// Where the child's listener arrives, if it makes one.
    pub channel: Option<UnixStream>,
    /// Files that must stay open until the child runs.
    pub held: Vec<File>,
    /// Held until the child runs.
    _theirs: Option<UnixStream>,
}

/// Arranges that the child confines itself before it runs its program.
pub fn confine(command: &mut Command, limits: &Limits) -> io::Result<Confined> {
    // With the network open there is no network of its own, and so no namespaces.
    let apart = limits.apart && limits.network != Network::Any && space::works();
    prepare(command, limits, apart, true, calls::filters(limits.network).unwrap_or_default())
}

/// For a program that builds the rest itself, as bubblewrap does: only ports and signals are confined here.
pub fn confine_outside(command: &mut Command, limits: &Limits) -> io::Result<Confined> {
    prepare(command, limits, false, false, Vec::new())
}

fn prepare(command: &mut Command, limits: &Limits, apart: bool, files: bool, filters: Vec<BpfProgram>) -> io::Result<Confined> {
    // Without Landlock there is nothing to build; whether that will do is the caller's to say, by `strength`.
    let ruleset = files::level().and_then(|_| files::ruleset(limits, apart, files).ok());
    let (ours, theirs) = match limits.network {
        Network::Port(_) if apart => UnixStream::pair().map(|(ours, theirs)| (Some(ours), Some(theirs)))?,
        Network::Any | Network::None | Network::Port(_) => (None, None),
    };
    let door = match (limits.network, &theirs) {
        (Network::Port(port), Some(theirs)) => Some((port, theirs.as_raw_fd())),
        _ => None,
    };
    let mut entry = Entry {
        apart,
        door,
        ruleset,
        is_narrow: files && matches!(limits.reads, Reads::Only { .. }),
        filters,
        limits: resources(limits, apart),
        supervisor: std::process::id() as libc::pid_t,
    };
    // SAFETY: the closure runs between fork and exec, in a process with one thread. It makes system calls on what was built before;
    // the keeper's branch also allocates, which the C libraries that we build for allow after a fork.
    unsafe {
        command.pre_exec(move || enter(&mut entry));
    }
    Ok(Confined { apart, channel: ours, held: Vec::new(), _theirs: theirs })
}

/// No address-space limit: node and bun reserve far more than they use. Memory is watched by the supervisor; the data limit is a
/// second fence for what grows faster than it looks.
fn resources(limits: &Limits, apart: bool) -> Vec<(Resource, u64)> {
    let mut all = vec![(libc::RLIMIT_CORE, 0)];
    if let Some(size) = limits.file_size {
        all.push((libc::RLIMIT_FSIZE, size));
    }
    if let Some(memory) = limits.memory {
        all.push((libc::RLIMIT_DATA, memory.saturating_mul(2)));
    }
    if limits.apart {
        all.push((libc::RLIMIT_NOFILE, 8192));
    }
    // Counted in the child's own user namespace; outside one it would count all that its user runs.
    if let (true, Some(processes)) = (apart, limits.processes) {
        all.push((libc::RLIMIT_NPROC, processes.saturating_mul(16) as u64));
    }
    all
}

unsafe fn enter(entry: &mut Entry) -> io::Result<()> {
    // SAFETY: see `prepare`.
    unsafe {
        libc::setsid();
        if entry.apart {
            space::leave()?;
        }
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => {}
            child => keep(child, entry.supervisor, entry.apart),
        }
        if entry.apart {
            space::show_own_processes();
            space::loopback()?;
            if let Some((port, channel)) = entry.door {
                space::hand_over(&space::listen(port)?, channel)?;
            }
            match libc::fork() {
                -1 => return Err(io::Error::last_os_error()),
                0 => {}
                child => wait_as_first(child),
            }
        }
        // Bubblewrap needs what it has, and drops it itself.
        match (entry.apart || entry.is_narrow, entry.filters.is_empty()) {
            (true, _) => space::drop_capabilities(0),
            (false, false) => space::drop_capabilities(space::WITH_FILES),
            (false, true) => {}
        }
        for (resource, value) in &entry.limits {
            lower(*resource, *value);
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0);
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(mut ruleset) = entry.ruleset.take() {
            if entry.apart && entry.is_narrow {
                // The list was made before this `/proc` was there.
                ruleset = files::allow_processes(ruleset).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
            }
            ruleset.restrict_self().map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
        }
        for filter in &entry.filters {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
        }
    }
    Ok(())
}

/// A limit that is already lower stays.
unsafe fn lower(resource: Resource, value: u64) {
    // SAFETY: plain system calls on a local.
    unsafe {
        let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(resource, &raw mut now) == 0 {
            let value = value.min(now.rlim_max);
            let lowered = libc::rlimit { rlim_cur: value, rlim_max: value };
            libc::setrlimit(resource, &raw const lowered);
        }
    }
}

/// The keeper's life. It holds no descriptor, so that pipes end when the family ends.
unsafe fn keep(child: libc::pid_t, supervisor: libc::pid_t, apart: bool) -> ! {
    // SAFETY: plain system calls on locals; it leaves by `_exit` or a signal.
    unsafe {
        withdraw();
        let mut waited: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut waited);
        for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&raw mut waited, signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, &raw const waited, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong, 0, 0, 0);
        let mut orphaned = libc::getppid() != supervisor;
        loop {
            let ended = reap(child);
            if orphaned || ended.is_some() {
                end_family(child, apart);
                finish(ended.unwrap_or(libc::SIGKILL), apart);
            }
            let signal = libc::sigwaitinfo(&raw const waited, std::ptr::null_mut());
            orphaned = signal != libc::SIGCHLD && signal > 0;
        }
    }
}

/// Collects all that has ended; the status of the one that matters.
unsafe fn reap(awaited: libc::pid_t) -> Option<libc::c_int> {
    let mut found = None;
    loop {
        let mut status = 0;
        // SAFETY: a plain system call on a local.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        match ended {
            pid if pid == awaited => found = Some(status),
            pid if pid > 0 => {}
            _ => return found,
        }
    }
}

unsafe fn end_family(child: libc::pid_t, apart: bool) {
    // SAFETY: signals to processes below us, which cannot be anyone else's while they are unreaped.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        if apart {
            // The kernel ends the rest of the namespace before this wait returns.
            libc::waitpid(child, std::ptr::null_mut(), 0);
            return;
        }
        for _ in 0..400 {
            let members = family::below(libc::getpid() as u32);
            if members.is_empty() {
                return;
            }
            for member in members {
                libc::kill(member.id as libc::pid_t, libc::SIGKILL);
            }
            reap(child);
            libc::usleep(2_000);
        }
    }
}

/// Ends as the program ended.
unsafe fn finish(status: libc::c_int, apart: bool) -> ! {
    // SAFETY: ends this process.
    unsafe {
        if libc::WIFSIGNALED(status) && !apart {
            let signal = libc::WTERMSIG(status);
            libc::signal(signal, libc::SIG_DFL);
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            libc::kill(libc::getpid(), signal);
        }
        libc::_exit(code(status))
    }
}

fn code(status: libc::c_int) -> libc::c_int {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// The first process of a namespace: collects orphans, and ends when the program does; the kernel then ends the others.
unsafe fn wait_as_first(child: libc::pid_t) -> ! {
    // SAFETY: plain system calls on locals; it leaves by `_exit`.
    unsafe {
        withdraw();
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0);
        loop {
            let mut status = 0;
            match libc::waitpid(-1, &raw mut status, 0) {
                pid if pid == child => libc::_exit(code(status)),
                -1 if *libc::__errno_location() != libc::EINTR => libc::_exit(1),
                _ => {}
            }
        }
    }
}

/// Closes everything, and shuts the memory, which is a copy of ours with all that we know, against the family.
unsafe fn withdraw() {
    // SAFETY: this process uses no descriptor any more.
    unsafe {
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        if libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) != 0 {
            for descriptor in 0..1024 {
                libc::close(descriptor);
            }
        }
    }
}
