//! What an agent reported stays open until a reviewer has verified it, whatever happens to the pull request and wherever it is reviewed.

use super::story::with_a_reviewer;
use super::town::{Machine, Town, assert_no_repetition};
use forge_conformance::Who;
use serde_json::Value;
use tribunal_core::pull::facts::CheckState;

const CODE: &str = "def total(items):\n    return sum(items)\n";
const REPORTS: &str = r#"{"findings":[{"category":"S1","file":"total.py","severity":"blocker","confidence":"high","blast":"local","justification":"reachable","evidence":"return sum(items)","failure_mode":"Anybody adds what they like","mitigation":"Check it"}]}"#;
const SILENT: &str = r#"{"findings":[]}"#;
const VERIFIES: &str = r#"{"findings":[],"prior":[{"id":"F1","verification":"yes","note":"the caller checks every item now"}]}"#;

/// (name, weight, where it is from) of the one finding.
fn finding(document: &Value) -> (&str, &str, &str) {
    let all = document["findings"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{document:#}");
    let word = |key: &str| all[0][key].as_str().unwrap();
    (word("id"), word("p_code"), word("origin"))
}

/// Issue 18, section 0 point 1: after a rebase, and on a machine without a ledger once somebody has deleted the summary.
pub async fn a_silent_reviewer_closes_nothing(town: &Town) {
    let (number, branch, _) = town.pull(&[("total.py", Some(CODE))]).await;
    let address = town.address(number);
    let review =
        |machine: &Machine, code: i32| town.run_on(machine, &["review", &address, "--format", "json"]).ended(code).json();
    with_a_reviewer(&town.machine, REPORTS);
    assert_eq!(finding(&review(&town.machine, 1)), ("F1", "P0", "fresh"));

    with_a_reviewer(&town.machine, SILENT);
    town.stage.push("main", &[(&format!("{branch}.md"), Some("main moves on\n"))], "meanwhile").await;
    let head = town.stage.force_push(&branch, &[("total.py", Some(CODE)), ("b.md", Some("b\n"))], "rebased").await;
    let second = review(&town.machine, 1);
    assert_eq!(finding(&second), ("F1", "P0", "carried"));
    assert_eq!(second["prior_verifications"][0]["verification"], "unclear");
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));

    // No ledger and no summary: the sealed comment on the line still says what is open.
    let bot = town.stage.forge_as(Who::Bot);
    for sticky in town.stickies(number).await {
        bot.delete_comment(number, &sticky.id).await.unwrap();
    }
    let head = town.stage.push(&branch, &[("c.md", Some("c\n"))], "more").await;
    let other = Machine::new();
    with_a_reviewer(&other, SILENT);
    let third = review(&other, 1);
    assert_eq!(third["receipt"]["widened"], "unproved", "{:#}", third["receipt"]);
    assert_eq!(finding(&third), ("F1", "P0", "carried"));
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));
    assert_eq!((town.threads(number).await.len(), town.stickies(number).await.len()), (1, 1));

    // A reviewer's word closes it, and its thread is told.
    with_a_reviewer(&other, VERIFIES);
    let head = town.stage.push(&branch, &[("d.md", Some("d\n"))], "checked").await;
    let fourth = review(&other, 0);
    assert_eq!((fourth["findings"].as_array().unwrap().len(), town.status(&head).await), (0, Some(CheckState::Success)));
    let threads = town.threads(number).await;
    assert!(threads[0].comments.last().unwrap().body.starts_with(&format!("Fixed in {head}. ")), "{threads:#?}");
    assert_no_repetition(&threads);
}
