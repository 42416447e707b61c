//! The machine, one rule at a time. Worlds that do everything at once are in `tests/loops.rs`.

#![allow(clippy::panic)]

use super::*;
use crate::feedback::baseline::change;
use crate::feedback::injection::{Category, Suspicion};
use crate::feedback::item::Voice;
use crate::feedback::right::Right;
use crate::feedback::samples::{Stage, codex, fixable, granted, item, person, rabbit};
use crate::policy::config::Config;
use crate::policy::span::Span;
use crate::pull::facts::{Account, Permission, PullState};
use crate::pull::place::{ForgeKind, Project};
use crate::pull::told::Told;
use crate::remedy::assess::{Admitted, Assessment, Checkup, Decision};
use crate::remedy::patch::Refusal;

const NOW: Millis = 1_000_000;
const HEAD: &str = "1111111111111111111111111111111111111111";
const TIP: &str = "3333333333333333333333333333333333333333";

/// A loop under way: what it wants done, and what it is told.
struct Play {
    state: State,
    wants: Vec<Effect>,
    now: Millis,
}

fn request(kind: LoopKind, change: impl FnOnce(&mut LoopPolicy)) -> Request {
    let config = Config::default();
    let mut loops = LoopPolicy::new(kind, &config).unwrap();
    change(&mut loops);
    let project = Project { origin: "https://h".into(), path: "acme/shop".into() };
    Request {
        run: "run".into(),
        engine: "test".into(),
        place: Place { kind: ForgeKind::GitHub, project, number: 7 },
        policy: Policy::new(&config, &[]).unwrap(),
        loops,
        withheld: BTreeMap::new(),
        nonce: "nonce".into(),
    }
}

impl Play {
    fn new(kind: LoopKind, change: impl FnOnce(&mut LoopPolicy)) -> Self {
        let Step { state, effects } = step(None, Input::Start { request: Box::new(request(kind, change)) }, NOW).unwrap();
        Play { state, wants: effects, now: NOW }.told(Input::Prepared(Ok(fit())))
    }

    fn watch() -> Self {
        Play::new(LoopKind::Watch, |_| {})
    }

    fn told(self, input: Input) -> Self {
        let Step { state, effects } = step(Some(self.state), input, self.now).unwrap();
        Play { state, wants: effects, now: self.now }
    }

    fn sees(self, seen: Seen) -> Self {
        assert!(matches!(self.wants[..], [Effect::Read { .. }]), "{:?}", self.wants);
        self.told(Input::Seen(Ok(Box::new(seen))))
    }

    fn decides(self, decision: Decision) -> Self {
        let Phase::Assessing(pass) = &self.state.phase else { panic!("{:?}", self.state.phase) };
        let accepted = pass.leaders().map(|item| assessed(item, decision)).collect();
        self.told(Input::Assessed { said: Ok(Admitted { accepted, ..Admitted::default() }), spend: Spend::default() })
    }

    fn fixes(self) -> Self {
        let Phase::Fixing(pass) = &self.state.phase else { panic!("{:?}", self.state.phase) };
        let made = |item: &Fixable| {
            let made = FixOutcome::Made { commit: TIP.into(), summary: "Mend".into(), files: vec![], lines: 1, class: None };
            (item.id.clone(), made)
        };
        let made = Made { outcomes: pass.leaders().map(made).collect(), tip: Some(TIP.into()), rewrites: vec![] };
        self.told(Input::Fixed { made: Ok(made), spend: Spend::default() })
    }

    fn lands(self) -> Self {
        self.told(Input::Validated(Validation::Passed)).told(Input::Landed(Landing::Pushed { head: TIP.into() }))
    }

    fn answers(self) -> Self {
        let Phase::Answering(pass) = &self.state.phase else { panic!("{:?}", self.state.phase) };
        let outcomes =
            self.state.replies(pass).into_iter().map(|reply| (reply.item.id.clone(), AnswerOutcome::Said { resolved: true }));
        let answering = Answering { outcomes: outcomes.collect(), summary: None };
        self.told(Input::Answered(answering))
    }

