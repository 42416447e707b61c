//! A sweep keeps its word whatever happens: the real machine in worlds that do their worst, judged from what an onlooker wrote down.
//! The same seed makes the same world; `SWEEP_SEED=n cargo test -p tribunal-core --test sweeps` lives one, `SWEEP_STEPS=n` more of them.

#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used)]

#[path = "sweeps/cast.rs"]
mod cast;
#[path = "loops/chance.rs"]
mod chance;
#[path = "sweeps/forge.rs"]
mod forge;
#[path = "sweeps/forged.rs"]
mod forged;
#[path = "sweeps/hands.rs"]
mod hands;
#[path = "sweeps/history.rs"]
mod history;
#[path = "sweeps/judge.rs"]
mod judge;
#[path = "sweeps/rules.rs"]
mod rules;
#[path = "sweeps/spaces.rs"]
mod spaces;
#[path = "sweeps/stage.rs"]
mod stage;
#[path = "sweeps/trial.rs"]
mod trial;
#[path = "sweeps/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use trial::{Outcome, Tally, live};

const STEPS: u64 = 300_000;

/// Issue 7: whatever anybody does, nothing is merged that is not what was recorded, no pull request has a second round in a tick, money
/// and lock hold, a stop is a stop, and there is one report.
#[test]
fn every_sweep_keeps_its_word() {
    if let Some(seed) = std::env::var("SWEEP_SEED").ok().and_then(|seed| seed.parse().ok()) {
        match live(seed) {
            Ok(outcome) => println!("{outcome:?}"),
            Err(story) => panic!("{story}"),
        }
        return;
    }
    let wanted = std::env::var("SWEEP_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(STEPS);
    let (steps, next, began) = (AtomicU64::new(0), AtomicU64::new(1), Instant::now());
    let work = || {
        let (mut tally, mut merges) = (Tally::new(), 0);
        while steps.load(Ordering::Relaxed) < wanted {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let Outcome { steps: took, merges: merged, stops, statuses, gates } =
                live(seed).unwrap_or_else(|story| panic!("{story}"));
            steps.fetch_add(took, Ordering::Relaxed);
            merges += merged;
            stops.into_iter().chain(statuses).chain(gates).for_each(|seen| *tally.entry(seen).or_default() += 1);
        }
        (tally, merges)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let (tally, merges) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let (mut all, mut merges): (Tally, u64) = (BTreeMap::new(), 0);
        for worker in workers {
            match worker.join() {
                Ok((tally, merged)) => {
                    merges += merged;
                    tally.into_iter().for_each(|(seen, count)| *all.entry(seen).or_default() += count);
                }
                Err(story) => std::panic::resume_unwind(story),
            }
        }
        (all, merges)
    });
    let (steps, seeds) = (steps.into_inner(), next.into_inner() - 1);
    println!("{steps} steps and {merges} merges in seeds 1 to {seeds}, {:.1} s; {tally:?}", began.elapsed().as_secs_f64());
    assert!(steps >= wanted && merges > 0);
    // A simulator that never sees something proves nothing about it.
    for seen in [
        "complete",
        "nothing_open",
        "iteration_budget",
        "prs_touched_budget",
        "wall_clock_budget",
        "cost_budget",
        "qmd_unreachable",
        "pr_terminal",
        "interrupted",
        "lock_held",
        "lock_lost",
        "gate_stop",
        "set_unreadable",
        "Complete",
        "PendingManualMerge",
        "NeedsHumanFollowUp",
        "Deferred",
        "Rejected",
        "force-unlock=yes",
        "post-feedback-merge=merge",
        "repeated-failure=retry",
        "budget-escalation=raise",
        "ambiguous-criteria=proceed",
        "merge-order=merge",
    ] {
        assert!(wanted < STEPS || tally.contains_key(seen), "nothing ended with {seen}");
    }
}
