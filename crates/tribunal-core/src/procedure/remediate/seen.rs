//! Small readings of a conversation.

use crate::feedback::reviewer::{Filter, voice};
use crate::ids::Sha;
use crate::pull::facts::Account;
use crate::pull::talk::{Review, ReviewState};
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
