//! Which categories a linter's seat answers for. A linter speaks of what its rules are about, whichever role it was given; so its seat
//! takes in the categories of every role that does not seat the linter itself.

use crate::findings::role::Role;
use crate::plan::panel::Seat;

/// The role as this linter plays it. The first of its seats answers for what none of its seats owns, so that no result is said twice.
pub fn widened(seat: &Seat, roles: &[Role], seats: &[Seat]) -> Option<Role> {
    let mut role = roles.iter().find(|role| role.name == seat.role)?.clone();
    let own: Vec<&Seat> = seats.iter().filter(|other| other.agent == seat.agent).collect();
    if own.first().is_some_and(|first| first.role == seat.role) {
        let is_seated = |other: &&Role| own.iter().any(|seat| seat.role == other.name);
        let others = roles.iter().filter(|other| !is_seated(other));
        role.categories.extend(others.flat_map(|other| other.categories.iter().cloned()));
    }
    Some(role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::role::built_in_roles;
    use crate::ids::AgentName;

    fn seat(role: &str, agent: &str) -> Seat {
        Seat { role: role.into(), agent: AgentName::from(agent), sample: 0 }
    }

    /// Issue 18, section 2: `staff-engineer = ["ruff"]` loses none of ruff's security rules, and two seats say nothing twice.
    #[test]
    fn each_category_is_answered_for_once() {
        let roles = built_in_roles().unwrap();
        let both = [seat("security-reviewer", "ruff"), seat("staff-engineer", "ruff"), seat("staff-engineer", "eslint")];
        let owns = |seat: &Seat, seats: &[Seat], code: &str| widened(seat, &roles, seats).unwrap().owns(&code.into());
        let alone = &both[2];
        assert!(owns(alone, &both, "S1") && owns(alone, &both, "E5") && owns(alone, &both, "T4"));
        let (security, staff) = (&both[0], &both[1]);
        assert!(owns(security, &both, "S1") && !owns(security, &both, "E5") && owns(security, &both, "T4"));
        assert!(!owns(staff, &both, "S1") && owns(staff, &both, "E5") && !owns(staff, &both, "T4"));
    }
}
