//! What only a person may decide.

use super::super::loops::{Running, configure, head, until};
use super::super::town::Town;
use super::{PLAIN, Sent, row, sent, state};
use forge_conformance::{Voice as _, Who};
use serde_json::Value;
use tribunal_core::pull::facts::PullState;

/// Each merge is asked about.
async fn asking(town: &Town) {
    configure(town, &PLAIN.replace("[merge]\n", "[merge]\nconfirm = \"always\"\n")).await;
}

async fn plain(town: &Town, name: &str) -> Sent {
    sent(town, "main", &[(name, "Some text.\n")], "It adds a text.").await
}

/// The question that waits for an answer, as `gate list` shows it.
async fn question(town: &Town) -> Value {
    until("a question", || async {
        let said = town.run(&["gate", "list", "--format", "json"]);
        said.ended(0).json().as_array().unwrap().first().cloned()
    })
    .await
}

/// SL-139, SL-140, SL-144; issue 16, A4: the question stands on the pull request, and a person who may write answers it there. A
/// stranger's word, the author's and the answer to another question count for nothing: they come first and say the opposite of what
/// the person says after them.
pub async fn answered_in_a_comment(town: &Town) {
    if !town.stage.has_accounts() {
        return;
    }
    asking(town).await;
    for (does_not_count, counts, left) in [("merge", "hold", PullState::Open), ("hold", "merge", PullState::Merged)] {
        let sent = plain(town, &format!("{counts}.md")).await;
        let running = Running::start(town, &["sweep", &town.address(sent.number), "--merge", "--answer-within", "170s"]);
        answer(town, &question(town).await, does_not_count, counts).await;
        let said = running.end().await;
        assert_eq!(state(town, sent.number).await, left, "{}", said.stdout);
        let is_merged = left == PullState::Merged;
        let report = said.ended(i32::from(!is_merged)).json();
        assert_eq!(row(&report, sent.number)["status"] == "complete", is_merged, "{report:#}");
        assert!(town.run(&["gate", "list"]).ended(0).stdout.contains("No question"), "it is answered");
    }
}

/// Those whose words do not count say the one, and the maintainer says the other.
async fn answer(town: &Town, asked: &Value, does_not_count: &str, counts: &str) {
    let number = asked["gate"]["number"].as_u64().unwrap();
    let answer = |word: &str| format!("/tribunal answer {} {word}", asked["id"].as_str().unwrap());
    // It is in the ledger first.
    let times = until("the question on the pull request", || async {
        let comments = town.comments(number).await;
        let times = comments.iter().filter(|comment| comment.body.contains(&answer("merge"))).count();
        (times > 0).then_some(times)
    })
    .await;
    assert_eq!(times, 1);
    // The author may write here, but does not decide on their own change.
    for who in [Who::Stranger, Who::Author] {
        town.stage.forge_as(who).comment(number, &answer(does_not_count)).await.unwrap();
    }
    let maintainer = town.stage.forge_as(Who::Maintainer);
    maintainer.comment(number, &format!("/tribunal answer G00000000 {does_not_count}")).await.unwrap();
    maintainer.comment(number, &format!("an old word was\n\n> {}", answer(does_not_count))).await.unwrap();
    maintainer.comment(number, &answer(counts)).await.unwrap();
}

/// The same from another terminal; a `hold` holds, and what was answered once cannot be answered again.
pub async fn answered_from_another_terminal(town: &Town) {
    asking(town).await;
    let (one, other) = (plain(town, "one.md").await, plain(town, "other.md").await);
    let words = [town.address(one.number), town.address(other.number)];
    let running = Running::start(town, &["sweep", &words[0], &words[1], "--merge", "--answer-within", "170s"]);
    let first = question(town).await;
    let id = first["id"].as_str().unwrap().to_owned();
    let held = first["gate"]["number"].as_u64().unwrap();
    assert_eq!(first["options"], serde_json::json!(["merge", "hold", "stop"]));
    town.run(&["gate", "answer", &id, "perhaps"]).ended(2);
    town.run(&["gate", "answer", "G00000000", "hold"]).ended(2);
    town.run(&["gate", "answer", &id, "hold", "--reason", "not today"]).ended(0);
    let late = town.run(&["gate", "answer", &id, "merge"]).ended(1);
    assert!(late.stderr.contains("gate-closed"), "{}", late.stderr);
    let second = until("the next question", || async {
        let asked = question(town).await;
        (asked["id"] != id.as_str()).then_some(asked)
    })
    .await;
    town.run(&["gate", "answer", second["id"].as_str().unwrap(), "merge"]).ended(0);
    let report = running.end().await.ended(1).json();
    let merged = second["gate"]["number"].as_u64().unwrap();
    assert_eq!((state(town, held).await, state(town, merged).await), (PullState::Open, PullState::Merged), "{report:#}");
}

/// SL-139, SL-140: a `stop` ends the run, and without an answer nothing is merged.
pub async fn a_stop_ends_it(town: &Town) {
    asking(town).await;
    let (one, other) = (plain(town, "one.md").await, plain(town, "other.md").await);
    let words = [town.address(one.number), town.address(other.number)];
    let running = Running::start(town, &["sweep", &words[0], &words[1], "--merge", "--answer-within", "170s"]);
    let asked = question(town).await;
    town.run(&["gate", "answer", asked["id"].as_str().unwrap(), "stop"]).ended(0);
    let report = running.end().await.ended(1).json();
    assert_eq!(report["stop"], "gate_stop", "{report:#}");
    for sent in [&one, &other] {
        assert_eq!(state(town, sent.number).await, PullState::Open);
    }
    let before = head(town, one.number).await;
    let report = super::run(town, &["sweep".into(), words[0].clone(), "--merge".into(), "--answer-within".into(), "1s".into()]);
    let report = report.ended(1).json();
    assert_eq!((state(town, one.number).await, head(town, one.number).await), (PullState::Open, before), "{report:#}");
}
