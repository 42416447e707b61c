//! What a pull request showed, small enough to be kept, and whether it shows something new (WL-22 to WL-36, WL-121 to WL-124).
//!
//! A baseline is taken right before a pass reads the pull request, never after: what comes in while we work must still look new.
//! Every word is in it, however many there are. To report too much is safe, because [`prefilter`] looks again; to report too little
//! loses somebody's word. When a pass found nothing to do, the newer baseline may take the place of the older one.

use super::gather::{Part, Said, has_failed, word_of};
use super::item::{Item, Voice};
use super::reviewer::{Approval, Filter, named, voice};
use crate::findings::key::sha256_hex;
use crate::ids::Sha;
use crate::pull::chronological::Chronological;
use crate::pull::facts::PullState;
use crate::pull::talk::{Review, ReviewState, Thread};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    pub state: PullState,
    pub head: Sha,
    /// Each place where somebody else spoke, and what stands there.
    pub words: BTreeMap<String, String>,
    pub resolved: BTreeSet<String>,
    /// Failing checks, each with the commit at which it fails.
    pub failing: BTreeSet<String>,
    /// Who approves, and at which commit; a reaction is bound to none.
    pub approvals: BTreeMap<String, Option<Sha>>,
}

/// How a watch begins (WL-124).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// An approval that is there already counts.
    Initial,
    /// Only an approval that was not there before does.
    Rearm,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Merged,
    Closed,
    Approved { by: String },
    Changed,
    Nothing,
}

impl Baseline {
    /// `by_reaction` names the known reviewers that approve with a reaction.
    pub fn of(said: &Said<'_>, by_reaction: &BTreeSet<String>, filter: &Filter) -> Baseline {
        let head = &said.pull.head.sha;
        Baseline {
            state: said.pull.state,
            head: head.clone(),
            words: words(said),
            resolved: said.threads.iter().filter(|thread| thread.resolved).map(|thread| thread.id.clone()).collect(),
            failing: said.checks.iter().filter(|check| has_failed(check)).map(|check| format!("{}@{head}", check.name)).collect(),
            approvals: approvals(said, by_reaction, filter),
        }
    }

    /// The same, with what else is looked at beside the forge: files of linters, each with its version.
    #[must_use]
    pub fn with_failing(mut self, more: impl IntoIterator<Item = String>) -> Baseline {
        self.failing.extend(more);
        self
    }

    /// The same, after we pushed: our own commit is no news.
    pub fn at_head(self, head: Sha) -> Baseline {
        Baseline { head, ..self }
    }
}

/// In the order of WL-25: an end beats an approval, an approval beats anything else.
pub fn change(before: &Baseline, now: &Baseline, arm: Arm) -> Change {
    match now.state {
        PullState::Merged => return Change::Merged,
        PullState::Closed => return Change::Closed,
        PullState::Open => {}
    }
    let is_fresh = |(by, at): &(&String, &Option<Sha>)| match arm {
        Arm::Initial => true,
        Arm::Rearm => before.approvals.get(*by) != Some(*at),
    };
    if let Some((by, _)) = now.approvals.iter().find(is_fresh) {
        return Change::Approved { by: by.clone() };
    }
    // A thread that was resolved asks for nothing, and it may have been us; one that was opened again does (against WL-33).
    let reopened = before.resolved.iter().any(|thread| !now.resolved.contains(thread) && now.has_thread(thread));
    let withdrawn = before.approvals.keys().any(|by| !now.approvals.contains_key(by));
    let differs = before.head != now.head || before.words != now.words || before.failing != now.failing;
    let reborn = before.state != now.state;
    if reopened || withdrawn || differs || reborn { Change::Changed } else { Change::Nothing }
}

impl Baseline {
    fn has_thread(&self, id: &str) -> bool {
        self.words.contains_key(&format!("thread:{id}"))
    }
}

