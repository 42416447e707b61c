//! Merging: looking at everything that a merge rests on, doing it once, keeping others up to date, and closing what is finished by it.
//!
//! One look serves `why`, `settle` and `sweep` alike, so that they cannot disagree. What cannot be read is unknown or an error, and
//! never "nothing there" (design rule 8). Nothing is merged here that has no [`Clearance`](tribunal_core::merge::clearance::Clearance).

mod before;
mod epics;
mod holds;
mod land;
mod look;
mod reviewed;
mod update;

pub use land::MergeEnd;
pub use look::Look;
pub use update::UpdateEnd;

use crate::effects::on_forge::OnForge;
use std::sync::Arc;
use std::time::Duration;
use tribunal_core::policy::identity::Bots;
use tribunal_core::pull::place::{ForgeKind, Place, Project};
use tribunal_forge::git::Repository;
use tribunal_store::Ledger;

/// What a forge does in its own time is waited for: the pauses between looks, half a minute in all.
const PAUSES: [Duration; 9] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(600),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(5),
    Duration::from_secs(8),
    Duration::from_secs(12),
];

/// Everything that merging in one project needs.
#[derive(Clone)]
pub struct Merging {
    pub on: OnForge,
    pub kind: ForgeKind,
    pub project: Project,
    /// Where heads are brought to.
    pub repository: Arc<Repository>,
    pub ledger: Arc<Ledger>,
    /// Machine accounts that the configuration names (CF-10).
    pub bots: Bots,
}

impl Merging {
    pub fn place(&self, number: u64) -> Place {
        Place { kind: self.kind, project: self.project.clone(), number }
    }
}
