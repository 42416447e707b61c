//! Saying what was done: places for deferred work first, then replies, then the summary of the round. Everything is looked for before
//! it is written, so that doing it again says nothing twice.

use super::Remedies;
use crate::say_once::Post;
use crate::{EngineError, Progress};
use std::collections::BTreeMap;
use tribunal_core::feedback::item::Surface;
use tribunal_core::feedback::reviewer::Summons;
use tribunal_core::policy::loops::Rerequest;
use tribunal_core::procedure::remediate::{AnswerOutcome, Answering, Input, Pass, Reply, State};
use tribunal_core::publish::marker::{Mark, read, seal};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{Comment, NewIssue};
use tribunal_core::remedy::answer::{defer_issue, round_summary};
use tribunal_core::remedy::assess::Decision;
use tribunal_core::remedy::report::comment::comment;
use tribunal_core::remedy::report::files;

const NO_ISSUES: &str = "no issue can be made here; [fix] defer = \"record\" enters deferred work into a file";

impl Remedies {
    /// Deferred work gets its place before anybody is told about it (WL-85, RL-42).
    pub(super) async fn home(&self, state: &State) -> Result<Input, EngineError> {
        let pass = Self::pass(state)?;
        let mut homes = BTreeMap::new();
        let can = self.on.forge.capabilities().await?.can(Capability::Issues);
        let pull_url = state.memory.pull.as_ref().map_or("", |pull| pull.url.as_str());
        for item in pass.leaders() {
            let Some(assessment) = pass.assessment(&item.id).filter(|assessment| assessment.decision == Decision::Defer) else {
                continue;
            };
            let issue = defer_issue(item, state.request.place.number, pull_url, &assessment.rationale, &assessment.notes);
            let home =
                if can { self.issue_for(&issue).await.map_err(|fault| fault.to_string()) } else { Err(NO_ISSUES.to_owned()) };
            homes.insert(item.id.clone(), home);
        }
        Ok(Input::Homed(homes))
    }

    async fn issue_for(&self, wanted: &NewIssue) -> Result<String, ForgeFault> {
        // It may have been made by a process that died before it could say so.
        let seen = self.on.forge.find_issues(&wanted.title).await?;
        self.on.say_once(Post::Issue { issue: wanted, seen: &seen }).await
    }

    pub(super) async fn answer(&self, state: &State) -> Result<Input, EngineError> {
        let pass = Self::pass(state)?;
        (self.listener)(Progress::Publishing { to: state.request.place.to_string() });
        let number = state.request.place.number;
        let replies = state.replies(pass);
        let (threads, comments, me) =
            tokio::try_join!(self.on.forge.threads(number), self.on.forge.comments(number), self.on.forge.identity())?;
        let mut answering = Answering::default();
        for reply in &replies {
            let outcome = match &reply.item.surface {
                Surface::Thread { id } => match threads.iter().find(|thread| &thread.id == id) {
                    Some(thread) => self.reply(state, reply, thread, &me).await?,
                    None => AnswerOutcome::Failed("its thread is gone".into()),
                },
                // Answered by the summary, or by the commit itself.
                Surface::Comment { .. } | Surface::Review { .. } | Surface::Check { .. } => {
                    AnswerOutcome::Said { resolved: false }
                }
            };
            answering.outcomes.insert(reply.item.id.clone(), outcome);
        }
        self.prove_and_resolve(state, &replies, &me, &mut answering).await?;
        let summoned = state.summoned(pass, &answering.outcomes);
        if state.needs_summary(&replies, &summoned) {
            answering.summary = Some(self.summarise(state, pass, &replies, &summoned, &comments).await?);
        }
        Ok(Input::Answered(answering))
    }

    /// One comment for the round: what has no thread is marked as answered by it.
    async fn summarise(
        &self,
        state: &State,
        pass: &Pass,
        replies: &[Reply],
        summoned: &[Summons],
        comments: &[Comment],
    ) -> Result<Result<String, String>, EngineError> {
        let (number, case_id) = (state.request.place.number, state.request.place.case_id());
        let me = self.on.forge.identity().await?;
        let said = comments.iter().filter(|comment| comment.author.is(&me)).find(|comment| {
            read(&comment.body, &case_id, &self.on.key).is_some_and(|found| match found.mark {
                Mark::Round { run, cycle, .. } => run == state.request.run && cycle == pass.number,
                _ => false,
            })
        });
        if let Some(said) = said {
            return Ok(Ok(said.url.clone()));
        }
        let items = replies.iter().map(|reply| format!("{}@{}", reply.item.id, reply.item.last_word)).collect();
        let mark = Mark::Round { run: state.request.run.clone(), cycle: pass.number, items };
        let words = round_summary(&state.ended(pass, replies), summoned);
        let body = Outgoing::sealed(&words, seal(&mark, &case_id, &self.on.key));
        match self.on.say_once(Post::Comment { number, body: &body, seen: comments }).await {
            Ok(url) => Ok(Ok(url)),
            // Whether it was said is seen when the effect is run again.
            Err(fault) if fault.is_uncertain() || fault.may_pass() => Err(fault.into()),
            Err(fault) => Ok(Err(fault.to_string())),
        }
    }

    pub(super) async fn ask_again(&self, state: &State) -> Result<Input, EngineError> {
        let pass = Self::pass(state)?;
        self.write_state(state, files::Phase::InProgress, "RE_REVIEW_REQUESTED");
        if state.request.loops.rerequest != Rerequest::Reviewer {
            // The summary of the round has asked.
            return Ok(Input::AskedAgain(Ok(())));
        }
        let me = self.on.forge.identity().await?;
        let others = state.awaited(pass).into_iter().filter(|item| !item.author.is(&me));
        let logins: Vec<String> = others.map(|item| item.author.login.clone()).collect();
        let asked = self.on.forge.request_review(state.request.place.number, &logins).await;
        Ok(Input::AskedAgain(asked.map_err(|fault| fault.to_string())))
    }

    pub(super) async fn post(&self, state: &State) -> Result<Input, EngineError> {
        let Some(report) = state.report() else { return Err(EngineError::Worker("there is no report".into())) };
        let (number, case_id) = (state.request.place.number, state.request.place.case_id());
        let mark = Mark::Round { run: state.request.run.clone(), cycle: u32::MAX, items: Vec::new() };
        let posted = async {
            let seen = self.on.forge.comments(number).await?;
            let body = Outgoing::sealed(&comment(report), seal(&mark, &case_id, &self.on.key));
            self.on.say_once(Post::Comment { number, body: &body, seen: &seen }).await
        };
        let posted: Result<String, ForgeFault> = posted.await;
        Ok(Input::Posted(posted.map_err(|fault| fault.to_string())))
    }
}