/// All words of others (WL-29), whoever they are: the filter is asked later, where it can be told what is for whom.
fn words(said: &Said<'_>) -> BTreeMap<String, String> {
    let comments = said.comments.iter().filter(|comment| !said.is_ours(&comment.author, &comment.body));
    let comments = comments.map(|comment| (format!("comment:{}", comment.id), word_of(&comment.id, &comment.body)));
    // Our reply in a thread comes with an empty review of ours, which nobody can mark.
    let is_ours = |review: &&Review| {
        said.is_ours(&review.author, &review.body) || (review.author.is(said.me) && review.body.trim().is_empty())
    };
    let reviews = said.reviews.iter().filter(|review| !is_ours(review));
    let reviews = reviews
        .filter(|review| review.state != ReviewState::Pending)
        .map(|review| (format!("review:{}", review.id), format!("{} {:?}", word_of(&review.id, &review.body), review.state)));
    let threads = said.threads.iter().filter_map(|thread| Some((format!("thread:{}", thread.id), thread_words(said, thread)?)));
    comments.chain(reviews).chain(threads).collect()
}

/// A hash over all words of others in a thread, so that an edit shows too.
fn thread_words(said: &Said<'_>, thread: &Thread) -> Option<String> {
    let theirs = |part: Part| match part {
        Part::Word | Part::Finding | Part::Back => true,
        Part::Fixed | Part::Answered | Part::Aside => false,
    };
    let words: Vec<String> = thread
        .comments
        .iter()
        .filter(|comment| theirs(said.part(comment)))
        .map(|comment| word_of(&comment.id, &comment.body))
        .collect();
    (!words.is_empty()).then(|| sha256_hex(words.join("\n").as_bytes())[..16].to_owned())
}

/// Whose last review approves the commit that is there now (WL-79): a later comment takes it back, and so does a push.
fn approvals(said: &Said<'_>, by_reaction: &BTreeSet<String>, filter: &Filter) -> BTreeMap<String, Option<Sha>> {
    let latest = Chronological::of(said.reviews).last_of_each(|review| review.state != ReviewState::Pending);
    let head = &said.pull.head.sha;
    let by_review = latest.into_values().filter_map(|review| {
        let voice = voice(&review.author, said.me, said.extra);
        let may = match &voice {
            Voice::Known(name) => named(name).is_none_or(|reviewer| reviewer.approval != Approval::None),
            Voice::Person => !review.author.is(said.me) && review.author.kind.may_decide(),
            Voice::Panel | Voice::Bot | Voice::Check => false,
        };
        let approves = review.state == ReviewState::Approved && review.commit.as_ref() == Some(head);
        // Anybody can press the button; an approval ends a loop only if its author has the right.
        let counts = filter.covers(&voice, &review.author) && said.right(&review.author).is_granted();
        (may && approves && counts).then(|| (review.author.login.clone(), Some(head.clone())))
    });
    let by_reaction = by_reaction.iter().filter(|name| filter.covers_named(name)).map(|name| (name.clone(), None));
    by_reaction.chain(by_review).collect()
}

/// Is there anything to do for a pass?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefilter {
    Skip,
    Dispatch,
}

/// Echoes of our own answers wake nobody (WL-35, WL-36). Whoever could not gather the items dispatches: this only saves cost.
pub fn prefilter(items: &[Item], filter: &Filter) -> Prefilter {
    let waits = items.iter().any(|item| item.is_open() && filter.covers(&item.voice, &item.author));
    if waits { Prefilter::Dispatch } else { Prefilter::Skip }
}

#[cfg(test)]
mod tests {
    use super::super::gather::gather;
    use super::super::samples::{HEAD, Stage, bot, codex, person, rabbit, reply};
    use super::*;
    use crate::publish::marker::{Disposition, Mark};
    use crate::pull::facts::{Account, CheckState};

    fn baseline(stage: &Stage) -> Baseline {
        Baseline::of(&stage.said(), &BTreeSet::new(), &Filter::Automated)
    }

    fn changed(before: &Stage, now: &Stage) -> Change {
        change(&baseline(before), &baseline(now), Arm::Rearm)
    }

    fn talked() -> Stage {
        Stage::new().thread(&[(&codex(), "x")]).comment(&person("alice"), "y").check("ci", CheckState::Pending)
    }

    /// WL-24, WL-25: silence when nothing moved; the end of the pull request beats all else.
    #[test]
    fn an_end_beats_an_approval_beats_a_change() {
        assert_eq!(changed(&talked(), &talked()), Change::Nothing);
        let mut now = talked().comment(&person("bob"), "new").review(&rabbit(), ReviewState::Approved, "");
        assert_eq!(changed(&talked(), &now), Change::Approved { by: "coderabbitai[bot]".into() });
        now.pull.state = PullState::Closed;
        assert_eq!(changed(&talked(), &now), Change::Closed);
        now.pull.state = PullState::Merged;
        assert_eq!(changed(&talked(), &now), Change::Merged);
    }

