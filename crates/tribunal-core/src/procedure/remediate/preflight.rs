//! Whether a pull request may be worked on at all (WL-15, WL-18).

use super::PullFacts;
use crate::pull::facts::PullState;
use crate::pull::pushable::NotPushable;
use serde::{Deserialize, Serialize};

/// What was found before anything is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preflight {
    pub pull: PullFacts,
    /// The branch that everything is merged into. Where that cannot be told, nothing is pushed anywhere.
    pub trunk: String,
    /// Where a push would change somebody's files: why they are not in a state for that.
    pub unfit: Option<String>,
    /// Why nothing may be pushed to its head.
    #[serde(default = "NotPushable::unasked")]
    pub not_pushable: Option<NotPushable>,
}

/// Why not, for people; the first reason that holds.
pub(super) fn problem(found: &Preflight) -> Option<String> {
    let pull = &found.pull;
    match pull.state {
        PullState::Closed | PullState::Merged => return Some(format!("it is {}", pull.state.word())),
        PullState::Open => {}
    }
    // A branch of the same name as a fork's is another branch; and one in our own repository may hold what a stranger proposes.
    if let Some(refusal) = &found.not_pushable {
        return Some(refusal.to_string());
    }
    if pull.branch == pull.base || found.trunk == pull.branch {
        return Some(format!("its head is the branch `{}` itself, which is never pushed to", pull.branch));
    }
    found.unfit.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::facts::Part;

    fn found() -> Preflight {
        let pull = PullFacts {
            number: 7,
            url: "https://h/7".into(),
            title: "Add a cart".into(),
            state: PullState::Open,
            head: "1111111".into(),
            branch: "cart".into(),
            base: "main".into(),
        };
        Preflight { pull, trunk: "main".into(), unfit: None, not_pushable: None }
    }

    fn with(change: impl FnOnce(&mut Preflight)) -> Option<String> {
        let mut found = found();
        change(&mut found);
        problem(&found)
    }

    /// WL-15, WL-18: an open pull request from a branch of its own may be worked on, and nothing else.
    #[test]
    fn only_a_branch_of_its_own_is_worked_on() {
        assert_eq!(problem(&found()), None);
        assert_eq!(with(|found| found.pull.state = PullState::Merged).unwrap(), "it is merged");
        assert!(with(|found| found.not_pushable = Some(NotPushable::Fork)).unwrap().contains("another repository"));
        let reader = NotPushable::NoRight { login: "eve".into(), part: Part::Author };
        assert!(with(|found| found.not_pushable = Some(reader)).unwrap().contains("eve, who wrote it, may not write here"));
        assert!(with(|found| found.not_pushable = NotPushable::unasked()).is_some(), "nobody has asked");
        assert!(with(|found| found.pull.branch = "main".into()).unwrap().contains("`main` itself"));
        assert_eq!(with(|found| found.unfit = Some("a merge is under way".into())).unwrap(), "a merge is under way");
    }

    /// WL-18: the trunk is not pushed to, whatever it is to be merged into.
    #[test]
    fn the_trunk_into_a_release_is_refused() {
        let released = |found: &mut Preflight| {
            found.pull.branch = "main".into();
            found.pull.base = "release".into();
        };
        assert!(with(released).unwrap().contains("`main` itself"));
    }
}
