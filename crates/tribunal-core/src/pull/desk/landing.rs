//! How a desk learns that its pull request was merged.
//!
//! A merge is two writes in two places: the base branch and the desk. The intent is written to the desk first, then the branch is
//! moved, and from then on the branch itself says that it happened. So a process may die anywhere between.

use super::act::Refusal;
use super::{Desk, Landing, Live, PullDesk, Subject};
use crate::ids::Sha;
use crate::procedure::Millis;
use crate::publish::outgoing::filtered;
use crate::pull::facts::{MergeMethod, PullState};

/// Merges that were begun and never happened; more than these are of no interest.
const KEPT: usize = 20;

impl PullDesk {
    /// Commits of which any in the base branch means that this was merged: those of merges that were begun, newest first, then the
    /// head as it was last seen, which somebody may have merged by hand.
    pub fn candidates(&self) -> Vec<Sha> {
        self.begun.iter().rev().map(|landing| &landing.commit).chain([&self.head.sha]).cloned().collect()
    }
}

impl Desk {
    pub(super) fn begin_landing(&mut self, landing: Landing) -> Result<(), Refusal> {
        let pull = self.pull_mut()?;
        match pull.state() {
            PullState::Open if pull.draft => return Err(Refusal::Draft),
            PullState::Open if pull.head.sha != landing.head => {
                return Err(Refusal::HeadMoved { expected: landing.head, found: pull.head.sha.clone() });
            }
            PullState::Open => {}
            state @ (PullState::Closed | PullState::Merged) => return Err(Refusal::NotOpen(state)),
        }
        pull.begun.push(landing);
        let surplus = pull.begun.len().saturating_sub(KEPT);
        pull.begun.drain(..surplus);
        Ok(())
    }

    /// The same desk in the light of what git says now.
    pub fn seen(&self, live: &Live, now: Millis) -> Desk {
        let mut desk = self.clone();
        let Subject::Pull(pull) = &mut desk.subject else { return desk };
        if pull.landed.is_some() {
            return desk;
        }
        if let Some(base) = &live.base {
            pull.base.sha = base.clone();
        }
        if let Some(commit) = &live.landed {
            let begun = pull.begun.iter().find(|landing| &landing.commit == commit).cloned();
            pull.landed = Some(begun.unwrap_or_else(|| Landing {
                commit: commit.clone(),
                head: pull.head.sha.clone(),
                base_before: pull.base.sha.clone(),
                method: None,
                by: None,
                at: now,
            }));
            desk.updated_at = desk.updated_at.max(now);
            return desk;
        }
        // A branch that was set back to its base is no merged one; what is remembered is the last head that had something to merge.
        if let Some(head) = live.head.as_ref().filter(|_| !live.is_empty) {
            pull.head.sha = head.clone();
        }
        desk
    }

    /// The head that counts: the one that was merged, else the branch's, else the last one that was seen.
    pub fn head_now(&self, live: &Live) -> Option<Sha> {
        let pull = self.pull().ok()?;
        let landed = pull.landed.as_ref().map(|landing| &landing.head);
        landed.or(live.head.as_ref()).or(Some(&pull.head.sha)).cloned()
    }
}

/// What the commit of a merge is called when nobody says otherwise.
pub fn usual_words(desk: &Desk, number: u64, method: MergeMethod) -> (String, String) {
    match method {
        MergeMethod::Squash | MergeMethod::Rebase => {
            (filtered(&format!("{} (#{number})", desk.title)), filtered(desk.body.trim()))
        }
        MergeMethod::Merge => {
            let head = desk.pull().map_or("", |pull| pull.head.name.as_str());
            (format!("Merge pull request #{number} from {head}"), filtered(&desk.title))
        }
    }
}
