//! Small readings of a conversation.

use crate::feedback::gather::{Gathered, Said};
use crate::feedback::reviewer::{Filter, running_by_reaction, voice};
use crate::policy::identity::Bots;
use crate::pull::facts::Account;
use crate::pull::talk::{Reaction, ReviewState};

/// Has a reviewer whose words count, and who has the right, looked at this head (RL-24, CF-20)?
pub fn is_reviewed(said: &Said<'_>, filter: &Filter) -> bool {
    said.reviews.iter().any(|review| {
        !review.author.is(said.me)
            && review.state != ReviewState::Pending
            && review.commit.as_ref() == Some(&said.pull.head.sha)
            && filter.covers(&voice(&review.author, said.me, said.extra), &review.author)
            && said.right(&review.author).is_granted()
    })
}

/// Does a reviewer whose words count say that it is still at work (WL-78, RL-24)? Somebody else's work is not waited for.
pub fn is_running(gathered: &Gathered, reactions: &[Reaction], me: &Account, filter: &Filter, extra: &Bots) -> bool {
    let counts = |notice: &crate::feedback::gather::Notice| notice.right.is_granted() && filter.covers(&notice.voice, &notice.by);
    gathered.left.running.iter().any(counts)
        || running_by_reaction(reactions, me, extra).iter().any(|name| filter.covers_named(name))
}
