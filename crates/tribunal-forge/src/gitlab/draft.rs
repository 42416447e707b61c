//! A review, published at once: drafts that nobody sees, then one call that shows them all and tells people once.
//!
//! That call publishes every draft of the account on the request, so there must be none before: what an earlier attempt left behind
//! is told by its marks and removed by whoever knows them. A draft that could not be made takes the others with it: half a review is
//! none.

use super::wire::{Approvals, DiffOfVersion, DiffVersion, DraftNote, FileDiff, Note};
use super::{GitLab, lines, named, not_about_the_token, summary};
use crate::port::Answered;
use reqwest::Method;
use serde_json::{Value, json};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, Submitted};

const APPROVING: &str = "the right to approve this merge request";

impl GitLab {
    /// Our own: GitLab shows those of nobody else.
    pub(super) async fn drafts(&self, number: u64) -> Answered<Vec<DraftNote>> {
        self.list(&self.of_request(number, "/draft_notes"), "our drafts").await
    }

    /// Takes back what this attempt has made, and nothing else: under the same account a person may be writing.
    async fn take_back(&self, number: u64, before: &[DraftNote]) {
        let Ok(drafts) = self.drafts(number).await else { return };
        for draft in drafts.iter().filter(|draft| before.iter().all(|known| known.id != draft.id)) {
            let _ = self.delete(&self.of_request(number, &format!("/draft_notes/{}", draft.id)), "a draft").await;
        }
    }

    pub(super) async fn publish(&self, number: u64, review: &NewReview) -> Answered<Submitted> {
        let version = self.version_of(number, review).await?;
        if review.event == ReviewEvent::Approve {
            self.may_approve(number).await?;
        }
        let before = self.drafts(number).await?;
        if !before.is_empty() {
            let message = format!("{} unpublished drafts of this account would be published along", before.len());
            return Err(ForgeFault::Conflict { host: self.host(), message });
        }
        if let Err(fault) = self.prepare(number, review, &version).await {
            self.take_back(number, &before).await;
            return Err(fault);
        }
        let has_words = !review.comments.is_empty() || !review.body.is_empty();
        if has_words {
            let path = self.of_request(number, "/draft_notes/bulk_publish");
            self.http.write(Method::POST, &path, None, "the review").await?;
        }
        // The words first: an approval that stands without them carries no seal, and reads like one that a person gave.
        if review.event == ReviewEvent::Approve {
            match self.approve(number, review).await {
                // The words are out: whoever posts looks before anything is sent again.
                Err(fault) if has_words => {
                    return Err(ForgeFault::Uncertain { host: self.host(), message: fault.to_string() });
                }
                approved => approved?,
            }
        }
        // From here on the review is out: what cannot be read any more must not look like a failure.
        Ok(self.published(number, review).await)
    }

    /// The diff that was reviewed. It need not be the newest: GitLab carries a comment on to where its line is now.
    async fn version_of(&self, number: u64, review: &NewReview) -> Answered<DiffVersion> {
        let request = self.prepared(number).await?;
        let versions: Vec<DiffVersion> = self.list(&self.of_request(number, "/versions"), "the diff's versions").await?;
        if versions.is_empty() {
            let message = format!("{} is still being prepared", named(request.iid));
            return Err(ForgeFault::Failing { host: self.host(), status: 503, message });
        }
        let moved = || {
            let message = format!("{} is at no commit {}", named(number), review.commit.short());
            ForgeFault::Conflict { host: self.host(), message }
        };
        // Nobody approves what is no longer the head. GitLab refuses it too, but only when the words are out.
        if review.event == ReviewEvent::Approve && request.sha.as_ref() != Some(&review.commit) {
            return Err(moved());
        }
        versions.into_iter().find(|version| version.head_commit_sha == review.commit).ok_or_else(moved)
    }

