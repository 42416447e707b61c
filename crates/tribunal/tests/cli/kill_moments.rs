//! Kills a command at moments that are spread over the time it takes. How long that is depends on who else uses the machine, and changes
//! while a test runs; so it is not measured once but learnt from each try.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// Of moments that are this part of the whole apart, any number is spread evenly.
const GOLDEN: f64 = 0.618_033_988_749_895;
/// More tries than were asked for, when too few of them met what they were meant to meet.
const AT_MOST: u32 = 6;

#[derive(Debug)]
pub struct Kills {
    span: Duration,
    tried: u32,
    hit: u32,
}

impl Kills {
    /// `span` is how long the command is thought to take.
    pub fn within(span: Duration) -> Self {
        Kills { span, tried: 0, hit: 0 }
    }

    /// So many tries; and more, while what the test is about was not met often enough.
    pub fn go_on(&self, tries: u32, is_enough: bool) -> bool {
        self.tried < tries || (!is_enough && self.tried < tries * AT_MOST)
    }

    /// How many met a running process.
    pub fn hit(&self) -> u32 {
        self.hit
    }

    /// Lets it run until the next moment and kills it there. Tells whether it was still running.
    pub fn strike(&mut self, child: &mut Child) -> bool {
        let moment = self.span.mul_f64((f64::from(self.tried) * GOLDEN).fract());
        self.tried += 1;
        let begun = Instant::now();
        while begun.elapsed() < moment {
            if child.try_wait().unwrap().is_some() {
                // It takes less than was thought.
                self.span = begun.elapsed();
                return false;
            }
            std::thread::sleep((moment - begun.elapsed().min(moment)).min(Duration::from_millis(2)));
        }
        child.kill().unwrap();
        let is_hit = child.wait().unwrap().signal().is_some();
        self.hit += u32::from(is_hit);
        if is_hit && moment * 4 > self.span * 3 {
            // It may take more.
            self.span = self.span * 5 / 4;
        }
        is_hit
    }
}

/// What a killed process had started ends on its own; this waits until nothing works in the folder any more.
pub fn wait_for_orphans(folder: &Path) {
    let begun = Instant::now();
    let folder = folder.canonicalize().unwrap();
    let is_at_work = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.into_iter().any(|entry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|at| at.starts_with(&folder)))
    };
    while is_at_work() {
        assert!(begun.elapsed() < Duration::from_secs(300), "something still works in {}", folder.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}
