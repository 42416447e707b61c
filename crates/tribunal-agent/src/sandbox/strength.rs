//! How much of the sandbox this machine gives. Callers show it, and refuse strangers' changes where there is none.

use super::Network;
use super::plan::{Facts, Walls, plan};
use std::sync::OnceLock;
use tribunal_core::policy::confinement::ProgramNetwork;

/// What holds programs on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strength {
    /// Files, network and processes of every kind of program are confined by the kernel.
    Full(String),
    /// Some kinds of programs cannot be confined, and are not started. The words say which.
    Partial(String),
    /// None can.
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
    FOUND.get_or_init(|| strength_of(Facts::measured()))
}

/// What this machine lacks to confine a program that needs this much of a network; nothing if it can.
pub fn lack(network: ProgramNetwork) -> Option<&'static str> {
    lack_of(Facts::measured(), network)
}

/// The same of a machine that can do this much.
pub fn lack_of(facts: &Facts, network: ProgramNetwork) -> Option<&'static str> {
    plan(network.into(), facts).err().map(|lack| lack.lack)
}

/// What this machine lacks to confine a program that is started all the same, because the person lets it.
pub fn lack_that_is_allowed(network: ProgramNetwork) -> Option<&'static str> {
    lack(network).filter(|_| super::may_run_unconfined())
}

/// Of a machine that can do this much.
pub fn strength_of(facts: &Facts) -> Strength {
    let (agents, linters) = (plan(Network::Port(1), facts), plan(Network::None, facts));
    match (&linters, &agents) {
        (Err(lack), _) => Strength::None(lack.lack.to_owned()),
        (Ok(plan), Err(lack)) => {
            let names = "; programs can name this machine's files and processes without reading them, and may not use chmod or utime at all";
            let names = if plan.walls == Walls::Landlock { names } else { "" };
            Strength::Partial(format!("{}; agent CLIs are not started: {}{names}", layers(facts), lack.lack))
        }
        (Ok(_), Ok(_)) => Strength::Full(layers(facts)),
    }
}

fn layers(facts: &Facts) -> String {
    let mut layers = Vec::new();
    if facts.namespaces {
        layers.push("own files, processes and network".to_owned());
    } else if facts.bubblewrap {
        layers.push("bubblewrap".into());
    }
    if let Some(level) = facts.landlock {
        layers.push(format!("Landlock {level}"));
    }
    if facts.seccomp {
        layers.push("seccomp".into());
    }
    layers.join(", ")
}

/// What `tribunal doctor` says: what is planned, and what a child that was started for it could really do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    pub words: String,
    /// Everything that was tried was refused.
    pub holds: bool,
}

/// Starts a child and lets it try to get out.
pub fn examine() -> Examined {
    let words = describe();
    if strength().is_none() {
        return Examined { words, holds: false };
    }
    match tried() {
        Ok(0) => Examined { words: format!("{words}; it started a program, which did not try to get out"), holds: true },
        Ok(count) => Examined { words: format!("{words}; a child tried {count} ways out, and all were refused"), holds: true },
        Err(problem) => Examined { words: format!("{words}; but {problem}"), holds: false },
    }
}

#[cfg(target_os = "linux")]
fn tried() -> Result<usize, String> {
    super::probe::try_to_get_out(&super::plan::Machine::here())
}

#[cfg(not(target_os = "linux"))]
fn tried() -> Result<usize, String> {
    Err("no child can be tried here".into())
}

/// One line.
pub fn describe() -> String {
    match strength() {
        Strength::Full(words) => words.clone(),
        Strength::Partial(words) => format!("partial: {words}"),
        Strength::None(words) => format!("none: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_machine_is_told_apart() {
        let facts = |landlock, namespaces| Facts { landlock, seccomp: true, namespaces, bubblewrap: false };
        assert!(matches!(strength_of(&facts(Some(7), true)), Strength::Full(_)));
        assert!(matches!(strength_of(&facts(None, true)), Strength::Full(_)));
        for level in [3, 4, 7] {
            let strength = strength_of(&facts(Some(level), false));
            assert!(
                matches!(strength, Strength::Partial(words) if words.contains("agent CLIs are not started") && words.contains("chmod"))
            );
        }
        assert!(strength_of(&facts(None, false)).is_none());
        assert!(strength_of(&Facts { seccomp: false, ..facts(Some(7), true) }).is_none());
    }

    /// A machine without namespaces confines linters, and no CLI: asked as a whole it would seem to confine both.
    #[test]
    fn a_partial_machine_lacks_what_it_takes_for_a_cli() {
        let facts = |landlock| Facts { landlock, seccomp: true, namespaces: false, bubblewrap: false };
        let bubblewrap = Facts { bubblewrap: true, ..facts(None) };
        for partial in [facts(Some(3)), facts(Some(4)), bubblewrap] {
            assert!(!strength_of(&partial).is_none());
            assert!(
                lack_of(&partial, ProgramNetwork::OurPort).is_some_and(|lack| lack.contains("one port of this machine only"))
            );
            assert_eq!(lack_of(&partial, ProgramNetwork::Nobody), None);
        }
        assert!(lack_of(&facts(None), ProgramNetwork::Nobody).is_some());
    }
}
