//! Who is called (PR-5, PR-42). A seat is one role played by one agent; a role may have several seats, and each looks alone.

use super::flags::Flags;
use crate::findings::role::{Role, When};
use crate::ids::{AgentName, RoleName};
use crate::policy::panel::Player;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Seat {
    pub role: RoleName,
    pub agent: AgentName,
    /// 0 for the first or only time that the agent is asked.
    #[serde(default, skip_serializing_if = "is_first")]
    pub sample: u32,
}

pub(crate) fn is_first(sample: &u32) -> bool {
    *sample == 0
}

impl std::fmt::Display for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.role, self.agent)?;
        if self.sample > 0 { write!(f, "#{}", self.sample + 1) } else { Ok(()) }
    }
}

/// A role of the panel that this change does not call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCalled {
    pub role: RoleName,
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panel {
    pub seats: Vec<Seat>,
    pub not_called: Vec<NotCalled>,
    /// Seat → who is asked next, in order, when it cannot answer.
    #[serde(default)]
    pub stand_ins: BTreeMap<String, Vec<AgentName>>,
    /// Seat → the seat that took its place.
    #[serde(default)]
    pub replaced: BTreeMap<String, Seat>,
}

impl Panel {
    /// Seats somebody in the next agent of the chain, if there is one.
    pub fn replace(&mut self, failed: &Seat) -> Option<Seat> {
        let key = failed.to_string();
        let mut chain = self.stand_ins.remove(&key)?;
        // An agent that already plays the role for itself cannot also stand in.
        chain.retain(|agent| !self.seats.iter().any(|seat| seat.role == failed.role && &seat.agent == agent));
        if chain.is_empty() {
            return None;
        }
        let seat = Seat { agent: chain.remove(0), ..failed.clone() };
        if !chain.is_empty() {
            self.stand_ins.insert(seat.to_string(), chain);
        }
        self.seats.push(seat.clone());
        self.replaced.insert(key, seat.clone());
        Some(seat)
    }

    /// Seats whose answer counts: those that nobody else took over.
    pub fn standing(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| !self.replaced.contains_key(&seat.to_string()))
    }
}

/// `players` gives who plays a role, in the order of the config.
pub fn dispatch(roles: &[Role], players: impl Fn(&RoleName) -> Vec<Player>, flags: &Flags) -> Panel {
    let mut panel = Panel::default();
    for role in roles {
        let reason = match role.when {
            When::Always => None,
            When::UnlessTrivial if flags.is_trivial => Some("the change is trivial"),
            When::HasSpec if !flags.has_spec => Some("no spec was given"),
            When::UnlessTrivial | When::HasSpec => None,
        };
        let players = players(&role.name);
        match reason {
            Some(reason) => panel.not_called.push(NotCalled { role: role.name.clone(), reason: reason.to_owned() }),
            None if players.is_empty() => {
                panel.not_called.push(NotCalled { role: role.name.clone(), reason: "switched off in [panel]".to_owned() })
            }
            None => {
                for player in players {
                    for sample in 0..player.samples {
                        let seat = Seat { role: role.name.clone(), agent: player.agent.clone(), sample };
                        if !player.fallback.is_empty() {
                            panel.stand_ins.insert(seat.to_string(), player.fallback.clone());
                        }
                        panel.seats.push(seat);
                    }
                }
            }
        }
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::role::built_in_roles;

    fn player(agent: &str, fallback: &[&str], samples: u32) -> Player {
        Player { agent: agent.into(), fallback: fallback.iter().map(|name| (*name).into()).collect(), samples }
    }

    fn called(has_spec: bool, is_trivial: bool) -> Vec<String> {
        let flags = Flags { has_spec, has_repo: true, is_trivial };
        dispatch(&built_in_roles().unwrap(), |_| vec![player("rules", &[], 1)], &flags)
            .seats
            .into_iter()
            .map(|seat| seat.role.0)
            .collect()
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

    /// Issue 4, build 1: several samples are several seats, and a chain is walked to its end, once.
    #[test]
    fn samples_and_stand_ins() {
        let roles: Vec<Role> = built_in_roles().unwrap().into_iter().take(1).collect();
        let flags = Flags { has_spec: false, has_repo: true, is_trivial: false };
        let mut panel = dispatch(&roles, |_| vec![player("a", &["b", "c"], 2)], &flags);
        let names: Vec<String> = panel.seats.iter().map(Seat::to_string).collect();
        assert_eq!(names, ["security-reviewer/a", "security-reviewer/a#2"]);
        let first = panel.seats[0].clone();
        let second = panel.replace(&first).unwrap();
        assert_eq!(second.agent.as_str(), "b");
        assert_eq!(panel.replace(&first), None, "nobody stands in twice");
        let third = panel.replace(&second).unwrap();
        assert_eq!(third.agent.as_str(), "c");
        assert_eq!(panel.replace(&third), None);
        assert_eq!(panel.standing().map(Seat::to_string).collect::<Vec<_>>(), ["security-reviewer/a#2", "security-reviewer/c"]);
    }
}
