//! What is posted, on a pull request on paper.

use super::*;
use crate::combine::dismissal::Dismissed;
use crate::combine::prior::{PriorVerification, VerifiedBy};
use crate::findings::report::Verification;
use crate::publish::attempt::{Ending, Turn};
use crate::publish::marker::{Disposition, Says};
use crate::publish::paper::{CASE, Paper, account, key, thread};
use crate::publish::tests::{first, second};
use crate::pull::facts::CheckState;
use crate::pull::talk::ReviewState;
use proptest::prelude::*;

const HEAD: &str = "2222222222222222";

/// Issue 5: a constant number of writes, and none for what stands already.
#[test]
fn a_first_review_is_four_writes_and_a_second_look_none() {
    let mut paper = Paper::new(HEAD);
    let document = first();
    assert_eq!(paper.run(&document, usize::MAX), 4, "claim, review, status, summary");
    assert_eq!(paper.observed.threads.len(), document.findings.iter().filter(|finding| finding.inline).count());
    assert_eq!(paper.observed.checks[0].state, CheckState::Failure);
    assert_eq!(paper.first_turn(&document), Turn::End(Ending::Published));
    let sticky = &paper.observed.comments[0].body;
    assert!(sticky.contains("**[F1](https://h/t3)**"), "{sticky}");
}

/// forges.md: Gitea makes one conversation of all that is said on a line. Findings that share it, even with a person, are each said
/// once, and it is closed with the last of them.
#[test]
fn findings_that_share_a_conversation_are_each_said_once() {
    for begun_by in [None, Some("carol")] {
        let mut paper = Paper { joins: true, ..Paper::new(HEAD) };
        if let Some(author) = begun_by {
            paper.observed.threads.push(thread("t0", author, "What is this?", None));
        }
        let mut document = first();
        let one = document.findings.iter().find(|finding| finding.inline).unwrap().clone();
        let other = Finding { key: "another".into(), id: FindingId(9), slug: "another".into(), ..one.clone() };
        document.findings.push(other);
        paper.run(&document, usize::MAX);
        let said = if begun_by.is_some() { 3 } else { 2 };
        assert_eq!((paper.observed.threads.len(), paper.observed.threads[0].comments.len()), (1, said));
        assert_eq!(paper.first_turn(&document), Turn::End(Ending::Published));

        let fixed = |document: &mut Document, id: FindingId| {
            document.findings.retain(|finding| finding.id != id);
            document.prior_verifications.push(PriorVerification {
                prior_id: id,
                verification: Verification::Yes,
                note: "gone".into(),
                p_code: "P0".into(),
                slug: String::new(),
                file: "src/a.py".into(),
                line: 2,
                spec_gap: false,
                by: VerifiedBy::Reviewer,
            });
        };
        fixed(&mut document, FindingId(9));
        paper.run(&document, usize::MAX);
        assert!(!paper.observed.threads[0].resolved, "one of them still stands");
        fixed(&mut document, one.id);
        paper.run(&document, usize::MAX);
        assert_eq!(paper.observed.threads[0].resolved, begun_by.is_none(), "a person's conversation is theirs to close");
        assert_eq!(paper.observed.threads[0].comments.len(), said + 2);
        assert_eq!(paper.first_turn(&document), Turn::End(Ending::Published));
    }
}

/// The review that would be sent.
fn planned_review(document: &Document) -> Write {
    let paper = Paper::new(HEAD);
    let change = crate::diff::parse::parse_diff(crate::publish::tests::DIFF.as_bytes()).unwrap();
    let (names, none) = (BTreeMap::new(), BTreeSet::new());
    let desired = Desired {
        document,
        names: &names,
        case_id: CASE,
        capabilities: &paper.capabilities,
        me: &account("bot"),
        key: &key(),
        shown: &Shown::of(&change),
        policy: PublishPolicy::default(),
        unplaced: &none,
        built_on: None,
        is_restated: false,
    };
    let view = View::of(&desired, &paper.observed).unwrap();
    plan(&desired, &paper.observed, &view, &none, None).review.unwrap()
}

