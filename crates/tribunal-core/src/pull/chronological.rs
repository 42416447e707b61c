//! What was said, oldest first. Whose last word counts is decided by time and never by the order in which a forge lists things: that
//! order is a default of its API, and differs between forges. Every function that asks for the last word of a person takes a
//! [`Chronological`], and the constructor that sorts is the only one:
//!
//! ```compile_fail
//! use tribunal_core::pull::{chronological::Chronological, talk::Review};
//! fn as_listed(listed: Vec<&Review>) -> Chronological<'_, Review> {
//!     Chronological(listed)
//! }
//! ```

use super::talk::{Comment, Review, ReviewState};
use crate::calendar::millis_of;
use crate::procedure::Millis;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Chronological<'a, T>(Vec<&'a T>);

/// Something that was said at a time.
pub trait Dated {
    /// RFC 3339, as the forge writes it.
    fn at(&self) -> &str;
    fn id(&self) -> &str;
    /// Whether it holds something back. Where its time cannot be read it comes last, so that nothing said before takes it back;
    /// anything else without a time comes first, and takes nothing back.
    fn holds_back(&self) -> bool;
}

impl Dated for Review {
    fn at(&self) -> &str {
        &self.submitted_at
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn holds_back(&self) -> bool {
        self.state == ReviewState::ChangesRequested
    }
}

impl Dated for Comment {
    /// An edit makes a new word of it.
    fn at(&self) -> &str {
        &self.updated_at
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn holds_back(&self) -> bool {
        false
    }
}

/// By time, then by id. Ids of a forge are numbers that grow, so a shorter one is older.
fn place<T: Dated>(said: &T) -> (u8, Option<Millis>, usize, &str) {
    let at = millis_of(said.at());
    let rank = match (at, said.holds_back()) {
        (None, false) => 0,
        (Some(_), _) => 1,
        (None, true) => 2,
    };
    (rank, at, said.id().len(), said.id())
}

impl<'a, T: Dated> Chronological<'a, T> {
    pub fn of(said: &'a [T]) -> Self {
        let mut sorted: Vec<&T> = said.iter().collect();
        sorted.sort_by(|one, other| place(*one).cmp(&place(*other)));
        Chronological(sorted)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a T> + '_ {
        self.0.iter().copied()
    }
}

impl<'a> Chronological<'a, Review> {
    /// The last of those of each author that `counts`, by account id.
    pub fn last_of_each(&self, counts: impl Fn(&Review) -> bool) -> BTreeMap<&'a str, &'a Review> {
        self.iter().filter(|review| counts(review)).map(|review| (review.author.id.as_str(), review)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::samples::{Stage, person};
    use crate::merge::people::Voices;
    use crate::pull::told::Told;
    use proptest::prelude::*;

    fn review(id: u32, by: &str, state: ReviewState, at: &str) -> Review {
        let stage = Stage::new().review(&person(by), state, "");
        Review { id: id.to_string(), submitted_at: at.into(), ..stage.reviews[0].clone() }
    }

    fn last(reviews: &[Review]) -> Vec<ReviewState> {
        Chronological::of(reviews).last_of_each(|_| true).into_values().map(|review| review.state).collect()
    }

    /// Time goes before the list, and offsets are read; at one moment the higher id is the later one.
    #[test]
    fn the_last_word_is_the_latest() {
        use ReviewState::{Approved, ChangesRequested};
        let no = |id, at: &str| review(id, "ann", ChangesRequested, at);
        let yes = |id, at: &str| review(id, "ann", Approved, at);
        assert_eq!(last(&[no(2, "2026-01-02T00:00:00Z"), yes(1, "2026-01-01T00:00:00Z")]), [ChangesRequested]);
        assert_eq!(last(&[yes(1, "2026-01-01T23:30:00-02:00"), no(2, "2026-01-02T00:00:00Z")]), [Approved]);
        assert_eq!(last(&[no(10, "2026-01-01T00:00:00Z"), yes(9, "2026-01-01T00:00:00Z")]), [ChangesRequested]);
        // A time that cannot be read lets nothing through.
        assert_eq!(last(&[no(1, "soon"), yes(2, "2026-01-02T00:00:00Z")]), [ChangesRequested]);
        assert_eq!(last(&[no(1, "2026-01-02T00:00:00Z"), yes(2, "")]), [ChangesRequested]);
    }

    fn said() -> impl Strategy<Value = Vec<Review>> {
        let state = prop::sample::select(vec![
            ReviewState::Commented,
            ReviewState::Approved,
            ReviewState::ChangesRequested,
            ReviewState::Dismissed,
        ]);
        let one = (prop::sample::select(vec!["ann", "bob"]), state, 0_u32..4);
        prop::collection::vec(one, 0..8).prop_map(|all| {
            let numbered = all.into_iter().zip(1..);
            numbered.map(|((by, state, day), id)| review(id, by, state, &format!("2026-01-0{}T00:00:00Z", day + 1))).collect()
        })
    }

    proptest! {
        /// Whatever the order in which a forge lists reviews, the same people approve and ask for changes.
        #[test]
        fn no_order_of_a_list_decides((listed, shuffled) in said().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))) {
            let voices = |reviews: Vec<Review>| {
                let mut stage = Stage::new();
                stage.reviews = reviews;
                let said = stage.said();
                let baseline = crate::feedback::baseline::Baseline::of(
                    &said, &std::collections::BTreeSet::new(), &crate::feedback::reviewer::Filter::All,
                );
                (Voices::of(&said, &Told::Is(None)), baseline.approvals)
            };
            prop_assert_eq!(voices(listed), voices(shuffled));
        }
    }
}
