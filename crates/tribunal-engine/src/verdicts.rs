//! One formal review for one sitting, said once (TS-61, TS-86): looked for before it is sent and after every doubt, bound to the head
//! that was read. What it says, and as what, is the core's to decide.

use crate::EngineError;
use crate::effects::on_forge::OnForge;
use std::collections::BTreeMap;
use std::time::Duration;
use tribunal_core::ids::RunId;
use tribunal_core::publish::resend::{Resend, Unseen};
use tribunal_core::publish::verdict::post::{
    Desired, Next, Observed, Refrain, Then, after_fault, contradicts, earlier_double, next, taken,
};
use tribunal_core::publish::verdict::{Sitting, Standing};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Place;
use tribunal_core::pull::talk::{NewReview, ReviewState};
use tribunal_core::report::document::Document;

pub struct VerdictOrder<'a> {
    pub place: &'a Place,
    /// The review that the verdict is of; its head is what was read.
    pub document: &'a Document,
    pub sitting: &'a Sitting,
    pub run: &'a RunId,
    /// Whole lines for the end of the body: whom it concerns, and what is asked of them.
    pub closing: &'a [String],
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gave {
    /// It stands; the first one of this sitting, whoever of us said it.
    Stands(Standing),
    /// A dry run: this would be sent.
    Would(NewReview),
    /// Nothing was said, and why.
    Refrained(Refrain),
}

pub async fn give(on: &OnForge, order: &VerdictOrder<'_>) -> Result<Gave, EngineError> {
    let number = order.place.number;
    let (capabilities, me) = tokio::try_join!(on.forge.capabilities(), on.forge.identity())?;
    let case_id = order.place.case_id();
    let mut desired = Desired {
        document: order.document,
        sitting: order.sitting,
        run: order.run,
        closing: order.closing,
        case_id: &case_id,
        me: &me,
        capabilities: &capabilities,
        key: &on.key,
        only_comment: false,
    };
    let (mut doubt, mut resend) = (None, Resend::default());
    loop {
        let observed = observe(on, number).await?;
        let (remove, review) = match next(&desired, &observed) {
            Err(refrain) => return Ok(Gave::Refrained(refrain)),
            Ok(Next::Stands(standing)) => return Ok(Gave::Stands(standing)),
            Ok(Next::Post { review, .. }) if on.dry => return Ok(Gave::Would(review)),
            Ok(Next::Post { remove, review }) => (remove, review),
        };
        match resend.unseen(contradicts(&desired, &observed)) {
            Unseen::Send => {}
            Unseen::Pause(millis) => {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                continue;
            }
            Unseen::GiveUp => break,
        }
        for draft in remove {
            on.forge.delete_pending(number, &draft).await?;
        }
        match on.forge.submit(number, &review).await {
            Ok(submitted) => {
                let ours = taken(&desired, &review.commit, review.event, submitted.review, submitted.url);
                // Two of us may have been at it: everybody goes by the first. What is not shown yet is there all the same.
                let observed = observe(on, number).await.ok();
                let double = observed.as_ref().and_then(|observed| earlier_double(&desired, observed, &ours.review));
                if let Some(first) = double.filter(|_| capabilities.can_delete_reviews()) {
                    // If it cannot be removed, the same is said twice; what counts is the first.
                    let _ = on.forge.delete_review(number, &ours.review).await;
                    return Ok(Gave::Stands(first));
                }
                let shown = observed.and_then(|observed| next(&desired, &observed).ok());
                return Ok(Gave::Stands(match shown {
                    Some(Next::Stands(first)) => first,
                    Some(Next::Post { .. }) | None => ours,
                }));
            }
            Err(fault) => {
                match after_fault(review.event, &fault) {
                    Then::Stop => return Err(fault.into()),
                    Then::OnlyComment => desired.only_comment = true,
                    Then::LookAgain => resend.is_unsure(),
                }
                doubt = Some(fault);
            }
        }
    }
    Err(doubt.map_or_else(|| EngineError::Worker("a verdict did not come to an end".into()), EngineError::from))
}

async fn observe(on: &OnForge, number: u64) -> Result<Observed, ForgeFault> {
    let (pull, reviews, me) = tokio::try_join!(on.forge.pull(number), on.forge.reviews(number), on.forge.identity())?;
    let mut drafted = BTreeMap::new();
    for review in reviews.iter().filter(|review| review.state == ReviewState::Pending && review.author.is(&me)) {
        drafted.insert(review.id.clone(), on.forge.drafted(number, &review.id).await?);
    }
    Ok(Observed { pull, reviews, drafted })
}
