//! Who is there, and what they are like: all of it chosen by the seed.

use super::chance::Chance;
use super::forge::{MALLORY, account};
use std::sync::LazyLock;
use tribunal_core::policy::config::{Config, Policy};
use tribunal_core::policy::loops::{Defer, LoopKind, LoopPolicy, Rerequest, ResolvePolicy, WaitPolicy};
use tribunal_core::policy::span::Span;
use tribunal_core::procedure::remediate::Request;
use tribunal_core::pull::facts::{Account, AccountKind};
use tribunal_core::pull::place::{ForgeKind, Place, Project};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temper {
    /// Says the same again after every answer.
    Repeats,
    /// The same, in a new thread and with other words.
    Rephrases,
    /// A at one head, not A at the next.
    Oscillates,
    /// Something new at every head.
    Invents,
    Approves,
    /// Approves, and takes it back.
    Wavers,
    /// Many at once, once.
    Floods,
    /// One thing after the other, for ever.
    Drips,
    /// Has a word for every word of ours.
    Answers,
    /// One remark, and never again.
    Silent,
    /// Always about to say something.
    Running,
    Quota,
    /// Interferes in threads of others.
    Disputes,
    Injects,
    /// Changes its words afterwards.
    Edits,
    /// Opens again what was resolved.
    Reopens,
}

pub const TEMPERS: [Temper; 16] = [
    Temper::Repeats,
    Temper::Rephrases,
    Temper::Oscillates,
    Temper::Invents,
    Temper::Approves,
    Temper::Wavers,
    Temper::Floods,
    Temper::Drips,
    Temper::Answers,
    Temper::Silent,
    Temper::Running,
    Temper::Quota,
    Temper::Disputes,
    Temper::Injects,
    Temper::Edits,
    Temper::Reopens,
];

