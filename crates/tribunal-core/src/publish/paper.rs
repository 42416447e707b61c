//! A pull request on paper, for tests: writes are applied to what is observed, requests are made one at a time, and lists may be old or
//! hollow.

use super::anchor::Shown;
use super::attempt::{Attempt, Ending, Turn, Written};
use super::marker::MarkerKey;
use super::memory::Memory;
use super::reconcile::{Desired, Observed, Write, remembered, stickies};
use super::tests::DIFF;
use crate::calendar::rfc3339;
use crate::diff::parse::parse_diff;
use crate::ids::{FindingId, FindingKey, RunId};
use crate::policy::publish::PublishPolicy;
use crate::procedure::Millis;
use crate::pull::capability::{Capabilities, Capability};
use crate::pull::facts::{Account, AccountKind, Check, Mergeable, Pull, PullState, Tip};
use crate::pull::place::ForgeKind;
use crate::pull::talk::{Comment, Review, ReviewState, Thread, ThreadComment};
use crate::report::document::Document;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub const CASE: &str = "pull:h/acme/shop#7";

pub fn account(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Person }
}

pub fn key() -> MarkerKey {
    MarkerKey::from_secret("secret")
}

/// A forge that can do everything, and remembers.
#[derive(Clone)]
pub struct Paper {
    pub observed: Observed,
    /// Every state that there was, for lists that lag behind.
    pub past: Vec<Observed>,
    pub now: Millis,
    pub next: u32,
    pub capabilities: Capabilities,
    pub unplaced: BTreeSet<FindingId>,
    /// Everything on a line is one conversation, as Gitea has it.
    pub joins: bool,
}

/// How true a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    True,
    /// As it was so many writes ago.
    Stale(usize),
    /// `200 []`.
    Hollow,
}

impl Paper {
    pub fn new(head: &str) -> Self {
        let tip = |branch: &str, sha: &str| Tip { branch: branch.into(), sha: sha.into(), repository: Some("acme/shop".into()) };
        let pull = Pull {
            number: 7,
            title: "t".into(),
            body: String::new(),
            author: account("author"),
            state: PullState::Open,
            draft: false,
            head: tip("x", head),
            base: tip("main", "1111111111111111"),
            is_fork: false,
            labels: vec![],
            url: "https://h/7".into(),
            updated_at: String::new(),
            mergeable: Mergeable::Unknown,
            changed_files: None,
        };
        let observed =
            Observed { pull, comments: vec![], reviews: vec![], threads: vec![], drafted: BTreeMap::new(), checks: vec![] };
        let can = Capability::ALL.into_iter().filter(|can| *can != Capability::Annotations).collect();
        let capabilities = Capabilities { kind: ForgeKind::Gitea, version: String::new(), can, body_limit: 65_000 };
        let (past, unplaced) = (vec![observed.clone()], BTreeSet::new());
        Paper { observed, past, now: 1_800_000_000_000, next: 0, capabilities, unplaced, joins: false }
    }

    fn id(&mut self) -> String {
        self.next += 1;
        self.next.to_string()
    }

    pub fn say(&mut self, author: &str, body: &str) -> Comment {
        let id = self.id();
        let comment = Comment {
            url: format!("https://h/c{id}"),
            id,
            author: account(author),
            body: body.into(),
            created_at: rfc3339(self.now),
            updated_at: rfc3339(self.now),
            edited: false,
        };
        self.observed.comments.push(comment.clone());
        comment
    }

    pub fn reply(&mut self, thread: &str, author: &str, body: &str) {
        let id = self.id();
        let comment = thread_comment(&id, author, body, None);
        let thread = self.observed.threads.iter_mut().find(|known| known.id == thread).unwrap();
        thread.comments.push(comment);
    }

    /// The id of what was made, if that was a comment.
    pub fn apply(&mut self, write: &Write) -> Option<String> {
        self.now += 1_000;
        let made = self.applied(write.clone());
        self.past.push(self.observed.clone());
        made
    }

