use super::block::{Block, next as next_word, words};
use super::post::{Desired, Next, Observed, Refrain, Then, after_fault, earlier_double, next};
use super::*;
use crate::combine::finding::Finding;
use crate::findings::report::Fix;
use crate::findings::scale::Priority;
use crate::publish::marker::seal;
use crate::publish::reconcile::Stop;
use crate::publish::tests::first;
use crate::pull::capability::{Capabilities, Capability};
use crate::pull::facts::{AccountKind, Mergeable, Pull, PullState, Tip};
use crate::pull::fault::ForgeFault;
use crate::pull::place::ForgeKind;
use crate::report::document::Document;
use crate::report::receipt::SeatState;
use proptest::prelude::*;
use std::collections::BTreeMap;

const CASE: &str = "pull:h/acme/shop#7";
const FIRST: Sitting = Sitting::Settle { assessment: Assessment::First };
const SECOND: Sitting = Sitting::Settle { assessment: Assessment::Second };

fn account(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Person }
}

fn key() -> MarkerKey {
    MarkerKey::from_secret("secret")
}

fn minor() -> Document {
    let mut document = first();
    document.findings.iter_mut().for_each(|finding| finding.p_code = Priority::P3);
    document.findings[0].p_code = Priority::P1;
    document.verdict = Some(Verdict::Minor);
    document
}

fn block<'a>(document: &'a Document, sitting: &'a Sitting) -> Block<'a> {
    let verdict = document.verdict.unwrap();
    Block { document, verdict, sitting, branch: "hall/sdet/issue-7", closing: &[] }
}

/// The character that keeps a name from calling somebody, made visible.
fn shown(text: String) -> String {
    text.replace('\u{2060}', "<wj>")
}

