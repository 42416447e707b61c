//! Kills a loop at random moments, has it go on with `--resume`, and keeps count of how far it had got each time.
//!
//! A moment is drawn from a span that each life may last. How long that must be depends on the machine, and changes while a test runs:
//! so it is learnt from how much further each life brought the loop.

use super::super::town::Said;
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use tribunal_store::Ledger;
use tribunal_store::folder::OwnFolder;

/// A loop that can be begun and gone on with.
pub struct Victim<'a> {
    /// With `--resume`, or without.
    pub start: &'a (dyn Fn(bool) -> Child + Sync),
    /// The folder of the ledger, and the folder with the key that it is sealed with.
    pub ledger: PathBuf,
    pub state: PathBuf,
}

pub struct Killing {
    seed: u64,
    span: Duration,
    /// Steps of a loop that nobody disturbs.
    whole: i64,
    /// Where the loop was at each kill, and how often it was there. A process that had not begun a loop was none.
    pub stages: BTreeMap<String, usize>,
}

/// How far a loop has got.
struct Place {
    stage: String,
    steps: i64,
}

impl Killing {
    /// `lasts` is what a loop takes that nobody disturbs, and `whole` the steps of it.
    pub fn new(lasts: Duration, whole: i64) -> Self {
        let seed = std::collections::hash_map::RandomState::new().hash_one("moments");
        println!("seed {seed}");
        Killing { seed, span: lasts / 4, whole, stages: BTreeMap::new() }
    }

    pub fn count(&self) -> usize {
        self.stages.values().sum()
    }

    /// It was not always killed at the same place.
    pub fn assert_spread(&self) {
        assert!(self.stages.len() * 5 >= self.count(), "too few stages were met: {:#?}", self.stages);
    }

    /// Begins a loop and kills it until it has said its last word, or there were so many kills in all; then it is left alone.
    pub async fn drive(&mut self, victim: &Victim<'_>, most: usize) -> Said {
        let (mut resumes, mut steps) = (false, 0);
        loop {
            let mut child = (victim.start)(resumes);
            let is_killed = self.count() < most && self.strike(&mut child);
            let said = Said::of(child.wait_with_output().unwrap());
            if !said.stdout.is_empty() {
                // Killed with its last word said, it has said it.
                return said;
            }
            if !is_killed {
                // Nothing of it was kept when it was killed, so there is nothing to go on with.
                assert!(resumes && said.stderr.contains("nothing-to-resume"), "{said:?}");
                resumes = false;
                continue;
            }
            resumes = true;
            let place = Place::of(victim).await;
            self.learn(place.as_ref().map_or(0, |place| place.steps - steps));
            if let Some(place) = place {
                steps = place.steps;
                *self.stages.entry(place.stage).or_default() += 1;
            }
        }
    }

    /// Lets it live until the next moment. Tells whether it was still alive.
    fn strike(&mut self, child: &mut Child) -> bool {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = self.span.mul_f64((self.seed >> 33) as f64 / f64::from(1u32 << 31));
        let begun = Instant::now();
        while begun.elapsed() < moment {
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep((moment - begun.elapsed().min(moment)).min(Duration::from_millis(2)));
        }
        child.kill().unwrap();
        child.wait().unwrap().signal().is_some()
    }

    /// Lives that bring it no further are too short, and those that bring it far leave little to kill.
    fn learn(&mut self, steps: i64) {
        if steps == 0 {
            self.span = self.span * 5 / 4;
        } else if steps > self.whole / 8 {
            self.span = self.span * 4 / 5;
        }
    }
}

impl Place {
    /// Nothing where no loop was under way.
    async fn of(victim: &Victim<'_>) -> Option<Place> {
        let own = OwnFolder::existing(&victim.ledger, &victim.state).unwrap()?;
        let ledger = Ledger::open_existing(&own.ledger(), own.key()).await.unwrap()?;
        let row = ledger.unsettled("sweep", None).await.unwrap()?;
        let state: Value = serde_json::from_str(&row.state).unwrap();
        Some(Place { stage: stage(&state), steps: row.seq })
    }
}

/// The phase, and what is under way in it.
fn stage(state: &Value) -> String {
    let key = |value: &Value| match value {
        Value::Object(fields) => fields.keys().next().cloned().unwrap_or_default(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let flights = state["flights"].as_object().unwrap().values();
    let mut orders: Vec<String> =
        flights.map(|flight| key(flight["order"].as_object().unwrap().values().next().unwrap())).collect();
    orders.sort();
    orders.dedup();
    format!("{} {}", key(&state["phase"]), orders.join("+"))
}

/// The steps of a loop that has come to its end.
pub async fn steps(ledger: &Path, state: &Path, report: &Value) -> i64 {
    let run = report["run"].as_str().unwrap();
    let own = OwnFolder::existing(ledger, state).unwrap().unwrap();
    Ledger::open(&own.ledger(), own.key()).await.unwrap().run(run).await.unwrap().unwrap().seq
}
