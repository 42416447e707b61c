//! Pull requests that are stuck, each for a reason of its own: `tribunal why` names it first, whoever reads (field pain 25).

use super::super::gitea;
use super::super::loops::{login, submits, until};
use super::super::town::Town;
use super::why::asks_for_changes;
use super::{Opened, draft, name, onto, opened, sign, status, why};
use forge_conformance::{Voice as _, Who};
use gitea_peer::MAINTAINER;
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;
use tribunal_core::pull::facts::{CheckState, MergeMethod, MergeOrder};
use tribunal_core::pull::talk::{NewIssue, ReviewEvent};

/// What `why` has to say of a pull request: the first condition that is not met, and its words.
struct Stuck {
    number: u64,
    condition: &'static str,
    words: String,
}

/// A repository full of them.
struct Jam<'a> {
    town: &'a Town,
    all: Vec<Stuck>,
}

const ON: &str = "[merge]\nwhen = \"approved\"\nverified_by = \"rules\"\n";
const UNSAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";
const SHARED: &str = "def total(items=[]):\n    items.append(1)\n    return sum(items)\n";
const MARKED: &str = "<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> topic\n";

impl<'a> Jam<'a> {
    /// Rules may verify, and merging is on: then nothing but its own reason is in the way of each.
    async fn new(town: &'a Town) -> Jam<'a> {
        town.stage.push("main", &[(".tribunal.toml", Some(ON))], "configuration").await;
        Jam { town, all: Vec::new() }
    }

    fn is_stuck(&mut self, pull: &Opened, condition: &'static str, words: impl Into<String>) {
        self.all.push(Stuck { number: pull.number, condition, words: words.into() });
    }

    /// A branch whose own configuration holds for what is merged into it.
    async fn base(&self, config: &str) -> String {
        let base = name("base");
        self.town.stage.push(&base, &[(".tribunal.toml", Some(config))], "configuration").await;
        base
    }

    async fn file_onto(&self, base: &str, text: &str, suffix: &str) -> (Opened, String) {
        let file = format!("{}.{suffix}", name("file"));
        (onto(self.town, base, "", &[(&file, Some(text))]).await, file)
    }

    async fn reviewed_onto(&self, base: &str) -> (Opened, String) {
        let (pull, file) = self.file_onto(base, "One.\nTwo.\n", "md").await;
        self.town.review(pull.number);
        (pull, file)
    }

    /// It is not open, or not ready, or does not merge.
    async fn as_they_are(&mut self) {
        let (town, maintainer) = (self.town, self.town.stage.forge_as(Who::Maintainer));
        self.is_stuck(&draft(town).await, "not-draft", "it is a draft");

        let closed = opened(town, "").await;
        maintainer.close(closed.number).await.unwrap();
        self.is_stuck(&closed, "open", "it was closed");

        let held = opened(town, "").await;
        town.stage.forge_as(Who::Bot).add_label(held.number, "Do not merge").await.unwrap();
        self.is_stuck(&held, "no-hold-label", "the label `Do not merge` holds it back");

        let file = format!("{}.md", name("torn"));
        town.stage.push("main", &[(&file, Some("one\n"))], "before").await;
        let torn = onto(town, "main", "", &[(&file, Some("two\n"))]).await;
        town.stage.push("main", &[(&file, Some("three\n"))], "meanwhile").await;
        self.is_stuck(&torn, "no-conflict", "it conflicts with `main`");

        let (marked, file) = self.file_onto("main", MARKED, "py").await;
        self.is_stuck(&marked, "no-conflict-markers", format!("conflict markers stand in `{file}:1`"));
    }

    /// Others come first. Gives the last of them, and the issue that it waits for.
    async fn behind_others(&mut self) -> (Opened, u64) {
        let (town, sign, maintainer) = (self.town, sign(self.town), self.town.stage.forge_as(Who::Maintainer));
        let first = opened(town, "").await;
        let behind = opened(town, &format!("Depends on {sign}{}", first.number)).await;
        self.is_stuck(&behind, "dependencies-merged", format!("it depends on {sign}{}, which is open", first.number));

        let abandoned = opened(town, "").await;
        maintainer.close(abandoned.number).await.unwrap();
        let lost = opened(town, &format!("Blocked by: {sign}{}", abandoned.number)).await;
        let words = format!("it depends on {sign}{}, which was closed without being merged", abandoned.number);
        self.is_stuck(&lost, "dependencies-merged", words);

        let nowhere = opened(town, &format!("Depends on {sign}999999")).await;
        let words = format!("{sign}999999, which it depends on, could not be read");
        self.is_stuck(&nowhere, "dependencies-merged", words);

        // The number of the next one is known before it is there.
        let one = opened(town, &format!("Depends on {sign}{}", nowhere.number + 2)).await;
        let other = opened(town, &format!("Depends on {sign}{}", one.number)).await;
        self.is_stuck(&one, "dependencies-merged", format!("it depends on {sign}{}, which depends on it", other.number));

        let file = format!("{}.md", name("stacked"));
        let stacked = onto(town, &first.branch, "", &[(&file, Some("On top.\n"))]).await;
        self.is_stuck(&stacked, "dependencies-merged", format!("it is stacked on {sign}{}, which is open", first.number));

        let under = opened(town, "").await;
        let left = onto(town, &under.branch, "", &[(&file, Some("On top.\n"))]).await;
        let order =
            MergeOrder { head: under.head.clone(), method: MergeMethod::Squash, title: "Under".into(), message: "".into() };
        // A forge may have to work out first whether it merges.
        until("it is merged", || async { maintainer.merge(under.number, &order).await.ok() }).await;
        self.is_stuck(&under, "open", "it is merged already");
        let words = format!("its base `{}` is the branch of {sign}{}, which is merged", under.branch, under.number);
        self.is_stuck(&left, "dependencies-merged", words);

        let issue = NewIssue { title: "Before".into(), body: "".into(), labels: Vec::new() };
        let issue = maintainer.create_issue(&issue).await.unwrap().number;
        let waits = opened(town, &format!("Depends on #{issue}")).await;
        self.is_stuck(&waits, "dependencies-merged", format!("it depends on #{issue}, which is open"));
        (waits, issue)
    }

    /// Checks, and those that somebody asks for.
    async fn for_their_checks(&mut self) {
        let town = self.town;
        for (state, words) in [(CheckState::Failure, "`ci/build` is red"), (CheckState::Pending, "`ci/build` is still running")] {
            let pull = opened(town, "").await;
            status(town, &pull.head, "ci/build", state).await;
            self.is_stuck(&pull, "checks-green", words);
        }
        // CF-30: none is fine, unless somebody asks for one.
        let strict = self.base(&format!("{ON}require_checks = true\n")).await;
        let (without, _) = self.file_onto(&strict, "Some words.\n", "md").await;
        self.is_stuck(&without, "checks-green", "no checks, and `merge.require_checks` asks for some");
    }

    /// Our own review: there is none, or it says no, or it is of something else, or it is not enough.
    async fn for_their_reviews(&mut self) {
        let town = self.town;
        self.is_stuck(&opened(town, "").await, "reviewed", "it was never reviewed");

        let (bad, _) = self.file_onto("main", UNSAFE, "py").await;
        town.review(bad.number);
        // Our own status is red too, and that is the first thing in the way.
        self.is_stuck(&bad, "checks-green", "`tribunal/review` is red");

        let (poor, _) = self.file_onto("main", SHARED, "py").await;
        town.review(poor.number);
        self.is_stuck(&poor, "verdict-lgtm", "the verdict is M");

        // Design rule 7: a review is of one head.
        let (moved, _) = self.reviewed_onto("main").await;
        let head = town.stage.push(&moved.branch, &[(&format!("{}.md", name("late")), Some("More.\n"))], "more").await;
        let words = format!("the last review is of {}, and the head is {}", moved.head.short(), head.short());
        self.is_stuck(&moved, "reviewed", words);

        // CF-27: rules alone are not enough, unless somebody says so.
        let by_agents = self.base("[merge]\nwhen = \"approved\"\n").await;
        let (unverified, _) = self.reviewed_onto(&by_agents).await;
        self.is_stuck(&unverified, "verified", "only rules have looked at it");

        // CF-1, SL-71: merging is off until somebody turns it on.
        let off = self.base("[merge]\nverified_by = \"rules\"\n").await;
        let (approved, _) = self.reviewed_onto(&off).await;
        self.is_stuck(&approved, "merging-allowed", "merging is off");
    }

    /// What people say, and what they are asked for (design rule 11).
    async fn for_people(&mut self) {
        let (town, maintainer) = (self.town, login(self.town, Who::Maintainer).await);
        let (refused, _) = self.reviewed_onto("main").await;
        asks_for_changes(town, refused.number).await;
        self.is_stuck(&refused, "no-changes-requested", format!("{maintainer} asks for changes"));

        let (asked, file) = self.reviewed_onto("main").await;
        let remark = [(file.as_str(), 1, "Why this word?".to_owned())];
        submits(town, asked.number, Who::Stranger, ReviewEvent::Comment, "", &remark).await;
        self.is_stuck(&asked, "threads-settled", "1 thread of people is open");

        let two = self.base(&format!("{ON}approvals = 1\n")).await;
        let (unread, _) = self.reviewed_onto(&two).await;
        self.is_stuck(&unread, "approvals", "0 of 1 approval by people");

        let (stale, _) = self.reviewed_onto(&two).await;
        submits(town, stale.number, Who::Maintainer, ReviewEvent::Approve, "Fine.", &[]).await;
        town.stage.push(&stale.branch, &[(&format!("{}.md", name("late")), Some("More.\n"))], "more").await;
        town.review(stale.number);
        let words = format!("0 of 1 approval by people; {maintainer} approved an earlier head");
        self.is_stuck(&stale, "approvals", words);

        let asking = self.base(&format!("{ON}confirm = \"always\"\n")).await;
        let (unsaid, _) = self.reviewed_onto(&asking).await;
        self.is_stuck(&unsaid, "gates-answered", "`merge.confirm` asks for a person's word before each merge");
    }

    /// Asks about all of them at once, as JSON and as text.
    async fn assert_named(&self) {
        let numbers: Vec<u64> = self.all.iter().map(|stuck| stuck.number).collect();
        let settled = until("all is worked out", || async {
            let said = why(self.town, &numbers, &[], &["--format", "json"]);
            let is_open = ["worked out yet", "does not say yet"].iter().any(|words| said.stdout.contains(words));
            (!is_open).then(|| said.ended(1).json())
        });
        let judged = settled.await;
        let shown = why(self.town, &numbers, &[], &[]).ended(1).stdout;
        let pages: Vec<&str> = shown.split("\n\n#").collect();
        for (at, stuck) in self.all.iter().enumerate() {
            let Stuck { number, condition, words } = stuck;
            let judged = &judged[at];
            let first = judged["conditions"].as_array().unwrap().iter().find(|one| one["standing"] != "met").unwrap();
            assert_eq!((judged["number"].as_u64(), first["name"].as_str()), (Some(*number), Some(*condition)), "{judged:#}");
            let because = first["because"].as_str().unwrap();
            assert!(because.starts_with(words.as_str()), "#{number}: wanted `{words}`, and not: {because}");
            assert_eq!(judged["reason"], because, "{judged:#}");

            let page = pages.iter().find(|page| page.trim_start_matches('#').starts_with(&format!("{number} ")));
            let page = page.unwrap_or_else(|| panic!("nothing of #{number} in {shown}"));
            assert!(page.lines().nth(1).unwrap().contains(words.as_str()), "#{number}: wanted `{words}`:\n{page}");
            let row = page.lines().find(|line| ["✗", "?"].iter().any(|sign| line.trim_start().starts_with(sign))).unwrap();
            assert_eq!(row.split_whitespace().nth(1), Some(*condition), "{page}");
        }
    }

    /// As they are when the names of branches, commits and numbers are left out.
    fn reasons(&self) -> BTreeSet<String> {
        let bare = |word: &&str| !word.contains(|letter: char| letter.is_ascii_digit());
        let reason = |stuck: &Stuck| stuck.words.split_whitespace().filter(bare).collect::<Vec<_>>().join(" ");
        self.all.iter().map(reason).collect()
    }
}

/// Issue 7: of more than twenty pull requests that are stuck, each for another reason, `why` names the real one each time.
pub async fn why_each_is_stuck(town: &Town) {
    let mut jam = Jam::new(town).await;
    jam.as_they_are().await;
    let (waits, issue) = jam.behind_others().await;
    jam.for_their_checks().await;
    jam.for_their_reviews().await;
    jam.for_people().await;
    // Two are alike: one waits for a pull request, and one for an issue.
    let reasons = jam.reasons();
    assert!(reasons.len() >= 20 && reasons.len() + 1 == jam.all.len(), "{reasons:#?}");
    jam.assert_named().await;

    // What helped brings up the next reason, and what helps against that.
    town.stage.forge_as(Who::Bot).close_issue(issue).await.unwrap();
    let said = why(town, &[waits.number], &[], &[]).ended(1).stdout;
    assert!(said.lines().nth(1).unwrap().contains("it was never reviewed"), "{said}");
    assert!(said.contains(&format!("tribunal review {}", waits.number)) && said.contains("no checks"), "{said}");
}

/// And what only a server refuses.
#[tokio::test(flavor = "multi_thread")]
async fn why_gitea_refuses() {
    let Some((town, stage)) = gitea::town().await else { return };
    let mut jam = Jam::new(&town).await;

    let rebased = jam.base(&format!("{ON}method = \"rebase\"\n")).await;
    let allows = json!({ "allow_rebase": false, "allow_rebase_explicit": false });
    stage.peer.api(MAINTAINER, Method::PATCH, &format!("/repos/{}", stage.path), Some(allows)).await;
    let (wrong_way, _) = jam.reviewed_onto(&rebased).await;
    jam.is_stuck(&wrong_way, "method-allowed", "the repository does not allow `rebase`");

    let theirs = jam.base(ON).await;
    let (not_ours, _) = jam.reviewed_onto(&theirs).await;
    let rules = json!({ "enable_merge_whitelist": true, "merge_whitelist_usernames": [MAINTAINER] });
    stage.peer.protect(&stage.path, &theirs, rules).await;
    jam.is_stuck(&not_ours, "forge-allows", format!("our account may not merge into `{theirs}`"));

    let approving = jam.base(ON).await;
    let (unread, _) = jam.reviewed_onto(&approving).await;
    stage.peer.protect(&stage.path, &approving, json!({ "required_approvals": 2 })).await;
    jam.is_stuck(&unread, "approvals", "0 of 2 approvals by people");

    let checked = jam.base(ON).await;
    let (unchecked, _) = jam.reviewed_onto(&checked).await;
    let rules = json!({ "enable_status_check": true, "status_check_contexts": ["ci/build"] });
    stage.peer.protect(&stage.path, &checked, rules).await;
    jam.is_stuck(&unchecked, "checks-green", "`ci/build` is required and not there");
    jam.assert_named().await;
}
