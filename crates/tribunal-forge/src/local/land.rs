//! Merging, and bringing a branch up to date.

use super::fault::LocalFault;
use super::{Local, Locally, Seen, blocking, now, signature_of};
use crate::git::merge::{MergeError, Merger};
use crate::port::{Answered, Merge, Read as _};
use async_trait::async_trait;
use tribunal_core::ids::Sha;
use tribunal_core::plan::links::closes;
use tribunal_core::pull::desk::act::{Act, Refusal};
use tribunal_core::pull::desk::landing::usual_words;
use tribunal_core::pull::desk::{Branch, Landing};
use tribunal_core::pull::facts::{Account, BaseRules, MergeMethod, MergeOrder, Pull, PullState};
use tribunal_core::pull::pushable::Pushable;
use tribunal_core::pull::talk::NewPull;

/// Two branches that can be joined, as they were seen.
#[derive(Clone)]
struct Pair {
    number: u64,
    author: Account,
    head: Branch,
    base: Branch,
}

impl Local {
    /// Merges, and says which commit the base branch holds since.
    pub async fn land(&self, number: u64, order: &MergeOrder) -> Locally<Sha> {
        let Seen { desk, live } = self.seen(number).await?;
        let pair = pair(number, &Seen { desk: desk.clone(), live }, &order.head)?;
        let mut order = order.clone();
        if order.title.trim().is_empty() {
            let (title, message) = usual_words(&desk, number, order.method);
            (order.title, order.message) = (title.into(), message.into());
        }
        let method = Some(order.method);
        let (local, joining) = (self.clone(), pair.clone());
        let commit = blocking(move || local.joined(&joining, &order)).await?;
        if self.rehearses {
            return Ok(commit);
        }
        let (head, base_before) = (pair.head.sha, pair.base.sha.clone());
        let landing = Landing { commit: commit.clone(), head, base_before, method, by: Some(self.me.clone()), at: now() };
        self.change(number, Act::BeginLanding(landing)).await?;
        self.go(pair.base.clone(), commit.clone(), format!("tribunal: merge #{number}")).await?;
        // From here on the branch itself says that it is merged; this only writes it down.
        self.change_if(number, |_| Ok(None)).await?;
        self.close_linked(&desk.body, &pair.base.name).await;
        Ok(commit)
    }

    /// As on every forge, what is merged into the main branch closes the issues that it says it closes. The merge stands whatever comes
    /// of that, and a number that is no open issue is nothing to close.
    async fn close_linked(&self, body: &str, base: &str) {
        if !self.trunk().await.is_ok_and(|trunk| trunk == base) {
            return;
        }
        for issue in closes(body) {
            if self.issue_of(issue).await.is_ok_and(|issue| issue.open) {
                let _ = self.set_issue(issue, false).await;
            }
        }
    }

    /// Merges the base into the head; says whether there was anything to merge.
    pub async fn refresh(&self, number: u64, head: &Sha) -> Locally<bool> {
        let seen = self.seen(number).await?;
        let pair = pair(number, &seen, head)?;
        let (local, joining) = (self.clone(), pair.clone());
        let commit = blocking(move || {
            let (head, base) = (&joining.head.sha, &joining.base.sha);
            if local.repository.is_ancestor(base, head) {
                return Ok(None);
            }
            let message = format!("Merge branch '{}' into {}\n", joining.base.name, joining.head.name);
            let commit = local.merger()?.merge(head, base, &message.into()).map_err(|problem| unmergeable(number, problem))?;
            local.fits(&joining.head, &commit, base)?;
            Ok(Some(commit))
        })
        .await?;
        let Some(commit) = commit else { return Ok(false) };
        if !self.rehearses {
            self.go(pair.head, commit, format!("tribunal: update #{number} from {}", pair.base.name)).await?;
            self.change_if(number, |_| Ok(None)).await?;
        }
        Ok(true)
    }

