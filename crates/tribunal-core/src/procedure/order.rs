//! What a procedure over many pull requests orders for one of them, and why an order may not be carried out.

use crate::call::money::Money;
use crate::ids::{AgentName, RunId, Sha};
use crate::pull::facts::PullState;
use crate::pull::fault::ForgeFault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A review by the panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewOrder {
    /// The same order again goes on with this run, and does nothing twice.
    pub run: RunId,
    pub number: u64,
    /// What is to be reviewed; another head is another order.
    pub head: Sha,
    /// What the change is held against, besides what it says of itself.
    pub spec: Option<String>,
    /// What the reviewers should know.
    pub context: Option<String>,
    /// Agents that may not look, and why: whoever wrote or fixed a change never approves it (CF-13).
    pub not_by: BTreeMap<AgentName, String>,
    /// What it may cost at most; nothing for what the configuration says.
    pub allowance: Option<Money>,
    /// The module whose records count, and whether it is said which of them the change should name; for a sweep.
    #[serde(default)]
    pub references: Option<Lookup>,
}

/// What is looked up for a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    pub module: Option<String>,
}

/// One pass over what is open on a pull request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemedyOrder {
    pub run: RunId,
    pub number: u64,
    pub head: Sha,
    /// Who fixes; nothing for the configured fixer.
    pub fixer: Option<AgentName>,
    /// Whose words count, as `--reviewer` takes them.
    pub reviewer: String,
    pub allowance: Option<Money>,
}

/// Why nothing came of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Hindrance {
    HeadMoved {
        to: Option<Sha>,
    },
    NotOpen {
        state: PullState,
    },
    /// Somebody else's unfinished work on the same pull request, or a draft under the same account.
    InTheWay {
        reason: String,
    },
    /// Later it may work: a quota, an outage.
    NotYet {
        reason: String,
    },
    Budget {
        reason: String,
    },
    /// An agent failed, or what it gave is no use.
    Agent {
        reason: String,
    },
    Forge {
        reason: String,
    },
    /// Usage or configuration; only a person can mend it.
    Setup {
        reason: String,
    },
}

impl From<&ForgeFault> for Hindrance {
    /// Nothing is guessed about what was asked for, and nothing is asked by another way: what passes is asked again later.
    fn from(fault: &ForgeFault) -> Self {
        let reason = fault.to_string();
        if fault.may_pass() { Hindrance::NotYet { reason } } else { Hindrance::Forge { reason } }
    }
}

impl Hindrance {
    /// A name that stays the same while the cause does.
    pub fn kind(&self) -> &'static str {
        match self {
            Hindrance::HeadMoved { .. } => "head-moved",
            Hindrance::NotOpen { .. } => "not-open",
            Hindrance::InTheWay { .. } => "in-the-way",
            Hindrance::NotYet { .. } => "not-yet",
            Hindrance::Budget { .. } => "budget",
            Hindrance::Agent { .. } => "agent",
            Hindrance::Forge { .. } => "forge",
            Hindrance::Setup { .. } => "setup",
        }
    }
}

impl fmt::Display for Hindrance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hindrance::HeadMoved { to: Some(to) } => write!(f, "it was pushed to meanwhile (now {})", to.short()),
            Hindrance::HeadMoved { to: None } => f.write_str("it was pushed to meanwhile"),
            Hindrance::NotOpen { state } => write!(f, "it is {}", state.word()),
            Hindrance::InTheWay { reason }
            | Hindrance::NotYet { reason }
            | Hindrance::Budget { reason }
            | Hindrance::Agent { reason }
            | Hindrance::Forge { reason }
            | Hindrance::Setup { reason } => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS-80, TS-81, TS-82, TS-83: a limit of the forge's, on whichever request, is a matter of time; what is refused is not.
    #[test]
    fn a_limit_passes_and_a_refusal_does_not() {
        let host = || "h".to_owned();
        let limited = ForgeFault::Limited { host: host(), seconds: Some(60) };
        assert_eq!(Hindrance::from(&limited), Hindrance::NotYet { reason: "h asks to be left alone for 60 s".into() });
        let failing = ForgeFault::Failing { host: host(), status: 502, message: String::new() };
        assert_eq!(Hindrance::from(&failing).kind(), "not-yet");
        let refused = ForgeFault::Forbidden { host: host(), needs: None, message: String::new() };
        assert_eq!(Hindrance::from(&refused).kind(), "forge");
    }
}
