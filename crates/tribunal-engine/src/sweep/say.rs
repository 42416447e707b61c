//! What a sweep says on a pull request: that it cannot be read for its markers, its verdict, what remains. Each is looked for before
//! it is said, and said once.

use super::Sweeps;
use crate::EngineError;
use crate::say_once::Post;
use crate::verdicts::{Gave, VerdictOrder, give};
use std::time::Duration;
use tribunal_core::combine::verdict::Verdict;
use tribunal_core::ids::{RunId, Sha};
use tribunal_core::merge::facts::Marker;
use tribunal_core::merge::reviewed_place::ReviewedPlace;
use tribunal_core::procedure::sweep::effect::{Concluded, Remaining};
use tribunal_core::procedure::sweep::words::{markers, remains};
use tribunal_core::procedure::sweep::{Request, Ticket, Trouble};
use tribunal_core::publish::marker::{self, Mark, seal};
use tribunal_core::publish::needs_person::{Shown, Signer, kept_red, needs_person, says_needs_person};
use tribunal_core::publish::outgoing::{Outgoing, filtered};
use tribunal_core::publish::resend::{Resend, Unseen};
use tribunal_core::publish::status::{CONTEXT, plain_check_run, status};
use tribunal_core::publish::verdict::post::{Then, after_fault};
use tribunal_core::publish::verdict::{Sitting, Standing, event, standing};
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::chronological::Chronological;
use tribunal_core::pull::facts::{Account, CheckState, Pull, PullState};
use tribunal_core::pull::place::Place;
use tribunal_core::pull::talk::{Comment, NewReview, NewStatus, ReviewEvent, ReviewState};
use tribunal_core::report::document::Document;

impl Sweeps {
    /// SL-36. Once for a head, whichever run says it.
    pub(super) async fn reject(
        &self,
        request: &Request,
        number: u64,
        head: &Sha,
        found: &[Marker],
    ) -> Result<Result<(), Trouble>, EngineError> {
        let mark = Mark::Markers { head: head.clone() };
        let case_id = self.place(request, number).case_id();
        let (capabilities, me) = tokio::try_join!(self.on.forge.capabilities(), self.on.forge.identity())?;
        let mut can_ask = capabilities.can(Capability::Approve);
        let mut resend = Resend::default();
        loop {
            let (pull, reviews) = tokio::try_join!(self.on.forge.pull(number), self.on.forge.reviews(number))?;
            let said = reviews.iter().filter(|review| review.author.is(&me) && review.state != ReviewState::Pending);
            if said.map(|review| &review.body).any(|body| self.carries(body, &case_id, &mark)) {
                return Ok(Ok(()));
            }
            if let Err(trouble) = still_open_at(&pull, head) {
                return Ok(Err(trouble));
            }
            match resend.unseen(false) {
                Unseen::Send => {}
                Unseen::Pause(millis) => {
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                    continue;
                }
                Unseen::GiveUp => break,
            }
            let review = NewReview {
                commit: head.clone(),
                event: event(Verdict::Blocked, pull.author.is(&me), can_ask),
                body: Outgoing::sealed(&markers(found), seal(&mark, &case_id, &self.on.key)),
                comments: Vec::new(),
            };
            let Err(fault) = self.on.forge.submit(number, &review).await else { return Ok(Ok(())) };
            match after_fault(review.event, &fault) {
                Then::Stop => return Err(fault.into()),
                Then::OnlyComment => can_ask = false,
                Then::LookAgain => resend.is_unsure(),
            }
        }
        Ok(Err(Trouble::Forge("a review did not come to stand".to_owned())))
    }

    /// CF-2: as the strongest event that is open to us, bound to the head that was read.
    pub(super) async fn conclude(
        &self,
        request: &Request,
        ticket: Ticket,
        number: u64,
        review: &RunId,
        verdict: Verdict,
    ) -> Result<Result<Concluded, Trouble>, EngineError> {
        let Some(row) = self.ledger.document(review.as_str()).await? else {
            return Ok(Err(Trouble::Incomplete(format!("the review {review} is not in the ledger"))));
        };
        let document: Document = serde_json::from_str(&row.body)
            .map_err(|error| EngineError::Damaged { run: review.to_string(), problem: error.to_string() })?;
        let document = Document { verdict: Some(verdict), ..document };
        let place = self.place(request, number);
        if let Some(said) = self.last_word(&place, &document).await? {
            self.lift_red_status(&place, &document).await?;
            return Ok(Ok(said));
        }
        let sitting = Sitting::Sweep { run: request.run.clone(), ticket: ticket.0 };
        let order = VerdictOrder { place: &place, document: &document, sitting: &sitting, run: review, closing: &[] };
        Ok(match give(&self.on, &order).await? {
            Gave::Stands(standing) => {
                self.lift_red_status(&place, &document).await?;
                Ok(concluded(standing))
            }
            Gave::Refrained(refrain) => Err(Trouble::of(&refrain.into())),
            Gave::Would(_) => Err(Trouble::Incomplete("a dry run says nothing".to_owned())),
        })
    }

