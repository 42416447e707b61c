//! Several sweeps of one set, and a loop's own files.

use super::super::loops::{Running, configure, until};
use super::super::town::Town;
use super::fleet::assert_swept;
use super::{Fleet, PLAIN, row, run, sent, state};
use serde_json::Value;
use std::path::PathBuf;
use tribunal_core::pull::facts::PullState;

/// Where a machine outside of any checkout keeps the lock and the files of its one set.
fn folder(town: &Town) -> PathBuf {
    let sweeps = town.machine.folder().join(".local/state/tribunal/sweeps");
    std::fs::read_dir(sweeps).unwrap().next().unwrap().unwrap().path()
}

/// CF-29, SL-123, SL-124: two at once never act twice. The second one finds the lock held, and says so.
pub async fn two_at_once(town: &Town) {
    let fleet = Fleet::new(town).await;
    let words = fleet.words(town, &["--merge", "--yes"]);
    let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
    let both = [Running::start(town, &borrowed), Running::start(town, &borrowed)];
    let mut codes = Vec::new();
    for running in both {
        codes.push(running.end().await.code);
    }
    codes.sort_unstable();
    // Begun a moment apart, the second may find everything done.
    assert!(codes == [1, 75] || codes == [1, 1], "{codes:?}");
    assert_swept(town, &fleet).await;
    assert!(!folder(town).join("review.lock").exists(), "the lock was left behind");
}

/// SL-11, SL-127, SL-150, SL-156: a loop writes its budget and its history, stops at its ceiling, and `--resume` goes on counting.
pub async fn a_loop_keeps_books(town: &Town) {
    configure(town, PLAIN).await;
    let one = sent(town, "main", &[("one.md", "Some text.\n")], "It adds a text.").await;
    let address = town.address(one.number);
    let looped = |more: &[&str]| {
        let words = ["sweep", &address, "--loop", "--every", "1s", "--answer-within", "1s"];
        run(town, &words.iter().chain(more).map(|word| (*word).to_owned()).collect::<Vec<_>>())
    };
    let report = looped(&["--max-iterations", "2"]).ended(0).json();
    assert_eq!((&report["stop"], &report["looped"]["iterations"]), (&"iteration_budget".into(), &2.into()), "{report:#}");
    let read = |name: &str| std::fs::read_to_string(folder(town).join(name)).unwrap();
    let budget: Value = serde_json::from_str(&read("review.budget.json")).unwrap();
    assert_eq!((&budget["iterations_used"], &budget["max_iterations"]), (&2.into(), &2.into()), "{budget:#}");
    let lines = |text: String| text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>();
    let history = lines(read("review.history.jsonl"));
    assert!(history.len() >= 2 && history[0]["tracked_prs"][0]["number"] == one.number, "{history:#?}");
    assert!(history.iter().any(|line| line["stop_conditions_fired"][0] == "iteration_budget"), "{history:#?}");

    // SL-129: the file's ceilings win, whatever is typed.
    let resumed = looped(&["--resume", "--max-iterations", "9"]).json();
    assert_eq!((&resumed["stop"], &resumed["looped"]["max_iterations"]), (&"iteration_budget".into(), &2.into()), "{resumed:#}");
    // SL-128: a file that lacks a field is refused by its name, and stays as it is.
    let path = folder(town).join("review.budget.json");
    let mut broken = budget.clone();
    broken.as_object_mut().unwrap().remove("max_prs");
    std::fs::write(&path, broken.to_string()).unwrap();
    let refused = looped(&["--resume"]).ended(2);
    assert!(refused.stderr.contains("max_prs"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), broken.to_string());
}

/// SL-149: a watch of one pull request ends when it is over.
pub async fn one_is_watched(town: &Town) {
    configure(town, PLAIN).await;
    let one = sent(town, "main", &[("one.md", "Some text.\n")], "It adds a text.").await;
    let address = town.address(one.number);
    let words = ["sweep", "--loop", "--pr", &address, "--merge", "--yes", "--every", "1s", "--max-iterations", "50"];
    let report = run(town, &words.map(str::to_owned)).ended(0).json();
    assert_eq!(report["stop"], "pr_terminal", "{report:#}");
    assert_eq!(row(&report, one.number)["status"], "over", "{report:#}");
    assert_eq!(state(town, one.number).await, PullState::Merged);
}

/// SL-123, SL-174: a lock that is taken away stops the run at its next step, and its process is left alone.
pub async fn the_lock_is_taken(town: &Town) {
    configure(town, &PLAIN.replace("[merge]\n", "[merge]\nconfirm = \"always\"\n")).await;
    let one = sent(town, "main", &[("one.md", "Some text.\n")], "It adds a text.").await;
    let running = Running::start(town, &["sweep", &town.address(one.number), "--merge", "--answer-within", "170s"]);
    let asked = until("a question", || async {
        let said = town.run(&["gate", "list", "--format", "json"]);
        said.ended(0).json().as_array().unwrap().first().cloned()
    })
    .await;
    let lock = folder(town).join("review.lock");
    let mut holder: Value = serde_json::from_str(&std::fs::read_to_string(&lock).unwrap()).unwrap();
    holder["run"] = "somebody-else".into();
    std::fs::write(&lock, holder.to_string()).unwrap();
    town.run(&["gate", "answer", asked["id"].as_str().unwrap(), "merge"]).ended(0);
    let report = running.end().await.ended(75).json();
    assert_eq!(report["stop"], "lock_lost", "{report:#}");
    assert_eq!(state(town, one.number).await, PullState::Open);
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), holder.to_string(), "another run's lock was touched");
}
