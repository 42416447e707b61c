//! Which layers a child gets on a machine, and whether they are enough. Pure: what the machine can do is a parameter, so that a
//! machine without Landlock, or with an old one, can be tried on any other.

use super::{Network, UNCONFINED};

/// What a machine can do. [`Facts::measured`] is this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Landlock's ABI version.
    pub landlock: Option<u32>,
    /// Filters for this kind of processor are known.
    pub seccomp: bool,
    /// We may make user, mount, process and network namespaces, and mount what a child needs in them.
    pub namespaces: bool,
    pub bubblewrap: bool,
}

/// A machine, and what its person allows there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    pub facts: Facts,
    pub may_run_unconfined: bool,
}

impl Machine {
    pub fn here() -> Self {
        Self { facts: *Facts::measured(), may_run_unconfined: super::may_run_unconfined() }
    }

    /// What a child gets; less than it should, or nothing, where the person lets it run like that.
    pub fn plan(&self, network: Network) -> Result<Option<Plan>, NotConfined> {
        match plan(network, &self.facts) {
            Ok(plan) => Ok(Some(plan)),
            Err(_) if self.may_run_unconfined => Ok(plan_for_any_host(network, &self.facts)),
            Err(lack) => Err(lack),
        }
    }
}

/// Since this version Landlock knows truncation.
const TRUNCATION: u32 = 3;
/// Since this version Landlock knows TCP ports. It does not know hosts: a rule for a port holds for that port of every machine.
const PORTS: u32 = 4;
/// Since this version Landlock confines signals and abstract sockets.
const SIGNALS: u32 = 6;

/// What holds a child's files and processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walls {
    /// Our own namespaces.
    Namespaces,
    Bubblewrap,
    /// Landlock alone.
    Landlock,
}

/// What a child gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    pub walls: Walls,
    pub landlock: Option<u32>,
    /// The child has a network of its own, in which nobody but us listens.
    pub own_network: bool,
    pub calls: Calls,
}

/// What seccomp has to refuse because nothing else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// `chmod`, `chown`, `utime`, `setxattr`: Landlock does not look at them. Only mounts can tell the child's own files from others.
    pub metadata: bool,
    /// `truncate`, and opening for reading with truncation: older versions of Landlock let them pass.
    pub truncation: bool,
    /// Signals to processes outside.
    pub signals: bool,
    /// Priorities and processors of processes outside: Landlock does not look at them.
    pub scheduling: bool,
}

/// Why a child is not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it was not started, because this machine cannot confine it: {lack}. `tribunal doctor` shows what is missing; {UNCONFINED}=1 in \
     your environment lets programs run with all that you can do"
)]
pub struct NotConfined {
    pub lack: &'static str,
}

pub fn plan(network: Network, facts: &Facts) -> Result<Plan, NotConfined> {
    let lacks = |lack| Err(NotConfined { lack });
    if !facts.seccomp {
        return lacks(if cfg!(target_os = "linux") {
            "no system-call filter is known for this kind of processor"
        } else {
            "there is a sandbox on Linux only"
        });
    }
    let landlock = facts.landlock;
    let is_at_least = |version| landlock.is_some_and(|level| level >= version);
    if facts.namespaces {
        let own_network = network != Network::Any;
        return Ok(Plan { walls: Walls::Namespaces, landlock, own_network, calls: Calls::default() });
    }
    if matches!(network, Network::Port(_)) {
        return lacks(
            "it may talk to one port of this machine only, and nothing but user namespaces keeps it from the same port of others",
        );
    }
    if facts.bubblewrap {
        return Ok(Plan { walls: Walls::Bubblewrap, landlock, own_network: false, calls: Calls::default() });
    }
    if landlock.is_none() {
        return lacks("it has neither user namespaces (Linux 5.12), nor Landlock (Linux 5.13), nor a working bubblewrap");
    }
    let calls = Calls { metadata: true, truncation: !is_at_least(TRUNCATION), signals: !is_at_least(SIGNALS), scheduling: true };
    Ok(Plan { walls: Walls::Landlock, landlock, own_network: false, calls })
}

