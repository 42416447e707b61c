//! Plans settled in worlds that do their worst: specialists that push whenever they like, people who review, merge, close and edit,
//! forges that lose answers, and several instances at once. What must never happen is looked for after every step, on the forge and
//! in the plan. The same seed makes the same world; `SETTLE_SEED=n cargo test -p tribunal-core --test settles` runs one.

#![allow(clippy::panic, clippy::expect_used)]

#[path = "loops/chance.rs"]
mod chance;
#[path = "settles/forge.rs"]
mod forge;
#[path = "settles/hands.rs"]
mod hands;
#[path = "settles/judge.rs"]
mod judge;
#[path = "settles/trial.rs"]
mod trial;
#[path = "settles/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use trial::{Outcome, live};

const STEPS: u64 = 300_000;

/// Issue 7: whatever anybody does, nothing is assessed a third time, what is escalated stays so, nothing is merged that was not clean at
/// its head, the forge wins, and a second run changes nothing (TS-17, TS-86, TS-87, TS-90, TS-92, CF-8, CF-29).
#[test]
fn every_plan_is_settled_and_kept() {
    if let Some(seed) = std::env::var("SETTLE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        match live(seed) {
            Ok(outcome) => println!("{outcome:?}"),
            Err(story) => panic!("{story}"),
        }
        return;
    }
    let wanted = std::env::var("SETTLE_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(STEPS);
    let (steps, next) = (AtomicU64::new(0), AtomicU64::new(1));
    let work = || {
        let mut events: BTreeMap<&'static str, u64> = BTreeMap::new();
        while steps.load(Ordering::Relaxed) < wanted {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let Outcome { steps: took, events: seen } = live(seed).unwrap_or_else(|story| panic!("{story}"));
            steps.fetch_add(took, Ordering::Relaxed);
            seen.into_iter().for_each(|(event, count)| *events.entry(event).or_default() += count);
        }
        events
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let mut events: BTreeMap<&'static str, u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            match worker.join() {
                Ok(seen) => seen.into_iter().for_each(|(event, count)| *events.entry(event).or_default() += count),
                Err(story) => std::panic::resume_unwind(story),
            }
        }
    });
    println!("{} steps in seeds 1 to {}: {events:?}", steps.into_inner(), next.into_inner() - 1);
    // A simulator that never sees a thing proves nothing about it.
    for event in [
        "first",
        "second",
        "merged",
        "escalated",
        "refined",
        "labelled",
        "closed",
        "crashed",
        "lost-answer",
        "started-anew",
        "by-person",
        "tampered",
        "tampered-since",
        "unmarked",
        "fork",
        "head-moved",
        "level-0",
        "waited",
    ] {
        assert!(wanted < STEPS || events.contains_key(event), "nothing was ever {event}: {events:?}");
    }
}