    fn applied(&mut self, write: Write) -> Option<String> {
        match write {
            Write::DeletePending { review } => {
                self.observed.reviews.retain(|known| known.id != review);
                self.observed.drafted.remove(&review);
            }
            Write::DeleteInline { comment } => {
                for thread in &mut self.observed.threads {
                    thread.comments.retain(|known| known.id != *comment);
                }
                self.observed.threads.retain(|thread| !thread.comments.is_empty());
            }
            Write::DeleteReview { review } => self.observed.reviews.retain(|known| known.id != review),
            Write::Claim { body } => return Some(self.say("bot", &body).id),
            Write::Withdraw { id } | Write::DeleteSticky { id } => self.observed.comments.retain(|comment| comment.id != id),
            Write::Review { review, .. } => {
                let review_id = self.id();
                self.observed.reviews.push(Review {
                    id: review_id.clone(),
                    author: account("bot"),
                    state: ReviewState::Commented,
                    body: review.body.to_string(),
                    commit: Some(review.commit),
                    submitted_at: String::new(),
                    url: String::new(),
                });
                for comment in review.comments {
                    let id = self.id();
                    match self.observed.threads.first_mut().filter(|_| self.joins) {
                        Some(known) => known.comments.push(thread_comment(&id, "bot", &comment.body, Some(&review_id))),
                        None => self.observed.threads.push(thread(&id, "bot", &comment.body, Some(&review_id))),
                    }
                }
            }
            Write::Answer { thread, body } => self.reply(&thread.id, "bot", &body),
            Write::Resolve { thread } => self.set_resolved(&thread.id, Some("bot")),
            Write::Unresolve { thread } => self.set_resolved(&thread.id, None),
            Write::Status { status, .. } => {
                let check = Check {
                    name: status.context,
                    state: status.state,
                    description: status.description.to_string(),
                    url: String::new(),
                    run: None,
                };
                self.observed.checks = vec![check];
            }
            Write::CheckRun { .. } => panic!("no app here"),
            Write::EditSticky { id, body } => {
                let edited = self.observed.comments.iter_mut().find(|comment| comment.id == id);
                edited.into_iter().for_each(|comment| comment.body = body.to_string());
            }
        }
        None
    }

    pub fn set_resolved(&mut self, id: &str, by: Option<&str>) {
        let thread = self.observed.threads.iter_mut().find(|thread| thread.id == id).unwrap();
        thread.resolved = by.is_some();
        thread.resolved_by = by.map(account);
    }

    pub fn memory(&self) -> Option<Memory> {
        let (me, key) = (account("bot"), key());
        remembered(&self.observed.comments, &super::threads::own(&self.observed.threads, &me, CASE, &key), &me, CASE, &key)
    }

    fn shown(&self, truth: Truth) -> Observed {
        match truth {
            Truth::True => self.observed.clone(),
            Truth::Stale(by) => self.past[self.past.len().saturating_sub(1 + by)].clone(),
            Truth::Hollow => Observed { comments: vec![], reviews: vec![], threads: vec![], ..self.observed.clone() },
        }
    }

    /// One run that dies after so many writes. How many it made.
    pub fn run(&mut self, document: &Document, lives_for: usize) -> usize {
        let mut process = Process::begin(self, document.clone(), "n");
        let mut made = 0;
        while process.ended.is_none() {
            if process.is_about_to_write() {
                if made == lives_for {
                    return made;
                }
                made += 1;
            }
            process.step(self, Truth::True, Truth::True);
        }
        assert_eq!(process.ended, Some(Ending::Published));
        made
    }

    /// What the first look leads to.
    pub fn first_turn(&self, document: &Document) -> Turn {
        let mut process = Process::begin(self, document.clone(), "n");
        process.turn(&self.observed, self.now)
    }

    pub fn stickies(&self) -> usize {
        stickies(&self.observed.comments, &account("bot"), CASE, &key()).len()
    }

    /// How often each finding stands on the pull request.
    pub fn findings(&self) -> BTreeMap<FindingKey, usize> {
        let mut counts = BTreeMap::new();
        for own in super::threads::own(&self.observed.threads, &account("bot"), CASE, &key()) {
            *counts.entry(own.key).or_default() += 1;
        }
        counts
    }
}

