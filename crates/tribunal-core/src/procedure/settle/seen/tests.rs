use super::*;
use crate::combine::verdict::Verdict::{Lgtm, Minor};
use crate::policy::identity::BotAccount;
use crate::procedure::settle::samples::{account, pull};
use crate::publish::marker::{Mark, seal};
use crate::pull::facts::{AccountKind, Permission};
use crate::pull::told::Told;

const CASE: &str = "pull:h/acme/shop#9";

fn key() -> MarkerKey {
    MarkerKey::from_secret("secret")
}

fn review(by: &str, state: ReviewState, body: &str) -> Review {
    Review {
        id: "r".into(),
        author: account(by),
        state,
        body: body.into(),
        commit: Some("h1".into()),
        submitted_at: String::new(),
        url: String::new(),
    }
}

fn verdict(assessment: Assessment, verdict: Verdict) -> String {
    let mark = Mark::Verdict {
        sitting: Sitting::Settle { assessment },
        run: "r".into(),
        verdict,
        head: "h1".into(),
        base_branch: Some("main".into()),
    };
    format!("VERDICT: {}\n{}", verdict.word(), seal(&mark, CASE, &key()))
}

fn seen(reviews: &[Review]) -> PullSeen {
    seen_with(reviews, &Permissions::default())
}

fn seen_with(reviews: &[Review], permissions: &Permissions) -> PullSeen {
    let (me, key, bots) = (account("tribunal"), key(), Bots::from([("lint-runner".to_owned(), BotAccount::named("lint"))]));
    let dated =
        |(review, second): (&Review, u32)| Review { submitted_at: format!("2026-01-01T00:00:{second:02}Z"), ..review.clone() };
    let reviews: Vec<Review> = reviews.iter().zip(0..).map(dated).collect();
    PullSeen::of(
        &pull(9, "h2"),
        &Chronological::of(&reviews),
        &Eyes { me: &me, case_id: CASE, key: &key, bots: &bots, permissions },
    )
}

/// Issue 16, A1: the approval or the request of somebody who may not write takes no task out of the loop.
#[test]
fn a_strangers_review_is_no_persons_word() {
    let mut permissions = Permissions::default();
    permissions.put(&account("eve"), Told::Is(Permission::Read));
    permissions.put(&account("ann"), Told::Is(Permission::Write));
    for state in [Approved, ChangesRequested] {
        let stranger = seen_with(&[review("eve", state, "")], &permissions);
        assert!(stranger.people.is_empty() && stranger.reviewers.is_empty() && stranger.talked_over().is_none());
        let both = seen_with(&[review("eve", state, ""), review("ann", state, "")], &permissions);
        assert_eq!(both.people.keys().collect::<Vec<_>>(), ["ann"]);
    }
}

use ReviewState::{Approved, ChangesRequested, Commented, Dismissed, Pending};

/// TS-101, CF-10: with the account of a person the loop still knows its own reviews, by their seal, and is not stopped by them.
#[test]
fn our_own_verdict_is_no_persons_word() {
    let seen = seen(&[review("tribunal", ChangesRequested, &verdict(Assessment::First, Minor))]);
    assert_eq!((seen.people.len(), seen.unmarked.len(), seen.talked_over()), (0, 0, None));
    let given: Vec<_> = seen.verdicts.iter().map(|given| (given.assessment, given.verdict, given.head.as_str())).collect();
    assert_eq!(given, [(Assessment::First, Some(Minor), "h1")]);
}

/// TS-99, TS-101: a review that begins with a verdict, under our account and without our mark, is an assessment of another tool, of the
/// commit that it was made at; under any other account it is somebody's word.
#[test]
fn a_spoken_verdict_counts_only_under_our_account() {
    let spoken = "VERDICT: MINOR\n---\n- a";
    let ours = seen(&[review("tribunal", ChangesRequested, spoken)]);
    assert_eq!(ours.unmarked, [Unmarked { verdict: Minor, head: Some("h1".into()) }]);
    assert_eq!((ours.people.len(), ours.verdicts.len()), (0, 0));
    let theirs = seen(&[review("eve", ChangesRequested, spoken)]);
    assert_eq!((theirs.unmarked.len(), theirs.people), (0, BTreeMap::from([("eve".to_owned(), Word::ChangesRequested)])));
}

/// TS-100: what a person said last stands, a dismissal takes it back, a comment does not; and whoever has spoken is not talked over.
#[test]
fn a_persons_word_stands() {
    let word = |states: &[ReviewState]| {
        let reviews: Vec<Review> = states.iter().map(|state| review("eve", *state, "hm")).collect();
        seen(&reviews).people.get("eve").copied()
    };
    assert_eq!(word(&[Approved]), Some(Word::Approved));
    assert_eq!(word(&[Approved, ChangesRequested, Commented]), Some(Word::ChangesRequested));
    assert_eq!(word(&[ChangesRequested, Dismissed]), None);
    assert_eq!(word(&[Commented]), None);
    assert_eq!(word(&[Pending]), None, "what waits in a draft was said to nobody");
    let reason = "eve has reviewed it meanwhile".to_owned();
    assert_eq!(seen(&[review("eve", Approved, "")]).talked_over(), Some(Hindrance::InTheWay { reason }));
    assert_eq!(seen(&[review("eve", Commented, "hm")]).talked_over(), None);
}

/// CF-10, CF-33, TS-100: our account without a mark or a verdict is a person who uses it; a machine's word is nobody's.
#[test]
fn who_is_a_person() {
    let people = |by: &str| seen(&[review(by, ChangesRequested, "Not like this.")]).people.len();
    assert_eq!((people("tribunal"), people("eve"), people("lint-runner")), (1, 1, 0));
    let mut bot = review("ci", ChangesRequested, "");
    bot.author.kind = AccountKind::Bot;
    assert_eq!(seen(&[bot]).people.len(), 0);
}

/// TS-86: of two verdicts at one sitting the first counts; TS-99: the order of reviews is not the order of assessments.
#[test]
fn each_sitting_has_one_verdict() {
    let twice = [
        review("tribunal", Commented, &verdict(Assessment::Second, Minor)),
        review("tribunal", Commented, &verdict(Assessment::First, Minor)),
        review("tribunal", Approved, &verdict(Assessment::First, Lgtm)),
    ];
    let given: Vec<_> = seen(&twice).verdicts.into_iter().map(|given| (given.assessment, given.verdict)).collect();
    assert_eq!(given, [(Assessment::First, Some(Minor)), (Assessment::Second, Some(Minor))]);
}

/// CF-26: who has reviewed it may be asked to decide about it; its author is not.
#[test]
fn reviewers_are_people_other_than_the_author() {
    let said = [
        review("dev", Commented, "done"),
        review("eve", Commented, "hm"),
        review("bob", Approved, ""),
        review("eve", Approved, ""),
    ];
    assert_eq!(seen(&said).reviewers, ["eve", "bob"]);
}
