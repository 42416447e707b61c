//! Writing into a plan: the values that changed, where they stand, and nothing else. Somebody's layout, comments in unknown keys and
//! edits since it was read stay as they are.

use super::spans::{Member, elements, members, whole};
use super::{Plan, Status, Task, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Range;

/// One value that is to be another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Nothing for the plan itself.
    pub task: Option<TaskId>,
    pub key: String,
    pub value: Value,
}

/// What must be written so that a file that says `before` says `after`. Only what we ever change is compared.
pub fn changes(before: &Plan, after: &Plan) -> Vec<Change> {
    let mut found = Vec::new();
    if before.automation_level != after.automation_level {
        found.push(Change { task: None, key: "automation_level".into(), value: json!(after.automation_level) });
    }
    for task in &after.tasks {
        let Some(earlier) = before.task(&task.id) else { continue };
        for ((key, old), (_, new)) in written(earlier).into_iter().zip(written(task)) {
            if old != new {
                found.push(Change { task: Some(task.id.clone()), key: key.into(), value: new });
            }
        }
    }
    found
}

/// The values of a task that are ours to write.
fn written(task: &Task) -> [(&'static str, Value); 8] {
    [
        ("status", json!(task.status)),
        ("github_pr", json!(task.github_pr)),
        ("needs_review", json!(task.needs_review)),
        ("review_cycle", json!(task.review_cycle)),
        ("last_reviewed_sha", json!(task.last_reviewed_sha)),
        ("assessed", json!(task.assessed)),
        ("verdict", json!(task.verdict)),
        ("escalation", json!(task.escalation)),
    ]
}

/// The text with these changes. A task that is gone is somebody's decision; so is one that was escalated since the plan was read: only
/// a merge takes it further (TS-92).
pub fn apply(text: &str, changes: &[Change]) -> String {
    let escalated: BTreeSet<&TaskId> = changes
        .iter()
        .filter(|change| change.key == "status" && change.value != json!(Status::Merged))
        .filter_map(|change| change.task.as_ref())
        .filter(|task| status_of(text, task).is_some_and(|status| status == Status::Escalated))
        .collect();
    let mut text = text.to_owned();
    for change in changes.iter().filter(|change| change.task.as_ref().is_none_or(|task| !escalated.contains(task))) {
        if let Some(object) = object_of(&text, change.task.as_ref()) {
            set(&mut text, &object, &change.key, &change.value);
        }
    }
    text
}

fn status_of(text: &str, task: &TaskId) -> Option<Status> {
    let object = object_of(text, Some(task))?;
    let status = members(text, &object).into_iter().find(|member| member.name == "status")?;
    serde_json::from_str(&text[status.value]).ok()
}

fn object_of(text: &str, task: Option<&TaskId>) -> Option<Range<usize>> {
    let root = whole(text);
    let Some(id) = task else { return Some(root) };
    let tasks = members(text, &root).into_iter().find(|member| member.name == "tasks")?;
    let is_it = |object: &Range<usize>| {
        let named = members(text, object).into_iter().find(|member| member.name == "id");
        named.is_some_and(|member| serde_json::from_str::<TaskId>(&text[member.value]).is_ok_and(|found| &found == id))
    };
    elements(text, &tasks.value).into_iter().find(is_it)
}

fn set(text: &mut String, object: &Range<usize>, key: &str, value: &Value) {
    let members = members(text, object);
    match members.iter().find(|member| member.name == key) {
        Some(member) => text.replace_range(member.value.clone(), &value.to_string()),
        // Absent and null are the same.
        None if value.is_null() => {}
        None => append(text, object, &members, key, value),
    }
}

/// Behind the last one, laid out as the others are.
fn append(text: &mut String, object: &Range<usize>, members: &[Member], key: &str, value: &Value) {
    let (Some(first), Some(last)) = (members.first(), members.last()) else { return };
    let gap = text[object.start + 1..first.key.start].to_owned();
    let colon = text[last.key.end..last.value.start].to_owned();
    let key = Value::from(key);
    text.insert_str(last.value.end, &format!(",{gap}{key}{colon}{value}"));
}
