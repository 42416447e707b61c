//! Pull requests and requests for tests.

use super::effect::{Found, Seen};
use super::request::{Flags, LoopFlags, Request, Target, Terms};
use crate::ids::Sha;
use crate::merge::facts::{Facts, Gates};
use crate::merge::people::Voices;
use crate::merge::policy::{MergePolicy, When};
use crate::policy::config::{Config, Policy};
use crate::policy::loops::{LoopKind, LoopPolicy};
use crate::policy::sweep::SweepConfig;
use crate::pull::facts::{BaseRules, Check, CheckState, Mergeable, PullState};
use crate::pull::place::{ForgeKind, Project};
use crate::pull::told::Told;

pub fn sha(text: &str) -> Sha {
    Sha(format!("{text:0<40}"))
}

pub fn check(name: &str, state: CheckState) -> Check {
    Check { name: name.into(), state, description: String::new(), url: String::new(), run: None }
}

pub fn found(number: u64, head: &str) -> Found {
    Found {
        number,
        title: format!("Change {number}"),
        url: format!("https://h/acme/shop/pull/{number}"),
        branch: format!("branch-{number}"),
        head: sha(head),
        state: PullState::Open,
        labels: vec![],
        issue: None,
        spec: None,
    }
}

pub fn seen(number: u64, head: &str) -> Seen {
    let facts = Facts {
        number,
        title: format!("Change {number}"),
        url: format!("https://h/acme/shop/pull/{number}"),
        state: PullState::Open,
        draft: false,
        head: sha(head),
        head_branch: format!("branch-{number}"),
        base: sha("b0"),
        base_branch: "main".into(),
        is_fork: false,
        is_ours: false,
        mergeable: Mergeable::Yes,
        labels: vec![],
        conflict_markers: Told::Is(vec![]),
        checks: Told::Is(vec![check("build", CheckState::Success)]),
        rules: BaseRules::none(),
        review: Told::Is(None),
        fixers: Told::Is(Default::default()),
        people: Told::Is(Voices::default()),
        dependencies: Told::Is(vec![]),
        gates: Told::Is(Gates::default()),
        guarded: Told::Is(true),
    };
    let policy = MergePolicy { when: When::Approved, ..MergePolicy::default() };
    Seen { facts, files: [format!("src/{number}.rs").as_str().into()].into(), behind: false, policy }
}

pub fn request(target: Target, terms: Terms) -> Request {
    let config = Config::default();
    let policy = Policy::new(&config, &[]).unwrap();
    let loops = LoopPolicy::new(LoopKind::Respond, &config).unwrap();
    Request {
        run: "run-1".into(),
        engine: "test".into(),
        forge: ForgeKind::GitHub,
        project: Project { origin: "https://h".into(), path: "acme/shop".into() },
        target,
        terms,
        policy,
        loops,
        nonce: "nonce".into(),
    }
}

pub fn plain() -> Request {
    request(Target::Open, Flags::default().terms(&SweepConfig::default()).unwrap())
}

pub fn looping(change: impl FnOnce(&mut LoopFlags)) -> Request {
    let mut flags = Flags { looping: true, ..Flags::default() };
    change(&mut flags.loops);
    let target = flags.loops.pr.map_or(Target::Open, Target::One);
    request(target, flags.terms(&SweepConfig::default()).unwrap())
}
