//! What a sweep asks of its host, and what it is told.
//!
//! Every effect has a ticket, and its outcome comes back with it: several are under way at once, in any order. The machine keeps what
//! is under way, so an outcome whose ticket is not open is old news and changes nothing.
//!
//! What only looks ([`Read`]) and what changes anything anywhere, asks anybody or costs anything ([`Act`]) are two types: a dry run has
//! no way to an [`Act`] (SL-44, SL-173). Doing the same effect twice must do no harm: an act looks for its own sealed mark, its own
//! commit or its own entry first, and answers with what it finds. Before each act on a forge the hands ask [`super::lock::hold`]; where
//! the lock is lost they do nothing and answer [`Trouble::Displaced`].

use super::Request;
use super::history::{BudgetFile, HistoryLine};
use super::lock::Holder;
use super::merging::Warrant;
use super::report::Report;
use crate::call::money::Money;
use crate::combine::verdict::Verdict;
use crate::findings::scale::Priority;
use crate::gate::{Answer, Gate};
use crate::ids::{AgentName, EffectKey, RepoPath, RunId, Sha};
use crate::merge::epic::EpicEnd;
use crate::merge::facts::{Facts, Marker};
use crate::merge::policy::MergePolicy;
use crate::procedure::Millis;
use crate::procedure::review::Spend;
use crate::pull::facts::PullState;
use crate::pull::talk::ReviewEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Numbers the effects of a run; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticket(pub u64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    pub ticket: Ticket,
    pub order: Order,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Order {
    Read(Read),
    Act(Act),
}

/// Changes nothing anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Read {
    /// Lists the pull requests of the target, each once, and reads the merge policy from the base anew. A number that was typed is
    /// listed whatever its state; a spec lists open ones only. A list that cannot be read whole is [`Trouble::Forge`], never a short
    /// list (CF-9); an external index that does not answer is [`Trouble::Index`]. Answer: [`Outcome::Discovered`].
    Discover { tick: u32 },
    /// One pull request as it is now: read anew, nothing from a cache. `until`: while checks at its head are pending they are waited
    /// for, no longer than that moment; then it is answered as it stands. Answer: [`Outcome::Looked`].
    Look { number: u64, until: Option<Millis> },
    /// Sleeps. Ends early, with the same answer, when the run is interrupted. Answer: [`Outcome::Rested`].
    Rest { until: Millis },
}

/// Changes, asks or costs something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Act {
    /// Takes the lock of the set by [`super::lock::decide`], under the guard, so that reading and writing it is one. A run that finds
    /// its own name in the lock has it already. Answer: [`Outcome::Acquired`].
    Acquire { tick: u32, how: How },
    /// Puts a question: at the terminal where there is one, as a marked comment on the pull request it is about, and into the ledger,
    /// from where `tribunal gate answer` reaches it. The first answer by anybody who may write to the repository ends it, never one of
    /// our own account; so do its deadline, with [`Gate::unanswered`], and an interrupt, likewise. Asked again after a kill, the same
    /// ticket is the same question: an answer that was given meanwhile counts, one to another ticket never does. Answer:
    /// [`Outcome::Answered`].
    Ask { gate: Box<Gate> },
    /// Submits a review that asks for changes because of conflict markers, with the words of [`super::words::markers`] (SL-36); not a
    /// second time at the same head. Answer: [`Outcome::Rejected`].
    Reject { number: u64, head: Sha, markers: Vec<Marker> },
    /// Reviews the change at `head` by the panel, without any agent of `without` (they wrote it); the result goes into the ledger and
    /// its findings onto the pull request, not yet its verdict. No more than `allowance` may be spent: every call is admitted under it
    /// as under a cap that somebody has set, so a price that nobody knows does not pass. A head that has moved is
    /// [`Trouble::HeadMoved`]. A review of this ticket that was finished is read from the ledger, not made again. Answer:
    /// [`Outcome::Reviewed`].
    Review { number: u64, head: Sha, stage: Stage, pair: u32, without: BTreeSet<AgentName>, allowance: Option<Money> },
    /// Says the verdict of a review as the forge's formal review, or as a comment where it does not take ours (CF-2), and as the
    /// status. Marked: said once for a head and a run. Answer: [`Outcome::Concluded`].
    Conclude { number: u64, head: Sha, review: RunId, verdict: Verdict },
    /// Has the responder answer what was asked for: reads every review comment, fixes, validates, pushes once onto `head` and with a
    /// lease, and replies to each (SL-58 to SL-62). No agent of `without` takes part: they reviewed it. Within `allowance`, as with
    /// [`Act::Review`]. Done twice: the pushed commit carries the ticket, replies are marked. Answer: [`Outcome::Responded`].
    Respond { number: u64, head: Sha, review: RunId, pair: u32, without: BTreeSet<AgentName>, allowance: Option<Money> },
    /// One comment that lists what remains for a person, with the words of [`super::words::remains`] (SL-67), and the status of the
    /// head, which is not green. Marked: one for a run and head. Answer: [`Outcome::Remained`].
    Remains { number: u64, head: Sha, items: Vec<Remaining> },
    /// Brings the base into the branch, onto `head` and with a lease (SL-79). Up to date already is the head as it is. Answer:
    /// [`Outcome::Updated`].
    Update { number: u64, head: Sha },
    /// Merges, with the head as guard. The hands look once more first, as [`Read::Look`] does, and merge only what [`Warrant::holds`]
    /// then says; what it says instead is [`Merged::Changed`]. An answer that was lost is looked for: merged at this head is merged by
    /// us. The machine never has two under way. Answer: [`Outcome::Merged`].
    Merge { warrant: Box<Warrant> },
    /// Puts feedback that holds a merge back on record, under our seal and for this head: one comment for a pull request, which is
    /// brought up to date. What is in it already is not entered again. Answer: [`Outcome::Held`].
    Hold { number: u64, head: Sha, holds: Vec<crate::merge::hold::Hold> },
    /// After a merge, looks for the epics of the pull request and closes those whose last story is closed, as
    /// [`crate::merge::epic::end`] says (SL-70, SL-172). Closing what is closed is nothing. Answer: [`Outcome::Epics`].
    Epics { number: u64 },
    /// After a merge, tells an external index, best effort (SL-69). Without one there is nothing to do. Answer: [`Outcome::Synced`].
    Sync { number: u64 },
    /// Loop only: replaces the budget file (a skipped tick has none: the file is the holder's), appends the history line unless the
    /// last line of this run has the same `tick`, and prints the status block. A new history file is announced as secret, once
    /// (SL-155). Answer: [`Outcome::Exported`].
    Export { line: Box<HistoryLine>, budget: Option<Box<BudgetFile>>, status: String },
    /// Hands over the final report, before the lock is released (SL-121, SL-160). Answer: [`Outcome::Reported`].
    Report { report: Box<Report> },
    /// Removes the lock if [`super::lock::lets_go`] says so. Answer: [`Outcome::Released`].
    Release { tick: u32 },
}

