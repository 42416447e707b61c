//! What somebody said about a commit under a name; the latest counts.

use super::act::{Refusal, one_line};
use crate::procedure::Millis;
use crate::pull::facts::{Account, Check, CheckState};
use crate::pull::talk::NewStatus;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub name: String,
    pub state: CheckState,
    pub description: String,
    pub url: String,
    pub by: Account,
    pub at: Millis,
}

impl Status {
    pub fn new(status: &NewStatus, by: &Account, at: Millis) -> Result<Self, Refusal> {
        Ok(Status {
            name: one_line(&status.context)?,
            state: status.state,
            description: status.description.trim().to_owned(),
            url: status.url.clone().unwrap_or_default(),
            by: by.clone(),
            at,
        })
    }

    pub fn check(self) -> Check {
        Check { name: self.name, state: self.state, description: self.description, url: self.url }
    }
}
