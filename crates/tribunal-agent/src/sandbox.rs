//! What a child may touch: it reads the machine, writes only its own folders, and opens connections only if it may.
//!
//! On Linux this is Landlock, which needs no privilege. Elsewhere there is none yet, and [`describe`] says so.

use std::path::PathBuf;

/// The limits of one child.
#[derive(Debug, Clone)]
pub struct Limits {
    pub writable: Vec<PathBuf>,
    pub network: bool,
}

/// One line for `tribunal doctor`.
pub fn describe() -> String {
    platform::describe()
}

pub use platform::confine;

#[cfg(target_os = "linux")]
mod platform {
    use super::Limits;
    use landlock::{
        ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated,
        RulesetCreatedAttr, RulesetStatus,
    };
    use std::process::Command;

    const KNOWN: ABI = ABI::V5;
    /// Devices that every program expects to write to.
    const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/shm"];

    fn ruleset(limits: &Limits) -> Result<RulesetCreated, landlock::RulesetError> {
        let writing: BitFlags<AccessFs> = AccessFs::from_write(KNOWN);
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(writing)?;
        if !limits.network {
            ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        let mut created = ruleset.create()?;
        let devices = DEVICES.iter().map(std::path::PathBuf::from);
        for path in limits.writable.iter().cloned().chain(devices) {
            // A folder that does not exist cannot be written to either.
            if let Ok(descriptor) = PathFd::new(&path) {
                let access = if path.is_dir() { writing } else { writing & AccessFs::from_file(KNOWN) };
                created = created.add_rule(PathBeneath::new(descriptor, access))?;
            }
        }
        Ok(created)
    }

    /// Arranges that the child confines itself before it runs its program. Returns whether the kernel can do it.
    #[allow(unsafe_code)]
    pub fn confine(command: &mut Command, limits: &Limits) -> bool {
        use std::os::unix::process::CommandExt as _;
        let Ok(created) = ruleset(limits) else { return false };
        let mut created = Some(created);
        // SAFETY: the closure runs between fork and exec; it only makes system calls on a ruleset that was built before.
        unsafe {
            command.pre_exec(move || {
                let Some(created) = created.take() else { return Ok(()) };
                created.restrict_self().map(|_| ()).map_err(|_| std::io::Error::from(std::io::ErrorKind::PermissionDenied))
            });
        }
        true
    }

    pub fn describe() -> String {
        // Asked in a thread of its own: a restriction cannot be taken back.
        let probe = std::thread::spawn(|| {
            let limits = Limits { writable: Vec::new(), network: false };
            ruleset(&limits).ok().and_then(|created| created.restrict_self().ok()).map(|status| status.ruleset)
        });
        match probe.join() {
            Ok(Some(RulesetStatus::FullyEnforced)) => "Landlock, fully enforced (files and TCP)".into(),
            Ok(Some(RulesetStatus::PartiallyEnforced)) => "Landlock, partly enforced: this kernel lacks newer parts".into(),
            Ok(Some(RulesetStatus::NotEnforced) | None) | Err(_) => {
                "none: this kernel has no Landlock, so agents and linters can write anywhere you can".into()
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::Limits;
    use std::process::Command;

    pub fn confine(_command: &mut Command, _limits: &Limits) -> bool {
        false
    }

    pub fn describe() -> String {
        "none on this system yet: agents and linters can write anywhere you can".into()
    }
}
