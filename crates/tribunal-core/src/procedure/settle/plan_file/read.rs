//! Reading a plan. What is wrong is named with its line and its place, so that whoever wrote the file finds it.

use super::spans::{Member, elements, line_of, members, whole};
use super::{Plan, Task, TaskId};
use crate::policy::settle::{Level, login};
use crate::publish::visible::visible_line;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// 1-based.
    pub line: usize,
    /// `tasks[2].status`; empty for the file as a whole.
    pub place: String,
    pub problem: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "line {}: {}", self.line, visible_line(&self.problem)),
            place => write!(f, "line {}: {}: {}", self.line, visible_line(place), visible_line(&self.problem)),
        }
    }
}

impl std::error::Error for PlanError {}

pub fn read(text: &str) -> Result<Plan, PlanError> {
    let parsed: Result<Value, serde_json::Error> = serde_json::from_str(text);
    if let Err(error) = parsed {
        let problem = error.to_string();
        let problem = problem.split(" at line").next().unwrap_or_default().to_owned();
        return Err(PlanError {
            line: error.line().max(1),
            place: String::new(),
            problem: format!("this is no JSON: {problem}"),
        });
    }
    let root = Object::new(text, whole(text), String::new())?;
    let tasks = root.needed("tasks")?;
    let items = elements(text, &tasks.value);
    if !text[tasks.value.clone()].starts_with('[') {
        return Err(root.wrong(tasks.value.start, "tasks", "this is no list"));
    }
    let plan = Plan {
        id: root.field("id")?,
        created_at: root.field("created_at")?,
        repo: root.field("repo")?,
        invoker: root.optional("invoker")?,
        automation_level: root.optional("automation_level")?,
        tasks: items.iter().cloned().enumerate().map(|(at, span)| task(text, at, span)).collect::<Result<_, _>>()?,
    };
    check_root(&root, &plan)?;
    check_names(text, &items, &plan)?;
    Ok(plan)
}

/// The level in the session file beside the plans (TS-28 to TS-31). Who is no invoker is always at level 0.
pub fn session_level(text: &str) -> Result<Option<Level>, String> {
    #[derive(serde::Deserialize)]
    struct Session {
        #[serde(default)]
        automation_level: Option<Level>,
        #[serde(default)]
        local_mode: bool,
    }
    let session: Session = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(if session.local_mode { Some(Level::HandsOn) } else { session.automation_level })
}

