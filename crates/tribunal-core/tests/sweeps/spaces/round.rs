//! What happens next for one pull request in a tick, over all its facts.

use super::explore;
use crate::forge::{Forge, Pr};
use std::collections::BTreeSet;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::ids::{AgentName, Sha};
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::procedure::sweep::Trouble;
use tribunal_core::procedure::sweep::effect::{Concluded, Remaining, Responded, Reviewed, Seen, Stage};
use tribunal_core::procedure::sweep::round::{Ending, Learnt, News, Round, Turn, Wish};
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::pull::talk::ReviewEvent;
use tribunal_core::pull::told::Told;

const FIXER: &str = "codex";

fn head(at: u32) -> Sha {
    Sha(format!("{at:040x}"))
}

pub fn troubles() -> Vec<Trouble> {
    let words = || "words".to_owned();
    vec![
        Trouble::Forge(words()),
        Trouble::Incomplete(words()),
        Trouble::OverBudget(words()),
        Trouble::Unavailable(words()),
        Trouble::Withheld(words()),
        Trouble::HeadMoved,
        Trouble::NotPushed(words()),
        Trouble::Index(words()),
        Trouble::Setup(words()),
        Trouble::Displaced(words()),
    ]
}

/// Every look at a pull request: its head, state, kind, markers and checks in all combinations.
pub fn looks() -> Vec<Seen> {
    let mut all = Vec::new();
    let forge = Forge::new(MergePolicy::default());
    for at in [1, 2, 3] {
        for state in [PullState::Open, PullState::Closed, PullState::Merged] {
            for (draft, is_fork, markers) in (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
                for checks in
                    [CheckState::Success, CheckState::Pending, CheckState::Failure, CheckState::Error, CheckState::Skipped]
                {
                    let pull = Pr { state, draft, is_fork, markers, checks, ..Pr::new(1, head(at)) };
                    all.push(forge.seen(&pull));
                }
                all.push(forge.seen(&Pr { state, draft, is_fork, markers, is_strangers: true, ..Pr::new(1, head(at)) }));
                let mut unread = forge.seen(&Pr { state, draft, is_fork, markers, ..Pr::new(1, head(at)) });
                unread.facts.checks = Told::Unknown("HTTP 502".into());
                all.push(unread);
            }
        }
    }
    all
}

fn remaining() -> Remaining {
    Remaining { name: "F1".into(), priority: None, place: "a.rs:1".into(), words: "a bug".into() }
}

pub fn reviews() -> Vec<Reviewed> {
    let mut all = Vec::new();
    for at in [1, 2, 3] {
        for verdict in [Verdict::Lgtm, Verdict::Minor, Verdict::Major, Verdict::Blocked] {
            for blocking in [vec![], vec![remaining()]] {
                for agent in ["claude", "rules", FIXER] {
                    let (blocking, agents) = (blocking.clone(), BTreeSet::from([AgentName::from(agent)]));
                    all.push(Reviewed {
                        head: head(at),
                        base_branch: Some("main".into()),
                        run: "r".into(),
                        verdict,
                        blocking,
                        agents,
                    });
                }
            }
        }
    }
    all
}

fn responses() -> Vec<Responded> {
    let mut all = Vec::new();
    for pushed in [None, Some(head(2))] {
        for left in [vec![], vec![remaining()]] {
            all.push(Responded { head: pushed.clone(), left, agents: [FIXER.into()].into(), ..Responded::default() });
        }
    }
    all
}

/// Everything that anybody could ever tell a round.
fn news() -> Vec<News> {
    let mut all: Vec<News> = looks().into_iter().map(|seen| News::Looked(Ok(Box::new(seen)))).collect();
    all.extend(reviews().into_iter().map(|review| News::Reviewed(Ok(Box::new(review)))));
    all.extend(responses().into_iter().map(|response| News::Responded(Ok(Box::new(response)))));
    let concluded = Concluded { event: ReviewEvent::Approve, url: String::new() };
    all.extend([News::Rejected(Ok(())), News::Remained(Ok(())), News::Concluded(Ok(concluded)), News::NoMoney("none".into())]);
    for trouble in troubles() {
        all.extend([
            News::Looked(Err(trouble.clone())),
            News::Rejected(Err(trouble.clone())),
            News::Reviewed(Err(trouble.clone())),
            News::Concluded(Err(trouble.clone())),
            News::Responded(Err(trouble.clone())),
            News::Remained(Err(trouble)),
        ]);
    }
    all
}

/// How far it is: no step leads back.
fn rank(round: &Round) -> u32 {
    match round {
        Round::Waiting => 0,
        Round::Looking => 1,
        Round::Rejecting { .. } | Round::Reviewing { .. } => 2,
        Round::Saying { .. } => 3,
        Round::Responding { .. } => 4,
        Round::Rechecking { .. } => 5,
        Round::Verifying { .. } => 6,
        Round::Approving { .. } | Round::Telling { .. } => 7,
        Round::Over(_) => 8,
    }
}

