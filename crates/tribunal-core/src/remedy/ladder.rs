//! Why a loop ends, which reason wins when several hold, and what a cycle is (WL sections 9, 10, 17).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In the order of precedence: the first that holds is the reason (WL-52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    InjectionSuspect,
    HighSeverityRejection,
    UserInputRequired,
    PlannerEscalation,
    BreakFixBreak,
    Blocked,
    RootClusterSuspected,
    DiminishingReturns,
    MergeAdvised,
    PrMerged,
    PrClosed,
    MaxIterationsReached,
    MaxCyclesReached,
    WatchWindowElapsed,
    /// A single pass that leaves items open (CF-32).
    PassComplete,
    Clean,
}
