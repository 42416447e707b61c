//! A branch that we may push to. Whoever made the head of a pull request decides that, and never the place where the branch lies: a
//! forge lets somebody without the right to write propose a head inside of the repository (AGit), and lets anybody open a pull request
//! from a branch that somebody else pushed.
//!
//! Whatever pushes takes a [`Pushable`]. It is made from what the forge says that the makers of the head may do, and from nothing else,
//! and it is not stored: whoever pushes asks anew.
//!
//! ```compile_fail
//! use tribunal_core::{ids::Sha, pull::pushable::Pushable};
//! fn unasked(number: u64, branch: String, head: Sha) -> Pushable {
//!     Pushable { number, branch, head }
//! }
//! ```

use super::facts::Pull;
use super::told::Told;
use crate::ids::Sha;
use crate::merge::facts::{HeadMaker, Part};
use crate::publish::visible::visible_line;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushable {
    number: u64,
    branch: String,
    head: Sha,
}

/// Why nothing is pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum NotPushable {
    #[error("the change comes from another repository, which is never pushed to")]
    Fork,
    #[error("{}, who {}, may not write here; nothing is pushed to it", visible_line(.login), .part.deed())]
    NoRight { login: String, part: Part },
    #[error("whether {}, who {}, may write here could not be read; nothing is pushed to it: {}", visible_line(.login), .part.deed(), visible_line(.because))]
    Unread { login: String, part: Part, because: String },
    #[error("who made this head is not known; nothing is pushed to it")]
    NobodyKnown,
}

impl NotPushable {
    /// Why nothing is pushed to a head that these made, if there is a reason. What could not be read is one (design rule 8).
    pub fn of(is_fork: bool, made_by: &[HeadMaker]) -> Option<NotPushable> {
        if is_fork {
            return Some(NotPushable::Fork);
        }
        if !made_by.iter().any(|maker| maker.part == Part::Author) {
            return Some(NotPushable::NobodyKnown);
        }
        made_by.iter().find_map(|maker| {
            let (login, part) = (maker.login.clone(), maker.part);
            match &maker.may_write {
                Told::Is(true) => None,
                Told::Is(false) => Some(NotPushable::NoRight { login, part }),
                Told::Unknown(because) => Some(NotPushable::Unread { login, part, because: because.clone() }),
            }
        })
    }

    /// What a state that an older version stored says of it: nobody has asked.
    pub fn unasked() -> Option<NotPushable> {
        Some(NotPushable::NobodyKnown)
    }
}

impl Pushable {
    pub fn new(pull: &Pull, made_by: &[HeadMaker]) -> Result<Pushable, NotPushable> {
        match NotPushable::of(pull.is_fork, made_by) {
            Some(refusal) => Err(refusal),
            None => Ok(Pushable { number: pull.number, branch: pull.head.branch.clone(), head: pull.head.sha.clone() }),
        }
    }

    /// A head that nobody had to be asked about: for tests, which push through our own clients.
    #[cfg(feature = "test-support")]
    pub fn unchecked(number: u64, branch: &str, head: &Sha) -> Pushable {
        Pushable { number, branch: branch.to_owned(), head: head.clone() }
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// What stands there now; a push that finds anything else does nothing.
    pub fn head(&self) -> &Sha {
        &self.head
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::Stage;
    use proptest::prelude::*;

    fn maker(part: Part, may_write: Told<bool>) -> HeadMaker {
        HeadMaker { login: "dev".into(), part, may_write }
    }

    fn makers() -> impl Strategy<Value = Vec<HeadMaker>> {
        let part = prop::sample::select(vec![Part::Author, Part::Pusher, Part::ForkOwner]);
        let may = prop::sample::select(vec![Told::Is(true), Told::Is(false), Told::Unknown("HTTP 403".to_owned())]);
        prop::collection::vec((part, may).prop_map(|(part, may)| maker(part, may)), 0..4)
    }

    proptest! {
        /// Whoever had a part in a head may write, or nothing is pushed to it; where the branch lies gives no right.
        #[test]
        fn only_heads_of_writers_are_pushed_to(makers in makers(), is_fork in any::<bool>()) {
            let mut pull = Stage::new().pull;
            pull.is_fork = is_fork;
            let all_may = makers.iter().all(|maker| maker.may_write == Told::Is(true));
            let has_author = makers.iter().any(|maker| maker.part == Part::Author);
            prop_assert_eq!(Pushable::new(&pull, &makers).is_ok(), !is_fork && has_author && all_may);
        }
    }

    #[test]
    fn a_refusal_names_the_reason() {
        let words = |may_write| NotPushable::of(false, &[maker(Part::Author, may_write)]).unwrap().to_string();
        assert_eq!(words(Told::Is(false)), "dev, who wrote it, may not write here; nothing is pushed to it");
        assert!(words(Told::Unknown("HTTP 403".into())).ends_with("HTTP 403"));
        assert!(NotPushable::of(true, &[]).unwrap().to_string().contains("another repository"));
    }
}
