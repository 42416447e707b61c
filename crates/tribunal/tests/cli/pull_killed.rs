//! Killed at any moment, a merge has happened or it has not, and the same command goes on (design rule 13).

use super::kill_moments::{Kills, wait_for_orphans};
use super::pull_story::{opened, pr, show};
use std::process::Stdio;
use std::time::Instant;

const MOMENTS: u32 = 12;

#[test]
fn a_merge_killed_at_any_moment_is_whole_or_not_there() {
    let undisturbed = opened();
    undisturbed.switch("main");
    let begun = Instant::now();
    pr(&undisturbed, &["merge", "1"]).ends_with(0);
    let mut kills = Kills::within(begun.elapsed());
    while kills.go_on(MOMENTS, kills.hit() >= 3) {
        let sandbox = opened();
        sandbox.switch("main");
        let mut child = sandbox
            .command(&["pr", "merge", "1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        kills.strike(&mut child);
        wait_for_orphans(&sandbox.path());
        let state = show(&sandbox)["pull"]["state"].clone();
        let in_main = sandbox.git(&["log", "--format=%s", "main"]).contains("(#1)");
        assert_eq!(state == "merged", in_main, "{kills:?}");
        if !in_main {
            pr(&sandbox, &["merge", "1"]).ends_with(0);
        }
        assert_eq!(show(&sandbox)["pull"]["state"], "merged", "{kills:?}");
        assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{kills:?}");
        assert_eq!(sandbox.git(&["log", "--format=%s", "main"]).matches("(#1)").count(), 1, "{kills:?}");
    }
    assert!(kills.hit() >= 3, "too few kills met a running process: {kills:?}");
}
