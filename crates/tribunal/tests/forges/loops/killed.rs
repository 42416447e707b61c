//! A watch that is killed again and again, on a real Gitea server.

use super::super::gitea::town;
use super::super::town::Said;
use super::looped;
use super::remedies::{assert_remedied, talked_about};
use crate::kill_moments::{Kills, wait_for_orphans};
use lossy_proxy::{Harm, LossyProxy, Rule};
use std::time::Duration;

/// Issue 6: killed at fifty moments, the watch goes on from where it was: the same end as one that nobody disturbs, nothing said
/// twice, nothing lost, one report.
#[tokio::test(flavor = "multi_thread")]
async fn killed_fifty_times() {
    let Some((mut town, stage)) = town().await else { return };
    let proxy = LossyProxy::start(&stage.peer.origin());
    // Slow enough to be hit between any two writes.
    proxy.add(Rule::every("POST", "*", Harm::Delay(Duration::from_millis(120))));
    town.origin = proxy.origin();
    // What a pass may take where nobody else works; it is learnt how much that is here.
    let mut kills = Kills::within(Duration::from_millis(1_600));
    while kills.hit() < 50 {
        let (number, branch, first) = talked_about(&town).await;
        let address = town.address(number);
        let mut reports = Vec::new();
        while reports.is_empty() && kills.hit() < 50 {
            let mut child = town.start(&["watch", &address, "--once", "--format", "json"]);
            kills.strike(&mut child);
            let said = Said::of(child.wait_with_output().unwrap());
            reports.extend((!said.stdout.is_empty()).then_some(said));
        }
        wait_for_orphans(&town.machine.folder());
        let said = reports.pop().unwrap_or_else(|| looped(&town, &["watch", &address, "--once"]));
        // Killed with its last word said, it has said it.
        assert!(said.code == 1 || said.code == -1, "{said:?}");
        // Killed between its end and that word, it is told by the next one, for which all of this was done before.
        let report: serde_json::Value =
            serde_json::from_str(&said.json().to_string().replace("answered-before", "fixed")).unwrap();
        assert_eq!(report["reason"], "user-input-required", "{report:#}");
        assert_eq!(report["items"].as_array().unwrap().len(), 12, "{report:#}");
        assert_remedied(&town, number, &branch, &first, &report).await;
    }
}
