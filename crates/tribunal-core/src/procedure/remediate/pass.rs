//! Which of what was seen is worked on, and whether anything is.

use super::{Seen, SeenItem, State};
use crate::feedback::baseline::{Baseline, Change, change};
use crate::feedback::dashboard::hidden_findings;
use crate::feedback::dedup::groups;
use crate::feedback::fixable::Fixable;
use crate::feedback::item::{ItemId, Label};
use crate::ids::Sha;
use crate::policy::loops::LoopPolicy;
use crate::procedure::Millis;
use crate::pull::facts::PullState;
use crate::remedy::assess::Assessment;
use crate::remedy::condition::{Blocker, Condition};
use crate::remedy::ladder::Reason;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The same finding is remediated so often, and then a person is asked (CF-3, PR-114).
pub const MAX_FIXES: u32 = 3;

/// Why the conversation is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Before any waiting: what is there already is worked on (WL-9).
    First,
    Event,
    /// A reviewer approved; is anything left (WL-11)?
    Approved {
        by: String,
    },
    /// One more look before the loop ends clean (WL-130).
    LastLook(Ready),
    /// One more look before nobody watches any more (WL-130).
    Unwatched,
    /// The loop ends: what is still open? Without a condition it was the only pass.
    Closing {
        conditions: Vec<Condition>,
    },
}

/// Why a loop may end clean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    Approved {
        by: String,
    },
    /// The awaited reviewer has looked and left nothing (RL-24, CF-20).
    Reviewed,
}

impl Why {
    /// What ends the loop already, whatever the look shows.
    pub(super) fn decided(self) -> Vec<Condition> {
        match self {
            Why::Closing { conditions } => conditions,
            Why::First | Why::Event | Why::Approved { .. } | Why::LastLook(_) | Why::Unwatched => Vec::new(),
        }
    }
}

/// One round of work on what was seen at one head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    pub number: u32,
    pub head: Sha,
    /// What is worked on; the first of a group leads.
    #[serde(deserialize_with = "with_a_right")]
    pub items: Vec<Fixable>,
    /// Follower → the item that it is about the same thing as.
    pub same_as: BTreeMap<ItemId, ItemId>,
    pub assessments: Vec<Assessment>,
    /// What the checker said against earlier assessments.
    pub rejections: Vec<String>,
    pub made: Option<super::Made>,
    pub landed: Option<Sha>,
    pub homes: BTreeMap<ItemId, Result<String, String>>,
    /// Reasons to stop that wait until what can be fixed is fixed (WL-61).
    pub conditions: Vec<Condition>,
}

