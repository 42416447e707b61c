//! Who somebody is. Where a user stands as an author GitLab leaves out whether it is a bot, so each one is asked for once.

use super::GitLab;
use super::Token;
use super::wire::{Job, User};
use crate::port::Answered;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tribunal_core::pull::facts::{Account, AccountKind};
use tribunal_core::pull::fault::ForgeFault;

#[derive(Default)]
pub struct People {
    kinds: Mutex<BTreeMap<u64, AccountKind>>,
}

impl People {
    fn known(&self, id: u64) -> Option<AccountKind> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
    }

    fn learn(&self, id: u64, kind: AccountKind) -> AccountKind {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(id, kind);
        kind
    }
}

impl GitLab {
    pub(super) async fn account(&self, user: &User) -> Account {
        let kind = match (user.bot, self.people.known(user.id)) {
            (Some(bot), _) => self.people.learn(user.id, kind(Some(bot))),
            (None, Some(kind)) => kind,
            (None, None) => self.look_up_kind(user.id).await,
        };
        Account { id: user.id.to_string(), login: user.username.clone(), kind }
    }

    /// A token that may not look people up still reviews. Only an answer is kept: after a failure the next question asks again, unless
    /// the answer is that we may not ask.
    async fn look_up_kind(&self, id: u64) -> AccountKind {
        let asked: Answered<User> = self.http.get(&format!("/users/{id}"), "a user").await;
        match asked {
            Ok(user) => self.people.learn(id, kind(user.bot.filter(|_| user.id == id))),
            Err(ForgeFault::NotFound { .. } | ForgeFault::Forbidden { .. } | ForgeFault::Unauthorized { .. }) => {
                self.people.learn(id, AccountKind::Unread)
            }
            Err(_) => AccountKind::Unread,
        }
    }

    pub(super) async fn who_am_i(&self) -> Answered<&Account> {
        self.identity
            .get_or_try_init(|| async {
                let user = match &self.token {
                    Token::Access(_) => self.http.get::<User>("/user", "the token's user").await?,
                    Token::Job(_) => self.http.get::<Job>("/job", "the token's job").await?.user,
                };
                Ok(self.account(&user).await)
            })
            .await
    }
}

/// GitLab's bots are service accounts and the accounts of access tokens, whose names their makers choose.
fn kind(bot: Option<bool>) -> AccountKind {
    match bot {
        Some(true) => AccountKind::ServiceAccount,
        Some(false) => AccountKind::Person,
        None => AccountKind::Unread,
    }
}