/// PR-81, PR-141: the first write is a list of comments on lines of the diff, and the review only comments, whatever was found.
#[test]
fn a_review_only_comments() {
    let document = first();
    let mut paper = Paper::new(HEAD);
    paper.run(&document, 2);
    let sent = &paper.observed.reviews[0];
    assert_eq!((sent.state, sent.commit.as_ref()), (ReviewState::Commented, Some(&document.head)));
    let view = |paper: &Paper| paper.observed.threads.clone();
    assert_eq!(view(&paper).len(), document.findings.iter().filter(|finding| finding.inline).count());
    let write = planned_review(&document);
    let Write::Review { review, findings } = write else { panic!("{write:?}") };
    assert_eq!((review.event, &review.commit), (ReviewEvent::Comment, &document.head));
    assert_eq!(findings.len(), review.comments.len());
    let placed = |comment: &NewComment| document.findings.iter().any(|finding| finding.file.as_str() == comment.path);
    assert!(!review.comments.is_empty() && review.comments.iter().all(|comment| comment.line > 0 && placed(comment)));
}

/// CF-8: everything that the next review needs is in the sticky.
#[test]
fn the_sticky_remembers_the_review() {
    let mut paper = Paper::new(HEAD);
    let document = first();
    paper.run(&document, usize::MAX);
    let (comment, read) = stickies(&paper.observed.comments, &account("bot"), CASE, &key()).pop().unwrap();
    let Mark::Sticky { head, memory: Some(hash), .. } = read.mark else { panic!("{read:?}") };
    assert_eq!((head, read.seal), (document.head.clone(), Seal::Good));
    let memory = Memory::unpack(&comment.body, &hash).unwrap();
    assert_eq!(memory.document.findings[0].key, document.findings[0].key);
    let edited = comment.body.replace("tribunal:memory e", "tribunal:memory f");
    assert!(edited == comment.body || Memory::unpack(&edited, &hash).is_none());
}

/// Rule 7: a moved head discards the result before anything is posted; a closed one too.
#[test]
fn nothing_is_said_of_a_head_that_is_gone() {
    let mut paper = Paper::new("3333333333333333");
    let stop = |paper: &Paper| match paper.first_turn(&first()) {
        Turn::End(Ending::Stopped(stop)) => stop,
        other => panic!("{other:?}"),
    };
    assert_eq!(stop(&paper), Stop::HeadMoved { to: "3333333333333333".into() });
    paper.observed.pull.state = PullState::Merged;
    assert_eq!(stop(&paper), Stop::Closed);
}

/// PR-140, CF-33: other people's copies of our marks, and comments of our account without one, are not ours.
#[test]
fn pasted_marks_do_nothing() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let body = paper.observed.comments[0].body.clone();
    let mut fresh = Paper::new(HEAD);
    fresh.say("stranger", &body);
    fresh.say("bot", "I use this account by hand");
    fresh.observed.threads = vec![thread("90", "stranger", &paper.observed.threads[0].comments[0].body, None)];
    assert_eq!(fresh.run(&first(), usize::MAX), 4);
    assert_eq!(fresh.stickies(), 1);
    assert_eq!(fresh.observed.comments.len(), 3);
}

/// PR-136: the newest of several stickies is the one.
#[test]
fn a_second_sticky_goes() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let body = paper.observed.comments[0].body.clone();
    let newest = paper.say("bot", &body).id;
    assert_eq!(paper.run(&first(), usize::MAX), 1);
    assert_eq!(paper.observed.comments.iter().map(|comment| comment.id.clone()).collect::<Vec<_>>(), vec![newest]);
}

