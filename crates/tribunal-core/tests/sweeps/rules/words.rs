//! What is said on a pull request, and what a gate asks.

use crate::cast::looping;
use std::collections::BTreeSet;
use tribunal_core::call::money::Money;
use tribunal_core::merge::facts::Marker;
use tribunal_core::procedure::sweep::Request;
use tribunal_core::procedure::sweep::effect::Remaining;
use tribunal_core::procedure::sweep::gates::{Projected, budget, tripped};
use tribunal_core::procedure::sweep::tour::Tour;
use tribunal_core::procedure::sweep::words::{markers, remains};

/// SL-36: heading, statement, table of files and lines, request.
#[test]
fn markers_are_listed_by_file() {
    let at = |path: &str, line| Marker { path: path.into(), line };
    insta::assert_snapshot!(markers(&[at("src/a.rs", 3), at("src/b|`.rs", 1), at("src/a.rs", 9)]), @r"
    ## Conflict Markers Detected

    This pull request adds lines that git leaves behind when it cannot merge a file. It cannot be reviewed like this.

    | File | Line(s) |
    | --- | --- |
    | `src/a.rs` | 3, 9 |
    | `` src/b\|`.rs `` | 1 |

    Please resolve the conflicts and push again.
    ");
}

/// SL-67: one summary of what remains; others' words are made harmless, and there is an end to them.
#[test]
fn what_remains_is_listed() {
    let item =
        |name: &str, words: &str| Remaining { name: name.into(), priority: None, place: "a.rs:3".into(), words: words.into() };
    let said = remains(&[item("F1", "a <b> | @ann")]);
    assert!(said.starts_with("## What remains for a person") && said.contains("| F1 | — | a.rs:3 |"), "{said}");
    assert!(!said.contains("<b>") && !said.contains("@ann"));
    let many: Vec<Remaining> = (0..150).map(|at| item(&format!("F{at}"), "x")).collect();
    assert!(remains(&many).contains("and 50 more."));
    assert!(remains(&[]).contains("see the review above"));
}

fn names(tour: &Tour, request: &Request, projected: Projected, minutes: u64) -> Vec<&'static str> {
    tripped(tour, request, projected, 0, minutes * 60_000).into_iter().map(|one| one.name).collect()
}

/// SL-143: the four formulas, each at its edge.
#[test]
fn four_fifths_of_each_budget() {
    let request = looping(|flags| flags.loops.max_iterations = Some(5));
    let fresh = Tour::new(&request);
    let none = Projected::default();
    assert!(names(&fresh, &request, none, 0).is_empty());
    let third = Tour { iterations: 2, ..fresh.clone() };
    assert!(names(&third, &request, none, 0).is_empty());
    let fourth = Tour { iterations: 3, ..fresh.clone() };
    assert_eq!(names(&fourth, &request, none, 0), ["iterations"]);
    assert_eq!(names(&fresh, &request, Projected { pulls: 16, efforts: 0 }, 0), ["pull requests"]);
    assert!(names(&fresh, &request, Projected { pulls: 15, efforts: 0 }, 0).is_empty());
    assert_eq!((names(&fresh, &request, none, 47).len(), names(&fresh, &request, none, 48)), (0, vec!["minutes"]));
    let mut spent = fresh.clone();
    (spent.purse.spent, spent.purse.efforts) = (Money::micros(10_000_000), 2);
    assert!(names(&spent, &request, Projected { pulls: 0, efforts: 1 }, 0).is_empty());
    assert_eq!(names(&spent, &request, Projected { pulls: 0, efforts: 2 }, 0), ["dollars"]);
}

/// SL-143: several at once are one question. SL-149: a watch of one does not mention pull requests.
#[test]
fn several_budgets_are_one_question() {
    let request = looping(|flags| flags.loops.max_iterations = Some(5));
    let tour = Tour { iterations: 4, touched: (1..=20).collect::<BTreeSet<u64>>(), ..Tour::new(&request) };
    let all = tripped(&tour, &request, Projected::default(), 0, 50 * 60_000);
    let question = budget(&all, 0).question;
    assert_eq!(
        question,
        "Budgets at 80 % or more: iterations 5 / 5, pull requests 20 / 20, minutes 50 / 60. Continue, raise them, or stop?"
    );
    let single = looping(|flags| (flags.loops.max_iterations, flags.loops.pr) = (Some(5), Some(1)));
    assert_eq!(names(&tour, &single, Projected::default(), 50), ["iterations", "minutes"]);
}
