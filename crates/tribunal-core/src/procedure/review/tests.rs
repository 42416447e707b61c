mod case;

use super::*;
use crate::diff::change::FileStatus;
use crate::findings::role::built_in_roles;
use crate::findings::scale::Priority;
use crate::plan::base::{BaseFacts, FileBefore};
use crate::plan::files::ContentKind;
use crate::policy::config::Config;
use crate::pull::facts::{Account, AccountKind};
use crate::pull::place::{ForgeKind, Place, Project};
use crate::report::publication::PullSubject;

pub fn request() -> Request {
    let roles = built_in_roles().unwrap();
    let names: Vec<_> = roles.iter().map(|role| role.name.clone()).collect();
    Request {
        run: "r1".into(),
        engine: "0.1.0".into(),
        target: Target::Trees { base: "b".into(), head: "h".into(), subject: "x against main".into(), tip: None },
        mode: RequestedMode::Auto,
        spec: None,
        test_direction: None,
        context: None,
        policy: Policy::new(&Config::default(), &names).unwrap(),
        roles,
        fingerprint: "f".into(),
        rules_hash: "r".into(),
        guidance_at: None,
        committed_only: false,
        left_out: Vec::new(),
        included: Default::default(),
        notices: Vec::new(),
        pull: None,
        nonce: "n".into(),
    }
}

fn file(path: &str) -> FileSummary {
    let text = ContentKind::Text;
    let before = FileBefore { path: path.into(), content: text, says_generated: false, format: None };
    let base = BaseFacts { before: Some(before), ..BaseFacts::default() };
    FileSummary { added: 60, is_lock_form: true, base: Some(base), ..FileSummary::new(path.into(), FileStatus::Modified, text) }
}

fn change(files: Vec<FileSummary>) -> Input {
    Input::ChangeRead(Box::new(ChangeRead {
        files,
        has_repo: true,
        last: None,
        loose: Vec::new(),
        lost: None,
        unverified: 0,
        ids: IdBook::default(),
        pull: None,
        dismissals: Vec::new(),
        rule_dismissals: Vec::new(),
    }))
}

fn begin(files: Vec<FileSummary>) -> (State, Vec<Effect>) {
    let started = step(None, Input::Start { request: Box::new(request()) }, 1).unwrap();
    assert_eq!(started.effects, vec![Effect::ReadChange]);
    let planned = step(Some(started.state), change(files), 2).unwrap();
    (planned.state, planned.effects)
}

fn failure(state: SeatState) -> Box<SeatAnswer> {
    Box::new(SeatAnswer::troubled(state, Spend::default()))
}

fn report() -> Box<SeatAnswer> {
    Box::new(SeatAnswer { reading: Reading { files: 1, read: 1, parts: 1 }, ..*failure(SeatState::Ok) })
}

fn seats(effects: &[Effect]) -> Vec<Seat> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::RunSeat(seat) => Some(seat.clone()),
            Effect::ReadChange | Effect::Verify(_) | Effect::Publish | Effect::Decline => None,
        })
        .collect()
}

fn play(mut state: State, answers: Vec<(Seat, Box<SeatAnswer>)>) -> State {
    for (seat, answer) in answers {
        state = step(Some(state), Input::SeatFinished { seat, answer }, 3).unwrap().state;
    }
    state
}

fn document(state: State) -> Document {
    match state.phase {
        Phase::Done(document) => *document,
        other => panic!("not done: {other:?}"),
    }
}

/// PR-3, PR-4: the panel is called at once, and nobody else reviews.
#[test]
fn the_panel_is_called_in_one_step() {
    let (state, effects) = begin(vec![file("a.py")]);
    assert_eq!(
        seats(&effects).iter().map(|seat| seat.role.as_str()).collect::<Vec<_>>(),
        ["security-reviewer", "staff-engineer", "sdet"]
    );
    assert!(!state.is_settled());
}

/// PR-10: a review is not passed before every report was read.
#[test]
fn a_review_ends_only_with_the_last_answer() {
    let (state, effects) = begin(vec![file("a.py")]);
    let mut seats = seats(&effects);
    let last = seats.pop().unwrap();
    let state = play(state, seats.into_iter().map(|seat| (seat, report())).collect());
    assert!(!state.is_settled());
    let done = document(play(state, vec![(last, report())]));
    assert_eq!(done.outcome.word(), "clean");
    assert_eq!(done.exit_code(), 0);
}

