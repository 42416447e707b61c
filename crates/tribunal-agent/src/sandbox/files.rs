//! Landlock: which files, which TCP ports, whose signals. It needs no privilege and cannot be taken back.
//!
//! What it does not do: hide names and sizes (`stat` is free), stop UDP (seccomp does), or look into TCP fast open and multipath
//! TCP (seccomp refuses both, because they connect without the call that Landlock watches).

use super::{Limits, Network, Reads};
use landlock::{
    ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use std::path::{Path, PathBuf};

const KNOWN: ABI = ABI::V6;
/// Devices that every program expects to write to.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/tty"];
/// Where the system keeps what any program needs to start. No home folder, no `/etc` as a whole, no `/run`, no `/var`.
const SYSTEM: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/opt", "/snap"];
const SYSTEM_DATA: [&str; 33] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// What the kernel can do, or `None` without Landlock.
#[allow(unsafe_code)]
pub fn level() -> Option<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call takes no ruleset and only returns a number.
    let level = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    u32::try_from(level).ok().filter(|level| *level > 0)
}

/// `own_network`: the child has a network of its own in which nobody but us listens, so ports need no rule.
/// `files`: off when bubblewrap builds the child's view of files, which Landlock would forbid it to do.
pub fn ruleset(limits: &Limits, own_network: bool, files: bool) -> Result<RulesetCreated, RulesetError> {
    let writing: BitFlags<AccessFs> = AccessFs::from_write(KNOWN);
    let reading: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    if files {
        let narrow = matches!(limits.reads, Reads::Only { .. });
        ruleset = ruleset.handle_access(if narrow { writing | reading | AccessFs::Execute } else { writing })?;
    }
    let ports = limits.network != Network::Any && !own_network;
    if ports {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    let mut created = ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal)?.create()?;
    if let (true, Network::Port(port)) = (ports, limits.network) {
        created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    if !files {
        return Ok(created);
    }
    if let Reads::Only { run, read } = &limits.reads {
        for path in SYSTEM.iter().map(PathBuf::from).chain(run.iter().cloned()) {
            created = allow(created, &path, reading | AccessFs::Execute)?;
        }
        for path in SYSTEM_DATA.iter().map(PathBuf::from).chain(read.iter().cloned()) {
            created = allow(created, &path, reading)?;
        }
        for path in &limits.writable {
            created = allow(created, path, reading | writing)?;
        }
    } else {
        for path in limits.writable.iter().cloned().chain([PathBuf::from("/dev/shm")]) {
            created = allow(created, &path, writing)?;
        }
    }
    for path in DEVICES.map(Path::new) {
        created = allow(created, path, writing)?;
    }
    Ok(created)
}

/// For a `/proc` that was mounted after the list was made.
pub fn allow_processes(created: RulesetCreated) -> Result<RulesetCreated, RulesetError> {
    allow(created, Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir)
}

/// A path that does not exist cannot be used either.
fn allow(created: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(created) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(KNOWN) };
    created.add_rule(PathBeneath::new(descriptor, access))
}

/// The same lists for bubblewrap.
pub fn system() -> impl Iterator<Item = PathBuf> {
    let made_by_it = |path: &&&str| path.starts_with("/dev/") || **path == "/proc";
    SYSTEM.iter().chain(SYSTEM_DATA.iter().filter(move |path| !made_by_it(path))).map(PathBuf::from)
}
