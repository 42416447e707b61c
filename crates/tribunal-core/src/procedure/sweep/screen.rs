//! May a pull request be reviewed now? Conflict markers come before its checks (SL-37), and checks before its diff (SL-51).

use super::effect::Seen;
use crate::merge::conditions::{By, Name, Standing, conditions};
use crate::merge::facts::{Facts, Marker};
use crate::merge::policy::Wanted;
use crate::publish::status::CONTEXT;
use crate::pull::facts::PullState;
use crate::pull::told::Told;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the checks stand, with a sentence. The same judgement as before a merge, without our own status: it says what the last review
/// came to, and is no reason against the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "checks", content = "words")]
pub enum Checks {
    /// All of them, or none where none are asked for (CF-30).
    Green(String),
    Pending(String),
    Failing(String),
    /// They could not be read, which is not green.
    Unread(String),
}

pub fn checks(seen: &Seen) -> Checks {
    let others = match &seen.facts.checks {
        Told::Is(checks) => Told::Is(checks.iter().filter(|check| check.name != CONTEXT).cloned().collect()),
        Told::Unknown(because) => Told::Unknown(because.clone()),
    };
    let facts = Facts { checks: others, ..seen.facts.clone() };
    let judged = conditions(&seen.policy, &facts, Wanted::AsConfigured);
    match judged.get(Name::ChecksGreen).map(|condition| condition.standing.clone()) {
        Some(Standing::Met { note }) => Checks::Green(note),
        Some(Standing::Unmet { because, cure }) if cure.by == By::Time => Checks::Pending(because),
        Some(Standing::Unmet { because, .. }) => Checks::Failing(because),
        Some(Standing::Unknown { because, .. }) => Checks::Unread(because),
        None => Checks::Unread("nobody asked for its checks".into()),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Screen {
    Over(PullState),
    Draft,
    Markers(Vec<Marker>),
    Unread(String),
    Failing(String),
    Pending(String),
    Ready,
}

pub fn screen(seen: &Seen) -> Screen {
    match (seen.facts.state, &seen.facts.conflict_markers) {
        (state @ (PullState::Merged | PullState::Closed), _) => Screen::Over(state),
        (PullState::Open, _) if seen.facts.draft => Screen::Draft,
        (PullState::Open, Told::Unknown(because)) => Screen::Unread(format!("the change could not be read: {because}")),
        (PullState::Open, Told::Is(markers)) if !markers.is_empty() => Screen::Markers(markers.clone()),
        (PullState::Open, Told::Is(_)) => match checks(seen) {
            Checks::Green(_) => Screen::Ready,
            Checks::Pending(words) => Screen::Pending(words),
            Checks::Failing(words) => Screen::Failing(words),
            Checks::Unread(words) => Screen::Unread(words),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Sha;
    use crate::merge::facts::Gates;
    use crate::merge::people::Voices;
    use crate::merge::policy::MergePolicy;
    use crate::pull::facts::{BaseRules, Check, CheckState, Mergeable};

    fn check(name: &str, state: CheckState) -> Check {
        Check { name: name.into(), state, description: String::new(), url: String::new(), run: None }
    }

    fn seen(number: u64, head: &str) -> Seen {
        let facts = Facts {
            number,
            title: format!("Change {number}"),
            url: format!("https://h/acme/shop/pull/{number}"),
            state: PullState::Open,
            draft: false,
            head: Sha(format!("{head:0<40}")),
            head_branch: format!("branch-{number}"),
            base: Sha("b".repeat(40)),
            base_branch: "main".into(),
            is_fork: false,
            made_by: vec![],
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
            holds: Told::Is(vec![]),
        };
        Seen { facts, files: [format!("src/{number}.rs").as_str().into()].into(), behind: false, policy: MergePolicy::default() }
    }

    fn with(checks: Vec<Check>) -> Seen {
        let mut seen = seen(7, "a1");
        seen.facts.checks = Told::Is(checks);
        seen
    }

    /// SL-51, SL-170: failing or pending, and nothing is reviewed.
    #[test]
    fn only_green_checks_are_reviewed() {
        assert_eq!(screen(&with(vec![check("build", CheckState::Success)])), Screen::Ready);
        assert!(
            matches!(screen(&with(vec![check("build", CheckState::Failure)])), Screen::Failing(words) if words.contains("build"))
        );
        assert!(matches!(screen(&with(vec![check("build", CheckState::Pending)])), Screen::Pending(_)));
        let mut unread = seen(7, "a1");
        unread.facts.checks = Told::Unknown("HTTP 502".into());
        assert!(matches!(screen(&unread), Screen::Unread(words) if words.contains("502")));
    }

    /// CF-30: no checks at all are met where none are asked for, and it says so.
    #[test]
    fn no_checks_are_said() {
        assert_eq!(checks(&with(vec![])), Checks::Green("no checks".into()));
        let mut asked = with(vec![]);
        asked.policy.require_checks = true;
        assert!(matches!(checks(&asked), Checks::Pending(_)));
    }

    /// Our own status of an earlier review is no check of anybody's.
    #[test]
    fn our_own_status_is_no_check() {
        assert_eq!(screen(&with(vec![check("build", CheckState::Success), check(CONTEXT, CheckState::Failure)])), Screen::Ready);
    }

    /// SL-35, SL-37, SL-105: a green one with markers is rejected all the same.
    #[test]
    fn markers_come_before_checks() {
        let mut marked = with(vec![check("build", CheckState::Failure)]);
        let markers = vec![Marker { path: "a.rs".into(), line: 3 }];
        marked.facts.conflict_markers = Told::Is(markers.clone());
        assert_eq!(screen(&marked), Screen::Markers(markers));
        marked.facts.draft = true;
        assert_eq!(screen(&marked), Screen::Draft);
        marked.facts.state = PullState::Merged;
        assert_eq!(screen(&marked), Screen::Over(PullState::Merged));
    }
}
