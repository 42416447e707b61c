//! In which order a batch is merged (SL-72 to SL-83).
//!
//! Only what somebody declares is a dependency: words in a description, a plan, or a branch that stands on another's. Sharing files is
//! none, since it goes both ways; it says who comes first, and who must be brought up to date and checked again after a merge (SL-82).
//! The same batch gives the same order, however it is listed.

use crate::ids::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The label of work that other work stands on (SL-75).
pub const FOUNDATION: &str = "foundation";

/// A pull request that is to be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    pub number: u64,
    pub files: BTreeSet<RepoPath>,
    pub foundation: bool,
    /// Numbers of pull requests that come before; those that are not in the batch are no matter of the order.
    pub depends_on: BTreeSet<u64>,
    pub head_branch: String,
    pub base_branch: String,
    /// The branch of a fork is not what another one can stand on.
    pub is_fork: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeSequence {
    pub steps: Vec<Step>,
    /// Not to be merged, and why.
    pub held: Vec<Held>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub number: u64,
    /// 0: shares nothing with anybody.
    pub tier: u32,
    /// Of the batch, directly.
    pub after: BTreeSet<u64>,
    /// Later ones that share a file with it or stand on it: to be updated and checked again once this is merged.
    pub unsettles: BTreeSet<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub number: u64,
    pub because: HeldBecause,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldBecause {
    /// They wait for each other (SL-77).
    Cycle(BTreeSet<u64>),
    /// It waits for one that is held.
    Behind(u64),
}

impl MergeSequence {
    /// Those that must be brought up to date after a merge, of what is still to come (SL-79).
    pub fn unsettled_by(&self, merged: u64) -> BTreeSet<u64> {
        self.steps.iter().find(|step| step.number == merged).map(|step| step.unsettles.clone()).unwrap_or_default()
    }
}

/// Puts a batch in order. A number that is listed twice counts once.
pub fn sequence(batch: &[Candidate]) -> MergeSequence {
    let by_number: BTreeMap<u64, &Candidate> = batch.iter().map(|candidate| (candidate.number, candidate)).collect();
    let batch: Vec<&Candidate> = by_number.into_values().collect();
    let graph = Graph::of(&batch);
    let held = graph.held(&batch);
    let is_held: BTreeSet<u64> = held.iter().map(|held| held.number).collect();
    let free: Vec<usize> = (0..batch.len()).filter(|at| !is_held.contains(&batch[*at].number)).collect();
    let tiers = graph.tiers(&batch, &free);
    let mut order = free;
    order.sort_by_key(|at| {
        let candidate = batch[*at];
        // SL-76: fewer files first, foundation before feature, and who touches most others last.
        (tiers[*at], candidate.files.len(), !candidate.foundation, graph.overlaps[*at].count(), candidate.number)
    });
    let mut place: Vec<Option<usize>> = vec![None; batch.len()];
    order.iter().enumerate().for_each(|(nth, at)| place[*at] = Some(nth));
    // What is held has no place, and comes after nothing.
    let is_later = |at: usize, other: usize| place[other] > place[at];
    let steps = order.iter().map(|at| Step {
        number: batch[*at].number,
        tier: tiers[*at],
        after: graph.before[*at].iter().map(|before| batch[*before].number).collect(),
        unsettles: graph.overlaps[*at]
            .members()
            .chain(graph.after[*at].iter().copied())
            .filter(|other| is_later(*at, *other))
            .map(|other| batch[other].number)
            .collect(),
    });
    MergeSequence { steps: steps.collect(), held }
}

/// Who waits for whom, and who shares files with whom; by place in the batch.
struct Graph {
    before: Vec<BTreeSet<usize>>,
    after: Vec<BTreeSet<usize>>,
    overlaps: Vec<Row>,
}

impl Graph {
    fn of(batch: &[&Candidate]) -> Graph {
        let place: BTreeMap<u64, usize> = batch.iter().enumerate().map(|(at, candidate)| (candidate.number, at)).collect();
        let mut branches: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, candidate) in batch.iter().enumerate().filter(|(_, candidate)| !candidate.is_fork) {
            branches.entry(&candidate.head_branch).or_default().push(at);
        }
        let mut graph = Graph {
            before: vec![BTreeSet::new(); batch.len()],
            after: vec![BTreeSet::new(); batch.len()],
            overlaps: vec![Row::new(batch.len()); batch.len()],
        };
        for (at, candidate) in batch.iter().enumerate() {
            let declared = candidate.depends_on.iter().filter_map(|number| place.get(number));
            let stacked = branches.get(candidate.base_branch.as_str()).into_iter().flatten();
            for before in declared.chain(stacked) {
                graph.before[at].insert(*before);
                graph.after[*before].insert(at);
            }
        }
        let mut holders: BTreeMap<&RepoPath, Row> = BTreeMap::new();
        for (at, candidate) in batch.iter().enumerate() {
            for file in &candidate.files {
                holders.entry(file).or_insert_with(|| Row::new(batch.len())).put(at);
            }
        }
        for row in holders.values().filter(|row| row.count() > 1) {
            for at in row.members() {
                graph.overlaps[at].join(row);
            }
        }
        (0..batch.len()).for_each(|at| graph.overlaps[at].take(at));
        graph
    }

    /// Those in a circle, and those behind one.
    fn held(&self, batch: &[&Candidate]) -> Vec<Held> {
        let mut circle_of: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for circle in self.circles() {
            let members: BTreeSet<u64> = circle.iter().map(|at| batch[*at].number).collect();
            circle_of.extend(circle.into_iter().map(|at| (at, members.clone())));
        }
        let mut all: BTreeSet<usize> = circle_of.keys().copied().collect();
        let mut spreading: Vec<usize> = all.iter().copied().collect();
        while let Some(at) = spreading.pop() {
            spreading.extend(self.after[at].iter().filter(|behind| all.insert(**behind)));
        }
        let because = |at: &usize| match (circle_of.get(at), self.before[*at].iter().find(|before| all.contains(before))) {
            (Some(members), _) => Some(HeldBecause::Cycle(members.clone())),
            (None, Some(before)) => Some(HeldBecause::Behind(batch[*before].number)),
            (None, None) => None,
        };
        all.iter().filter_map(|at| Some(Held { number: batch[*at].number, because: because(at)? })).collect()
    }

    /// Strongly connected parts of more than one, and those that wait for themselves (Tarjan, without recursion: a chain may be long).
    fn circles(&self) -> Vec<BTreeSet<usize>> {
        const UNSEEN: usize = usize::MAX;
        let count = self.before.len();
        let next: Vec<Vec<usize>> = self.before.iter().map(|before| before.iter().copied().collect()).collect();
        let (mut index, mut low, mut on_stack) = (vec![UNSEEN; count], vec![0; count], vec![false; count]);
        let (mut stack, mut clock, mut found) = (Vec::new(), 0, Vec::new());
        for root in 0..count {
            if index[root] != UNSEEN {
                continue;
            }
            let mut work = vec![(root, 0)];
            while let Some((at, child)) = work.pop() {
                if child == 0 {
                    (index[at], low[at], on_stack[at]) = (clock, clock, true);
                    clock += 1;
                    stack.push(at);
                }
                match next[at].get(child) {
                    Some(to) if index[*to] == UNSEEN => work.extend([(at, child + 1), (*to, 0)]),
                    Some(to) => {
                        if on_stack[*to] {
                            low[at] = low[at].min(index[*to]);
                        }
                        work.push((at, child + 1));
                    }
                    None => {
                        if let Some((parent, _)) = work.last() {
                            low[*parent] = low[*parent].min(low[at]);
                        }
                        if low[at] == index[at] {
                            let mut part = BTreeSet::new();
                            while let Some(member) = stack.pop() {
                                on_stack[member] = false;
                                part.insert(member);
                                if member == at {
                                    break;
                                }
                            }
                            if part.len() > 1 || self.before[at].contains(&at) {
                                found.push(part);
                            }
                        }
                    }
                }
            }
        }
        found
    }

    /// SL-75, over the free ones: nobody shares a tier with one that he waits for or shares a file with.
    fn tiers(&self, batch: &[&Candidate], free: &[usize]) -> Vec<u32> {
        let mut is_free = Row::new(batch.len());
        free.iter().for_each(|at| is_free.put(*at));
        let among = |row: &BTreeSet<usize>| row.iter().filter(|at| is_free.has(**at)).count();
        let rank = |at: usize| {
            let shares = self.overlaps[at].shared(&is_free).count();
            let is_isolated = shares == 0 && among(&self.before[at]) == 0 && among(&self.after[at]) == 0;
            let carries = batch[at].foundation && (among(&self.after[at]) > 0 || shares > 0);
            let class = if is_isolated {
                0
            } else if carries {
                1
            } else {
                2
            };
            (class, shares, batch[at].files.len(), batch[at].number)
        };
        let ranks: BTreeMap<usize, _> = free.iter().map(|at| (*at, rank(*at))).collect();
        let mut waiting: BTreeMap<usize, usize> = free.iter().map(|at| (*at, among(&self.before[*at]))).collect();
        let mut ready: BTreeSet<_> = free.iter().filter(|at| waiting[at] == 0).map(|at| (ranks[at], *at)).collect();
        let mut tiers = vec![0; batch.len()];
        let mut placed = Row::new(batch.len());
        while let Some((rank, at)) = ready.pop_first() {
            let behind = self.before[at].iter().map(|before| tiers[*before] + 1).max().unwrap_or(0);
            let beside = self.overlaps[at].shared(&placed).members().map(|other| tiers[other] + 1).max();
            tiers[at] = if rank.0 == 0 { 0 } else { behind.max(beside.unwrap_or(0)).max(1) };
            placed.put(at);
            for after in &self.after[at] {
                if let Some(left) = waiting.get_mut(after) {
                    *left -= 1;
                    if *left == 0 {
                        ready.insert((ranks[after], *after));
                    }
                }
            }
        }
        tiers
    }
}

/// A set of places in the batch, one bit each: a thousand pull requests share a thousand files in a blink.
#[derive(Debug, Clone)]
struct Row(Vec<u64>);

impl Row {
    fn new(size: usize) -> Row {
        Row(vec![0; size.div_ceil(64)])
    }

    fn put(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn take(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] & (1 << (at % 64)) != 0
    }

    fn join(&mut self, other: &Row) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    fn shared(&self, other: &Row) -> Row {
        Row(self.0.iter().zip(&other.0).map(|(word, more)| word & more).collect())
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(place, word)| {
            // From bit to bit, each time without the lowest.
            let words = std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)));
            words.take_while(|word| *word != 0).map(move |word| place * 64 + word.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests;
