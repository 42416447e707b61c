//! seccomp: the system calls that no reviewer and no linter needs, refused with `EPERM`.
//!
//! Calls are a list of refusals: a list of permissions would break with each release of four runtimes (node, bun, Rust, Python), and
//! files are held by mounts and Landlock already. Calls that are newer than the ones looked at here do not exist for a child, so that
//! the list is whole. Socket families and types are lists of permissions.
//!
//! Unix sockets are refused altogether: Landlock does not look at paths of sockets, so any that a child can name (a container
//! engine's, a session bus, an ssh agent, a terminal multiplexer) would be a way out. A connected pair is no such way, as long as it
//! is a stream: a pair of datagram sockets can still be sent to any path.
//!
//! Namespaces are refused too. Codex would use them for a sandbox of its own around the model's commands; ours is around all of
//! Codex and is stricter, and a user namespace is where most of the kernel's privilege bugs begin.

use super::Network;
use super::plan::Calls;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;
use std::io;

const REFUSED: [i64; 53] = [
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    // Mounts and roots.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    STATMOUNT,
    LISTMOUNT,
    // Namespaces.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Large and seldom used parts of the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_vhangup,
    libc::SYS_personality,
];

/// System V and POSIX queues, semaphores and shared memory, whole families: what other programs of the person made is found by a number
/// that can be guessed, and what a child makes outlives it and is counted as nobody's memory.
const IPC: [i64; 18] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmdt,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
];

/// Owners, modes, times and attributes of files, by every name that the kernel has for them.
const METADATA: [i64; 12] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];
/// The same under the names that only x86-64 still has.
#[cfg(target_arch = "x86_64")]
const OLD_METADATA: [i64; 6] =
    [libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const OLD_METADATA: [i64; 0] = [];
/// Flags and projects of files: `chattr`.
const FILE_FLAGS: [u64; 3] = [0x4008_6602, 0x4004_6602, 0x401c_5820];

/// Scheduling of a process that the first argument names; 0 is the caller.
const SCHEDULING: [i64; 6] = [
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];
/// The same with a first argument that says what the second one names, and the value of it that stands for one process.
const PRIORITIES: [(i64, u64); 2] = [(libc::SYS_setpriority, libc::PRIO_PROCESS as u64), (libc::SYS_ioprio_set, 1)];

const SIGNALS: [i64; 7] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pidfd_open,
];

// The same on every processor; the C library's list does not have them yet.
const FCHMODAT2: i64 = 452;
const STATMOUNT: i64 = 457;
const LISTMOUNT: i64 = 458;
/// The first call that nobody has looked at for this list: `setxattrat`.
const FIRST_UNKNOWN: u32 = 463;

const MSG_FASTOPEN: u64 = 0x2000_0000;
const TYPE_MASK: u64 = 0xf;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
/// The only protocol of netlink that lists interfaces and routes.
const NETLINK_ROUTE: u64 = 0;

fn condition(index: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, compare, value)
}

fn rule(parts: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions: Result<Vec<_>, _> =
        parts.iter().map(|(index, compare, value)| condition(*index, compare.clone(), *value)).collect();
    SeccompRule::new(conditions?)
}

fn architecture() -> Option<TargetArch> {
    TargetArch::try_from(std::env::consts::ARCH).ok()
}

pub fn are_known() -> bool {
    architecture().is_some()
}

/// The filters, in the order in which they are to be installed. A call with another processor's numbers ends the process.
pub fn filters(network: Network, more: Calls) -> io::Result<Vec<BpfProgram>> {
    let broken = |error: BackendError| io::Error::other(format!("the system-call filter cannot be built: {error}"));
    let architecture = architecture().ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().chain(&IPC).map(|call| (*call, Vec::new())).collect();
    refine(&mut rules, network, more).map_err(broken)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).map_err(broken)?;
    Ok(vec![filter.try_into().map_err(broken)?, absent(more)])
}

/// All types of sockets but these.
fn types_without(kept: &[libc::c_int]) -> impl Iterator<Item = u64> {
    (0..=TYPE_MASK).filter(|kind| !kept.iter().any(|kept| *kept as u64 == *kind))
}