/// Items of a run that an older version began have no right, and are not worked on.
pub(super) fn with_a_right<'de, D: Deserializer<'de>>(stored: D) -> Result<Vec<Fixable>, D::Error> {
    let all = Vec::<serde_json::Value>::deserialize(stored)?;
    Ok(all.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

impl Pass {
    pub fn item(&self, id: &ItemId) -> Option<&Fixable> {
        self.items.iter().find(|item| &item.id == id)
    }

    pub fn assessment(&self, id: &ItemId) -> Option<&Assessment> {
        self.assessments.iter().find(|assessment| &assessment.item == id)
    }

    /// Did a person say it, or something that goes with it?
    pub fn answers_person(&self, leader: &ItemId) -> bool {
        let goes_with = |item: &&Fixable| item.id == *leader || self.same_as.get(&item.id) == Some(leader);
        self.items.iter().filter(goes_with).any(|item| item.voice.is_person())
    }

    /// Those that are asked about: a follower shares its leader's fate.
    pub fn leaders(&self) -> impl Iterator<Item = &Fixable> {
        self.items.iter().filter(|item| !self.same_as.contains_key(&item.id))
    }
}

pub(super) enum Planned {
    End(Vec<Condition>),
    LookAgain(Why),
    Wait { active: bool },
    Work(Box<Pass>),
}

pub(super) fn plan(state: &mut State, why: Why, seen: Seen, before: Option<&Baseline>, now: Millis) -> Planned {
    let ended = match seen.pull.state {
        PullState::Merged => Some(Reason::PrMerged),
        PullState::Closed => Some(Reason::PrClosed),
        PullState::Open => None,
    };
    if let Some(reason) = ended {
        // An escalation is not hidden by it (WL-55).
        return Planned::End([why.decided(), vec![Condition::of(reason)]].concat());
    }
    // Whoever has no right to write ends nothing, holds nothing up and is given to nobody; the report lists what they said.
    let is_ours_to_answer = |entry: &&SeenItem| entry.item.is_open() && entry.fixable().is_some();
    let open: Vec<&SeenItem> = seen.items.iter().filter(is_ours_to_answer).collect();
    // Before anything is made of any of them (WL-60).
    if let Some((entry, suspicion)) = open.iter().find_map(|entry| Some((entry, entry.suspicion.as_ref()?))) {
        return Planned::End([why.decided(), vec![Condition::injection(&entry.item, suspicion)]].concat());
    }
    if let Why::Closing { conditions } = why {
        return Planned::End(if conditions.is_empty() { closing(state, &open) } else { conditions });
    }
    // What nobody here can see comes before all work: no guess, and nothing else meanwhile (PR-112).
    let said = || seen.items.iter().filter(|entry| entry.right.is_granted()).map(|entry| &entry.item);
    if let Some(hidden) = open.iter().find_map(|entry| hidden_findings(&entry.item, said()).map(|at| (entry, at))) {
        return Planned::End(vec![Condition::invisible(&hidden.0.item, &hidden.1)]);
    }
    if state.memory.reads > max_reads(&state.request.loops) {
        return Planned::End(vec![Condition::of(Reason::MaxIterationsReached)]);
    }
    state.memory.history.young_files.clone_from(&seen.young);
    let (candidates, conditions) = candidates(state, &open);
    if !conditions.is_empty() {
        return Planned::End(conditions);
    }
    if let Some(quota) = &seen.quota
        && candidates.is_empty()
    {
        return Planned::End(vec![Condition::blocked(Blocker::Later, "reviewer", quota.clone())]);
    }
    if candidates.is_empty() {
        return nothing_to_do(state, why, &seen, before);
    }
    if state.memory.passes >= max_passes(&state.request.loops) {
        return Planned::End(vec![Condition::of(Reason::MaxIterationsReached)]);
    }
    if now >= state.total_until() {
        return Planned::End(vec![Condition::window_elapsed()]);
    }
    // What has begun may go on for a while, and half of it is not worked on (RL-15).
    if state.is_respond() && why == Why::First && state.request.loops.wait.settle.as_seconds() > 0 && !state.request.loops.once {
        return Planned::Wait { active: true };
    }
    state.memory.passes += 1;
    Planned::Work(Box::new(begin(state, &seen, candidates)))
}

/// Passes that find work, productive or not.
fn max_passes(loops: &LoopPolicy) -> u32 {
    loops.cycles.saturating_mul(4).saturating_add(16)
}

/// Chatter that asks for nothing costs no pass (WL-38). Time ends it, and should the clock stand still, this does: as many looks as
/// polls fit, and one after each.
fn max_reads(loops: &LoopPolicy) -> u32 {
    let polls = loops.wait.total.as_millis() / loops.wait.poll.as_millis().max(1);
    u32::try_from(polls).unwrap_or(u32::MAX).saturating_mul(2).saturating_add(max_passes(loops).saturating_mul(2))
}

/// Nothing is open for us.
fn nothing_to_do(state: &State, why: Why, seen: &Seen, before: Option<&Baseline>) -> Planned {
    let approves = |by: &String| seen.baseline.approvals.contains_key(by);
    let is_reviewed = state.is_respond() && !seen.running && (seen.reviewed || is_satisfied_since(before, seen));
    match why {
        // What was taken back before it was looked at, by a word or by a push, is no approval (WL-11, WL-79).
        Why::Approved { by } if approves(&by) => Planned::LookAgain(Why::LastLook(Ready::Approved { by })),
        Why::Unwatched => match before.map(|before| change(before, &seen.baseline, state.arm())) {
            Some(Change::Approved { by }) => Planned::LookAgain(Why::LastLook(Ready::Approved { by })),
            _ => Planned::End(vec![Condition::window_elapsed()]),
        },
        // Whatever was said meanwhile asks for nothing, or it would be worked on.
        Why::LastLook(ready) if still_holds(&ready, seen) => Planned::End(vec![Condition::of(Reason::Clean)]),
        _ if state.request.loops.once => Planned::End(vec![Condition::of(Reason::Clean)]),
        // The reviewer has looked at this head and left nothing: ready for a person's decision, once it is quiet (RL-24, CF-20).
        Why::Event if is_reviewed => Planned::LookAgain(Why::LastLook(Ready::Reviewed)),
        Why::First if is_reviewed => Planned::Wait { active: true },
        _ => Planned::Wait { active: false },
    }
}

fn still_holds(ready: &Ready, seen: &Seen) -> bool {
    match ready {
        Ready::Approved { by } => seen.baseline.approvals.contains_key(by),
        Ready::Reviewed => !seen.running && (seen.reviewed || !seen.satisfied.is_empty()),
    }
}

/// A reviewer has said since the last look that it asks for nothing. An older word may be about an older commit.
fn is_satisfied_since(before: Option<&Baseline>, seen: &Seen) -> bool {
    let Some(before) = before else { return false };
    seen.satisfied.iter().any(|word| before.words.get(word) != seen.baseline.words.get(word))
}

/// After a single pass (CF-32).
fn closing(state: &State, open: &[&SeenItem]) -> Vec<Condition> {
    let reason = if open.is_empty() && state.open_items().is_empty() { Reason::Clean } else { Reason::PassComplete };
    vec![Condition::of(reason)]
}

/// Items to work on, and reasons not to go on at all.
fn candidates(state: &State, open: &[&SeenItem]) -> (Vec<Fixable>, Vec<Condition>) {
    let memory = &state.memory;
    let mut found = Vec::new();
    let mut conditions = Vec::new();
    for entry in open {
        let Some(item) = entry.fixable() else { continue };
        // Pages that overlap show an item twice.
        if found.iter().any(|known: &Fixable| known.id == item.id) {
            continue;
        }
        // Decided once for these words; only new ones open it again.
        if memory.ends.get(&item.id).is_some_and(|(last_word, _)| *last_word == item.last_word) {
            continue;
        }
        let fixes = memory.fixes.get(&item.id).copied().unwrap_or(0);
        match item.label {
            Label::FollowupAfterFix if fixes >= 2 => conditions.push(Condition::same_finding_again(&item, fixes)),
            _ if fixes >= MAX_FIXES => conditions.push(Condition::stubborn(&item, fixes)),
            _ => found.push(item),
        }
    }
    (found, conditions)
}

fn begin(state: &State, seen: &Seen, items: Vec<Fixable>) -> Pass {
    let mut same_as = BTreeMap::new();
    for group in groups(&items) {
        let mut members = group.into_iter();
        if let Some(leader) = members.next() {
            same_as.extend(members.map(|follower| (follower, leader.clone())));
        }
    }
    Pass {
        number: state.memory.passes,
        head: seen.pull.head.clone(),
        items,
        same_as,
        assessments: Vec::new(),
        rejections: Vec::new(),
        made: None,
        landed: None,
        homes: BTreeMap::new(),
        conditions: Vec::new(),
    }
}
