//! From `fork` to `exec`: how a child becomes a confined one, and who keeps it.
//!
//! ```text
//! supervisor (us) ── keeper ── [first process of the own namespace] ── program ── whatever it starts
//! ```
//!
//! The keeper is a copy of us that does nothing but wait. Every orphan in the family becomes its child, so a daemon that leaves its
//! group and session is still found; and when we are killed, even by `kill -9`, the kernel tells the keeper, which ends them all.
#![allow(unsafe_code)]

use super::plan::{Plan, Walls};
use super::view::View;
use super::{Limits, Network, calls, files, space};
use crate::process::family;
use seccompiler::BpfProgram;
use stage::{Stage, Stages};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

pub mod stage;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// How long the keeper tries to end a family; less than the supervisor waits for the keeper.
const LONGEST_ENDING: Duration = Duration::from_secs(2);

/// Everything the child needs, made before the fork: after it, nothing may be looked up.
struct Entry {
    view: Option<View>,
    own_network: bool,
    door: Option<(u16, RawFd)>,
    ruleset: Option<files::Rules>,
    /// Bubblewrap needs what it has, and drops it itself.
    keeps_capabilities: bool,
    filters: Vec<BpfProgram>,
    limits: Vec<(Resource, u64)>,
    supervisor: libc::pid_t,
    stage: Stages,
}

/// What the supervisor keeps of it.
pub struct Confined {
    /// The child has processes of its own: its family ends with its first process.
    pub apart: bool,
    /// Where the child's listener arrives, if it makes one.
    pub channel: Option<UnixStream>,
    /// Files that must stay open until the child runs.
    pub held: Vec<File>,
    /// How far the child came.
    pub stage: Stages,
    /// Held until the child runs.
    _theirs: Option<UnixStream>,
}

/// Arranges that the child confines itself as planned before it runs its program. What cannot be arranged is an error, and what the
/// child cannot do ends it.
pub fn confine(command: &mut Command, limits: &Limits, plan: &Plan, directory: &Path) -> io::Result<Confined> {
    let is_wrapped = plan.walls == Walls::Bubblewrap;
    let apart = plan.walls == Walls::Namespaces;
    let ruleset = match plan.landlock {
        Some(level) => files::Rules::new(limits, level, plan.own_network, !is_wrapped)?,
        None => None,
    };
    let filters = if is_wrapped { Vec::new() } else { calls::filters(limits.network, plan.calls)? };
    let view = if apart { Some(View::new(limits, directory)?) } else { None };
    prepare(command, limits, Parts { view, ruleset, filters, own_network: plan.own_network, is_wrapped })
}

/// Only what needs no sandbox: the family is kept together and limited. For where the person has allowed it.
pub fn supervise(command: &mut Command, limits: &Limits) -> io::Result<Confined> {
    prepare(command, limits, Parts { view: None, ruleset: None, filters: Vec::new(), own_network: false, is_wrapped: true })
}

struct Parts {
    view: Option<View>,
    ruleset: Option<files::Rules>,
    filters: Vec<BpfProgram>,
    own_network: bool,
    is_wrapped: bool,
}

fn prepare(command: &mut Command, limits: &Limits, parts: Parts) -> io::Result<Confined> {
    let apart = parts.view.is_some();
    let (ours, theirs) = match limits.network {
        Network::Port(_) if parts.own_network => UnixStream::pair().map(|(ours, theirs)| (Some(ours), Some(theirs)))?,
        Network::Any | Network::None | Network::Port(_) => (None, None),
    };
    let door = match (limits.network, &theirs) {
        (Network::Port(port), Some(theirs)) => Some((port, theirs.as_raw_fd())),
        _ => None,
    };
    let stage = Stages::new()?;
    let mut entry = Entry {
        view: parts.view,
        own_network: parts.own_network,
        door,
        ruleset: parts.ruleset,
        keeps_capabilities: parts.is_wrapped,
        filters: parts.filters,
        limits: resources(limits, apart),
        supervisor: std::process::id() as libc::pid_t,
        stage: stage.clone(),
    };
    // SAFETY: the closure runs between fork and exec, in a process with one thread. It makes system calls on what was built before;
    // the keeper's branch also allocates, which the C libraries that we build for allow after a fork.
    unsafe {
        command.pre_exec(move || enter(&mut entry));
    }
    Ok(Confined { apart, channel: ours, held: Vec::new(), stage, _theirs: theirs })
}

/// No address-space limit: node and bun reserve far more than they use. Memory is watched by the supervisor; the data limit is a
/// second fence for what grows faster than it looks.
fn resources(limits: &Limits, apart: bool) -> Vec<(Resource, u64)> {
    // Threads count as well, and a limit is for all that the user runs: in the child's own user namespace nothing else does.
    let elsewhere = if apart { 0 } else { family::threads_of_user() };
    let threads = elsewhere.saturating_add(limits.processes.saturating_mul(16) as u64);
    vec![
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_DATA, limits.memory.saturating_mul(2)),
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_NPROC, threads),
        (libc::RLIMIT_MSGQUEUE, 0),
    ]
}

