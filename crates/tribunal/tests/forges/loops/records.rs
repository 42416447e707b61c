//! What the loops leave behind in files: deferred work in the repository, and the pages of `respond` beside the ledger.

use super::super::town::Town;
use super::agents::{item, model, script, thinking, word};
use super::{LINTBOT, commits_since, configure, ends, everything, file, login, looped, ours, says, suggestion};
use fake_model_server::ModelServer;
use forge_conformance::Who;
use std::path::{Path, PathBuf};

const NOTES: &str = "# Notes\n\nTeh shop opens at nine.\n\nIt closes at ten.\n";

/// WL-85, RL-42, CF-18: with `defer = "record"` what is deferred stands in a file of the repository, pushed with the fixes of the same
/// pass before anybody is told; no issue is made, and a second pass enters nothing twice.
pub async fn a_record_of_what_is_deferred(town: &Town) {
    configure(town, "").await;
    let (number, branch, first) = town.pull(&[("notes.md", Some(NOTES))]).await;
    let later = ("notes.md", 5, "Say what happens on holidays.".to_owned());
    says(town, number, LINTBOT, "", &[("notes.md", 3, "Spelling.".to_owned()), later]).await;
    let threads = town.threads(number).await;
    let (spelling, holidays) = (item(&threads, "Spelling"), item(&threads, "holidays"));
    let words = vec![word(&spelling, "address", "Teh shop opens"), word(&holidays, "defer", "It closes at ten")];
    let server = ModelServer::start(script(words, &[(spelling, "notes.md", "Teh", "The")]));
    let fix = "[fix]\nagent = \"m\"\ndefer = \"record\"\nrecord = \"docs/later.md\"\n";
    configure(town, &format!("{fix}{}", model("m", &server))).await;

    let issues = town.stage.forge_as(Who::Bot).find_issues("holidays").await.unwrap();
    let report = thinking(town, &["watch", &town.address(number), "--once"]).ended(0).json();
    let bot = login(town, LINTBOT).await;
    assert_eq!(ends(&report), [format!("{bot} notes.md:3 fixed"), format!("{bot} notes.md:5 deferred")], "{report:#}");
    let commits = commits_since(town, &branch, &first).await;
    assert_eq!(commits.len(), 2, "{commits:#?}");
    assert!(commits[1].starts_with("Record deferred feedback\n") && commits[1].contains(&format!("Tribunal-Item: {holidays}\n")));
    let record = file(town, &branch, "docs/later.md").await;
    assert_eq!(record.matches("## D-").count(), 1, "{record}");
    assert!(record.contains("Say what happens on holidays.") && record.contains("Why deferred: The code shows it."), "{record}");
    let anchor = record.lines().find_map(|line| line.strip_prefix("## ")).unwrap().to_lowercase();
    let (me, threads) = (login(town, Who::Bot).await, town.threads(number).await);
    let thread = threads.iter().find(|thread| thread.comments[0].body.contains("holidays")).unwrap();
    assert_eq!(ours(thread, &me), [format!("Deferred to docs/later.md#{anchor}. The code shows it.")]);
    assert_eq!(town.stage.forge_as(Who::Bot).find_issues("holidays").await.unwrap(), issues, "an issue was made");

    let before = everything(town, number).await;
    thinking(town, &["watch", &town.address(number), "--once"]).ended(0);
    assert_eq!(everything(town, number).await, before);
}

/// WL-85, RL-42, RL-43, RL-70, CF-18: deferred work gets an issue with its label, which is made where there is none, before anybody is told;
/// a second deferral finds the label there.
pub async fn an_issue_for_what_is_deferred(town: &Town) {
    for place in ["holidays", "Sundays"] {
        configure(town, "").await;
        let (number, _, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
        let wish = format!("Say what happens on {place}.");
        says(town, number, LINTBOT, "", &[("notes.md", 5, wish.clone())]).await;
        let asked = item(&town.threads(number).await, place);
        let server = ModelServer::start(script(vec![word(&asked, "defer", "It closes at ten")], &[]));
        configure(town, &format!("[fix]\nagent = \"m\"\n{}", model("m", &server))).await;
        let report = thinking(town, &["respond", &town.address(number), "--once"]).ended(0).json();
        let home = report["items"][0]["home"].as_str().unwrap();
        let issue = town.stage.forge_as(Who::Bot).issue(home.trim_start_matches('#').parse().unwrap()).await.unwrap();
        assert!(issue.open && issue.body.contains(&wish) && issue.body.contains("### Why Deferred"), "{issue:#?}");
        assert_eq!(issue.labels, ["deferred"]);
        let me = login(town, Who::Bot).await;
        let threads = town.threads(number).await;
        assert_eq!(ours(&threads[0], &me), [format!("Deferred to {home}. The code shows it.")]);
    }
}

/// The folder of this name somewhere below.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let folders: Vec<PathBuf> = entries.collect();
    let here = folders.iter().find(|path| path.file_name().is_some_and(|found| found == name)).cloned();
    here.or_else(|| folders.iter().find_map(|path| find(path, name)))
}

/// RL-13, RL-51, RL-77: `respond` leaves its pages beside the ledger, for people and other tools.
pub async fn pages_of_respond(town: &Town) {
    configure(town, "").await;
    let (number, _, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
    let remarks = [("notes.md", 3, suggestion("Spelling.", "The shop opens at nine.")), ("notes.md", 5, "Why ten?".to_owned())];
    says(town, number, LINTBOT, "", &remarks).await;
    looped(town, &["respond", &town.address(number), "--once"]).ended(1);
    let pages = find(&town.machine.folder(), "pr-reviews").expect("a folder for the pages").join(number.to_string());
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (state, assessment, changes) = (page("state.md"), page("assessment.md"), page("changes.md"));
    assert!(state.contains("COMPLETE") && state.contains(&town.address(number)), "{state}");
    assert!(assessment.contains("notes.md:3") && assessment.contains("Why ten?"), "{assessment}");
    assert!(changes.contains("notes.md"), "{changes}");
    // `watch` writes none.
    let (other, _, _) = town.pull(&[("notes.md", Some(NOTES))]).await;
    looped(town, &["watch", &town.address(other), "--once"]).ended(0);
    assert!(!pages.with_file_name(other.to_string()).exists());
}