    async fn prepare(&self, number: u64, review: &NewReview, version: &DiffVersion) -> Answered<()> {
        if !review.comments.is_empty() {
            let path = self.of_request(number, &format!("/versions/{}", version.id));
            let files = self.http.get::<DiffOfVersion>(&path, "the reviewed diff").await?.diffs;
            for comment in &review.comments {
                self.draft_comment(number, version, &files, comment).await?;
            }
        }
        if !review.body.is_empty() {
            let note = summary::mark(&review.body, review.event, &review.commit);
            self.draft(number, &note, None).await?;
        }
        Ok(())
    }

    /// On its lines, or on its file when GitLab does not find them in its diff.
    async fn draft_comment(&self, number: u64, version: &DiffVersion, files: &[FileDiff], comment: &NewComment) -> Answered<()> {
        let on_lines = lines::on_lines(version, files, comment);
        match self.draft(number, &comment.body, Some(&on_lines)).await {
            Ok(draft) if draft.position.as_ref().is_some_and(|position| position.path().is_some()) => return Ok(()),
            // Taken, but it would stand nowhere.
            Ok(draft) => self.delete(&self.of_request(number, &format!("/draft_notes/{}", draft.id)), "a draft").await?,
            Err(ForgeFault::Refused { status: 400 | 422, .. }) => {}
            Err(fault) => return Err(fault),
        }
        let on_file = lines::on_file(version, files, comment);
        self.draft(number, &comment.body, Some(&on_file)).await.map(drop)
    }

    async fn draft(&self, number: u64, note: &str, position: Option<&Value>) -> Answered<DraftNote> {
        let mut body = json!({ "note": note });
        if let Some(position) = position {
            body["position"] = position.clone();
        }
        let answer = self.post(&self.of_request(number, "/draft_notes"), &body, "a draft").await?;
        self.written(&answer, "a draft")
    }

    /// Asked before anything is written, because the approval comes after the words.
    async fn may_approve(&self, number: u64) -> Answered<()> {
        let approvals = self.approvals(number).await?;
        if approvals.user_has_approved || approvals.user_can_approve != Some(false) {
            return Ok(());
        }
        let message = format!("this account may not approve {}", named(number));
        Err(ForgeFault::Forbidden { host: self.host(), needs: Some(APPROVING.to_owned()), message })
    }

    async fn approve(&self, number: u64, review: &NewReview) -> Answered<()> {
        let body = json!({ "sha": review.commit });
        match self.post(&self.of_request(number, "/approve"), &body, "the approval").await {
            Ok(_) => Ok(()),
            // Also said to whom has approved already.
            Err(fault @ ForgeFault::Unauthorized { .. }) => match self.approvals(number).await {
                Ok(approvals) if approvals.user_has_approved => Ok(()),
                Ok(_) | Err(_) => Err(not_about_the_token(fault, APPROVING)),
            },
            Err(fault) => Err(fault),
        }
    }

    pub(super) async fn approvals(&self, number: u64) -> Answered<Approvals> {
        self.http.get(&self.of_request(number, "/approvals"), "the approvals").await
    }

    async fn published(&self, number: u64, review: &NewReview) -> Submitted {
        let summary = if review.body.is_empty() { None } else { self.newest_summary(number, review).await };
        if let Some(note) = summary {
            return Submitted { review: note.to_string(), url: self.note_url(number, note), refused: Vec::new() };
        }
        let review = match (review.event, self.who_am_i().await) {
            (ReviewEvent::Approve, Ok(me)) => format!("approval-{}", me.id),
            (_, _) => format!("published-{}", review.commit),
        };
        Submitted { review, url: self.request_url(number), refused: Vec::new() }
    }

    async fn newest_summary(&self, number: u64, review: &NewReview) -> Option<u64> {
        let me = self.who_am_i().await.ok()?;
        let path = self.of_request(number, "/notes?sort=desc&order_by=created_at&per_page=100");
        let notes: Vec<Note> = self.http.get(&path, "the notes").await.ok()?;
        let ours = notes.iter().filter(|note| note.author.id.to_string() == me.id);
        let matching = ours.filter(|note| {
            summary::read(&note.body).is_some_and(|(body, _, commit)| review.body == body && commit == review.commit)
        });
        matching.map(|note| note.id).max()
    }
}
