//! `tribunal settle` over a plan of tasks.

pub mod eight;
pub mod kept;
mod killed;

use super::loops::{configure, head, submits};
use super::town::{Said, Town, new_branch};
use forge_conformance::Who;
use serde_json::{Value, json};
use std::path::PathBuf;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{MergeMethod, MergeOrder};
use tribunal_core::pull::talk::{NewIssue, ReviewEvent, ReviewState};

/// Nothing to say, something that rules can mend, something that they find and cannot, and something that is wrong by design.
pub const CLEAN: &str = "def total(items):\n    return sum(items)\n";
pub const MENDABLE: &str = "from decimal import Decimal\n\n\ndef price():\n    return Decimal(0.1)\n";
pub const MENDED: &str = "from decimal import Decimal\n\n\ndef price():\n    return Decimal(\"0.1\")\n";
pub const STUBBORN: &str = "def total(items=[]):\n    items.append(1)\n    return sum(items)\n";
pub const UNSAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";

/// Rules are enough to merge on, and make the refinements.
pub const BY_RULES: &str = "[merge]\nverified_by = \"rules\"\n[settle]\nrestart = \"agent\"\n[wait]\npoll = \"1s\"\n";

/// A plan on this machine, of this town.
pub struct Planned {
    pub file: PathBuf,
    pub tasks: Vec<Tasked>,
}

pub struct Tasked {
    pub issue: u64,
    pub pull: Option<u64>,
    pub branch: String,
}

pub async fn issue(town: &Town, title: &str, labels: &[&str]) -> u64 {
    let labels = labels.iter().map(|label| (*label).into()).collect();
    let issue = NewIssue { title: title.into(), body: "### Acceptance Criteria\n\n- it is there\n".into(), labels };
    town.stage.forge_as(Who::Maintainer).create_issue(&issue).await.unwrap().number
}

/// An issue with a pull request that closes it.
pub async fn tasked(town: &Town, file: &str, text: &str) -> Tasked {
    let issue = issue(town, file, &["hall:in-progress"]).await;
    let branch = new_branch();
    town.stage.push(&branch, &[(file, Some(text))], "a change").await;
    let pull = town.stage.open_pull(&branch, "main", &format!("Change {file}"), &format!("Closes #{issue}\n")).await;
    Tasked { issue, pull: Some(pull), branch }
}

impl Planned {
    /// Each task with what is special about it.
    pub fn new(town: &Town, tasks: Vec<(Tasked, Value)>) -> Planned {
        let folder = town.machine.folder().join(".hall-cache/plans/2026-01-31-shop");
        std::fs::create_dir_all(&folder).unwrap();
        let written: Vec<Value> = tasks
            .iter()
            .zip(1..)
            .map(|((tasked, special), n)| {
                let mut task = json!({
                    "id": format!("t{n}"), "title": format!("Task {n}"), "specialist": "sdet", "mode": "doing",
                    "status": "IN_PROGRESS", "github_issue": tasked.issue, "colour": "blue",
                });
                let special = special.as_object().unwrap().clone();
                task.as_object_mut().unwrap().extend(special);
                task
            })
            .collect();
        let plan = json!({
            "id": "2026-01-31-shop", "created_at": "2026-01-31T12:00:00Z", "repo": town.path, "invoker": "ann", "tasks": written,
        });
        let file = folder.join("plan.json");
        std::fs::write(&file, serde_json::to_string_pretty(&plan).unwrap()).unwrap();
        Planned { file, tasks: tasks.into_iter().map(|(tasked, _)| tasked).collect() }
    }

