//! A judge that believes everything is none: each of these histories is a true one with one lie in it, and must be refused.

use crate::cast::{looping, plain};
use crate::history::{Event, History};
use crate::judge::judge;
use crate::stage::Stage;
use tribunal_core::call::money::Money;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::gate::{Answerer, Choice, GateName};
use tribunal_core::ids::Sha;
use tribunal_core::procedure::sweep::{Act, Effect, Order, Outcome, Read, Request, Ticket, Trouble};
use tribunal_core::pull::facts::{CheckState, PullState};

/// Two pull requests, one after the other, merged after people's feedback was answered.
fn truth() -> History {
    let request = looping(|flags| (flags.merge, flags.loops.max_iterations) = (true, Some(2)));
    let told = Stage::new(request)
        .pull(|pull| (pull.bugs, pull.comments) = (1, 1))
        .pull(|pull| pull.after = [1].into())
        .answer(GateName::PostFeedbackMerge, Choice::Merge)
        .answer(GateName::BudgetEscalation, Choice::Continue)
        .run();
    assert_eq!((told.count("merge 1"), told.count("merge 2")), (1, 1));
    told.history
}

fn refused(history: &History, words: &str) {
    match judge(history) {
        Ok(_) => panic!("nobody minds: {words}"),
        Err(why) => assert!(why.contains(words), "{why}"),
    }
}

/// The place of the merge of #1.
fn merge(history: &History) -> usize {
    history.0.iter().position(|event| matches!(event, Event::Merged { number: 1, .. })).unwrap()
}

fn with(change: impl FnOnce(&mut History)) -> History {
    let mut history = truth();
    change(&mut history);
    history
}

fn each(history: &mut History, mut change: impl FnMut(&mut Event)) {
    history.0.iter_mut().for_each(&mut change);
}

/// Puts #1 into another state right before it is merged.
fn changed_before_merge(change: impl FnOnce(&mut crate::forge::Pr)) -> History {
    with(|history| {
        let at = merge(history);
        let pull = history.0[..at].iter().rev().find_map(|event| match event {
            Event::Pull(pull) if pull.number == 1 => Some(pull.clone()),
            _ => None,
        });
        let mut pull = pull.unwrap();
        change(&mut pull);
        history.0.insert(at, Event::Pull(pull));
    })
}

#[test]
fn the_truth_is_believed() {
    assert_eq!(judge(&truth()).ok().unwrap().merges, 2);
}

#[test]
fn a_merge_of_something_else_is_refused() {
    refused(&changed_before_merge(|pull| pull.head = Sha("e".repeat(40))), "the head is another");
    refused(&changed_before_merge(|pull| pull.checks = CheckState::Failure), "its checks are not green");
    refused(&changed_before_merge(|pull| pull.checks = CheckState::Pending), "its checks are not green");
    refused(&changed_before_merge(|pull| pull.hold = true), "not to be merged");
    refused(&changed_before_merge(|pull| pull.state = PullState::Closed), "not to be merged");
    refused(&changed_before_merge(|pull| pull.conflicts = true), "in conflict");
    refused(&changed_before_merge(|pull| pull.after = [2].into()), "before #2");
}

#[test]
fn a_merge_without_its_review_is_refused() {
    let reviewed = |change: fn(&mut tribunal_core::procedure::sweep::effect::Reviewed)| {
        with(|history| {
            each(history, |event| {
                if let Event::Came { outcome: Outcome::Reviewed { said: Ok(review), .. }, .. } = event {
                    change(review);
                }
            });
        })
    };
    refused(&reviewed(|review| review.verdict = Verdict::Minor), "no approval");
    refused(&reviewed(|review| review.head = Sha("e".repeat(40))), "no approval");
    refused(&reviewed(|review| review.run = "another".into()), "without a review");
    refused(&reviewed(|review| review.agents = ["codex".into()].into()), "who fixed it has approved it");
    let unsaid = with(|history| {
        each(history, |event| {
            if let Event::Came { outcome: Outcome::Concluded(said), .. } = event {
                *said = Err(Trouble::Forge("HTTP 502".into()));
            }
        });
    });
    refused(&unsaid, "its approval was not said");
}

#[test]
fn a_merge_without_a_persons_word_is_refused() {
    let answers = |change: fn(&mut tribunal_core::gate::Answer)| {
        with(|history| {
            each(history, |event| {
                if let Event::Came { outcome: Outcome::Answered(answer), .. } = event {
                    change(answer);
                }
            });
        })
    };
    refused(&answers(|answer| answer.choice = Choice::Hold), "nobody looked again");
    refused(&answers(|answer| answer.by = Answerer::Nobody), "nobody looked again");
    refused(&answers(|answer| answer.at = u64::MAX), "nobody looked again");
    let other_head = with(|history| {
        each(history, |event| {
            if let Event::Sent { effect: Effect { order: Order::Act(Act::Ask { gate }), .. }, .. } = event {
                gate.head = Some(Sha("e".repeat(40)));
            }
        });
    });
    refused(&other_head, "nobody looked again");
}

#[test]
fn a_merge_that_nobody_wants_is_refused() {
    let unwanted = with(|history| {
        each(history, |event| {
            if let Event::Began { request, .. } = event {
                request.terms.merging = tribunal_core::merge::policy::Wanted::Refused;
            }
        });
    });
    refused(&unwanted, "nobody wants it merged");
    let unordered = with(|history| {
        let ticket = Ticket(9_999);
        each(history, |event| {
            if let Event::Merged { ticket: of, .. } = event {
                *of = ticket;
            }
        });
    });
    refused(&unordered, "nobody ordered it");
}

