//! Threads of ours, and what to do about each after a review.
//!
//! A finding that is open and has a thread is not said again. One that was verified as gone gets an answer that names the commit, and
//! its thread is resolved where that is ours to do (CF-6). One that came back is said so in its old thread. A thread that a person
//! has resolved or joined is theirs.

use super::markdown::inert;
use super::marker::{Disposition, Mark, MarkerKey, ReadMark, Says, Seal, read};
use super::memory::unpack_finding;
use crate::combine::finding::Finding;
use crate::combine::prior::VerifiedBy;
use crate::findings::report::Verification;
use crate::ids::{FindingId, FindingKey, Sha};
use crate::policy::publish::ResolveRule;
use crate::pull::facts::Account;
use crate::pull::talk::{Thread, ThreadComment};
use crate::report::document::Document;

/// A finding of ours in its thread. Some forges make one conversation of everything on a line, so that several findings share it.
#[derive(Debug, Clone)]
pub struct OwnThread<'a> {
    pub thread: &'a Thread,
    /// The comment that says it.
    pub comment: &'a ThreadComment,
    /// Findings that share the conversation.
    pub others_here: Vec<FindingKey>,
    pub key: FindingKey,
    pub id: FindingId,
    /// The head that it was posted for.
    pub head: Sha,
    pub seal: Seal,
    /// Our last answer in it.
    pub said: Option<Says>,
    /// Every answer of ours about it, in order.
    pub answers: Vec<OwnAnswer>,
    /// Somebody else has written in it.
    pub has_others: bool,
    /// The finding as it was posted, packed.
    packed: Option<String>,
}

/// Something of ours that says what became of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAnswer {
    pub comment: String,
    pub says: Says,
    pub head: Sha,
    pub seal: Seal,
    pub by: AnswerSource,
    /// How many comments of the thread stand before it.
    pub position: usize,
}

/// A review has looked; a fixer says what it has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerSource {
    Review,
    Fixer,
}

/// What to do in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub says: Option<(Says, String)>,
    pub resolve: Option<bool>,
}

impl Answer {
    const NOTHING: Answer = Answer { says: None, resolve: None };
}

/// Our findings in their threads, oldest first.
pub fn own<'a>(threads: &'a [Thread], me: &Account, case_id: &str, key: &MarkerKey) -> Vec<OwnThread<'a>> {
    threads.iter().flat_map(|thread| own_findings(thread, me, case_id, key)).collect()
}

fn own_findings<'a>(thread: &'a Thread, me: &Account, case_id: &str, marker_key: &MarkerKey) -> Vec<OwnThread<'a>> {
    let marked = |comment: &ThreadComment| comment.author.is(me).then(|| read(&comment.body, case_id, marker_key)).flatten();
    let marks: Vec<Option<ReadMark>> = thread.comments.iter().map(marked).collect();
    // A comment of our account without a mark of ours is somebody's (CF-33).
    let has_others = marks.iter().any(Option::is_none);
    let mut found: Vec<OwnThread<'a>> = Vec::new();
    for (comment, mark) in thread.comments.iter().zip(&marks) {
        let Some(ReadMark { mark: Mark::Finding { key, id, head, finding: packed, .. }, seal }) = mark else { continue };
        let answers = answers_of(*id, thread, &marks);
        let (key, head, seal, said) = (key.clone(), head.clone(), *seal, answers.last().map(|answer| answer.says));
        let packed = packed.clone();
        found.push(OwnThread {
            thread,
            comment,
            others_here: Vec::new(),
            key,
            id: *id,
            head,
            seal,
            said,
            answers,
            has_others,
            packed,
        });
    }
    let keys: Vec<FindingKey> = found.iter().map(|own| own.key.clone()).collect();
    for own in &mut found {
        own.others_here = keys.iter().filter(|key| **key != own.key).cloned().collect();
    }
    found
}

/// A fixer's `Fixed in …` answers everything in the thread, as an answer of a review does for its finding: either is said once.
fn answers_of(id: FindingId, thread: &Thread, marks: &[Option<ReadMark>]) -> Vec<OwnAnswer> {
    let answer = |(position, (comment, read)): (usize, (&ThreadComment, &Option<ReadMark>))| {
        let ReadMark { mark, seal } = read.as_ref()?;
        let (says, head, by) = match mark {
            Mark::Answer { id: of, says, head } if *of == id => (*says, head, AnswerSource::Review),
            Mark::Reply { says: Disposition::Fixed, head, .. } if *seal == Seal::Good => (Says::Fixed, head, AnswerSource::Fixer),
            _ => return None,
        };
        Some(OwnAnswer { comment: comment.id.clone(), says, head: head.clone(), seal: *seal, by, position })
    };
    thread.comments.iter().zip(marks).enumerate().filter_map(answer).collect()
}

