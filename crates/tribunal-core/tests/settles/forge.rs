//! A forge on paper: issues, pull requests and reviews with real marks, and a record of everything that we wrote.

use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::calendar::rfc3339;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::feedback::right::Permissions;
use tribunal_core::ids::Sha;
use tribunal_core::procedure::settle::seen::{Eyes, IssueSeen, PullSeen};
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::pull::chronological::Chronological;
use tribunal_core::pull::facts::{Account, AccountKind, Mergeable, Pull, PullState, Tip};
use tribunal_core::pull::talk::{NewReview, Review, ReviewEvent, ReviewState};

pub const TRUNK: &str = "main";

pub struct Forge {
    pub me: Account,
    pub key: MarkerKey,
    pub issues: BTreeMap<u64, IssueSeen>,
    pub pulls: BTreeMap<u64, Pull>,
    pub reviews: BTreeMap<u64, Vec<Review>>,
    /// Heads whose checks are red.
    pub red: BTreeSet<Sha>,
    /// Seals of ours that somebody broke, oldest first.
    pub tampered: Vec<Tampering>,
    pub wrote: Vec<Wrote>,
    heads: u64,
    ids: u64,
}

/// Somebody's edit of a review of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tampering {
    pub number: u64,
    pub review: String,
    pub at: u64,
    /// What it said before.
    pub body: String,
}

/// What we did to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrote {
    Review {
        number: u64,
        level: u8,
    },
    /// `decided`: when whoever merged it had last read it.
    Merged {
        number: u64,
        head: Sha,
        level: u8,
        decided: u64,
    },
    Label {
        number: u64,
    },
    Push {
        number: u64,
    },
    Closed {
        issue: u64,
    },
}

pub fn account(login: &str) -> Account {
    Account { id: format!("id-{login}"), login: login.into(), kind: AccountKind::Person }
}

impl Forge {
    pub fn new() -> Self {
        Forge {
            me: account("tribunal"),
            key: MarkerKey::from_secret("secret"),
            issues: BTreeMap::new(),
            pulls: BTreeMap::new(),
            reviews: BTreeMap::new(),
            red: BTreeSet::new(),
            tampered: Vec::new(),
            wrote: Vec::new(),
            heads: 0,
            ids: 0,
        }
    }

    pub fn case_id(number: u64) -> String {
        format!("pull:h/acme/shop#{number}")
    }

    pub fn new_head(&mut self) -> Sha {
        self.heads += 1;
        Sha(format!("{:040x}", self.heads))
    }

    pub fn open(&mut self, issue: u64, specialist: &str, is_fork: bool, draft: bool) -> u64 {
        let number = 1_000 + self.pulls.len() as u64;
        let head = self.new_head();
        let tip = |branch: String, sha: Sha| Tip { branch, sha, repository: Some("acme/shop".into()) };
        let pull = Pull {
            number,
            title: "t".into(),
            body: format!("Closes #{issue}"),
            author: account(if is_fork { "mallory" } else { specialist }),
            state: PullState::Open,
            draft,
            head: tip(format!("hall/{specialist}/issue-{issue}"), head),
            base: tip(TRUNK.into(), "0".into()),
            is_fork,
            labels: vec![],
            url: String::new(),
            updated_at: String::new(),
            mergeable: Mergeable::Yes,
            changed_files: None,
        };
        self.pulls.insert(number, pull);
        number
    }

    pub fn push(&mut self, number: u64) {
        let head = self.new_head();
        if let Some(pull) = self.pulls.get_mut(&number) {
            pull.head.sha = head;
        }
    }

    pub fn review(&mut self, number: u64, by: Account, state: ReviewState, body: String) {
        self.ids += 1;
        let commit = self.pulls.get(&number).map(|pull| pull.head.sha.clone());
        let id = format!("r{}", self.ids);
        let review = Review { id, author: by, state, body, commit, submitted_at: rfc3339(self.ids), url: String::new() };
        self.reviews.entry(number).or_default().push(review);
    }

    pub fn submit(&mut self, number: u64, review: &NewReview, level: u8) {
        let state = match review.event {
            ReviewEvent::Comment => ReviewState::Commented,
            ReviewEvent::Approve => ReviewState::Approved,
            ReviewEvent::RequestChanges => ReviewState::ChangesRequested,
        };
        self.review(number, self.me.clone(), state, review.body.to_string());
        self.wrote.push(Wrote::Review { number, level });
    }

    pub fn reviews_of(&self, number: u64) -> &[Review] {
        self.reviews.get(&number).map_or(&[], Vec::as_slice)
    }

    pub fn seen(&self, number: u64) -> Option<PullSeen> {
        self.read(number, self.reviews_of(number))
    }

    fn read(&self, number: u64, reviews: &[Review]) -> Option<PullSeen> {
        let (case_id, bots) = (Forge::case_id(number), BTreeMap::new());
        let eyes = Eyes { me: &self.me, case_id: &case_id, key: &self.key, bots: &bots, permissions: &Permissions::default() };
        Some(PullSeen::of(self.pulls.get(&number)?, &Chronological::of(reviews), &eyes))
    }

    /// Is what it shows at its head clean, by our own sealed word? A seal that was broken after that moment was whole then.
    pub fn was_clean(&self, number: u64, moment: u64) -> bool {
        let mut reviews = self.reviews_of(number).to_vec();
        // The newest first: the oldest edit has the words that stood there.
        for since in self.tampered.iter().rev().filter(|edit| edit.number == number && edit.at > moment) {
            reviews.iter_mut().filter(|review| review.id == since.review).for_each(|review| review.body.clone_from(&since.body));
        }
        let Some(seen) = self.read(number, &reviews) else { return false };
        seen.verdicts.last().is_some_and(|given| given.verdict == Some(Verdict::Lgtm) && given.head == seen.head)
    }
}
