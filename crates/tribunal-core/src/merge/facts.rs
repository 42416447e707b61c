//! Everything that the decision to merge looks at: one pull request, at one moment. What was read and what could not be read are
//! different things, in every field where they can be (design rule 8).

use super::hold::Hold;
use super::people::Voices;
use super::reviewed_place::ReviewedPlace;
use crate::combine::finding::Finding;
use crate::combine::verdict::{FailLevel, Outcome, Verdict};
use crate::diff::change::{Change, ChangedFile};
use crate::diff::conflict::conflicts;
use crate::feedback::lint::Past;
use crate::findings::scale::Priority;
use crate::ids::{AgentName, FindingId, RepoPath, RunId, Sha};
use crate::plan::links::Reference;
use crate::pull::facts::{BaseRules, Check, Mergeable, Permission, Pull, PullState, Tip};
use crate::pull::pushable::NotPushable;
use crate::pull::told::Told;
use crate::remedy::patch::{FIXER, RUN};
use crate::report::document::Document;
use crate::report::receipt::SeatReceipt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub number: u64,
    pub title: String,
    pub url: String,
    pub state: PullState,
    pub draft: bool,
    pub head: Sha,
    pub head_branch: String,
    pub base: Sha,
    pub base_branch: String,
    pub is_fork: bool,
    /// Who made this head: whoever opened the pull request, and whoever pushed to it, where the forge tells. Never empty.
    #[serde(default)]
    pub made_by: Vec<HeadMaker>,
    /// Opened by our own account, so that our review can approve nothing (CF-2).
    pub is_ours: bool,
    pub mergeable: Mergeable,
    pub labels: Vec<String>,
    /// Lines that git left in a file when it could not merge it (SL-105).
    pub conflict_markers: Told<Vec<Marker>>,
    /// At the head, the latest of each name.
    pub checks: Told<Vec<Check>>,
    /// What the forge asks of a merge into this base.
    pub rules: BaseRules,
    /// Our last review; nothing when there is none.
    pub review: Told<Option<Reviewed>>,
    /// The agents that have put fixes into this head (CF-27).
    pub fixers: Told<BTreeSet<AgentName>>,
    pub people: Told<Voices>,
    pub dependencies: Told<Vec<Dependency>>,
    pub gates: Told<Gates>,
    /// Does the forge refuse a merge whose head is not the given one?
    pub guarded: Told<bool>,
    /// Feedback that held a merge back before, by our own record.
    #[serde(default = "none_held")]
    pub holds: Told<Vec<Hold>>,
}

fn none_held() -> Told<Vec<Hold>> {
    Told::Is(Vec::new())
}

/// Somebody who had a part in a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadMaker {
    pub login: String,
    pub part: Part,
    /// Has this account the right to write to the repository?
    pub may_write: Told<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Author,
    Pusher,
    /// The head is a branch of this account's repository.
    ForkOwner,
}

impl Part {
    /// After `who`.
    pub fn deed(self) -> &'static str {
        match self {
            Part::Author => "wrote it",
            Part::Pusher => "pushed to it",
            Part::ForkOwner => "owns the fork that it comes from",
        }
    }
}

impl HeadMaker {
    /// Where a forge that knows who pushed will not say it.
    pub fn unknown_pusher(because: &str) -> HeadMaker {
        let may_write = Told::Unknown(because.to_owned());
        HeadMaker { login: "somebody".to_owned(), part: Part::Pusher, may_write }
    }

    /// What the author may do is what the change may cause, unless somebody else made a part of it who may not write, or of whom that is
    /// not known: then it is anybody's.
    pub fn least_permission(made_by: &[HeadMaker], author: Permission) -> Permission {
        let mut others = made_by.iter().filter(|maker| maker.part != Part::Author);
        if others.all(|maker| maker.may_write == Told::Is(true)) { author } else { Permission::Read }
    }