    /// WL-29, WL-30, WL-31: each kind of news is seen, recovery of a check too.
    #[test]
    fn news_is_seen() {
        let mut failing = talked();
        failing.checks[0].state = CheckState::Failure;
        let mut edited = talked();
        edited.comments[0].body = "z".into();
        let mut pushed = talked();
        pushed.pull.head.sha = "3333333".into();
        for now in [
            talked().comment(&person("bob"), "new"),
            talked().review(&person("bob"), ReviewState::Commented, ""),
            talked().thread(&[(&person("bob"), "new")]),
            edited,
            pushed,
            Stage::new().thread(&[(&codex(), "x"), (&person("bob"), "new")]).comment(&person("alice"), "y"),
        ] {
            assert_eq!(changed(&talked(), &now), Change::Changed);
        }
        assert_eq!(changed(&talked(), &failing), Change::Changed);
        assert_eq!(changed(&failing, &talked()), Change::Changed);
    }

    /// WL-30, RL-64: nothing is missed on a long pull request, where the original looked at fifty.
    #[test]
    fn nothing_is_beyond_a_page() {
        let long = || (0..120).fold(Stage::new(), |stage, _| stage.thread(&[(&codex(), "x")]).comment(&person("alice"), "y"));
        let mut now = long();
        now.threads[3].comments[0].body = "changed".into();
        assert_eq!(changed(&long(), &long()), Change::Nothing);
        assert_eq!(changed(&long(), &now), Change::Changed);
    }

    /// WL-31: the same check that fails again at another commit is news.
    #[test]
    fn a_failure_belongs_to_its_commit() {
        let before = Stage::new().check("ci", CheckState::Failure);
        let mut now = Stage::new().check("ci", CheckState::Failure);
        now.pull.head.sha = "3333333".into();
        let head = now.pull.head.sha.clone();
        assert_eq!(change(&baseline(&before).at_head(head), &baseline(&now), Arm::Rearm), Change::Changed);
    }

    /// WL-29, WL-35: what we say and resolve is no news; nor is our own push, once it is named.
    #[test]
    fn we_do_not_wake_ourselves() {
        let me = person("tribunal");
        let stage = Stage::new();
        let words = stage.marked("Fixed in 1.", &reply("thread:t1", "t1.1", Disposition::Fixed));
        let round = stage.marked("Round.", &Mark::Round { run: "run".into(), cycle: 1, items: vec![] });
        let mut now = Stage::new()
            .thread(&[(&codex(), "x"), (&me, &words)])
            .comment(&person("alice"), "y")
            .check("ci", CheckState::Pending)
            .comment(&me, &round)
            .review(&me, ReviewState::Commented, "");
        now.threads[0].resolved = true;
        assert_eq!(changed(&talked(), &now), Change::Nothing);
        now.pull.head.sha = "3333333".into();
        assert_eq!(changed(&talked(), &now), Change::Changed);
        let before = baseline(&talked()).at_head("3333333".into());
        assert_eq!(change(&before, &baseline(&now), Arm::Rearm), Change::Nothing);
        // Under our account and without our mark it is somebody (CF-33).
        assert_eq!(changed(&talked(), &talked().comment(&me, "by hand")), Change::Changed);
    }

    /// WL-33 was a blind spot: a thread that is opened again without a word.
    #[test]
    fn reopening_is_seen() {
        let mut before = talked();
        before.threads[0].resolved = true;
        assert_eq!(changed(&before, &talked()), Change::Changed);
    }

    /// WL-23, WL-123, WL-124: at first an approval that is there counts; later only a fresh one does.
    #[test]
    fn approvals_fire_on_an_edge() {
        let approved = || talked().review(&rabbit(), ReviewState::Approved, "");
        let by = |stage: &Stage, arm| change(&baseline(stage), &baseline(stage), arm);
        assert_eq!(by(&approved(), Arm::Initial), Change::Approved { by: "coderabbitai[bot]".into() });
        assert_eq!(by(&approved(), Arm::Rearm), Change::Nothing);
        // Approved again at the next commit: a fresh edge.
        let next = |mut stage: Stage| {
            stage.pull.head.sha = "3333333".into();
            stage
        };
        let again = next(Stage::new()).review(&rabbit(), ReviewState::Approved, "");
        assert_eq!(changed(&approved(), &again), Change::Approved { by: "coderabbitai[bot]".into() });
        // A push makes the old one stale, so at another commit even the first arm waits.
        let stale = next(approved());
        assert_eq!(change(&baseline(&stale), &baseline(&stale), Arm::Initial), Change::Nothing);
    }

