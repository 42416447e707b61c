//! The forge of a world: pull requests with their checks and labels, a base with its policy, the ledger of reviews, the lock. Everything
//! that changes is written down, so that judges need to believe nobody.

use super::history::{Event, History};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::combine::verdict::{Outcome, Verdict};
use tribunal_core::ids::{AgentName, RepoPath, RunId, Sha};
use tribunal_core::merge::facts::{
    Declared, Dependency, DependencyState, Facts, Gates, HeadMaker, Marker, Part, Reviewed as LastReview,
};
use tribunal_core::merge::hold::Hold;
use tribunal_core::merge::people::{OpenThread, Voices};
use tribunal_core::merge::policy::MergePolicy;
use tribunal_core::plan::links::Reference;
use tribunal_core::procedure::sweep::Ticket;
use tribunal_core::procedure::sweep::effect::{Found, LinkedIssue, Responded, Reviewed, Seen};
use tribunal_core::procedure::sweep::lock::Holder;
use tribunal_core::pull::facts::{BaseRules, Check, CheckState, Mergeable, PullState};
use tribunal_core::pull::told::Told;

#[derive(Debug, Clone, PartialEq)]
pub struct Pr {
    pub number: u64,
    pub head: Sha,
    pub state: PullState,
    pub draft: bool,
    pub hold: bool,
    pub files: BTreeSet<RepoPath>,
    pub after: BTreeSet<u64>,
    pub is_fork: bool,
    /// Its author may not write here, wherever its branch lies.
    pub is_strangers: bool,
    pub checks: CheckState,
    /// How checks end when they are through.
    pub fate: CheckState,
    pub markers: bool,
    pub unclear: bool,
    pub behind: bool,
    /// Its base cannot be brought in without a person.
    pub conflicts: bool,
    /// What a reviewer finds.
    pub bugs: u32,
    /// People whose comments nobody has answered.
    pub comments: u32,
    /// A stranger has opened a thread on it, and nobody has closed it.
    pub thread: bool,
    /// Our record of what held it back.
    pub holds: Vec<Hold>,
    pub fixers: BTreeSet<AgentName>,
    pub merged_at: Option<Sha>,
}

impl Pr {
    pub fn new(number: u64, head: Sha) -> Self {
        Pr {
            number,
            head,
            state: PullState::Open,
            draft: false,
            hold: false,
            files: [format!("src/{number}.rs").as_str().into()].into(),
            after: BTreeSet::new(),
            is_fork: false,
            is_strangers: false,
            checks: CheckState::Success,
            fate: CheckState::Success,
            markers: false,
            unclear: false,
            behind: false,
            conflicts: false,
            bugs: 0,
            comments: 0,
            thread: false,
            holds: vec![],
            fixers: BTreeSet::new(),
            merged_at: None,
        }
    }
}

/// What was done under a ticket, so that it is done once.
#[derive(Debug, Clone)]
pub enum Deed {
    Review(Reviewed),
    Response(Responded),
    Update(Sha),
}

pub struct Forge {
    pub pulls: BTreeMap<u64, Pr>,
    pub policy: MergePolicy,
    /// The last review of each, whoever made it.
    pub reviews: BTreeMap<u64, Reviewed>,
    pub deeds: BTreeMap<(RunId, Ticket), Deed>,
    pub lock: Option<Holder>,
    pub commits: u64,
    pub history: History,
}

impl Forge {
    pub fn new(policy: MergePolicy) -> Self {
        let history = History(vec![Event::Policy(policy.clone())]);
        Forge {
            pulls: BTreeMap::new(),
            policy,
            reviews: BTreeMap::new(),
            deeds: BTreeMap::new(),
            lock: None,
            commits: 0,
            history,
        }
    }

    pub fn commit(&mut self) -> Sha {
        self.commits += 1;
        Sha(format!("{:040x}", self.commits))
    }

    pub fn open(&mut self, change: impl FnOnce(&mut Pr)) -> u64 {
        let number = self.pulls.len() as u64 + 1;
        let head = self.commit();
        let mut pull = Pr::new(number, head);
        change(&mut pull);
        self.pulls.insert(number, pull.clone());
        self.history.0.push(Event::Pull(pull));
        number
    }

    /// Changes one, and writes down how it is then.
    pub fn change(&mut self, number: u64, change: impl FnOnce(&mut Pr)) {
        let Some(pull) = self.pulls.get_mut(&number) else { return };
        let before = pull.clone();
        change(pull);
        if *pull != before {
            self.history.0.push(Event::Pull(pull.clone()));
        }
    }