#[derive(Debug, Clone)]
pub struct Critic {
    pub who: Account,
    pub temper: Temper,
    /// How often it does something when it could, in per cent.
    pub zeal: u64,
    pub seen_head: Option<tribunal_core::ids::Sha>,
    pub said: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assessor {
    Addresses,
    Omits,
    Twice,
    Declines,
    Defers,
    Mixed,
    Asks,
    Fails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checker {
    Approves,
    Rejects,
    Sometimes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixer {
    Good,
    Nothing,
    Half,
    /// What it touches draws new findings, and old ones come back.
    Breaks,
    Forbidden,
    TooLarge,
    Destructive,
    Fails,
}

/// How often things go wrong, in per cent of the occasions.
#[derive(Debug, Clone, Copy)]
pub struct Odds {
    pub crash: u64,
    pub read_fails: u64,
    pub write_lost: u64,
    pub lag: u64,
    pub shuffled: u64,
    pub push: u64,
    pub close: u64,
    pub jump: u64,
    pub validation_fails: u64,
    pub ci: u64,
}

#[derive(Debug, Clone)]
pub struct Cast {
    pub critics: Vec<Critic>,
    pub assessor: Assessor,
    pub checker: Checker,
    pub fixer: Fixer,
    pub odds: Odds,
    pub budget: u64,
}

const LOGINS: [(&str, AccountKind); 8] = [
    ("chatgpt-codex-connector[bot]", AccountKind::Bot),
    ("coderabbitai[bot]", AccountKind::Bot),
    ("gemini-code-assist[bot]", AccountKind::Bot),
    ("lint[bot]", AccountKind::Bot),
    ("alice", AccountKind::Person),
    ("bob", AccountKind::Person),
    ("claude", AccountKind::Unknown),
    (MALLORY, AccountKind::Person),
];

impl Cast {
    pub fn new(chance: &mut Chance) -> Self {
        let count = 1 + chance.below(3);
        let critics = (0..count).map(|_| {
            let (login, kind) = chance.pick(&LOGINS);
            let zeal = chance.pick(&[5, 20, 60, 100]);
            Critic { who: account(login, kind), temper: chance.pick(&TEMPERS), zeal, seen_head: None, said: 0 }
        });
        let critics = critics.collect();
        use Assessor as A;
        use Fixer as F;
        let assessor = chance.pick(&[
            A::Addresses,
            A::Addresses,
            A::Addresses,
            A::Omits,
            A::Twice,
            A::Declines,
            A::Defers,
            A::Mixed,
            A::Mixed,
            A::Asks,
            A::Fails,
        ]);
        let checker = chance.pick(&[Checker::Approves, Checker::Approves, Checker::Sometimes, Checker::Rejects]);
        let fixer = chance.pick(&[
            F::Good,
            F::Good,
            F::Good,
            F::Breaks,
            F::Breaks,
            F::Half,
            F::Nothing,
            F::Forbidden,
            F::TooLarge,
            F::Destructive,
            F::Fails,
        ]);
        // Half of the worlds are kind, so that what goes on for long is seen too.
        let mut odds = |often: u64| if chance.per_cent(50) { 0 } else { chance.pick(&[1, 3, often]) };
        let odds = Odds {
            crash: odds(10),
            read_fails: odds(20),
            write_lost: odds(40),
            lag: odds(40),
            shuffled: odds(50),
            push: odds(20),
            close: odds(3).min(3),
            jump: odds(5),
            validation_fails: odds(20),
            ci: odds(20),
        };
        Cast { critics, assessor, checker, fixer, odds, budget: chance.pick(&[300, 3_000, 1_000_000]) }
    }
}

/// The embedded configuration, which takes long to make.
static USUAL: LazyLock<(LoopPolicy, LoopPolicy, Policy)> = LazyLock::new(|| {
    let config = Config::default();
    let of = |kind| LoopPolicy::new(kind, &config).expect("the usual policy");
    // Agents are played by the hands; what they would be costs time in every state that is stored.
    let policy = Policy::new(&config, &[]).expect("the usual policy");
    (of(LoopKind::Watch), of(LoopKind::Respond), Policy { agents: Default::default(), panel: Default::default(), ..policy })
});

/// What the loop is asked to do.
pub fn request(chance: &mut Chance) -> Request {
    let kind = chance.pick(&[LoopKind::Watch, LoopKind::Respond]);
    let usual = if kind == LoopKind::Watch { USUAL.0.clone() } else { USUAL.1.clone() };
    let loops = LoopPolicy {
        reviewer: chance.pick(&["trusted", "trusted", "all", "all", "automated", "people", "codex", "alice"]).to_owned(),
        cycles: chance.pick(&[1, 2, 3, 3, 6, 10]),
        once: chance.per_cent(15),
        wait: WaitPolicy {
            poll: Span::seconds(chance.pick(&[30, 60])),
            settle: Span::seconds(chance.pick(&[0, 60, 180])),
            idle: Span::seconds(chance.pick(&[60, 300, 900, 1_800])),
            total: Span::seconds(chance.pick(&[300, 1_200, 3_600])),
        },
        resolve: chance.pick(&[ResolvePolicy::Never, ResolvePolicy::Addressed, ResolvePolicy::Always, usual.resolve]),
        rerequest: chance.pick(&[Rerequest::Never, Rerequest::Mention, Rerequest::Reviewer, usual.rerequest]),
        comment: chance.per_cent(20),
        checker: chance.per_cent(40).then(|| "checker".into()),
        defer: if chance.per_cent(30) { Defer::Record } else { Defer::Issue },
        validate: if chance.per_cent(50) { vec!["make test".into()] } else { vec![] },
        ..usual
    };
    Request {
        run: "run".into(),
        engine: "test".into(),
        place: Place {
            kind: ForgeKind::GitHub,
            project: Project { origin: "https://h".into(), path: "acme/shop".into() },
            number: 7,
        },
        policy: USUAL.2.clone(),
        loops,
        withheld: Default::default(),
        nonce: "nonce".into(),
    }
}
