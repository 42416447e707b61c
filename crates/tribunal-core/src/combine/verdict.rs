//! What a review concludes: status tier (PR-80), verdict (CF-12), outcome, and the exit code that follows.

use super::finding::Finding;
use crate::findings::scale::Priority;
use crate::report::receipt::WholeCoverage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Did a review happen, and did it find anything?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Clean,
    Findings,
    Incomplete,
    NotRun,
}

impl Outcome {
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Clean => "clean",
            Outcome::Findings => "findings",
            Outcome::Incomplete => "incomplete",
            Outcome::NotRun => "not-run",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Verdict {
    #[serde(rename = "LGTM")]
    Lgtm,
    #[serde(rename = "MINOR")]
    Minor,
    #[serde(rename = "MAJOR")]
    Major,
    #[serde(rename = "BLOCKED")]
    Blocked,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Lgtm => "LGTM",
            Verdict::Minor => "MINOR",
            Verdict::Major => "MAJOR",
            Verdict::Blocked => "BLOCKED",
        }
    }

    /// For people and for the ledger: a review without a verdict says so.
    pub fn words(verdict: Option<Verdict>) -> &'static str {
        verdict.map_or("none", Verdict::word)
    }
}

/// The severity tier of what is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    Blocking,
    ReviewBeforeMerge,
    ApprovedWithNotes,
    Approved,
    /// Nobody who was asked has answered, so nothing is known of the change (PR-7).
    NotReviewed,
}

impl Tier {
    pub fn wording(self) -> &'static str {
        match self {
            Tier::Blocking => "🔴 Blocking issues found",
            Tier::ReviewBeforeMerge => "⚠️ Review before merge",
            Tier::ApprovedWithNotes => "✅ Approved with notes",
            Tier::Approved => "✅ Approved",
            Tier::NotReviewed => "❌ Not reviewed",
        }
    }
}

/// PR-36's status words. `partial-failure` used to hide the tier (PR-38); the tier now stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Blocking,
    ReviewBeforeMerge,
    ApprovedWithNotes,
    Approved,
    Noop,
    PartialFailure,
}

/// `reviewed` says whether any reviewer has answered. What an earlier review found is open all the same.
pub fn tier(findings: &[Finding], gaps: usize, reviewed: bool) -> Tier {
    let any = |priority: Priority| findings.iter().any(|finding| finding.counts() && finding.p_code == priority);
    if any(Priority::P0) {
        Tier::Blocking
    } else if any(Priority::P1) {
        Tier::ReviewBeforeMerge
    } else if !reviewed {
        Tier::NotReviewed
    } else if !findings.is_empty() || gaps > 0 {
        Tier::ApprovedWithNotes
    } else {
        Tier::Approved
    }
}

/// Proof that a review is whole: every file was read or is exempt by the base's word, and nobody who was asked is missing.
/// `clean`, `LGTM` and a passing status can only be had with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeReview(());

impl WholeReview {
    pub fn new(coverage: Option<WholeCoverage>, anyone_missing: bool) -> Option<Self> {
        coverage.filter(|_| !anyone_missing).map(|WholeCoverage { .. }| WholeReview(()))
    }

    /// What a stored review of ours was judged to be; its files are not stored with it everywhere.
    pub fn of_stored(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Clean | Outcome::Findings => Some(WholeReview(())),
            Outcome::Incomplete | Outcome::NotRun => None,
        }
    }
}

pub fn status(tier: Tier, whole: Option<WholeReview>) -> Status {
    match (whole.is_some(), tier) {
        (false, _) | (true, Tier::NotReviewed) => Status::PartialFailure,
        (true, Tier::Blocking) => Status::Blocking,
        (true, Tier::ReviewBeforeMerge) => Status::ReviewBeforeMerge,
        (true, Tier::ApprovedWithNotes) => Status::ApprovedWithNotes,
        (true, Tier::Approved) => Status::Approved,
    }
}

/// CF-12: two scales and one fixed map. Half a review may condemn, but it never says LGTM (design rule 1).
pub fn verdict(findings: &[Finding], missing_prerequisites: &[String], whole: Option<WholeReview>) -> Option<Verdict> {
    let any = |priority: Priority| findings.iter().any(|finding| finding.counts() && finding.p_code == priority);
    let p1_can_be_fixed_here = findings
        .iter()
        .filter(|finding| finding.counts() && finding.p_code == Priority::P1)
        .all(|finding| !finding.mitigation.is_empty() && !finding.mitigation_out_of_scope);
    if !missing_prerequisites.is_empty() {
        Some(Verdict::Blocked)
    } else if any(Priority::P0) || (any(Priority::P1) && !p1_can_be_fixed_here) {
        Some(Verdict::Major)
    } else if any(Priority::P1) {
        Some(Verdict::Minor)
    } else {
        whole.map(|WholeReview(())| Verdict::Lgtm)
    }
}

pub fn outcome(findings: &[Finding], gaps: usize, whole: Option<WholeReview>) -> Outcome {
    match (whole, findings.is_empty() && gaps == 0) {
        (None, _) => Outcome::Incomplete,
        (Some(WholeReview(())), true) => Outcome::Clean,
        (Some(WholeReview(())), false) => Outcome::Findings,
    }
}

/// The level at which findings fail a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FailLevel {
    P0,
    P1,
    P2,
    P3,
    #[serde(rename = "never")]
    Never,
}

impl FailLevel {
    pub fn is_reached_by(self, priority: Priority) -> bool {
        let level = match self {
            FailLevel::P0 => Priority::P0,
            FailLevel::P1 => Priority::P1,
            FailLevel::P2 => Priority::P2,
            FailLevel::P3 => Priority::P3,
            FailLevel::Never => return false,
        };
        priority <= level
    }

    /// The level at which the exit code and the status say what the verdict says: P0 and P1 decide it (CF-2, CF-12).
    pub fn of_verdicts(self) -> FailLevel {
        match self {
            FailLevel::P0 | FailLevel::Never => FailLevel::P1,
            stricter @ (FailLevel::P1 | FailLevel::P2 | FailLevel::P3) => stricter,
        }
    }
}

/// Why a review is incomplete, as far as the exit code tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldUp {
    /// A cap was reached.
    Budget,
    /// Only quota or an outage: the same command may succeed later.
    Outage,
    Other,
}

/// Design section 8. Incomplete outranks findings: a green-looking code for half a review would be a lie, and so would "only
/// findings".
pub fn exit_code(outcome: Outcome, hold_up: HoldUp, findings: &[Finding], fail_level: FailLevel) -> u8 {
    match outcome {
        Outcome::Incomplete => match hold_up {
            HoldUp::Budget => 4,
            HoldUp::Outage => 75,
            HoldUp::Other => 3,
        },
        Outcome::NotRun => 2,
        Outcome::Clean => 0,
        Outcome::Findings => {
            u8::from(findings.iter().any(|finding| finding.counts() && fail_level.is_reached_by(finding.p_code)))
        }
    }
}
