//! Landlock: which files, which TCP ports, whose signals. It needs no privilege and cannot be taken back.
//!
//! What it does not do: hide names and sizes (`stat` is free), stop UDP or Unix sockets, watch `chmod` and its like, or look into TCP
//! fast open and multipath TCP. Mounts and seccomp do.

use super::{Limits, Network};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use std::io;
use std::path::{Path, PathBuf};

const KNOWN: ABI = ABI::V6;
const READING: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});
/// Devices that every program expects to write to.
const DEVICES: [&str; 2] = ["/dev/null", "/dev/zero"];
/// Where the system keeps what any program needs to start. No home folder, no `/etc` as a whole, no `/run`, no `/var`.
const SYSTEM: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/opt", "/snap"];
const SYSTEM_DATA: [&str; 37] = [
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
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
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
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

/// The rights that this version knows. With fewer, the kernel would refuse the ruleset; with a smaller number than its own, it does
/// as an older one would.
fn version(level: u32) -> ABI {
    match level {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        _ => KNOWN,
    }
}

/// A list of permissions, and the version of Landlock that it was made for.
pub struct Rules {
    created: RulesetCreated,
    level: u32,
}

impl Rules {
    /// `files`: off when bubblewrap builds the child's view of files, which Landlock would forbid it to do. Then there may be nothing
    /// left for this version to hold.
    pub fn new(limits: &Limits, level: u32, own_network: bool, files: bool) -> io::Result<Option<Self>> {
        Self::build(limits, level, own_network, files)
            .map_err(|error| io::Error::other(format!("Landlock's rules cannot be made: {error}")))
    }

    fn build(limits: &Limits, level: u32, own_network: bool, files: bool) -> Result<Option<Self>, RulesetError> {
        let abi = version(level);
        let writing: BitFlags<AccessFs> = AccessFs::from_write(abi);
        // Nothing is left out silently: what this version is said to know must be there.
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        if files {
            ruleset = ruleset.handle_access(AccessFs::from_all(abi))?;
        }
        let ports = limits.network != Network::Any && !own_network && abi >= ABI::V4;
        if !files && !ports && abi < ABI::V6 {
            return Ok(None);
        }
        if ports {
            ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        if abi >= ABI::V6 {
            ruleset = ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal)?;
        }
        let mut rules = Self { created: ruleset.create()?, level };
        if let (true, Network::Port(port)) = (ports, limits.network) {
            rules.created = rules.created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
        if !files {
            return Ok(Some(rules));
        }
        for path in SYSTEM.iter().map(PathBuf::from).chain(limits.reads.run.iter().cloned()) {
            rules = rules.allow(&path, READING | AccessFs::Execute)?;
        }
        for path in system_data().chain(limits.reads.read.iter().cloned()) {
            rules = rules.allow(&path, READING)?;
        }
        for path in &limits.writable {
            rules = rules.allow(path, READING | AccessFs::Execute | writing)?;
        }
        for path in DEVICES.map(Path::new) {
            rules = rules.allow(path, writing)?;
        }
        Ok(Some(rules))
    }

    /// For folders that were mounted after the list was made: the child's own `/proc` and its own temporary ones.
    pub fn with_own_folders(self) -> io::Result<Self> {
        let all = READING | AccessFs::from_write(version(self.level));
        let mut rules = self.allow(Path::new("/proc"), READING).map_err(io::Error::other)?;
        for folder in super::view::TEMPORARY {
            rules = rules.allow(Path::new(folder), all).map_err(io::Error::other)?;
        }
        Ok(rules)
    }

    /// A path that does not exist cannot be used either.
    fn allow(mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<Self, RulesetError> {
        let Ok(descriptor) = PathFd::new(path) else { return Ok(self) };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(version(self.level)) };
        self.created = self.created.add_rule(PathBeneath::new(descriptor, access))?;
        Ok(self)
    }

    /// From here on they hold, whole, or there is an error.
    pub fn enforce(self) -> io::Result<()> {
        let status = self.created.restrict_self().map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?;
        match status.ruleset {
            RulesetStatus::FullyEnforced => Ok(()),
            RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

/// Files under `/etc` that interpreters and runtimes of distributions need, by the beginning of their names.
const RUNTIMES: [&str; 6] = ["java", "perl", "php", "python", "ruby", "dotnet"];

fn system_data() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/etc").into_iter().flatten().flatten();
    let is_runtime = |name: &std::ffi::OsStr| {
        let name = name.to_string_lossy();
        RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
    };
    let runtimes = entries.filter(move |entry| is_runtime(&entry.file_name())).map(|entry| entry.path());
    SYSTEM_DATA.iter().map(PathBuf::from).chain(runtimes)
}

/// Everything of the system that a child reads, for those who build a view of files.
pub fn system() -> impl Iterator<Item = PathBuf> {
    let made_inside = |path: &PathBuf| path.starts_with("/dev") || path == Path::new("/proc");
    SYSTEM.iter().map(PathBuf::from).chain(system_data().filter(move |path| !made_inside(path)))
}