    pub fn words(&self, town: &Town, more: &[&str]) -> Vec<String> {
        let (plan, repo) = (self.file.display().to_string(), format!("{}/{}", town.origin, town.path));
        let words = ["settle", "--plan", &plan, "--repo", &repo, "--format", "json"];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    pub fn settle(&self, town: &Town, more: &[&str]) -> Said {
        let words = self.words(town, more);
        town.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap()
    }

    pub fn task(&self, at: usize) -> Value {
        let plan: Value = serde_json::from_str(&self.text()).unwrap();
        plan["tasks"][at].clone()
    }

    pub fn statuses(&self) -> Vec<String> {
        (0..self.tasks.len()).map(|at| self.task(at)["status"].as_str().unwrap().to_owned()).collect()
    }

    /// Everything that stands on all pull requests.
    pub async fn everything(&self, town: &Town) -> Vec<(Sha, Vec<String>)> {
        let mut all = Vec::new();
        for number in self.tasks.iter().filter_map(|tasked| tasked.pull) {
            let mut words: Vec<String> = town.comments(number).await.into_iter().map(|comment| comment.body).collect();
            words.extend(verdicts(town, number).await.into_iter().map(|(body, state)| format!("{state:?} {body}")));
            words.extend(town.threads(number).await.into_iter().flat_map(|thread| thread.comments).map(|comment| comment.body));
            all.push((head(town, number).await, words));
        }
        all
    }
}

/// Formal reviews that stand there, oldest first: their words and what they are to the forge.
pub async fn verdicts(town: &Town, number: u64) -> Vec<(String, ReviewState)> {
    let reviews = town.stage.forge_as(Who::Bot).reviews(number).await.unwrap();
    let said = reviews.into_iter().filter(|review| review.body.starts_with("VERDICT: "));
    said.map(|review| (review.body, review.state)).collect()
}

/// The words of the verdicts, in their order.
pub async fn spoken(town: &Town, number: u64) -> Vec<String> {
    let words = |(body, _): (String, ReviewState)| body.lines().next().unwrap().trim_start_matches("VERDICT: ").to_owned();
    verdicts(town, number).await.into_iter().map(words).collect()
}

pub async fn merge_by_hand(town: &Town, number: u64) {
    let order = MergeOrder { head: head(town, number).await, method: MergeMethod::Merge, title: "x".into(), message: "".into() };
    town.stage.forge_as(Who::Maintainer).merge(number, &order).await.unwrap();
}

pub async fn asks_for_changes(town: &Town, number: u64) {
    submits(town, number, Who::Maintainer, ReviewEvent::RequestChanges, "Not like this.", &[]).await;
}

/// Eight tasks: clean, mendable, stubborn, wrong by design, at work, in a person's hands, merged by a person, and advice that was given.
pub async fn eight_tasks(town: &Town) -> Planned {
    configure(town, BY_RULES).await;
    let mut tasks = vec![
        (tasked(town, "clean.py", CLEAN).await, json!({})),
        (tasked(town, "mendable.py", MENDABLE).await, json!({})),
        (tasked(town, "stubborn.py", STUBBORN).await, json!({})),
        (tasked(town, "unsafe.py", UNSAFE).await, json!({})),
    ];
    let at_work = issue(town, "at work", &["hall:in-progress"]).await;
    tasks.push((Tasked { issue: at_work, pull: None, branch: String::new() }, json!({ "status": "DISPATCHED" })));
    let disputed = tasked(town, "disputed.py", CLEAN).await;
    // GitLab knows no review that asks for changes.
    if town.stage.kind() == tribunal_core::pull::place::ForgeKind::GitLab {
        submits(town, disputed.pull.unwrap(), Who::Maintainer, ReviewEvent::Approve, "", &[]).await;
    } else {
        asks_for_changes(town, disputed.pull.unwrap()).await;
    }
    tasks.push((disputed, json!({})));
    let merged = tasked(town, "merged.py", CLEAN).await;
    merge_by_hand(town, merged.pull.unwrap()).await;
    tasks.push((merged, json!({})));
    let advice = issue(town, "advice", &[]).await;
    town.stage.forge_as(Who::Maintainer).close_issue(advice).await.unwrap();
    tasks.push((Tasked { issue: advice, pull: None, branch: String::new() }, json!({ "mode": "advising" })));
    let mut planned = Planned::new(town, tasks);
    // Found by its issue while it is open; what is over must be named.
    let merged = planned.tasks[6].pull.unwrap();
    let text = planned.text().replace("\"id\": \"t7\"", &format!("\"github_pr\": {merged},\n      \"id\": \"t7\""));
    std::fs::write(&planned.file, text).unwrap();
    planned.tasks.truncate(8);
    planned
}
