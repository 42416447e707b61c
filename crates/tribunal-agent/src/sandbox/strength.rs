//! How much of the sandbox this machine gives. Callers show it, and refuse strangers' changes where there is none.

use std::sync::OnceLock;

/// What holds a coding agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strength {
    /// Files, network and processes are confined by the kernel.
    Full(String),
    /// Some of it is. The words say what is not.
    Partial(String),
    /// A child can do what its user can.
    None(String),
}

impl Strength {
    pub fn words(&self) -> &str {
        match self {
            Strength::Full(words) | Strength::Partial(words) | Strength::None(words) => words,
        }
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Strength::None(_))
    }
}

/// Found out once; it takes a few milliseconds.
pub fn strength() -> &'static Strength {
    static FOUND: OnceLock<Strength> = OnceLock::new();
    FOUND.get_or_init(platform::measure)
}

/// One line for `tribunal doctor`.
pub fn describe() -> String {
    match strength() {
        Strength::Full(words) => words.clone(),
        Strength::Partial(words) => format!("partial: {words}"),
        Strength::None(words) => format!("none: {words}"),
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use super::Strength;
    use crate::sandbox::{Network, bubblewrap, calls, files, space};

    /// Since this level Landlock knows TCP ports.
    const PORTS: u32 = 4;

    pub fn measure() -> Strength {
        let landlock = files::level();
        let seccomp = calls::filters(Network::None).is_some();
        let apart = space::works();
        let wrapper = !apart || landlock.is_none();
        let wrapper = wrapper && bubblewrap::works();
        let mut layers = Vec::new();
        if let Some(level) = landlock {
            layers.push(format!("Landlock {level}"));
        }
        if seccomp {
            layers.push("seccomp".into());
        }
        if apart {
            layers.push("own processes and network".into());
        }
        if wrapper {
            layers.push("bubblewrap, on this machine's network".into());
        }
        let layers = layers.join(", ");
        let ports = landlock.is_some_and(|level| level >= PORTS);
        match (landlock.is_some() || wrapper, seccomp && (apart || ports)) {
            (true, true) if apart || wrapper => Strength::Full(layers),
            (true, true) => Strength::Full(format!("{layers} (no namespaces here, so children see this machine's processes)")),
            (true, false) => {
                let lack =
                    if seccomp { "connections are not confined" } else { "no system calls are filtered on this kind of machine" };
                Strength::Partial(format!("{layers}; {lack}"))
            }
            (false, _) => {
                Strength::None("this kernel has no Landlock, so agents and linters can read and write all that you can".into())
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::Strength;

    pub fn measure() -> Strength {
        let lack = if cfg!(target_os = "macos") {
            "on macOS nothing confines files, network or memory of agents and linters yet; environment, output and time are limited"
        } else {
            "on this system nothing confines files, network or memory of agents and linters yet; environment, output and time are \
             limited, and a program that a child starts may outlive it"
        };
        Strength::None(lack.into())
    }
}
