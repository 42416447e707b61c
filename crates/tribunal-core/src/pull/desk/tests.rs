//! Whatever is asked of a desk in whatever order: ids stay unique, and nothing goes that was not asked to go.

use super::act::{Act, Command, Refusal};
use super::review::{Spot, Written};
use super::*;
use crate::findings::anchor::Side;
use crate::pull::facts::AccountKind;
use crate::pull::talk::{ReviewEvent, ReviewState};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn account(name: &str) -> Account {
    Account { id: format!("{name}@example.com"), login: name.into(), kind: AccountKind::Person }
}

fn desk() -> Desk {
    let branch = |name: &str, sha: &str| Branch { name: name.into(), sha: sha.into() };
    let pull = PullDesk::new(branch("feature", "aaaa"), branch("main", "bbbb"), false);
    Desk::open("Add a thing", "", &account("ada"), Subject::Pull(Box::new(pull)), 1).unwrap()
}

fn spot(line: u32) -> Spot {
    let (path, commit) = ("app.py".to_owned(), Sha::from("aaaa"));
    Spot { old_path: path.clone(), path, side: Side::New, line, start_line: None, commit, code: vec!["x".into()] }
}

fn written(body: &str, lines: &[u32]) -> Written {
    let comments = lines.iter().map(|line| (spot(*line), format!("about line {line}"))).collect();
    Written { commit: "aaaa".into(), body: body.into(), comments }
}

fn done(desk: &Desk, by: &str, act: Act) -> Done {
    apply(desk, Command { by: account(by), act }, desk.updated_at + 1).unwrap()
}

fn refused(desk: &Desk, by: &str, act: Act) -> Refusal {
    apply(desk, Command { by: account(by), act }, 9).unwrap_err()
}

#[test]
fn a_review_is_seen_by_others_once_it_is_submitted() {
    let begun = done(&desk(), "bob", Act::Begin(written("", &[3])));
    let review = begun.made.unwrap();
    let pull = begun.desk.pull().unwrap();
    assert_eq!((pull.reviews_for(&account("ada")).count(), pull.reviews_for(&account("bob")).count()), (0, 1));
    assert_eq!(pull.threads_said().count(), 0);
    assert_eq!(refused(&begun.desk, "ada", Act::DropReview { review }), Refusal::Unknown { what: "review", id: review });
    let thread = pull.threads[0].id;
    assert_eq!(refused(&begun.desk, "ada", Act::Resolve { thread }), Refusal::Unknown { what: "thread", id: thread });
    let submitted = done(&begun.desk, "bob", Act::Submit { review, event: ReviewEvent::RequestChanges }).desk;
    assert_eq!(submitted.pull().unwrap().reviews[0].state, ReviewState::ChangesRequested);
    assert_eq!(submitted.pull().unwrap().threads_said().count(), 1);
    assert_eq!(refused(&submitted, "bob", Act::Submit { review, event: ReviewEvent::Approve }), Refusal::Submitted);
}

#[test]
fn what_is_not_allowed_is_refused_with_its_reason() {
    let desk = desk();
    let merged = desk.seen(&Live { landed: Some("aaaa".into()), ..Live::default() }, 5);
    let closed = done(&desk, "ada", Act::Close).desk;
    let commented = done(&desk, "ada", Act::Comment { body: "hello".into() }).desk;
    let review = |event| Act::Review { written: written("", &[]), event };
    let issue = Desk::open("It is slow", "", &account("ada"), Subject::Issue { open: true }, 1).unwrap();
    for (desk, by, act, refusal) in [
        (&desk, "bob", Act::Comment { body: " \n".into() }, Refusal::Empty),
        (&desk, "bob", review(ReviewEvent::Comment), Refusal::EmptyReview),
        (&desk, "bob", Act::Label { label: "a\nb".into() }, Refusal::NotOneLine),
        (&commented, "bob", Act::Delete { id: 1 }, Refusal::NotYours { what: "comment", whose: "ada".into() }),
        (&commented, "ada", Act::Edit { id: 7, body: "x".into() }, Refusal::Unknown { what: "comment", id: 7 }),
        (&closed, "bob", review(ReviewEvent::Approve), Refusal::NotOpen(PullState::Closed)),
        (&merged, "ada", Act::Reopen, Refusal::NotOpen(PullState::Merged)),
        (&issue, "ada", Act::Draft(true), Refusal::NotAPull),
    ] {
        assert_eq!(refused(desk, by, act), refusal);
    }
}