    /// A whole pass over what is shown, in which everything is fixed.
    fn fixes_all(self, seen: Seen) -> Self {
        self.sees(seen).decides(Decision::Address).fixes().lands().answers()
    }

    fn wakes(self, change: Change) -> Self {
        assert!(matches!(self.wants[..], [Effect::Wait { .. }]), "{:?}", self.wants);
        self.told(Input::Woken(Wake::Changed(change)))
    }

    fn report(&self) -> &Report {
        self.state.report().unwrap_or_else(|| panic!("no end: {:?}", self.state.phase))
    }

    fn until(&self) -> Millis {
        match self.wants[..] {
            [Effect::Wait { until, .. }] => until,
            _ => panic!("it does not wait: {:?}", self.wants),
        }
    }
}

fn assessed(item: &Item, decision: Decision) -> Assessment {
    Assessment { decision, rationale: "because".into(), ..Assessment::unanswered(item) }
}

fn thread(id: &str) -> Item {
    let line = id.bytes().map(u32::from).sum::<u32>();
    item(&format!("thread:{id}"), &codex(), Voice::Known("codex".into()), &format!("src/{id}.rs"), line, "Mend this")
}

fn fit() -> Box<Preflight> {
    Box::new(Preflight { pull: seen(&[]).pull, trunk: "main".into(), unfit: None, not_pushable: None })
}

fn seen(items: &[Item]) -> Seen {
    let stage = Stage::new();
    let baseline = Baseline::of(&stage.said(), &BTreeSet::new(), &crate::feedback::reviewer::Filter::All);
    let words = items.iter().map(|item| (item.id.0.clone(), item.last_word.clone())).collect();
    Seen {
        pull: PullFacts {
            number: 7,
            url: "https://h/7".into(),
            title: "Add a cart".into(),
            state: PullState::Open,
            head: HEAD.into(),
            branch: "cart".into(),
            base: "main".into(),
        },
        baseline: Baseline { words, ..baseline },
        items: items
            .iter()
            .map(|item| SeenItem { item: item.clone(), in_scope: true, right: granted(), suspicion: None })
            .collect(),
        running: false,
        quota: None,
        reviewed: false,
        satisfied: BTreeSet::new(),
        young: BTreeSet::new(),
    }
}

fn handled(id: &str) -> Item {
    Item { label: Label::Handled, ..thread(id) }
}

fn approved(seen: Seen) -> Seen {
    let approvals = [("codex".to_owned(), None)].into();
    Seen { baseline: Baseline { approvals, ..seen.baseline.clone() }, ..seen }
}

/// WL-9: what is there already is worked on before anything is waited for.
#[test]
fn the_first_pass_comes_before_any_wait() {
    let play = Play::watch().sees(seen(&[thread("a")]));
    assert_eq!(play.wants, [Effect::Assess { pass: 1, attempt: 0 }]);
    assert_eq!(play.state.memory.waits, 0);
}

/// WL-11, WL-130, CF-20: an approval is confirmed by a pass and a last look, and only then the end is clean.
#[test]
fn an_approval_is_confirmed_before_the_end() {
    let by = "codex".to_owned();
    let asked = Play::watch().sees(seen(&[])).wakes(Change::Approved { by: by.clone() });
    let looked = asked.sees(approved(seen(&[])));
    assert!(looked.state.report().is_none());
    assert_eq!(looked.sees(approved(seen(&[]))).report().reason, Reason::Clean);
    // Taken back before it was confirmed: nothing ends.
    let taken_back = Play::watch().sees(seen(&[])).wakes(Change::Approved { by }).sees(seen(&[]));
    assert!(matches!(taken_back.wants[..], [Effect::Wait { .. }]));
}

/// WL-130: something said during the confirmation is worked on.
#[test]
fn the_last_look_finds_what_came_meanwhile() {
    let play = Play::watch().sees(seen(&[])).wakes(Change::Approved { by: "codex".into() }).sees(approved(seen(&[])));
    let play = play.sees(approved(seen(&[thread("late")])));
    assert!(matches!(play.wants[..], [Effect::Assess { .. }]));
}

