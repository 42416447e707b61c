//! Findings that somebody has waved away. A word of the change's own author silences a finding but never clears it: one comment must
//! not be able to pass a P0 (PR-132, CF-7). A word of anybody else with write access does.

use crate::ids::FindingId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dismissal as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dismissal {
    pub id: FindingId,
    pub dismissed: Dismissed,
}

/// What stands with the finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dismissed {
    pub by: String,
    pub reason: String,
    /// By somebody who did not write the change: the finding no longer counts.
    pub accepted: bool,
}

/// Of several words on one finding an accepting one counts, then the last.
pub fn find(dismissals: &[Dismissal], id: FindingId) -> Option<Dismissed> {
    let mut of_this = dismissals.iter().filter(|dismissal| dismissal.id == id).map(|dismissal| &dismissal.dismissed);
    let accepted = of_this.clone().rfind(|dismissed| dismissed.accepted);
    accepted.or_else(|| of_this.next_back()).cloned()
}
