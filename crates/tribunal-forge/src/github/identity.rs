//! Whom a token speaks for. A token's account never changes, so it is asked once and remembered on disk by a hash of host and token:
//! a run that finds nothing to do should cost few requests.

use super::{GitHub, graphql, shapes};
use crate::http::shelf::Shelf;
use crate::port::Answered;
use serde::Deserialize;
use serde_json::json;
use tribunal_core::pull::facts::{Account, AccountKind};
use tribunal_core::pull::fault::ForgeFault;

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
    pub(super) async fn whoami(&self) -> Answered<Account> {
        let shelf = Shelf::new(self.cache.clone());
        let account_key = self.sessions.account_key();
        let key = [self.project.host(), &account_key];
        if let Some(account) = shelf.find("identity", &key) {
            return Ok(account);
        }
        let account = self.ask_identity().await?;
        shelf.keep("identity", &key, &account);
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
