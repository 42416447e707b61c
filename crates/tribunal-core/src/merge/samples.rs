//! A pull request that could be merged, for tests that take one thing away.

use super::facts::{Facts, Gates, HeadMaker, Part, Reviewed};
use super::people::Voices;
use super::policy::{MergePolicy, When};
use crate::combine::verdict::{Outcome, Verdict};
use crate::pull::facts::{BaseRules, Check, CheckState, Mergeable, PullState};
use crate::pull::told::Told;
use std::collections::BTreeSet;

pub const HEAD: &str = "1111111111111111111111111111111111111111";

pub fn check(name: &str, state: CheckState) -> Check {
    Check { name: name.into(), state, description: String::new(), url: String::new(), run: None }
}

pub fn merging() -> MergePolicy {
    MergePolicy { when: When::Approved, ..MergePolicy::default() }
}

pub fn ready() -> Facts {
    Facts {
        number: 7,
        title: "Add a cart".into(),
        url: "https://h/acme/shop/pull/7".into(),
        state: PullState::Open,
        draft: false,
        head: HEAD.into(),
        head_branch: "cart".into(),
        base: "2222222222222222222222222222222222222222".into(),
        base_branch: "main".into(),
        is_fork: false,
        made_by: vec![HeadMaker { login: "dev".into(), part: Part::Author, may_write: Told::Is(true) }],
        is_ours: false,
        mergeable: Mergeable::Yes,
        labels: vec![],
        conflict_markers: Told::Is(vec![]),
        checks: Told::Is(vec![check("build", CheckState::Success)]),
        rules: BaseRules::none(),
        review: Told::Is(Some(Reviewed {
            run: "run-1".into(),
            head: HEAD.into(),
            base_branch: Some("main".into()),
            outcome: Outcome::Clean,
            verdict: Some(Verdict::Lgtm),
            agents: BTreeSet::from(["claude".into()]),
            rules: true,
            blocking: vec![],
        })),
        fixers: Told::Is(BTreeSet::new()),
        people: Told::Is(Voices::default()),
        dependencies: Told::Is(vec![]),
        gates: Told::Is(Gates::default()),
        guarded: Told::Is(true),
        holds: Told::Is(vec![]),
    }
}