fn check_root(root: &Object<'_>, plan: &Plan) -> Result<(), PlanError> {
    let wrong = |name: &str, problem: &str| Err(root.wrong(root.at(name), name, problem));
    if !is_plan_id(&plan.id) {
        return wrong("id", "an id is a date and a name, such as 2026-01-31-checkout");
    }
    if crate::calendar::millis_of(&plan.created_at).is_none() {
        return wrong("created_at", "write it as 2026-01-31T12:00:00Z");
    }
    if !plan.repo.contains('/') || plan.repo.split('/').any(str::is_empty) {
        return wrong("repo", "name it as owner/name");
    }
    match plan.invoker.as_deref().map(login) {
        Some(Err(problem)) => wrong("invoker", &problem),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// TS-35.
fn is_plan_id(id: &str) -> bool {
    let bytes = id.as_bytes();
    bytes.len() > 11
        && bytes[..11].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 | 10 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn task(text: &str, at: usize, span: Range<usize>) -> Result<Task, PlanError> {
    let object = Object::new(text, span, format!("tasks[{at}]"))?;
    Ok(Task {
        id: object.field("id")?,
        title: object.field("title")?,
        specialist: object.field("specialist")?,
        mode: object.field("mode")?,
        status: object.field("status")?,
        github_issue: object.optional("github_issue")?,
        github_pr: object.optional("github_pr")?,
        depends_on: object.optional("depends_on")?.unwrap_or_default(),
        routing_rationale: object.optional("routing_rationale")?,
        issue_body: object.optional("issue_body")?,
        board_parent: object.optional("board_parent")?,
        last_reviewed_sha: object.optional("last_reviewed_sha")?.filter(|sha: &crate::ids::Sha| !sha.as_str().is_empty()),
        needs_review: object.optional("needs_review")?.unwrap_or_default(),
        review_cycle: object.optional("review_cycle")?,
        assessed: object.optional("assessed")?,
        verdict: object.optional("verdict")?,
        escalation: object.optional("escalation")?,
    })
}

/// Names that stand for one task, dependencies that are there, and none that waits for itself.
fn check_names(text: &str, spans: &[Range<usize>], plan: &Plan) -> Result<(), PlanError> {
    let fail = |at: usize, name: &str, problem: String| {
        let line = line_of(text, spans.get(at).map_or(0, |span| span.start));
        Err(PlanError { line, place: format!("tasks[{at}].{name}"), problem })
    };
    let mut pulls = BTreeSet::new();
    for (at, task) in plan.tasks.iter().enumerate() {
        if task.id.0.trim().is_empty() {
            return fail(at, "id", "a task needs a name".into());
        }
        if plan.tasks[..at].iter().any(|other| other.id == task.id) {
            return fail(at, "id", format!("`{}` is the name of an earlier task", task.id));
        }
        if let Some(pull) = task.github_pr.filter(|pull| !pulls.insert(*pull)) {
            return fail(at, "github_pr", format!("#{pull} is the pull request of an earlier task"));
        }
        if let Some(unknown) = task.depends_on.iter().find(|id| plan.task(id).is_none()) {
            return fail(at, "depends_on", format!("there is no task `{unknown}`"));
        }
        if waits_for(plan, task, &task.id, &mut BTreeSet::new()) {
            return fail(at, "depends_on", format!("`{}` waits for itself", task.id));
        }
    }
    Ok(())
}

fn waits_for<'a>(plan: &'a Plan, task: &'a Task, wanted: &TaskId, seen: &mut BTreeSet<&'a TaskId>) -> bool {
    task.depends_on
        .iter()
        .any(|id| id == wanted || (seen.insert(id) && plan.task(id).is_some_and(|other| waits_for(plan, other, wanted, seen))))
}

/// An object of the file, and where it stands.
struct Object<'a> {
    text: &'a str,
    start: usize,
    place: String,
    members: Vec<Member>,
}

impl<'a> Object<'a> {
    fn new(text: &'a str, span: Range<usize>, place: String) -> Result<Self, PlanError> {
        let object = Object { text, start: span.start, members: members(text, &span), place };
        if !text[span].starts_with('{') {
            return Err(PlanError {
                line: line_of(text, object.start),
                place: object.place,
                problem: "this is no object".into(),
            });
        }
        for (at, member) in object.members.iter().enumerate() {
            if object.members[..at].iter().any(|other| other.name == member.name) {
                return Err(object.wrong(member.key.start, &member.name, "it stands here twice"));
            }
        }
        Ok(object)
    }

    fn wrong(&self, at: usize, name: &str, problem: &str) -> PlanError {
        let place = if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) };
        PlanError { line: line_of(self.text, at), place, problem: problem.to_owned() }
    }

    fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    fn at(&self, name: &str) -> usize {
        self.member(name).map_or(self.start, |member| member.value.start)
    }

    fn needed(&self, name: &str) -> Result<&Member, PlanError> {
        self.member(name).ok_or_else(|| self.wrong(self.start, name, "it is missing"))
    }

    fn field<T: DeserializeOwned>(&self, name: &str) -> Result<T, PlanError> {
        self.typed(self.needed(name)?)
    }

    /// Absent, or null.
    fn optional<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, PlanError> {
        let given = self.member(name).filter(|member| &self.text[member.value.clone()] != "null");
        given.map(|member| self.typed(member)).transpose()
    }

    fn typed<T: DeserializeOwned>(&self, member: &Member) -> Result<T, PlanError> {
        serde_json::from_str(&self.text[member.value.clone()]).map_err(|error| {
            let problem = error.to_string();
            self.wrong(member.value.start, &member.name, problem.split(" at line").next().unwrap_or(&problem))
        })
    }
}
