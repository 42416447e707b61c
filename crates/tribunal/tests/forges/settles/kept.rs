//! What is kept: the count of assessments, people's words, drafts, order, and larger work.

use super::super::loops::configure;
use super::super::town::{Machine, Said, Town};
use super::{BY_RULES, CLEAN, MENDABLE, MENDED, Planned, STUBBORN, UNSAFE, issue, spoken, tasked, verdicts};
use forge_conformance::{Voice as _, Who};
use serde_json::json;
use tribunal_core::pull::facts::PullState;
use tribunal_core::pull::talk::{NewIssue, ReviewState};

/// TS-13, TS-16, TS-17, TS-44, TS-90, TS-99: a specialist pushes again and again; the second verdict is the last, also for another machine
/// that knows neither the ledger nor what the plan has become.
pub async fn never_a_third_verdict(town: &Town) {
    configure(town, "").await;
    let stubborn = tasked(town, "stubborn.py", STUBBORN).await;
    let (number, branch) = (stubborn.pull.unwrap(), stubborn.branch.clone());
    let planned = Planned::new(town, vec![(stubborn, json!({}))]);
    let fresh = planned.text();
    planned.settle(town, &["--level", "1"]).ended(0);
    assert_eq!((spoken(town, number).await, planned.statuses()), (vec!["MINOR".to_owned()], vec!["REVIEWING".to_owned()]));
    let (body, _) = &verdicts(town, number).await[0];
    assert!(body.contains("to the same branch"), "{body}");
    planned.settle(town, &["--level", "1"]).ended(0);
    assert_eq!(spoken(town, number).await, ["MINOR"], "nothing was pushed, nothing is said");

    town.stage.push(&branch, &[("stubborn.py", Some(&format!("# more\n{STUBBORN}")))], "more").await;
    planned.settle(town, &["--level", "1"]).ended(1);
    assert_eq!(
        (spoken(town, number).await, planned.statuses()),
        (vec!["MINOR".to_owned(), "MINOR".to_owned()], vec!["ESCALATED".to_owned()])
    );
    let (body, _) = &verdicts(town, number).await[1];
    assert!(body.contains("second and last assessment"), "{body}");

    town.stage.push(&branch, &[("stubborn.py", Some(CLEAN))], "clean at last").await;
    planned.settle(town, &["--level", "1"]).ended(1);
    assert_eq!(planned.statuses(), ["ESCALATED"]);
    // Another machine, and the plan as it was at first.
    std::fs::write(&planned.file, fresh).unwrap();
    let other = Machine::new();
    let words = planned.words(town, &["--level", "1"]);
    town.run_on(&other, &words.iter().map(String::as_str).collect::<Vec<_>>()).ended(1);
    assert_eq!((spoken(town, number).await.len(), planned.statuses()), (2, vec!["ESCALATED".to_owned()]));
}

/// TS-91, TS-44: what is clean at its head is not reviewed again; what is pushed after it is, once.
pub async fn a_clean_head_is_kept(town: &Town) {
    configure(town, "").await;
    let task = tasked(town, "clean.py", CLEAN).await;
    let (number, branch) = (task.pull.unwrap(), task.branch.clone());
    let planned = Planned::new(town, vec![(task, json!({}))]);
    for _ in 0..2 {
        let report = planned.settle(town, &["--level", "1"]).ended(0).json();
        assert_eq!(report["tasks"][0]["next"]["is"], "awaits-merge", "{report:#}");
        assert_eq!(spoken(town, number).await, ["LGTM"]);
    }
    assert_eq!(planned.task(0)["last_reviewed_sha"], super::head(town, number).await.0);
    town.stage.push(&branch, &[("clean.py", Some(UNSAFE))], "worse").await;
    planned.settle(town, &["--level", "1"]).ended(1);
    assert_eq!(
        (spoken(town, number).await, planned.statuses()),
        (vec!["LGTM".to_owned(), "MAJOR".to_owned()], vec!["ESCALATED".to_owned()])
    );
}

/// TS-102, CF-33: a draft that a person writes under our account is neither sent along nor thrown away, and nothing is said meanwhile.
pub async fn a_draft_in_the_way(town: &Town) {
    configure(town, "").await;
    let task = tasked(town, "clean.py", CLEAN).await;
    let number = task.pull.unwrap();
    let planned = Planned::new(town, vec![(task, json!({}))]);
    if !town.stage.leave_pending(number, "clean.py", 1, "hm, is that so?").await {
        return;
    }
    let report = planned.settle(town, &["--level", "1"]).ended(75).json();
    assert_eq!(report["tasks"][0]["next"]["is"], "hindered", "{report:#}");
    assert_eq!(spoken(town, number).await, Vec::<String>::new());
    let bot = town.stage.forge_as(Who::Bot);
    let drafts = bot.reviews(number).await.unwrap().into_iter().filter(|review| review.state == ReviewState::Pending);
    for draft in drafts.collect::<Vec<_>>() {
        bot.delete_pending(number, &draft.id).await.unwrap();
    }
    planned.settle(town, &["--level", "1"]).ended(0);
    assert_eq!(spoken(town, number).await, ["LGTM"]);
}

