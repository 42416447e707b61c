//! `[panel]`: who plays which role, who stands in, and who gives a second opinion.

use crate::ids::{AgentName, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelConfig {
    /// Another agent that tries to refute each finding against the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyConfig>,
    /// Agent → how much it counts when voices are counted, from 0 to 1. Default 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weight: BTreeMap<AgentName, f64>,
    /// Role → the agents that play it, each alone. An empty list switches the role off.
    #[serde(flatten)]
    pub roles: BTreeMap<RoleName, Vec<PlayerConfig>>,
}

/// `"opus"`, or `{ agent = "opus", fallback = ["gpt"], samples = 2 }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PlayerConfig {
    Agent(AgentName),
    Player(Player),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Player {
    pub agent: AgentName,
    /// Who is asked, in this order, when it cannot answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<AgentName>,
    /// How often it is asked, each time alone; what it says more than once is agreement. Default 1.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub samples: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerifyConfig {
    pub agent: AgentName,
}

fn once() -> u32 {
    1
}

fn is_once(samples: &u32) -> bool {
    *samples == 1
}

/// More would be a bill, not an opinion.
pub const MAX_SAMPLES: u32 = 5;

impl From<PlayerConfig> for Player {
    fn from(config: PlayerConfig) -> Self {
        match config {
            PlayerConfig::Agent(agent) => Player { agent, fallback: Vec::new(), samples: 1 },
            PlayerConfig::Player(player) => player,
        }
    }
}

impl Player {
    pub fn agents(&self) -> impl Iterator<Item = &AgentName> {
        std::iter::once(&self.agent).chain(&self.fallback)
    }

    pub fn problem(&self) -> Option<String> {
        if self.samples == 0 || self.samples > MAX_SAMPLES {
            return Some(format!("`samples` is {}, and must be 1 to {MAX_SAMPLES}", self.samples));
        }
        let mut seen: Vec<&AgentName> = Vec::new();
        for agent in self.agents() {
            if seen.contains(&agent) {
                return Some(format!("`{agent}` stands in for itself"));
            }
            seen.push(agent);
        }
        None
    }
}