/// A process that publishes, request by request.
#[derive(Clone)]
pub struct Process {
    attempt: Attempt,
    pub document: Document,
    names: BTreeMap<FindingKey, FindingId>,
    built_on: Option<RunId>,
    pub is_restated: bool,
    capabilities: Capabilities,
    unplaced: BTreeSet<FindingId>,
    comments: Option<Vec<Comment>>,
    writes: VecDeque<Write>,
    last: bool,
    pub ended: Option<Ending>,
}

impl Process {
    pub fn begin(paper: &Paper, document: Document, nonce: &str) -> Process {
        let names = document.findings.iter().map(|finding| (finding.key.clone(), finding.id)).collect();
        Process {
            attempt: Attempt::new(nonce),
            names,
            built_on: paper.memory().map(|memory| memory.document.receipt.run),
            document,
            is_restated: false,
            capabilities: paper.capabilities.clone(),
            unplaced: paper.unplaced.clone(),
            comments: None,
            writes: VecDeque::new(),
            last: false,
            ended: None,
        }
    }

    pub fn is_about_to_write(&self) -> bool {
        !self.writes.is_empty()
    }

    fn turn(&mut self, observed: &Observed, now: Millis) -> Turn {
        let change = parse_diff(DIFF.as_bytes()).unwrap();
        let desired = Desired {
            document: &self.document,
            names: &self.names,
            case_id: CASE,
            capabilities: &self.capabilities,
            me: &account("bot"),
            key: &key(),
            shown: &Shown::of(&change),
            policy: PublishPolicy::default(),
            unplaced: &self.unplaced,
            built_on: self.built_on.as_ref(),
            is_restated: self.is_restated,
        };
        self.attempt.next(&desired, observed, now)
    }

    /// One request: a write, the list of comments, or the other lists.
    pub fn step(&mut self, paper: &mut Paper, comments: Truth, rest: Truth) {
        self.step_with(paper, comments, rest, false);
    }

    /// The answer to a write may be lost.
    pub fn step_with(&mut self, paper: &mut Paper, comments: Truth, rest: Truth, is_lost: bool) {
        if self.ended.is_some() {
            return;
        }
        if let Some(write) = self.writes.pop_front() {
            let made = paper.apply(&write);
            if is_lost {
                self.attempt.wrote(&write, &Written::Unsure);
                self.writes.clear();
                self.last = false;
                return;
            }
            self.attempt.wrote(&write, &Written::Done { id: made.as_deref(), refused: &[] });
            if self.writes.is_empty() && self.last {
                self.end(paper, Ending::Published);
            }
            return;
        }
        let Some(read) = self.comments.take() else {
            self.comments = Some(paper.shown(comments).comments);
            return;
        };
        let observed = Observed { comments: read, ..paper.shown(rest) };
        match self.turn(&observed, paper.now) {
            Turn::Write { writes, last } => (self.writes, self.last) = (writes.into(), last),
            Turn::Pause(_) => {}
            Turn::End(ending) => self.end(paper, ending),
        }
    }

    fn end(&mut self, paper: &mut Paper, ending: Ending) {
        if let Some(id) = self.attempt.open_claim(Some(&ending)) {
            paper.apply(&Write::Withdraw { id: id.to_owned() });
        }
        self.ended = Some(ending);
    }
}

pub fn thread_comment(id: &str, author: &str, body: &str, review: Option<&str>) -> ThreadComment {
    ThreadComment {
        id: id.into(),
        author: account(author),
        body: body.into(),
        created_at: String::new(),
        url: format!("https://h/t{id}"),
        review: review.map(str::to_owned),
        edited: false,
    }
}

pub fn thread(id: &str, author: &str, body: &str, review: Option<&str>) -> Thread {
    Thread {
        id: id.into(),
        path: "src/a.py".into(),
        line: Some(2),
        start_line: None,
        side: crate::findings::anchor::Side::New,
        resolved: false,
        resolved_by: None,
        outdated: None,
        can_resolve: None,
        comments: vec![thread_comment(id, author, body, review)],
    }
}
