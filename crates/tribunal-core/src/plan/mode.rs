//! Whole change, what is new since the last review, or nothing at all (PR-22 to PR-28, PR-34).
//!
//! Narrowing is an optimisation, so any doubt widens: another base, other rules, another engine, an incomplete last review, or
//! a last head that git no longer has.

use crate::ids::Sha;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    Full,
    Incremental,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestedMode {
    #[default]
    Auto,
    Full,
    Incremental,
}

/// The last review of the same case, as far as narrowing depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReview {
    pub head: Sha,
    pub base: Sha,
    /// Does git still have the head? (PR-25)
    pub reachable: bool,
    /// Config, rules, roles, engine and inputs, hashed.
    pub fingerprint: String,
    /// Every required role finished.
    pub complete: bool,
    /// A pull request shows it, under a mark of ours that opens; true where there is no pull request.
    #[serde(default = "yes")]
    pub proved: bool,
    /// Its change is, file by file, the change of today: a rebase that changed nothing.
    #[serde(default)]
    pub same_content: bool,
    /// The pull request was aimed at another branch then, or the record does not say at which.
    #[serde(default)]
    pub other_target: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    Full { widened: Option<Widening> },
    Incremental { since: Sha },
    Noop { head: Sha },
}

/// Why a review that could have been narrow is not. Always said aloud (PR-26).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Widening {
    Unreachable(Sha),
    BaseMoved {
        from: Sha,
        to: Sha,
    },
    /// The pull request is to be merged into another branch than it was then.
    TargetChanged,
    RulesChanged,
    LastIncomplete,
    NothingToBuildOn,
    /// The summary on the pull request is gone, or its mark does not open here.
    Unproved,
    /// The record of the last review is not one that this release can read.
    Unreadable,
}

impl Widening {
    pub fn sentence(&self) -> String {
        match self {
            Widening::Unreachable(sha) => {
                format!(
                    "the last reviewed head {} is gone (force-push, squash or clean-up), so this is a full review",
                    sha.short()
                )
            }
            Widening::BaseMoved { from, to } => {
                format!("the base moved from {} to {}, so this is a full review", from.short(), to.short())
            }
            Widening::TargetChanged => {
                "the last review does not name the branch that this is to be merged into, so this is a full review".into()
            }
            Widening::RulesChanged => {
                "configuration, rules, roles, inputs or the engine changed since the last review, so this is a full review".into()
            }
            Widening::LastIncomplete => "the last review was incomplete, so this is a full review".into(),
            Widening::Unproved => {
                "the summary of the last review is gone from the pull request, or its mark cannot be verified here, so this is a full review".into()
            }
            Widening::Unreadable => {
                "the record of the last review cannot be read by this release, so this is a full review, and it does not know what was open".into()
            }
            Widening::NothingToBuildOn => "there is no earlier review to build on, so this is a full review".into(),
        }
    }
}

