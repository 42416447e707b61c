//! Whom a token speaks for. A token's account never changes, so it is asked once and remembered on disk by a hash of host and token:
//! a run that finds nothing to do should cost few requests.

use super::{GitHub, graphql, shapes};
use crate::http::cache::{Cache, Kept};
use crate::port::Answered;
use serde::Deserialize;
use serde_json::json;
use tribunal_core::pull::facts::{Account, AccountKind};
use tribunal_core::pull::fault::ForgeFault;

/// Not the address of anything: what is kept under it was made here.
const MEMO: &str = "tribunal:identity";

#[derive(Deserialize)]
struct Viewing {
    viewer: Viewer,
}

#[derive(Deserialize)]
struct Viewer {
    #[serde(rename = "databaseId")]
    id: Option<u64>,
    login: String,
}

impl GitHub {
    fn memory(&self) -> Cache {
        Cache::new(self.cache.clone(), self.project.host(), &self.sessions.account_key())
    }

    pub(super) async fn whoami(&self) -> Answered<Account> {
        let memory = self.memory();
        if let Some(account) = memory.find(MEMO, "").and_then(|kept| serde_json::from_slice(&kept.body).ok()) {
            return Ok(account);
        }
        let account = self.ask_identity().await?;
        if let Ok(body) = serde_json::to_vec(&account) {
            memory.keep(MEMO, "", &Kept { etag: String::new(), link: String::new(), body });
        }
        Ok(account)
    }

    async fn ask_identity(&self) -> Answered<Account> {
        if !self.sessions.is_app() {
            match self.get::<shapes::User>("/user", "the account of the token").await {
                // The token of an App, whatever it looks like: it has no user of its own there.
                Err(ForgeFault::Forbidden { .. }) => {}
                other => return other.map(Account::from),
            }
        }
        let viewing: Viewing = self.query(graphql::VIEWER, json!({}), "the account of the token").await?;
        let id = viewing.viewer.id.ok_or_else(|| self.hollow("the account of the token has no id"))?;
        let kind = if viewing.viewer.login.ends_with("[bot]") { AccountKind::Bot } else { AccountKind::Person };
        Ok(Account { id: id.to_string(), login: viewing.viewer.login, kind })
    }
}
