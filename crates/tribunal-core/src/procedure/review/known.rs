//! What is known of a case before its change is read: what the ledger holds, and what the pull request shows. The pull request wins
//! (CF-8), but nothing that is open is lost on the way (PR-11): what only one of the two knows is kept beside the last review.

use super::pull::PullRead;
use crate::combine::dismissal::Dismissal;
use crate::combine::finding::Finding;
use crate::ids::{FindingId, FindingKey};
use crate::plan::mode::Widening;
use crate::publish::marker::Seal;
use crate::publish::memory::Memory;
use crate::publish::threads::OwnThread;
use crate::report::document::Document;
use crate::report::history::{KEPT, PastReview};
use crate::report::publication::PublicationEnd;
use std::collections::BTreeMap;

/// What is known of a case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    pub names: BTreeMap<FindingKey, FindingId>,
    /// The highest name that a dismissal of somebody who may give one speaks of.
    pub spoken_of: u32,
    pub last: Option<KnownReview>,
    /// Open findings that the last review does not know of.
    pub loose: Vec<Finding>,
    /// Why an earlier review cannot be used, where there was one.
    pub lost: Option<Widening>,
    /// Findings that stand on the pull request in comments that cannot be verified here.
    pub unverified: u32,
    pub dismissals: Vec<Dismissal>,
    pub pull: Option<PullRead>,
}

/// A review that is built on.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownReview {
    pub document: Document,
    pub iteration: u32,
    pub history: Vec<PastReview>,
    /// The pull request shows it, or there is no pull request.
    pub proved: bool,
}

/// What a pull request shows of earlier reviews.
pub struct ShownReviews<'a> {
    /// The review of a sealed summary. Of ours it is; that it is the last one is for the threads and the ledger to say.
    pub memory: Option<Memory>,
    pub threads: &'a [OwnThread<'a>],
    /// A summary of ours stands there, whether or not its seal opens.
    pub has_summary: bool,
}

impl Known {
    /// What the ledger holds; its last document as it is stored.
    pub fn of_ledger(
        names: BTreeMap<FindingKey, FindingId>,
        last: Option<&str>,
        iteration: u32,
        dismissals: Vec<Dismissal>,
    ) -> Self {
        let document = last.map(serde_json::from_str::<Document>);
        let lost = matches!(document, Some(Err(_))).then_some(Widening::Unreadable);
        let last = document.and_then(Result::ok).map(|document| KnownReview {
            history: document.history.clone(),
            iteration,
            document,
            proved: true,
        });
        Known { names, last, lost, dismissals, ..Known::default() }
    }

    /// Adds what the pull request shows.
    #[must_use]
    pub fn with_pull(mut self, shown: ShownReviews<'_>) -> Self {
        for thread in shown.threads.iter().filter(|thread| thread.seal == Seal::Good) {
            self.names.insert(thread.key.clone(), thread.id);
        }
        let shown_memory = shown.memory.filter(|memory| !self.came_after(memory));
        match shown_memory {
            Some(memory) => self.with_memory(memory),
            None => {
                // What the ledger knows was never shown, or is shown no more.
                self.last = self.last.map(|last| KnownReview { proved: false, ..last });
                let open = shown.threads.iter().filter(|thread| !thread.is_closed_by_review());
                let (reported, unverified): (Vec<_>, Vec<_>) = open.map(OwnThread::reported).partition(Option::is_some);
                self.loose = reported.into_iter().flatten().collect();
                self.unverified = u32::try_from(unverified.len()).unwrap_or(u32::MAX);
                if shown.has_summary || !shown.threads.is_empty() {
                    self.lost = Some(Widening::Unproved);
                }
                self
            }
        }
    }

    /// Did the review in the ledger come after this one, and was it shown in its place? Then somebody has put this one back.
    fn came_after(&self, memory: &Memory) -> bool {
        let run = &memory.document.receipt.run;
        self.last.as_ref().map(|last| &last.document).is_some_and(|last| {
            let was_posted = last
                .publication
                .as_ref()
                .is_some_and(|publication| publication.end == PublicationEnd::Published && publication.planned.is_empty());
            was_posted && last.receipt.run != *run && last.history.iter().any(|past| past.run == *run)
        })
    }

    fn with_memory(mut self, memory: Memory) -> Self {
        // Two machines that did not know of each other may have given a name twice. The one that people have read counts.
        let shown_names: BTreeMap<FindingId, &FindingKey> = memory.names.iter().map(|(key, id)| (*id, key)).collect();
        self.names.retain(|key, id| memory.names.contains_key(key) || !shown_names.contains_key(id));
        self.names.extend(memory.names.clone());
        let dismissed = memory.document.findings.iter().filter_map(|finding| {
            let dismissed = finding.dismissed.clone()?;
            Some(Dismissal { id: finding.id, dismissed, finding: Some(Box::new(finding.clone())) })
        });
        self.dismissals.extend(dismissed);
        let in_ledger = self.last.take();
        let document = match in_ledger {
            // The ledger has the same review in full.
            Some(last) if last.document.receipt.run == memory.document.receipt.run => last.document,
            Some(last) if !is_built_on(&memory, &last) => {
                self.loose = last.document.findings;
                memory.document
            }
            Some(_) | None => memory.document,
        };
        self.lost = None;
        self.last = Some(KnownReview { document, iteration: memory.iteration, history: memory.history, proved: true });
        self
    }
}

/// Does the review that the pull request shows know of the one in the ledger? A result that was not posted is unknown there, because
/// the head had moved, another run was first, or nothing was to be posted.
fn is_built_on(memory: &Memory, in_ledger: &KnownReview) -> bool {
    let run = &in_ledger.document.receipt.run;
    let is_older = memory
        .history
        .first()
        .is_some_and(|oldest| memory.history.len() >= KEPT && in_ledger.document.iteration < oldest.iteration);
    is_older || memory.history.iter().any(|past| past.run == *run)
}
