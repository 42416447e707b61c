//! `respond` and `await`.

use super::super::town::Town;
use super::agents::{KEY, item, model, script, word};
use super::{LINTBOT, Running, configure, everything, login, ours, says, submits, suggestion, until};
use fake_model_server::{Matcher, ModelServer, Reply};
use forge_conformance::{Voice as _, Who};
use serde_json::{Value, json};
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::talk::ReviewEvent;

/// RL-15, RL-34 to RL-36, RL-47: it waits until the reviewer is done, has the assessment checked by another agent, answers, closes the
/// bot's threads, asks it to look again in one summary, and ends when somebody approves. A second run says nothing.
pub async fn a_round_of_answers(town: &Town) {
    let (number, _, _) = town.pull(&[("notes.md", Some("# Notes\n\nTeh shop opens at nine.\nIt closes at five.\n"))]).await;
    says(
        town,
        number,
        LINTBOT,
        "",
        &[("notes.md", 3, "Spelling.".to_owned()), ("notes.md", 4, "Is that so on Sundays".to_owned())],
    )
    .await;
    let threads = town.threads(number).await;
    let (spelling, sundays) = (item(&threads, "Spelling"), item(&threads, "Sundays"));
    let words = vec![word(&spelling, "address", "Teh shop"), word(&sundays, "decline", "It closes at five.")];
    let checking = Matcher::any().own_contains("The assessment to check");
    let script = script(words, &[(spelling, "notes.md", "Teh", "The")])
        .rule(checking.clone().first(1), Reply::Json(json!({ "approved": false, "why": "The second was read in haste." })))
        .rule(checking, Reply::Json(json!({ "approved": true })));
    let server = ModelServer::start(script);
    let agents = format!("{}{}", model("m", &server), model("c", &server));
    configure(town, &format!("[fix]\nagent = \"m\"\ncheck = \"c\"\n{agents}")).await;

    let words = ["respond", &town.address(number), "--poll", "1s", "--settle", "1s", "--idle", "30m", "--total", "60m"];
    let running = Running::with_key(town, &words, KEY);
    let (me, bot) = (login(town, Who::Bot).await, login(town, LINTBOT).await);
    let summaries = || async {
        let mut comments = town.comments(number).await;
        comments.retain(|comment| comment.body.contains("## Review Feedback Summary"));
        comments
    };
    let summary = until("the summary", || async { summaries().await.pop() }).await;
    assert!(summary.body.contains(&format!("@{bot}")) && summary.body.contains("Declined"), "{}", summary.body);
    let can_resolve = town.stage.forge_as(Who::Bot).capabilities().await.unwrap().can(Capability::Resolve);
    for thread in town.threads(number).await {
        let said = ours(&thread, &me);
        let wanted = if thread.line == Some(4) { "Declined: " } else { "Fixed in " };
        assert!(said.len() == 1 && said[0].starts_with(wanted), "{thread:#?}");
        assert_eq!(thread.resolved, can_resolve, "RL-45: a bot's thread is closed once it is answered");
    }
    let asked = |words: &str| server.requests().iter().filter(|request| request.body.to_string().contains(words)).count();
    assert_eq!((asked("Assess every item above"), asked("The assessment to check")), (2, 2));
    assert_eq!(asked("read in haste"), 1, "the second assessment knows what was said against the first");

    submits(town, number, Who::Maintainer, ReviewEvent::Approve, "", &[]).await;
    let report = running.end().await.ended(0).json();
    assert_eq!(report["reason"], "clean", "{report:#}");

    let before = everything(town, number).await;
    let again = super::agents::thinking(town, &["respond", &town.address(number), "--once"]).ended(0).json();
    assert_eq!((&again["reason"], &again["resolved"]), (&json!("clean"), &json!(0)), "{again:#}");
    assert_eq!(everything(town, number).await, before);
    assert_eq!(summaries().await.len(), 1);
}

fn lengths(activity: &Value) -> (usize, usize, usize) {
    let of = |name: &str| activity[name].as_array().unwrap().len();
    (of("unresolved_threads"), of("reviews"), of("issue_comments"))
}

/// RL-13 to RL-16: blocks until what was said has settled, or until its time is over; either way it prints what it has.
pub async fn waiting_for_reviewers(town: &Town) {
    configure(town, "").await;
    let (number, _, _) = town.pull(&[("notes.md", Some("# Notes\n\nTeh shop opens at nine.\nIt closes at five.\n"))]).await;
    let address = town.address(number);
    let waits = |words: &[&str]| {
        let mut all = vec!["await", &address, "--json", "--poll", "1s"];
        all.extend(words);
        town.run(&all)
    };
    let nothing = waits(&["--timeout", "1s"]).ended(75).json();
    assert_eq!((&nothing["status"], lengths(&nothing)), (&json!("timeout"), (0, 0, 0)), "{nothing:#}");

    says(town, number, LINTBOT, "", &[("notes.md", 3, suggestion("Spelling.", "The shop opens at nine."))]).await;
    says(town, number, Who::Maintainer, "", &[("notes.md", 4, "Is that so?".to_owned())]).await;
    let collected = waits(&["--timeout", "2s", "--settle", "30m"]).ended(75).json();
    assert_eq!((&collected["status"], lengths(&collected).0), (&json!("timeout"), 2), "{collected:#}");

    let person = login(town, Who::Maintainer).await;
    let people = waits(&["--reviewer", "people", "--settle", "1s", "--timeout", "30m"]).ended(0).json();
    assert_eq!((&people["status"], lengths(&people).0), (&json!("activity_detected"), 1), "{people:#}");
    let thread = &people["unresolved_threads"][0];
    assert_eq!((&thread["author"], &thread["path"], &thread["line"]), (&json!(person), &json!("notes.md"), &json!(4)));
    let bots = waits(&["--reviewer", "lintbot", "--settle", "1s", "--timeout", "30m"]).ended(0).json();
    assert_eq!((lengths(&bots).0, &bots["unresolved_threads"][0]["line"]), (1, &json!(3)), "{bots:#}");

    // A comment that was there before is no news; one that comes meanwhile is.
    let (quiet, _, _) = town.pull(&[("notes.md", Some("text\n"))]).await;
    town.stage.forge_as(Who::Maintainer).comment(quiet, "An old word.").await.unwrap();
    let words = ["await", &town.address(quiet), "--json", "--poll", "1s", "--settle", "1s", "--timeout", "30m"];
    let mut running = Running::plain(town, &words);
    running.waits().await;
    town.stage.forge_as(Who::Maintainer).comment(quiet, "A new word.").await.unwrap();
    let news = running.end().await.ended(0).json();
    assert_eq!(lengths(&news), (0, 0, 1), "{news:#}");
    assert_eq!(news["issue_comments"][0]["body"], "A new word.");
}
