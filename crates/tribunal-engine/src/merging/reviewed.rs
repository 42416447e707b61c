//! Our last review of a pull request: what its sealed summary says, or the ledger.

use super::Merging;
use crate::EngineError;
use crate::remediate::look::Heard;
use tribunal_core::merge::facts::Reviewed;
use tribunal_core::publish::marker::{Mark, Seal};
use tribunal_core::publish::memory::Memory;
use tribunal_core::publish::reconcile::stickies;
use tribunal_core::pull::told::Told;
use tribunal_core::report::document::Document;

impl Merging {
    /// A summary whose seal does not open proves nothing. Of several reviews those of the head count, and of them the last.
    pub(super) async fn review(&self, heard: &Heard) -> Result<Told<Option<Reviewed>>, EngineError> {
        let case_id = &heard.case_id;
        let row = self.ledger.last_document(case_id).await?;
        let in_ledger = row.as_ref().map(|row| serde_json::from_str::<Document>(&row.body)).transpose();
        let Ok(in_ledger) = in_ledger else {
            return Ok(Told::Unknown("the ledger's record of the last review cannot be read".into()));
        };
        let sticky = stickies(&heard.comments, &heard.me, case_id, &self.on.key).pop();
        let on_pull = sticky.as_ref().and_then(|(comment, read)| match &read.mark {
            Mark::Sticky { memory: Some(hash), .. } if read.seal == Seal::Good => Memory::unpack(&comment.body, hash),
            _ => None,
        });
        let head = &heard.pull.head.sha;
        let all = on_pull.map(|memory| memory.document).into_iter().chain(in_ledger);
        let last = all.max_by_key(|document| (document.receipt.head == *head, document.receipt.finished_at));
        Ok(Told::Is(last.as_ref().map(Reviewed::of)))
    }
}
