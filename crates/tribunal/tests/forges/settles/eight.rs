//! Eight tasks at each level.

use super::super::loops::file;
use super::super::town::Town;
use super::{MENDED, Planned, eight_tasks, spoken, verdicts};
use forge_conformance::Who;
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::talk::ReviewState;

/// A second run says the same and changes nothing.
async fn assert_settled(town: &Town, planned: &Planned, level: &str, code: i32) {
    let (before, text) = (planned.everything(town).await, planned.text());
    let again = planned.settle(town, &["--level", level]).ended(code).json();
    assert_eq!((&again["reviewed"], &again["settled"]), (&0.into(), &0.into()), "{again:#}");
    assert_eq!(planned.text(), text, "a second run changed the plan");
    assert_eq!(planned.everything(town).await, before, "a second run changed something");
}

/// CF-24, TS-28, TS-93: level 0 lists what is due, and neither reviews nor posts.
pub async fn eight_at_level_0(town: &Town) {
    let planned = eight_tasks(town).await;
    let before = planned.everything(town).await;
    let report = planned.settle(town, &["--level", "0"]).ended(1).json();
    let due = report["tasks"].as_array().unwrap().iter().filter(|task| task["next"]["is"] == "due").count();
    assert_eq!(due, 4, "{report:#}");
    let wanted = ["REVIEWING", "REVIEWING", "REVIEWING", "REVIEWING", "IN_PROGRESS", "REVIEWING", "MERGED", "DONE"];
    assert_eq!(planned.statuses(), wanted);
    assert_eq!(planned.everything(town).await, before, "level 0 wrote on a pull request");
    assert!(planned.text().contains("\"colour\": \"blue\""));
    assert_settled(town, &planned, "0", 1).await;
}

/// TS-3, TS-28, TS-33, TS-57, TS-66, TS-70, TS-100: level 1 gives each its verdict, has one refined, and leaves merging to a person.
pub async fn eight_at_level_1(town: &Town) {
    let planned = eight_tasks(town).await;
    // A rehearsal says what would be done and writes nothing.
    let (before, text) = (planned.everything(town).await, planned.text());
    let rehearsed = planned.settle(town, &["--level", "1", "--dry-run"]).ended(0).json();
    assert_eq!(rehearsed["tasks"][0]["next"]["is"], "assess", "{rehearsed:#}");
    assert_eq!((planned.everything(town).await, planned.text()), (before, text));

    let report = planned.settle(town, &["--level", "1"]).ended(1).json();
    let wanted = ["REVIEWING", "REVIEWING", "ESCALATED", "ESCALATED", "IN_PROGRESS", "REVIEWING", "MERGED", "DONE"];
    assert_eq!(planned.statuses(), wanted, "{report:#}");
    let pull = |at: usize| planned.tasks[at].pull.unwrap();
    assert_eq!(spoken(town, pull(0)).await, ["LGTM"]);
    assert_eq!(spoken(town, pull(1)).await, ["MINOR", "LGTM"]);
    assert_eq!(spoken(town, pull(2)).await, ["MINOR"]);
    assert_eq!(spoken(town, pull(3)).await, ["MAJOR"]);
    assert_eq!(spoken(town, pull(5)).await, Vec::<String>::new(), "a person is at it");
    assert_eq!(verdicts(town, pull(0)).await[0].1, ReviewState::Approved);
    let (major, state) = &verdicts(town, pull(3)).await[0];
    assert_eq!(*state, ReviewState::ChangesRequested);
    assert!(major.contains("NEXT: escalate-to-invoker") && major.contains("@ann: this needs your decision"), "{major}");
    assert_eq!(file(town, &planned.tasks[1].branch, "mendable.py").await, MENDED.trim_end());
    let task = &report["tasks"][2];
    assert_eq!(task["person"], "ann", "{report:#}");
    assert!(planned.task(2)["escalation"].as_str().unwrap().starts_with("the refinement changed nothing"), "{report:#}");
    assert_settled(town, &planned, "1", 1).await;

    // TS-33: another level is a decision, and is asked for.
    let refused = planned.settle(town, &["--level", "2"]).ended(2);
    assert!(refused.stderr.contains("level-changed"), "{}", refused.stderr);
}

/// TS-28, TS-29, TS-70, TS-87, CF-1: level 2 merges what is clean, and nothing else.
pub async fn eight_at_level_2(town: &Town) {
    let planned = eight_tasks(town).await;
    let report = planned.settle(town, &["--level", "2"]).ended(1).json();
    let wanted = ["MERGED", "MERGED", "ESCALATED", "ESCALATED", "IN_PROGRESS", "REVIEWING", "MERGED", "DONE"];
    assert_eq!(planned.statuses(), wanted, "{report:#}");
    let forge = town.stage.forge_as(Who::Bot);
    for (at, state) in [PullState::Merged, PullState::Merged, PullState::Open, PullState::Open].into_iter().enumerate() {
        assert_eq!(forge.pull(planned.tasks[at].pull.unwrap()).await.unwrap().state, state, "t{}", at + 1);
    }
    assert_eq!(forge.pull(planned.tasks[5].pull.unwrap()).await.unwrap().state, PullState::Open);
    assert_eq!(file(town, "main", "mendable.py").await, MENDED.trim_end());
    assert_settled(town, &planned, "2", 1).await;
}
