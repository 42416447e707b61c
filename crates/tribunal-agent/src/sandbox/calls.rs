//! seccomp: the system calls that no reviewer and no linter needs, refused with `EPERM`.
//!
//! It is a list of refusals. A list of permissions would break with each release of four runtimes (node, bun, Rust, Python), and
//! files and ports are held by Landlock and namespaces already; this layer closes the doors around them.
//!
//! Namespaces are refused too. Codex would use them for a sandbox of its own around the model's commands; ours is around all of
//! Codex and is stricter, and a user namespace is where most of the kernel's privilege bugs begin.

use super::Network;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use std::collections::BTreeMap;

const REFUSED: [i64; 51] = [
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

const MSG_FASTOPEN: u64 = 0x2000_0000;
const TYPE_MASK: u64 = 0xf;
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

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

/// The filters, in the order in which they are to be installed; `None` where this machine's kind is not known.
pub fn filters(network: Network) -> Option<Vec<BpfProgram>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    refine(&mut rules, network).ok()?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture()?).ok()?;
    Some(vec![filter.try_into().ok()?, numbers()])
}

fn refine(rules: &mut BTreeMap<i64, Vec<SeccompRule>>, network: Network) -> Result<(), BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let (unix, inet, inet6) = (libc::AF_UNIX as u64, libc::AF_INET as u64, libc::AF_INET6 as u64);
    // No VSOCK (it reaches the host of a virtual machine), ALG, PACKET, BLUETOOTH, TIPC… Interfaces may be listed where the
    // network is open anyway.
    let mut families = vec![(0, Ne, unix), (0, Ne, inet), (0, Ne, inet6)];
    if network == Network::Any {
        families.push((0, Ne, libc::AF_NETLINK as u64));
    }
    let mut sockets = vec![rule(&families)?];
    if network != Network::Any {
        for family in [inet, inet6] {
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET, libc::SOCK_DCCP] {
                sockets.push(rule(&[(0, Eq, family), (1, MaskedEq(TYPE_MASK), kind as u64)])?);
            }
            // Multipath TCP and the like connect past Landlock's rule.
            sockets.push(rule(&[(0, Eq, family), (2, Ne, 0), (2, Ne, libc::IPPROTO_TCP as u64)])?);
        }
        // So does data that is sent before the connection stands.
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            rules.insert(call, vec![rule(&[(flags, MaskedEq(MSG_FASTOPEN), MSG_FASTOPEN)])?]);
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    // Typing into the terminal that we were started from.
    rules.insert(libc::SYS_ioctl, vec![rule(&[(1, Eq, TIOCSTI)])?, rule(&[(1, Eq, TIOCLINUX)])?]);
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

/// What the crate's rules cannot say. `clone3` hides its flags in memory, so it does not exist here and every C library goes back
/// to `clone`. And x86-64 has a second set of numbers for the same calls, which would walk past every rule above.
fn numbers() -> BpfProgram {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const JUMP_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const ERRNO: u32 = 0x0005_0000;
    const SECOND_SET: u32 = 0x4000_0000;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_AT_LEAST, 2, 0, SECOND_SET),
        step(JUMP_EQUAL, 1, 0, libc::SYS_clone3 as u32),
        step(RETURN, 0, 0, ALLOW),
        step(RETURN, 0, 0, ERRNO | libc::ENOSYS as u32),
    ]
}
