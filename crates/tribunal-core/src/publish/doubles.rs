//! What stands on a pull request twice: comments on the same finding, answers that say the same, reviews whose comments are all gone.
//! It comes from a forge that showed an old list, from a lost answer, or from a release without claims, and it is removed whenever it
//! is seen. Nothing that somebody else has written in is touched.

use super::claim::by_age;
use super::marker::{Mark, MarkerKey, Seal, read};
use super::threads::{AnswerSource, OwnAnswer, OwnThread};
use crate::ids::FindingKey;
use crate::pull::facts::Account;
use crate::pull::talk::{Review, ReviewState, Thread, ThreadComment};
use std::collections::BTreeSet;

/// One thread for each finding, and the comments that go.
pub struct Sorted<'a> {
    pub kept: Vec<OwnThread<'a>>,
    pub doubled: Vec<String>,
}

/// The oldest comment of each finding is kept, or the oldest that somebody has answered.
pub fn one_of_each(threads: Vec<OwnThread<'_>>) -> Sorted<'_> {
    let mut keys: Vec<FindingKey> = Vec::new();
    for thread in &threads {
        if !keys.contains(&thread.key) {
            keys.push(thread.key.clone());
        }
    }
    let mut sorted = Sorted { kept: Vec::new(), doubled: Vec::new() };
    for key in keys {
        let mut same: Vec<&OwnThread<'_>> = threads.iter().filter(|thread| thread.key == key).collect();
        // Lists of threads come in any order; all that is kept shall be of the same review.
        same.sort_by(|one, other| by_age(&one.comment.id, &other.comment.id));
        let shared_with_people = |thread: &&&OwnThread<'_>| thread.has_others;
        let Some(kept) = same.iter().find(shared_with_people).or(same.first()).copied() else { continue };
        sorted.doubled.extend(doubled_answers(kept));
        for other in same.iter().filter(|other| other.comment.id != kept.comment.id && !other.has_others) {
            let is_its_own =
                other.others_here.is_empty() && other.thread.first().is_some_and(|first| first.id == other.comment.id);
            match is_its_own && other.thread.id != kept.thread.id {
                true => sorted.doubled.extend(other.thread.comments.iter().map(|comment| comment.id.clone())),
                false => sorted.doubled.push(other.comment.id.clone()),
            }
        }
        sorted.kept.push(kept.clone());
    }
    sorted.doubled.dedup();
    sorted
}

/// Of two answers in a row that say the same, the later. A fixer that answers twice has been asked twice, so its own replies stay.
fn doubled_answers(own: &OwnThread<'_>) -> Vec<String> {
    let is_double = |pair: &&[OwnAnswer]| {
        let [one, other] = pair else { return false };
        let same_sources = one.by == AnswerSource::Review && other.by == AnswerSource::Review;
        let mixed = one.by != other.by && one.head == other.head;
        let between = &own.thread.comments[one.position..other.position];
        let nothing_between = between.iter().all(|comment| comment.author.is(&own.comment.author));
        one.says == other.says && (same_sources || mixed) && nothing_between && one.seal == Seal::Good && other.seal == Seal::Good
    };
    own.answers.windows(2).filter(is_double).map(|pair| pair[1].comment.clone()).collect()
}

/// Submitted reviews of ours that hold nothing any more: each finding that they announce stands exactly once, and elsewhere.
pub fn empty_reviews(
    reviews: &[Review],
    all_threads: &[Thread],
    sorted: &Sorted<'_>,
    me: &Account,
    case_id: &str,
    key: &MarkerKey,
) -> BTreeSet<String> {
    let marked = |review: &Review| match read(&review.body, case_id, key)?.mark {
        Mark::Review { head, findings, .. } => Some((review.id.clone(), head, findings)),
        _ => None,
    };
    let submitted = reviews.iter().filter(|review| review.author.is(me) && review.state == ReviewState::Commented);
    let ours: Vec<_> = submitted.filter_map(marked).collect();
    let mut empty = BTreeSet::new();
    for (at, (id, head, findings)) in ours.iter().enumerate() {
        // Marks of earlier releases name no findings; then it is those of the same head.
        let is_announced = |thread: &&OwnThread<'_>| match findings.is_empty() {
            true => thread.head == *head,
            false => findings.contains(&thread.key),
        };
        let announced: Vec<&OwnThread<'_>> = sorted.kept.iter().filter(is_announced).collect();
        let all_there = !announced.is_empty() && findings.iter().all(|key| announced.iter().any(|thread| thread.key == *key));
        let stands_elsewhere = |thread: &&OwnThread<'_>| match &thread.comment.review {
            Some(review) => review != id,
            // A forge that ties no comment to a review: the first that announces it is the one.
            None => ours[..at].iter().any(|(_, _, earlier)| !findings.is_empty() && earlier == findings),
        };
        let is_of_it = |comment: &ThreadComment| comment.review.as_ref() == Some(id);
        let holds_comments = all_threads.iter().flat_map(|thread| &thread.comments).any(is_of_it);
        if all_there && sorted.doubled.is_empty() && !holds_comments && announced.iter().all(stands_elsewhere) {
            empty.insert(id.clone());
        }
    }
    empty
}