/// Says an order of the first run once more, under another ticket, right after it was said.
fn said_again(find: impl Fn(&Order) -> bool) -> History {
    with(|history| {
        let at = history.0.iter().position(|event| matches!(event, Event::Sent { effect, .. } if find(&effect.order))).unwrap();
        let Event::Sent { run, at: moment, effect } = history.0[at].clone() else { panic!("it was sent") };
        let effect = Effect { ticket: Ticket(9_999), order: effect.order };
        history.0.insert(at + 1, Event::Sent { run, at: moment, effect });
    })
}

#[test]
fn a_second_round_is_refused() {
    refused(&said_again(|order| matches!(order, Order::Act(Act::Review { .. }))), "second round");
    refused(&said_again(|order| matches!(order, Order::Act(Act::Respond { .. }))), "second round");
    let unreviewed = with(|history| {
        history
            .0
            .retain(|event| !matches!(event, Event::Sent { effect: Effect { order: Order::Act(Act::Review { .. }), .. }, .. }));
    });
    refused(&unreviewed, "");
}

#[test]
fn two_merges_at_once_are_refused() {
    refused(&said_again(|order| matches!(order, Order::Act(Act::Merge { .. }))), "two at once");
}

#[test]
fn money_over_the_ceiling_is_refused() {
    let dear = with(|history| {
        each(history, |event| {
            if let Event::Sent { effect: Effect { order: Order::Act(Act::Review { allowance, .. }), .. }, .. } = event {
                *allowance = Some(Money::micros(26_000_000));
            }
        });
    });
    refused(&dear, "spent and set aside");
    let none = with(|history| {
        each(history, |event| {
            if let Event::Sent { effect: Effect { order: Order::Act(Act::Review { allowance, .. }), .. }, .. } = event {
                *allowance = None;
            }
        });
    });
    refused(&none, "without an allowance");
    let overdrawn = with(|history| {
        each(history, |event| {
            if let Event::Came { outcome: Outcome::Reviewed { effort, .. }, .. } = event {
                effort.spend.cost = tribunal_core::report::receipt::Cost::MicroUsd(Money::micros(30_000_000));
            }
        });
    });
    refused(&overdrawn, "has spent");
}

#[test]
fn an_act_without_the_lock_is_refused() {
    let unlocked = with(|history| history.0.retain(|event| !matches!(event, Event::Lock(Some(_)))));
    refused(&unlocked, "the lock is None");
    let stolen = with(|history| {
        let at = merge(history);
        history.0.insert(at - 1, Event::Lock(Some("another".into())));
    });
    refused(&stolen, "the lock is");
}

#[test]
fn whatever_begins_after_a_stop_is_refused() {
    let begun = |find: fn(&Order) -> bool, event: Event| {
        with(|history| {
            let at =
                history.0.iter().position(|event| matches!(event, Event::Sent { effect, .. } if find(&effect.order))).unwrap();
            history.0.insert(at, event);
        })
    };
    let interrupted = || Event::Interrupted { run: "run".into() };
    refused(&begun(|order| matches!(order, Order::Act(Act::Review { .. })), interrupted()), "although");
    refused(&begun(|order| matches!(order, Order::Read(Read::Look { .. })), interrupted()), "although");
    let told_stop = with(|history| {
        each(history, |event| {
            if let Event::Came { outcome: Outcome::Answered(answer), .. } = event {
                answer.choice = Choice::Stop;
            }
        });
    });
    refused(&told_stop, "somebody said stop");
}

#[test]
fn there_is_one_report_and_one_end() {
    refused(&said_again(|order| matches!(order, Order::Act(Act::Report { .. }))), "gave 2 reports");
    let twice = with(|history| {
        let end = history.0.iter().find(|event| matches!(event, Event::Ended { .. })).unwrap().clone();
        history.0.push(end);
    });
    refused(&twice, "ends twice");
    let endless = with(|history| history.0.retain(|event| !matches!(event, Event::Ended { .. })));
    refused(&endless, "has no end");
    let busy = with(|history| {
        let at = history.0.iter().position(|event| matches!(event, Event::Ended { .. })).unwrap();
        let effect = Effect { ticket: Ticket(9_999), order: Order::Read(Read::Rest { until: 0 }) };
        history.0.insert(at, Event::Sent { run: "run".into(), at: 0, effect });
    });
    refused(&busy, "under way");
}

#[test]
fn a_report_that_lies_is_refused() {
    let reported = |change: fn(&mut tribunal_core::procedure::sweep::Report)| {
        with(|history| {
            each(history, |event| {
                if let Event::Ended { report, .. } = event {
                    change(report);
                }
            });
        })
    };
    refused(&reported(|report| report.pulls.clear()), "does not say so");
    refused(&reported(|report| report.pulls[0].number = 9), "it did not merge it");
    refused(&reported(|report| report.pulls[0].head = Sha("e".repeat(40))), "nobody approved it");
    refused(&reported(|report| report.stop = "complete".into()), "for no reason that held");
    refused(&reported(|report| report.dry_run = true), "only looked");
    refused(&reported(|report| report.run = "another".into()), "the report of another");
}

#[test]
fn a_dry_run_that_acts_is_refused() {
    let request: Request = plain(|flags| flags.dry_run = true);
    let mut history = Stage::new(request).pull(|_| {}).run().history;
    let effect = Effect { ticket: Ticket(9_999), order: Order::Act(Act::Release { tick: 1 }) };
    let at = history.0.len() - 1;
    history.0.insert(at, Event::Sent { run: "run".into(), at: 0, effect });
    refused(&history, "is a dry run");
}
