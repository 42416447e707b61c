use super::*;
use crate::combine::finding::Voice;
use crate::combine::identity::IdBook;
use crate::combine::prior::OpenFinding;
use crate::diff::parse::parse_diff;
use crate::findings::role::built_in_roles;
use crate::findings::scale::{Blast, Confidence, Justification};
use crate::plan::files::summarise;
use crate::plan::mode::LastReview;
use crate::policy::config::Config;
use crate::procedure::review::pull::PullRun;
use crate::procedure::review::{ChangeRead, Effect, Input, LastKnown, Phase, Request, SeatAnswer, Spend, State, step};
use crate::publish::status::status;
use crate::publish::tests::{DIFF, first};
use crate::pull::facts::{Account, AccountKind, CheckState};
use crate::pull::place::{ForgeKind, Project};
use crate::report::publication::PullSubject;
use crate::report::receipt::{Reading, SeatState};
use proptest::prelude::*;

fn brought(receipt: &Document) -> Brought {
    Brought::from_receipt(receipt, &parse_diff(DIFF.as_bytes()).unwrap(), &built_in_roles().unwrap())
}

/// Issue 5, build 10: a forged receipt can add what the diff proves, and nothing else.
#[test]
fn a_receipt_brings_only_what_the_change_bears_out() {
    let mut receipt = first();
    let honest = brought(&receipt);
    assert_eq!((honest.findings.len(), honest.unproved), (receipt.findings.len(), 0));
    receipt.findings[0].evidence = "drop_all_tables()".into();
    receipt.findings[1].slug = "x** <img src=y>".into();
    receipt.findings[1].failure_mode = "a\nb".repeat(1000);
    receipt.receipt.run = RunId("r1`\n[x](http://evil.example)".into());
    let forged = brought(&receipt);
    assert_eq!(forged.unproved, 1);
    assert!(forged.findings.iter().all(|finding| finding.slug.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    assert!(forged.findings.iter().all(|finding| finding.failure_mode.chars().count() <= 400));
    assert_eq!(forged.run.as_str(), "r1xhttpevilexample");
}

/// Issue 16, point 12: keys, names, voices, fixes and dismissals are not taken over.
#[test]
fn keys_are_made_here() {
    let receipt = first();
    for finding in brought(&receipt).findings {
        assert!(finding.key.is_brought(), "{:?}", finding.key);
        assert!(receipt.findings.iter().all(|theirs| theirs.key != finding.key));
        assert!(finding.agreement.iter().all(|voice| voice.agent.as_str() == RECEIPT_AGENT && voice.rule.is_none()));
        assert_eq!((finding.fix, finding.dismissed), (None, None));
    }
}

#[test]
fn half_a_review_stays_half() {
    let receipt = Document { outcome: Outcome::Incomplete, ..first() };
    assert!(brought(&receipt).trouble.is_some());
}

fn place(number: u64) -> Place {
    let project = Project { origin: "https://git.example.org".into(), path: "acme/shop".into() };
    Place { kind: ForgeKind::Gitea, project, number }
}

fn subject(place: Place) -> PullSubject {
    PullSubject { place, title: String::new(), url: String::new() }
}

/// Issue 16, point 11: what the receipt says of itself is compared with what was asked for.
#[test]
fn a_receipt_must_be_of_this_pull_request() {
    let mut receipt = Document { pull: Some(subject(place(7))), ..first() };
    let head = receipt.head.clone();
    assert_eq!(check_receipt(&receipt, &place(7), &head), Ok(()));
    assert!(matches!(check_receipt(&receipt, &place(8), &head), Err(ReceiptMismatch::OtherPullRequest { .. })));
    let elsewhere = Place { project: Project { origin: "https://evil.example".into(), ..place(7).project }, ..place(7) };
    assert!(matches!(check_receipt(&receipt, &elsewhere, &head), Err(ReceiptMismatch::OtherPullRequest { .. })));
    assert!(check_receipt(&receipt, &Place { kind: ForgeKind::GitHub, ..place(7) }, &head).is_err());
    assert!(matches!(check_receipt(&receipt, &place(7), &"f00".into()), Err(ReceiptMismatch::OtherHead { .. })));
    receipt.receipt.head = "f00".into();
    assert!(matches!(check_receipt(&receipt, &place(7), &head), Err(ReceiptMismatch::OtherHead { .. })));
    receipt.pull = None;
    assert_eq!(check_receipt(&receipt, &place(7), &head), Err(ReceiptMismatch::NoPullRequest));
}

const MODELS: &str = "[agents.m]\nkind = 'command'\ncommand = ['m']\n[panel]\nsecurity-reviewer = ['m', 'rules']\n";

/// A review where a receipt is posted: the rules say `found`, everybody else is not asked.
fn review(config: &str, last: Option<LastKnown>, found: &[Claim], brought: Option<Brought>) -> Document {
    let change = parse_diff(DIFF.as_bytes()).unwrap();
    let roles = built_in_roles().unwrap();
    let names: Vec<_> = roles.iter().map(|role| role.name.clone()).collect();
    let config: Config = toml::from_str(config).unwrap();
    let policy = Policy::new(&config, &names).unwrap();
    let request = Request {
        pull: Some(PullRun {
            subject: subject(place(7)),
            author: Account { id: "1".into(), login: "eve".into(), kind: AccountKind::Person },
            updated_at: String::new(),
            base_tip: "t".into(),
            base_branch: Some("main".into()),
            linked_issue: None,
            language: None,
            publish: false,
            references: Vec::new(),
            withheld: not_asked(&policy),
            brought,
        }),
        policy,
        ..crate::procedure::review::tests::request()
    };
    let mut state: State = step(None, Input::Start { request: Box::new(request) }, 1).unwrap().state;
    let ids = last.as_ref().map(|last| last.open.iter().map(|open| (open.finding.key.clone(), open.finding.id)).collect());
    let read = ChangeRead {
        files: summarise(&change),
        has_repo: true,
        last,
        loose: Vec::new(),
        lost: None,
        unverified: 0,
        ids: ids.map(IdBook::from_names).unwrap_or_default(),
        pull: None,
        dismissals: Vec::new(),
        rule_dismissals: Vec::new(),
    };
    let planned = step(Some(state), Input::ChangeRead(Box::new(read)), 2).unwrap();
    state = planned.state;
    for effect in planned.effects {
        let Effect::RunSeat(seat) = effect else { panic!("{effect:?}") };
        assert_eq!(seat.agent.as_str(), "rules", "nobody else is asked");
        let role = roles.iter().find(|role| role.name == seat.role).unwrap();
        let (agent, outlines) = (seat.agent.clone(), BTreeMap::new());
        let gate = Gate {
            role,
            agent: &agent,
            change: &change,
            outlines: &outlines,
            window: None,
            has_repo: true,
            spec: None,
            directives: &[],
            author: crate::findings::admit::Author::Rules,
        };
        let findings = found.iter().filter(|claim| role.owns(&claim.category)).cloned().collect();
        let answer = SeatAnswer {
            report: admit(Report { findings, ..Report::default() }, &gate),
            reading: Reading { files: 1, read: 1, parts: 1 },
            ..SeatAnswer::troubled(SeatState::Ok, Spend::default())
        };
        state = step(Some(state), Input::SeatFinished { seat, answer: Box::new(answer) }, 3).unwrap().state;
    }
    match state.phase {
        Phase::Done(document) | Phase::Noop { document: Some(document), .. } => *document,
        other => panic!("{other:?}"),
    }
}

/// An earlier review with these findings open.
fn earlier(findings: Vec<Finding>) -> LastKnown {
    LastKnown {
        run: "r0".into(),
        review: LastReview {
            base: "b".into(),
            head: "h0".into(),
            reachable: true,
            fingerprint: "other".into(),
            complete: true,
            proved: true,
            same_content: false,
            other_target: false,
        },
        open: findings.into_iter().map(OpenFinding::new).collect(),
        gaps: Vec::new(),
        clean: Vec::new(),
        iteration: 1,
        changed_since: None,
        renamed: BTreeMap::new(),
        history: Vec::new(),
        document: None,
    }
}

/// Issue 16, point 12, as it was demonstrated: the public key of an open P0 comes back as a P3.
#[test]
fn a_public_key_with_a_lighter_weight_closes_nothing() {
    let open = first().findings;
    assert_eq!(open[0].p_code, Priority::P0);
    let mut receipt = first();
    for finding in &mut receipt.findings {
        finding.p_code = Priority::P3;
        finding.justification = Justification::Precedent;
        finding.agreement = open[0].agreement.clone();
    }
    let after = review("", Some(earlier(open.clone())), &[], Some(brought(&receipt)));
    let p0 = after.findings.iter().find(|finding| finding.key == open[0].key).unwrap();
    assert_eq!((p0.p_code, p0.id), (Priority::P0, open[0].id));
    assert_eq!(status(&after).state, CheckState::Failure);
}

/// Issue 16, point 12, as it was demonstrated: nothing stood there before, and the receipt says that nothing was found.
#[test]
fn an_emptied_receipt_is_not_green_where_others_should_have_looked() {
    let mut receipt = first();
    receipt.findings.clear();
    receipt.outcome = Outcome::Clean;
    let after = review(MODELS, None, &[], Some(brought(&receipt)));
    assert_eq!(status(&after).state, CheckState::Error);
    assert_eq!((after.outcome, after.verdict), (Outcome::Incomplete, None));
    assert!(
        after.subagent_failures.iter().any(|failure| failure.reason.contains("nobody has verified")),
        "{:?}",
        after.subagent_failures
    );
    // Where the policy asks for the rules alone, they have looked here.
    assert_eq!(status(&review("", None, &[], Some(brought(&receipt)))).state, CheckState::Success);
}

/// A whole review of exactly this head, made here, that found this.
fn whole(found: &[Claim]) -> Document {
    let whole = review("", None, found, None);
    assert!(matches!(whole.outcome, Outcome::Clean | Outcome::Findings));
    whole
}

fn stands(document: &Document) -> LastKnown {
    let review = LastReview {
        base: document.base.clone(),
        head: document.head.clone(),
        fingerprint: document.receipt.fingerprint.clone(),
        ..earlier(Vec::new()).review
    };
    LastKnown { review, document: Some(Box::new(document.clone())), ..earlier(document.findings.clone()) }
}

fn emptied() -> Document {
    Document { findings: Vec::new(), outcome: Outcome::Clean, ..first() }
}

/// Whoever may post a receipt cannot turn a green status into an error with one that says nothing, nor a red one.
#[test]
fn what_adds_nothing_leaves_a_whole_review_as_it_is() {
    let known: Vec<Claim> = first().findings.iter().map(claim).collect();
    for (found, state) in [(&[][..], CheckState::Success), (&known, CheckState::Failure)] {
        let standing = whole(found);
        assert_eq!(status(&standing).state, state);
        let mut unproved = first();
        unproved.findings.iter_mut().for_each(|finding| finding.evidence = "not there".into());
        let half = Document { outcome: Outcome::Incomplete, ..emptied() };
        let again = Document { findings: standing.findings.clone(), ..first() };
        for receipt in [emptied(), half, unproved, again] {
            let after = review(MODELS, Some(stands(&standing)), &[], Some(brought(&receipt)));
            assert_eq!(after, standing, "{:?}", receipt.findings);
        }
    }
}

/// What stands under another policy, of another head, in part, or without a mark of ours stands in for nobody; and what a receipt adds
/// is seen.
#[test]
fn a_receipt_leaves_nothing_standing_that_is_not_whole_and_of_this() {
    let standing = whole(&[]);
    let after = |last: LastKnown, receipt: &Document| status(&review(MODELS, Some(last), &[], Some(brought(receipt)))).state;
    assert_eq!(after(stands(&standing), &emptied()), CheckState::Success);
    assert_eq!(after(stands(&standing), &first()), CheckState::Error);
    let doubts: [fn(&mut LastReview); 5] = [
        |last| last.fingerprint = "other".into(),
        |last| last.head = "h0".into(),
        |last| (last.base, last.same_content) = ("b0".into(), false),
        |last| last.complete = false,
        |last| last.proved = false,
    ];
    for (n, doubt) in doubts.into_iter().enumerate() {
        let mut last = stands(&standing);
        doubt(&mut last.review);
        assert_eq!(after(last, &emptied()), CheckState::Error, "{n}");
    }
    // A receipt's own review is nobody's trusted one.
    let posted = review("", None, &[], Some(brought(&emptied())));
    let mut another = emptied();
    another.receipt.run = "r77".into();
    assert_eq!(after(stands(&posted), &another), CheckState::Error);
}

/// A finding that a reviewer of ours makes later is not the one that was brought, and no word on that one counts for it.
#[test]
fn what_was_brought_never_lends_its_name() {
    let mut receipt = first();
    receipt.findings.truncate(1);
    receipt.findings[0].p_code = Priority::P2;
    receipt.findings[0].justification = Justification::Precedent;
    let posted = review("", None, &[], Some(brought(&receipt)));
    let (lent, claimed) = (posted.findings[0].id, posted.findings[0].p_code);
    assert!(claimed > Priority::P0);
    let ours = claim(&first().findings[0]);
    let later = review("", Some(earlier(posted.findings)), &[ours], None);
    assert_eq!(later.findings.len(), 1, "it is said once");
    assert_eq!(later.findings[0].p_code, Priority::P0);
    assert_ne!(later.findings[0].id, lent);
}

fn any_priority() -> impl Strategy<Value = Priority> {
    prop::sample::select(Priority::ALL.to_vec())
}

prop_compose! {
    /// A finding of a receipt: of the change or not, with a key of ours or not, in anybody's name.
    fn any_claimed()(
        base in 0..3usize, p_code in any_priority(), key in prop::option::of(0..3usize), category in 0..4usize,
        evidence in prop::sample::select(vec!["os.system(cmd)", "total = 0.1", "retry()", "import os", "not there", ""]),
        line in 0..9u32, voice in prop::sample::select(vec!["rules", "test", "m", "receipt"]), low in any::<bool>(),
        justification in prop::sample::select(vec![Justification::Reachable, Justification::Asymmetric, Justification::Hygiene, Justification::Precedent]),
        path in prop::sample::select(vec!["src/a.py", "src/b.py", "../../etc/passwd"]),
    ) -> Finding {
        let known = first().findings;
        let mut finding = known[base % known.len()].clone();
        if let Some(key) = key {
            finding.key = known[key % known.len()].key.clone();
        }
        finding.p_code = p_code;
        finding.category_code = ["S1", "E5", "E9", "Z9"][category].into();
        finding.evidence = evidence.to_owned();
        finding.line_start = line;
        finding.file = path.into();
        finding.confidence = if low { Confidence::Low } else { Confidence::High };
        finding.blast = Blast::Local;
        finding.justification = justification;
        finding.agreement = vec![Voice { role: "security-reviewer".into(), agent: voice.into(), rule: Some("x".into()), sample: 0 }];
        finding.dismissed = Some(crate::combine::dismissal::Dismissed { by: "eve".into(), reason: "no".into(), accepted: true });
        finding
    }
}

prop_compose! {
    fn any_receipt()(
        findings in prop::collection::vec(any_claimed(), 0..6),
        outcome in prop::sample::select(vec![Outcome::Clean, Outcome::Findings, Outcome::Incomplete, Outcome::NotRun]),
        run in "[ -~]{0,20}",
    ) -> Document {
        let mut receipt = Document { findings, outcome, ..first() };
        receipt.receipt.run = RunId(run);
        receipt
    }
}

/// What we said of this change earlier: any of its findings, at any weight; and what an earlier receipt brought.
fn any_prior() -> impl Strategy<Value = Option<Vec<Finding>>> {
    let ours = prop::collection::vec((0..3usize, any_priority()), 0..4);
    prop::option::of((ours, prop::option::of(any_receipt()))).prop_map(|prior| {
        prior.map(|(ours, earlier)| {
            let known = first().findings;
            let mut open: Vec<Finding> = Vec::new();
            for (n, p_code) in ours {
                let finding = Finding { p_code, ..known[n % known.len()].clone() };
                if open.iter().all(|open| open.key != finding.key) {
                    open.push(finding);
                }
            }
            open.extend(earlier.map(|earlier| brought(&earlier).findings).unwrap_or_default());
            for (n, finding) in open.iter_mut().enumerate() {
                finding.id = crate::ids::FindingId(n as u32 + 1);
            }
            open
        })
    })
}

/// How good a status is for whoever wants the change in.
fn goodness(document: &Document) -> u8 {
    u8::from(status(document).state == CheckState::Success)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]
    /// Issue 16, point 12: for any receipt, status, priorities and the set of open findings are never better than without it.
    #[test]
    fn no_receipt_makes_anything_better(
        receipt in any_receipt(), prior in any_prior(), has_models in any::<bool>(),
        found in prop::collection::vec((0..3usize, any_priority()), 0..3),
    ) {
        let config = if has_models { MODELS } else { "" };
        let known = first().findings;
        let found: Vec<Claim> =
            found.into_iter().map(|(n, p_code)| claim(&Finding { p_code, ..known[n % known.len()].clone() })).collect();
        let last = || prior.clone().map(earlier);
        let without = review(config, last(), &found, None);
        let with = review(config, last(), &found, Some(brought(&receipt)));
        prop_assert!(goodness(&with) <= goodness(&without));
        prop_assert!(with.exit_code() >= without.exit_code().min(1), "{} {}", with.exit_code(), without.exit_code());
        if has_models {
            prop_assert_ne!(with.outcome, Outcome::Clean);
            prop_assert_eq!(goodness(&with), 0);
        }
        for finding in &without.findings {
            let again = with.findings.iter().find(|other| other.key == finding.key);
            prop_assert!(again.is_some(), "{:?} is gone", finding);
            let again = again.unwrap();
            prop_assert!(again.p_code <= finding.p_code && again.counts() >= finding.counts(), "{again:?}");
            let same = Finding { related: again.related.clone(), ..finding.clone() };
            prop_assert!(finding.key.is_brought() || *again == same, "{:?}", again);
        }
        // A whole review that stands at this head is never made better either, and what adds nothing leaves it.
        let standing = whole(&found);
        let with_standing = review(config, Some(stands(&standing)), &found, Some(brought(&receipt)));
        prop_assert!(goodness(&with_standing) <= goodness(&standing));
        for finding in &standing.findings {
            let again = with_standing.findings.iter().find(|other| other.key == finding.key);
            prop_assert!(again.is_some_and(|again| again.p_code <= finding.p_code), "{:?}", finding);
        }
        prop_assert!(brought(&receipt).adds_to(&standing) || with_standing == standing);
        let names: std::collections::BTreeSet<_> = with.findings.iter().map(|finding| finding.id).collect();
        prop_assert_eq!(names.len(), with.findings.len(), "each has a name of its own");
    }
}
