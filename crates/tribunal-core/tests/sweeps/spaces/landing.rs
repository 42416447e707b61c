//! One approved pull request on its way into the base, over all that can happen to it.

use super::explore;
use super::round::{looks, reviews, troubles};
use std::collections::BTreeSet;
use tribunal_core::combine::verdict::{Outcome, Verdict};
use tribunal_core::gate::GateName;
use tribunal_core::ids::Sha;
use tribunal_core::merge::facts::Reviewed as LastReview;
use tribunal_core::merge::policy::{Confirm, Wanted, When};
use tribunal_core::procedure::sweep::effect::{Concluded, Merged, Seen, Updated};
use tribunal_core::procedure::sweep::landing::{Around, Landed, Landing, LandingNews, LandingStage, Step};
use tribunal_core::procedure::sweep::merging::Known;
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::pull::talk::ReviewEvent;
use tribunal_core::pull::told::Told;

fn head(at: u32) -> Sha {
    Sha(format!("{at:040x}"))
}

/// Looks as before, up to date or not, with the review of the ledger, under each policy.
fn all_looks(confirm: Confirm) -> Vec<Seen> {
    let mut all = Vec::new();
    // One thing out of order at a time: the conditions are judged by their own tests.
    let odd = |seen: &Seen| {
        let facts = &seen.facts;
        let green = matches!(&facts.checks, Told::Is(checks) if checks[0].state == CheckState::Success);
        [facts.state != PullState::Open, facts.draft, facts.is_fork, facts.conflict_markers != Told::Is(vec![]), !green]
    };
    for mut seen in looks().into_iter().filter(|seen| odd(seen).into_iter().filter(|odd| *odd).count() <= 1) {
        seen.policy.confirm = confirm;
        seen.policy.when = When::Approved;
        for (behind, reviewed_at) in [(false, seen.facts.head.clone()), (true, seen.facts.head.clone()), (false, head(9))] {
            let mut seen = seen.clone();
            seen.behind = behind;
            seen.facts.review = Told::Is(Some(LastReview {
                run: "r".into(),
                head: reviewed_at,
                base_branch: Some(seen.facts.base_branch.clone()),
                outcome: Outcome::Clean,
                verdict: Some(Verdict::Lgtm),
                agents: ["claude".into()].into(),
                rules: true,
                blocking: vec![],
            }));
            all.push(seen);
        }
    }
    all
}

fn news(confirm: Confirm) -> Vec<LandingNews> {
    let mut all: Vec<LandingNews> = all_looks(confirm).into_iter().map(|seen| LandingNews::Looked(Ok(Box::new(seen)))).collect();
    all.extend(reviews().into_iter().map(|review| LandingNews::Reviewed(Ok(Box::new(review)))));
    all.extend([1, 2].map(|at| LandingNews::Updated(Ok(Updated::Head(head(at))))));
    let concluded = Concluded { event: ReviewEvent::Approve, url: String::new() };
    all.extend([
        LandingNews::Updated(Ok(Updated::Conflict("a.rs".into()))),
        LandingNews::Updated(Ok(Updated::Refused("no".into()))),
        LandingNews::Concluded(Ok(concluded)),
        LandingNews::Answered(Ok("ann".into())),
        LandingNews::Answered(Err("hold".into())),
        LandingNews::Merged(Ok(Merged::Done)),
        LandingNews::Merged(Ok(Merged::Changed("moved".into()))),
        LandingNews::Merged(Ok(Merged::Refused("no".into()))),
        LandingNews::Held(Ok(())),
        LandingNews::NoMoney("none".into()),
    ]);
    for trouble in troubles() {
        all.extend([
            LandingNews::Looked(Err(trouble.clone())),
            LandingNews::Updated(Err(trouble.clone())),
            LandingNews::Reviewed(Err(trouble.clone())),
            LandingNews::Concluded(Err(trouble.clone())),
            LandingNews::Held(Err(trouble.clone())),
            LandingNews::Merged(Err(trouble)),
        ]);
    }
    all
}

/// CF-1, SL-79, SL-144, SL-169: whatever happens, a warrant is only made of a look at which everything holds, and a person is asked
/// where one has to be.
#[test]
fn one_landing_over_all_that_can_happen() {
    let mut merges = 0u64;
    for (confirm, after_feedback, unsettled) in [
        (Confirm::Auto, false, false),
        (Confirm::Auto, true, false),
        (Confirm::Always, false, true),
        (Confirm::Always, true, true),
        (Confirm::Auto, false, true),
    ] {
        let known = Known { wanted: Wanted::AsConfigured, consent: None, fixers: BTreeSet::new() };
        let news = news(confirm);
        let (first, _) = Landing::begin(1, head(1), "r".into(), unsettled);
        let mut next = |landing: &Landing| {
            let mut all = Vec::new();
            for news in &news {
                let known = Known { consent: landing.consent.clone(), ..known.clone() };
                let (after, step, _) = landing.clone().next(news.clone(), &Around { known: &known, after_feedback });
                if after == *landing {
                    continue;
                }
                judge(landing, news, &after, &step, (confirm, after_feedback));
                merges += u64::from(matches!(step, Step::Merge(_)));
                all.push((String::new(), after));
            }
            all
        };
        let known = explore(first, |landing| format!("{landing:?}"), &mut next, 100_000);
        assert!(known.values().any(|(landing, _)| matches!(landing.landed(), Some(Landed::Merged(_)))));
        // There is an end from everywhere: nothing waits for itself.
        assert!(known.values().all(|(landing, way)| landing.updates <= 2 && way.len() <= 16), "a landing that never ends");
    }
    assert!(merges > 0);
}

fn judge(before: &Landing, news: &LandingNews, after: &Landing, step: &Step, (confirm, after_feedback): (Confirm, bool)) {
    assert!(before.landed().is_none(), "{before:?} goes on to {after:?}");
    assert_eq!(after.landed().is_some(), *step == Step::Over, "{after:?} and {step:?}");
    match step {
        Step::Merge(warrant) => {
            let LandingNews::Looked(Ok(seen)) = news else { panic!("a merge without a look") };
            assert_eq!(before.stage, LandingStage::Looking);
            assert!(seen.facts.head == before.head && *warrant.clearance.head() == before.head && !seen.behind);
            assert!(seen.facts.state == PullState::Open && !seen.facts.draft);
            assert_eq!(*warrant.clearance.run(), before.review);
            let consented = before.consent.as_ref().is_some_and(|consent| consent.head == before.head && consent.by == "ann");
            assert!(consented || (confirm == Confirm::Auto && !after_feedback), "nobody was asked");
            assert_eq!(warrant.known.consent, before.consent);
            assert!(warrant.holds(seen).is_ok(), "a warrant that does not hold");
        }
        Step::Ask { gate, head } => {
            assert_eq!(*head, before.head);
            assert_eq!(*gate, if after_feedback { GateName::PostFeedbackMerge } else { GateName::MergeOrder });
            assert!(before.consent.is_none() && (after_feedback || confirm == Confirm::Always));
        }
        // Whoever spoke can delete it; so it goes on record before anything else.
        Step::Hold { head, holds } => {
            assert!(*head == before.head && !holds.is_empty() && holds.iter().all(|hold| hold.head == before.head));
        }
        Step::Look | Step::Update { .. } | Step::Round(_) | Step::Over => {}
    }
    if let Some(Landed::Merged(_)) = after.landed() {
        assert!(matches!(before.stage, LandingStage::Merging { .. }) && *news == LandingNews::Merged(Ok(Merged::Done)));
    }
}