/// WL-25, WL-48: a pull request that is merged or closed ends the loop, wherever that is seen.
#[test]
fn the_end_of_the_pull_request_is_the_end() {
    for (change, state, reason) in
        [(Change::Merged, PullState::Merged, Reason::PrMerged), (Change::Closed, PullState::Closed, Reason::PrClosed)]
    {
        assert_eq!(Play::watch().sees(seen(&[])).wakes(change).report().reason, reason);
        let mut over = seen(&[thread("a")]);
        over.pull.state = state;
        let play = Play::watch().sees(over);
        assert_eq!((play.report().reason, play.report().items.len()), (reason, 1));
    }
}

/// WL-47, CF-4: a pass that settles something is a cycle, one that does not is none, and the last one ends the loop.
#[test]
fn cycles_are_counted_and_end() {
    let play = Play::new(LoopKind::Watch, |loops| loops.cycles = 2).fixes_all(seen(&[thread("a")]));
    assert_eq!(play.state.memory.cycles, 1);
    let play = play.wakes(Change::Changed).sees(seen(&[handled("a")]));
    assert_eq!(play.state.memory.cycles, 1);
    let play = play.wakes(Change::Changed).fixes_all(seen(&[handled("a"), thread("b")])).sees(seen(&[]));
    assert_eq!((play.report().reason, play.report().cycles), (Reason::MaxCyclesReached, 2));
}

/// WL-52, WL-55, CF-23: the highest of all conditions is the reason, and the report lists each.
#[test]
fn the_highest_condition_is_the_reason() {
    let high = Item { priority: Some(crate::findings::scale::Priority::P0), ..thread("a") };
    let play = Play::watch().sees(seen(&[high, thread("b")]));
    let Phase::Assessing(pass) = &play.state.phase else { panic!("no pass") };
    let accepted = vec![assessed(&pass.items[0], Decision::Decline), assessed(&pass.items[1], Decision::Replan)];
    let said = Ok(Admitted { accepted, ..Admitted::default() });
    let mut merged = seen(&[]);
    merged.pull.state = PullState::Merged;
    let play = play.told(Input::Assessed { said, spend: Spend::default() }).answers().sees(merged);
    assert_eq!(play.report().reason, Reason::HighSeverityRejection);
    let all = [Reason::HighSeverityRejection, Reason::PlannerEscalation, Reason::PrMerged];
    assert_eq!(play.report().conditions, all);
}

/// WL-60: words that give orders end the loop before any agent is shown anything.
#[test]
fn orders_end_it_before_anything_is_made_of_them() {
    let mut hostile = seen(&[thread("a"), thread("b")]);
    hostile.items[1].suspicion = Some(Suspicion { category: Category::P1, quote: "ignore".into(), why: "orders".into() });
    let play = Play::watch().sees(hostile);
    assert_eq!((play.report().reason, play.state.memory.routed), (Reason::InjectionSuspect, 0));
    assert!(play.wants.is_empty());
}

/// WL-62, WL-88: where the same thing is asked for again after a fix, no further patch is made.
#[test]
fn a_sign_forbids_the_patch() {
    let frame = |play: Play| {
        let Phase::Assessing(pass) = &play.state.phase else { panic!("no pass") };
        let framed =
            |item: &Fixable| Assessment { framing: Some("check the bounds".into()), ..assessed(item, Decision::Address) };
        let accepted = pass.leaders().map(framed).collect();
        play.told(Input::Assessed { said: Ok(Admitted { accepted, ..Admitted::default() }), spend: Spend::default() })
    };
    let first = frame(Play::watch().sees(seen(&[thread("a"), thread("b")]))).fixes().lands().answers();
    let second = frame(first.wakes(Change::Changed).sees(seen(&[thread("c"), thread("d")])));
    let play = second.sees(seen(&[]));
    assert_eq!(play.report().reason, Reason::RootClusterSuspected);
    assert_eq!(play.state.memory.commits.len(), 2);
}

