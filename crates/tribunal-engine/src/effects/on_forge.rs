//! What stands on a pull request before its change is looked at: the last review's summary, and what people have told us since.

use super::{Known, Last};
use crate::EngineError;
use std::collections::BTreeMap;
use std::sync::Arc;
use tribunal_core::combine::dismissal::{Dismissal, Dismissed};
use tribunal_core::ids::Sha;
use tribunal_core::procedure::review::pull::{PullRead, PullRun};
use tribunal_core::publish::marker::{Mark, MarkerKey, Seal};
use tribunal_core::publish::memory::Memory;
use tribunal_core::publish::reconcile::stickies;
use tribunal_core::publish::status::status;
use tribunal_core::publish::threads::own;
use tribunal_core::pull::command::{Command, commands};
use tribunal_core::pull::facts::{Account, Permission};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::{Comment, Thread};
use tribunal_forge::port::Forge;

/// A forge, and the key that our marks are sealed with there.
#[derive(Clone)]
pub struct OnForge {
    pub forge: Arc<dyn Forge>,
    pub key: MarkerKey,
    /// Only say what would be written.
    pub dry: Option<Arc<dyn Fn(Vec<tribunal_core::publish::reconcile::Write>) + Send + Sync>>,
}

impl OnForge {
    /// Adds what the pull request says to what the ledger knows.
    pub async fn look(&self, pull: &PullRun, head: &Sha, mut known: Known) -> Result<Known, EngineError> {
        let (number, case_id) = (pull.subject.place.number, pull.subject.place.case_id());
        let (me, comments, checks) =
            tokio::try_join!(self.forge.identity(), self.forge.comments(number), self.forge.checks(head))?;
        let sticky = stickies(&comments, &me, &case_id, &self.key).pop();
        let memory = sticky.as_ref().and_then(|(comment, read)| match &read.mark {
            Mark::Sticky { memory: Some(hash), .. } if read.seal == Seal::Good => Memory::unpack(&comment.body, hash),
            _ => None,
        });
        // Threads cost more to read than anything else, and say nothing new while nobody has spoken.
        let is_quiet = sticky.as_ref().is_some_and(|(comment, _)| is_quiet_since(&pull.updated_at, comment));
        let threads = if memory.is_some() && is_quiet { Vec::new() } else { self.forge.threads(number).await? };
        for thread in own(&threads, &me, &case_id, &self.key).iter().filter(|thread| thread.seal == Seal::Good) {
            known.names.insert(thread.key.clone(), thread.id);
        }
        match memory {
            Some(memory) => {
                known.names.extend(memory.names.clone());
                let waved = memory.document.findings.iter().filter_map(|finding| Some((finding.id, finding.dismissed.clone()?)));
                known.dismissals.extend(waved.map(|(id, dismissed)| Dismissal { id, dismissed }));
                known.last = Some(self.last(memory, known.last));
            }
            // What the ledger knows was never shown, or is shown no more.
            None => known.last = known.last.map(|last| Last { proved: false, ..last }),
        }
        known.dismissals.extend(self.dismissals(pull, &me, &comments, &threads).await?);
        let status_stands = known.last.as_ref().is_some_and(|last| {
            let wanted = status(&last.document);
            checks.iter().any(|check| {
                check.name == wanted.context && check.state == wanted.state && check.description == wanted.description
            })
        });
        known.pull = Some(PullRead { status_stands });
        Ok(known)
    }

    /// The pull request wins; the ledger has the same review in full, if it is the same one.
    fn last(&self, memory: Memory, in_ledger: Option<Last>) -> Last {
        let same = in_ledger.filter(|last| last.document.receipt.run == memory.document.receipt.run);
        let document = match same {
            Some(last) => last.document,
            None => memory.document,
        };
        Last { document, iteration: memory.iteration, history: memory.history, proved: true }
    }

    /// Words of people with write access. Their rights are looked up once each, and only when they gave a command.
    async fn dismissals(
        &self,
        pull: &PullRun,
        me: &Account,
        comments: &[Comment],
        threads: &[Thread],
    ) -> Result<Vec<Dismissal>, ForgeFault> {
        let said = comments.iter().map(|comment| (&comment.author, &comment.body));
        let replied = threads.iter().flat_map(|thread| &thread.comments).map(|comment| (&comment.author, &comment.body));
        let mut rights: BTreeMap<String, Permission> = BTreeMap::new();
        // Whoever can write to a repository of their own machine decides alone.
        let is_local = pull.subject.place.kind == ForgeKind::Local;
        let mut found = Vec::new();
        for (author, body) in said.chain(replied).filter(|(author, _)| !author.is(me)) {
            for command in commands(body) {
                let Command::Dismiss { id, reason } = command else { continue };
                if !rights.contains_key(&author.id) {
                    let right = match self.forge.permission(author).await {
                        // Whose rights cannot be known has none: a stranger's word must not be able to stop a review either.
                        Err(ForgeFault::Forbidden { .. } | ForgeFault::NotFound { .. }) => Permission::None,
                        other => other?,
                    };
                    rights.insert(author.id.clone(), right);
                }
                if rights.get(&author.id).is_some_and(|right| right.may_write()) {
                    let dismissed =
                        Dismissed { by: author.login.clone(), reason, accepted: is_local || !author.is(&pull.author) };
                    found.push(Dismissal { id, dismissed });
                }
            }
        }
        Ok(found)
    }
}

/// Has nothing been said since the sticky was written? Times of one forge are compared as it writes them; in doubt, somebody spoke.
fn is_quiet_since(updated_at: &str, sticky: &Comment) -> bool {
    let comparable = updated_at.len() == sticky.updated_at.len() && !updated_at.is_empty();
    comparable && updated_at <= sticky.updated_at.as_str()
}
