//! What stands on a pull request before its change is looked at: the last review's summary, and what people have told us since.

use crate::EngineError;
use crate::say_once::Posted;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tribunal_core::combine::dismissal::{objection, spoken_of, weigh, words};
use tribunal_core::feedback::right::Permissions;
use tribunal_core::ids::Sha;
use tribunal_core::merge::facts::{HeadMaker, Part};
use tribunal_core::policy::identity::Bots;
use tribunal_core::procedure::review::known::{Known, ShownReviews};
use tribunal_core::procedure::review::pull::{PullRead, PullRun};
use tribunal_core::publish::marker::MarkerKey;
use tribunal_core::publish::reconcile::remembered;
use tribunal_core::publish::status::{is_contradicted, stands, status};
use tribunal_core::publish::sticky::was_sticky;
use tribunal_core::publish::threads::own;
use tribunal_core::pull::facts::{Account, Permission, Pull};
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::told::Told;
use tribunal_forge::port::Forge;

/// A forge, and the key that our marks are sealed with there.
#[derive(Clone)]
pub struct OnForge {
    pub forge: Arc<dyn Forge>,
    pub key: MarkerKey,
    /// Only say what would be written.
    pub dry: bool,
    /// Permissions that this run has looked up.
    pub looked_up: LookedUp,
    /// What this run has posted.
    pub posted: Posted,
}

/// What was looked up of accounts in a run, by account id.
#[derive(Clone, Default)]
pub struct LookedUp(Arc<Mutex<BTreeMap<String, Told<Permission>>>>);

impl OnForge {
    /// Adds what the pull request says to what the ledger knows.
    pub async fn look(&self, pull: &PullRun, head: &Sha, bots: &Bots, known: Known) -> Result<Known, EngineError> {
        let (number, case_id) = (pull.subject.place.number, pull.subject.place.case_id());
        let (me, comments, checks) =
            tokio::try_join!(self.forge.identity(), self.forge.comments(number), self.forge.checks(head))?;
        let threads = self.forge.threads(number).await?;
        let has_summary = comments.iter().any(|comment| comment.author.is(&me) && was_sticky(&comment.body));
        let own_threads = own(&threads, &me, &case_id, &self.key);
        let memory = remembered(&comments, &own_threads, &me, &case_id, &self.key)
            .filter(|memory| memory.document.head != *head || !is_contradicted(&memory.document, &checks));
        let mut known = known.with_pull(ShownReviews { memory, threads: &own_threads, has_summary });
        let mut objections = Vec::new();
        let mut rights: BTreeMap<String, Permission> = BTreeMap::new();
        for word in words(&comments, &threads, &me, bots) {
            let right = match rights.get(&word.author.id) {
                Some(right) => *right,
                None => self.right_of(word.author).await?,
            };
            rights.insert(word.author.id.clone(), right);
            known.spoken_of = known.spoken_of.max(spoken_of(&word, right));
            known.dismissals.extend(weigh(&word, right, &pull.author, pull.subject.place.kind, &known.names));
            objections.extend(objection(&word, right));
        }
        let status_stands = known.last.as_ref().is_some_and(|last| stands(&status(&last.document), &checks));
        known.pull = Some(PullRead { status_stands, objections });
        Ok(known)
    }

    /// What these accounts may do, each asked once in a run. What the forge does not tell is unknown, with the reason; a forge that does
    /// not answer now is a fault, because it may later.
    pub async fn permissions(&self, accounts: &[&Account]) -> Result<Permissions, ForgeFault> {
        let mut permissions = Permissions::default();
        for account in accounts {
            permissions.put(account, self.permission(account).await?);
        }
        Ok(permissions)
    }

    pub async fn permission(&self, account: &Account) -> Result<Told<Permission>, ForgeFault> {
        let known = self.looked_up.0.lock().unwrap_or_else(PoisonError::into_inner).get(&account.id).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let told = self.permission_now(account).await?;
        self.looked_up.0.lock().unwrap_or_else(PoisonError::into_inner).insert(account.id.clone(), told.clone());
        Ok(told)
    }

    /// The same, asked anew: what a merge rests on is not taken from a cache.
    pub async fn permission_now(&self, account: &Account) -> Result<Told<Permission>, ForgeFault> {
        match self.forge.permission(account).await {
            Ok(permission) => Ok(Told::Is(permission)),
            Err(ForgeFault::NotFound { .. }) => Ok(Told::Is(Permission::None)),
            Err(fault) if fault.may_pass() => Err(fault),
            Err(fault) => Ok(Told::Unknown(fault.to_string())),
        }
    }

    /// Who has made the head, and whether they may write, asked anew. Our own account writes by definition.
    pub async fn head_makers(&self, pull: &Pull) -> Result<Vec<HeadMaker>, ForgeFault> {
        let me = self.forge.identity().await?;
        let mut makers = Vec::new();
        let pushers = match self.forge.pushers(pull).await {
            Ok(pushers) => pushers,
            Err(fault) if fault.may_pass() => return Err(fault),
            Err(fault) => {
                makers.push(HeadMaker::unknown_pusher(&fault.to_string()));
                Vec::new()
            }
        };
        let mut known = vec![pull.author.id.clone()];
        let author = std::iter::once((&pull.author, Part::Author));
        for (account, part) in author.chain(pushers.iter().map(|account| (account, Part::Pusher))) {
            if part == Part::Pusher {
                if known.contains(&account.id) {
                    continue;
                }
                known.push(account.id.clone());
            }
            let may_write = match account.is(&me) {
                true => Told::Is(true),
                false => self.permission_now(account).await?.map(Permission::may_write),
            };
            makers.push(HeadMaker { login: account.login.clone(), part, may_write });
        }
        makers.extend(HeadMaker::fork_owner(pull, self.forge.capabilities().await?.kind.tells_pushers()));
        Ok(makers)
    }

    /// Whose rights cannot be known has none: what a stranger writes must not be able to stop a review either.
    pub async fn right_of(&self, account: &Account) -> Result<Permission, ForgeFault> {
        Ok(self.permission_now(account).await?.known().unwrap_or(Permission::None))
    }
}