    /// A pull request can be opened by one person from the fork of another, who can push to it at any time. Forges other than Gitea do
    /// not say who pushed to a fork, so only its author's own fork goes with the author's permission. Whoever may push to a fork that
    /// is nobody's, or that the owner of the base holds, need not be among those who may push to the base.
    pub fn fork_owner(pull: &Pull, tells_pushers: bool) -> Option<HeadMaker> {
        // All but the last part: who owns a group on GitLab does not own its parent.
        let owner =
            |tip: &Tip| tip.repository.as_deref().and_then(|path| path.rsplit_once('/')).map(|(owner, _)| owner.to_owned());
        if !pull.is_fork || (pull.head.repository.is_some() && pull.head.repository == pull.base.repository) {
            return None;
        }
        let unread = |login: String, because: &str| {
            let may_write = Told::Unknown(because.to_owned());
            (!tells_pushers).then_some(HeadMaker { login, part: Part::ForkOwner, may_write })
        };
        let Some(fork_owner) = owner(&pull.head) else {
            return unread("somebody".to_owned(), "the forge does not say whose fork it is");
        };
        let is_owner = |known: &str| known.eq_ignore_ascii_case(&fork_owner);
        if is_owner(&pull.author.login) {
            return None;
        }
        if owner(&pull.base).is_some_and(|base_owner| is_owner(&base_owner)) {
            return unread(fork_owner, "the forge does not say who may push to that fork");
        }
        Some(HeadMaker { login: fork_owner, part: Part::ForkOwner, may_write: Told::Is(false) })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Marker {
    pub path: RepoPath,
    pub line: u32,
}

impl Marker {
    /// Where a change adds conflicts: the line that each begins at.
    pub fn all_in(change: &Change) -> Vec<Marker> {
        let of = |file: &ChangedFile| {
            let lines = conflicts(file).into_iter().filter_map(|line| line.new_line);
            lines.map(|line| Marker { path: file.path.clone(), line }).collect::<Vec<_>>()
        };
        change.files.iter().flat_map(of).collect()
    }
}

/// A review of ours, as far as a merge asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewed {
    pub run: RunId,
    /// The head that was read, which need not be the head of now.
    pub head: Sha,
    /// The branch that it was to be merged into. Nothing in a receipt of an older release.
    #[serde(default)]
    pub base_branch: Option<String>,
    pub outcome: Outcome,
    pub verdict: Option<Verdict>,
    /// Agents that answered, without rules and linters.
    pub agents: BTreeSet<AgentName>,
    /// Rules have looked.
    pub rules: bool,
    /// Findings that are open and block.
    pub blocking: Vec<FindingId>,
}

impl Reviewed {
    pub fn place(&self) -> ReviewedPlace<'_> {
        ReviewedPlace::new(&self.head, self.base_branch.as_ref())
    }

    pub fn of(document: &Document) -> Reviewed {
        Reviewed {
            run: document.receipt.run.clone(),
            head: document.receipt.head.clone(),
            base_branch: document.receipt.base_branch.clone(),
            outcome: document.outcome,
            verdict: document.verdict,
            agents: document
                .receipt
                .answered()
                .filter(|seat| !seat.is_mechanical())
                .map(|seat| seat.seat.agent.clone())
                .collect(),
            rules: document.receipt.answered().any(SeatReceipt::is_mechanical),
            blocking: document
                .findings
                .iter()
                .filter(|finding| blocks(finding, document.fail_level))
                .map(|finding| finding.id)
                .collect(),
        }
    }
}

/// What may not be merged over: what makes a verdict worse than LGTM (CF-12), and what the team lets a run fail for.
pub fn blocks(finding: &Finding, fail_level: FailLevel) -> bool {
    let heavy = matches!(finding.p_code, Priority::P0 | Priority::P1);
    finding.counts() && (heavy || fail_level.is_reached_by(finding.p_code))
}

/// The agents that commits of a branch name as their makers, and the runs that made some without saying by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Makers {
    pub agents: BTreeSet<AgentName>,
    pub runs: BTreeSet<RunId>,
}

impl Makers {
    pub fn of(history: &[Past]) -> Makers {
        let mut makers = Makers::default();
        for past in history {
            let named = |line: &str| past.message.lines().rev().find_map(|own| own.strip_prefix(line)).map(str::trim);
            match (named(FIXER), named(RUN)) {
                (Some(agent), _) => drop(makers.agents.insert(agent.into())),
                (None, Some(run)) => drop(makers.runs.insert(run.into())),
                (None, None) => {}
            }
        }
        makers
    }
}

/// Something that must be done before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    pub on: Reference,
    pub declared: Declared,
    pub state: Told<DependencyState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Declared {
    /// `Depends on #7` in the description.
    InWords,
    /// Its base branch is the other's head branch.
    Stacked,
    /// The plan says so.
    InPlan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyState {
    Open,
    /// A merged pull request, or a closed issue.
    Done,
    /// A pull request that was closed and never merged.
    Abandoned,
    /// It waits for itself.
    Circular,
}

/// Questions that only a person may answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gates {
    pub pending: Vec<Gate>,
    /// Answered with a no.
    pub refused: Vec<Gate>,
    /// Who said that exactly this head may be merged.
    pub consent: Option<Consent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// `post-feedback-merge`
    pub name: String,
    pub question: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    pub by: String,
    pub head: Sha,
    /// The branch that it may be merged into.
    #[serde(default)]
    pub base_branch: Option<String>,
}