/// forges.md 3.x-1: our own half-made review goes; a person's draft under the same account stops us.
#[test]
fn drafts_are_told_apart() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), 2);
    paper.observed.reviews.clear();
    let review = Review {
        id: "50".into(),
        author: account("bot"),
        state: ReviewState::Pending,
        body: String::new(),
        commit: None,
        submitted_at: String::new(),
        url: String::new(),
    };
    let waiting: Vec<String> = paper.observed.threads.drain(..).map(|thread| thread.comments[0].body.clone()).collect();
    paper.observed.drafted.insert("50".into(), waiting);
    paper.observed.reviews.push(review.clone());
    paper.run(&first(), usize::MAX);
    assert!(paper.observed.reviews.iter().all(|review| review.state != ReviewState::Pending));
    assert_eq!(paper.observed.threads.len(), 1);
    paper.observed.reviews.push(review);
    paper.observed.drafted.insert("50".into(), vec!["hm, is that so?".into()]);
    assert_eq!(paper.first_turn(&first()), Turn::End(Ending::Stopped(Stop::ForeignDraft)));
}

/// CF-6, CF-17, PR-11: fixed threads get an answer with the commit and are resolved; open ones are left alone.
#[test]
fn a_fixed_finding_is_answered_and_resolved_once() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let fixed = second(Verification::Yes);
    assert_eq!(paper.run(&fixed, usize::MAX), 6, "claim, answer, resolve, status, summary, and the claim is withdrawn");
    let thread = &paper.observed.threads[0];
    assert!(thread.resolved && thread.comments[1].body.starts_with(&format!("Fixed in {HEAD}. passes a list now.")));
    assert_eq!(paper.run(&fixed, usize::MAX), 0);
    let still = second(Verification::No);
    let mut other = Paper::new(HEAD);
    other.run(&first(), usize::MAX);
    other.run(&still, usize::MAX);
    assert!(!other.observed.threads[0].resolved && other.observed.threads[0].comments.len() == 1);
}

/// A finding that comes back is said in its old thread, which is opened again.
#[test]
fn a_finding_that_came_back_reopens_its_thread() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    paper.run(&second(Verification::Yes), usize::MAX);
    paper.run(&first(), usize::MAX);
    let thread = &paper.observed.threads[0];
    assert!(!thread.resolved && thread.comments[2].body.starts_with("Present again in"), "{:?}", thread.comments);
    assert_eq!(paper.observed.threads.len(), 1);
    assert_eq!(paper.run(&first(), usize::MAX), 0);
}

/// CF-6, rule 11: a thread that a person joined is not resolved by us, and one that a person closed is not opened.
#[test]
fn people_own_the_threads_they_are_in() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let id = paper.observed.threads[0].id.clone();
    paper.reply(&id, "author", "I do not think so");
    paper.run(&second(Verification::Yes), usize::MAX);
    assert!(!paper.observed.threads[0].resolved);
    let mut closed = Paper::new(HEAD);
    closed.run(&first(), usize::MAX);
    closed.set_resolved(&closed.observed.threads[0].id.clone(), Some("author"));
    closed.run(&first(), usize::MAX);
    assert!(closed.observed.threads[0].resolved);
    let sticky = &closed.observed.comments[0].body;
    assert!(sticky.contains("thread closed by author, still there"), "{sticky}");
}

/// PR-132: the author's word silences, somebody else's clears.
#[test]
fn a_dismissal_is_shown_and_weighed() {
    let with = |accepted| {
        let mut document = first();
        let dismissed = Dismissed { by: "carol".into(), reason: "only in a test".into(), accepted };
        let id = document.findings[0].id;
        let dismissal = crate::combine::dismissal::Dismissal { id, dismissed, finding: None };
        crate::procedure::review::pull::dismiss(&mut document, &[dismissal]);
        document
    };
    assert_eq!(with(false).exit_code(), 1);
    assert_eq!(with(true).exit_code(), 0);
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    paper.run(&with(true), usize::MAX);
    let thread = &paper.observed.threads[0];
    assert!(thread.resolved && thread.comments[1].body.starts_with("Declined: only in a test (carol said so)."));
    assert_eq!(paper.observed.checks[0].state, CheckState::Success);
    let sticky = &paper.observed.comments[0].body;
    assert!(sticky.contains("## 🙈 Dismissed (1)") && sticky.contains("1 dismissed"), "{sticky}");
}

