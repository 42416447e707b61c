//! Our record of feedback that held a merge back: in the ledger, where nobody else gets at it, and in one comment of ours on the pull
//! request, under our seal, which a run on another machine reads too. Whoever spoke can delete their words, and not this. What stands in
//! either of them is on record.

use super::Merging;
use crate::EngineError;
use crate::say_once::Post;
use serde::Serialize;
use tribunal_core::ids::Sha;
use tribunal_core::merge::hold::{Hold, Source, comment, joined};
use tribunal_core::publish::marker::{Mark, ReadMark, Seal, read, seal};
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::facts::Account;
use tribunal_core::pull::talk::Comment;

impl Merging {
    /// What is on record.
    pub(super) async fn recorded(
        &self,
        number: u64,
        head: &Sha,
        comments: &[Comment],
        me: &Account,
    ) -> Result<Vec<Hold>, EngineError> {
        let mut holds = self.commented(number, head, comments, me);
        let case_id = self.place(number).case_id();
        for body in self.ledger.holds(&case_id).await? {
            let hold: Hold = serde_json::from_str(&body)
                .map_err(|error| EngineError::Damaged { run: case_id.clone(), problem: error.to_string() })?;
            if !holds.contains(&hold) {
                holds.push(hold);
            }
        }
        Ok(holds)
    }

    /// What our comment says. One that somebody has edited holds the head that is there, whatever it said.
    fn commented(&self, number: u64, head: &Sha, comments: &[Comment], me: &Account) -> Vec<Hold> {
        let edited = || Hold {
            head: head.clone(),
            source: Source::Edited,
            reason: "our record of what held it back was edited".to_owned(),
        };
        let records = comments.iter().filter_map(|comment| self.record(number, comment, me));
        records
            .flat_map(|read| match read {
                ReadMark { mark: Mark::Holds { holds }, seal: Seal::Good } => holds,
                _ => vec![edited()],
            })
            .collect()
    }

    fn record(&self, number: u64, comment: &Comment, me: &Account) -> Option<ReadMark> {
        let case_id = self.place(number).case_id();
        let found = comment.author.is(me).then(|| read(&comment.body, &case_id, &self.on.key)).flatten()?;
        matches!(found.mark, Mark::Holds { .. }).then_some(found)
    }

    /// Puts these on record. What is there already is not said again.
    pub async fn put_on_record(&self, number: u64, head: &Sha, holds: Vec<Hold>) -> Result<(), EngineError> {
        if self.on.dry || holds.is_empty() {
            return Ok(());
        }
        let case_id = self.place(number).case_id();
        for hold in &holds {
            let (source, body) = (json(&hold.source)?, json(hold)?);
            self.ledger.put_hold(&case_id, hold.head.as_str(), &source, &body).await?;
        }
        let (comments, me) = tokio::try_join!(self.on.forge.comments(number), self.on.forge.identity())?;
        let known = self.commented(number, head, &comments, &me);
        let all = joined(known.clone(), holds, head);
        if all == known {
            return Ok(());
        }
        let words = comment(&all, head);
        let mark = Mark::Holds { holds: all };
        let body = Outgoing::sealed(&words, seal(&mark, &case_id, &self.on.key));
        match comments.iter().find(|comment| self.record(number, comment, &me).is_some()) {
            Some(comment) => self.on.forge.edit_comment(number, &comment.id, &body).await?,
            None => drop(self.on.say_once(Post::Record { number, body: &body, seen: &comments }).await?),
        }
        Ok(())
    }

    /// Our own push moves a head along; it decides nothing that held the head before.
    pub async fn carry_holds(&self, number: u64, from: &Sha, to: &Sha) -> Result<(), EngineError> {
        if from == to {
            return Ok(());
        }
        let (comments, me) = tokio::try_join!(self.on.forge.comments(number), self.on.forge.identity())?;
        let held = self.recorded(number, from, &comments, &me).await?.into_iter().filter(|hold| hold.head == *from);
        self.put_on_record(number, to, held.map(|hold| Hold { head: to.clone(), ..hold }).collect()).await
    }
}

fn json<T: Serialize>(stored: &T) -> Result<String, EngineError> {
    serde_json::to_string(stored).map_err(|error| EngineError::Worker(error.to_string()))
}
