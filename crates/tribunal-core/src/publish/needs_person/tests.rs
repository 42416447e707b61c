//! A red status that says that a person is needed, and what does not turn it green.

use super::*;
use crate::combine::verdict::Outcome;
use crate::ids::RunId;
use crate::publish::marker::seal;
use crate::publish::paper::{CASE, Paper, account, key, thread};
use crate::publish::status::status;
use crate::publish::tests::first;
use crate::report::document::Document;

const HEAD: &str = "2222222222222222";

fn clean() -> Document {
    let mut document = first();
    document.findings.clear();
    document.outcome = Outcome::Clean;
    document.receipt.base_branch = Some("main".into());
    assert_eq!(status(&document).state, CheckState::Success);
    document
}

fn leave_to_person(paper: &mut Paper, head: &str, at: &str) {
    let mark = Mark::Remains { run: RunId::from("r-sweep"), head: head.into(), items: 2 };
    let me = account("bot");
    let body = format!("## What remains for a person\n\n{}", seal(&mark, CASE, &key()));
    let id = format!("c{}", paper.observed.comments.len() + 50);
    let at = at.to_owned();
    paper.observed.comments.push(Comment {
        id,
        author: me,
        body,
        created_at: at.clone(),
        updated_at: at,
        url: String::new(),
        edited: false,
    });
}

fn approve(paper: &mut Paper, author: &str, head: &str, at: &str) {
    let sitting = Sitting::Sweep { run: RunId::from("r-later"), ticket: 1 };
    let mark = Mark::Verdict {
        sitting,
        run: RunId::from("r-review"),
        verdict: Verdict::Lgtm,
        head: head.into(),
        base_branch: Some("main".into()),
    };
    paper.observed.reviews.push(Review {
        id: format!("r{}", paper.observed.reviews.len() + 90),
        author: account(author),
        state: ReviewState::Approved,
        body: format!("VERDICT: LGTM\n\n{}", seal(&mark, CASE, &key())),
        commit: Some(head.into()),
        submitted_at: at.into(),
        url: String::new(),
    });
}

fn own_status(paper: &Paper) -> (CheckState, String) {
    let check = paper.observed.checks.iter().rev().find(|check| check.name == CONTEXT).unwrap();
    (check.state, check.description.clone())
}

const EARLIER: &str = "2026-01-01T00:00:00Z";
const TOLD: &str = "2026-01-02T00:00:00Z";
const LATER: &str = "2026-01-03T00:00:00Z";

/// SL-67: a review of the same head that passes, by a receipt or again, does not take it back; not when the status was changed in between,
/// and not when our comment was deleted or edited.
#[test]
fn a_passing_review_of_the_same_head_leaves_it_red() {
    let mut paper = Paper::new(HEAD);
    leave_to_person(&mut paper, HEAD, TOLD);
    paper.run(&clean(), usize::MAX);
    assert_eq!(own_status(&paper), (CheckState::Failure, "Needs a person: 2 items remain".into()));
    paper.run(&clean(), usize::MAX);
    assert_eq!(own_status(&paper).0, CheckState::Failure);

    let remains = paper.observed.comments.iter().position(|comment| comment.body.contains("remains for a person")).unwrap();
    let mut deleted = paper.clone();
    deleted.observed.comments.remove(remains);
    deleted.run(&clean(), usize::MAX);
    assert_eq!(own_status(&deleted), (CheckState::Failure, "Needs a person: 2 items remain".into()));

    paper.observed.comments[remains].body.insert_str(0, "edited ");
    paper.observed.checks.clear();
    paper.run(&clean(), usize::MAX);
    assert_eq!(own_status(&paper).0, CheckState::Failure);
}

/// Another head, and somebody else's comment, keep nothing red.
#[test]
fn it_is_about_one_head_and_in_our_name() {
    let mut paper = Paper::new(HEAD);
    leave_to_person(&mut paper, "3333333333333333", TOLD);
    leave_to_person(&mut paper, HEAD, TOLD);
    paper.observed.comments[1].author = account("stranger");
    paper.run(&clean(), usize::MAX);
    assert_eq!(own_status(&paper).0, CheckState::Success);
}

/// A later sweep that approves the head lifts it, once no thread of somebody else is open.
#[test]
fn a_later_verdict_lifts_it() {
    let signer_key = key();
    let me = account("bot");
    let signer = Signer { me: &me, case_id: CASE, key: &signer_key };
    let red = |paper: &Paper| {
        let observed = &paper.observed;
        let shown = Shown {
            comments: &observed.comments,
            reviews: &observed.reviews,
            threads: &observed.threads,
            checks: &observed.checks,
        };
        kept_red(&clean(), &shown, &signer).is_some()
    };
    let mut paper = Paper::new(HEAD);
    assert!(!red(&paper));
    leave_to_person(&mut paper, HEAD, TOLD);
    assert!(red(&paper));
    approve(&mut paper, "bot", HEAD, EARLIER);
    approve(&mut paper, "bot", "3333333333333333", LATER);
    approve(&mut paper, "somebody", HEAD, LATER);
    approve(&mut paper, "bot", HEAD, "soon");
    assert!(red(&paper), "none of these is ours, later, and about this head");
    approve(&mut paper, "bot", HEAD, LATER);
    assert!(!red(&paper));
    paper.observed.threads.push(thread("t1", "carol", "And this?", None));
    assert!(red(&paper), "a person waits");
    paper.observed.threads[0].resolved = true;
    assert!(!red(&paper));
    paper.observed.reviews.last_mut().unwrap().state = ReviewState::Dismissed;
    assert!(red(&paper));
}
