use super::read::{PlanError, read};
use super::write::{apply, changes};
use super::*;
use proptest::prelude::*;

const TEXT: &str = r#"{
  "id": "2026-01-31-checkout",
  "created_at": "2026-01-31T12:00:00Z",
  "repo": "acme/shop",
  "invoker": "ann",
  "colour": { "of": ["the", "board"] },
  "tasks": [
    { "id": "t1", "title": "Cart", "specialist": "sdet", "mode": "doing",
      "status": "IN_PROGRESS", "github_issue": 7, "github_pr": null,   "mood": "good" },
    {
      "id": "t2",
      "title": "Till \"two\"",
      "specialist": "staff",
      "mode": "researching",
      "status": "REVIEWING",
      "depends_on": ["t1"],
      "needs_review": true,
      "review_cycle": 2,
      "last_reviewed_sha": ""
    }
  ]
}
"#;

fn problem(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

fn with(from: &str, to: &str) -> String {
    assert!(TEXT.contains(from), "{from}");
    TEXT.replacen(from, to, 1)
}

/// TS-1, TS-35, TS-36, TS-40: the documented fields, with the three that the original's schema forgets.
#[test]
fn a_plan_is_read() {
    let plan = read(TEXT).unwrap();
    assert_eq!(
        (plan.id.as_str(), plan.repo.as_str(), plan.invoker.as_deref()),
        ("2026-01-31-checkout", "acme/shop", Some("ann"))
    );
    let (first, second) = (&plan.tasks[0], &plan.tasks[1]);
    assert_eq!(
        (first.status, first.github_issue, first.github_pr, first.needs_review),
        (Status::InProgress, Some(7), None, false)
    );
    assert_eq!(
        (second.status, second.needs_review, second.review_cycle),
        (Status::Reviewing, true, Some(Cycle(Assessment::Second)))
    );
    assert_eq!((second.mode, second.last_reviewed_sha.as_ref()), (Mode::Researching, None));
    assert_eq!(second.depends_on, [TaskId::from("t1")]);
}

/// TS-35, TS-36: what must be there is missed by its name, and nothing else is.
#[test]
fn what_is_required_is_missed() {
    let (root, task) = (["id", "created_at", "repo", "tasks"], ["id", "title", "specialist", "mode", "status"]);
    let whole: serde_json::Value = serde_json::from_str(TEXT).unwrap();
    for name in root {
        let mut plan = whole.clone();
        plan.as_object_mut().unwrap().remove(name);
        assert_eq!(problem(&plan.to_string()), format!("line 1: {name}: it is missing"));
    }
    for name in task {
        let mut plan = whole.clone();
        plan["tasks"][1].as_object_mut().unwrap().remove(name);
        assert_eq!(problem(&plan.to_string()), format!("line 1: tasks[1].{name}: it is missing"));
    }
    let mut bare = whole;
    bare.as_object_mut().unwrap().retain(|name, _| root.contains(&name.as_str()));
    for given in bare["tasks"].as_array_mut().unwrap() {
        given.as_object_mut().unwrap().retain(|name, _| task.contains(&name.as_str()));
    }
    assert_eq!(read(&bare.to_string()).unwrap().tasks.len(), 2);
}

/// TS-37, TS-38: the eleven words of a status, and those that are its end.
#[test]
fn every_status_has_its_word() {
    let ends = ["MERGED", "FAILED", "ESCALATED", "DONE"];
    let goes_on = ["PLANNED", "READY", "DISPATCHED", "IN_PROGRESS", "AWAITING_INPUT", "REVIEWING", "BLOCKED"];
    for word in ends.into_iter().chain(goes_on) {
        let status = read(&with("IN_PROGRESS", word)).unwrap().tasks[0].status;
        assert_eq!(
            (status.word(), serde_json::json!(status).as_str(), status.is_terminal()),
            (word, Some(word), ends.contains(&word))
        );
    }
}

/// TS-28, TS-31, TS-32: the session's level; who is no invoker is at level 0, and keys that are not ours are nobody's concern.
#[test]
fn the_session_has_a_level() {
    let level = |text: &str| read::session_level(text).map(|level| level.map(Level::number));
    assert_eq!(level(r#"{ "automation_level": 2, "local_mode": false, "board_project_number": 7 }"#), Ok(Some(2)));
    assert_eq!(level(r#"{ "automation_level": 2, "local_mode": true }"#), Ok(Some(0)));
    assert_eq!(level("{}"), Ok(None));
    assert!(level(r#"{ "automation_level": 3 }"#).unwrap_err().contains("there is no automation level 3"));
    assert!(level("nonsense").is_err());
}

/// Bad input is named with its line and its place.
#[test]
fn what_is_wrong_is_named() {
    assert_eq!(problem("{"), "line 1: this is no JSON: EOF while parsing an object");
    assert_eq!(problem("[]"), "line 1: this is no object");
    assert_eq!(
        problem(&with("\"id\": \"2026-01-31-checkout\"", "\"id\": \"checkout\"")),
        "line 2: id: an id is a date and a name, such as 2026-01-31-checkout"
    );
    assert_eq!(problem(&with("\"created_at\"", "\"made_at\"")), "line 1: created_at: it is missing");
    assert_eq!(problem(&with("2026-01-31T12:00:00Z", "yesterday")), "line 3: created_at: write it as 2026-01-31T12:00:00Z");
    assert_eq!(problem(&with("acme/shop", "shop")), "line 4: repo: name it as owner/name");
    assert_eq!(problem(&with("acme/shop", "/shop")), "line 4: repo: name it as owner/name");
    let twice = with("null,   ", "12,").replacen("\"needs_review\"", "\"github_pr\": 12, \"needs_review\"", 1);
    assert_eq!(problem(&twice), "line 10: tasks[1].github_pr: #12 is the pull request of an earlier task");
    assert_eq!(problem(&with("\"ann\"", "\"ann @all\"")), "line 5: invoker: `ann @all` is no login");
    assert!(problem(&with("IN_PROGRESS", "WORKING")).starts_with("line 9: tasks[0].status: unknown variant `WORKING`"));
    assert_eq!(
        problem(&with("\"review_cycle\": 2", "\"review_cycle\": 3")),
        "line 18: tasks[1].review_cycle: 3 is neither 1 nor 2"
    );
    assert_eq!(problem(&with("[\"t1\"]", "[\"t9\"]")), "line 10: tasks[1].depends_on: there is no task `t9`");
    assert_eq!(problem(&with("[\"t1\"]", "[\"t2\"]")), "line 10: tasks[1].depends_on: `t2` waits for itself");
    assert_eq!(problem(&with("\"id\": \"t2\"", "\"id\": \"t1\"")), "line 10: tasks[1].id: `t1` is the name of an earlier task");
    assert_eq!(problem(&with("\"mood\"", "\"status\"")), "line 9: tasks[0].status: it stands here twice");
    assert!(problem(&with("\"github_issue\": 7", "\"github_issue\": -7")).contains("tasks[0].github_issue"));
    let circle = with("\"status\": \"IN_PROGRESS\"", "\"depends_on\": [\"t2\"], \"status\": \"IN_PROGRESS\"");
    assert_eq!(problem(&circle), "line 8: tasks[0].depends_on: `t1` waits for itself");
}

/// TS-40, TS-71: what changed is written, and what is written can be read. A person's layout and unknown keys survive.
#[test]
fn only_what_changed_is_written() {
    let before = read(TEXT).unwrap();
    let mut after = before.clone();
    after.tasks[0].github_pr = Some(12);
    after.tasks[0].status = Status::Reviewing;
    after.tasks[0].needs_review = true;
    after.tasks[1].escalation = Some("it \"breaks\"".into());
    let text = apply(TEXT, &changes(&before, &after));
    assert_eq!(read(&text).unwrap(), after);
    let wanted = TEXT
        .replacen("IN_PROGRESS", "REVIEWING", 1)
        .replacen(
            "\"github_pr\": null,   \"mood\": \"good\"",
            "\"github_pr\": 12,   \"mood\": \"good\", \"needs_review\": true",
            1,
        )
        .replacen("\"last_reviewed_sha\": \"\"", "\"last_reviewed_sha\": \"\",\n      \"escalation\": \"it \\\"breaks\\\"\"", 1);
    assert_eq!(text, wanted);
    assert_eq!(apply(&text, &changes(&before, &after)), text, "a second time changes nothing");
    assert_eq!(apply(TEXT, &changes(&before, &before)), TEXT);
}

/// Somebody edited the file meanwhile: their words stay, and ours go to the task that we mean.
#[test]
fn edits_since_survive() {
    let before = read(TEXT).unwrap();
    let mut after = before.clone();
    after.tasks[1].status = Status::Escalated;
    after.automation_level = Some(Level::Assisted);
    let edited = with("\"title\": \"Cart\"", "\"title\": \"The cart\"");
    let text = apply(&edited, &changes(&before, &after));
    let plan = read(&text).unwrap();
    assert_eq!((plan.tasks[0].title.as_str(), plan.tasks[1].status), ("The cart", Status::Escalated));
    assert_eq!(plan.automation_level, Some(Level::Assisted));
    let gone = with("\"id\": \"t2\"", "\"id\": \"t3\"");
    assert_eq!(read(&apply(&gone, &changes(&before, &after))).unwrap().tasks[1].status, Status::Reviewing);
}

fn status() -> impl Strategy<Value = Status> {
    prop::sample::select(vec![Status::Ready, Status::Reviewing, Status::Merged, Status::Escalated, Status::Done])
}

proptest! {
    /// Whatever is changed is read back, from a file of any layout.
    #[test]
    fn what_is_written_is_read_back(
        status in status(),
        pull in prop::option::of(1u64..99),
        due in any::<bool>(),
        reason in prop::option::of("\\PC{0,20}"),
        pretty in any::<bool>(),
    ) {
        let before = read(TEXT).unwrap();
        let mut after = before.clone();
        for task in &mut after.tasks {
            task.status = status;
            task.needs_review = due;
            task.escalation = reason.clone();
        }
        after.tasks[0].github_pr = pull;
        let value: serde_json::Value = serde_json::from_str(TEXT).unwrap();
        let text = if pretty { TEXT.to_owned() } else { value.to_string() };
        let text = apply(&text, &changes(&before, &after));
        prop_assert_eq!(read(&text).unwrap(), after);
    }

    #[test]
    fn no_text_is_too_odd_to_be_refused(text in "[{}\\[\\]\":,a0 ]{0,60}") {
        let _: Result<Plan, PlanError> = read(&text);
    }
}