    /// What an earlier sweep left to a person at this head no longer keeps its status red.
    async fn lift_red_status(&self, place: &Place, document: &Document) -> Result<(), EngineError> {
        let forge = &self.on.forge;
        let checks = forge.checks(&document.head).await?;
        if !checks.iter().any(says_needs_person) {
            return Ok(());
        }
        let (comments, reviews, threads, me) = tokio::try_join!(
            forge.comments(place.number),
            forge.reviews(place.number),
            forge.threads(place.number),
            forge.identity()
        )?;
        let shown = Shown { comments: &comments, reviews: &reviews, threads: &threads, checks: &checks };
        let case_id = place.case_id();
        let signer = Signer { me: &me, case_id: &case_id, key: &self.on.key };
        match kept_red(document, &shown, &signer) {
            Some(_) => Ok(()),
            None => self.set_own_status(&document.head, &status(document)).await,
        }
    }

    /// In the form in which reviews set it on this forge.
    async fn set_own_status(&self, head: &Sha, status: &NewStatus) -> Result<(), EngineError> {
        if self.on.forge.capabilities().await?.can(Capability::Annotations) {
            self.on.forge.check_run(head, &plain_check_run(status)).await?;
        } else {
            self.on.forge.set_status(head, status).await?;
        }
        Ok(())
    }

    /// The last word of any sweep about this head and base, if it is the same one: whoever sweeps again says nothing new.
    async fn last_word(&self, place: &Place, document: &Document) -> Result<Option<Concluded>, EngineError> {
        let (reviews, me) = tokio::try_join!(self.on.forge.reviews(place.number), self.on.forge.identity())?;
        let said = standing(&Chronological::of(&reviews), &me, &place.case_id(), &self.on.key);
        let last = said.into_iter().next_back().filter(|last| matches!(last.sitting, Sitting::Sweep { .. }));
        let place = ReviewedPlace::new(&document.head, document.receipt.base_branch.as_ref());
        let same = last.filter(|last| last.place().is_same(place) && last.verdict == document.verdict);
        Ok(same.filter(|last| last.state != ReviewState::Dismissed).map(concluded))
    }

    /// SL-67. One comment for a run and a head, and a status that is not green.
    pub(super) async fn remains(
        &self,
        request: &Request,
        number: u64,
        head: &Sha,
        items: &[Remaining],
    ) -> Result<Result<(), Trouble>, EngineError> {
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let mark = Mark::Remains { run: request.run.clone(), head: head.clone(), items: count };
        let case_id = self.place(request, number).case_id();
        let words = filtered(&remains(items));
        let (seen, me) = tokio::try_join!(self.on.forge.comments(number), self.on.forge.identity())?;
        if !self.has_said(&seen, &me, &case_id, &mark, &words) {
            let pull = self.on.forge.pull(number).await?;
            if let Err(trouble) = still_open_at(&pull, head) {
                return Ok(Err(trouble));
            }
            let body = Outgoing::sealed(&words, seal(&mark, &case_id, &self.on.key));
            self.on.say_once(Post::Comment { number, body: &body, seen: &seen }).await?;
        }
        let checks = self.on.forge.checks(head).await?;
        if checks.iter().any(|check| check.name == CONTEXT && check.state == CheckState::Success) {
            self.set_own_status(head, &needs_person(count)).await?;
        }
        Ok(Ok(()))
    }

    /// By this run, or in the same words by another one about the same head.
    fn has_said(&self, seen: &[Comment], me: &Account, case_id: &str, mark: &Mark, words: &str) -> bool {
        let mut ours = seen.iter().filter(|comment| comment.author.is(me)).filter_map(|comment| {
            let found = marker::read(&comment.body, case_id, &self.on.key)?.mark;
            Some((found, comment.body.starts_with(words)))
        });
        ours.any(|(found, same_words)| match (&found, mark) {
            (Mark::Remains { head, .. }, Mark::Remains { head: now, .. }) => found == *mark || (same_words && head == now),
            _ => false,
        })
    }

    /// With a broken seal too: it is said, whoever changed it since.
    fn carries(&self, body: &str, case_id: &str, mark: &Mark) -> bool {
        marker::read(body, case_id, &self.on.key).is_some_and(|found| found.mark == *mark)
    }
}

fn concluded(standing: Standing) -> Concluded {
    let event = match standing.state {
        ReviewState::Approved => ReviewEvent::Approve,
        ReviewState::ChangesRequested => ReviewEvent::RequestChanges,
        ReviewState::Commented | ReviewState::Dismissed | ReviewState::Pending => ReviewEvent::Comment,
    };
    Concluded { event, url: standing.url }
}

fn still_open_at(pull: &Pull, head: &Sha) -> Result<(), Trouble> {
    match pull.state {
        PullState::Open if pull.head.sha == *head => Ok(()),
        PullState::Open => Err(Trouble::HeadMoved),
        state @ (PullState::Closed | PullState::Merged) => Err(Trouble::Incomplete(format!("it is {}", state.word()))),
    }
}
