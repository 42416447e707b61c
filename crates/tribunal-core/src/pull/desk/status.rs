//! What somebody said about a commit under a name; the latest counts.

use super::act::{Refusal, one_line};
use crate::feedback::log::READ;
use crate::ids::Sha;
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
    /// The end of what it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
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
            log: None,
        })
    }

    /// With what it printed, of which the end is kept.
    pub fn with_log(self, log: Option<&str>) -> Self {
        let end = |log: &str| {
            let from = log.len().saturating_sub(READ);
            let from = (from..=log.len()).find(|at| log.is_char_boundary(*at)).unwrap_or(log.len());
            log[from..].to_owned()
        };
        Status { log: log.map(end), ..self }
    }

    /// `sha` is the commit that it was said of.
    pub fn check(self, sha: &Sha) -> Check {
        let run = self.log.is_some().then(|| sha.to_string());
        Check { name: self.name, state: self.state, description: self.description, url: self.url, run }
    }
}