/// TS-72, TS-77: a mention in the review, or a label on the pull request, each once.
pub async fn the_specialist_is_called(town: &Town) {
    configure(town, "[settle]\nrestart = \"mention\"\nmention = \"@hall-of-automata\"\n").await;
    let (one, two) = (tasked(town, "mendable.py", MENDABLE).await, tasked(town, "stubborn.py", STUBBORN).await);
    let (first, second, branch) = (one.pull.unwrap(), two.pull.unwrap(), one.branch.clone());
    let mentioned = Planned::new(town, vec![(one, json!({}))]);
    mentioned.settle(town, &["--level", "1"]).ended(0);
    let (body, _) = &verdicts(town, first).await[0];
    assert!(body.contains("@hall-of-automata please address this on the same branch."), "{body}");
    town.stage.push(&branch, &[("mendable.py", Some(MENDED))], "mended").await;
    let report = mentioned.settle(town, &["--level", "1"]).ended(0).json();
    assert_eq!(report["tasks"][0]["verdict"], "LGTM", "{report:#}");

    configure(town, "[settle]\nrestart = \"label\"\nlabel = \"hall:refine\"\n").await;
    let labelled = Planned::new(town, vec![(two, json!({}))]);
    for _ in 0..2 {
        labelled.settle(town, &["--level", "1"]).ended(0);
    }
    let labels = town.stage.forge_as(Who::Bot).pull(second).await.unwrap().labels;
    assert_eq!(labels, ["hall:refine"]);
}

/// TS-33, TS-36, TS-105: dependencies come first, what follows an escalated task is held, and larger work is closed with its last part, up
/// to the work that it is itself a part of.
pub async fn the_order_of_a_plan(town: &Town) {
    configure(town, BY_RULES).await;
    let maintainer = town.stage.forge_as(Who::Maintainer);
    let saga = NewIssue { title: "Everything".into(), body: "The street.".into(), labels: vec![] };
    let saga = maintainer.create_issue(&saga).await.unwrap().number;
    let epic = NewIssue { title: "All of it".into(), body: format!("The shop.\n\nPart of #{saga}").into(), labels: vec![] };
    let parent = maintainer.create_issue(&epic).await.unwrap().number;
    let half = NewIssue { title: "Half of it".into(), body: "- [ ] write the manual\n".into(), labels: vec![] };
    let half = maintainer.create_issue(&half).await.unwrap().number;
    let first = tasked(town, "first.py", CLEAN).await;
    let second = tasked(town, "second.py", CLEAN).await;
    let wrong = tasked(town, "wrong.py", UNSAFE).await;
    let after = tasked(town, "after.py", CLEAN).await;
    let third = tasked(town, "third.py", CLEAN).await;
    let held = after.pull.unwrap();
    let planned = Planned::new(
        town,
        vec![
            (second, json!({ "depends_on": ["t2"], "board_parent": parent })),
            (first, json!({ "board_parent": parent })),
            (wrong, json!({})),
            (after, json!({ "depends_on": ["t3"] })),
            (third, json!({ "board_parent": half })),
        ],
    );
    let report = planned.settle(town, &["--level", "2"]).ended(1).json();
    assert_eq!(planned.statuses(), ["MERGED", "MERGED", "ESCALATED", "REVIEWING", "MERGED"], "{report:#}");
    assert_eq!(report["tasks"][3]["next"], json!({ "is": "held", "by": "t3" }), "{report:#}");
    assert_eq!(spoken(town, held).await, Vec::<String>::new());
    assert_eq!(report["closed"], json!([parent, saga]), "{report:#}");
    assert!(!maintainer.issue(parent).await.unwrap().open && !maintainer.issue(saga).await.unwrap().open);
    assert!(maintainer.issue(half).await.unwrap().open, "it has a part that nobody has ticked");
}

/// CF-1, CF-9: a red check and a label hold a merge back; when they are gone it is merged. Without the right settings rules are not enough.
pub async fn a_merge_that_waits(town: &Town) {
    configure(town, BY_RULES).await;
    let task = tasked(town, "clean.py", CLEAN).await;
    let (number, branch) = (task.pull.unwrap(), task.branch.clone());
    let planned = Planned::new(town, vec![(task, json!({}))]);
    let maintainer = town.stage.forge_as(Who::Maintainer);
    maintainer.add_label(number, "do-not-merge").await.unwrap();
    let report = planned.settle(town, &["--level", "2"]).ended(1).json();
    assert_eq!(report["tasks"][0]["next"]["is"], "merge-stuck", "{report:#}");
    maintainer.remove_label(number, "do-not-merge").await.unwrap();
    configure(town, "").await;
    planned.settle(town, &["--level", "2"]).ended(1);
    assert_eq!(maintainer.pull(number).await.unwrap().state, PullState::Open, "rules alone merged {branch}");
    configure(town, BY_RULES).await;
    planned.settle(town, &["--level", "2"]).ended(0);
    assert_eq!(
        (maintainer.pull(number).await.unwrap().state, planned.statuses()),
        (PullState::Merged, vec!["MERGED".to_owned()])
    );
}

/// Bad input: a plan that is not there, that is no plan, or of another repository; and a number that is nothing.
pub async fn odd_plans(town: &Town) {
    configure(town, "").await;
    let number = issue(town, "odd", &[]).await;
    let task = super::Tasked { issue: number, pull: None, branch: String::new() };
    let planned = Planned::new(town, vec![(task, json!({ "github_pr": 999_999 }))]);
    let report = planned.settle(town, &["--level", "1"]).ended(5).json();
    assert_eq!(report["tasks"][0]["next"]["hindrance"]["is"], "forge", "{report:#}");
    let said = |code: i32, words: &str| {
        let said: Said = planned.settle(town, &["--level", "1"]).ended(code);
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    };
    let text = planned.text();
    std::fs::write(&planned.file, text.replace("IN_PROGRESS", "WORKING")).unwrap();
    said(2, "tasks[0].status");
    std::fs::write(&planned.file, "{").unwrap();
    said(2, "bad-plan");
    std::fs::remove_file(&planned.file).unwrap();
    said(2, "bad-plan");
}
