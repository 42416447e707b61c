//! A pull request on paper: writes are applied to what is observed, and every run may die after any of them.

use super::*;
use crate::combine::dismissal::Dismissed;
use crate::combine::prior::PriorVerification;
use crate::diff::parse::parse_diff;
use crate::findings::report::Verification;
use crate::publish::marker::Says;
use crate::publish::memory::Memory;
use crate::publish::tests::{DIFF, first, second};
use crate::pull::facts::{AccountKind, CheckState, Mergeable, Tip};
use crate::pull::place::ForgeKind;
use crate::pull::talk::{ReviewState, ThreadComment};
use proptest::prelude::*;

const CASE: &str = "pull:h/acme/shop#7";

fn account(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Person }
}

fn key() -> MarkerKey {
    MarkerKey::from_secret("secret")
}

/// A forge that can do everything, and remembers.
struct Paper {
    observed: Observed,
    next: u32,
    capabilities: Capabilities,
    unplaced: BTreeSet<FindingId>,
    /// Everything on a line is one conversation, as Gitea has it.
    joins: bool,
}

impl Paper {
    fn new(head: &str) -> Self {
        let tip = |branch: &str, sha: &str| Tip { branch: branch.into(), sha: sha.into(), repository: Some("acme/shop".into()) };
        let pull = Pull {
            number: 7,
            title: "t".into(),
            body: String::new(),
            author: account("author"),
            state: PullState::Open,
            draft: false,
            head: tip("x", head),
            base: tip("main", "1111111111111111"),
            is_fork: false,
            labels: vec![],
            url: "https://h/7".into(),
            updated_at: String::new(),
            mergeable: Mergeable::Unknown,
            changed_files: None,
        };
        let observed =
            Observed { pull, comments: vec![], reviews: vec![], threads: vec![], drafted: BTreeMap::new(), checks: vec![] };
        let can = Capability::ALL.into_iter().filter(|can| *can != Capability::Annotations).collect();
        let capabilities = Capabilities { kind: ForgeKind::GitHub, version: String::new(), can, body_limit: 65_000 };
        Paper { observed, next: 0, capabilities, unplaced: BTreeSet::new(), joins: false }
    }

    fn id(&mut self) -> String {
        self.next += 1;
        self.next.to_string()
    }

    fn next(&self, document: &Document) -> Result<Next, Stop> {
        let change = parse_diff(DIFF.as_bytes()).unwrap();
        let names = document.findings.iter().map(|finding| (finding.key.clone(), finding.id)).collect();
        let desired = Desired {
            document,
            names: &names,
            case_id: CASE,
            capabilities: &self.capabilities,
            me: &account("bot"),
            key: &key(),
            shown: &Shown::of(&change),
            policy: PublishPolicy::default(),
            unplaced: &self.unplaced,
        };
        reconcile(&desired, &self.observed)
    }

    fn say(&mut self, author: &str, body: &str) -> Comment {
        let id = self.id();
        let comment = Comment {
            url: format!("https://h/c{id}"),
            id,
            author: account(author),
            body: body.into(),
            created_at: String::new(),
            updated_at: String::new(),
        };
        self.observed.comments.push(comment.clone());
        comment
    }

    fn reply(&mut self, thread: &str, author: &str, body: &str) {
        let id = self.id();
        let comment = thread_comment(&id, author, body, None);
        let thread = self.observed.threads.iter_mut().find(|known| known.id == thread).unwrap();
        thread.comments.push(comment);
    }

    fn apply(&mut self, write: Write) {
        match write {
            Write::DeletePending { review } => {
                self.observed.reviews.retain(|known| known.id != review);
                self.observed.drafted.remove(&review);
            }
            Write::DeleteInline { comment } => {
                for thread in &mut self.observed.threads {
                    thread.comments.retain(|known| known.id != *comment);
                }
                self.observed.threads.retain(|thread| !thread.comments.is_empty());
            }
            Write::Review { review, .. } => {
                let review_id = self.id();
                for comment in review.comments {
                    let id = self.id();
                    match self.observed.threads.first_mut().filter(|_| self.joins) {
                        Some(known) => known.comments.push(thread_comment(&id, "bot", &comment.body, Some(&review_id))),
                        None => self.observed.threads.push(thread(&id, "bot", &comment.body, Some(&review_id))),
                    }
                }
            }
            Write::Answer { thread, body } => self.reply(&thread.id, "bot", &body),
            Write::Resolve { thread } => self.set_resolved(&thread.id, Some("bot")),
            Write::Unresolve { thread } => self.set_resolved(&thread.id, None),
            Write::Status { status, .. } => {
                let check = Check {
                    name: status.context,
                    state: status.state,
                    description: status.description,
                    url: String::new(),
                    run: None,
                };
                self.observed.checks = vec![check];
            }
            Write::CheckRun { .. } => panic!("no app here"),
            Write::CreateSticky { body } => {
                self.say("bot", &body);
            }
            Write::EditSticky { id, body } => {
                self.observed.comments.iter_mut().find(|comment| comment.id == id).unwrap().body = body;
            }
            Write::DeleteSticky { id } => self.observed.comments.retain(|comment| comment.id != id),
        }
    }

    fn set_resolved(&mut self, id: &str, by: Option<&str>) {
        let thread = self.observed.threads.iter_mut().find(|thread| thread.id == id).unwrap();
        thread.resolved = by.is_some();
        thread.resolved_by = by.map(account);
    }

