//! What the signs of the rounds come to.

use super::State;
use crate::feedback::item::{Item, ItemId};
use crate::ids::RepoPath;
use crate::remedy::condition::{Blocker, Condition, Suspected};
use crate::remedy::ladder::Reason;
use crate::remedy::signals::audit::GATE_B_CHOICES;
use crate::remedy::signals::break_fix::MUTATION_DECAY;
use crate::remedy::signals::detect::{Detected, detect};
use crate::remedy::signals::diminishing::GATE_A_CHOICES;

impl State {
    /// What the signs say now (WL-62, WL-66). Several findings of one kind in one single review are several fixes: a common cause shows
    /// when fixing some of them did not end the others, so it is looked for from the second round on.
    pub(super) fn signs(&self) -> Option<Condition> {
        let detected = detect(&self.memory.history);
        let is_first = self.memory.history.rounds.len() < 2;
        let reason = detected.reason.filter(|reason| !(is_first && *reason == Reason::RootClusterSuspected))?;
        Some(self.condition(reason, &detected))
    }

    fn condition(&self, reason: Reason, detected: &Detected) -> Condition {
        let sign = |stage: &str, detail: String, evidence: &[String]| Condition::sign(reason, stage, detail, evidence.to_vec());
        match (reason, &detected.merge_advisory.advice) {
            // Whether to go on at all is then a person's to say.
            (Reason::Blocked, _) => Condition {
                blocker: Some(Blocker::Person),
                ..sign(MUTATION_DECAY, "fixes undo earlier fixes".into(), &detected.break_fix.evidence)
            },
            (Reason::RootClusterSuspected, _) => self.suspected(detected),
            (Reason::UserInputRequired, _) if detected.gate_b.fired => {
                let choices = GATE_B_CHOICES.join(", ");
                let detail = format!("fixes of races draw more of them; choose: {choices}");
                sign("convergence-audit", detail, &detected.gate_b.evidence)
            }
            (Reason::UserInputRequired, _) => {
                let detail = "the same finding was fixed as often as is allowed".into();
                sign("stubborn", detail, &detected.exhausted.evidence)
            }
            (Reason::MaxCyclesReached, _) => {
                sign("same-finding-repeat", "a finding came back after its fix".into(), &detected.repeat.evidence)
            }
            (Reason::MergeAdvised, Some(advice)) => Condition::advised(advice.clone(), detected.merge_advisory.evidence.clone()),
            (_, _) => {
                let choices = GATE_A_CHOICES.join(", ");
                let detail = format!("more rounds would bring only light remarks; choose: {choices}");
                let evidence = [detected.diminishing_returns.evidence.clone(), detected.gate_a.evidence.clone()].concat();
                sign("diminishing-returns", detail, &evidence)
            }
        }
    }

    /// The strongest of the signs that patching one by one does not help.
    fn suspected(&self, detected: &Detected) -> Condition {
        let Detected { cluster, axis, merge_advisory: tail, .. } = detected;
        if cluster.fired && !axis.zoom_out {
            let (root, rationale) = (cluster.hypothesized_root.clone(), cluster.same_framing_rationale.clone());
            let suspected = self.suspects(&cluster.members, cluster.files.clone(), root, rationale);
            return Condition::suspected("cluster", suspected, cluster.evidence.clone());
        }
        if axis.fired {
            let suspected = self.suspects(&axis.members, axis.file.iter().cloned().collect(), axis.root(), axis.rationale());
            return Condition::suspected(if axis.zoom_out { "zoom-out" } else { "axis" }, suspected, axis.evidence.clone());
        }
        let root = "the light findings that go on lie on young code, which has not settled".to_owned();
        let rationale = format!("{} findings of the last rounds lie on young files", tail.young.len());
        let suspected = self.suspects(&tail.young, tail.young_files.clone(), root, rationale);
        Condition::suspected("young-tail", suspected, tail.evidence.clone())
    }

    fn suspects(&self, members: &[ItemId], files: Vec<RepoPath>, root: String, rationale: String) -> Suspected {
        let urls = members.iter().filter_map(|id| self.memory.items.get(id)).map(Item::address).collect();
        Suspected { files, urls, root, rationale, members: u32::try_from(members.len()).unwrap_or(u32::MAX) }
    }
}
