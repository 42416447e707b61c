//! Posting: look, ask the core what is missing, write it, and look again after every doubt. What to write, in which order, and when to
//! stop is [`reconcile`]'s to say.

use super::on_forge::OnForge;
use super::{Effects, blocking};
use crate::{EngineError, Progress};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tribunal_core::ids::{FindingId, Sha};
use tribunal_core::procedure::review::{Input, Phase, Publishing, State};
use tribunal_core::publish::anchor::Shown;
use tribunal_core::publish::reconcile::{Desired, Next, Observed, Stop, Write, assume_posted, reconcile};
use tribunal_core::publish::refused::{Then, after_fault};
use tribunal_core::publish::status::not_run;
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::ReviewState;
use tribunal_core::report::publication::{Publication, PublicationEnd};

/// After so many looks something is wrong that looking does not mend.
const MAX_LOOKS: u32 = 6;

/// One attempt to publish, and what it has learned.
struct Posting<'a> {
    on: &'a OnForge,
    number: u64,
    publication: Publication,
    unplaced: BTreeSet<FindingId>,
    /// Without it the rest was still posted.
    status_fault: Option<ForgeFault>,
}

impl Effects {
    pub(super) async fn publish(self: Arc<Self>, state: Arc<State>, case_id: &str) -> Result<Input, EngineError> {
        let Phase::Publishing(publishing) = &state.phase else { return Err(missing("nothing to publish")) };
        let (on, pull) = self.on_pull(&state)?;
        (self.listener)(Progress::Publishing { to: pull.subject.place.to_string() });
        let (worker, shared) = (Arc::clone(&self), Arc::clone(&state));
        let shown = blocking(move || Ok::<_, EngineError>(Shown::of(&worker.change(&shared, None)?.change))).await??;
        let mut posting = Posting {
            on,
            number: pull.subject.place.number,
            publication: Publication::default(),
            unplaced: BTreeSet::new(),
            status_fault: None,
        };
        let looking = posting.observe(&publishing.document.head);
        let (capabilities, me, observed) = tokio::try_join!(on.forge.capabilities(), on.forge.identity(), looking)?;
        let desired = Said { publishing, case_id, capabilities: &capabilities, me: &me, shown: &shown, state: &state };
        posting.run(&desired, observed).await?;
        match posting.status_fault {
            Some(fault) => Err(fault.into()),
            None => Ok(Input::Published(Box::new(posting.publication))),
        }
    }

    /// Nothing was reviewed; only the status says so.
    pub(super) async fn decline(self: Arc<Self>, state: Arc<State>) -> Result<Input, EngineError> {
        let Phase::Declining { reason, .. } = &state.phase else { return Err(missing("nothing to decline")) };
        let (on, pull) = self.on_pull(&state)?;
        let status = not_run(reason);
        let mut publication = Publication { status: Some(status.state), ..Publication::default() };
        let capabilities = on.forge.capabilities().await?;
        if capabilities.can(Capability::CommitStatus) && state.request.policy.publish.status && !on.dry {
            let head = state.request.target.head();
            // A push meanwhile makes the reason untrue.
            if on.forge.pull(pull.subject.place.number).await?.head.sha == head {
                publication.writes = 1;
                if let Err(fault) = on.forge.set_status(&head, &status).await {
                    publication.end = PublicationEnd::Failed { reason: fault.to_string(), may_pass: fault.may_pass() };
                }
            }
        }
        Ok(Input::Published(Box::new(publication)))
    }

    fn on_pull<'a>(
        &'a self,
        state: &'a State,
    ) -> Result<(&'a OnForge, &'a tribunal_core::procedure::review::pull::PullRun), EngineError> {
        let on = self.on.as_ref().ok_or_else(|| missing("the run is of a pull request, but no forge was given"))?;
        Ok((on, state.request.pull.as_ref().ok_or_else(|| missing("the run is of no pull request"))?))
    }
}

fn missing(what: &str) -> EngineError {
    EngineError::Worker(what.to_owned())
}

/// What is to be said, without what was learned while saying it.
struct Said<'a> {
    publishing: &'a Publishing,
    case_id: &'a str,
    capabilities: &'a Capabilities,
    me: &'a Account,
    shown: &'a Shown,
    state: &'a State,
}