/// PR-6, PR-46, PR-97, design rule 1: one failure gives incomplete, never clean, and is named.
#[test]
fn a_failed_reviewer_makes_the_review_incomplete() {
    let (state, effects) = begin(vec![file("a.py")]);
    let answers = seats(&effects)
        .into_iter()
        .map(|seat| {
            if seat.role.as_str() == "sdet" {
                (seat, failure(SeatState::Failed { reason: "garbage".into() }))
            } else {
                (seat, report())
            }
        })
        .collect();
    let done = document(play(state, answers));
    assert_eq!((done.outcome.word(), done.exit_code()), ("incomplete", 3));
    assert!(done.summary_line.contains("Partial — sdet failed"), "{}", done.summary_line);
    assert_eq!(done.subagent_failures[0].reason, "garbage");
}

/// Issue 18, section 0, point 2: who saw more P0 and P1 than are kept has not said all of it.
#[test]
fn grave_findings_over_the_cap_make_the_review_incomplete() {
    let (state, effects) = begin(vec![file("a.py")]);
    let flooded = |seat: &Seat| {
        let mut answer = *report();
        if seat.role.as_str() == "sdet" {
            answer.report.over_cap = BTreeMap::from([(Priority::P0, 1), (Priority::P1, 4)]);
        }
        Box::new(answer)
    };
    let answers = seats(&effects).into_iter().map(|seat| (seat.clone(), flooded(&seat))).collect();
    let done = document(play(state, answers));
    assert_eq!((done.outcome.word(), done.exit_code()), ("incomplete", 3));
    assert_eq!(done.subagent_failures[0].seat.role.as_str(), "sdet");
    assert_eq!(done.subagent_failures[0].reason, "reported too many findings: 0 are kept, and 1 P0 and 4 P1 are not");
}

/// PR-7: when all fail there is no review.
#[test]
fn when_all_fail_nothing_is_approved() {
    let (state, effects) = begin(vec![file("a.py")]);
    let answers = seats(&effects).into_iter().map(|seat| (seat, failure(SeatState::TimedOut { after_seconds: 5 }))).collect();
    let done = document(play(state, answers));
    assert_eq!(done.exit_code(), 3);
    assert!(done.summary_line.contains("3/3 reviewers failed"), "{}", done.summary_line);
    assert!(!done.summary_line.contains("Approved") && done.summary_line.contains("Not reviewed"));
    assert_eq!((done.receipt.coverage.reviewed, done.receipt.coverage.unread), (0, 1));
}

/// Coverage: a file that was too large to read is a hole, and a hole is never green.
#[test]
fn an_unread_file_makes_the_review_incomplete() {
    let (state, effects) = begin(vec![file("a.py"), FileSummary { too_large: true, ..file("big.json") }]);
    let done = document(play(state, seats(&effects).into_iter().map(|seat| (seat, report())).collect()));
    assert_eq!(done.exit_code(), 3);
    assert!(done.notices.iter().any(|notice| notice.contains("big.json was not read")));
    assert_eq!(done.receipt.coverage.files, 2);
}

/// A change without files is not reviewed, and not green.
#[test]
fn nothing_to_review_is_not_a_review() {
    let (state, effects) = begin(vec![]);
    assert!(effects.is_empty());
    assert!(matches!(state.phase, Phase::NotRun { .. }));
}

/// What was left out whole was not reviewed: a lock file alone gives no green.
#[test]
fn a_change_that_is_left_out_whole_is_not_a_review() {
    let (state, effects) = begin(vec![file("Cargo.lock"), file("vendor/x.go")]);
    assert!(effects.is_empty());
    assert!(matches!(state.phase, Phase::NotRun { reason } if reason.contains("1 lock file, 1 vendored")));
}

/// PR-28, PR-34, PR-101: nothing new since the last review: no dispatch.
#[test]
fn the_same_head_is_a_noop() {
    let started = step(None, Input::Start { request: Box::new(request()) }, 1).unwrap().state;
    let last = LastKnown {
        run: "r0".into(),
        review: LastReview {
            head: "h".into(),
            base: "b".into(),
            reachable: true,
            fingerprint: "f".into(),
            complete: true,
            proved: true,
            same_content: false,
            other_target: false,
        },
        open: vec![],
        gaps: vec![],
        clean: vec![],
        iteration: 1,
        changed_since: Some(BTreeSet::new()),
        renamed: BTreeMap::new(),
        history: Vec::new(),
        document: None,
    };
    let read = ChangeRead {
        files: vec![file("a.py")],
        has_repo: true,
        last: Some(last),
        loose: Vec::new(),
        lost: None,
        unverified: 0,
        ids: IdBook::default(),
        pull: None,
        dismissals: Vec::new(),
        rule_dismissals: Vec::new(),
    };
    let planned = step(Some(started), Input::ChangeRead(Box::new(read)), 2).unwrap();
    assert!(planned.effects.is_empty());
    assert!(matches!(planned.state.phase, Phase::Noop { last_run, .. } if last_run.as_str() == "r0"));
}

