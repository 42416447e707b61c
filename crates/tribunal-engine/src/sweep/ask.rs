//! Asking a person: at the terminal, on the pull request and through the ledger at once. The first answer counts, wherever it comes
//! from; it is written into the ledger, and what stands there is the answer, also for whoever goes on after a kill (SL-139).

use super::{GLANCE, Sweeps};
use crate::say_once::Post;
use crate::{EngineError, now};
use std::time::Duration;
use tokio::time::Instant;
use tribunal_core::calendar::millis_of;
use tribunal_core::gate::words::{GateId, Said, answer_in, comment, prompt, read};
use tribunal_core::gate::{Answer, Answerer, Gate, may_answer};
use tribunal_core::procedure::Millis;
use tribunal_core::procedure::sweep::{Request, Ticket};
use tribunal_core::publish::marker::{Mark, seal};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::publish::visible::visible_line;
use tribunal_core::pull::chronological::Chronological;
use tribunal_core::pull::facts::Permission;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::Comment;
use tribunal_store::GateRow;

impl Sweeps {
    pub(super) async fn ask(&self, request: &Request, case_id: &str, ticket: Ticket, gate: &Gate) -> Result<Answer, EngineError> {
        let id = GateId::new(&request.run, ticket.0);
        self.ledger.put_gate(&row(request, case_id, &id, gate)?).await?;
        let shown = self.show(request, &id, gate).await;
        let answer = tokio::select! {
            answer = self.answered_elsewhere(request, &id, gate, shown) => answer?,
            answer = self.answered_here(&id, gate) => answer,
        };
        self.ledger.answer_gate(id.as_str(), &json(&answer)?).await?;
        // Somebody may have been faster.
        Ok(self.stored(&id).await?.unwrap_or(answer))
    }

    async fn stored(&self, id: &GateId) -> Result<Option<Answer>, EngineError> {
        let answer = self.ledger.gate(id.as_str()).await?.and_then(|row| row.answer);
        answer.map(|text| serde_json::from_str(&text).map_err(|error| damaged(id, &error))).transpose()
    }

    /// Through the ledger, on the pull request, or by the end of the time.
    async fn answered_elsewhere(&self, request: &Request, id: &GateId, gate: &Gate, shown: bool) -> Result<Answer, EngineError> {
        let mut next_look = Instant::now();
        loop {
            // Said before the time was over counts also when it is read later.
            let over = now() >= gate.until || self.is_interrupted();
            if let Some(answer) = self.stored(id).await? {
                return Ok(answer);
            }
            if shown && (over || Instant::now() >= next_look) {
                if let Some(answer) = self.commented(request, id, gate).await {
                    return Ok(answer);
                }
                next_look = Instant::now() + Self::poll(request);
            }
            if over {
                return Ok(gate.unanswered());
            }
            let nap = GLANCE.min(Duration::from_millis(gate.until.saturating_sub(now())).max(Duration::from_millis(1)));
            self.rest(now().saturating_add(u64::try_from(nap.as_millis()).unwrap_or(1).max(1))).await;
        }
    }

    /// Puts the question onto its pull request, once. Where that does not work it is asked elsewhere all the same.
    async fn show(&self, request: &Request, id: &GateId, gate: &Gate) -> bool {
        let Some(number) = gate.number else { return false };
        let case_id = self.place(request, number).case_id();
        let said = async {
            let seen = self.on.forge.comments(number).await?;
            let text = format!("{}\n", comment(gate, id));
            let mark = Mark::Gate { id: id.clone() };
            let body = Outgoing::marked(&[], &text, &[seal(&mark, &case_id, &self.on.key)]);
            self.on.say_once(Post::Comment { number, body: &body, seen: &seen }).await
        };
        let said: Result<String, ForgeFault> = said.await;
        match said {
            Ok(_) => true,
            Err(fault) => {
                self.tell(format!("PR #{number}: the question {id} could not be put there: {fault}"));
                fault.is_uncertain()
            }
        }
    }

    /// An answer on the pull request, by a person who may write to it and is neither us nor its author. A forge that does not answer is
    /// asked again.
    async fn commented(&self, request: &Request, id: &GateId, gate: &Gate) -> Option<Answer> {
        let number = gate.number?;
        let forge = &self.on.forge;
        let (comments, me, pull) = tokio::try_join!(forge.comments(number), forge.identity(), forge.pull(number)).ok()?;
        let eligible = |comment: &&Comment| may_answer(&comment.author, &me, &pull.author, &request.loops.bots);
        for comment in Chronological::of(&comments).iter().filter(eligible) {
            let Some((words, said)) = answer_in(&comment.body, comment.edited, id, gate) else { continue };
            let at = millis_of(&comment.updated_at).unwrap_or_else(now);
            let right = self.on.permission_now(&comment.author).await.ok()?;
            let may = right.known().is_some_and(Permission::may_write);
            if may && at <= gate.until {
                return Some(answer(said, Answerer::Person(comment.author.login.clone()), at, words));
            }
        }
        None
    }

    /// At the terminal; never, where nobody sits there.
    async fn answered_here(&self, id: &GateId, gate: &Gate) -> Answer {
        let Some(asker) = &self.asker else { return std::future::pending().await };
        let mut line = prompt(gate, id);
        loop {
            let Some(words) = asker(line).await else { return std::future::pending().await };
            match read(gate, &words) {
                Ok(said) => return answer(said, Answerer::Person(self.person.clone()), now(), words),
                Err(problem) => line = format!("{} ", visible_line(&problem)),
            }
        }
    }
}

pub(crate) fn answer(said: Said, by: Answerer, at: Millis, words: String) -> Answer {
    Answer { choice: said.choice, by, at, words, raise: said.raise }
}

fn row(request: &Request, case_id: &str, id: &GateId, gate: &Gate) -> Result<GateRow, EngineError> {
    let signed = |at: Millis| i64::try_from(at).unwrap_or(i64::MAX);
    Ok(GateRow {
        id: id.to_string(),
        run: request.run.to_string(),
        case_id: case_id.to_owned(),
        asked_at: signed(now()),
        until: signed(gate.until),
        question: serde_json::to_string(gate).map_err(|error| damaged(id, &error))?,
        answer: None,
    })
}

fn json(answer: &Answer) -> Result<String, EngineError> {
    serde_json::to_string(answer).map_err(|error| EngineError::Worker(error.to_string()))
}

fn damaged(id: &GateId, error: &serde_json::Error) -> EngineError {
    EngineError::Damaged { run: id.to_string(), problem: error.to_string() }
}