/// TS-22, TS-24, TS-27, TS-68: three fields in their order, the wanted change, and where the fix goes. TS-74: and that no other pull
/// request is to be opened.
#[test]
fn a_minor_verdict_reads_like_this() {
    insta::assert_snapshot!(shown(words(&block(&minor(), &FIRST), 60_000)), @r"
    VERDICT: MINOR

    FINDINGS:
    - F1 P1 `src/a.py:2`: Anyone runs &lt;b&gt;commands&lt;/b&gt; as @<wj>root, see #<wj>7. Wanted: Pass a list. [severity: minor]

    NEXT: address-and-resubmit

    Please push a fix commit for what is listed above to the same branch, `hall/sdet/issue-7`, and open no new pull request.

    F1 in `src/a.py`, line 2, replaced by:

    ```
    subprocess.run([cmd])
    ```

    2 lighter remarks besides; they do not count against the change.

    Only rules and linters have looked: nobody has held the change against what its issue asks for.
    ");
}

/// TS-18, TS-24: nothing is listed against what is good.
#[test]
fn a_good_verdict_lists_nothing() {
    let mut document = minor();
    document.findings.iter_mut().for_each(|finding| finding.p_code = Priority::P3);
    document.verdict = Some(Verdict::Lgtm);
    insta::assert_snapshot!(shown(words(&block(&document, &FIRST), 60_000)), @r"
    VERDICT: LGTM

    FINDINGS:
    - none

    NEXT: merge

    3 lighter remarks besides; they do not count against the change.

    Only rules and linters have looked: nobody has held the change against what its issue asks for.
    ");
}

/// TS-10, TS-21, TS-26: what is missing is named, and the last verdict says that it is the last.
#[test]
fn a_final_verdict_says_so() {
    let mut document = minor();
    document.missing_prerequisites = vec!["the API of #3 @root".into()];
    document.verdict = Some(Verdict::Blocked);
    insta::assert_snapshot!(shown(words(&block(&document, &SECOND), 60_000)), @r"
    VERDICT: BLOCKED

    FINDINGS:
    - missing: the API of #<wj>3 @<wj>root. [severity: major]
    - F1 P1 `src/a.py:2`: Anyone runs &lt;b&gt;commands&lt;/b&gt; as @<wj>root, see #<wj>7. Wanted: Pass a list. [severity: minor]

    NEXT: escalate-to-invoker

    This was the second and last assessment (ASSESS-2): one refinement is the cap, so this verdict is final.

    2 lighter remarks besides; they do not count against the change.

    Only rules and linters have looked: nobody has held the change against what its issue asks for.
    ");
}

/// TS-18: where nobody who can read has looked, the verdict does not read as if the criteria had been checked.
#[test]
fn a_verdict_of_rules_says_so() {
    let says = |document: &Document| words(&block(document, &FIRST), 60_000).contains("Only rules and linters have looked");
    let mut document = minor();
    assert!(says(&document));
    document.receipt.seats[0].kind = "anthropic".into();
    assert!(!says(&document));
    document.receipt.seats[0].state = SeatState::Failed { reason: "it printed nothing".into() };
    assert!(says(&document), "what failed has not looked");
}

/// TS-22: what the specialist can fix here is minor; what is grave, or fixed elsewhere, or by nobody knows what, is major.
#[test]
fn a_bullet_is_as_grave_as_its_fix() {
    let severity = |change: &dyn Fn(&mut Finding)| {
        let mut document = minor();
        change(&mut document.findings[0]);
        document.verdict = Some(Verdict::Major);
        let said = words(&block(&document, &FIRST), 60_000);
        let bullet = said.lines().find(|line| line.starts_with("- F1")).unwrap().to_owned();
        bullet.rsplit('[').next().unwrap().to_owned()
    };
    assert_eq!(severity(&|_| ()), "severity: minor]");
    assert_eq!(severity(&|finding| finding.p_code = Priority::P0), "severity: major]");
    assert_eq!(severity(&|finding| finding.mitigation.clear()), "severity: major]");
    assert_eq!(severity(&|finding| finding.mitigation_out_of_scope = true), "severity: major]");
}

/// TS-25.
#[test]
fn what_is_next_follows_from_the_verdict() {
    assert_eq!(next_word(Verdict::Lgtm), "merge");
    assert_eq!(next_word(Verdict::Minor), "address-and-resubmit");
    assert_eq!(next_word(Verdict::Major), "escalate-to-invoker");
    assert_eq!(next_word(Verdict::Blocked), "escalate-to-invoker");
}

/// TS-66, CF-2: the event of the verdict where it is open to us, and a comment where it is not.
#[test]
fn the_event_follows_from_the_verdict_and_from_who_we_are() {
    assert_eq!(event(Verdict::Lgtm, false, true), ReviewEvent::Approve);
    for verdict in [Verdict::Minor, Verdict::Major, Verdict::Blocked] {
        assert_eq!(event(verdict, false, true), ReviewEvent::RequestChanges);
        assert_eq!(event(verdict, true, true), ReviewEvent::Comment);
        assert_eq!(event(verdict, false, false), ReviewEvent::Comment);
    }
    assert_eq!(event(Verdict::Lgtm, true, true), ReviewEvent::Comment);
}

/// TS-101: the prefix is what other tools are known by.
#[test]
fn the_first_line_speaks() {
    assert_eq!(spoken("VERDICT: MINOR\n---\n- a"), Some(Verdict::Minor));
    assert_eq!(spoken("VERDICT:LGTM"), Some(Verdict::Lgtm));
    for other in ["I say\nVERDICT: LGTM", "> VERDICT: LGTM", "VERDICT: LGTM?", "verdict: LGTM", ""] {
        assert_eq!(spoken(other), None, "{other}");
    }
}

/// A pull request on paper.
struct Paper {
    observed: Observed,
    capabilities: Capabilities,
    only_comment: bool,
}

impl Paper {
    fn new(head: &Sha) -> Self {
        let tip = |branch: &str, sha: &str| Tip { branch: branch.into(), sha: sha.into(), repository: Some("acme/shop".into()) };
        let pull = Pull {
            number: 7,
            title: "t".into(),
            body: String::new(),
            author: account("author"),
            state: PullState::Open,
            draft: false,
            head: tip("x", head.as_str()),
            base: tip("main", "1111111111111111"),
            is_fork: false,
            labels: vec![],
            url: "https://h/7".into(),
            updated_at: String::new(),
            mergeable: Mergeable::Unknown,
            changed_files: None,
        };
        let can = Capability::ALL.into_iter().collect();
        let capabilities = Capabilities { kind: ForgeKind::GitHub, version: String::new(), can, body_limit: 65_000 };
        Paper { observed: Observed { pull, reviews: vec![], drafted: BTreeMap::new() }, capabilities, only_comment: false }
    }

    fn next(&self, document: &Document, sitting: &Sitting) -> Result<Next, Refrain> {
        self.ask(document, sitting, |desired| next(desired, &self.observed))
    }

    fn ask<T>(&self, document: &Document, sitting: &Sitting, question: impl FnOnce(&Desired<'_>) -> T) -> T {
        let (me, run, key) = (account("tribunal"), RunId::from("run"), key());
        question(&Desired {
            document,
            sitting,
            run: &run,
            closing: &[],
            case_id: CASE,
            me: &me,
            capabilities: &self.capabilities,
            key: &key,
            only_comment: self.only_comment,
        })
    }

    fn review(&mut self, by: &str, state: ReviewState, body: &str) {
        self.observed.reviews.push(Review {
            id: format!("r{}", self.observed.reviews.len()),
            author: account(by),
            state,
            body: body.into(),
            commit: Some(self.observed.pull.head.sha.clone()),
            submitted_at: String::new(),
            url: String::new(),
        });
    }

    fn post(&mut self, document: &Document, sitting: &Sitting) {
        let Ok(Next::Post { review, remove }) = self.next(document, sitting) else { panic!("nothing to post") };
        self.observed.reviews.retain(|review| !remove.contains(&review.id));
        assert_eq!(review.commit, document.head);
        self.review("tribunal", ReviewState::ChangesRequested, &review.body);
    }
}

/// TS-8, TS-61, TS-81, TS-82, TS-86, TS-96, CF-16: one review for one sitting, bound to the head that was read, whatever is pushed or tried again since.
#[test]
fn a_sitting_has_one_review() {
    let document = minor();
    let mut paper = Paper::new(&document.head);
    paper.post(&document, &FIRST);
    for head in [document.head.clone(), Sha::from("9999")] {
        paper.observed.pull.head.sha = head;
        let Ok(Next::Stands(stands)) = paper.next(&document, &FIRST) else { panic!("said twice") };
        assert_eq!((stands.verdict, &stands.head), (Some(Verdict::Minor), &document.head));
    }
    paper.observed.pull.head.sha = document.head.clone();
    paper.post(&document, &SECOND);
    assert_eq!(paper.observed.reviews.len(), 2);
    let sweep = Sitting::Sweep { run: "run".into(), ticket: 1 };
    assert!(matches!(paper.next(&document, &sweep), Ok(Next::Post { .. })));
}

/// Issue 16, 16: of two sweeps that gave the same verdict on the same head at once, the later one takes its own back.
#[test]
fn of_two_equal_verdicts_the_earlier_stays() {
    let (one, other) = (Sitting::Sweep { run: "a".into(), ticket: 1 }, Sitting::Sweep { run: "b".into(), ticket: 1 });
    let document = minor();
    let mut paper = Paper::new(&document.head);
    paper.post(&document, &one);
    paper.post(&document, &other);
    let double = |paper: &Paper, sitting: &Sitting, ours: &str| {
        paper.ask(&document, sitting, |desired| earlier_double(desired, &paper.observed, ours)).map(|first| first.review)
    };
    assert_eq!((double(&paper, &one, "r0"), double(&paper, &other, "r1")), (None, Some("r0".into())));
    assert_eq!(double(&paper, &other, "not-shown"), None);
    assert_eq!(double(&paper, &FIRST, "r1"), None, "another occasion");
    paper.observed.reviews[0].state = ReviewState::Dismissed;
    assert_eq!(double(&paper, &other, "r1"), None, "what somebody dismissed does not stand");
}

/// Design rule 7: what was read is no longer what is there.
#[test]
fn a_moved_head_or_a_closed_pull_request_gets_no_verdict() {
    let document = minor();
    let mut paper = Paper::new(&Sha::from("9999"));
    assert_eq!(paper.next(&document, &FIRST), Err(Refrain::Stop(Stop::HeadMoved { to: "9999".into() })));
    paper.observed.pull.head.sha = document.head.clone();
    paper.observed.pull.state = PullState::Merged;
    assert_eq!(paper.next(&document, &FIRST), Err(Refrain::Stop(Stop::Closed)));
}

/// A verdict for another base would be an approval of a merge that nobody reviewed.
#[test]
fn a_changed_base_gets_no_verdict() {
    let mut document = minor();
    document.receipt.base_branch = Some("eve/base".into());
    let paper = Paper::new(&document.head);
    let to = paper.observed.pull.base.branch.clone();
    assert_eq!(paper.next(&document, &FIRST), Err(Refrain::BaseChanged { to: to.clone() }));
    document.receipt.base_branch = Some(to);
    assert!(matches!(paper.next(&document, &FIRST), Ok(Next::Post { .. })));
}

/// Design rule 1.
#[test]
fn half_a_review_has_no_verdict() {
    let document = Document { verdict: None, ..minor() };
    assert_eq!(Paper::new(&document.head).next(&document, &FIRST), Err(Refrain::NoVerdict));
}

/// TS-102: our own draft goes; a person's stays, and nothing is sent along with it.
#[test]
fn a_stale_draft_of_ours_is_removed_and_nobody_elses() {
    let document = minor();
    let mut paper = Paper::new(&document.head);
    let mark = Mark::Verdict {
        sitting: FIRST,
        run: "run".into(),
        verdict: Verdict::Minor,
        head: document.head.clone(),
        base_branch: Some("main".into()),
    };
    paper.review("tribunal", ReviewState::Pending, &format!("VERDICT: MINOR\n{}", seal(&mark, CASE, &key())));
    let Ok(Next::Post { remove, .. }) = paper.next(&document, &FIRST) else { panic!("a draft is no verdict") };
    assert_eq!(remove, ["r0"]);
    paper.review("tribunal", ReviewState::Pending, "VERDICT: LGTM by hand");
    assert_eq!(paper.next(&document, &FIRST), Err(Refrain::Stop(Stop::ForeignDraft)));
}

/// CF-10, TS-101: somebody else's words, or ours without a mark, are no verdict of ours; a tampered one proves nothing but that
/// something was said.
#[test]
fn only_our_own_seal_speaks() {
    let document = minor();
    let mut paper = Paper::new(&document.head);
    let mark = Mark::Verdict {
        sitting: FIRST,
        run: "run".into(),
        verdict: Verdict::Lgtm,
        head: "8888".into(),
        base_branch: Some("main".into()),
    };
    paper.review("mallory", ReviewState::Approved, &format!("VERDICT: LGTM\n{}", seal(&mark, CASE, &key())));
    paper.review("tribunal", ReviewState::Approved, "VERDICT: LGTM");
    assert!(matches!(paper.next(&document, &FIRST), Ok(Next::Post { .. })));
    let forged = seal(&mark, CASE, &MarkerKey::from_secret("mine"));
    paper.review("tribunal", ReviewState::Approved, &format!("VERDICT: LGTM\n{forged}"));
    let Ok(Next::Stands(stands)) = paper.next(&document, &FIRST) else { panic!("said twice") };
    assert_eq!((stands.verdict, stands.head), (None, document.head));
}

/// TS-97, CF-2: a refused approval is said as a comment, with the same words.
#[test]
fn a_refused_event_falls_back_to_a_comment() {
    let refused = ForgeFault::Refused { host: "h".into(), status: 422, message: "own pull request".into() };
    let doubt = ForgeFault::Uncertain { host: "h".into(), message: "cut off".into() };
    let moved = ForgeFault::Conflict { host: "h".into(), message: "head".into() };
    assert_eq!(after_fault(ReviewEvent::Approve, &refused), Then::OnlyComment);
    assert_eq!(after_fault(ReviewEvent::Comment, &refused), Then::Stop);
    assert_eq!(after_fault(ReviewEvent::Approve, &doubt), Then::LookAgain);
    assert_eq!(after_fault(ReviewEvent::RequestChanges, &moved), Then::LookAgain);
    let document = minor();
    let mut paper = Paper::new(&document.head);
    let body = |paper: &Paper| match paper.next(&document, &FIRST) {
        Ok(Next::Post { review, .. }) => (review.event, review.body),
        other => panic!("{other:?}"),
    };
    let (strong, words) = body(&paper);
    paper.only_comment = true;
    assert_eq!((strong, body(&paper)), (ReviewEvent::RequestChanges, (ReviewEvent::Comment, words)));
}

fn noisy(count: usize, text: &str) -> Document {
    let document = minor();
    let finding = |n: usize| Finding {
        id: crate::ids::FindingId(n as u32 + 1),
        failure_mode: text.to_owned(),
        mitigation: text.to_owned(),
        fix: Some(Fix::of_lines(1, 2, text.to_owned())),
        file: crate::ids::RepoPath::new(text),
        ..document.findings[0].clone()
    };
    Document { findings: (0..count).map(finding).collect(), ..document.clone() }
}

proptest! {
    /// TS-24, TS-27, TS-51, design rules 6 and 10: whatever reviewers write, the block keeps its form and its bounds, and nobody is called.
    #[test]
    fn hostile_words_cannot_break_the_block(count in 1usize..40, text in "a[\\n@#<`a: \u{202e}\u{1b}\\[\\]VERDIC]{0,80}", limit in 900usize..9_000) {
        let document = noisy(count, &text);
        let said = words(&block(&document, &FIRST), limit);
        prop_assert!(said.len() <= limit);
        prop_assert_eq!(spoken(&said), Some(Verdict::Minor));
        let fields: Vec<&str> = said.lines().filter(|line| ["VERDICT:", "FINDINGS:", "NEXT:"].iter().any(|field| line.starts_with(field))).collect();
        prop_assert_eq!(fields, ["VERDICT: MINOR", "FINDINGS:", "NEXT: address-and-resubmit"]);
        let bullets = said.lines().skip_while(|line| *line != "FINDINGS:").skip(1).take_while(|line| !line.is_empty());
        for bullet in bullets {
            prop_assert!(bullet.starts_with("- ") && bullet.ends_with("[severity: minor]"), "{}", bullet);
        }
        let is_hidden = said.contains(['\u{202e}', '\u{1b}']);
        prop_assert!(!is_hidden, "{}", said);
    }
}
