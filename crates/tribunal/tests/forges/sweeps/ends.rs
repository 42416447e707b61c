//! What a loop comes to, in words that are the same whenever the same was done.

use serde_json::{Value, json};
use std::path::Path;

/// What the report says of these pull requests, and of the loop.
pub fn reported(report: &Value, pulls: &[(&str, u64)]) -> Value {
    let rows = pulls.iter().map(|(name, number)| {
        let row = super::row(report, *number);
        json!([name, row["status"], row["review"], row["merge"], row["checks"], row["note"], row["iteration"]])
    });
    let looped = &report["looped"];
    let counts = ["iterations", "prs_touched", "comments_pushed", "merges_attempted", "dollars"].map(|name| &looped[name]);
    let epics = report["epics"].as_array().unwrap().iter().map(|epic| &epic["closed"]);
    let gates = looped["gates"].as_array().unwrap().iter().map(|gate| json!([gate["name"], gate["answer"]]));
    json!({
        "end": [report["stop"], report["reason"], report["exit_code"]],
        "rows": rows.collect::<Vec<_>>(),
        "counts": counts,
        "epics": epics.collect::<Vec<_>>(),
        "gates": gates.collect::<Vec<_>>(),
    })
}

/// Budget and history: each iteration is there once.
pub fn written(budget: &Path) -> Value {
    let read = |name: &str| std::fs::read_to_string(budget.with_file_name(name)).unwrap();
    let history = read("review.history.jsonl");
    let budget: Value = serde_json::from_str(&read("review.budget.json")).unwrap();
    let lines = history.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let tracked = line["tracked_prs"].as_array().unwrap().iter().map(|pull| pull["state_at_end"].clone());
        json!([line["iteration"], line["outcome"], line["stop_conditions_fired"], tracked.collect::<Vec<_>>()])
    });
    json!({
        "budget": [budget["iterations_used"], budget["comments_pushed"], budget["merges_attempted"]],
        "lines": lines.collect::<Vec<_>>(),
    })
}

/// The first words of a comment, without the names of commits.
pub fn first_words(body: &str) -> String {
    let line = body.lines().find(|line| !line.is_empty() && !line.starts_with("<!--")).unwrap_or_default();
    let is_commit = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = line.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()).map(|word| {
        let bare = word.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        format!("{}{}", if is_commit(bare) { "COMMIT" } else { bare }, &word[bare.len()..])
    });
    words.collect()
}

/// Each word stands there once.
pub fn assert_once(number: u64, said: &[String]) {
    let mut once = said.to_vec();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), said.len(), "something was said twice on #{number}: {said:#?}");
}