/// What the round knows besides where it is: who has fixed.
#[derive(Debug, Clone, PartialEq)]
struct Known {
    round: Round,
    fixed: bool,
}

fn fixers(fixed: bool) -> BTreeSet<AgentName> {
    if fixed { BTreeSet::from([FIXER.into()]) } else { BTreeSet::new() }
}

/// Issue 7, SL-1, SL-35 to SL-37, SL-51, SL-54, SL-65 to SL-67, SL-170, SL-171.
#[test]
fn one_pull_request_in_one_tick_over_all_its_facts() {
    let news = news();
    let mut edges = 0u64;
    for fixed in [false, true] {
        let begun = Round::Waiting.begin();
        assert_eq!(begun.wish, Some(Wish::Look));
        let first = Known { round: begun.round, fixed };
        let next = |known: &Known| {
            let mut all = Vec::new();
            for news in &news {
                edges += 1;
                let turn = known.round.clone().next(news.clone(), &fixers(known.fixed));
                judge(known, news, &turn);
                let fixed = known.fixed || matches!(&turn.learnt, Some(Learnt::Responded(response)) if response.head.is_some());
                all.push((String::new(), Known { round: turn.round, fixed }));
            }
            all
        };
        let known = explore(first, |known| format!("{known:?}"), next, 100_000);
        // Every place is reached, and every ending that a round can have.
        let places: BTreeSet<u32> = known.values().map(|(known, _)| rank(&known.round)).collect();
        assert_eq!(places, (1..=8).collect());
        let endings: BTreeSet<String> = known.values().filter_map(|(known, _)| known.round.ending()).map(ending_name).collect();
        for ending in [
            "Approved",
            "Rejected",
            "ChecksFailing",
            "ChecksPending",
            "Draft",
            "Over",
            "NeedsPerson",
            "HeadMoved",
            "Failed",
            "OutOfMoney",
        ] {
            assert!(endings.contains(ending), "{ending} is never reached");
        }
    }
    println!("{edges} steps");
}

fn ending_name(ending: &Ending) -> String {
    format!("{ending:?}").split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

fn judge(known: &Known, news: &News, turn: &Turn) {
    let (before, after) = (&known.round, &turn.round);
    if before == after {
        assert_eq!((&turn.wish, &turn.learnt), (&None, &None), "{before:?} wishes twice for {news:?}");
        return;
    }
    assert!(rank(after) > rank(before), "{before:?} goes back to {after:?}");
    assert_eq!(turn.wish.is_none(), after.ending().is_some(), "{after:?} and {:?}", turn.wish);
    match &turn.wish {
        Some(Wish::Review { head, stage }) => {
            let News::Looked(Ok(seen)) = news else { panic!("a review without a look") };
            assert_eq!(*head, seen.facts.head);
            assert!(
                matches!(&seen.facts.checks, Told::Is(checks) if checks.iter().all(|check| matches!(check.state, CheckState::Success | CheckState::Skipped)))
            );
            assert!(seen.facts.state == PullState::Open && !seen.facts.draft && seen.facts.conflict_markers == Told::Is(vec![]));
            assert_eq!(*stage, if matches!(before, Round::Looking) { Stage::First } else { Stage::Second });
        }
        Some(Wish::Reject { markers, .. }) => assert!(!markers.is_empty()),
        Some(Wish::Conclude { verdict, head, .. }) => {
            let News::Reviewed(Ok(review)) = news else { panic!("a word without a review") };
            let (Round::Reviewing { head: given, .. } | Round::Verifying { head: given, .. }) = before else {
                panic!("a word out of nothing")
            };
            assert!(*head == review.head && *head == *given, "a word about another change");
            assert!(*verdict != Verdict::Lgtm || (review.verdict == Verdict::Lgtm && review.blocking.is_empty()));
            assert!(!known.fixed || !review.agents.contains(&AgentName::from(FIXER)), "the fixer has a word");
        }
        Some(Wish::Respond { without, .. }) => {
            let Round::Saying { review, not_pushable } = before else { panic!("a response to nothing") };
            assert!(
                not_pushable.is_none()
                    && (review.verdict != Verdict::Lgtm || !review.blocking.is_empty())
                    && review.verdict != Verdict::Blocked
            );
            assert!(review.agents.iter().filter(|agent| agent.as_str() != "rules").all(|agent| without.contains(agent)));
        }
        Some(Wish::Look | Wish::Remains { .. }) | None => {}
    }
    if let Round::Over(Ending::Approved { head, .. }) = after {
        let (Round::Saying { review, .. } | Round::Approving { review }) = before else { panic!("an approval out of nothing") };
        assert!(review.verdict == Verdict::Lgtm && review.blocking.is_empty() && review.head == *head);
        assert!(matches!(news, News::Concluded(Ok(_))), "an approval that was not said");
        assert!(matches!(&turn.learnt, Some(Learnt::Completed { approved: true, .. })));
    }
    if let Some(Learnt::Completed { approved: true, .. }) = &turn.learnt {
        assert!(matches!(after, Round::Over(Ending::Approved { .. })));
    }
}
