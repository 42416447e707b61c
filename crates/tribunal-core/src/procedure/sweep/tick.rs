//! One tick: what it found, and how far each pull request has got in it.

use super::effect::Seen;
use super::landing::{Landed, Landing};
use super::purse::Purse;
use super::round::{Ending, Round, Wish};
use super::screen::{Checks, Screen};
use crate::ids::{RunId, Sha};
use crate::merge::order::MergeSequence;
use crate::merge::policy::MergePolicy;
use crate::procedure::Millis;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    pub started_at: Millis,
    /// As it was when the tick began.
    pub purse: Purse,
    pub policy: MergePolicy,
    /// To be looked at, before the rounds and before the merges.
    pub to_look: VecDeque<u64>,
    /// How each was when it was last looked at.
    pub checks: BTreeMap<u64, Checks>,
    pub screens: BTreeMap<u64, Screen>,
    /// One for each pull request that was found, made when it was found and never again (SL-1).
    pub rounds: BTreeMap<u64, Round>,
    pub lanes: Vec<Lane>,
    /// Lanes that may work at the same time; one, once anybody was turned away for a while (SL-47).
    pub width: usize,
    pub seen: BTreeMap<u64, Seen>,
    pub course: Option<Course>,
    pub landing: Option<Landing>,
    pub landed: BTreeMap<u64, Landed>,
    pub errored: Option<String>,
    /// An external index did not answer; what it said instead.
    pub index_failed: Option<String>,
}

/// A pair and its pull requests, one after the other (SL-48).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    pub queue: VecDeque<u64>,
    pub current: Option<u64>,
    /// What it would do if there were money; others may give some back.
    pub parked: Option<Wish>,
    /// All that it was given, for the report.
    pub given: Vec<u64>,
}

/// The merges of a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    pub sequence: MergeSequence,
    pub next: usize,
    /// Those that something merged in this tick has touched: they are brought up to date first.
    pub unsettled: BTreeSet<u64>,
}

impl Tick {
    pub fn new(now: Millis, purse: Purse) -> Self {
        Tick {
            started_at: now,
            purse,
            policy: MergePolicy::default(),
            to_look: VecDeque::new(),
            checks: BTreeMap::new(),
            screens: BTreeMap::new(),
            rounds: BTreeMap::new(),
            lanes: Vec::new(),
            width: 0,
            seen: BTreeMap::new(),
            course: None,
            landing: None,
            landed: BTreeMap::new(),
            errored: None,
            index_failed: None,
        }
    }

    /// Round-robin over pairs (SL-45, SL-48).
    pub fn distribute(&mut self, pairs: u32) {
        let waiting: Vec<u64> = self.waiting().collect();
        let count = waiting.len().min(pairs as usize);
        self.lanes = vec![Lane::default(); count];
        self.width = count;
        for (place, number) in waiting.into_iter().enumerate() {
            let lane = &mut self.lanes[place % count.max(1)];
            lane.queue.push_back(number);
            lane.given.push(number);
        }
    }

    /// Those whose round has not begun, by number.
    pub fn waiting(&self) -> impl Iterator<Item = u64> {
        self.rounds.iter().filter(|(_, round)| **round == Round::Waiting).map(|(number, _)| *number)
    }

    pub fn end(&mut self, number: u64, ending: Ending) {
        self.rounds.insert(number, Round::Over(ending));
    }

    /// 1 for the first.
    pub fn pair_of(&self, number: u64) -> Option<u32> {
        let place = self.lanes.iter().position(|lane| lane.given.contains(&number))?;
        u32::try_from(place + 1).ok()
    }

    pub fn lane_of(&mut self, number: u64) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.current == Some(number))
    }

    /// Approved, at which head and by which review.
    pub fn approved(&self) -> BTreeMap<u64, (Sha, RunId)> {
        let approved = self.rounds.iter().filter_map(|(number, round)| match round.ending() {
            Some(Ending::Approved { head, review }) => Some((*number, (head.clone(), review.clone()))),
            _ => None,
        });
        approved.collect()
    }

    /// Efforts of agents that its rounds may take: a review, a response, another review.
    pub fn efforts(&self) -> u32 {
        u32::try_from(self.waiting().count()).unwrap_or(u32::MAX).saturating_mul(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(count: u64) -> Tick {
        let mut tick = Tick::new(0, Purse::default());
        tick.rounds = (1..=count).map(|number| (number, Round::Waiting)).collect();
        tick
    }

    fn given(count: u64, pairs: u32) -> Vec<Vec<u64>> {
        let mut tick = tick(count);
        tick.distribute(pairs);
        tick.lanes.iter().map(|lane| lane.given.clone()).collect()
    }

    /// SL-45, SL-48: five for two pairs are 1, 3, 5 and 2, 4; one pull request is one pair.
    #[test]
    fn pull_requests_go_round_the_pairs() {
        assert_eq!(given(5, 2), [vec![1, 3, 5], vec![2, 4]]);
        assert_eq!(given(1, 4), [vec![1]]);
        assert_eq!(given(0, 2), Vec::<Vec<u64>>::new());
        let mut tick = tick(3);
        tick.end(2, Ending::Draft);
        tick.distribute(2);
        assert_eq!((tick.pair_of(3), tick.pair_of(2)), (Some(2), None));
    }
}
