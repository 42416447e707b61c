//! Ceilings: pull requests, minutes, money.

use crate::cast::{looping, plain};
use crate::stage::Stage;
use tribunal_core::call::money::Money;
use tribunal_core::gate::{Choice, GateName};
use tribunal_core::procedure::sweep::request::Flags;
use tribunal_core::procedure::sweep::{Act, Order, Request};

fn capped(change: impl FnOnce(&mut Flags)) -> Stage {
    let request = looping(|flags| {
        (flags.no_merge, flags.loops.max_iterations) = (true, Some(3));
        change(flags);
    });
    Stage::new(request).answer(GateName::BudgetEscalation, Choice::Continue)
}

fn three(stage: Stage) -> Stage {
    stage.pull(|_| {}).pull(|_| {}).pull(|_| {})
}

/// SL-13, SL-131, SL-134 #4: distinct pull requests; one more is not begun, and then it is the end.
#[test]
fn distinct_pull_requests_are_counted() {
    let told = three(capped(|flags| flags.loops.max_prs = Some(2))).run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("prs_touched_budget", 4));
    assert_eq!((told.status(3).as_str(), told.note(3)), ("NotBegun", "the ceiling of 2 pull requests is reached"));
    assert_eq!(told.lines()[0].budget_snapshot.prs_touched, ["#1", "#2"]);
}

/// SL-13, SL-149: a watch of one has no such ceiling.
#[test]
fn a_single_one_is_not_counted() {
    let request = looping(|flags| (flags.no_merge, flags.loops.pr, flags.loops.max_prs) = (true, Some(1), Some(1)));
    let told = Stage::new(request).pull(|_| {}).answer(GateName::BudgetEscalation, Choice::Continue).run();
    assert_eq!(told.report.stop, "iteration_budget");
    assert!(told.questions().iter().all(|question| !question.contains("pull requests")));
    assert_eq!(told.lines()[0].budget_snapshot.prs_touched, ["#1"]);
}

/// SL-14, SL-134 #5: the clock runs from the beginning, and nothing is begun after its end.
#[test]
fn the_clock_ends_it() {
    let told = three(capped(|flags| (flags.pairs, flags.loops.max_minutes) = (Some(1), Some(2)))).run();
    assert_eq!((told.report.stop.as_str(), told.report.reason.word()), ("wall_clock_budget", "watch-window-elapsed"));
    assert!(told.report.pulls.iter().any(|row| row.note.as_deref() == Some("the time of the run is over")));
    assert_eq!(told.report.exit_code, 4);
}

/// SL-15, SL-134 #12: at the ceiling it is the end.
#[test]
fn the_money_ends_it() {
    let stage = three(capped(|flags| flags.loops.max_dollars = Some(0.002))).world(|world| world.cast.price = 5_000_000);
    let told = stage.run();
    let looped = told.report.looped.as_ref().unwrap();
    assert!(looped.dollars <= Money::micros(2_000), "{}", looped.dollars);
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("cost_budget", 4), "{:?}", told.report);
}

/// SL-134 #12, design rule 10: a ceiling that is kept is seldom met to the cent. What is left and buys nothing any more is the end
/// too; it is not split into shares that buy nothing, and nobody is sent in vain for the rest.
#[test]
fn what_buys_nothing_is_the_end() {
    for (pairs, ceiling, spent) in [(1, 0.50, 490_000), (2, 0.50, 490_000), (4, 0.50, 490_000), (2, 0.10, 70_000), (3, 0.06, 0)] {
        let stage = capped(|flags| {
            (flags.pairs, flags.loops.max_dollars, flags.loops.max_iterations) = (Some(pairs), Some(ceiling), Some(50));
        });
        let stage = (0..12).fold(stage, |stage, _| stage.pull(|_| {}));
        let told = stage.world(|world| (world.cast.price, world.cast.exact) = (70_000, true)).run();
        assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("cost_budget", 4), "{pairs} {ceiling}");
        let looped = told.report.looped.as_ref().unwrap();
        assert_eq!((looped.iterations, looped.dollars), (1, Money::micros(spent)), "{pairs} {ceiling}");
        assert_eq!(told.lines()[0].stop_conditions_fired, ["cost_budget"]);
        let reviews = told.names().iter().filter(|name| name.starts_with("review")).count();
        let paid = spent as usize / 70_000;
        assert!(reviews <= paid + 2 * pairs as usize, "{reviews} reviews, of which {paid} could be paid for");
    }
}

