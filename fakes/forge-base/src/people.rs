//! Who there is, whose token is whose, and who may do what.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Person,
    Bot,
}

/// What a user may do in a project, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    None,
    Read,
    Triage,
    Write,
    Admin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: u64,
    pub login: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    pub user: u64,
    /// The forge's own words for what it may do; nothing here reads them.
    pub scopes: BTreeSet<String>,
    /// Of [`crate::Clock`].
    pub expires: Option<i64>,
}

#[derive(Debug, Default)]
pub struct People {
    users: BTreeMap<u64, User>,
    tokens: BTreeMap<String, Token>,
    levels: BTreeMap<(String, u64), Level>,
}

impl People {
    /// Ids of users are given by hand, so that a test can rename one and give its login to another.
    pub fn add(&mut self, id: u64, login: &str, kind: Kind) -> User {
        let user = User { id, login: login.to_owned(), kind };
        self.users.insert(id, user.clone());
        user
    }

    pub fn rename(&mut self, id: u64, login: &str) {
        if let Some(user) = self.users.get_mut(&id) {
            user.login = login.to_owned();
        }
    }

    pub fn token(&mut self, text: &str, user: u64, scopes: &[&str]) {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        self.tokens.insert(text.to_owned(), Token { text: text.to_owned(), user, scopes, expires: None });
    }

    pub fn put_token(&mut self, token: Token) {
        self.tokens.insert(token.text.clone(), token);
    }

    pub fn revoke(&mut self, text: &str) {
        self.tokens.remove(text);
    }

    /// A token that is known and not over.
    pub fn find_token(&self, text: &str, now: i64) -> Option<&Token> {
        self.tokens.get(text).filter(|token| token.expires.is_none_or(|at| now < at))
    }

    pub fn by_token(&self, text: &str, now: i64) -> Option<&User> {
        self.by_id(self.find_token(text, now)?.user)
    }

    pub fn by_id(&self, id: u64) -> Option<&User> {
        self.users.get(&id)
    }

    /// Logins are compared without case, as all these forges do.
    pub fn by_login(&self, login: &str) -> Option<&User> {
        self.users.values().find(|user| user.login.eq_ignore_ascii_case(login))
    }

    pub fn grant(&mut self, project: &str, user: u64, level: Level) {
        self.levels.insert((project.to_owned(), user), level);
    }

    pub fn level(&self, project: &str, user: u64) -> Level {
        self.levels.get(&(project.to_owned(), user)).copied().unwrap_or(Level::None)
    }

    /// All who were given something in a project.
    pub fn members(&self, project: &str) -> Vec<(User, Level)> {
        let mine = self.levels.iter().filter(|((path, _), level)| path == project && **level > Level::None);
        mine.filter_map(|((_, id), level)| Some((self.by_id(*id)?.clone(), *level))).collect()
    }

    pub(crate) fn move_project(&mut self, from: &str, to: &str) {
        let moved: Vec<(u64, Level)> =
            self.levels.iter().filter(|((path, _), _)| path == from).map(|((_, id), level)| (*id, *level)).collect();
        for (id, level) in moved {
            self.levels.remove(&(from.to_owned(), id));
            self.grant(to, id, level);
        }
    }
}
