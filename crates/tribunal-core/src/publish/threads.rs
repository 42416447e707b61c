//! Threads of ours, and what to do about each after a review.
//!
//! A finding that is open and has a thread is not said again. One that was verified as gone gets an answer that names the commit, and
//! its thread is resolved where that is ours to do (CF-6). One that came back is said so in its old thread. A thread that a person
//! has resolved or joined is theirs.

use super::markdown::inert;
use super::marker::{Mark, MarkerKey, ReadMark, Says, Seal, read};
use crate::combine::finding::Finding;
use crate::findings::report::Verification;
use crate::ids::{FindingId, FindingKey};
use crate::policy::publish::ResolveRule;
use crate::pull::facts::Account;
use crate::pull::talk::Thread;
use crate::report::document::Document;

/// A thread that begins with a finding of ours.
#[derive(Debug, Clone)]
pub struct OwnThread<'a> {
    pub thread: &'a Thread,
    pub key: FindingKey,
    pub id: FindingId,
    pub seal: Seal,
    /// Our last answer in it.
    pub said: Option<Says>,
    /// Somebody else has written in it.
    pub has_others: bool,
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

/// Our threads, oldest first.
pub fn own<'a>(threads: &'a [Thread], me: &Account, case_id: &str, key: &MarkerKey) -> Vec<OwnThread<'a>> {
    threads.iter().filter_map(|thread| own_thread(thread, me, case_id, key)).collect()
}

fn own_thread<'a>(thread: &'a Thread, me: &Account, case_id: &str, marker_key: &MarkerKey) -> Option<OwnThread<'a>> {
    let marked = |body: &str| read(body, case_id, marker_key);
    let first = thread.first().filter(|first| first.author.is(me))?;
    let ReadMark { mark: Mark::Finding { key, id, .. }, seal } = marked(&first.body)? else { return None };
    let mut said = None;
    let mut has_others = false;
    for comment in &thread.comments[1..] {
        match comment.author.is(me).then(|| marked(&comment.body)).flatten() {
            Some(ReadMark { mark: Mark::Answer { says, .. }, .. }) => said = Some(says),
            // Ours too, but the word of whoever changed the code: it proves nothing until a review has looked.
            Some(ReadMark { mark: Mark::Reply { .. }, .. }) => {}
            // A comment of our account without a mark of ours is somebody's (CF-33).
            _ => has_others = true,
        }
    }
    Some(OwnThread { thread, key, id, seal, said, has_others })
}

impl OwnThread<'_> {
    /// Is this its thread? The key decides; the name is asked when the key changed with the file's path, and only under a good seal.
    pub fn is_of(&self, finding: &Finding) -> bool {
        self.key == finding.key || (self.seal == Seal::Good && self.id == finding.id)
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
            return Answer { says, resolve: self.resolve(dismissed.accepted && self.may_resolve(rule, true)) };
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
        let resolve = |is_fixed: bool| self.resolve(is_fixed && self.may_resolve(rule, false));
        match (verified, self.said) {
            // Said before; only the thread's bit may still be missing.
            (_, Some(Says::Fixed)) => Answer { says: None, resolve: resolve(true) },
            (Some(prior), _) => {
                let words = format!("Fixed in {}. {}.", document.head, inert(prior.note.trim_end_matches('.')));
                Answer { says: Some((Says::Fixed, words)), resolve: resolve(true) }
            }
            // Not reported again, but nobody has verified that it is gone: a moved line is not a fixed behaviour (PR-11).
            (None, _) => Answer::NOTHING,
        }
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
