//! Reviews of our account that were begun and never shown: a crashed run leaves one behind, and it is in the way of the next (TS-102).

use super::marker::{MarkerKey, read};
use super::reconcile::Stop;
use crate::pull::facts::Account;
use crate::pull::talk::{Review, ReviewState};
use std::collections::BTreeMap;

pub struct Drafts<'a> {
    pub reviews: &'a [Review],
    /// What waits in them, by review.
    pub drafted: &'a BTreeMap<String, Vec<String>>,
}

impl Drafts<'_> {
    /// Those that may be removed. One that holds anything but our own words is somebody's, and then nothing may be sent along with it.
    pub fn ours(&self, me: &Account, case_id: &str, key: &MarkerKey) -> Result<Vec<String>, Stop> {
        let mut ours = Vec::new();
        for review in self.reviews.iter().filter(|review| review.state == ReviewState::Pending && review.author.is(me)) {
            let waiting = self.drafted.get(&review.id).into_iter().flatten().map(String::as_str);
            let mut bodies = waiting.chain(Some(review.body.as_str()).filter(|body| !body.trim().is_empty()));
            if bodies.any(|body| read(body, case_id, key).is_none()) {
                return Err(Stop::ForeignDraft);
            }
            ours.push(review.id.clone());
        }
        Ok(ours)
    }
}
