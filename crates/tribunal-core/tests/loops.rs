//! Convergence is a tested property: the real procedure against worlds that do their worst, step by step, with what must never happen
//! looked for after every step. The same seed makes the same world; `LOOP_SEED=n cargo test -p tribunal-core --test loops` runs one.

#![allow(clippy::panic, clippy::expect_used)]

#[path = "loops/cast.rs"]
mod cast;
#[path = "loops/chance.rs"]
mod chance;
#[path = "loops/forge.rs"]
mod forge;
#[path = "loops/hands.rs"]
mod hands;
#[path = "loops/judge.rs"]
mod judge;
#[path = "loops/world.rs"]
mod world;

use judge::{Outcome, live};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const STEPS: u64 = 1_000_000;

/// Issue 6: at least a million steps, and whatever anybody does, the loop ends within its bounds, once, and with everything said.
#[test]
fn every_loop_ends_and_keeps_its_word() {
    if let Some(seed) = std::env::var("LOOP_SEED").ok().and_then(|seed| seed.parse().ok()) {
        match live(seed) {
            Ok(outcome) => println!("{outcome:?}"),
            Err(story) => panic!("{story}"),
        }
        return;
    }
    let wanted = std::env::var("LOOP_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(STEPS);
    let (steps, ticks, next) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(1));
    let began = Instant::now();
    let work = || {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        while steps.load(Ordering::Relaxed) < wanted {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let Outcome { steps: took, ticks: passed, reason } = live(seed).unwrap_or_else(|story| panic!("{story}"));
            steps.fetch_add(took, Ordering::Relaxed);
            ticks.fetch_add(passed, Ordering::Relaxed);
            *reasons.entry(reason).or_default() += 1;
        }
        reasons
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let ends = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut ends: BTreeMap<String, u64> = BTreeMap::new();
        for worker in workers {
            match worker.join() {
                Ok(reasons) => reasons.into_iter().for_each(|(reason, count)| *ends.entry(reason).or_default() += count),
                Err(story) => std::panic::resume_unwind(story),
            }
        }
        ends
    });
    let (steps, seeds) = (steps.into_inner(), next.into_inner() - 1);
    println!(
        "{steps} steps and {} ticks of the world in seeds 1 to {seeds}, {:.1} s; ends: {ends:?}",
        ticks.into_inner(),
        began.elapsed().as_secs_f64()
    );
    assert!(steps >= wanted);
    // A simulator that never sees an end proves nothing about it.
    for reason in
        ["clean", "blocked", "injection-suspect", "max-cycles-reached", "pr-merged", "pr-closed", "watch-window-elapsed"]
    {
        assert!(wanted < STEPS || ends.contains_key(reason), "no loop ended with {reason}");
    }
}
