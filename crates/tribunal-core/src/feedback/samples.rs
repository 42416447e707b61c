//! A pull request and what was said on it, for tests.

use super::fixable::Fixable;
use super::gather::Said;
use super::item::{Item, ItemId, Label, Surface, Voice};
use super::right::{Permissions, Right};
use crate::findings::about::About;
use crate::findings::anchor::Side;
use crate::policy::identity::Bots;
use crate::publish::marker::{Disposition, Mark, MarkerKey, seal};
use crate::pull::facts::{Account, AccountKind, Check, CheckState, Mergeable, Permission, Pull, PullState, Tip};
use crate::pull::talk::{Comment, Review, ReviewState, Thread, ThreadComment};
use crate::pull::told::Told;
use std::collections::BTreeSet;

pub const CASE: &str = "pull:h/acme/shop#7";
pub const HEAD: &str = "1111111111111111111111111111111111111111";

pub fn person(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Person }
}

pub fn bot(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Bot }
}

pub fn codex() -> Account {
    bot("chatgpt-codex-connector[bot]")
}

pub fn rabbit() -> Account {
    bot("coderabbitai[bot]")
}

/// A pull request that can be talked on.
pub struct Stage {
    pub pull: Pull,
    pub comments: Vec<Comment>,
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    pub checks: Vec<Check>,
    pub me: Account,
    pub key: MarkerKey,
    pub extra: Bots,
    /// Logins of people who may only read; everybody else may write.
    pub readers: BTreeSet<String>,
    pub others_edit: bool,
}

impl Stage {
    pub fn new() -> Self {
        let tip = |branch: &str, sha: &str| Tip { branch: branch.into(), sha: sha.into(), repository: Some("acme/shop".into()) };
        Stage {
            pull: Pull {
                number: 7,
                title: "Add a cart".into(),
                body: String::new(),
                author: person("dev"),
                state: PullState::Open,
                draft: false,
                head: tip("cart", HEAD),
                base: tip("main", "2222222222222222222222222222222222222222"),
                is_fork: false,
                labels: vec![],
                url: "https://h/acme/shop/pull/7".into(),
                updated_at: String::new(),
                mergeable: Mergeable::Yes,
                changed_files: Some(1),
            },
            comments: vec![],
            reviews: vec![],
            threads: vec![],
            checks: vec![],
            me: person("tribunal"),
            key: MarkerKey::from_secret("secret"),
            extra: Bots::new(),
            readers: BTreeSet::new(),
            others_edit: false,
        }
    }

    pub fn said(&self) -> Said<'_> {
        Said {
            pull: &self.pull,
            comments: &self.comments,
            reviews: &self.reviews,
            threads: &self.threads,
            checks: &self.checks,
            me: &self.me,
            case_id: CASE,
            key: &self.key,
            extra: &self.extra,
            // A few bytes of a test: what speaks may have changed since the last time.
            permissions: Box::leak(Box::new(self.permissions())),
            others_edit: self.others_edit,
        }
    }

    fn permissions(&self) -> Permissions {
        let mut permissions = Permissions::default();
        let words = self.threads.iter().flat_map(|thread| &thread.comments).map(|comment| &comment.author);
        let spoken = self.comments.iter().map(|comment| &comment.author).chain(self.reviews.iter().map(|review| &review.author));
        for account in spoken.chain(words).chain([&self.pull.author, &self.me]) {
            let reads = self.readers.contains(&account.login) || account.kind == AccountKind::Bot;
            permissions.put(account, Told::Is(if reads { Permission::Read } else { Permission::Write }));
        }
        permissions
    }

    pub fn comment(mut self, by: &Account, body: &str) -> Self {
        let id = format!("c{}", self.comments.len() + 1);
        let at = "2026-01-01T00:00:00Z".to_owned();
        self.comments.push(Comment {
            url: format!("https://h/{id}"),
            id,
            author: by.clone(),
            body: body.into(),
            created_at: at.clone(),
            updated_at: at,
            edited: false,
        });
        self
    }

    pub fn review(mut self, by: &Account, state: ReviewState, body: &str) -> Self {
        let id = format!("r{}", self.reviews.len() + 1);
        self.reviews.push(Review {
            url: format!("https://h/{id}"),
            id,
            author: by.clone(),
            state,
            body: body.into(),
            commit: Some(self.pull.head.sha.clone()),
            submitted_at: "2026-01-01T00:00:00Z".into(),
        });
        self
    }

    pub fn check(mut self, name: &str, state: CheckState) -> Self {
        self.checks.push(Check { name: name.into(), state, description: format!("{name} says"), url: String::new(), run: None });
        self
    }

    pub fn thread(mut self, words: &[(&Account, &str)]) -> Self {
        let id = format!("t{}", self.threads.len() + 1);
        let comments = words.iter().enumerate().map(|(n, (by, body))| ThreadComment {
            id: format!("{id}.{}", n + 1),
            author: (*by).clone(),
            body: (*body).to_owned(),
            created_at: String::new(),
            url: format!("https://h/{id}/{}", n + 1),
            review: None,
            edited: false,
        });
        self.threads.push(Thread {
            comments: comments.collect(),
            id,
            path: "src/cart.rs".into(),
            line: Some(10),
            start_line: None,
            side: Side::New,
            resolved: false,
            resolved_by: None,
            outdated: None,
            can_resolve: None,
        });
        self
    }

    pub fn marked(&self, words: &str, mark: &Mark) -> String {
        format!("{words}\n\n{}", seal(mark, CASE, &self.key))
    }

    /// A mark that another key has sealed.
    pub fn broken(&self, words: &str, mark: &Mark) -> String {
        format!("{words}\n\n{}", seal(mark, CASE, &MarkerKey::from_secret("another")))
    }
}

pub fn reply(item: &str, last_word: &str, says: Disposition) -> Mark {
    Mark::Reply { item: item.into(), last_word: last_word.into(), says, head: HEAD.into(), run: "run".into() }
}

/// An item on a line of a file.
pub fn item(id: &str, by: &Account, voice: Voice, path: &str, line: u32, body: &str) -> Item {
    Item {
        id: ItemId(id.into()),
        surface: Surface::Thread { id: id.into() },
        author: by.clone(),
        voice,
        body: body.into(),
        url: String::new(),
        path: Some(path.into()),
        line: Some(line),
        start_line: None,
        priority: super::reviewer::priority_in(body),
        finding: None,
        about: About::default(),
        last_word: format!("{id}.1"),
        label: Label::Actionable,
        resolved: false,
        can_resolve: true,
        one_voice: true,
        answered: None,
    }
}

/// The right of somebody who may write.
pub fn granted() -> Right {
    Right::by_permission(Told::Is(Permission::Write))
}

/// An item of somebody who may write.
#[allow(clippy::unwrap_used)]
pub fn fixable(item: &Item) -> Fixable {
    Fixable::new(item.clone(), &granted()).unwrap()
}