/// WL-62: a round that came to nothing because the head moved is no earlier round.
#[test]
fn a_discarded_round_is_no_evidence() {
    let play = Play::watch().sees(seen(&[thread("a")])).decides(Decision::Address).fixes();
    let play = play.told(Input::Validated(Validation::Passed)).told(Input::Landed(Landing::Moved));
    assert!(play.state.memory.history.rounds.is_empty() && play.state.memory.discards == 1);
    assert!(matches!(play.sees(seen(&[thread("a")])).wants[..], [Effect::Assess { .. }]));
}

/// WL-113, WL-21: what does not pass is not pushed, and nobody is told that it was fixed.
#[test]
fn a_failed_validation_pushes_nothing() {
    let play = Play::watch().sees(seen(&[thread("a")])).decides(Decision::Address).fixes();
    let failed = Validation::Failed { command: "make".into(), output: "no".into() };
    let play = play.told(Input::Validated(failed)).sees(seen(&[thread("a")]));
    assert_eq!((play.report().reason, play.report().resolved), (Reason::Blocked, 0));
    assert!(play.state.memory.commits.is_empty() && play.wants.is_empty());
}

/// WL-122, WL-123: the baseline of a wait is what the pass consumed, with our own push as the only news in it.
#[test]
fn the_baseline_is_what_the_pass_consumed() {
    let consumed = seen(&[thread("a")]);
    let play = Play::watch().fixes_all(consumed.clone());
    assert_eq!(play.state.memory.baseline, Some(consumed.baseline.at_head(TIP.into())));
    let during = seen(&[handled("a"), thread("meanwhile")]);
    let before = play.state.memory.baseline.clone().unwrap();
    assert_eq!(change(&before, &during.baseline.at_head(TIP.into()), Arm::Rearm), Change::Changed);
}

/// WL-125: each productive cycle opens a new idle window; any other wait gets what is left of the old one.
#[test]
fn a_productive_cycle_opens_a_new_window() {
    let idle = 3_600_000;
    let mut play = Play::watch();
    play.now += 60_000;
    let mut play = play.fixes_all(seen(&[thread("a")]));
    assert_eq!(play.until(), NOW + 60_000 + idle);
    play.now += 60_000;
    let play = play.wakes(Change::Changed).sees(seen(&[handled("a")]));
    assert_eq!(play.until(), NOW + 60_000 + idle);
}

/// WL-126: an arm that ends without a word is armed again with the same baseline and the rest of the time.
#[test]
fn a_silent_arm_is_armed_again() {
    let play = Play::watch().sees(seen(&[thread("a")])).decides(Decision::Noise);
    let (until, baseline) = (play.until(), play.state.memory.baseline.clone());
    let play = play.wakes(Change::Nothing);
    assert_eq!((play.until(), &play.state.memory.baseline), (until, &baseline));
    assert!(matches!(play.wants[..], [Effect::Wait { nth: 2, arm: Arm::Rearm, .. }]));
}

/// WL-128, WL-130: before nobody watches any more there is one more look; what it finds is worked on, or is in the report.
#[test]
fn the_window_ends_with_a_look() {
    let elapsed = |later: Millis| {
        let mut play = Play::watch().sees(seen(&[]));
        play.now += later;
        play.told(Input::Woken(Wake::TimedOut))
    };
    assert_eq!(elapsed(3_600_000).sees(seen(&[])).report().reason, Reason::WatchWindowElapsed);
    assert!(matches!(elapsed(3_600_000).sees(seen(&[thread("late")])).wants[..], [Effect::Assess { .. }]));
    let over = elapsed(7_200_000).sees(seen(&[thread("late")]));
    assert_eq!((over.report().reason, over.report().items.len()), (Reason::WatchWindowElapsed, 1));
}