/// How the lock is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Once; held is an answer.
    Once,
    /// Polls every 5 s until then (SL-123).
    Wait { until: Millis },
    /// A person said that this holder is to be passed over. Another one is not.
    Seize { holder: Box<Holder> },
}

/// Which look at the change a review is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Phase 1.
    First,
    /// Phase 3, after a response.
    Second,
    /// After the base was brought into an approved change, before its own merge. Nobody responds to it.
    Updated,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    Start {
        request: Box<Request>,
    },
    Done {
        ticket: Ticket,
        outcome: Box<Outcome>,
    },
    /// Ctrl-C, or the session is closed: what is under way comes to its end, and nothing new begins (SL-134 #8).
    Interrupted,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    Discovered(Result<Box<Discovered>, Trouble>),
    Looked(Result<Box<Seen>, Trouble>),
    Rested,
    Acquired(Acquired),
    Answered(Answer),
    Rejected(Result<(), Trouble>),
    Reviewed { said: Result<Box<Reviewed>, Trouble>, effort: Effort },
    Concluded(Result<Concluded, Trouble>),
    Responded { said: Result<Box<Responded>, Trouble>, effort: Effort },
    Remained(Result<(), Trouble>),
    Updated(Result<Updated, Trouble>),
    Merged(Result<Merged, Trouble>),
    Held(Result<(), Trouble>),
    Epics(Vec<(u64, EpicEnd)>),
    Synced(Result<(), String>),
    Exported(Result<(), String>),
    Reported,
    Released,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Acquired {
    /// `reaped`: the lock of this dead process was removed.
    Got {
        reaped: Option<u32>,
        /// It cannot be told whether that process lives; it was left alone (SL-122).
        note: Option<String>,
    },
    Busy {
        holder: Box<Holder>,
        note: Option<String>,
    },
    /// Held until the waiting was over.
    TimedOut {
        holder: Box<Holder>,
    },
    /// The lock can be neither read nor written.
    Failed(String),
}

/// Why something did not come about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trouble {
    /// The forge, or its credentials. A read that decides fails closed (CF-9).
    Forge(String),
    /// An agent or a command broke, or a required role did not answer.
    Incomplete(String),
    /// A cap would have been passed.
    OverBudget(String),
    /// Quota or outage: it may work later.
    Unavailable(String),
    /// The change is not given to it.
    Withheld(String),
    /// Somebody pushed; what was found is about another change.
    HeadMoved,
    /// The push was refused, or its result did not validate (SL-99).
    NotPushed(String),
    /// The base says something that only a person can mend: a configuration that makes no sense, half a spec (SL-24).
    Setup(String),
    /// An external index does not answer (SL-135).
    Index(String),
    /// The lock of the set names another run.
    Displaced(String),
}