    fn merger(&self) -> Locally<Merger<'_>> {
        let by = self.signature();
        Ok(if self.rehearses { Merger::trial(&self.repository, by)? } else { Merger::new(&self.repository, by) })
    }

    /// The commit that joins the two, made and not yet on any branch.
    fn joined(&self, pair: &Pair, order: &MergeOrder) -> Locally<Sha> {
        let (head, base) = (&pair.head.sha, &pair.base.sha);
        let words = match order.message.trim() {
            "" => format!("{}\n", order.title.trim()),
            message => format!("{}\n\n{message}\n", order.title.trim()),
        };
        let merger = self.merger()?;
        let joined = match order.method {
            MergeMethod::Merge => merger.merge(base, head, &words.into()),
            MergeMethod::Squash => merger.squash(base, head, &signature_of(&pair.author), &words.into()),
            MergeMethod::Rebase => merger.rebase(base, head),
        };
        let commit = joined.map_err(|problem| unmergeable(pair.number, problem))?;
        if &commit == base {
            return Err(nothing_new(pair));
        }
        // Asked before anything is written down: a merge that cannot be is not even begun.
        self.fits(&pair.base, &commit, head)?;
        Ok(commit)
    }

    /// Could the branch move where it is checked out? A trial's commit is in no place where git finds it; then the files of the
    /// commit that comes in stand for it.
    fn fits(&self, branch: &Branch, commit: &Sha, incoming: &Sha) -> Locally<()> {
        let new = if self.rehearses { incoming } else { commit };
        self.repository.checked_out(&branch.name, &branch.sha, new)?;
        Ok(())
    }

    async fn go(&self, branch: Branch, commit: Sha, why: String) -> Locally<()> {
        let (repository, by) = (self.repository.clone(), self.signature());
        blocking(move || Ok(repository.move_branch(&branch.name, &branch.sha, &commit, &by, &why)?)).await
    }
}

/// The branches, if they may be joined: open, at the head that was looked at, both there, and something new in the head.
fn pair(number: u64, seen: &Seen, head: &Sha) -> Locally<Pair> {
    let refused = |refusal| LocalFault::Refused { number, refusal };
    let pull = seen.desk.pull().map_err(refused)?;
    match pull.state() {
        PullState::Open if pull.draft => return Err(refused(Refusal::Draft)),
        PullState::Open => {}
        state @ (PullState::Closed | PullState::Merged) => return Err(refused(Refusal::NotOpen(state))),
    }
    let tip = |branch: &Branch, tip: &Option<Sha>| -> Locally<Branch> {
        let gone = || LocalFault::Gone { number, branch: branch.name.clone(), last: branch.sha.clone() };
        Ok(Branch { name: branch.name.clone(), sha: tip.clone().ok_or_else(gone)? })
    };
    let author = seen.desk.author.clone();
    let pair = Pair { number, author, head: tip(&pull.head, &seen.live.head)?, base: tip(&pull.base, &seen.live.base)? };
    if &pair.head.sha != head {
        return Err(refused(Refusal::HeadMoved { expected: head.clone(), found: pair.head.sha }));
    }
    if seen.live.is_empty {
        return Err(nothing_new(&pair));
    }
    Ok(pair)
}

fn nothing_new(pair: &Pair) -> LocalFault {
    LocalFault::NothingNew { head: pair.head.name.clone(), base: pair.base.name.clone() }
}

fn unmergeable(number: u64, problem: MergeError) -> LocalFault {
    match problem {
        MergeError::Git(error) => LocalFault::Git(error),
        other => LocalFault::Unmergeable { number, problem: other },
    }
}

#[async_trait]
impl Merge for Local {
    async fn open(&self, pull: &NewPull) -> Answered<Pull> {
        Ok(self.open_pull(pull).await?)
    }

    async fn merge(&self, number: u64, order: &MergeOrder) -> Answered<()> {
        self.land(number, order).await?;
        Ok(())
    }

    async fn update_branch(&self, branch: &Pushable) -> Answered<()> {
        self.refresh(branch.number(), branch.head()).await?;
        Ok(())
    }

    /// Nobody protects a branch from whoever can write the folder that it is in.
    async fn base_rules(&self, _: &str) -> Answered<BaseRules> {
        Ok(BaseRules::none())
    }

    async fn close(&self, number: u64) -> Answered<()> {
        self.close_pull(number).await?;
        Ok(())
    }
}
