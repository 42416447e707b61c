//! `tribunal sweep` over a set of pull requests.

pub mod ends;
pub mod fleet;
pub mod killed;
pub mod killing;
pub mod money;
pub mod needs_person;
pub mod questions;
pub mod records;
pub mod turns;

use super::loops::{configure, head};
use super::town::{Said, Town};
use forge_conformance::Who;
use serde_json::Value;
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::{NewIssue, NewStatus};

/// A pull request of a fleet.
pub struct Sent {
    pub number: u64,
    pub branch: String,
}

/// Five stories of one epic, and six pull requests: one that rules can mend, two that touch the same file, one that stands on another,
/// one whose check is red, and one with conflict markers.
pub struct Fleet {
    pub epic: u64,
    pub stories: Vec<u64>,
    pub settings: Sent,
    pub prices: Sent,
    pub basket: Sent,
    pub receipts: Sent,
    pub tax: Sent,
    pub notes: Sent,
}

const SHOP: &str = "def total(items):\n    return sum(items)\n\n\ndef count(items):\n    return len(items)\n\n\ndef first(items):\n    return items[0]\n";
const UNSAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";
const MARKED: &str = "# Notes\n\n<<<<<<< HEAD\nopen\n=======\nclosed\n>>>>>>> other\n";

/// Rules are enough to merge on, and nobody waits for long.
pub const PLAIN: &str = "[merge]\nverified_by = \"rules\"\n[wait]\npoll = \"1s\"\n";

/// How a text names a pull request.
pub fn named(town: &Town, number: u64) -> String {
    if town.stage.kind() == ForgeKind::GitLab { format!("!{number}") } else { format!("#{number}") }
}

pub async fn set_check(town: &Town, head: &Sha, state: CheckState) {
    let status = NewStatus { context: "build".into(), state, description: "built".into(), url: None };
    town.stage.forge_as(Who::Maintainer).set_status(head, &status).await.unwrap();
}

async fn story(town: &Town, title: &str, body: &str) -> u64 {
    let issue = NewIssue { title: title.into(), body: body.into(), labels: vec![] };
    town.stage.forge_as(Who::Maintainer).create_issue(&issue).await.unwrap().number
}

impl Fleet {
    pub async fn new(town: &Town) -> Fleet {
        configure(town, PLAIN).await;
        town.stage.push("main", &[("shop.py", Some(SHOP)), ("README.md", Some("# Shop\n"))], "a shop").await;
        let epic = story(town, "The shop", "All of it.").await;
        let mut stories = Vec::new();
        for title in ["Settings", "Prices", "Basket", "Receipts", "Tax"] {
            let body = format!("Part of #{epic}\n\n### Acceptance Criteria\n\n- it is there\n");
            stories.push(story(town, title, &body).await);
        }
        let settings = sent(town, "main", &[("settings.py", UNSAFE)], &closing(stories[0], epic)).await;
        let rounded = SHOP.replace("sum(items)", "round(sum(items), 2)");
        let prices = sent(town, "main", &[("shop.py", &rounded)], &closing(stories[1], epic)).await;
        let empty = SHOP.replace("items[0]", "items[0] if items else None");
        let basket = sent(town, "main", &[("shop.py", &empty), ("basket.md", "A basket.\n")], &closing(stories[2], epic)).await;
        let on_prices = format!("{}\nDepends on {}.\n", closing(stories[3], epic), named(town, prices.number));
        let receipts = sent(town, &prices.branch, &[("receipts.md", "A receipt.\n")], &on_prices).await;
        let tax = sent(town, "main", &[("tax.py", "RATE = 19\n")], &closing(stories[4], epic)).await;
        set_check(town, &head(town, tax.number).await, CheckState::Failure).await;
        let notes = sent(town, "main", &[("NOTES.txt", MARKED)], &format!("Part of #{epic}\n")).await;
        Fleet { epic, stories, settings, prices, basket, receipts, tax, notes }
    }

    pub fn all(&self) -> [&Sent; 6] {
        [&self.settings, &self.prices, &self.basket, &self.receipts, &self.tax, &self.notes]
    }

    pub fn addresses(&self, town: &Town) -> Vec<String> {
        self.all().iter().map(|sent| town.address(sent.number)).collect()
    }

    /// The whole fleet, with what else is typed.
    pub fn words(&self, town: &Town, more: &[&str]) -> Vec<String> {
        let more = more.iter().map(|word| (*word).to_owned());
        ["sweep".to_owned()].into_iter().chain(self.addresses(town)).chain(more).collect()
    }

    pub fn sweep(&self, town: &Town, more: &[&str]) -> Said {
        run(town, &self.words(town, more))
    }
}

fn closing(story: u64, epic: u64) -> String {
    format!("Fixes #{story}\n\nPart of #{epic}\n")
}

/// From a branch that begins at another one, into main.
pub async fn sent(town: &Town, from: &str, files: &[(&str, &str)], body: &str) -> Sent {
    let branch = super::town::new_branch();
    if from != "main" {
        town.stage.checkout().branch(&branch, from).await;
    }
    let files: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (*path, Some(*text))).collect();
    town.stage.push(&branch, &files, "a change").await;
    let number = town.stage.open_pull(&branch, "main", &format!("Change {}", files[0].0), body).await;
    Sent { number, branch }
}

pub fn run(town: &Town, words: &[String]) -> Said {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--format", "json"]).collect();
    town.run(&words)
}

pub fn row(report: &Value, number: u64) -> &Value {
    let rows = report["pulls"].as_array().unwrap();
    rows.iter().find(|row| row["number"] == number).unwrap_or_else(|| panic!("no row of {number} in {report:#}"))
}

pub async fn state(town: &Town, number: u64) -> PullState {
    town.stage.forge_as(Who::Bot).pull(number).await.unwrap().state
}

pub async fn is_open(town: &Town, issue: u64) -> bool {
    town.stage.forge_as(Who::Bot).issue(issue).await.unwrap().open
}

/// What was said on a pull request, and by which reviews it was judged.
pub async fn said(town: &Town, number: u64) -> Vec<String> {
    let forge = town.stage.forge_as(Who::Bot);
    let mut all: Vec<String> = town.comments(number).await.into_iter().map(|comment| comment.body).collect();
    // One forge wraps each reply into a review without a word.
    let reviews = forge.reviews(number).await.unwrap().into_iter().filter(|review| !review.body.is_empty());
    all.extend(reviews.map(|review| format!("{:?} {}", review.state, review.body)));
    all.extend(town.threads(number).await.into_iter().flat_map(|thread| thread.comments).map(|comment| comment.body));
    all
}
