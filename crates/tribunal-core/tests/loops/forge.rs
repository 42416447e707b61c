//! A forge on paper: what stands on the pull request, and every write that ever happened to it.
//!
//! It knows no procedure. What is wrong with a write (a second answer, a resolved thread of a person) is noticed here, at the moment
//! of the write, whatever the loop believes about it.

use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::calendar::rfc3339;
use tribunal_core::feedback::gather::Said;
use tribunal_core::feedback::right::Permissions;
use tribunal_core::findings::anchor::Side;
use tribunal_core::ids::Sha;
use tribunal_core::policy::identity::Bots;
use tribunal_core::publish::marker::{Disposition, Mark, MarkerKey, ReadMark, read};
use tribunal_core::pull::facts::{Account, AccountKind, Check, CheckState, Mergeable, Permission, Pull, PullState, Tip};
use tribunal_core::pull::talk::{Comment, Reaction, Review, ReviewState, Thread, ThreadComment};
use tribunal_core::pull::told::Told;

pub fn account(login: &str, kind: AccountKind) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind }
}

/// May read and comment, and nothing more.
pub const MALLORY: &str = "mallory";
/// Stands in everything that mallory says.
pub const HERS: &str = "says mallory";

/// Everybody may write but mallory and machines.
fn permissions() -> Permissions {
    let mut permissions = Permissions::default();
    for login in ["alice", "bob", "claude", "dev", "tribunal"] {
        permissions.put(&account(login, AccountKind::Person), Told::Is(Permission::Write));
    }
    permissions.put(&account(MALLORY, AccountKind::Person), Told::Is(Permission::Read));
    permissions.put(&account("lint[bot]", AccountKind::Bot), Told::Is(Permission::None));
    permissions
}

fn words_of(by: &Account, body: String) -> String {
    if by.login == MALLORY { format!("{body}, {HERS}") } else { body }
}

/// What a reader is shown.
#[derive(Debug, Clone)]
pub struct Talk {
    pub pull: Pull,
    pub comments: Vec<Comment>,
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    pub checks: Vec<Check>,
    pub reactions: Vec<Reaction>,
}

pub struct Forge {
    pub talk: Talk,
    /// Grows with every change, so that what did not change need not be read again.
    pub version: u64,
    pub me: Account,
    permissions: Permissions,
    pub key: MarkerKey,
    pub case_id: String,
    /// Titles of issues, for deferred work.
    pub issues: Vec<String>,
    pub commits: u32,
    ids: u32,
    /// Each answer that was posted: item and the word that it answers.
    answered: BTreeSet<(String, String)>,
    fixed: BTreeMap<String, u32>,
    rounds: BTreeSet<(String, u32)>,
    /// What must never have happened.
    pub wrongs: Vec<String>,
}

impl Forge {
    pub fn new(case_id: String) -> Self {
        let tip = |branch: &str, sha: Sha| Tip { branch: branch.into(), sha, repository: Some("acme/shop".into()) };
        let talk = Talk {
            pull: Pull {
                number: 7,
                title: "Add a cart".into(),
                body: String::new(),
                author: account("dev", AccountKind::Person),
                state: PullState::Open,
                draft: false,
                head: tip("cart", sha(1)),
                base: tip("main", sha(0)),
                is_fork: false,
                labels: vec![],
                url: "https://h/acme/shop/pull/7".into(),
                updated_at: String::new(),
                mergeable: Mergeable::Yes,
                changed_files: Some(2),
            },
            comments: vec![],
            reviews: vec![],
            threads: vec![],
            checks: vec![],
            reactions: vec![],
        };
        Forge {
            talk,
            version: 0,
            me: account("tribunal", AccountKind::Person),
            permissions: permissions(),
            key: MarkerKey::from_secret("secret"),
            case_id,
            issues: vec![],
            commits: 1,
            ids: 0,
            answered: BTreeSet::new(),
            fixed: BTreeMap::new(),
            rounds: BTreeSet::new(),
            wrongs: vec![],
        }
    }

