//! What is said of a run: its report in three forms, the block of each tick, the files.

use crate::cast::{looping, plain};
use crate::stage::Stage;
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::procedure::sweep::report::markdown::markdown;
use tribunal_core::procedure::sweep::report::text::text;
use tribunal_core::procedure::sweep::request::Mode;
use tribunal_core::procedure::sweep::{Act, Order};
use tribunal_core::pull::facts::CheckState;

/// SL-92: its sections, in their order.
#[test]
fn the_report_has_its_sections() {
    let told = Stage::new(plain(|flags| flags.merge = true))
        .pull(|_| {})
        .pull(|pull| pull.bugs = 1)
        .pull(|pull| pull.checks = CheckState::Failure)
        .pull(|pull| pull.hold = true)
        .world(|world| world.cast.reviewer = crate::cast::Reviewer::Blocks)
        .run();
    insta::assert_snapshot!(markdown(&told.report), @r"
    ## Review Complete: all open pull requests

    4 pull requests, 2 pairs.

    Ended: `complete` (pass-complete) — Every pull request of the set had its turn

    ### Results

    | PR | Title | CI | Review | Merge | Status |
    | --- | --- | --- | --- | --- | --- |
    | #1 | Change 1 | Pass | Approved | Merged (squash) | Complete |
    | #2 | Change 2 | Pass | Blocked | — | Needs human follow-up |
    | #3 | Change 3 | Failing | — | — | Skipped (CI failing) |
    | #4 | Change 4 | Pass | Approved | Held | Needs human follow-up |

    ### Needs Human Follow-up

    - #2 Needs human follow-up: something outside of the pull request is missing
    - #4 Needs human follow-up: the label `do-not-merge` holds it back

    ### Skipped (CI failing)

    - #3 Skipped (CI failing): `build` is red

    ### Epics

    Still open:
    - #201: a story is open

    ### Worktrees

    None: fixes are made in a clone of Tribunal's own.

    No spec was found for #1, #2, #4: whether they comply with one is unproved.

    ### Next Steps

    - #2, #4: read what is left in the pull request, then push or decide
    - #3: make the checks green
    ");
}

/// SL-44: what a dry run shows, and that nothing was done.
#[test]
fn a_dry_run_shows_what_it_would_do() {
    let told = Stage::new(plain(|flags| flags.dry_run = true))
        .pull(|_| {})
        .pull(|pull| pull.checks = CheckState::Failure)
        .pull(|pull| pull.markers = true)
        .run();
    insta::assert_snapshot!(markdown(&told.report), @r"
    ## Dry Run: all open pull requests

    3 pull requests, 2 pairs.

    | # | PR | Title | Branch | CI | Pair |
    | --- | --- | --- | --- | --- | --- |
    | 1 | #1 | Change 1 | `branch-1` | Pass | 1 |
    | 2 | #2 | Change 2 | `branch-2` | Failing | Skipped |
    | 3 | #3 | Change 3 | `branch-3` | Pass | Would be rejected: conflict markers |

    Nothing was reviewed, submitted, pushed or merged.

    ### Next Steps

    - #2: make the checks green
    ");
}

fn loop_of_one() -> crate::stage::Told {
    let request = looping(|flags| (flags.merge, flags.loops.max_iterations) = (true, Some(1)));
    Stage::new(request).pull(|_| {}).world(|world| world.cast.price = 0).run()
}

/// SL-156: the final report of a loop: cause, figures, every gate with its answer, and where the files are.
#[test]
fn the_final_report_has_its_figures() {
    insta::assert_snapshot!(text(&loop_of_one().report), @r"
    Sweep: all open pull requests

    #1  Change 1  Pass  Approved  Merged (squash)  Complete

    epic #201 open: a story is open
    Ended: iteration_budget (max-iterations-reached) — Iteration budget reached: 1 / 1
    Iterations: 1/1
    Pull requests touched: 1/20
    Minutes: 1/60
    Dollars: $0.00/$25.00
    Budget file: .sdd/loop/review.budget.json
    History file: .sdd/loop/review.history.jsonl
    Gate budget-escalation (iteration 1): Budgets at 80 % or more: iterations 1 / 1. Continue, raise them, or stop? → continue (ann)
    ");
}

/// SL-154: the block of each tick.
#[test]
fn each_tick_has_its_block() {
    let told = loop_of_one();
    let status = told.sent().find_map(|effect| match &effect.order {
        Order::Act(Act::Export { status, .. }) => Some(status.clone()),
        _ => None,
    });
    insta::assert_snapshot!(status.unwrap(), @r"
    Iteration: 1/1
    Started: 2027-01-15T08:00:00.000Z
    Budget left: 0 iterations, 59 minutes, 19 pull requests, $25.00 of $25.00
    Stop conditions: iteration_budget
    Concurrency: 2 pairs, lock held
    Outcome: halted
    Loop ended
    ");
    let single = looping(|flags| (flags.no_merge, flags.loops.pr, flags.loops.max_iterations) = (true, Some(1), Some(2)));
    let told = Stage::new(single).pull(|_| {}).run();
    let blocks = told.sent().filter_map(|effect| match &effect.order {
        Order::Act(Act::Export { status, .. }) => Some(status.clone()),
        _ => None,
    });
    let blocks: Vec<String> = blocks.collect();
    assert!(blocks[0].contains("Tracked: PR #1 at 000000000000") && blocks[0].contains("merges attempted: 0"), "{}", blocks[0]);
    assert!(blocks[0].contains("Next tick: ") && !blocks[0].contains("pull requests"), "{}", blocks[0]);
}

/// SL-117, SL-127, SL-150, SL-151: one line for a tick, with what it took, and the budget with all its fields.
#[test]
fn a_line_says_what_a_tick_took() {
    let request = looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(2)));
    let told = Stage::new(request).pull(|pull| (pull.bugs, pull.comments) = (1, 1)).run();
    let lines = told.lines();
    let (first, second) = (lines[0], lines[1]);
    assert_eq!(
        (first.iteration, first.prs_touched_this_iter.clone(), first.agents_dispatched_this_iter),
        (1, vec!["#1".to_owned()], 3)
    );
    assert_eq!((first.tokens_in_this_iter, first.tokens_out_this_iter), (300, 30));
    // A review, two replies, an approval.
    assert_eq!((first.budget_snapshot.comments_pushed, first.budget_snapshot.iterations_used), (4, 1));
    assert_eq!((second.agents_dispatched_this_iter, second.prs_touched_this_iter.len()), (0, 0));
    assert_eq!(second.budget_snapshot.tokens_in, 300);
    assert_eq!(first.tracked_prs[0].branch, "branch-1");
    let fields = serde_json::to_value(first).unwrap();
    for field in ["started_at", "ended_at", "outcome", "active_worktrees", "gates", "stop_conditions_fired", "skill"] {
        assert!(fields.get(field).is_some(), "{field}");
    }
}

/// SL-155: what a pattern strikes out of questions is in no file and no report; a choice stays readable.
#[test]
fn what_is_struck_out_is_nowhere() {
    let mut request = looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(1)));
    let Mode::Loop(looping) = &mut request.terms.mode else { panic!("a loop") };
    looping.redact = vec!["issue #[0-9]+".into()];
    let told = Stage::new(request).pull(|pull| pull.unclear = true).answer(GateName::AmbiguousCriteria, Choice::Skip).run();
    let line = serde_json::to_string(told.lines()[0]).unwrap();
    assert!(line.contains("[redacted]") && !line.contains("issue #101"), "{line}");
    assert!(!text(&told.report).contains("issue #101") && !markdown(&told.report).contains("101"));
    assert_eq!(told.lines()[0].gates[0].answer, "skip");
}

