//! The formal verdict on a pull request: one review for each sitting, bound to the head that was read (CF-2, CF-16, TS-86).
//!
//! People read `VERDICT: X` at the top of the review. What we read back is the sealed mark at its end: prose is no identity (CF-10),
//! and a review under our account without a mark may be a person's (CF-33).

pub mod block;
pub mod post;

use super::marker::{Mark, MarkerKey, Seal, read};
use crate::combine::verdict::Verdict;
use crate::ids::{RunId, Sha};
use crate::merge::reviewed_place::ReviewedPlace;
use crate::pull::chronological::Chronological;
use crate::pull::facts::Account;
use crate::pull::talk::{Review, ReviewEvent, ReviewState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The occasion that a verdict is given on. There is one review for each, whatever happens in between.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Sitting {
    /// Of a pull request, not of a run: whoever settles it, from whichever machine, assesses it at most twice (TS-17).
    Settle { assessment: Assessment },
    /// Of a run, by the effect that says it: a round may come to two verdicts, one before its response and one after (SL-1).
    Sweep { run: RunId, ticket: u64 },
}

/// A third one cannot be written down (TS-16, TS-17, TS-90).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Assessment {
    First,
    /// After the one refinement; final.
    Second,
}

impl Assessment {
    pub fn number(self) -> u32 {
        match self {
            Assessment::First => 1,
            Assessment::Second => 2,
        }
    }

    /// The names of the loop model (TS-8, TS-10).
    pub fn word(self) -> &'static str {
        match self {
            Assessment::First => "ASSESS",
            Assessment::Second => "ASSESS-2",
        }
    }
}

/// A verdict that stands on a pull request under our mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub sitting: Sitting,
    pub run: RunId,
    /// Nothing when the seal does not open: then something was said on this occasion, and nobody can prove what.
    pub verdict: Option<Verdict>,
    /// The head that was read.
    pub head: Sha,
    /// The branch that it was to be merged into, where a seal that opens says so.
    #[serde(default)]
    pub base_branch: Option<String>,
    pub state: ReviewState,
    pub review: String,
    pub url: String,
}

impl Standing {
    pub fn place(&self) -> ReviewedPlace<'_> {
        ReviewedPlace::new(&self.head, self.base_branch.as_ref())
    }
}

/// Our verdicts, oldest first. What waits in a draft was said to nobody.
pub fn standing(reviews: &Chronological<'_, Review>, me: &Account, case_id: &str, key: &MarkerKey) -> Vec<Standing> {
    let ours = reviews.iter().filter(|review| review.author.is(me) && review.state != ReviewState::Pending);
    let verdict = |review: &Review| {
        let found = read(&review.body, case_id, key)?;
        let Mark::Verdict { sitting, run, verdict, head, base_branch } = found.mark else { return None };
        let is_good = found.seal == Seal::Good;
        Some(Standing {
            sitting,
            run,
            verdict: is_good.then_some(verdict),
            // The forge knows what it was said about, even when the mark was tampered with.
            head: if is_good { head } else { review.commit.clone().unwrap_or(head) },
            base_branch: base_branch.filter(|_| is_good),
            state: review.state,
            review: review.id.clone(),
            url: review.url.clone(),
        })
    };
    ours.filter_map(verdict).collect()
}

/// The verdict that a review's first line speaks of (TS-27, TS-101). Other tools sign their reviews so; it is theirs only under an
/// account that is known to be theirs.
pub fn spoken(body: &str) -> Option<Verdict> {
    let word = body.lines().next()?.strip_prefix("VERDICT:")?.trim();
    [Verdict::Lgtm, Verdict::Minor, Verdict::Major, Verdict::Blocked].into_iter().find(|verdict| verdict.word() == word)
}

/// CF-2, TS-66: the strongest event that is open to us. The same words go with each.
pub fn event(verdict: Verdict, am_i_author: bool, can_approve: bool) -> ReviewEvent {
    match verdict {
        _ if am_i_author || !can_approve => ReviewEvent::Comment,
        Verdict::Lgtm => ReviewEvent::Approve,
        Verdict::Minor | Verdict::Major | Verdict::Blocked => ReviewEvent::RequestChanges,
    }
}

#[cfg(test)]
mod tests;
