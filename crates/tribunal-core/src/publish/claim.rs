//! Who posts. A review, an answer and the first summary may be posted only once, and several machines may be about to do it. Each
//! creates a comment of its own first, its claim, and then reads all comments: the earliest live claim posts, the others withdraw
//! theirs. A forge gives each comment a later id than all before it and shows what it has stored, so two can never both be first.
//!
//! A claim of our account counts under any seal, because machines need not share a key. It decides nothing but who waits, and it lapses:
//! a process that was killed is in nobody's way for longer than [`LEASE`]. Ages are differences between times of the forge's own clock.

use super::marker::{Mark, MarkerKey, read};
use crate::calendar::millis_of;
use crate::ids::{RunId, Sha};
use crate::procedure::Millis;
use crate::pull::facts::Account;
use crate::pull::talk::Comment;
use std::cmp::Ordering;

/// How long a claim counts. Posting takes seconds; a forge that asks for patience may stretch it to minutes.
pub const LEASE: Millis = 5 * 60_000;

#[derive(Debug, Clone)]
pub struct Claim<'a> {
    pub comment: &'a Comment,
    pub head: Sha,
    pub run: RunId,
    /// A process makes a new one for each claim, so that it knows that one again when the answer was lost.
    pub nonce: String,
}

/// Where a process stands among those that want to post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimRank {
    /// The forge shows no claim of this process.
    Absent,
    First {
        id: String,
    },
    /// Another live claim is earlier.
    Behind {
        id: String,
        run: RunId,
    },
}

/// All claims of our account.
pub fn claims<'a>(comments: &'a [Comment], me: &Account, case_id: &str, key: &MarkerKey) -> Vec<Claim<'a>> {
    let claim = |comment: &'a Comment| match read(&comment.body, case_id, key)?.mark {
        Mark::Claim { head, run, nonce } => Some(Claim { comment, head, run, nonce }),
        _ => None,
    };
    let mut found: Vec<Claim<'a>> = comments.iter().filter(|comment| comment.author.is(me)).filter_map(claim).collect();
    found.sort_by(|one, other| by_age(&one.comment.id, &other.comment.id));
    found
}

/// Ids of comments are numbers that grow, wherever they are numbers; elsewhere the order of the list stays.
pub fn by_age(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        _ => Ordering::Equal,
    }
}

pub fn rank(claims: &[Claim<'_>], nonce: &str, run: &RunId) -> ClaimRank {
    let Some(at) = claims.iter().position(|claim| claim.nonce == nonce) else { return ClaimRank::Absent };
    let id = claims[at].comment.id.clone();
    let rival = claims[..at].iter().find(|earlier| !is_dead(earlier, &claims[at], run));
    match rival {
        Some(rival) => ClaimRank::Behind { id, run: rival.run.clone() },
        None => ClaimRank::First { id },
    }
}

/// The times that a claim's age is measured by.
#[derive(Debug, Clone, Copy)]
pub struct Clocks<'a> {
    /// When the forge last saw something happen on the pull request, by its own clock.
    pub last_event: &'a str,
    /// Our own clock, which may be wrong by much and is trusted by hours only.
    pub now: Millis,
}

/// Claims that are to be removed: that of this process, and those that nobody stands behind any more.
pub fn removable(claims: &[Claim<'_>], nonce: &str, run: &RunId, clocks: Clocks<'_>) -> Vec<String> {
    let mine = claims.iter().find(|claim| claim.nonce == nonce);
    let is_old = |claim: &Claim<'_>| {
        let made = millis_of(&claim.comment.created_at);
        let since = |time: Option<Millis>| made.zip(time).and_then(|(made, time)| time.checked_sub(made));
        since(millis_of(clocks.last_event)).is_some_and(|age| age > LEASE)
            || since(Some(clocks.now)).is_some_and(|age| age > 12 * LEASE)
    };
    let goes = |claim: &&Claim<'_>| {
        claim.nonce == nonce || claim.run == *run || is_old(claim) || mine.is_some_and(|mine| is_dead(claim, mine, run))
    };
    claims.iter().filter(goes).map(|claim| claim.comment.id.clone()).collect()
}

/// One process at a time works on a run, so an earlier claim of the same run was left behind by one that died.
fn is_dead(claim: &Claim<'_>, mine: &Claim<'_>, run: &RunId) -> bool {
    let age = millis_of(&mine.comment.created_at)
        .zip(millis_of(&claim.comment.created_at))
        .and_then(|(now, then)| now.checked_sub(then));
    claim.run == *run || age.is_some_and(|age| age > LEASE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::marker::seal;
    use crate::pull::facts::AccountKind;

    const CASE: &str = "pull:h/acme/shop#7";

    fn bot() -> Account {
        Account { id: "1".into(), login: "bot".into(), kind: AccountKind::Person }
    }

    fn claim(id: &str, run: &str, nonce: &str, at: &str, key: &str) -> Comment {
        let mark = Mark::Claim { head: "1234".into(), run: run.into(), nonce: nonce.into() };
        let body = format!("posting\n\n{}", seal(&mark, CASE, &MarkerKey::from_secret(key)));
        let (created_at, updated_at, url) = (at.to_owned(), at.to_owned(), String::new());
        Comment { id: id.into(), author: bot(), body, created_at, updated_at, url, edited: false }
    }

    fn rank_of(comments: &[Comment], nonce: &str, run: &str) -> ClaimRank {
        rank(&claims(comments, &bot(), CASE, &MarkerKey::from_secret("k")), nonce, &run.into())
    }

    /// The lowest id wins, in whatever order the list comes and whoever sealed it.
    #[test]
    fn the_earliest_live_claim_is_first() {
        let at = "2026-11-18T06:00:00Z";
        let comments = [claim("12", "b", "nb", at, "k"), claim("9", "a", "na", at, "another key")];
        assert_eq!(rank_of(&comments, "na", "a"), ClaimRank::First { id: "9".into() });
        assert_eq!(rank_of(&comments, "nb", "b"), ClaimRank::Behind { id: "12".into(), run: "a".into() });
        assert_eq!(rank_of(&comments, "nc", "c"), ClaimRank::Absent);
        let mut stranger = comments.clone();
        stranger[1].author.id = "2".into();
        assert_eq!(rank_of(&stranger, "nb", "b"), ClaimRank::First { id: "12".into() }, "a stranger's copy claims nothing");
    }

    /// A killed process blocks for five minutes by the forge's clock; a resumed run does not wait for itself. Times that cannot be read
    /// prove no age.
    #[test]
    fn a_dead_claim_lapses() {
        let old = claim("1", "a", "na", "2026-11-18T06:00:00Z", "k");
        let soon = [old.clone(), claim("2", "b", "nb", "2026-11-18T06:05:00Z", "k")];
        assert!(matches!(rank_of(&soon, "nb", "b"), ClaimRank::Behind { .. }));
        let later = [old.clone(), claim("2", "b", "nb", "2026-11-18T06:05:01Z", "k")];
        assert!(matches!(rank_of(&later, "nb", "b"), ClaimRank::First { .. }));
        assert!(matches!(rank_of(&soon, "nb", "a"), ClaimRank::First { .. }), "its own run's");
        let odd = [old, claim("2", "b", "nb", "yesterday", "k")];
        assert!(matches!(rank_of(&odd, "nb", "b"), ClaimRank::Behind { .. }));
    }
}