/// RL-15, RL-19: what is open is activity at once, and is worked on only when it has settled.
#[test]
fn respond_lets_it_settle_first() {
    let play = Play::new(LoopKind::Respond, |_| {}).sees(seen(&[thread("a")]));
    assert!(matches!(play.wants[..], [Effect::Wait { active: true, .. }]));
    assert!(matches!(play.wakes(Change::Changed).sees(seen(&[thread("a")])).wants[..], [Effect::Assess { .. }]));
    let at_once = Play::new(LoopKind::Respond, |loops| loops.wait.settle = Span::seconds(0)).sees(seen(&[thread("a")]));
    assert!(matches!(at_once.wants[..], [Effect::Assess { .. }]));
}

/// RL-36, CF-3: three rejections are answered by a new assessment, the fourth is the end.
#[test]
fn the_fourth_rejection_ends_it() {
    let mut play = Play::new(LoopKind::Watch, |loops| loops.checker = Some("checker".into())).sees(seen(&[thread("a")]));
    for attempt in 0..4 {
        assert_eq!(play.wants, [Effect::Assess { pass: 1, attempt }]);
        let why = "nothing was read".to_owned();
        play = play.decides(Decision::Address);
        play = play.told(Input::Checked { said: Ok(Checkup::Rejected { why }), spend: Spend::default() });
    }
    let play = play.sees(seen(&[thread("a")]));
    assert_eq!((play.report().reason, play.state.memory.rejections), (Reason::Blocked, 4));
}

/// RL-41, CF-6, WL-83: resolved together with its reply; never a person's thread, and never over a word that came meanwhile.
#[test]
fn a_reply_comes_with_what_it_may_resolve() {
    let theirs = item("thread:p", &person("alice"), Voice::Person, "src/p.rs", 1, "Mend this");
    let play = Play::new(LoopKind::Respond, |loops| loops.wait.settle = Span::seconds(0));
    let play = play.sees(seen(&[thread("a"), theirs])).decides(Decision::Address).fixes().lands();
    let Phase::Answering(pass) = &play.state.phase else { panic!("no answers") };
    let replies = play.state.replies(pass);
    assert_eq!(replies.iter().map(|reply| reply.resolve).collect::<Vec<_>>(), [true, false]);
    let mut stage = Stage::new().thread(&[(&codex(), "Mend this")]);
    let reply = Reply { item: at_word(&replies[0], "t1.1"), ..replies[0].clone() };
    assert!(!reply.is_overtaken(&stage.threads[0], |_| false));
    stage = stage.thread(&[(&codex(), "Mend this"), (&person("alice"), "Wait")]);
    let reply = Reply { item: at_word(&reply, "t2.1"), ..reply };
    assert!(reply.is_overtaken(&stage.threads[1], |_| false));
}

fn at_word(reply: &Reply, word: &str) -> Fixable {
    fixable(&Item { last_word: word.into(), ..reply.item.item().clone() })
}

/// CF-3, PR-114: the same finding is remediated three times at most, and whoever said the same is counted with it.
#[test]
fn the_same_finding_is_fixed_three_times_at_most() {
    let again = |word: u32| Item { last_word: format!("word {word}"), ..thread("a") };
    let mut play = Play::new(LoopKind::Watch, |loops| loops.cycles = 10);
    for word in 0..3 {
        if word > 0 {
            play = play.wakes(Change::Changed);
        }
        play = play.fixes_all(seen(&[again(word)]));
    }
    let play = play.wakes(Change::Changed).sees(seen(&[again(3)]));
    assert_eq!(play.report().reason, Reason::UserInputRequired);
    assert_eq!(play.state.memory.fixes.values().copied().max(), Some(3));
    let play = Play::watch().fixes_all(seen(&[thread("a"), twin(&thread("a"))]));
    assert_eq!(play.state.memory.fixes.values().copied().collect::<Vec<_>>(), [1, 1]);
}

/// What another reviewer says of the same place, in the same words.
fn twin(of: &Item) -> Item {
    let id = format!("{}-twin", of.id);
    Item { id: ItemId(id), author: rabbit(), voice: Voice::Known("coderabbit".into()), ..of.clone() }
}