    pub fn said<'a>(&'a self, talk: &'a Talk, extra: &'a Bots) -> Said<'a> {
        Said {
            pull: &talk.pull,
            comments: &talk.comments,
            reviews: &talk.reviews,
            threads: &talk.threads,
            checks: &talk.checks,
            me: &self.me,
            case_id: &self.case_id,
            key: &self.key,
            extra,
            permissions: &self.permissions,
            others_edit: false,
        }
    }

    pub fn head(&self) -> &Sha {
        &self.talk.pull.head.sha
    }

    pub fn is_open(&self) -> bool {
        self.talk.pull.state == PullState::Open
    }

    fn id(&mut self, kind: &str) -> String {
        self.ids += 1;
        self.version += 1;
        format!("{kind}{:05}", self.ids)
    }

    pub fn new_commit(&mut self) -> Sha {
        self.commits += 1;
        sha(self.commits)
    }

    /// Somebody else's push.
    pub fn push_by_other(&mut self) {
        let commit = self.new_commit();
        self.move_head(commit);
    }

    fn move_head(&mut self, commit: Sha) {
        self.version += 1;
        self.talk.pull.head.sha = commit;
        // Checks belong to a commit; at the new one they have not run yet.
        self.talk.checks.clear();
    }

    /// Our push, with a lease on the head that it was made for.
    pub fn push(&mut self, onto: &Sha, tip: Sha) -> bool {
        if self.head() != onto {
            return false;
        }
        self.move_head(tip);
        true
    }

    pub fn comment(&mut self, by: &Account, body: String, at: u64) -> String {
        let body = words_of(by, body);
        let id = self.id("c");
        let url = format!("https://h/{id}");
        let at = rfc3339(at);
        self.note_round(&body, by);
        self.talk.comments.push(Comment {
            id,
            author: by.clone(),
            body,
            created_at: at.clone(),
            updated_at: at,
            url: url.clone(),
            edited: false,
        });
        url
    }

    pub fn review(&mut self, by: &Account, state: ReviewState, body: &str, at: u64) {
        let id = self.id("r");
        self.talk.reviews.push(Review {
            url: format!("https://h/{id}"),
            id,
            author: by.clone(),
            state,
            body: words_of(by, body.into()),
            commit: Some(self.head().clone()),
            submitted_at: rfc3339(at),
        });
    }

    pub fn open_thread(&mut self, by: &Account, path: &str, line: u32, body: String) {
        let id = self.id("t");
        let comment = self.word(by, words_of(by, body));
        self.talk.threads.push(Thread {
            id,
            path: path.into(),
            line: Some(line),
            start_line: None,
            side: Side::New,
            resolved: false,
            resolved_by: None,
            outdated: None,
            can_resolve: None,
            comments: vec![comment],
        });
    }

    fn word(&mut self, by: &Account, body: String) -> ThreadComment {
        let id = self.id("w");
        ThreadComment {
            url: format!("https://h/{id}"),
            id,
            author: by.clone(),
            body,
            created_at: String::new(),
            review: None,
            edited: false,
        }
    }

    pub fn say_in(&mut self, thread: usize, by: &Account, body: String) {
        let comment = self.word(by, words_of(by, body));
        self.talk.threads[thread].comments.push(comment);
    }

    pub fn check(&mut self, name: &str, state: CheckState) {
        self.version += 1;
        self.talk.checks.retain(|check| check.name != name);
        self.talk.checks.push(Check {
            name: name.into(),
            state,
            description: format!("{name} says no"),
            url: String::new(),
            run: None,
        });
    }

    fn mark(&self, body: &str) -> Option<Mark> {
        read(body, &self.case_id, &self.key).map(|ReadMark { mark, .. }| mark)
    }

    pub fn marks_of(&self, thread: &Thread) -> Vec<Mark> {
        thread
            .comments
            .iter()
            .filter(|comment| comment.author.is(&self.me))
            .filter_map(|comment| self.mark(&comment.body))
            .collect()
    }

    /// Our reply in a thread.
    pub fn reply(&mut self, thread: &str, body: String) -> bool {
        let Some(at) = self.talk.threads.iter().position(|found| found.id == thread) else { return false };
        if let Some(Mark::Reply { item, last_word, says, .. }) = self.mark(&body) {
            if !self.answered.insert((item.clone(), last_word.clone())) {
                self.wrongs.push(format!("{item} is answered twice for the word {last_word}"));
            }
            let fixed = self.fixed.entry(item.clone()).or_default();
            *fixed += u32::from(says == Disposition::Fixed);
            // CF-3.
            if *fixed > 3 {
                self.wrongs.push(format!("{item} was fixed {fixed} times"));
            }
        } else {
            self.wrongs.push(format!("a reply in {thread} has no mark"));
        }
        let me = self.me.clone();
        self.say_in(at, &me, body);
        true
    }

    pub fn resolve(&mut self, thread: &str, resolve_people: bool) {
        self.version += 1;
        let me = self.me.clone();
        let Some(found) = self.talk.threads.iter().find(|found| found.id == thread) else { return };
        let Some(Mark::Reply { last_word, .. }) =
            self.marks_of(found).into_iter().rev().find(|mark| matches!(mark, Mark::Reply { .. }))
        else {
            self.wrongs.push(format!("{thread} is resolved without a reply"));
            return;
        };
        let is_machine = |by: &Account| by.kind == AccountKind::Bot || by.is(&me);
        if !resolve_people && !found.comments.iter().all(|comment| is_machine(&comment.author)) {
            self.wrongs.push(format!("{thread}, in which a person spoke, is resolved"));
        }
        let last = found.comments.iter().rev().find(|comment| !comment.author.is(&me));
        if last.is_some_and(|last| last.id != last_word) {
            self.wrongs.push(format!("{thread} is resolved over a word that nobody answered"));
        }
        if let Some(found) = self.talk.threads.iter_mut().find(|found| found.id == thread) {
            found.resolved = true;
            found.resolved_by = Some(me);
        }
    }

    fn note_round(&mut self, body: &str, by: &Account) {
        if !by.is(&self.me) {
            return;
        }
        if let Some(Mark::Round { run, cycle, .. }) = self.mark(body)
            && !self.rounds.insert((run.0, cycle))
        {
            self.wrongs.push(format!("the summary {cycle} was posted twice"));
        }
    }
}

pub fn sha(number: u32) -> Sha {
    format!("{number:040x}").as_str().into()
}