    /// WL-79: the latest review of each counts, in the scope of the filter, from those who can approve.
    #[test]
    fn only_a_standing_approval_in_scope_counts() {
        let who = |stage: &Stage, filter: &str| -> Vec<String> {
            Baseline::of(&stage.said(), &BTreeSet::new(), &filter.parse().unwrap()).approvals.into_keys().collect()
        };
        let approved = |by: &Account| Stage::new().review(by, ReviewState::Approved, "");
        assert_eq!(who(&approved(&rabbit()), "coderabbit"), ["coderabbitai[bot]"]);
        assert!(who(&approved(&rabbit()), "codex").is_empty());
        assert!(who(&approved(&person("alice")), "automated").is_empty());
        assert_eq!(who(&approved(&person("alice")), "people"), ["alice"]);
        assert!(who(&approved(&bot("claude[bot]")), "all").is_empty());
        assert!(who(&approved(&bot("auto-approve[bot]")), "all").is_empty());
        assert!(who(&approved(&person("tribunal")), "all").is_empty());
        for later in [ReviewState::Commented, ReviewState::ChangesRequested, ReviewState::Dismissed] {
            assert!(who(&approved(&rabbit()).review(&rabbit(), later, "x"), "all").is_empty());
        }
        let mut unbound = approved(&rabbit());
        unbound.reviews[0].commit = None;
        assert!(who(&unbound, "all").is_empty());
    }

    /// WL-76, WL-124: a reaction is bound to no commit, so a push does not make it fresh again.
    #[test]
    fn a_reaction_fires_once() {
        let of = |stage: &Stage, filter: &str, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            Baseline::of(&stage.said(), &names, &filter.parse().unwrap())
        };
        let before = of(&talked(), "automated", &[]);
        let liked = of(&talked(), "automated", &["codex"]);
        assert_eq!(change(&before, &liked, Arm::Rearm), Change::Approved { by: "codex".into() });
        let mut pushed = talked();
        pushed.pull.head.sha = "3333333".into();
        assert_eq!(change(&liked, &of(&pushed, "automated", &["codex"]), Arm::Rearm), Change::Changed);
        assert!(of(&talked(), "gemini", &["codex"]).approvals.is_empty());
        assert_eq!(of(&talked(), "chatgpt-codex-connector", &["codex"]).approvals.len(), 1);
        assert_eq!(change(&liked, &before, Arm::Rearm), Change::Changed, "taken back");
    }

    /// WL-36: a pass is started only when something in scope is open.
    #[test]
    fn echoes_are_skipped() {
        let me = person("tribunal");
        let stage = Stage::new();
        let words = stage.marked("Fixed in 1.", &reply("thread:t1", "t1.1", Disposition::Fixed));
        let look = |stage: &Stage, filter: &str| prefilter(&gather(&stage.said()).items, &filter.parse().unwrap());
        assert_eq!(look(&Stage::new(), "all"), Prefilter::Skip);
        assert_eq!(look(&Stage::new().thread(&[(&codex(), "x"), (&me, &words)]), "all"), Prefilter::Skip);
        assert_eq!(look(&Stage::new().thread(&[(&codex(), "x")]), "automated"), Prefilter::Dispatch);
        assert_eq!(look(&Stage::new().thread(&[(&codex(), "x")]), "people"), Prefilter::Skip);
        assert_eq!(look(&Stage::new().check("ci", CheckState::Failure), "codex"), Prefilter::Dispatch);
    }

    #[test]
    fn a_baseline_is_kept_as_text() {
        let stage = talked().review(&rabbit(), ReviewState::Approved, "");
        let text = serde_json::to_string(&baseline(&stage)).unwrap();
        assert_eq!(serde_json::from_str::<Baseline>(&text).unwrap(), baseline(&stage));
        assert!(text.contains(HEAD));
    }
}