    /// A push: the head is new, and its checks begin.
    pub fn push(&mut self, number: u64, change: impl FnOnce(&mut Pr)) -> Sha {
        let head = self.commit();
        let new = head.clone();
        self.change(number, |pull| {
            if pull.state != PullState::Open {
                return;
            }
            pull.head = new;
            if pull.checks == CheckState::Success || pull.checks == CheckState::Failure {
                pull.checks = CheckState::Pending;
            }
            change(pull);
        });
        head
    }

    pub fn set_policy(&mut self, change: impl FnOnce(&mut MergePolicy)) {
        change(&mut self.policy);
        self.history.0.push(Event::Policy(self.policy.clone()));
    }

    pub fn set_lock(&mut self, holder: Option<Holder>) {
        self.history.0.push(Event::Lock(holder.as_ref().and_then(|holder| holder.run.clone())));
        self.lock = holder;
    }

    pub fn merged(&mut self, run: &RunId, ticket: Ticket, number: u64) {
        let Some(pull) = self.pulls.get(&number).cloned() else { return };
        self.history.0.push(Event::Merged { run: run.clone(), ticket, number, head: pull.head.clone() });
        self.change(number, |pull| {
            pull.state = PullState::Merged;
            pull.merged_at = Some(pull.head.clone());
        });
        let sharing: Vec<u64> =
            self.pulls.values().filter(|other| !other.files.is_disjoint(&pull.files)).map(|other| other.number).collect();
        // A strict base wants what shares files to be up to date.
        sharing.into_iter().for_each(|other| self.change(other, |other| other.behind = other.state == PullState::Open));
    }

    pub fn found(&self, pull: &Pr) -> Found {
        Found {
            number: pull.number,
            title: format!("Change {}", pull.number),
            url: format!("https://h/pull/{}", pull.number),
            branch: format!("branch-{}", pull.number),
            head: pull.head.clone(),
            base_branch: "main".into(),
            state: pull.state,
            labels: labels(pull),
            issue: Some(LinkedIssue { number: 100 + pull.number, ambiguous: pull.unclear.then(|| "TBD".to_owned()) }),
            spec: None,
        }
    }

    pub fn seen(&self, pull: &Pr) -> Seen {
        let markers = if pull.markers { vec![Marker { path: "a.rs".into(), line: 3 }] } else { vec![] };
        let dependency = |on: &u64| Dependency {
            on: Reference::Number(*on),
            declared: Declared::InWords,
            state: Told::Is(match self.pulls.get(on).map(|pull| pull.state) {
                Some(PullState::Merged) => DependencyState::Done,
                Some(PullState::Closed) => DependencyState::Abandoned,
                Some(PullState::Open) | None => DependencyState::Open,
            }),
        };
        let facts = Facts {
            number: pull.number,
            title: format!("Change {}", pull.number),
            url: String::new(),
            state: pull.state,
            draft: pull.draft,
            head: pull.head.clone(),
            head_branch: format!("branch-{}", pull.number),
            base: Sha("b".repeat(40)),
            base_branch: "main".into(),
            is_fork: pull.is_fork,
            made_by: vec![HeadMaker { login: "dev".into(), part: Part::Author, may_write: Told::Is(!pull.is_strangers) }],
            is_ours: false,
            mergeable: if pull.conflicts { Mergeable::Conflict } else { Mergeable::Yes },
            labels: labels(pull),
            conflict_markers: Told::Is(markers),
            checks: Told::Is(vec![Check {
                name: "build".into(),
                state: pull.checks,
                description: String::new(),
                url: String::new(),
                run: None,
            }]),
            rules: BaseRules::none(),
            review: Told::Is(self.reviews.get(&pull.number).map(last_review)),
            fixers: Told::Is(pull.fixers.clone()),
            people: Told::Is(Voices { threads: if pull.thread { vec![thread()] } else { vec![] }, ..Voices::default() }),
            dependencies: Told::Is(pull.after.iter().map(dependency).collect()),
            gates: Told::Is(Gates::default()),
            guarded: Told::Is(true),
            holds: Told::Is(pull.holds.clone()),
        };
        Seen { facts, files: pull.files.clone(), behind: pull.behind, policy: self.policy.clone() }
    }
}

fn thread() -> OpenThread {
    OpenThread { id: "t1".into(), by: "eve".into(), path: "a.rs".into(), line: Some(1), answered: false, may_write: Some(false) }
}

fn labels(pull: &Pr) -> Vec<String> {
    if pull.hold { vec!["do-not-merge".into()] } else { vec![] }
}

fn last_review(review: &Reviewed) -> LastReview {
    LastReview {
        run: review.run.clone(),
        head: review.head.clone(),
        base_branch: review.base_branch.clone(),
        outcome: if review.verdict == Verdict::Lgtm { Outcome::Clean } else { Outcome::Findings },
        verdict: Some(review.verdict),
        agents: review.agents.clone(),
        rules: true,
        blocking: vec![],
    }
}
