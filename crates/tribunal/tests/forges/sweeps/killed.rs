//! A loop over a fleet, killed again and again.

use super::super::loops::{configure, file, head};
use super::super::town::{Said, Town, new_branch};
use super::ends::{assert_once, first_words, reported, written};
use super::killing::{Killing, Victim, steps};
use super::{PLAIN, Sent, is_open, sent, set_check, state, story};
use forge_conformance::Who;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Child;
use std::time::Instant;
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::place::ForgeKind;

/// An epic of three stories, a fourth story, and a pull request for each: one that rules can mend, two that touch the same file, and
/// one whose check is red. Several such fleets lie in one repository, each in a folder of its own.
struct Squadron {
    folder: String,
    /// The tip of the trunk before anything of it was merged.
    base: String,
    issues: [(&'static str, u64); 5],
    pulls: [(&'static str, Sent); 4],
}

const LINES: &str = "one\n\ntwo\n\nthree\n\nfour\n\nfive\n\nsix\n";
const UNSAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";

impl Squadron {
    async fn new(town: &Town) -> Squadron {
        let folder = new_branch();
        let path = |name: &str| format!("{folder}/{name}");
        town.stage.push("main", &[(&path("list.md"), Some(LINES))], "a list").await;
        let base = town.stage.checkout().git(&["rev-parse", "HEAD"]).await;
        let epic = story(town, "All of it", "All of it.").await;
        let part = format!("Part of #{epic}\n\n### Acceptance Criteria\n\n- it is there\n");
        let alone = "### Acceptance Criteria\n\n- it is there\n";
        let issues = [
            ("epic", epic),
            ("story of settings", story(town, "Settings", &part).await),
            ("story of first", story(town, "First", &part).await),
            ("story of last", story(town, "Last", &part).await),
            ("story of red", story(town, "Red", alone).await),
        ];
        let of_epic = |at: usize| super::closing(issues[at].1, epic);
        let settings = sent(town, "main", &[(&path("settings.py"), UNSAFE)], &of_epic(1)).await;
        let first = sent(town, "main", &[(&path("list.md"), &LINES.replace("one", "ONE"))], &of_epic(2)).await;
        let last = [(path("list.md"), LINES.replace("six", "SIX")), (path("last.md"), "The last.\n".to_owned())];
        let last = sent(town, "main", &last.each_ref().map(|(path, text)| (path.as_str(), text.as_str())), &of_epic(3)).await;
        let red = sent(town, "main", &[(&path("red.md"), "Red.\n")], &format!("Fixes #{}\n", issues[4].1)).await;
        set_check(town, &head(town, red.number).await, CheckState::Failure).await;
        Squadron { folder, base, issues, pulls: [("settings", settings), ("first", first), ("last", last), ("red", red)] }
    }

    fn start(&self, town: &Town, resumes: bool) -> Child {
        let addresses = self.pulls.each_ref().map(|(_, sent)| town.address(sent.number));
        let budget = self.budget(town).display().to_string();
        let mut words = vec!["sweep", "--loop", "--merge", "--yes", "--max-iterations", "2", "--every", "1s"];
        words.extend(["--answer-within", "1s", "--format", "json", "--budget-file", &budget]);
        words.extend(addresses.iter().map(String::as_str));
        words.extend(resumes.then_some("--resume"));
        town.start(&words)
    }

    fn budget(&self, town: &Town) -> PathBuf {
        town.machine.folder().join(&self.folder).join("review.budget.json")
    }

    /// What the loop says, what it wrote, and what stands on the forge when it is over.
    async fn end(&self, town: &Town, report: &Value) -> Value {
        let numbers = self.pulls.each_ref().map(|(name, sent)| (*name, sent.number));
        let mut issues = Vec::new();
        for (name, issue) in &self.issues {
            let comments = town.stage.forge_as(Who::Bot).issue_comments(*issue).await.unwrap().len();
            issues.push(json!([name, is_open(town, *issue).await, comments]));
        }
        let mut pulls = Vec::new();
        for (name, sent) in &self.pulls {
            pulls.push(json!([name, format!("{:?}", state(town, sent.number).await), self.said(town, sent.number).await]));
        }
        json!({
            "reported": reported(report, &numbers),
            "written": written(&self.budget(town)),
            "issues": issues,
            "pulls": pulls,
            "trunk": self.trunk(town).await,
        })
    }

    /// Everything that stands on a pull request: each verdict, of which a head has one, each comment, each reply.
    async fn said(&self, town: &Town, number: u64) -> Vec<String> {
        let forge = town.stage.forge_as(Who::Bot);
        let reviews = forge.reviews(number).await.unwrap();
        let mut heads = Vec::new();
        let mut all = Vec::new();
        for review in reviews.iter().filter(|review| !review.body.is_empty()) {
            let words = self.told(&review.body);
            if words.starts_with("VERDICT") {
                assert!(!heads.contains(&&review.commit), "a head of #{number} was judged twice: {reviews:#?}");
                heads.push(&review.commit);
            }
            all.push(format!("{:?} of head {}: {words}", review.state, heads.len()));
        }
        all.extend(town.comments(number).await.iter().map(|comment| format!("comment: {}", self.told(&comment.body))));
        for (at, thread) in town.threads(number).await.iter().enumerate() {
            let words = thread.comments.iter().map(|comment| self.told(&comment.body));
            all.extend(words.map(|words| format!("thread {at}, resolved: {}: {words}", thread.resolved)));
        }
        assert_once(number, &all);
        all
    }

    fn told(&self, body: &str) -> String {
        first_words(body).replace(&self.folder, "FOLDER")
    }

    /// What was merged, in its order, and what came of it.
    async fn trunk(&self, town: &Town) -> Value {
        let list = file(town, "main", &format!("{}/list.md", self.folder)).await;
        let settings = file(town, "main", &format!("{}/settings.py", self.folder)).await;
        let range = format!("{}..refs/remotes/origin/main", self.base);
        let log = town.stage.checkout().git(&["log", "--reverse", "--first-parent", "--format=%s", &range]).await;
        // Some forges name the branch.
        let told = |line: &str| {
            let line = self.told(line.split(" (").next().unwrap());
            self.pulls.iter().fold(line, |line, (name, sent)| line.replace(&format!("'{}'", sent.branch), name))
        };
        let log: Vec<String> = log.lines().map(told).collect();
        json!([log, list, settings])
    }
}

/// Issue 7: killed at random moments, fifty of them where the forge is a real one, and resumed each time, a loop comes to the same end as
/// one that nobody disturbs: the same merges in the same order, the same issues closed, one verdict for each head, the same report.
pub async fn a_loop_that_is_killed(town: &Town) {
    let most = if town.stage.kind() == ForgeKind::Gitea { 50 } else { 8 };
    configure(town, PLAIN).await;
    let ledger = town.machine.folder().join(".local/state/tribunal");
    let fleet = Squadron::new(town).await;
    let begun = Instant::now();
    let child = fleet.start(town, false);
    let said = Said::of(child.wait_with_output().unwrap()).ended(1);
    let lasts = begun.elapsed();
    let undisturbed = fleet.end(town, &said.json()).await;
    assert_eq!(undisturbed["reported"]["end"], json!(["iteration_budget", "max-iterations-reached", 1]), "{undisturbed:#}");
    assert_eq!(undisturbed["trunk"][0].as_array().unwrap().len(), 3, "{undisturbed:#}");

    let mut killing = Killing::new(lasts, steps(&ledger, &ledger, &said.json()).await);
    let mut loops = 0;
    while killing.count() < most {
        let fleet = Squadron::new(town).await;
        let victim = Victim { start: &|resumes| fleet.start(town, resumes), ledger: ledger.clone(), state: ledger.clone() };
        let said = killing.drive(&victim, most).await;
        loops += 1;
        let report = said.json();
        assert!(report["exit_code"] == said.code || said.code == -1, "{said:?}");
        assert_eq!(fleet.end(town, &report).await, undisturbed, "killed at {:#?}", killing.stages);
    }
    println!("{} kills in {loops} loops, each of {lasts:?}: {:#?}", killing.count(), killing.stages);
    killing.assert_spread();
}
