//! Killed at any moment, a merge has happened or it has not, and the same command goes on (design rule 13).

use super::pull_story::{opened, pr, show};
use std::process::Stdio;
use std::time::{Duration, Instant};

const MOMENTS: u32 = 12;

#[test]
fn a_merge_killed_at_any_moment_is_whole_or_not_there() {
    let begun = Instant::now();
    let undisturbed = opened();
    undisturbed.switch("main");
    let opening = begun.elapsed();
    pr(&undisturbed, &["merge", "1"]).ends_with(0);
    let whole = (begun.elapsed() - opening).max(Duration::from_millis(60));
    let mut hit = 0;
    for moment in 0..MOMENTS {
        let sandbox = opened();
        sandbox.switch("main");
        let mut child = sandbox
            .command(&["pr", "merge", "1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Not a wait for something to happen: the moment of the kill is what this test varies.
        std::thread::sleep(whole * moment / MOMENTS);
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            hit += 1;
        }
        child.wait().unwrap();
        // A git that was asked before the kill ends on its own.
        let lock = sandbox.path().join(".git/index.lock");
        let waiting = Instant::now();
        while lock.exists() && waiting.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let state = show(&sandbox)["pull"]["state"].clone();
        let in_main = sandbox.git(&["log", "--format=%s", "main"]).contains("(#1)");
        assert_eq!(state == "merged", in_main, "moment {moment}");
        if !in_main {
            pr(&sandbox, &["merge", "1"]).ends_with(0);
        }
        assert_eq!(show(&sandbox)["pull"]["state"], "merged", "moment {moment}");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "moment {moment}");
        assert_eq!(sandbox.git(&["log", "--format=%s", "main"]).matches("(#1)").count(), 1, "moment {moment}");
    }
    assert!(hit >= 3, "only {hit} kills hit a running process");
}