/// Design rule 6: what others wrote moves no cursor and closes no table.
#[test]
fn titles_are_made_harmless() {
    let mut report = loop_of_one().report;
    report.pulls[0].title = "a\u{1b}[2J | @ann <b>\n## x".into();
    assert!(!text(&report).contains('\u{1b}'));
    let shown = markdown(&report);
    assert!(!shown.contains("<b>") && !shown.contains("@ann") && !shown.contains("\n## x"), "{shown}");
}

/// CF-23: one reason, all that held listed; and the JSON reads back.
#[test]
fn one_reason_and_all_conditions() {
    let request = looping(|flags| (flags.no_merge, flags.loops.max_iterations, flags.loops.max_prs) = (true, Some(1), Some(1)));
    let told = Stage::new(request).pull(|_| {}).answer(GateName::BudgetEscalation, Choice::Continue).run();
    let names: Vec<&str> = told.report.conditions.iter().map(|fired| fired.name.as_str()).collect();
    assert_eq!(names, ["iteration_budget", "prs_touched_budget"]);
    assert_eq!((told.report.stop.as_str(), told.report.reason.word()), ("prs_touched_budget", "blocked"));
    let read: tribunal_core::procedure::sweep::Report = serde_json::from_str(&told.report.to_json()).unwrap();
    assert_eq!(read, told.report);
}
