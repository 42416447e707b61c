//! A settlement that is killed again and again, on a real Gitea server.

use super::super::gitea::town;
use super::{eight_tasks, spoken};
use crate::kill_moments::Kills;
use lossy_proxy::{Harm, LossyProxy, Rule};
use std::time::Duration;

/// Issue 7: killed at any moment the same command goes on: the same statuses, each verdict once, nothing lost.
#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment() {
    let Some((mut town, stage)) = town().await else { return };
    let proxy = LossyProxy::start(&stage.peer.origin());
    // Slow enough to be hit between any two writes.
    proxy.add(Rule::every("POST", "*", Harm::Delay(Duration::from_millis(120))));
    town.origin = proxy.origin();
    let planned = eight_tasks(&town).await;
    let words = planned.words(&town, &["--level", "2"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut kills = Kills::within(Duration::from_secs(6));
    while kills.go_on(25, kills.hit() >= 15) {
        let mut child = town.start(&words);
        let hit = kills.strike(&mut child);
        if !hit {
            // It came to its end; what is left to do is little, so it is hit early from now on.
            kills = Kills::within(Duration::from_millis(1_500));
            break;
        }
    }
    let _ = kills;
    let report = planned.settle(&town, &["--level", "2"]).ended(1).json();
    let wanted = ["MERGED", "MERGED", "ESCALATED", "ESCALATED", "IN_PROGRESS", "REVIEWING", "MERGED", "DONE"];
    assert_eq!(planned.statuses(), wanted, "{report:#}");
    let pull = |at: usize| planned.tasks[at].pull.unwrap();
    assert_eq!(spoken(&town, pull(0)).await, ["LGTM"]);
    assert_eq!(spoken(&town, pull(1)).await, ["MINOR", "LGTM"]);
    assert_eq!(spoken(&town, pull(2)).await, ["MINOR"]);
    assert_eq!(spoken(&town, pull(3)).await, ["MAJOR"]);
}