/// A cap on one effort is not the ceiling of the run: who meets it stops nobody else.
#[test]
fn a_cap_of_one_effort_ends_nothing() {
    let mut request = looping(|flags| (flags.no_merge, flags.loops.max_iterations) = (true, Some(1)));
    request.policy.budget.run = Money::micros(60_000);
    let told = three(Stage::new(request)).world(|world| (world.cast.price, world.cast.exact) = (70_000, true)).run();
    assert_eq!((told.report.stop.as_str(), told.report.exit_code), ("iteration_budget", 4));
    assert!(told.report.pulls.iter().all(|row| row.note.as_deref() == Some("the next call does not fit")));
}

/// SL-15: 0 is no ceiling; the sum is kept.
#[test]
fn no_ceiling_still_counts() {
    let told = three(capped(|flags| flags.loops.max_dollars = Some(0.0))).world(|world| world.cast.price = 9_000_000).run();
    assert_eq!(told.report.stop, "iteration_budget");
    let looped = told.report.looped.as_ref().unwrap();
    assert!(looped.max_dollars.is_none() && looped.dollars > Money::micros(100_000));
    assert_eq!(told.lines()[0].budget_snapshot.max_dollars, 0.0);
    let allowances = told.sent().filter_map(|effect| match &effect.order {
        Order::Act(Act::Review { allowance, .. }) => Some(*allowance),
        _ => None,
    });
    assert!(allowances.into_iter().all(|allowance| allowance.is_none()));
}

/// Design rule 10: those who work at the same time share what is left; who finds nothing waits for what comes back.
#[test]
fn allowances_share_what_is_left() {
    let told = three(capped(|flags| (flags.pairs, flags.loops.max_dollars) = (Some(3), Some(0.03)))).run();
    let allowances: Vec<u64> = told
        .sent()
        .filter_map(|effect| match &effect.order {
            Order::Act(Act::Review { allowance, .. }) => allowance.map(|money| money.micros),
            _ => None,
        })
        .collect();
    assert_eq!(allowances[0], 10_000, "{allowances:?}");
    assert_eq!(told.report.pulls.iter().filter(|row| format!("{:?}", row.status) == "PendingManualMerge").count(), 3);
}

/// As `budget.rs`: what nobody knows the price of takes all that was set aside, where somebody asked for a ceiling.
#[test]
fn an_unknown_price_is_not_nothing() {
    let strict = three(capped(|flags| (flags.pairs, flags.loops.max_dollars) = (Some(1), Some(2.0))));
    let told = strict.world(|world| world.cast.unknown_prices = true).run();
    assert_eq!(
        (told.report.looped.as_ref().unwrap().dollars, told.report.stop.as_str()),
        (Money::micros(2_000_000), "cost_budget")
    );
    let usual = three(capped(|_| {})).world(|world| world.cast.unknown_prices = true).run();
    assert_eq!(usual.report.stop, "iteration_budget");
    assert!(usual.report.notices[0].contains("price of an agent is not known"));
}

/// Design rule 10: a plain sweep is bounded by the budget of the policy.
#[test]
fn a_plain_sweep_is_bounded_too() {
    let mut request: Request = plain(|flags| (flags.no_merge, flags.pairs) = (true, Some(1)));
    request.policy.budget.needs_prices = true;
    request.policy.budget.run = Money::micros(1_500);
    let told = three(Stage::new(request)).world(|world| world.cast.price = 5_000_000).run();
    assert_eq!(told.report.exit_code, 4);
    assert!(told.report.pulls.iter().any(|row| row.note.as_deref() == Some("the cost budget is used up")));
}
