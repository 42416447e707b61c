//! Who may cause an edit, an answer that resolves, a validation command or an agent's prompt by what they say.
//!
//! Everybody can comment on a public pull request. An item counts only if its author may write to the repository, is a registered bot
//! by account and not by name alone, or is us by seal. A right is made here, from what the forge said of the account, and nowhere
//! else; what could not be read is no right (design rule 8).

use super::reviewer::registered;
use crate::policy::identity::Bots;
use crate::pull::facts::{Account, Permission};
use crate::pull::told::Told;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a report names an item of somebody without the right.
pub const NO_RIGHT: &str = "no right to write";
/// The same of words that were edited where that needs no right to write.
const EDITED: &str = "it was edited, and here people may edit it who have no right to write; say it again";
/// What stands before the reason.
pub const NOT_ACTED_ON: &str = "not acted on: ";

/// What the forge said of the accounts that speak on a pull request, by account id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions(BTreeMap<String, Told<Permission>>);

impl Permissions {
    pub fn put(&mut self, account: &Account, permission: Told<Permission>) {
        self.0.insert(account.id.clone(), permission);
    }

    pub fn of(&self, account: &Account) -> Told<Permission> {
        self.0.get(&account.id).cloned().unwrap_or_else(|| Told::Unknown("the forge was not asked".to_owned()))
    }

    pub fn is_known(&self, account: &Account) -> bool {
        self.0.contains_key(&account.id)
    }

    /// May it write? Nothing where that could not be read.
    pub fn may_write(&self, account: &Account) -> Option<bool> {
        self.of(account).known().map(Permission::may_write)
    }
}

/// Whether an account's words may be acted on, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Right(Fact);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Fact {
    /// A mark of ours whose seal opens.
    Sealed,
    Permission(Permission),
    /// A registered bot, by its name in the registry or in the configuration.
    Registered(String),
    /// Edited where people may edit it who may not push: perhaps the words of somebody else than its author.
    PerhapsAnothers,
    /// The permission could not be read, and why.
    Unread(String),
}

/// What nobody has looked up, as in a run of an older version, is no right.
impl Default for Right {
    fn default() -> Self {
        Right(Fact::Unread("the forge was not asked".to_owned()))
    }
}

impl Right {
    /// Only what reads marks knows that a seal opened.
    pub(super) fn by_seal() -> Self {
        Right(Fact::Sealed)
    }

    pub fn by_permission(permission: Told<Permission>) -> Self {
        Right(match permission {
            Told::Is(permission) => Fact::Permission(permission),
            Told::Unknown(because) => Fact::Unread(because),
        })
    }

    /// The right of an account: as a registered bot, or as the forge says.
    pub fn of(account: &Account, bots: &Bots, permissions: &Permissions) -> Self {
        match registered(account, bots) {
            Some(name) => Right(Fact::Registered(name)),
            None => Right::by_permission(permissions.of(account)),
        }
    }

    /// The right of words: that of their author, unless they are perhaps somebody else's. A registered bot's are no exception.
    pub fn of_words(account: &Account, perhaps_anothers: bool, bots: &Bots, permissions: &Permissions) -> Self {
        match perhaps_anothers {
            true => Right(Fact::PerhapsAnothers),
            false => Right::of(account, bots, permissions),
        }
    }

    pub fn is_granted(&self) -> bool {
        match &self.0 {
            Fact::Sealed | Fact::Registered(_) => true,
            Fact::Permission(permission) => permission.may_write(),
            Fact::PerhapsAnothers | Fact::Unread(_) => false,
        }
    }

    /// Why it is not granted, as the report says it after `not acted on: `.
    pub fn refusal(&self) -> Option<String> {
        match &self.0 {
            _ if self.is_granted() => None,
            Fact::PerhapsAnothers => Some(EDITED.to_owned()),
            Fact::Unread(because) => Some(format!("the right to write could not be read: {because}")),
            Fact::Sealed | Fact::Registered(_) | Fact::Permission(_) => Some(NO_RIGHT.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bot, person};
    use super::*;
    use crate::policy::identity::BotAccount;
    use crate::pull::facts::AccountKind;

    fn right(account: &Account, bots: &Bots, told: Option<Told<Permission>>) -> Right {
        let mut permissions = Permissions::default();
        if let Some(told) = told {
            permissions.put(account, told);
        }
        Right::of(account, bots, &permissions)
    }

    /// Issue 16, A1: a permission that was read gives the right from `write` on; what was not read never does.
    #[test]
    fn only_a_permission_that_was_read_gives_the_right() {
        let ann = person("ann");
        for (permission, granted) in [
            (Permission::None, false),
            (Permission::Read, false),
            (Permission::Triage, false),
            (Permission::Write, true),
            (Permission::Admin, true),
        ] {
            let right = right(&ann, &Bots::new(), Some(Told::Is(permission)));
            assert_eq!(right.is_granted(), granted, "{permission:?}");
            assert_eq!(right.refusal().as_deref(), (!granted).then_some(NO_RIGHT));
        }
        let unread = right(&ann, &Bots::new(), Some(Told::Unknown("HTTP 403".into())));
        assert!(!unread.is_granted() && unread.refusal().unwrap().ends_with("HTTP 403"));
        assert!(!right(&ann, &Bots::new(), None).is_granted(), "nobody asked");
    }

    /// Issue 16, A1: a registered bot by account, never by its name alone.
    #[test]
    fn a_name_alone_is_no_registration() {
        let none = Some(Told::Is(Permission::Read));
        assert!(right(&bot("coderabbitai[bot]"), &Bots::new(), none.clone()).is_granted());
        assert!(!right(&person("coderabbitai"), &Bots::new(), none.clone()).is_granted());
        // GitLab calls a service account a bot, and whoever makes one chooses its name.
        let service = |login: &str| Account { kind: AccountKind::ServiceAccount, ..bot(login) };
        for login in ["coderabbitai", "coderabbitai[bot]", "chatgpt-codex-connector"] {
            assert!(!right(&service(login), &Bots::new(), none.clone()).is_granted(), "{login}");
        }
        assert!(!right(&bot("unheard-of[bot]"), &Bots::new(), none.clone()).is_granted());
        let named = Bots::from([("lint".to_owned(), BotAccount::named("lintbot"))]);
        assert!(!right(&person("lint"), &named, none.clone()).is_granted(), "a person with the bot's login");
        assert!(right(&bot("lint[bot]"), &named, none.clone()).is_granted(), "the forge calls it a bot");
        assert!(right(&person("lint"), &named, Some(Told::Is(Permission::Write))).is_granted());
        let by_id = |id: &str| Bots::from([("lint".to_owned(), BotAccount { name: "lintbot".into(), id: Some(id.into()) })]);
        assert!(right(&person("lint"), &by_id("id-lint"), none.clone()).is_granted());
        for account in [person("lint"), bot("lint[bot]")] {
            assert!(!right(&account, &by_id("id-other"), none.clone()).is_granted(), "the login was taken over");
        }
    }
}