unsafe fn enter(entry: &mut Entry) -> io::Result<()> {
    // SAFETY: see `prepare`.
    unsafe {
        libc::setsid();
        entry.stage.reach(Stage::Descriptors);
        close_descriptors_on_exec()?;
        if entry.view.is_some() {
            entry.stage.reach(Stage::Namespaces);
            space::leave(entry.own_network)?;
        }
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => {}
            child => keep(child, entry.supervisor, entry.view.is_some(), &entry.stage),
        }
        if let Some(view) = &entry.view {
            if entry.own_network {
                entry.stage.reach(Stage::Network);
                space::loopback()?;
                if let Some((port, channel)) = entry.door {
                    space::hand_over(&space::listen(port)?, channel)?;
                }
            }
            entry.stage.reach(Stage::Files);
            view.enter()?;
            match libc::fork() {
                -1 => return Err(io::Error::last_os_error()),
                0 => {}
                child => wait_as_first(child),
            }
        }
        if !entry.keeps_capabilities {
            entry.stage.reach(Stage::Capabilities);
            space::drop_capabilities()?;
        }
        entry.stage.reach(Stage::Limits);
        for (resource, value) in &entry.limits {
            lower(*resource, *value)?;
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0);
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(ruleset) = entry.ruleset.take() {
            entry.stage.reach(Stage::Landlock);
            let ruleset = if entry.view.is_some() { ruleset.with_own_folders()? } else { ruleset };
            ruleset.enforce()?;
        }
        entry.stage.reach(Stage::Filter);
        for filter in &entry.filters {
            seccompiler::apply_filter(filter).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
        }
        entry.stage.reach(Stage::Program);
    }
    Ok(())
}

/// What we inherited from whoever started us, and what a library opened carelessly, is not passed on.
unsafe fn close_descriptors_on_exec() -> io::Result<()> {
    const FIRST: libc::c_uint = 3;
    const ON_EXEC: libc::c_uint = 4;
    // SAFETY: plain system calls; descriptors are only marked.
    unsafe {
        if libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, ON_EXEC) == 0 {
            return Ok(());
        }
        // Kernels before 5.11.
        let mut most = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut most) != 0 {
            return Err(io::Error::last_os_error());
        }
        for descriptor in FIRST as libc::c_int..most.rlim_cur.min(1 << 20) as libc::c_int {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        Ok(())
    }
}

/// A limit that is already lower stays.
unsafe fn lower(resource: Resource, value: u64) -> io::Result<()> {
    // SAFETY: plain system calls on a local.
    unsafe {
        let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(resource, &raw mut now) != 0 {
            return Err(io::Error::last_os_error());
        }
        let value = value.min(now.rlim_max);
        let lowered = libc::rlimit { rlim_cur: value, rlim_max: value };
        if libc::setrlimit(resource, &raw const lowered) != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// The keeper's life. It holds no descriptor, so that pipes end when the family ends.
unsafe fn keep(child: libc::pid_t, supervisor: libc::pid_t, apart: bool, stage: &Stages) -> ! {
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
                if !end_family(child, apart) {
                    stage.reach(Stage::Survivors);
                }
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

/// Whether nothing is left. Without a namespace of its own, a family that is killed one by one can go on making new members between two
/// looks; so all are stopped first, until a look shows nobody new, and then killed. Nothing outside of the family is signalled: who is
/// below us cannot be anyone else while we have not collected it.
unsafe fn end_family(child: libc::pid_t, apart: bool) -> bool {
    // SAFETY: signals to processes below us.
    unsafe {
        if apart {
            libc::kill(child, libc::SIGKILL);
            // The kernel ends the rest of the namespace before this wait returns.
            libc::waitpid(child, std::ptr::null_mut(), 0);
            return true;
        }
        let begun = Instant::now();
        let mut stopped = BTreeSet::new();
        loop {
            reap(child);
            let members = family::below(libc::getpid() as u32);
            if members.is_empty() {
                return true;
            }
            if begun.elapsed() > LONGEST_ENDING {
                return false;
            }
            let mut is_grown = false;
            for member in &members {
                if stopped.insert(member.id) {
                    is_grown = true;
                    libc::kill(member.id as libc::pid_t, libc::SIGSTOP);
                }
            }
            if is_grown {
                continue;
            }
            for member in &members {
                libc::kill(member.id as libc::pid_t, libc::SIGKILL);
            }
            // A number may be another process by the next look.
            stopped.clear();
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