/// What there is to build on.
#[derive(Debug, Clone, Copy)]
pub enum Ground<'a> {
    /// There was no review of this case.
    Nothing,
    /// There was one, and it cannot be used.
    Lost(&'a Widening),
    Last(&'a LastReview),
}

pub fn resolve(requested: RequestedMode, ground: Ground<'_>, base: &Sha, head: &Sha, fingerprint: &str) -> Resolution {
    let last = match (ground, requested) {
        (Ground::Lost(reason), _) => return Resolution::Full { widened: Some(reason.clone()) },
        (Ground::Last(_) | Ground::Nothing, RequestedMode::Full) | (Ground::Nothing, RequestedMode::Auto) => {
            return Resolution::Full { widened: None };
        }
        (Ground::Nothing, RequestedMode::Incremental) => {
            return Resolution::Full { widened: Some(Widening::NothingToBuildOn) };
        }
        (Ground::Last(last), RequestedMode::Auto | RequestedMode::Incremental) => last,
    };
    let widened = if !last.proved {
        Some(Widening::Unproved)
    } else if !last.complete {
        Some(Widening::LastIncomplete)
    } else if last.other_target {
        Some(Widening::TargetChanged)
    } else if last.fingerprint != fingerprint {
        Some(Widening::RulesChanged)
    } else if &last.base != base && !last.same_content {
        Some(Widening::BaseMoved { from: last.base.clone(), to: base.clone() })
    } else if &last.head != head && !last.reachable {
        Some(Widening::Unreachable(last.head.clone()))
    } else {
        None
    };
    match widened {
        Some(widening) => Resolution::Full { widened: Some(widening) },
        None if &last.head == head && &last.base == base => Resolution::Noop { head: head.clone() },
        None => Resolution::Incremental { since: last.head.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> LastReview {
        LastReview {
            head: "h1".into(),
            base: "b".into(),
            reachable: true,
            fingerprint: "f".into(),
            complete: true,
            proved: true,
            same_content: false,
            other_target: false,
        }
    }

    fn auto(last: Option<LastReview>, head: &str) -> Resolution {
        let ground = last.as_ref().map_or(Ground::Nothing, Ground::Last);
        resolve(RequestedMode::Auto, ground, &"b".into(), &head.into(), "f")
    }

    /// PR-22: the table of the contract.
    #[test]
    fn the_mode_table_holds() {
        assert_eq!(auto(None, "h2"), Resolution::Full { widened: None });
        assert_eq!(auto(Some(last()), "h2"), Resolution::Incremental { since: "h1".into() });
        assert_eq!(auto(Some(last()), "h1"), Resolution::Noop { head: "h1".into() });
        let gone = LastReview { reachable: false, ..last() };
        assert_eq!(auto(Some(gone), "h2"), Resolution::Full { widened: Some(Widening::Unreachable("h1".into())) });
        let full = resolve(RequestedMode::Full, Ground::Last(&last()), &"b".into(), &"h1".into(), "f");
        assert_eq!(full, Resolution::Full { widened: None });
    }

    /// PR-27 was unknown: a forced incremental review with nothing to build on is a full one, announced.
    #[test]
    fn a_forced_incremental_review_without_a_last_one_widens() {
        let forced = resolve(RequestedMode::Incremental, Ground::Nothing, &"b".into(), &"h".into(), "f");
        assert_eq!(forced, Resolution::Full { widened: Some(Widening::NothingToBuildOn) });
    }

    /// PR-26: a review that was there and cannot be used is always named, also where a full review was asked for.
    #[test]
    fn a_lost_review_is_named() {
        for mode in [RequestedMode::Auto, RequestedMode::Full, RequestedMode::Incremental] {
            let resolution = resolve(mode, Ground::Lost(&Widening::Unreadable), &"b".into(), &"h".into(), "f");
            assert_eq!(resolution, Resolution::Full { widened: Some(Widening::Unreadable) });
        }
    }

    /// Issue rule: base, rules and engine widen, never narrow; an incomplete review is never built on.
    #[test]
    fn any_doubt_widens() {
        for (changed, why) in [
            (LastReview { complete: false, ..last() }, Widening::LastIncomplete),
            (LastReview { fingerprint: "g".into(), ..last() }, Widening::RulesChanged),
            (LastReview { other_target: true, ..last() }, Widening::TargetChanged),
            (LastReview { proved: false, ..last() }, Widening::Unproved),
            (LastReview { base: "a".into(), ..last() }, Widening::BaseMoved { from: "a".into(), to: "b".into() }),
        ] {
            assert_eq!(auto(Some(changed), "h1"), Resolution::Full { widened: Some(why) });
        }
    }

    /// Pains 8 and 9: a rebase with equal content is not looked at again, whatever its commits are called.
    #[test]
    fn a_rebase_that_changes_nothing_is_not_a_new_change() {
        let rebased = LastReview { base: "a".into(), same_content: true, ..last() };
        assert_eq!(auto(Some(rebased), "h2"), Resolution::Incremental { since: "h1".into() });
    }
}