impl OwnThread<'_> {
    /// Is this its thread? The key decides; the name is asked when the key changed with the file's path, and only under a good seal.
    pub fn is_of(&self, finding: &Finding) -> bool {
        self.key == finding.key || (self.seal == Seal::Good && self.id == finding.id)
    }

    /// The finding as it was posted, if its mark proves it.
    pub fn reported(&self) -> Option<Finding> {
        let packed = self.packed.as_deref().filter(|_| self.seal == Seal::Good)?;
        let finding = unpack_finding(packed)?;
        Some(Finding { id: self.id, key: self.key.clone(), ..finding })
    }

    /// The head of our last word on it.
    pub fn last_said_at(&self) -> &Sha {
        let ours = self.answers.iter().rfind(|answer| answer.by == AnswerSource::Review && answer.seal == Seal::Good);
        ours.map_or(&self.head, |answer| &answer.head)
    }

    /// Did a review of ours say here that it is gone? A fixer's word is not a review, and an answer proves no more than the comment
    /// that it answers.
    pub fn is_closed_by_review(&self) -> bool {
        let counts =
            |answer: &&OwnAnswer| answer.by == AnswerSource::Review && (answer.seal, self.seal) != (Seal::Broken, Seal::Good);
        self.answers.iter().rfind(counts).is_some_and(|answer| answer.says == Says::Fixed)
    }

    pub fn answer(&self, document: &Document, rule: ResolveRule) -> Answer {
        match document.findings.iter().find(|finding| self.is_of(finding)) {
            Some(finding) => self.answer_open(finding, document, rule),
            None => self.answer_gone(document, rule),
        }
    }

    fn answer_open(&self, finding: &Finding, document: &Document, rule: ResolveRule) -> Answer {
        if let Some(dismissed) = &finding.dismissed {
            let words =
                format!("Declined: {} ({} said so).", inert(dismissed.reason.trim_end_matches('.')), inert(&dismissed.by));
            let says = (self.said != Some(Says::Dismissed)).then_some((Says::Dismissed, words));
            // Only a word that clears the finding closes its thread.
            let may = dismissed.accepted && self.may_resolve(rule, true) && self.is_last_here(document);
            return Answer { says, resolve: self.resolve(may) };
        }
        match self.said {
            Some(Says::Fixed) => {
                let words = format!("Present again in {}, at line {}.", document.head, finding.line_start);
                Answer { says: Some((Says::Back, words)), resolve: self.thread.resolved.then_some(false) }
            }
            Some(Says::Back | Says::Dismissed) | None => Answer::NOTHING,
        }
    }

    fn answer_gone(&self, document: &Document, rule: ResolveRule) -> Answer {
        let verified = document
            .prior_verifications
            .iter()
            .find(|prior| prior.prior_id == self.id && prior.verification == Verification::Yes && self.seal == Seal::Good);
        let resolve = |is_fixed: bool| self.resolve(is_fixed && self.may_resolve(rule, false) && self.is_last_here(document));
        match (verified, self.said) {
            // A fixer said so, and no review has looked at it.
            (None, Some(Says::Fixed)) if self.answers.last().is_some_and(|answer| answer.by == AnswerSource::Fixer) => {
                Answer::NOTHING
            }
            // Said before; only the thread's bit may still be missing.
            (_, Some(Says::Fixed)) => Answer { says: None, resolve: resolve(true) },
            (Some(prior), _) => {
                let which = if self.others_here.is_empty() { String::new() } else { format!("{}: ", self.id) };
                let what = match prior.by {
                    VerifiedBy::Reviewer => "Fixed in",
                    VerifiedBy::Comparison => "No longer part of the change in",
                    VerifiedBy::Settings => "No longer reported in",
                };
                let words = format!("{what} {}. {which}{}.", document.head, inert(prior.note.trim_end_matches('.')));
                Answer { says: Some((Says::Fixed, words)), resolve: resolve(true) }
            }
            // Not reported again, but nobody has verified that it is gone: a moved line is not a fixed behaviour (PR-11).
            (None, _) => Answer::NOTHING,
        }
    }

    /// Does no other finding of the same conversation still stand?
    fn is_last_here(&self, document: &Document) -> bool {
        let stands = |finding: &Finding| {
            self.others_here.contains(&finding.key) && !finding.dismissed.as_ref().is_some_and(|dismissed| dismissed.accepted)
        };
        !document.findings.iter().any(stands)
    }

    fn resolve(&self, wanted: bool) -> Option<bool> {
        (wanted && !self.thread.resolved).then_some(true)
    }

    fn may_resolve(&self, rule: ResolveRule, by_word: bool) -> bool {
        let allowed = self.thread.can_resolve != Some(false);
        allowed
            && match rule {
                ResolveRule::Never => false,
                // A person who wrote in it has a say in it, unless their word is what closes it.
                ResolveRule::Addressed => by_word || !self.has_others,
                ResolveRule::Always => true,
            }
    }
}