/// PR-142: what finds no line is written out in the summary, never lost.
#[test]
fn a_refused_line_moves_into_the_summary() {
    let mut paper = Paper::new(HEAD);
    let document = first();
    paper.unplaced = document.findings.iter().map(|finding| finding.id).collect();
    paper.run(&document, usize::MAX);
    assert!(paper.observed.threads.is_empty());
    let sticky = &paper.observed.comments[0].body;
    assert!(sticky.contains("📎 Without a line of their own (1)") && sticky.contains("**Mitigation**: Pass a list"), "{sticky}");
}

/// Issue 5: body limits by bytes; the mark and the summary line survive whatever else goes.
#[test]
fn the_sticky_fits() {
    for limit in [65_000, 3_000, 2_000, 1_200] {
        let mut paper = Paper::new(HEAD);
        paper.capabilities.body_limit = limit;
        paper.run(&first(), usize::MAX);
        let body = &paper.observed.comments[0].body;
        assert!(body.len() <= limit, "{} > {limit}", body.len());
        assert!(body.contains("**Review: "), "{body}");
        assert_eq!(paper.run(&first(), usize::MAX), 0);
    }
}

/// What an answer's mark says is what is read back.
#[test]
fn answers_are_known_again() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    paper.run(&second(Verification::Yes), usize::MAX);
    let own = own(&paper.observed.threads, &account("bot"), CASE, &key());
    assert_eq!(own[0].said, Some(Says::Fixed));
    assert!(!own[0].has_others);
}

/// Issue 16, 17: whoever may write can edit our summary. However it is edited, it is put right, and no twin is left.
#[test]
fn an_edited_summary_is_put_right() {
    let mut honest = Paper::new(HEAD);
    honest.run(&first(), usize::MAX);
    let body = honest.observed.comments[0].body.clone();
    let mark = body.trim_end().rsplit('\n').next().unwrap();
    let edits = [
        body.replace("Blocking", "Approved"),
        format!("{body}\nApproved by everybody."),
        body.replace(mark, ""),
        body.replace(
            mark,
            &seal(
                &Mark::Sticky { head: HEAD.into(), run: "x".into(), memory: None, text: None },
                CASE,
                &MarkerKey::from_secret("y"),
            ),
        ),
        "Approved by everybody.".to_owned(),
        format!("<!-- tribunal:memory x --> Approved.\n{mark}"),
    ];
    for edit in edits {
        let mut paper = honest.clone();
        paper.observed.comments[0].body.clone_from(&edit);
        paper.run(&first(), usize::MAX);
        assert_eq!(paper.observed.comments.len(), 1, "a twin beside {edit}");
        assert!(paper.observed.comments[0].body.contains("## 📋 Currently open"), "{}", paper.observed.comments[0].body);
        // A new one beside an edited one: the edited one goes.
        let mut twice = honest.clone();
        let old = twice.say("bot", &edit).id;
        if edit != "Approved by everybody." {
            twice.run(&first(), usize::MAX);
            assert!(
                twice.observed.comments.iter().all(|comment| comment.id != old) || twice.observed.comments.len() == 1,
                "{edit}"
            );
        }
    }
}

/// Issue 16, 17: nothing new, and the visible text of the summary was changed: it is shown again as it was.
#[test]
fn a_standing_review_is_shown_as_it_was() {
    use crate::publish::paper::{Process, Truth};
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let run = |paper: &mut Paper| {
        // What another machine knows: the memory, without what it leaves out.
        let document = paper.memory().unwrap().document;
        let mut process = Process::begin(paper, document, "n");
        process.is_restated = true;
        let mut writes = 0;
        while process.ended.is_none() {
            writes += usize::from(process.is_about_to_write());
            process.step(paper, Truth::True, Truth::True);
        }
        writes
    };
    assert_eq!(run(&mut paper), 0, "another machine rewrites nothing that stands");
    let body = paper.observed.comments[0].body.replace("Blocking", "Approved");
    assert_ne!(body, paper.observed.comments[0].body);
    paper.observed.comments[0].body = body;
    assert_eq!(run(&mut paper), 1);
    assert!(paper.observed.comments[0].body.contains("Blocking"));
}

