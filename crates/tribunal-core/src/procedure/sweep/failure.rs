//! Why a pull request failed in a tick, and whether it is the same cause as the last time (SL-134 #6, SL-137).

use super::effect::Trouble;
use crate::findings::key::sha256_hex;
use crate::publish::visible::visible_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where in its round it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    Look,
    Reject,
    Review,
    Conclude,
    Respond,
    /// Its checks fail after our own push (SL-65).
    Checks,
    Verify,
    Summary,
    Update,
    Merge,
    /// What holds it back could not be put on record.
    Hold,
}

impl At {
    pub fn word(self) -> &'static str {
        match self {
            At::Look => "look",
            At::Reject => "reject",
            At::Review => "review",
            At::Conclude => "conclude",
            At::Respond => "respond",
            At::Checks => "checks",
            At::Verify => "verify",
            At::Summary => "summary",
            At::Update => "update",
            At::Merge => "merge",
            At::Hold => "hold",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    pub at: At,
    pub class: Class,
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    Forge,
    Agent,
    Budget,
    Later,
    Withheld,
    Push,
    Checks,
    Merge,
}

impl Class {
    pub fn word(self) -> &'static str {
        match self {
            Class::Forge => "forge",
            Class::Agent => "agent",
            Class::Budget => "budget",
            Class::Later => "later",
            Class::Withheld => "withheld",
            Class::Push => "push",
            Class::Checks => "checks",
            Class::Merge => "merge",
        }
    }
}

impl Failure {
    pub fn new(at: At, class: Class, words: impl Into<String>) -> Self {
        Failure { at, class, words: words.into() }
    }

    pub fn of(at: At, trouble: &Trouble) -> Self {
        let class = match trouble {
            Trouble::Forge(_) | Trouble::Index(_) | Trouble::Displaced(_) | Trouble::HeadMoved => Class::Forge,
            Trouble::Incomplete(_) | Trouble::Setup(_) => Class::Agent,
            Trouble::OverBudget(_) => Class::Budget,
            Trouble::Unavailable(_) => Class::Later,
            Trouble::Withheld(_) => Class::Withheld,
            Trouble::NotPushed(_) => Class::Push,
        };
        Failure::new(at, class, trouble.words())
    }

    /// The same for the same cause: where and what kind it is, and its words without what differs from one time to the next.
    pub fn signature(&self) -> String {
        let hash = sha256_hex(normalised(&self.words).as_bytes());
        format!("{}/{}-{}", self.at.word(), self.class.word(), &hash[..8])
    }

    pub fn sentence(&self) -> String {
        format!("{}: {}", self.at.word(), visible_line(&self.words))
    }
}

/// Numbers, commits and other long hexadecimal names differ from try to try; so do case and white space.
fn normalised(words: &str) -> String {
    let plain = words.to_lowercase();
    let tokens = plain.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty());
    let fold = |token: &str| match token {
        token if token.len() >= 7 && token.bytes().all(|byte| byte.is_ascii_hexdigit()) => "@".to_owned(),
        token if token.bytes().any(|byte| byte.is_ascii_digit()) => {
            let letters: String = token.chars().filter(|c| !c.is_ascii_digit()).collect();
            format!("{letters}0")
        }
        token => token.to_owned(),
    };
    tokens.map(fold).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(words: &str) -> String {
        Failure::new(At::Respond, Class::Push, words).signature()
    }

    /// SL-137: what differs from try to try is no part of the cause; what and where it is, is.
    #[test]
    fn the_same_cause_has_the_same_signature() {
        let first = signature("push of 0123abcdef refused after 12 s (attempt 1)");
        assert_eq!(first, signature("Push of fedcba9876 refused after 3 s  (attempt 2)"));
        assert!(first.starts_with("respond/push-"), "{first}");
        assert_ne!(first, signature("push of 0123abcdef refused: protected branch"));
        assert_ne!(first, Failure::new(At::Update, Class::Push, "push of 0123abcdef refused after 12 s (attempt 1)").signature());
    }
}