impl Posting<'_> {
    async fn run(&mut self, said: &Said<'_>, mut observed: Observed) -> Result<(), EngineError> {
        let mut doubt = None;
        for look in 1..=MAX_LOOKS {
            let next = match self.next(said, &observed) {
                Ok(next) => next,
                Err(stop) => {
                    self.publication.end = ended(stop);
                    return Ok(());
                }
            };
            if self.on.dry {
                self.publication.planned = self.all(said, &mut observed, next);
                return Ok(());
            }
            doubt = self.write_all(next.writes).await?;
            if doubt.is_none() && !next.look_again {
                self.publication.unplaced = self.unplaced.iter().copied().collect();
                return Ok(());
            }
            if doubt.is_some() {
                tokio::time::sleep(Duration::from_millis(250 << look)).await;
            }
            observed = self.observe(&said.publishing.document.head).await?;
        }
        Err(doubt.map_or_else(|| missing("publishing did not come to an end"), EngineError::from))
    }

    fn next(&self, said: &Said<'_>, observed: &Observed) -> Result<Next, Stop> {
        let desired = Desired {
            document: &said.publishing.document,
            names: &said.publishing.names,
            case_id: said.case_id,
            capabilities: said.capabilities,
            me: said.me,
            key: &self.on.key,
            shown: said.shown,
            policy: said.state.request.policy.publish,
            unplaced: &self.unplaced,
        };
        reconcile(&desired, observed)
    }

    /// Everything that would be written, for a dry run.
    fn all(&self, said: &Said<'_>, observed: &mut Observed, next: Next) -> Vec<Write> {
        let mut writes = next.writes;
        if next.look_again {
            for write in &writes {
                if let Write::Review { review, .. } = write {
                    assume_posted(observed, review, said.me);
                }
            }
            writes.extend(self.next(said, observed).map(|rest| rest.writes).unwrap_or_default());
        }
        writes
    }

    async fn observe(&self, head: &Sha) -> Result<Observed, ForgeFault> {
        let (forge, number) = (&self.on.forge, self.number);
        let (pull, comments, (reviews, threads), checks) =
            tokio::try_join!(forge.pull(number), forge.comments(number), forge.reviews_and_threads(number), forge.checks(head))?;
        let me = forge.identity().await?;
        let mut drafted = BTreeMap::new();
        for review in reviews.iter().filter(|review| review.state == ReviewState::Pending && review.author.is(&me)) {
            drafted.insert(review.id.clone(), forge.drafted(number, &review.id).await?);
        }
        Ok(Observed { pull, comments, reviews, threads, drafted, checks })
    }

    /// Writes one after the other. A doubt ends it: what is really there must be seen first.
    async fn write_all(&mut self, writes: Vec<Write>) -> Result<Option<ForgeFault>, EngineError> {
        for write in writes {
            self.publication.writes += 1;
            let fault = match self.write(&write).await {
                Ok(()) => continue,
                Err(fault) => fault,
            };
            match after_fault(&write, &fault) {
                Then::LookAgain => return Ok(Some(fault)),
                Then::Unplace { findings, shortfall } => {
                    self.unplaced.extend(findings);
                    self.shortfall(shortfall);
                    return Ok(Some(fault));
                }
                Then::GoOn { shortfall } => self.shortfall(shortfall),
                Then::GoOnAndFail { shortfall } => {
                    self.shortfall(shortfall);
                    self.status_fault = Some(fault);
                }
                Then::Stop => return Err(fault.into()),
            }
        }
        Ok(None)
    }

    fn shortfall(&mut self, words: String) {
        if !self.publication.shortfalls.contains(&words) {
            self.publication.shortfalls.push(words);
        }
    }

    async fn write(&mut self, write: &Write) -> Result<(), ForgeFault> {
        let (forge, number) = (&self.on.forge, self.number);
        match write {
            Write::DeletePending { review } => forge.delete_pending(number, review).await,
            Write::DeleteInline { comment } => forge.delete_inline(number, comment).await,
            Write::Review { review, findings } => {
                let submitted = forge.submit(number, review).await?;
                self.publication.inline += (findings.len() - submitted.refused.len().min(findings.len())) as u32;
                self.unplaced.extend(submitted.refused.iter().filter_map(|at| findings.get(*at)).copied());
                Ok(())
            }
            Write::Answer { thread, body } => {
                forge.reply(number, thread, body).await?;
                self.publication.answered += 1;
                Ok(())
            }
            Write::Resolve { thread } => {
                forge.resolve(number, thread).await?;
                self.publication.resolved += 1;
                Ok(())
            }
            Write::Unresolve { thread } => forge.unresolve(number, thread).await,
            Write::Status { sha, status } => {
                forge.set_status(sha, status).await?;
                self.publication.status = Some(status.state);
                Ok(())
            }
            Write::CheckRun { sha, run } => {
                forge.check_run(sha, run).await?;
                self.publication.status = Some(run.state);
                Ok(())
            }
            Write::CreateSticky { body } => {
                self.publication.sticky_url = Some(forge.comment(number, body).await?.url);
                Ok(())
            }
            Write::EditSticky { id, body } => forge.edit_comment(number, id, body).await,
            Write::DeleteSticky { id } => forge.delete_comment(number, id).await,
        }
    }
}

fn ended(stop: Stop) -> PublicationEnd {
    match stop {
        Stop::HeadMoved { to } => PublicationEnd::HeadMoved { to },
        Stop::Closed => PublicationEnd::Closed,
        Stop::ForeignDraft => PublicationEnd::ForeignDraft,
    }
}