    /// One run that dies after so many writes. How many it made.
    fn run(&mut self, document: &Document, lives_for: usize) -> usize {
        let mut made = 0;
        for _ in 0..10 {
            let next = self.next(document).unwrap();
            for write in next.writes {
                if made == lives_for {
                    return made;
                }
                self.apply(write);
                made += 1;
            }
            if !next.look_again {
                return made;
            }
        }
        panic!("publishing does not end");
    }

    fn stickies(&self) -> usize {
        stickies(&self.observed.comments, &account("bot"), CASE, &key()).len()
    }
}

fn thread_comment(id: &str, author: &str, body: &str, review: Option<&str>) -> ThreadComment {
    ThreadComment {
        id: id.into(),
        author: account(author),
        body: body.into(),
        created_at: String::new(),
        url: format!("https://h/t{id}"),
        review: review.map(str::to_owned),
    }
}

fn thread(id: &str, author: &str, body: &str, review: Option<&str>) -> Thread {
    Thread {
        id: id.into(),
        path: "src/a.py".into(),
        line: Some(2),
        start_line: None,
        side: crate::findings::anchor::Side::New,
        resolved: false,
        resolved_by: None,
        outdated: None,
        can_resolve: None,
        comments: vec![thread_comment(id, author, body, review)],
    }
}

const HEAD: &str = "2222222222222222";

/// Issue 5: a constant number of writes, and none for what stands already.
#[test]
fn a_first_review_is_three_writes_and_a_second_look_none() {
    let mut paper = Paper::new(HEAD);
    let document = first();
    assert_eq!(paper.run(&document, usize::MAX), 3);
    assert_eq!(paper.observed.threads.len(), document.findings.iter().filter(|finding| finding.inline).count());
    assert_eq!(paper.observed.checks[0].state, CheckState::Failure);
    assert_eq!(paper.next(&document).unwrap(), Next { writes: vec![], look_again: false });
    let sticky = &paper.observed.comments[0].body;
    assert!(sticky.contains("**[F1](https://h/t2)**"), "{sticky}");
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
        assert_eq!(paper.next(&document).unwrap(), Next { writes: vec![], look_again: false });

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
            });
        };
        fixed(&mut document, FindingId(9));
        paper.run(&document, usize::MAX);
        assert!(!paper.observed.threads[0].resolved, "one of them still stands");
        fixed(&mut document, one.id);
        paper.run(&document, usize::MAX);
        assert_eq!(paper.observed.threads[0].resolved, begun_by.is_none(), "a person's conversation is theirs to close");
        assert_eq!(paper.observed.threads[0].comments.len(), said + 2);
        assert_eq!(paper.next(&document).unwrap(), Next { writes: vec![], look_again: false });
    }
}

/// PR-81, PR-141: the first write is a list of comments on lines of the diff, and the review only comments, whatever was found.
#[test]
fn a_review_only_comments() {
    let document = first();
    let next = Paper::new(HEAD).next(&document).unwrap();
    let [Write::Review { review, findings }] = next.writes.as_slice() else { panic!("{next:?}") };
    assert_eq!((review.event, &review.commit), (ReviewEvent::Comment, &document.head));
    assert_eq!(findings.len(), review.comments.len());
    let placed = |comment: &NewComment| document.findings.iter().any(|finding| finding.file.as_str() == comment.path);
    assert!(!review.comments.is_empty() && review.comments.iter().all(|comment| comment.line > 0 && placed(comment)));
    assert!(next.look_again);
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
    assert_eq!(paper.next(&first()), Err(Stop::HeadMoved { to: "3333333333333333".into() }));
    paper.observed.pull.state = PullState::Merged;
    assert_eq!(paper.next(&first()), Err(Stop::Closed));
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
    assert_eq!(fresh.run(&first(), usize::MAX), 3);
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
    paper.run(&first(), 1);
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
    assert!(paper.observed.reviews.is_empty());
    assert_eq!(paper.observed.threads.len(), 1);
    paper.observed.reviews.push(review);
    paper.observed.drafted.insert("50".into(), vec!["hm, is that so?".into()]);
    assert_eq!(paper.next(&first()), Err(Stop::ForeignDraft));
}

/// CF-6, CF-17, PR-11: fixed threads get an answer with the commit and are resolved; open ones are left alone.
#[test]
fn a_fixed_finding_is_answered_and_resolved_once() {
    let mut paper = Paper::new(HEAD);
    paper.run(&first(), usize::MAX);
    let fixed = second(Verification::Yes);
    assert_eq!(paper.run(&fixed, usize::MAX), 4, "answer, resolve, status, sticky");
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
        let dismissal = crate::combine::dismissal::Dismissal { id, dismissed };
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
        prop_assert_eq!(paper.next(&documents[0]).unwrap().writes, vec![]);
        prop_assert_eq!(paper.stickies(), 1);
        prop_assert_eq!(paper.observed.comments.len(), 1);
        prop_assert_eq!(paper.observed.threads.len(), 1);
        let answers = paper.observed.threads[0].comments.len();
        let bodies: std::collections::BTreeSet<_> = paper.observed.threads[0].comments.windows(2).map(|pair| pair[0].body == pair[1].body).collect();
        prop_assert!(answers < 18 && !bodies.contains(&true));
    }
}