/// Late and repeated answers change nothing: an effect may be run twice.
#[test]
fn a_repeated_answer_changes_nothing() {
    let (state, effects) = begin(vec![file("a.py")]);
    let seat = seats(&effects).remove(0);
    let once = play(state, vec![(seat.clone(), report())]);
    let twice = play(once.clone(), vec![(seat, failure(SeatState::Failed { reason: "late".into() }))]);
    assert_eq!(once, twice);
}

/// A state goes to the ledger and comes back the same.
#[test]
fn states_survive_storage() {
    let (state, _) = begin(vec![file("a.py")]);
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state);
}

#[test]
fn a_state_of_a_later_release_is_refused() {
    let (state, _) = begin(vec![file("a.py")]);
    assert_eq!(State { model: 99, ..state }.upgrade(), Err(StepError::LaterModel(99)));
}

/// A request on a fork's pull request that `one` plays, `two` stands in for and `three` verifies; these are not given the change.
fn of_a_stranger(withheld: &[&str]) -> Request {
    let config = r#"
        [agents.one]
        kind = "command"
        command = ["/bin/one"]
        [agents.two]
        kind = "command"
        command = ["/bin/two"]
        [agents.three]
        kind = "anthropic"
        model = "opus"
        [panel]
        verify = { agent = "three" }
        staff-engineer = [{ agent = "one", fallback = ["two"] }]
    "#;
    let mut request = request();
    let names: Vec<_> = request.roles.iter().map(|role| role.name.clone()).collect();
    request.policy = Policy::new(&toml::from_str(config).unwrap(), &names).unwrap();
    let withheld = withheld.iter().map(|agent| ((*agent).into(), "a stranger".to_owned())).collect();
    let project = Project { origin: "https://forge.example".into(), path: "acme/shop".into() };
    request.pull = Some(pull::PullRun {
        references: Vec::new(),
        subject: PullSubject {
            place: Place { kind: ForgeKind::Gitea, project, number: 7 },
            title: "A gift".into(),
            url: String::new(),
        },
        author: Account { id: "9".into(), login: "stranger".into(), kind: AccountKind::Person },
        updated_at: String::new(),
        base_tip: "t".into(),
        base_branch: Some("main".into()),
        linked_issue: None,
        language: None,
        publish: false,
        brought: None,
        withheld,
    });
    request
}

/// Whoever may not be asked does not stand in either.
#[test]
fn an_agent_that_is_withheld_never_stands_in() {
    for (withheld, asked) in [(vec![], vec!["two"]), (vec!["two"], vec![])] {
        let started = step(None, Input::Start { request: Box::new(of_a_stranger(&withheld)) }, 1).unwrap();
        let planned = step(Some(started.state), change(vec![file("a.rs")]), 2).unwrap();
        let seat = seats(&planned.effects).into_iter().find(|seat| seat.agent.as_str() == "one").unwrap();
        let answer = failure(SeatState::Failed { reason: "it crashed".into() });
        let next = step(Some(planned.state), Input::SeatFinished { seat, answer }, 3).unwrap();
        let called: Vec<String> = seats(&next.effects).iter().map(|seat| seat.agent.to_string()).collect();
        assert_eq!(called, asked);
    }
}

/// Nor does it give the second opinion, and the review says so.
#[test]
fn an_agent_that_is_withheld_is_not_asked_for_a_second_opinion() {
    let started = step(None, Input::Start { request: Box::new(of_a_stranger(&["three"])) }, 1).unwrap();
    let planned = step(Some(started.state), change(vec![file("a.rs")]), 2).unwrap();
    let answers = seats(&planned.effects).into_iter().map(|seat| (seat, report())).collect();
    let document = document(play(planned.state, answers));
    assert!(document.notices.iter().any(|notice| notice.starts_with("No second opinion was asked for: a stranger")));
}