fn refine(rules: &mut BTreeMap<i64, Vec<SeccompRule>>, network: Network, more: Calls) -> Result<(), BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    rules.insert(libc::SYS_socket, sockets(network)?);
    let mut pairs = vec![rule(&[(0, Ne, libc::AF_UNIX as u64)])?];
    for kind in types_without(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET]) {
        pairs.push(rule(&[(1, MaskedEq(TYPE_MASK), kind)])?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    if network != Network::Any {
        // Data that is sent before the connection stands passes Landlock's rule for ports.
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            rules.insert(call, vec![rule(&[(flags, MaskedEq(MSG_FASTOPEN), MSG_FASTOPEN)])?]);
        }
    }
    // Typing into the terminal that we were started from.
    let mut controls = vec![rule(&[(1, Eq, TIOCSTI)])?, rule(&[(1, Eq, TIOCLINUX)])?];
    if more.metadata {
        for control in FILE_FLAGS {
            controls.push(rule(&[(1, Eq, control)])?);
        }
        rules.extend(METADATA.iter().chain(&OLD_METADATA).map(|call| (*call, Vec::new())));
    }
    rules.insert(libc::SYS_ioctl, controls);
    if more.truncation {
        let opening = (libc::O_TRUNC | libc::O_ACCMODE) as u64;
        let reading = (libc::O_TRUNC | libc::O_RDONLY) as u64;
        rules.insert(libc::SYS_truncate, Vec::new());
        rules.insert(libc::SYS_openat, vec![rule(&[(2, MaskedEq(opening), reading)])?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![rule(&[(1, MaskedEq(opening), reading)])?]);
    }
    if more.signals {
        rules.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
    }
    if more.scheduling {
        for call in SCHEDULING {
            rules.insert(call, vec![rule(&[(0, Ne, 0)])?]);
        }
        for (call, process) in PRIORITIES {
            rules.insert(call, vec![rule(&[(0, Ne, process)])?, rule(&[(1, Ne, 0)])?]);
        }
    }
    // Limits of other processes of the same user.
    rules.insert(libc::SYS_prlimit64, vec![rule(&[(0, Ne, 0)])?]);
    let namespaces = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let clones: Result<Vec<_>, _> =
        namespaces.iter().map(|flag| *flag as u64).map(|flag| rule(&[(0, MaskedEq(flag), flag)])).collect();
    rules.insert(libc::SYS_clone, clones?);
    Ok(())
}

/// What `socket` is refused for. No VSOCK (it reaches the host of a virtual machine), ALG, PACKET, BLUETOOTH, TIPC, and no UNIX,
/// whatever the network is.
fn sockets(network: Network) -> Result<Vec<SeccompRule>, BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let (inet, inet6, netlink) = (libc::AF_INET as u64, libc::AF_INET6 as u64, libc::AF_NETLINK as u64);
    match network {
        // An empty list of conditions always holds.
        Network::None => Ok(Vec::new()),
        Network::Any => Ok(vec![
            rule(&[(0, Ne, inet), (0, Ne, inet6), (0, Ne, netlink)])?,
            rule(&[(0, Eq, netlink), (2, Ne, NETLINK_ROUTE)])?,
        ]),
        Network::Port(_) => {
            let mut refused = vec![rule(&[(0, Ne, inet), (0, Ne, inet6)])?];
            for kind in types_without(&[libc::SOCK_STREAM]) {
                refused.push(rule(&[(1, MaskedEq(TYPE_MASK), kind)])?);
            }
            // Multipath TCP and the like connect past Landlock's rule.
            refused.push(rule(&[(2, Ne, 0), (2, Ne, libc::IPPROTO_TCP as u64)])?);
            Ok(refused)
        }
    }
}

/// Calls that a child is told do not exist. `clone3` hides its flags in memory, so every C library goes back to `clone`. Calls that
/// are newer than this list could do anything; with them goes x86-64's second set of numbers for the same calls, which would walk
/// past every rule above.
fn absent(more: Calls) -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const JUMP_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    // `openat2` hides its flags in memory too; where they matter it must go the old way.
    let second = if more.truncation { libc::SYS_openat2 } else { libc::SYS_clone3 };
    vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_AT_LEAST, 3, 0, FIRST_UNKNOWN),
        step(JUMP_EQUAL, 2, 0, libc::SYS_clone3 as u32),
        step(JUMP_EQUAL, 1, 0, second as u32),
        step(RETURN, 0, 0, ALLOW),
        step(RETURN, 0, 0, ERRNO | libc::ENOSYS as u32),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the numbers of the kernel's own tables, in which each family stands together.
    #[test]
    fn every_call_of_an_ipc_family_is_refused() {
        #[cfg(target_arch = "x86_64")]
        let families = [29..=31, 64..=71, 220..=220, 240..=245];
        #[cfg(target_arch = "aarch64")]
        let families = [180..=185, 186..=189, 190..=193, 194..=197];
        let all: Vec<i64> = families.into_iter().flatten().collect();
        let mut refused = IPC.to_vec();
        refused.sort_unstable();
        assert_eq!(refused, all);
    }
}
