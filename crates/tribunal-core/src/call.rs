//! One question to an agent: what it costs ([`money`], [`usage`], [`price`]), how it can go wrong ([`fault`]), how long it may
//! take ([`clocks`]).

pub mod allowance;
pub mod clocks;
pub mod fault;
pub mod money;
pub mod price;
pub mod usage;

use serde_json::Value;

/// A question in the order in which prompt caches work: what never changes, what all roles of a run share, what is one role's own.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The same for every run of this release.
    pub system: String,
    /// The same for every role of a run: byte for byte, or the cache is lost.
    pub shared: String,
    /// The role and its own inputs. Last, so that nothing before it differs.
    pub own: String,
    /// What the answer must look like.
    pub schema: Value,
    /// An earlier answer that did not fit, and what was wrong with it: asked once more, never twice.
    pub repair: Option<Repair>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    pub answer: String,
    /// The validator's words.
    pub problem: String,
}

/// What an agent answered, whole, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// As text: whether it is JSON that fits the schema is for the caller to find out.
    pub text: String,
    pub usage: usage::Usage,
    /// What the agent says it cost, if it says so. A price list is only asked when it does not.
    pub stated_cost: Option<money::Money>,
}
