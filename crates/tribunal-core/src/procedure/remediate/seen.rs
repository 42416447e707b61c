//! Small readings of a conversation.

use crate::feedback::gather::Gathered;
use crate::feedback::reviewer::{Filter, running_by_reaction, voice};
use crate::ids::Sha;
use crate::pull::facts::Account;
use crate::pull::talk::{Reaction, Review, ReviewState};
use std::collections::BTreeMap;

/// Has a reviewer whose words count looked at this head (RL-24, CF-20)?
pub fn is_reviewed(reviews: &[Review], head: &Sha, me: &Account, filter: &Filter, extra: &BTreeMap<String, String>) -> bool {
    reviews.iter().any(|review| {
        !review.author.is(me)
            && review.state != ReviewState::Pending
            && review.commit.as_ref() == Some(head)
            && filter.covers(&voice(&review.author, me, extra), &review.author)
    })
}

/// Does a reviewer whose words count say that it is still at work (WL-78, RL-24)? Somebody else's work is not waited for.
pub fn is_running(
    gathered: &Gathered,
    reactions: &[Reaction],
    me: &Account,
    filter: &Filter,
    extra: &BTreeMap<String, String>,
) -> bool {
    gathered.left.running.iter().any(|notice| filter.covers(&notice.voice, &notice.by))
        || running_by_reaction(reactions, me, extra).iter().any(|name| filter.covers_named(name))
}
