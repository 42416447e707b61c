//! The world around sweeps: its clock, its forge and its people. Time passes only here, and whenever it does, anybody may do something.

use super::cast::{Cast, Odds};
use super::chance::Chance;
use super::forge::Forge;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::ids::RunId;
use tribunal_core::merge::policy::When;
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::sweep::Outcome;
use tribunal_core::pull::facts::{CheckState, PullState};

const MORNING: Millis = 1_800_000_000_000;
/// How long checks take, at most.
const CHECKS: u64 = 120_000;

/// Who does the work of a run.
#[derive(Debug, Clone)]
pub struct Process {
    pub run: RunId,
    pub pid: u32,
}

pub struct World {
    pub chance: Chance,
    pub cast: Cast,
    pub forge: Forge,
    pub elapsed: u64,
    pub alive: BTreeSet<u32>,
    pub interrupted: BTreeSet<RunId>,
    /// What a person answers, where the seed does not decide.
    pub scripted: BTreeMap<GateName, Choice>,
    /// What comes of the next effects of this name, whatever the hands would have done.
    pub planned: BTreeMap<String, VecDeque<Outcome>>,
    checks_end: BTreeMap<u64, u64>,
}

impl World {
    pub fn new(chance: Chance, cast: Cast, forge: Forge) -> Self {
        World {
            chance,
            cast,
            forge,
            elapsed: 0,
            alive: BTreeSet::new(),
            interrupted: BTreeSet::new(),
            scripted: BTreeMap::new(),
            planned: BTreeMap::new(),
            checks_end: BTreeMap::new(),
        }
    }

    pub fn now(&self) -> Millis {
        MORNING + self.elapsed
    }

    pub fn happens(&mut self, odds: impl Fn(&Odds) -> u64) -> bool {
        let odds = odds(&self.cast.odds);
        odds > 0 && self.chance.per_cent(odds)
    }

    pub fn pass_time(&mut self, millis: u64) {
        self.elapsed += millis;
        self.end_checks();
        if self.happens(|odds| odds.people) {
            self.somebody_acts();
        }
    }

    /// Checks that have run long enough come to their end.
    fn end_checks(&mut self) {
        let pending: Vec<u64> =
            self.forge.pulls.values().filter(|pull| pull.checks == CheckState::Pending).map(|pull| pull.number).collect();
        self.checks_end.retain(|number, _| pending.contains(number));
        for number in pending {
            let (chance, elapsed) = (&mut self.chance, self.elapsed);
            let end = *self.checks_end.entry(number).or_insert_with(|| elapsed + chance.below(CHECKS));
            if end <= elapsed {
                self.forge.change(number, |pull| pull.checks = pull.fate);
            }
        }
    }

    fn somebody_acts(&mut self) {
        let count = self.forge.pulls.len() as u64;
        if count == 0 {
            return;
        }
        let number = 1 + self.chance.below(count);
        let bugs = self.chance.pick(&[0, 0, 1, 2]);
        let on = 1 + self.chance.below(count);
        match self.chance.below(16) {
            0..=3 => drop(self.forge.push(number, |pull| {
                pull.bugs = bugs;
                pull.markers = false;
                pull.fixers.clear();
            })),
            4 => self.forge.change(number, |pull| pull.hold ^= true),
            5 => self.forge.change(number, |pull| pull.draft ^= true),
            6 => self.forge.change(number, |pull| {
                if pull.state == PullState::Open {
                    pull.state = PullState::Closed;
                }
            }),
            7 => self.forge.change(number, |pull| {
                if pull.state == PullState::Closed {
                    pull.state = PullState::Open;
                }
            }),
            8 => self.forge.change(number, |pull| pull.checks = CheckState::Failure),
            9 => self.forge.change(number, |pull| pull.checks = CheckState::Pending),
            10 => self.forge.change(number, |pull| pull.checks = CheckState::Success),
            11 => self.forge.change(number, |pull| pull.comments += 1),
            12 => self.forge.change(number, |pull| {
                if on != number && !pull.after.remove(&on) {
                    pull.after.insert(on);
                }
            }),
            13 => self.forge.set_policy(|policy| {
                policy.when = if policy.when == When::Never { When::Approved } else { When::Never };
            }),
            14 => self.forge.change(number, |pull| pull.behind = pull.state == PullState::Open),
            _ => self.forge.change(number, |pull| pull.unclear ^= true),
        }
    }
}