/// The branch says whether a merge happened, also when whoever began it never came back.
#[test]
fn a_merge_that_was_begun_is_known_by_the_base_branch() {
    let landing = |commit: &str, head: &str| Landing {
        commit: commit.into(),
        head: head.into(),
        base_before: "bbbb".into(),
        method: Some(MergeMethod::Squash),
        by: Some(account("ada")),
        at: 3,
    };
    let moved = refused(&desk(), "ada", Act::BeginLanding(landing("cccc", "old")));
    assert_eq!(moved, Refusal::HeadMoved { expected: "old".into(), found: "aaaa".into() });
    let begun = done(&desk(), "ada", Act::BeginLanding(landing("cccc", "aaaa"))).desk;
    let begun = done(&begun, "bob", Act::BeginLanding(landing("dddd", "aaaa"))).desk;
    assert_eq!(begun.pull().unwrap().candidates(), ["dddd", "cccc", "aaaa"].map(Sha::from));
    assert_eq!(begun.pull().unwrap().state(), PullState::Open);
    let seen = begun.seen(&Live { landed: Some("cccc".into()), base: Some("eeee".into()), ..Live::default() }, 8);
    assert_eq!(seen.pull().unwrap().landed, Some(landing("cccc", "aaaa")));
    assert_eq!((seen.claim(), begun.claim().is_some()), (None, true));
}

#[test]
fn a_later_model_is_refused_and_not_guessed_at() {
    let text = desk().to_text().unwrap().replacen("\"model\":1", "\"model\":9", 1);
    assert_eq!(Desk::from_text(&text), Err(stored::Unreadable::TooNew(9)));
    assert!(matches!(Desk::from_text("{"), Err(stored::Unreadable::Damaged(_))));
}

/// What the desk of the first release looks like on disk: it is read for ever.
const FIRST_MODEL: &str = r#"{"model":1,"desk":{"title":"Add a thing","body":"","author":{"id":"ada@example.com","login":"ada","kind":"person"},
"opened_at":1,"updated_at":2,"labels":[],"comments":[],"reactions":[],"last_id":3,"subject":{"kind":"pull","draft":false,
"head":{"name":"feature","sha":"aaaa"},"base":{"name":"main","sha":"bbbb"},"open":true,"begun":[],"landed":null,
"reviews":[{"id":1,"by":{"id":"bob@example.com","login":"bob","kind":"person"},"state":"approved","body":"Fine","commit":"aaaa","at":2}],
"threads":[{"id":3,"review":1,"place":{"path":"app.py","old_path":"app.py","side":"new","line":2,"start_line":null,"commit":"aaaa",
"code":["x"]},"resolved":null,"said":[{"id":2,"by":{"id":"bob@example.com","login":"bob","kind":"person"},"at":2,"body":"about line 2"}]}],
"asked":[]}}}"#;

#[test]
fn the_first_model_is_read() {
    let desk = done(&desk(), "bob", Act::Review { written: written("Fine", &[2]), event: ReviewEvent::Approve }).desk;
    assert_eq!(Desk::from_text(FIRST_MODEL), Ok(desk));
}

