//! What the forge says about a task at one moment: its issue, its pull request, our verdicts on it, and what people said.

use crate::combine::verdict::Verdict;
use crate::feedback::item::Voice;
use crate::feedback::reviewer::voice;
use crate::feedback::right::Permissions;
use crate::ids::Sha;
use crate::merge::reviewed_place::ReviewedPlace;
use crate::policy::identity::Bots;
use crate::procedure::order::Hindrance;
use crate::publish::marker::{MarkerKey, read};
use crate::publish::verdict::{Assessment, Sitting, Standing, spoken, standing};
use crate::pull::chronological::Chronological;
use crate::pull::facts::{Account, Issue, Pull, PullState};
use crate::pull::talk::{Review, ReviewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSeen {
    pub issue: Option<IssueSeen>,
    pub pull: Option<PullSeen>,
    /// What a person should know about how it was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueSeen {
    pub number: u64,
    pub open: bool,
    pub labels: Vec<String>,
    /// The acceptance criteria, exactly as written (TS-51, TS-89).
    pub body: String,
}

impl IssueSeen {
    pub fn of(issue: &Issue) -> Self {
        IssueSeen { number: issue.number, open: issue.open, labels: issue.labels.clone(), body: issue.body.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullSeen {
    pub number: u64,
    pub url: String,
    pub state: PullState,
    pub draft: bool,
    pub head: Sha,
    /// The branch that it is to be merged into.
    #[serde(default)]
    pub base_branch: String,
    pub labels: Vec<String>,
    /// Of ours, oldest first.
    pub verdicts: Vec<Given>,
    /// Verdicts that reviews under our account speak without our mark: another tool's, and each was an assessment (TS-99).
    pub unmarked: Vec<Unmarked>,
    /// Who approved or asked for changes, as it stands now (TS-100).
    pub people: BTreeMap<String, Word>,
    /// People who said anything in a review, oldest first.
    pub reviewers: Vec<String>,
}

/// An assessment that stands on the pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    pub assessment: Assessment,
    /// Nothing when it cannot be read any more.
    pub verdict: Option<Verdict>,
    pub head: Sha,
    /// The branch that the head was to be merged into, where our seal says so.
    #[serde(default)]
    pub base_branch: Option<String>,
    pub url: String,
}

/// A verdict that nobody can prove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmarked {
    pub verdict: Verdict,
    pub head: Option<Sha>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    Approved,
    ChangesRequested,
}

/// Who is who on this pull request.
pub struct Eyes<'a> {
    pub me: &'a Account,
    pub case_id: &'a str,
    pub key: &'a MarkerKey,
    /// Machine accounts that the forge takes for people.
    pub bots: &'a Bots,
    /// What the reviewers may do.
    pub permissions: &'a Permissions,
}

impl Given {
    /// What a standing verdict is to `settle`; a sweep's is nothing to it.
    pub fn of(standing: Standing) -> Option<Self> {
        match standing.sitting {
            Sitting::Settle { assessment } => {
                let Standing { verdict, head, base_branch, url, .. } = standing;
                Some(Given { assessment, verdict, head, base_branch, url })
            }
            Sitting::Sweep { .. } => None,
        }
    }
}

impl PullSeen {
    pub fn of(pull: &Pull, reviews: &Chronological<'_, Review>, eyes: &Eyes<'_>) -> Self {
        let given = standing(reviews, eyes.me, eyes.case_id, eyes.key).into_iter().filter_map(Given::of);
        let mut verdicts: Vec<Given> = Vec::new();
        for given in given {
            // Two of us at once: everybody goes by the first.
            if !verdicts.iter().any(|known| known.assessment == given.assessment) {
                verdicts.push(given);
            }
        }
        verdicts.sort_by_key(|given| given.assessment);
        let said = reviews.iter().filter(|review| review.state != ReviewState::Pending);
        let (mut people, mut reviewers, mut unmarked) = (BTreeMap::new(), Vec::new(), Vec::new());
        for review in said {
            match eyes.whose(review) {
                Whose::Machine | Whose::Stranger => {}
                Whose::OtherTool(verdict) => unmarked.push(Unmarked { verdict, head: review.commit.clone() }),
                Whose::Person => {
                    let login = review.author.login.clone();
                    match review.state {
                        ReviewState::Approved => drop(people.insert(login.clone(), Word::Approved)),
                        ReviewState::ChangesRequested => drop(people.insert(login.clone(), Word::ChangesRequested)),
                        ReviewState::Dismissed => drop(people.remove(&login)),
                        // A comment takes nothing back.
                        ReviewState::Commented | ReviewState::Pending => {}
                    }
                    if !review.author.is(&pull.author) && !reviewers.contains(&login) {
                        reviewers.push(login);
                    }
                }
            }
        }
        PullSeen {
            number: pull.number,
            url: pull.url.clone(),
            state: pull.state,
            draft: pull.draft,
            head: pull.head.sha.clone(),
            base_branch: pull.base.branch.clone(),
            labels: pull.labels.clone(),
            verdicts,
            unmarked,
            people,
            reviewers,
        }
    }

    pub fn place(&self) -> ReviewedPlace<'_> {
        ReviewedPlace::new(&self.head, Some(&self.base_branch))
    }

    pub fn is_open(&self) -> bool {
        self.state == PullState::Open
    }

    /// Why no verdict may be given: a person who has spoken while we read is not talked over (TS-100).
    pub fn talked_over(&self) -> Option<Hindrance> {
        let by = self.people.keys().next()?;
        Some(Hindrance::InTheWay { reason: format!("{by} has reviewed it meanwhile") })
    }
}

enum Whose {
    Person,
    /// May not write: whatever they say, the task goes on as if nobody had said it.
    Stranger,
    Machine,
    /// Of the original, or of a run whose mark is gone.
    OtherTool(Verdict),
}

impl Eyes<'_> {
    /// CF-10, CF-33, TS-101: our account with our mark is us; with a spoken verdict it is a tool that uses our account; otherwise it is
    /// a person who does, unless the forge calls the account a bot.
    fn whose(&self, review: &Review) -> Whose {
        let ours = review.author.is(self.me);
        if ours && read(&review.body, self.case_id, self.key).is_some() {
            return Whose::Machine;
        }
        if let Some(verdict) = spoken(&review.body).filter(|_| ours) {
            return Whose::OtherTool(verdict);
        }
        // Whose kind could not be read may hold a task up, and does not approve it.
        let kind = review.author.kind;
        let counts = kind.may_decide() || (!kind.is_machine() && review.state == ReviewState::ChangesRequested);
        let is_person = voice(&review.author, self.me, self.bots) == Voice::Person && counts;
        match self.permissions.may_write(&review.author) {
            _ if !is_person => Whose::Machine,
            Some(false) => Whose::Stranger,
            // Where the forge does not tell, the word of what may be a person is not talked over.
            Some(true) | None => Whose::Person,
        }
    }
}

#[cfg(test)]
mod tests;