/// All that can be had without namespaces for a child that may talk to one port: it reaches that port of any host.
fn plan_for_any_host(network: Network, facts: &Facts) -> Option<Plan> {
    let knows_ports = facts.landlock.is_some_and(|level| level >= PORTS);
    let has_port = matches!(network, Network::Port(_)) && knows_ports && !facts.namespaces;
    has_port.then(|| plan(Network::None, facts).ok()).flatten()
}

impl Facts {
    /// This machine, looked at once.
    pub fn measured() -> &'static Self {
        static FOUND: std::sync::OnceLock<Facts> = std::sync::OnceLock::new();
        FOUND.get_or_init(Self::measure)
    }

    #[cfg(target_os = "linux")]
    fn measure() -> Self {
        use super::{bubblewrap, calls, files, space};
        let namespaces = space::works();
        Self {
            landlock: files::level(),
            seccomp: calls::are_known(),
            namespaces,
            // It is asked only where its answer matters: starting it takes time.
            bubblewrap: !namespaces && bubblewrap::works(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn measure() -> Self {
        Self { landlock: None, seccomp: false, namespaces: false, bubblewrap: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts() -> impl Strategy<Value = Facts> {
        (proptest::option::of(1_u32..10), any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(landlock, seccomp, namespaces, bubblewrap)| Facts { landlock, seccomp, namespaces, bubblewrap })
    }

    fn network() -> impl Strategy<Value = Network> {
        prop_oneof![Just(Network::Any), Just(Network::None), Just(Network::Port(7411))]
    }

    proptest! {
        /// B6: a child that is started is held in every respect; where that cannot be had it is not started.
        #[test]
        fn what_is_started_is_held(facts in facts(), network in network()) {
            let Ok(plan) = plan(network, &facts) else { return Ok(()) };
            prop_assert!(facts.seccomp);
            let is_at_least = |version| plan.landlock.is_some_and(|level| level >= version);
            let has_own_files = match plan.walls {
                Walls::Namespaces => facts.namespaces,
                Walls::Bubblewrap => facts.bubblewrap,
                Walls::Landlock => false,
            };
            prop_assert!(has_own_files || (plan.walls == Walls::Landlock && facts.landlock.is_some()));
            prop_assert!(has_own_files || plan.calls.metadata);
            prop_assert!(has_own_files || plan.calls.scheduling);
            prop_assert!(has_own_files || plan.calls.truncation || is_at_least(TRUNCATION));
            prop_assert!(has_own_files || plan.calls.signals || is_at_least(SIGNALS));
            prop_assert!(!matches!(network, Network::Port(_)) || plan.own_network);
            prop_assert!(!plan.own_network || facts.namespaces);
        }

        /// More of a machine never means less of a sandbox.
        #[test]
        fn what_a_machine_can_do_more_never_refuses(facts in facts(), network in network()) {
            let better = Facts { namespaces: true, ..facts };
            prop_assert!(plan(network, &facts).is_err() || plan(network, &better).is_ok());
        }
    }

    #[test]
    fn a_proxy_s_client_needs_a_network_of_its_own() {
        let old = |landlock| Facts { landlock, seccomp: true, namespaces: false, bubblewrap: false };
        for level in [3, 4, 7] {
            assert!(plan(Network::Port(1), &old(Some(level))).unwrap_err().to_string().contains("one port of this machine only"));
        }
        // Where the person lets it run all the same, it gets what there is.
        let allowed = |landlock| Machine { facts: old(landlock), may_run_unconfined: true }.plan(Network::Port(1)).unwrap();
        assert_eq!((allowed(Some(3)), allowed(None)), (None, None));
        assert!(allowed(Some(4)).is_some_and(|plan| plan.walls == Walls::Landlock && plan.calls.metadata));
        assert!(plan(Network::None, &old(Some(1))).is_ok());
        assert!(plan(Network::None, &old(None)).unwrap_err().to_string().contains("TRIBUNAL_UNCONFINED"));
    }
}
