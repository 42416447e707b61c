//! What a review, a verdict or a yes is of: a head, and the branch that it is to be merged into.
//!
//! The base decides which changes are read, and under which policy. Whoever opened a pull request can aim it at another branch while
//! its head stays, so a head alone says nothing. Everything that is bound to a head is compared here.

use crate::ids::Sha;

#[derive(Debug, Clone, Copy)]
pub struct ReviewedPlace<'a> {
    pub head: &'a Sha,
    /// Nothing in a record of a release that did not write it down.
    pub base_branch: Option<&'a str>,
}

impl<'a> ReviewedPlace<'a> {
    pub fn new(head: &'a Sha, base_branch: Option<&'a String>) -> Self {
        ReviewedPlace { head, base_branch: base_branch.map(String::as_str) }
    }

    /// A base that is not known is never the same one.
    pub fn is_same(self, other: ReviewedPlace<'_>) -> bool {
        self.head == other.head && self.base_branch.is_some() && self.base_branch == other.base_branch
    }

    /// The base is known, and is another one.
    pub fn is_of_other_base(self, other: ReviewedPlace<'_>) -> bool {
        matches!((self.base_branch, other.base_branch), (Some(one), Some(two)) if one != two)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_alone_is_not_the_same_place() {
        let (one, two) = (Sha::from("1"), Sha::from("2"));
        let (main, develop) = ("main".to_owned(), "develop".to_owned());
        let place = ReviewedPlace::new(&one, Some(&main));
        assert!(place.is_same(ReviewedPlace::new(&one, Some(&main))));
        assert!(!place.is_same(ReviewedPlace::new(&two, Some(&main))));
        assert!(!place.is_same(ReviewedPlace::new(&one, Some(&develop))));
        let unknown = ReviewedPlace::new(&one, None);
        assert!(!place.is_same(unknown) && !unknown.is_same(place) && !unknown.is_same(unknown));
        assert!(place.is_of_other_base(ReviewedPlace::new(&one, Some(&develop))) && !place.is_of_other_base(unknown));
    }
}