/// What agents took. It is said of every effort, also of one that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    pub spend: Spend,
    /// Agents that were sent to work.
    pub agents: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    pub pulls: Vec<Found>,
    /// As the base says now.
    pub policy: MergePolicy,
}

/// What a list says of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub number: u64,
    pub title: String,
    pub url: String,
    pub branch: String,
    /// Full, never shortened (SL-148).
    pub head: Sha,
    /// The branch that it is to be merged into.
    #[serde(default)]
    pub base_branch: String,
    pub state: PullState,
    pub labels: Vec<String>,
    pub issue: Option<LinkedIssue>,
    /// The spec that it is held against; without one compliance is unproved (SL-27).
    pub spec: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedIssue {
    pub number: u64,
    /// Why its acceptance criteria cannot be held against a change: none are there, or a place in them is unsettled.
    pub ambiguous: Option<String>,
}

/// One pull request at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Everything that a merge looks at. `gates` is the machine's to fill in.
    pub facts: Facts,
    /// Changed files, both names of a renamed one.
    pub files: BTreeSet<RepoPath>,
    /// The forge merges only what is up to date with its base, and this is not.
    pub behind: bool,
    /// As the base says now.
    pub policy: MergePolicy,
}

/// What a whole review concluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewed {
    /// The head of the diff that was read (CF-16).
    pub head: Sha,
    /// The branch that it was to be merged into.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// The review's own run: its receipt is found by it.
    pub run: RunId,
    pub verdict: Verdict,
    /// What is open and keeps it from being merged.
    pub blocking: Vec<Remaining>,
    /// Everybody who answered.
    pub agents: BTreeSet<AgentName>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Remaining {
    /// `F3`, or what else it is called.
    pub name: String,
    pub priority: Option<Priority>,
    /// Where it stands, for people.
    pub place: String,
    /// What it says, or why nothing was done about it.
    pub words: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concluded {
    /// How the forge took it.
    pub event: ReviewEvent,
    pub url: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Responded {
    /// The new head, when anything was pushed.
    pub head: Option<Sha>,
    pub fixed: u32,
    pub declined: u32,
    /// What the responder could not resolve (SL-62).
    pub left: Vec<Remaining>,
    /// Replies that were posted.
    pub replies: u32,
    /// Logins of people whose comments were addressed (SL-145).
    pub people: BTreeSet<String>,
    /// Who wrote the fixes. They review nothing of this change again.
    pub agents: BTreeSet<AgentName>,
    /// What was said by people without the right, each with who, where and why nothing was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_acted_on: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Updated {
    /// The head as it is now.
    Head(Sha),
    /// It cannot be brought together without a person.
    Conflict(String),
    /// The forge does not do it.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Merged {
    Done,
    /// Something of the warrant is no longer so; nothing was merged.
    Changed(String),
    /// The forge says no (SL-94).
    Refused(String),
}

impl Order {
    fn name(&self) -> &'static str {
        match self {
            Order::Read(Read::Discover { .. }) => "discover",
            Order::Read(Read::Look { .. }) => "look",
            Order::Read(Read::Rest { .. }) => "rest",
            Order::Act(act) => act.name(),
        }
    }
}

impl Act {
    fn name(&self) -> &'static str {
        match self {
            Act::Acquire { .. } => "acquire",
            Act::Ask { .. } => "ask",
            Act::Reject { .. } => "reject",
            Act::Review { .. } => "review",
            Act::Conclude { .. } => "conclude",
            Act::Respond { .. } => "respond",
            Act::Remains { .. } => "remains",
            Act::Update { .. } => "update",
            Act::Merge { .. } => "merge",
            Act::Hold { .. } => "hold",
            Act::Epics { .. } => "epics",
            Act::Sync { .. } => "sync",
            Act::Export { .. } => "export",
            Act::Report { .. } => "report",
            Act::Release { .. } => "release",
        }
    }
}

impl Effect {
    /// Unique within a run: doing it twice must do no harm.
    pub fn key(&self, run: &RunId) -> EffectKey {
        EffectKey(format!("{run}/{}/{}", self.ticket.0, self.order.name()))
    }
}

impl Trouble {
    pub fn words(&self) -> &str {
        match self {
            Trouble::Forge(words)
            | Trouble::Incomplete(words)
            | Trouble::OverBudget(words)
            | Trouble::Unavailable(words)
            | Trouble::Withheld(words)
            | Trouble::NotPushed(words)
            | Trouble::Index(words)
            | Trouble::Setup(words)
            | Trouble::Displaced(words) => words,
            Trouble::HeadMoved => "its head moved meanwhile",
        }
    }
}