fn acts() -> impl Strategy<Value = (bool, Act)> {
    let id = 1_u64..12;
    let event = prop_oneof![Just(ReviewEvent::Comment), Just(ReviewEvent::Approve), Just(ReviewEvent::RequestChanges)];
    let body = "[a-z]{0,3}";
    let lines = prop::collection::vec(1_u32..9, 0..3);
    let act = prop_oneof![
        body.prop_map(|body| Act::Comment { body }),
        (id.clone(), body).prop_map(|(id, body)| Act::Edit { id, body }),
        id.clone().prop_map(|id| Act::Delete { id }),
        (body, lines.clone()).prop_map(|(body, lines)| Act::Begin(written(&body, &lines))),
        (id.clone(), event.clone()).prop_map(|(review, event)| Act::Submit { review, event }),
        (body, lines, event).prop_map(|(body, lines, event)| Act::Review { written: written(&body, &lines), event }),
        id.clone().prop_map(|review| Act::DropReview { review }),
        (id.clone(), body).prop_map(|(thread, body)| Act::Reply { thread, body }),
        id.clone().prop_map(|thread| Act::Resolve { thread }),
        id.clone().prop_map(|thread| Act::Unresolve { thread }),
        body.prop_map(|label| Act::Label { label }),
        body.prop_map(|label| Act::Unlabel { label }),
        prop::option::of(id).prop_map(|on| Act::React { on, emoji: Emoji::Eyes }),
        Just(Act::Close),
        Just(Act::Reopen),
    ];
    (any::<bool>(), act)
}

/// Everything on a desk that has an id, and what it says.
fn named(desk: &Desk) -> Vec<(u64, String)> {
    let pull = desk.pull().unwrap();
    let texts = desk.comments.iter().chain(pull.threads.iter().flat_map(|thread| &thread.said));
    let mut all: Vec<(u64, String)> = texts.map(|said| (said.id, format!("{} {}", said.by.login, said.body))).collect();
    all.extend(pull.threads.iter().map(|thread| (thread.id, format!("{:?}", thread.place))));
    all.extend(pull.reviews.iter().map(|review| (review.id, format!("{} {}", review.by.login, review.body))));
    all
}

/// The ids that a command may take away, and the one whose words it may change.
fn may_go(desk: &Desk, act: &Act) -> (Vec<u64>, Option<u64>) {
    let pull = desk.pull().unwrap();
    match act {
        Act::Delete { id } => {
            let emptied = pull.threads.iter().filter(|thread| thread.said.iter().all(|said| said.id == *id));
            (emptied.map(|thread| thread.id).chain([*id]).collect(), None)
        }
        Act::DropReview { review } => {
            let with = pull.threads.iter().filter(|thread| thread.review == *review);
            let inside = with.flat_map(|thread| thread.said.iter().map(|said| said.id).chain([thread.id]));
            (inside.chain([*review]).collect(), None)
        }
        Act::Edit { id, .. } => (Vec::new(), Some(*id)),
        _ => (Vec::new(), None),
    }
}

proptest! {
    #[test]
    fn no_command_loses_anything(story in prop::collection::vec(acts(), 1..40)) {
        let mut desk = desk();
        for (is_ada, act) in story {
            let before: BTreeMap<u64, String> = named(&desk).into_iter().collect();
            let (gone, changed) = may_go(&desk, &act);
            let by = account(if is_ada { "ada" } else { "bob" });
            let Ok(next) = apply(&desk, Command { by, act }, desk.updated_at + 1) else { continue };
            let all = named(&next.desk);
            let after: BTreeMap<u64, String> = all.iter().cloned().collect();
            prop_assert_eq!(all.len(), after.len(), "an id was given twice");
            prop_assert!(after.keys().all(|id| *id <= next.desk.last_id));
            // A number is never given out again, not even after what had it is gone.
            prop_assert!(after.keys().all(|id| before.contains_key(id) || *id > desk.last_id));
            for (id, words) in before.iter().filter(|(id, _)| !gone.contains(id) && Some(**id) != changed) {
                prop_assert_eq!(after.get(id), Some(words));
            }
            let text = next.desk.to_text().unwrap();
            prop_assert_eq!(&Desk::from_text(&text).unwrap(), &next.desk);
            desk = next.desk;
        }
    }
}
