//! Posting: look, ask the core what is next, do it, and report what became of it. What to write, in which order, who may, and when to
//! stop is [`Attempt`]'s to say.

use super::on_forge::OnForge;
use super::{Effects, blocking};
use crate::say_once::Post;
use crate::{EngineError, Progress};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tribunal_core::ids::{FindingId, Sha};
use tribunal_core::procedure::review::{Input, Phase, Publishing, State};
use tribunal_core::publish::anchor::Shown;
use tribunal_core::publish::attempt::{Attempt, Ending, Turn, Written};
use tribunal_core::publish::reconcile::{Desired, Observed, Stop, Write, assume_written};
use tribunal_core::publish::refused::{Then, after_fault};
use tribunal_core::publish::status::not_run;
use tribunal_core::pull::capability::{Capabilities, Capability};
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::ReviewState;
use tribunal_core::report::publication::{Publication, PublicationEnd};

/// One attempt to publish, and what it has learned.
struct Posting<'a> {
    on: &'a OnForge,
    number: u64,
    publication: Publication,
    attempt: Attempt,
    unplaced: BTreeSet<FindingId>,
    /// What could not be known, or was refused, last.
    doubt: Option<ForgeFault>,
    /// Without it the rest was still posted.
    status_fault: Option<ForgeFault>,
}

