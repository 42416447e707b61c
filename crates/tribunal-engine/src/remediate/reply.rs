//! Replies in threads: each is said once, proved, and only then is its thread closed.

use super::Remedies;
use crate::EngineError;
use crate::say_once::Post;
use std::collections::BTreeMap;
use std::time::Duration;
use tribunal_core::feedback::item::Surface;
use tribunal_core::procedure::remediate::{AnswerOutcome, Answering, Input, Phase, Proof, Reply, State, is_overtaken};
use tribunal_core::publish::marker::{Mark, read, seal};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{Thread, ThreadComment};

impl Remedies {
    /// Says it, unless it is said.
    pub(super) async fn reply(
        &self,
        state: &State,
        reply: &Reply,
        thread: &Thread,
        me: &Account,
    ) -> Result<AnswerOutcome, EngineError> {
        let (number, case_id) = (state.request.place.number, state.request.place.case_id());
        let said = AnswerOutcome::Said { resolved: thread.resolved };
        if reply.proof(thread, |comment| self.mark(comment, me, &case_id)) != Proof::Missing {
            return Ok(said);
        }
        let mark = Mark::Reply {
            item: reply.item.id.0.clone(),
            last_word: reply.item.last_word.clone(),
            says: reply.says,
            head: reply.head.clone(),
            run: state.request.run.clone(),
        };
        let body = Outgoing::sealed(&reply.words, seal(&mark, &case_id, &self.on.key));
        match self.on.say_once(Post::Reply { number, thread, body: &body }).await {
            Ok(_) => Ok(said),
            // Whether it was said is seen when the effect is run again.
            Err(fault) if fault.is_uncertain() || fault.may_pass() => Err(fault.into()),
            Err(fault) => Ok(AnswerOutcome::Failed(fault.to_string())),
        }
    }

    /// Looks at the threads once more when all is said: each answer must stand in its own (PR-117), and nobody may have spoken since
    /// in one that is to be closed (WL-83).
    pub(super) async fn prove_and_resolve(
        &self,
        state: &State,
        replies: &[Reply],
        me: &Account,
        answering: &mut Answering,
    ) -> Result<(), EngineError> {
        let (number, case_id) = (state.request.place.number, state.request.place.case_id());
        let said = |reply: &&Reply| matches!(reply.item.surface, Surface::Thread { .. });
        let said: Vec<&Reply> = replies.iter().filter(said).collect();
        let proofs = self.proofs(number, &said, |comment| self.mark(comment, me, &case_id)).await?;
        for (reply, (proof, thread)) in said.into_iter().zip(proofs) {
            let Some(outcome) = answering.outcomes.get_mut(&reply.item.id) else { continue };
            match (&outcome, proof, thread) {
                (AnswerOutcome::Said { .. }, Proof::Missing, _) => {
                    *outcome = AnswerOutcome::Failed("the forge took the reply, and it is not in the thread".into());
                }
                (AnswerOutcome::Said { .. }, Proof::Stands, Some(thread)) if reply.resolve && !thread.resolved => {
                    *outcome = match self.resolve(number, &thread).await {
                        Ok(()) => AnswerOutcome::Said { resolved: true },
                        Err(fault) => AnswerOutcome::NotResolved(fault.to_string()),
                    };
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What the threads show. A forge may take a moment to show what it took.
    async fn proofs(
        &self,
        number: u64,
        replies: &[&Reply],
        mark: impl Fn(&ThreadComment) -> Option<Mark>,
    ) -> Result<Vec<(Proof, Option<Thread>)>, EngineError> {
        if replies.is_empty() {
            return Ok(Vec::new());
        }
        let mut pauses = [100, 400, 1_500].into_iter();
        loop {
            let threads = self.on.forge.threads(number).await?;
            let shown = |reply: &&Reply| {
                let is_its = |thread: &&Thread| reply.item.surface == Surface::Thread { id: thread.id.clone() };
                let thread = threads.iter().find(is_its).cloned();
                (thread.as_ref().map_or(Proof::Missing, |thread| reply.proof(thread, &mark)), thread)
            };
            let proofs: Vec<(Proof, Option<Thread>)> = replies.iter().map(shown).collect();
            let all_there = proofs.iter().all(|(proof, _)| *proof != Proof::Missing);
            match pauses.next().filter(|_| !all_there) {
                Some(pause) => tokio::time::sleep(Duration::from_millis(pause)).await,
                None => return Ok(proofs),
            }
        }
    }

    /// The mark of a comment of ours.
    fn mark(&self, comment: &ThreadComment, me: &Account, case_id: &str) -> Option<Mark> {
        comment.author.is(me).then(|| read(&comment.body, case_id, &self.on.key)).flatten().map(|found| found.mark)
    }

    /// Closes what was answered before and left open (RL-45). What somebody spoke in since stays open.
    pub(super) async fn close(&self, state: &State) -> Result<Input, EngineError> {
        let Phase::Closing(items, _) = &state.phase else { return Err(EngineError::Worker("nothing is to be closed".into())) };
        let (number, case_id) = (state.request.place.number, state.request.place.case_id());
        let (threads, me) = tokio::try_join!(self.on.forge.threads(number), self.on.forge.identity())?;
        let is_ours = |comment: &ThreadComment| self.mark(comment, &me, &case_id).is_some();
        let mut outcomes = BTreeMap::new();
        for item in items {
            let Surface::Thread { id } = &item.surface else { continue };
            let open = threads.iter().find(|thread| &thread.id == id && !thread.resolved);
            let Some(thread) = open.filter(|thread| !is_overtaken(item, thread, is_ours)) else { continue };
            let closed = self.resolve(number, thread).await.map_err(|fault| fault.to_string());
            outcomes.insert(item.id.clone(), closed);
        }
        Ok(Input::Closed(outcomes))
    }

    /// Resolving twice does no harm, so it is tried again; what then fails is told and ends nothing (WL-82).
    async fn resolve(&self, number: u64, thread: &Thread) -> Result<(), ForgeFault> {
        for pause in [200, 1_000] {
            match self.on.forge.resolve(number, thread).await {
                Err(fault) if fault.may_pass() || fault.is_uncertain() => {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                }
                other => return other,
            }
        }
        self.on.forge.resolve(number, thread).await
    }
}