impl Consent {
    pub fn place(&self) -> ReviewedPlace<'_> {
        ReviewedPlace::new(&self.head, self.base_branch.as_ref())
    }
}

impl Facts {
    /// Why nothing may be pushed to this head, if there is a reason.
    pub fn not_pushable(&self) -> Option<NotPushable> {
        NotPushable::of(self.is_fork, &self.made_by)
    }

    pub fn place(&self) -> ReviewedPlace<'_> {
        ReviewedPlace::new(&self.head, Some(&self.base_branch))
    }

    /// The review, if it is of exactly this head and this base (design rule 1).
    pub fn review_of_head(&self) -> Option<&Reviewed> {
        match &self.review {
            Told::Is(Some(review)) if review.place().is_same(self.place()) => Some(review),
            Told::Is(_) | Told::Unknown(_) => None,
        }
    }

    /// A person who said that this head may be merged into this base, in answer to a gate.
    pub fn consent(&self) -> Option<&Consent> {
        match &self.gates {
            Told::Is(gates) => gates.consent.as_ref().filter(|consent| consent.place().is_same(self.place())),
            Told::Unknown(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CF-27: who fixed is read from the commits themselves.
    #[test]
    fn commits_name_their_makers() {
        let past = |message: &str| Past { sha: "1".into(), parent: None, is_merge: false, message: message.into() };
        let makers = Makers::of(&[
            past("By hand"),
            past("Fix\n\nTribunal-Item: thread:1\nTribunal-Run: r1\nTribunal-Fixer: claude\n"),
            past("Fix\n\nTribunal-Item: thread:2\nTribunal-Run: r0\n"),
        ]);
        assert_eq!(makers.agents, BTreeSet::from(["claude".into()]));
        assert_eq!(makers.runs, BTreeSet::from(["r0".into()]));
    }

    /// Issue 16, 2: whoever pushed to a head counts before agents look at it, too.
    #[test]
    fn the_least_permission_of_all_makers_counts() {
        let maker = |part, may_write| HeadMaker { login: "dev".into(), part, may_write };
        let least = |others: &[HeadMaker]| {
            let author = [maker(Part::Author, Told::Is(true))];
            HeadMaker::least_permission(&[&author, others].concat(), Permission::Admin)
        };
        assert_eq!(least(&[]), Permission::Admin);
        assert_eq!(least(&[maker(Part::Pusher, Told::Is(true))]), Permission::Admin);
        for part in [Part::Pusher, Part::ForkOwner] {
            assert_eq!(least(&[maker(part, Told::Is(false))]), Permission::Read);
            assert_eq!(least(&[maker(part, Told::Unknown("hidden".into()))]), Permission::Read);
        }
        assert_eq!(HeadMaker::least_permission(&[maker(Part::Author, Told::Is(false))], Permission::Triage), Permission::Triage);
    }

    /// Issue 16, 3: whoever owns the fork can push to it, whoever opened the pull request.
    #[test]
    fn the_owner_of_a_fork_has_a_part_in_its_head() {
        let of = |repository: Option<&str>, tells_pushers| {
            let mut pull = crate::procedure::settle::samples::pull(1, "1111");
            pull.is_fork = repository != Some("acme/shop");
            pull.head.repository = repository.map(str::to_owned);
            HeadMaker::fork_owner(&pull, tells_pushers).map(|maker| (maker.login, maker.may_write))
        };
        let from = |repository| of(repository, false);
        assert_eq!(from(Some("eve/shop")), Some(("eve".into(), Told::Is(false))));
        for known in [Some("acme/shop"), Some("Dev/shop")] {
            assert_eq!(from(known), None, "{known:?}");
        }
        for unread in [None, Some("acme/shop-2")] {
            let maker = from(unread);
            assert!(matches!(maker, Some((_, Told::Unknown(_)))), "{unread:?}: {maker:?}");
            assert_eq!(of(unread, true), None, "who pushed is told");
        }
        assert_eq!(from(Some("acme/interns/shop")).map(|(login, _)| login), Some("acme/interns".into()), "not the group's own");
    }
}
