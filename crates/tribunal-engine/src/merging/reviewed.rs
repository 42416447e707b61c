//! Our last review of a pull request: what its sealed summary says, or the ledger.

use super::Merging;
use crate::EngineError;
use crate::remediate::look::Heard;
use tribunal_core::merge::facts::Reviewed;
use tribunal_core::merge::reviewed_place::ReviewedPlace;
use tribunal_core::publish::reconcile::remembered;
use tribunal_core::publish::threads::own;
use tribunal_core::pull::told::Told;
use tribunal_core::report::document::Document;
use tribunal_core::report::publication::PublicationEnd;

impl Merging {
    /// A summary whose seal does not open proves nothing. Of several reviews those of the head and its base count, and of them the last.
    pub(super) async fn review(&self, heard: &Heard) -> Result<Told<Option<Reviewed>>, EngineError> {
        let case_id = &heard.case_id;
        let row = self.ledger.last_document(case_id).await?;
        let in_ledger = row.as_ref().map(|row| serde_json::from_str::<Document>(&row.body)).transpose();
        let Ok(in_ledger) = in_ledger else {
            return Ok(Told::Unknown("the ledger's record of the last review cannot be read".into()));
        };
        // One that was made and could not be posted was never anybody's review.
        let was_posted = |document: &Document| {
            document.publication.as_ref().is_none_or(|publication| publication.end == PublicationEnd::Published)
        };
        let in_ledger = in_ledger.filter(was_posted);
        let threads = own(&heard.threads, &heard.me, case_id, &self.on.key);
        let on_pull = remembered(&heard.comments, &threads, &heard.me, case_id, &self.on.key);
        let now = ReviewedPlace::new(&heard.pull.head.sha, Some(&heard.pull.base.branch));
        let is_of_now = |document: &Document| {
            let receipt = &document.receipt;
            ReviewedPlace::new(&receipt.head, receipt.base_branch.as_ref()).is_same(now)
        };
        let all = on_pull.map(|memory| memory.document).into_iter().chain(in_ledger);
        let last = all.max_by_key(|document| (is_of_now(document), document.receipt.finished_at));
        Ok(Told::Is(last.as_ref().map(Reviewed::of)))
    }
}