/// PR-113: a remark of somebody without the right to write joins nothing and leads nothing, however heavy it is and whatever it repeats.
#[test]
fn who_may_not_write_ties_nothing_together() {
    let by = |id: &str, author: &Account, voice: Voice, body: &str| item(id, author, voice, "src/a.rs", 10, body);
    let leak = by("leak", &codex(), Voice::Known("codex".into()), "The file handle is never closed");
    let race = by("race", &rabbit(), Voice::Known("coderabbit".into()), "Two threads write the counter unguarded");
    let both = "🔴 Critical\nThe file handle is never closed, two threads write the counter unguarded";
    let tie = by("tie", &person("eve"), Voice::Person, both);
    let same_as = |right: Right| {
        let mut scene = seen(&[leak.clone(), race.clone(), tie.clone()]);
        scene.items[2].right = right;
        let play = Play::watch().sees(scene);
        let Phase::Assessing(pass) = &play.state.phase else { panic!("no pass") };
        pass.same_as.clone()
    };
    assert_eq!(same_as(granted()).len(), 2, "the remark ties them together");
    for permission in [Told::Is(Permission::Read), Told::Is(Permission::Triage), Told::Unknown("HTTP 403".into())] {
        assert_eq!(same_as(Right::by_permission(permission)), BTreeMap::new());
    }
}

/// CF-32: a single pass that leaves something open says so; one that leaves nothing is clean.
#[test]
fn a_single_pass_says_what_is_left() {
    let once = || Play::new(LoopKind::Watch, |loops| loops.once = true);
    let play = once().fixes_all(seen(&[thread("a")])).sees(seen(&[handled("a"), thread("new")]));
    assert_eq!((play.report().reason, play.report().items.len()), (Reason::PassComplete, 2));
    assert_eq!(once().fixes_all(seen(&[thread("a")])).sees(seen(&[handled("a")])).report().reason, Reason::Clean);
}

/// WL-87, WL-61: what can be fixed lands first, and then the refusal ends the loop.
#[test]
fn a_refusal_waits_for_what_can_be_fixed() {
    let play = Play::watch().sees(seen(&[thread("a"), thread("b")])).decides(Decision::Address);
    let made = FixOutcome::Made { commit: TIP.into(), summary: "Mend".into(), files: vec![], lines: 1, class: None };
    let refused = Refusal::Destructive { category: 3, path: "src/b.rs".into(), why: "a test goes".into() };
    let outcomes = [(thread("a").id, made), (thread("b").id, FixOutcome::Refused(refused))].into();
    let made = Ok(Made { outcomes, tip: Some(TIP.into()), rewrites: vec![] });
    let play = play.told(Input::Fixed { made, spend: Spend::default() }).lands().answers().sees(seen(&[thread("b")]));
    assert_eq!((play.report().reason, play.report().resolved, play.report().cycles), (Reason::Blocked, 1, 1));
}

/// Pages that overlap show an item twice; it is worked on once, and answered once.
#[test]
fn an_item_shown_twice_is_one() {
    let play = Play::watch().sees(seen(&[thread("a"), thread("a")]));
    let Phase::Assessing(pass) = &play.state.phase else { panic!("no pass") };
    assert_eq!(pass.items.len(), 1);
}

/// What was said after our answer is open in the report, whatever the answer was.
#[test]
fn a_later_word_is_not_reported_as_settled() {
    let play = Play::new(LoopKind::Watch, |loops| loops.cycles = 1).fixes_all(seen(&[thread("a")]));
    let later = Item { last_word: "later".into(), label: Label::FollowupAfterFix, ..thread("a") };
    let play = play.sees(seen(&[later]));
    assert!(matches!(play.report().items[0].end, End::Open { .. }));
}

/// Killed between any two steps: every state can be stored and read back.
#[test]
fn every_state_can_be_stored() {
    let play = Play::watch().sees(seen(&[thread("a")])).decides(Decision::Address).fixes().lands();
    let stored = serde_json::to_string(&play.state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&stored).unwrap(), play.state);
}
