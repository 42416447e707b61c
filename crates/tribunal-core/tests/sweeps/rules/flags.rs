//! What is typed, and what it means.

use tribunal_core::call::money::Money;
use tribunal_core::merge::policy::Wanted;
use tribunal_core::policy::span::Span;
use tribunal_core::policy::sweep::SweepConfig;
use tribunal_core::procedure::sweep::request::{Flags, LockMode, LoopFlags, Mode, Target, Terms};

fn terms(change: impl FnOnce(&mut Flags)) -> Result<Terms, String> {
    let mut flags = Flags::default();
    change(&mut flags);
    flags.terms(&SweepConfig::default())
}

/// SL-7, SL-165: two pairs, or what the configuration says, or what is typed; four at most.
#[test]
fn pairs() {
    let three = SweepConfig { pairs: Some(3), ..SweepConfig::default() };
    assert_eq!(terms(|_| {}).unwrap().pairs, 2);
    assert_eq!(Flags::default().terms(&three).unwrap().pairs, 3);
    assert_eq!(Flags { pairs: Some(1), ..Flags::default() }.terms(&three).unwrap().pairs, 1);
    assert_eq!(terms(|flags| flags.pairs = Some(9)).unwrap().pairs, 4);
    assert!(terms(|flags| flags.pairs = Some(0)).unwrap_err().contains("at least 1"));
}

/// SL-12 to SL-18: the ceilings of a loop, its lock and its files.
#[test]
fn a_loop_has_its_defaults() {
    let Mode::Loop(looping) = terms(|flags| flags.looping = true).unwrap().mode else { panic!("a loop") };
    let ceilings = looping.ceilings;
    assert_eq!((ceilings.iterations, ceilings.pulls, ceilings.minutes), (5, 20, 60));
    assert_eq!((ceilings.dollars, ceilings.dollars_set), (Some(Money::micros(25_000_000)), false));
    assert_eq!((looping.lock, looping.budget_file.as_str()), (LockMode::Skip, ".sdd/loop/review.budget.json"));
    let free = |dollars| LoopFlags { max_dollars: Some(dollars), ..LoopFlags::default() };
    let Mode::Loop(none) = terms(|flags| (flags.looping, flags.loops) = (true, free(0.0))).unwrap().mode else {
        panic!("a loop")
    };
    assert_eq!((none.ceilings.dollars, none.ceilings.dollars_set), (None, false));
    let Mode::Loop(some) = terms(|flags| (flags.looping, flags.loops) = (true, free(3.5))).unwrap().mode else {
        panic!("a loop")
    };
    assert_eq!((some.ceilings.dollars, some.ceilings.dollars_set), (Some(Money::micros(3_500_000)), true));
    for bad in [
        LoopFlags { max_iterations: Some(0), ..LoopFlags::default() },
        LoopFlags { max_prs: Some(0), ..LoopFlags::default() },
        LoopFlags { max_minutes: Some(0), ..LoopFlags::default() },
        free(-1.0),
        free(f64::NAN),
    ] {
        assert!(terms(|flags| (flags.looping, flags.loops) = (true, bad)).is_err());
    }
}

/// SL-11, SL-20: the flags of a loop are accepted only with `--loop`, and the message names the flag.
#[test]
fn loop_flags_need_a_loop() {
    for (flag, loops) in [
        ("--pr", LoopFlags { pr: Some(1), ..LoopFlags::default() }),
        ("--max-iterations", LoopFlags { max_iterations: Some(1), ..LoopFlags::default() }),
        ("--max-prs", LoopFlags { max_prs: Some(1), ..LoopFlags::default() }),
        ("--max-minutes", LoopFlags { max_minutes: Some(1), ..LoopFlags::default() }),
        ("--max-dollars", LoopFlags { max_dollars: Some(0.0), ..LoopFlags::default() }),
        ("--lock", LoopFlags { lock: Some(LockMode::Skip), ..LoopFlags::default() }),
        ("--resume", LoopFlags { resume: true, ..LoopFlags::default() }),
        ("--budget-file", LoopFlags { budget_file: Some("x".into()), ..LoopFlags::default() }),
    ] {
        assert_eq!(terms(|flags| flags.loops = loops).unwrap_err(), format!("{flag} needs --loop"));
    }
    assert_eq!(terms(|_| {}).unwrap().mode, Mode::Once);
}

/// CF-1, CF-28, SL-8: who wants something merged, and who is asked about the order.
#[test]
fn merging_is_said_once() {
    assert_eq!(terms(|_| {}).unwrap().merging, Wanted::AsConfigured);
    assert_eq!(terms(|flags| flags.merge = true).unwrap().merging, Wanted::Asked);
    assert_eq!(terms(|flags| flags.no_merge = true).unwrap().merging, Wanted::Refused);
    assert!(terms(|flags| (flags.merge, flags.no_merge) = (true, true)).is_err());
    let asks = |terminal, yes| terms(|flags| (flags.terminal, flags.yes) = (terminal, yes)).unwrap().ask_order;
    assert_eq!([asks(false, false), asks(true, false), asks(true, true)], [false, true, false]);
}

/// SL-28, for people.
#[test]
fn targets_have_words() {
    assert_eq!(Target::Numbers([3, 7].into()).words(), "PRs #3, #7");
    assert_eq!((Target::One(7).words().as_str(), Target::One(7).single()), ("PR #7", Some(7)));
    assert_eq!(Target::Spec("SPEC-0014".into()).words(), "SPEC-0014");
}

/// SL-25, SL-26: `[sweep]` is what holds where nothing is typed; nonsense is refused.
#[test]
fn the_configuration_comes_before_the_defaults() {
    let config = SweepConfig {
        every: Some(Span::seconds(9)),
        answer_within: Some(Span::seconds(8)),
        checks: Some(Span::seconds(7)),
        redact: vec!["key-[0-9]+".into()],
        ..SweepConfig::default()
    };
    let flags = Flags { looping: true, checks: Some(Span::seconds(1)), ..Flags::default() };
    let terms = flags.terms(&config).unwrap();
    assert_eq!((terms.answer, terms.checks), (Span::seconds(8), Span::seconds(1)));
    let Mode::Loop(looping) = terms.mode else { panic!("a loop") };
    assert_eq!((looping.every, looping.redact), (Span::seconds(9), config.redact.clone()));
    for bad in [
        SweepConfig { pairs: Some(0), ..SweepConfig::default() },
        SweepConfig { redact: vec!["(".into()], ..SweepConfig::default() },
    ] {
        assert!(Flags::default().terms(&bad).unwrap_err().starts_with("[sweep] "));
    }
}
