//! All signs at once, and what they come to (WL-62, WL-66, WL-94).

use super::audit::gate_b;
use super::axis::{Axis, cross_iteration_axis};
use super::break_fix::{MUTATION_DECAY, break_fix};
use super::cluster::{Cluster, root_cluster};
use super::diminishing::{diminishing_returns, gate_a};
use super::merge_advice::{MergeAdvice, merge_advice};
use super::repeat::{exhausted, same_finding_repeat};
use super::{History, Signal};
use crate::remedy::ladder::Reason;
use serde::{Deserialize, Serialize};

/// Every block is there whether it fired or not; readers look inside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detected {
    pub break_fix: Signal,
    pub cluster: Cluster,
    pub axis: Axis,
    pub repeat: Signal,
    pub exhausted: Signal,
    pub diminishing_returns: Signal,
    pub merge_advisory: MergeAdvice,
    pub gate_a: Signal,
    pub gate_b: Signal,
    /// What each sign that fired would end the loop with, in the order of WL-94.
    pub reasons: Vec<Reason>,
    /// The first of them: break-fix before cluster before the advisories. Nothing: go on.
    pub reason: Option<Reason>,
    /// With `blocked`: why.
    pub blocker: Option<String>,
}

/// Before the fix only what forbids a patch can fire; what judges a pass waits until the round is over.
pub fn detect(history: &History) -> Detected {
    let mut found = Detected {
        break_fix: break_fix(history),
        cluster: root_cluster(history),
        axis: cross_iteration_axis(history),
        repeat: same_finding_repeat(history),
        exhausted: exhausted(history),
        diminishing_returns: diminishing_returns(history),
        merge_advisory: merge_advice(history),
        gate_a: gate_a(history),
        gate_b: gate_b(history),
        ..Detected::default()
    };
    let over = history.last().is_some_and(|round| round.over);
    let clustered = found.cluster.fired || found.axis.fired || found.merge_advisory.reroute;
    let settled =
        history.standing.open_actionable == 0 && history.standing.handled_unresolved == 0 && !history.standing.escalation;
    let hygiene = found.gate_a.fired && over && settled;
    let order = [
        (found.break_fix.fired, Reason::Blocked),
        (clustered, Reason::RootClusterSuspected),
        // A person is asked before the loop is called exhausted (PR-114, PR-121).
        (found.exhausted.fired || found.gate_b.fired, Reason::UserInputRequired),
        (found.repeat.fired, Reason::MaxCyclesReached),
        (found.merge_advisory.fired, Reason::MergeAdvised),
        // Where merging is advised, less and less coming in is the reason given for it and no end of its own.
        (!found.merge_advisory.fired && (found.diminishing_returns.fired || hygiene), Reason::DiminishingReturns),
    ];
    found.reasons = order.into_iter().filter(|(fired, _)| *fired).map(|(_, reason)| reason).collect();
    found.reason = found.reasons.first().copied();
    found.blocker = found.break_fix.fired.then(|| MUTATION_DECAY.to_owned());
    found
}