/// A write that was taken.
#[derive(Default)]
struct Taken {
    /// Of a comment that was created.
    id: Option<String>,
    /// Findings that the forge would not put on their line.
    refused: Vec<FindingId>,
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
            attempt: Attempt::new(crate::nonce()),
            unplaced: BTreeSet::new(),
            doubt: None,
            status_fault: None,
        };
        let looking = posting.observe(&publishing.document.head);
        let (capabilities, me, observed) = tokio::try_join!(on.forge.capabilities(), on.forge.identity(), looking)?;
        let desired = Said { publishing, case_id, capabilities: &capabilities, me: &me, shown: &shown, state: &state };
        let ended = posting.run(&desired, observed).await;
        posting.give_back(ended.as_ref().ok()).await;
        let end = match ended? {
            Ending::Published => PublicationEnd::Published,
            Ending::Stopped(Stop::HeadMoved { to }) => PublicationEnd::HeadMoved { to },
            Ending::Stopped(Stop::Closed) => PublicationEnd::Closed,
            Ending::Stopped(Stop::ForeignDraft) => PublicationEnd::ForeignDraft,
            Ending::Overtaken { run } => PublicationEnd::Overtaken { run },
            Ending::Standing(memory) => return Ok(Input::Superseded { document: Box::new(memory.document) }),
            // The run stays as it is: the same command finds the other's result, or posts its own.
            Ending::Busy { run } => return Err(EngineError::PostedElsewhere { run: run.to_string() }),
            Ending::Hidden => return Err(posting.hidden(&on.forge.project().origin)),
        };
        match posting.status_fault {
            Some(fault) => Err(fault.into()),
            None => Ok(Input::Published(Box::new(Publication { end, ..posting.publication }))),
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
    async fn run(&mut self, said: &Said<'_>, mut observed: Observed) -> Result<Ending, EngineError> {
        loop {
            match self.next(said, &observed) {
                Turn::End(ending) => return Ok(self.ended(ending)),
                Turn::Pause(_) if self.on.dry => continue,
                Turn::Pause(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                Turn::Write { writes, last } if self.on.dry => {
                    self.assume(said, &mut observed, writes);
                    match last {
                        true => return Ok(self.ended(Ending::Published)),
                        false => continue,
                    }
                }
                Turn::Write { writes, last } => {
                    let is_sure = self.write_all(writes).await?;
                    if is_sure && last {
                        return Ok(self.ended(Ending::Published));
                    }
                    if !is_sure {
                        tokio::time::sleep(Duration::from_millis(500)).await;
                    }
                }
            }
            observed = self.observe(&said.publishing.document.head).await?;
        }
    }

    fn ended(&mut self, ending: Ending) -> Ending {
        self.publication.unplaced = self.unplaced.iter().copied().collect();
        ending
    }

    fn next(&mut self, said: &Said<'_>, observed: &Observed) -> Turn {
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
            built_on: said.publishing.built_on.as_ref(),
            is_restated: said.publishing.is_restated,
        };
        self.attempt.next(&desired, observed, crate::now())
    }

    /// Everything that would be written, for a dry run.
    fn assume(&mut self, said: &Said<'_>, observed: &mut Observed, writes: Vec<Write>) {
        for write in &writes {
            let id = assume_written(observed, write, said.me);
            self.attempt.wrote(write, &Written::Done { id: id.as_deref(), refused: &[] });
        }
        self.publication.planned.extend(writes);
    }

    /// Whoever stops early is in nobody's way. What cannot be removed now lapses by itself.
    async fn give_back(&mut self, ending: Option<&Ending>) {
        if let Some(id) = self.attempt.open_claim(ending).filter(|_| !self.on.dry) {
            let _ = self.on.forge.delete_comment(self.number, id).await;
        }
    }

    fn hidden(self, origin: &str) -> EngineError {
        let message = "it does not show what was posted; nothing is posted again".to_owned();
        self.doubt.unwrap_or_else(|| ForgeFault::Hollow { host: origin.to_owned(), message }).into()
    }

    /// The comments first: whoever is the first to claim there sees, in all that is read afterwards, what those before it posted.
    async fn observe(&self, head: &Sha) -> Result<Observed, ForgeFault> {
        let (forge, number) = (&self.on.forge, self.number);
        let comments = forge.comments(number).await?;
        let (pull, (reviews, threads), checks) =
            tokio::try_join!(forge.pull(number), forge.reviews_and_threads(number), forge.checks(head))?;
        let me = forge.identity().await?;
        let mut drafted = BTreeMap::new();
        for review in reviews.iter().filter(|review| review.state == ReviewState::Pending && review.author.is(&me)) {
            drafted.insert(review.id.clone(), forge.drafted(number, &review.id).await?);
        }
        Ok(Observed { pull, comments, reviews, threads, drafted, checks })
    }

    /// Writes one after the other. A doubt ends it: what is really there must be seen first.
    async fn write_all(&mut self, writes: Vec<Write>) -> Result<bool, EngineError> {
        for write in writes {
            self.publication.writes += 1;
            let fault = match self.write(&write).await {
                Ok(Taken { id, refused }) => {
                    self.attempt.wrote(&write, &Written::Done { id: id.as_deref(), refused: &refused });
                    continue;
                }
                Err(fault) => fault,
            };
            let then = after_fault(&write, &fault);
            let written = if then == Then::LookAgain { Written::Unsure } else { Written::Failed };
            self.attempt.wrote(&write, &written);
            match then {
                Then::LookAgain => {
                    self.doubt = Some(fault);
                    return Ok(false);
                }
                Then::Unplace { findings, shortfall } => {
                    self.unplaced.extend(findings);
                    self.shortfall(shortfall);
                    self.doubt = Some(fault);
                    return Ok(false);
                }
                Then::Gone => {}
                Then::GoOn { shortfall } => self.shortfall(shortfall),
                Then::GoOnAndFail { shortfall } => {
                    self.shortfall(shortfall);
                    self.status_fault = Some(fault);
                }
                Then::Stop => return Err(fault.into()),
            }
        }
        Ok(true)
    }

    fn shortfall(&mut self, words: String) {
        if !self.publication.shortfalls.contains(&words) {
            self.publication.shortfalls.push(words);
        }
    }

    async fn write(&mut self, write: &Write) -> Result<Taken, ForgeFault> {
        let (forge, number) = (&self.on.forge, self.number);
        match write {
            Write::DeletePending { review } => forge.delete_pending(number, review).await?,
            Write::DeleteInline { comment } => forge.delete_inline(number, comment).await?,
            Write::DeleteReview { review } => forge.delete_review(number, review).await?,
            Write::Claim { body } => {
                let claim = forge.comment(number, body).await?;
                self.publication.sticky_url = Some(claim.url);
                return Ok(Taken { id: Some(claim.id), ..Taken::default() });
            }
            Write::Withdraw { id } => forge.delete_comment(number, id).await?,
            Write::Review { review, findings } => {
                let submitted = forge.submit(number, review).await?;
                let refused: Vec<FindingId> = submitted.refused.iter().filter_map(|at| findings.get(*at)).copied().collect();
                self.publication.inline += (findings.len() - refused.len()) as u32;
                self.unplaced.extend(refused.iter().copied());
                return Ok(Taken { refused, ..Taken::default() });
            }
            Write::Answer { thread, body } => {
                self.on.say_once(Post::Reply { number, thread, body }).await?;
                self.publication.answered += 1;
            }
            Write::Resolve { thread } => {
                forge.resolve(number, thread).await?;
                self.publication.resolved += 1;
            }
            Write::Unresolve { thread } => forge.unresolve(number, thread).await?,
            Write::Status { sha, status } => {
                forge.set_status(sha, status).await?;
                self.publication.status = Some(status.state);
            }
            Write::CheckRun { sha, run } => {
                forge.check_run(sha, run).await?;
                self.publication.status = Some(run.state);
            }
            Write::EditSticky { id, body } => forge.edit_comment(number, id, body).await?,
            Write::DeleteSticky { id } => forge.delete_comment(number, id).await?,
        }
        Ok(Taken::default())
    }
}
