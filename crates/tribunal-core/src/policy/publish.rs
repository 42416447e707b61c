//! `[publish]`: what is posted on a pull request, and how far its threads are ours to close.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishConfig {
    /// When threads of ours are resolved. Default `addressed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve: Option<ResolveRule>,
    /// Set the commit status `tribunal/review`. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<bool>,
}

/// CF-6: when a thread of ours is resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResolveRule {
    Never,
    /// Our answer is posted, and nobody else has written in it.
    #[default]
    Addressed,
    /// Also when others have.
    Always,
}

/// The settled answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishPolicy {
    pub resolve: ResolveRule,
    pub status: bool,
}

impl Default for PublishPolicy {
    fn default() -> Self {
        PublishPolicy { resolve: ResolveRule::default(), status: true }
    }
}

impl PublishConfig {
    pub fn policy(&self) -> PublishPolicy {
        PublishPolicy { resolve: self.resolve.unwrap_or_default(), status: self.status.unwrap_or(true) }
    }
}
