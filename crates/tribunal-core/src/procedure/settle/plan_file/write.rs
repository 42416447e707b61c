//! Writing into a plan: the values that changed, where they stand, and nothing else. Somebody's layout, comments in unknown keys and
//! edits since it was read stay as they are.

use super::spans::{Member, elements, members, whole};
use super::{Plan, Status, Task, TaskId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
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
    let objects = Objects::of(text);
    let escalated: BTreeSet<&TaskId> = changes
        .iter()
        .filter(|change| change.key == "status" && change.value != json!(Status::Merged))
        .filter_map(|change| change.task.as_ref())
        .filter(|task| objects.status_of(task).is_some_and(|status| status == Status::Escalated))
        .collect();
    let kept = changes.iter().filter(|change| change.task.as_ref().is_none_or(|task| !escalated.contains(task)));
    let mut edits: Vec<(Range<usize>, String)> = kept.filter_map(|change| objects.edit(change)).collect();
    // What is added at one place stays in its order.
    edits.sort_by_key(|(place, _)| place.start);
    let (mut written, mut done) = (String::with_capacity(text.len()), 0);
    for (place, words) in edits {
        written.push_str(&text[done..place.start]);
        written.push_str(&words);
        done = place.end;
    }
    written + &text[done..]
}

/// The plan and its tasks, and where they stand.
struct Objects<'a> {
    text: &'a str,
    root: Object,
    tasks: BTreeMap<TaskId, Object>,
}

struct Object {
    start: usize,
    members: Vec<Member>,
}

impl Object {
    fn of(text: &str, place: &Range<usize>) -> Object {
        Object { start: place.start, members: members(text, place) }
    }

    fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

impl<'a> Objects<'a> {
    fn of(text: &'a str) -> Self {
        let root = Object::of(text, &whole(text));
        let mut tasks = BTreeMap::new();
        let places = root.member("tasks").map(|list| elements(text, &list.value)).unwrap_or_default();
        for task in places.iter().map(|place| Object::of(text, place)) {
            let id = task.member("id").and_then(|id| serde_json::from_str(&text[id.value.clone()]).ok());
            if let Some(id) = id {
                tasks.entry(id).or_insert(task);
            }
        }
        Objects { text, root, tasks }
    }

    fn status_of(&self, task: &TaskId) -> Option<Status> {
        let status = self.tasks.get(task)?.member("status")?;
        serde_json::from_str(&self.text[status.value.clone()]).ok()
    }

    /// What stands where, for one change.
    fn edit(&self, change: &Change) -> Option<(Range<usize>, String)> {
        let object = match &change.task {
            Some(task) => self.tasks.get(task)?,
            None => &self.root,
        };
        match object.member(&change.key) {
            Some(member) => Some((member.value.clone(), change.value.to_string())),
            // Absent and null are the same.
            None if change.value.is_null() => None,
            None => self.appended(object, change),
        }
    }

    /// Behind the last one, laid out as the others are.
    fn appended(&self, object: &Object, change: &Change) -> Option<(Range<usize>, String)> {
        let (first, last) = (object.members.first()?, object.members.last()?);
        let gap = &self.text[object.start + 1..first.key.start];
        let colon = &self.text[last.key.end..last.value.start];
        let key = Value::from(change.key.as_str());
        Some((last.value.end..last.value.end, format!(",{gap}{key}{colon}{}", change.value)))
    }
}
