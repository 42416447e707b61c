//! Whether a pull request may be worked on at all (WL-15, WL-18).

use super::PullFacts;
use crate::pull::facts::PullState;
use serde::{Deserialize, Serialize};

/// What was found before anything is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preflight {
    pub pull: PullFacts,
    /// The branch that everything is merged into. Where that cannot be told, nothing is pushed anywhere.
    pub trunk: String,
    /// Where a push would change somebody's files: why they are not in a state for that.
    pub unfit: Option<String>,
}

/// Why not, for people; the first reason that holds.
pub(super) fn problem(found: &Preflight) -> Option<String> {
    let pull = &found.pull;
    match pull.state {
        PullState::Closed | PullState::Merged => return Some(format!("it is {}", pull.state.word())),
        PullState::Open => {}
    }
    // A branch of the same name in our repository is another branch.
    if pull.is_fork {
        return Some("the change comes from another repository, which is never pushed to".to_owned());
    }
    if pull.branch == pull.base || found.trunk == pull.branch {
        return Some(format!("its head is the branch `{}` itself, which is never pushed to", pull.branch));
    }
    found.unfit.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Preflight {
        let pull = PullFacts {
            number: 7,
            url: "https://h/7".into(),
            title: "Add a cart".into(),
            state: PullState::Open,
            head: "1111111".into(),
            branch: "cart".into(),
            base: "main".into(),
            is_fork: false,
        };
        Preflight { pull, trunk: "main".into(), unfit: None }
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
        assert!(with(|found| found.pull.is_fork = true).unwrap().contains("another repository"));
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