/// Issue 16, 17: doubles are removed at the same head, with the reviews that they leave empty; what somebody answered stays. A forge
/// numbers comments and reviews on their own: here each pair has one number.
#[test]
fn doubles_and_empty_reviews_go() {
    for answered in [false, true] {
        let mut paper = Paper::new(HEAD);
        paper.run(&first(), usize::MAX);
        for n in 0..2 {
            let review = Review { id: format!("9{n}"), ..paper.observed.reviews[0].clone() };
            let comment = paper.observed.threads[0].comments[0].clone();
            paper.observed.threads.push(thread(&format!("9{n}"), "bot", &comment.body, Some(&review.id)));
            paper.observed.reviews.push(review);
        }
        if answered {
            paper.reply("91", "carol", "Why?");
        }
        paper.run(&first(), usize::MAX);
        let ids: Vec<&str> = paper.observed.threads.iter().map(|thread| thread.id.as_str()).collect();
        assert_eq!((ids.len(), ids.contains(&"91"), paper.observed.reviews.len()), (1, answered, 1));
        assert_eq!(paper.run(&first(), usize::MAX), 0);
    }
}

/// Issue 16, 17: a fixer's `Fixed in` and a review's are one answer, whichever comes first; if both came, one goes.
#[test]
fn a_thread_is_answered_once_by_fixer_and_review() {
    let reply = Mark::Reply {
        item: "thread:3".into(),
        last_word: "3".into(),
        says: Disposition::Fixed,
        head: HEAD.into(),
        run: "watch".into(),
    };
    let body = format!("Fixed in {HEAD}. Passes a list.\n\n{}", seal(&reply, CASE, &key()));
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let id = paper.observed.threads[0].id.clone();
    let both = {
        let mut both = paper.clone();
        both.run(&second(Verification::Yes), usize::MAX);
        both.reply(&id, "bot", &body);
        both
    };
    paper.reply(&id, "bot", &body);
    paper.run(&second(Verification::Yes), usize::MAX);
    assert_eq!(paper.observed.threads[0].comments.len(), 2, "{:?}", paper.observed.threads[0].comments);
    assert!(paper.observed.threads[0].resolved);
    let mut both = both;
    assert_eq!(both.observed.threads[0].comments.len(), 3);
    both.run(&second(Verification::Yes), usize::MAX);
    assert_eq!(both.observed.threads[0].comments.len(), 2);
    // Asked twice, answered twice: that is no double.
    both.reply(&id, "carol", "No, it is not.");
    both.reply(&id, "bot", &body);
    both.run(&second(Verification::Yes), usize::MAX);
    assert_eq!(both.observed.threads[0].comments.len(), 4);
}

proptest! {
    /// Rules 9 and 13: killed after any write, any number of times, on any mix of reviews, it ends with one sticky, one thread per
    /// finding and nothing left to do.
    #[test]
    fn whenever_it_dies_nothing_is_said_twice(lives in prop::collection::vec((0usize..5, 0u8..3), 0..8)) {
        let documents = [first(), second(Verification::Yes), second(Verification::No)];
        let mut paper = Paper::new(HEAD);
        for (lives_for, which) in lives {
            paper.run(&documents[which as usize], lives_for);
        }
        paper.run(&documents[0], usize::MAX);
        prop_assert_eq!(paper.first_turn(&documents[0]), Turn::End(Ending::Published));
        prop_assert_eq!(paper.stickies(), 1);
        prop_assert_eq!(paper.observed.comments.len(), 1);
        prop_assert_eq!(paper.observed.threads.len(), 1);
        let answers = paper.observed.threads[0].comments.len();
        let bodies: std::collections::BTreeSet<_> = paper.observed.threads[0].comments.windows(2).map(|pair| pair[0].body == pair[1].body).collect();
        prop_assert!(answers < 18 && !bodies.contains(&true));
    }
}
