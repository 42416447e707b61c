//! How a world is, and what runs are asked for: all of it chosen by the seed.

use super::chance::Chance;
use super::forge::Forge;
use std::sync::LazyLock;
use tribunal_core::call::money::Money;
use tribunal_core::merge::policy::{Confirm, MergePolicy, VerifiedBy, Wanted, When};
use tribunal_core::policy::config::{Config, Policy};
use tribunal_core::policy::loops::{LoopKind, LoopPolicy};
use tribunal_core::policy::span::Span;
use tribunal_core::policy::sweep::SweepConfig;
use tribunal_core::procedure::sweep::request::{Ceilings, Flags, LockMode, LoopFlags, Mode, Request, Target, Terms};
use tribunal_core::pull::facts::CheckState;
use tribunal_core::pull::place::{ForgeKind, Project};

/// How often things happen, in per cent of the occasions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Odds {
    pub crash: u64,
    pub interrupt: u64,
    pub read_fails: u64,
    pub act_fails: u64,
    pub people: u64,
    pub stop: u64,
    pub nobody: u64,
    pub nonsense: u64,
    pub index: u64,
    pub unavailable: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reviewer {
    Fair,
    Harsh,
    Blocks,
    /// Says LGTM over what it found.
    Contradicts,
    /// The agent that fixes is among those who review.
    Partial,
    /// Reads another commit than it was given.
    Astray,
    Fails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Responder {
    Good,
    Half,
    Nothing,
    Breaks,
    Fails,
}

#[derive(Debug, Clone)]
pub struct Cast {
    pub reviewer: Reviewer,
    pub responder: Responder,
    pub odds: Odds,
    /// Micro-dollars of one effort, at most.
    pub price: u64,
    /// A review takes exactly that much, and is not made for less.
    pub exact: bool,
    pub unknown_prices: bool,
}

impl Cast {
    /// Everybody does what they should.
    pub fn calm() -> Self {
        Cast {
            reviewer: Reviewer::Fair,
            responder: Responder::Good,
            odds: Odds::default(),
            price: 1_000,
            exact: false,
            unknown_prices: false,
        }
    }

    pub fn new(chance: &mut Chance) -> Self {
        use Responder as P;
        use Reviewer as R;
        let reviewer = chance.pick(&[
            R::Fair,
            R::Fair,
            R::Fair,
            R::Fair,
            R::Harsh,
            R::Blocks,
            R::Contradicts,
            R::Partial,
            R::Astray,
            R::Fails,
        ]);
        let responder = chance.pick(&[P::Good, P::Good, P::Good, P::Half, P::Nothing, P::Breaks, P::Fails]);
        // Half of the worlds are kind in each respect, so that what goes on for long is seen too.
        let mut odds = |often: u64| if chance.per_cent(50) { 0 } else { chance.pick(&[1, 3, often]) };
        let odds = Odds {
            crash: odds(8),
            interrupt: odds(2),
            read_fails: odds(15),
            act_fails: odds(15),
            people: odds(25),
            stop: odds(10),
            nobody: odds(60),
            nonsense: odds(20),
            index: odds(20),
            unavailable: odds(20),
        };
        let (price, exact) = (chance.pick(&[0, 1_000, 60_000, 900_000]), chance.per_cent(30));
        Cast { reviewer, responder, odds, price, exact, unknown_prices: chance.per_cent(10) }
    }
}

/// The embedded configuration, which takes long to make.
static USUAL: LazyLock<(LoopPolicy, Policy)> = LazyLock::new(|| {
    let config = Config::default();
    let policy = Policy::new(&config, &[]).expect("the usual policy");
    let loops = LoopPolicy::new(LoopKind::Respond, &config).expect("the usual policy");
    (loops, Policy { agents: Default::default(), panel: Default::default(), ..policy })
});

pub fn asked(run: &str, target: Target, terms: Terms) -> Request {
    Request {
        run: run.into(),
        engine: "test".into(),
        forge: ForgeKind::GitHub,
        project: Project { origin: "https://h".into(), path: "acme/shop".into() },
        target,
        terms,
        policy: USUAL.1.clone(),
        loops: USUAL.0.clone(),
        nonce: "nonce".into(),
    }
}

/// A plain sweep of everything, with flags.
pub fn plain(change: impl FnOnce(&mut Flags)) -> Request {
    let mut flags = Flags::default();
    change(&mut flags);
    asked("run", Target::Open, flags.terms(&SweepConfig::default()).expect("flags that fit"))
}

/// A loop over everything, or over the one that a flag names.
pub fn looping(change: impl FnOnce(&mut Flags)) -> Request {
    let mut flags = Flags { looping: true, ..Flags::default() };
    change(&mut flags);
    let target = flags.loops.pr.map_or(Target::Open, Target::One);
    asked("run", target, flags.terms(&SweepConfig::default()).expect("flags that fit"))
}

pub fn policy(chance: &mut Chance) -> MergePolicy {
    MergePolicy {
        when: if chance.per_cent(60) { When::Approved } else { When::Never },
        confirm: if chance.per_cent(15) { Confirm::Always } else { Confirm::Auto },
        verified_by: if chance.per_cent(20) { VerifiedBy::Rules } else { VerifiedBy::Agent },
        require_checks: chance.per_cent(10),
        ..MergePolicy::default()
    }
}

pub fn people_a_forge(chance: &mut Chance, forge: &mut Forge) {
    let count = chance.pick(&[0, 1, 2, 3, 4, 5, 7]);
    for _ in 0..count {
        let number = forge.pulls.len() as u64 + 1;
        let shared = chance.below(4);
        let (on, bugs) = (1 + chance.below(count), chance.pick(&[0, 0, 1, 2]));
        let odd = chance.below(40);
        let (depends, comments) = (chance.per_cent(25), chance.below(3) as u32);
        let checks = chance.pick(&[
            CheckState::Success,
            CheckState::Success,
            CheckState::Success,
            CheckState::Success,
            CheckState::Success,
            CheckState::Success,
            CheckState::Pending,
            CheckState::Failure,
            CheckState::Error,
        ]);
        let fate = if chance.per_cent(80) { CheckState::Success } else { CheckState::Failure };
        forge.open(|pull| {
            pull.files.insert(format!("src/shared-{shared}.rs").as_str().into());
            if depends && on != number {
                pull.after.insert(on);
            }
            (pull.bugs, pull.comments, pull.checks, pull.fate) = (bugs, comments, checks, fate);
            pull.draft = odd == 1;
            pull.hold = odd == 2;
            pull.is_fork = odd == 3;
            pull.markers = odd == 4 || odd == 5;
            pull.unclear = (6..10).contains(&odd);
            pull.conflicts = odd == 10;
            pull.behind = (11..14).contains(&odd);
        });
    }
}

pub fn request(chance: &mut Chance, run: &str) -> Request {
    let looping = chance.per_cent(55);
    let flags = Flags {
        pairs: Some(1 + chance.below(6) as u32),
        dry_run: chance.per_cent(5),
        terminal: chance.per_cent(30),
        yes: chance.per_cent(30),
        answer: Some(Span::seconds(chance.pick(&[0, 60, 600]))),
        checks: Some(Span::seconds(chance.pick(&[0, 60, 900]))),
        looping,
        ..Flags::default()
    };
    let target = match chance.below(6) {
        0 => Target::Numbers([1, 2, 3].into()),
        1 if looping => Target::One(1 + chance.below(3)),
        2 => Target::Spec("SPEC-0001".into()),
        _ => Target::Open,
    };
    let flags = Flags { loops: LoopFlags { resume: false, ..LoopFlags::default() }, ..flags };
    let mut terms = flags.terms(&SweepConfig::default()).expect("flags that fit");
    terms.merging = chance.pick(&[Wanted::AsConfigured, Wanted::Asked, Wanted::Asked, Wanted::Refused]);
    if let Mode::Loop(looping) = &mut terms.mode {
        looping.every = Span::seconds(chance.pick(&[0, 60, 300]));
        looping.lock = chance.pick(&[LockMode::Skip, LockMode::Wait, LockMode::Force]);
        looping.ceilings = Ceilings {
            iterations: chance.pick(&[1, 2, 3, 5, 8]),
            pulls: chance.pick(&[1, 2, 5, 20]),
            minutes: chance.pick(&[1, 10, 60, 600]),
            dollars: chance.pick(&[None, Some(300), Some(20_000), Some(150_000), Some(25_000_000)]).map(Money::micros),
            dollars_set: chance.per_cent(50),
        };
    }
    let mut request = asked(run, target, terms);
    if chance.per_cent(20) {
        request.policy.budget.needs_prices = true;
        request.policy.budget.run = Money::micros(chance.pick(&[500, 40_000, 2_000_000]));
    }
    request
}
