//! What shall be done about an item (RL-28, RL-29, WL-61).

use crate::feedback::item::ItemId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It is right, and a small change answers it.
    Address,
    /// The code shows that it is wrong, or that it is so on purpose.
    Decline,
    /// It is right, and not of this pull request.
    Defer,
    /// Only a person can say.
    Ask,
    /// It asks for nothing.
    Noise,
    /// It is right, and larger than a fix.
    Replan,
}

/// What an assessor says of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assessment {
    pub item: ItemId,
    pub decision: Decision,
    /// Why, for whoever raised it. One or two sentences.
    pub rationale: String,
    /// A line of the code as it is now, quoted: what the decision rests on (RL-30).
    #[serde(default)]
    pub evidence: String,
    /// How to go about it; needed for `address`.
    #[serde(default)]
    pub notes: String,
    /// What the fix would be, in two or three words; items that share it may have one cause (WL-88).
    #[serde(default)]
    pub framing: Option<String>,
}
