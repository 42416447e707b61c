//! Who is called (PR-5, PR-42). A seat is one role played by one agent; a role may have several seats, and each looks alone.

use super::flags::Flags;
use crate::findings::role::{Role, When};
use crate::ids::{AgentName, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Seat {
    pub role: RoleName,
    pub agent: AgentName,
}

impl std::fmt::Display for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.role, self.agent)
    }
}

/// A role of the panel that this change does not call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCalled {
    pub role: RoleName,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panel {
    pub seats: Vec<Seat>,
    pub not_called: Vec<NotCalled>,
}

/// `players` gives the agents of a role, in the order of the config.
pub fn dispatch(roles: &[Role], players: impl Fn(&RoleName) -> Vec<AgentName>, flags: &Flags) -> Panel {
    let mut panel = Panel { seats: Vec::new(), not_called: Vec::new() };
    for role in roles {
        let reason = match role.when {
            When::Always => None,
            When::UnlessTrivial if flags.is_trivial => Some("the change is trivial"),
            When::HasSpec if !flags.has_spec => Some("no spec was given"),
            When::UnlessTrivial | When::HasSpec => None,
        };
        let agents = players(&role.name);
        match reason {
            Some(reason) => panel.not_called.push(NotCalled { role: role.name.clone(), reason: reason.to_owned() }),
            None if agents.is_empty() => {
                panel.not_called.push(NotCalled { role: role.name.clone(), reason: "switched off in [panel]".to_owned() })
            }
            None => panel.seats.extend(agents.into_iter().map(|agent| Seat { role: role.name.clone(), agent })),
        }
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::role::built_in_roles;

    fn called(has_spec: bool, is_trivial: bool) -> Vec<String> {
        let flags = Flags { has_spec, has_repo: true, is_trivial };
        dispatch(&built_in_roles().unwrap(), |_| vec!["rules".into()], &flags).seats.into_iter().map(|seat| seat.role.0).collect()
    }

    /// PR-42, PR-39: the spec auditor is called when there is a spec, however short, and only then.
    #[test]
    fn a_spec_calls_the_spec_auditor() {
        assert_eq!(called(false, false), ["security-reviewer", "staff-engineer", "sdet"]);
        assert_eq!(called(true, false), ["security-reviewer", "staff-engineer", "sdet", "spec-auditor"]);
    }

    /// PR-41, PR-5: only the staff engineer is left out, and only of a trivial change.
    #[test]
    fn a_trivial_change_still_meets_security_and_tests() {
        assert_eq!(called(false, true), ["security-reviewer", "sdet"]);
    }
}
