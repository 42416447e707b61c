//! The right to merge, as a sweep has it: what the forge and the base say, with what this run knows besides.

use super::effect::Seen;
use crate::ids::AgentName;
use crate::merge::clearance::{Clearance, Lapse};
use crate::merge::conditions::{Conditions, conditions};
use crate::merge::facts::{Consent, Facts, Gates};
use crate::merge::policy::Wanted;
use crate::pull::told::Told;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What only this run knows of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    pub wanted: Wanted,
    /// Who said that this head may be merged.
    pub consent: Option<Consent>,
    /// Agents whose fixes it pushed.
    pub fixers: BTreeSet<AgentName>,
}

impl Known {
    pub fn conditions(&self, seen: &Seen) -> Conditions {
        conditions(&seen.policy, &self.facts(seen), self.wanted)
    }

    fn facts(&self, seen: &Seen) -> Facts {
        let fixers = match &seen.facts.fixers {
            Told::Is(fixers) => Told::Is(fixers.union(&self.fixers).cloned().collect()),
            Told::Unknown(because) => Told::Unknown(because.clone()),
        };
        let gates = Told::Is(Gates { consent: self.consent.clone(), ..Gates::default() });
        Facts { fixers, gates, ..seen.facts.clone() }
    }
}

/// Everything that a merge rests on. The hands hold it against what is there before they merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warrant {
    pub clearance: Clearance,
    pub known: Known,
}

impl Warrant {
    /// Asked with everything read anew: whatever is not as it was takes the right back.
    pub fn holds(&self, now: &Seen) -> Result<(), Lapse> {
        self.clearance.still_holds(&self.known.facts(now), &self.known.conditions(now))
    }
}
