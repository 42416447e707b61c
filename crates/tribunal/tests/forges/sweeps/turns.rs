//! Several sweeps of one set, and a loop's own files.

use super::super::loops::{Running, configure, until};
use super::super::town::Town;
use super::fleet::assert_swept;
use super::{Fleet, PLAIN, row, run, sent, state};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tribunal_core::pull::facts::PullState;

/// Where a machine outside of any checkout keeps the lock and the files of its one set.
fn folder(town: &Town) -> PathBuf {
    let sweeps = town.machine.folder().join(".local/state/tribunal/sweeps");
    std::fs::read_dir(sweeps).unwrap().next().unwrap().unwrap().path()
}

/// The lines of a history.
fn lines(budget: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(budget.with_file_name("review.history.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// CF-29, SL-123, SL-124: two loops at once, each with work of its own and some that both have, never act twice: while one is at work
/// the other one leaves its turn out. A plain sweep, which has no other turn, says that the lock is held and does nothing.
pub async fn two_at_once(town: &Town) {
    let fleet = Fleet::new(town).await;
    let sets = [
        [&fleet.settings, &fleet.prices, &fleet.tax, &fleet.notes],
        [&fleet.prices, &fleet.basket, &fleet.receipts, &fleet.notes],
    ];
    let budgets = [0, 1].map(|at| town.machine.folder().join(format!("loop-{at}")).join("review.budget.json"));
    let start = |at: usize| {
        let (budget, addresses) = (budgets[at].display().to_string(), sets[at].map(|sent| town.address(sent.number)));
        let mut words = vec!["sweep", "--loop", "--merge", "--yes", "--max-iterations", "2", "--every", "1s"];
        words.extend(["--answer-within", "1s", "--budget-file", &budget]);
        words.extend(addresses.iter().map(String::as_str));
        Running::start(town, &words)
    };
    let first = start(0);
    let lock = until("somebody is at work", || async {
        let sweeps = town.machine.folder().join(".local/state/tribunal/sweeps");
        sweeps.exists().then(|| folder(town).join("review.lock")).filter(|lock| lock.exists())
    })
    .await;
    let (second, plain) = (start(1), Running::start(town, &["sweep", &town.address(fleet.basket.number), "--merge", "--yes"]));
    assert_eq!(plain.end().await.ended(75).json()["stop"], "lock_held");
    let reports = [first.end().await.ended(1).json(), second.end().await.ended(1).json()];

    assert_swept(town, &fleet).await;
    let number = |at: usize, name: &str| reports[at]["looped"][name].as_u64().unwrap();
    assert_eq!([0, 1].map(|at| number(at, "iterations")), [2, 2], "{reports:#?}");
    // Four were merged, each by one of them, and both had some to merge.
    let merges = [0, 1].map(|at| number(at, "merges_attempted"));
    assert!(merges[0] + merges[1] == 4 && merges[0] > 0 && merges[1] > 0, "{merges:?}");
    let log = town.stage.checkout().git(&["log", "--format=%s", "refs/remotes/origin/main"]).await;
    for sent in [&fleet.settings, &fleet.prices, &fleet.basket, &fleet.receipts] {
        // By its number, or where a forge leaves that out by its branch.
        let marks = [format!("(#{})", sent.number), format!("'{}'", sent.branch)];
        assert_eq!(log.lines().filter(|line| marks.iter().any(|mark| line.contains(mark))).count(), 1, "{log}");
    }
    // The second one came while the first was at work, and had to leave a turn out; no turn of one lies within a turn of the other.
    let turns = [0, 1].map(|at| lines(&budgets[at]));
    assert_eq!(turns[1][0]["outcome"], "skipped_lock", "{:#}", turns[1][0]);
    let span = |line: &Value| ["started_at", "ended_at"].map(|name| line[name].as_str().unwrap().to_owned());
    let [of_first, of_second] = turns.each_ref().map(|lines| {
        let worked = lines.iter().filter(|line| line["outcome"] != "skipped_lock");
        worked.map(span).collect::<Vec<_>>()
    });
    assert_eq!((of_first.len(), of_second.len()), (2, 2), "{turns:#?}");
    for [begun, ended] in &of_first {
        assert!(of_second.iter().all(|other| other[1] < *begun || *ended < other[0]), "{of_first:?} {of_second:?}");
    }
    assert!(!lock.exists(), "the lock was left behind");
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
