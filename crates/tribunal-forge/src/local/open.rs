//! Opening, closing, opening again.

use super::book::{Kind, Wrote};
use super::fault::LocalFault;
use super::{Local, Locally, already_open, blocking, malformed, now, read, write};
use crate::git::Repository;
use tribunal_core::ids::Sha;
use tribunal_core::pull::desk::act::{Act, Refusal};
use tribunal_core::pull::desk::{Branch, Desk, PullDesk, Subject};
use tribunal_core::pull::facts::{Pull, PullState};
use tribunal_core::pull::talk::NewPull;

impl Local {
    pub async fn open_pull(&self, new: &NewPull) -> Locally<Pull> {
        let (repository, wanted) = (self.repository.clone(), new.clone());
        let (head, base) = blocking(move || pair(&repository, &wanted)).await?;
        let branch = |name: &str, sha: Sha| Branch { name: name.to_owned(), sha };
        let pull = PullDesk::new(branch(&new.head_branch, head), branch(&new.base_branch, base), new.draft);
        let subject = Subject::Pull(Box::new(pull));
        let desk = Desk::open(&new.title, &new.body, &self.me, subject, now()).map_err(malformed)?;
        if self.rehearses {
            self.is_free(&desk).await?;
        }
        let number = match self.add(&desk).await? {
            Wrote::Claimed(holder) => {
                // The holder may have been merged without anybody having looked at it since; taking note of that frees the branches.
                self.change_if(holder, |_| Ok(None)).await?;
                match self.add(&desk).await? {
                    Wrote::Done(number) => number,
                    Wrote::Claimed(number) => return Err(already_open(number, &desk)),
                    Wrote::Late => return Err(LocalFault::Contended),
                }
            }
            Wrote::Done(number) => number,
            Wrote::Late => return Err(LocalFault::Contended),
        };
        let seen = self.look(desk).await?;
        self.facts(number, seen).await
    }

    async fn add(&self, desk: &Desk) -> Locally<Wrote> {
        Ok(self.book.add(Kind::Pull, desk.claim().as_deref(), &write(desk, 0)?).await?)
    }

    /// A book that is only read cannot refuse a claim, so a rehearsal looks for it.
    async fn is_free(&self, desk: &Desk) -> Locally<()> {
        for page in self.book.list(Kind::Pull).await? {
            if self.look(read(&page)?).await?.desk.claim() == desk.claim() {
                return Err(already_open(page.number, desk));
            }
        }
        Ok(())
    }

    /// Says whether it was open before.
    pub async fn close_pull(&self, number: u64) -> Locally<bool> {
        let was_open = self.seen(number).await?.desk.claim().is_some();
        self.change(number, Act::Close).await?;
        Ok(was_open)
    }

    pub async fn reopen_pull(&self, number: u64) -> Locally<()> {
        let seen = self.seen(number).await?;
        let pull = seen.desk.pull().map_err(|refusal| LocalFault::Refused { number, refusal })?;
        for (branch, tip) in [(&pull.head, &seen.live.head), (&pull.base, &seen.live.base)] {
            // A merged one is refused as such, whatever became of its branches.
            if tip.is_none() && pull.state() != PullState::Merged {
                return Err(LocalFault::Gone { number, branch: branch.name.clone(), last: branch.sha.clone() });
            }
        }
        if pull.state() == PullState::Open {
            return Err(LocalFault::Refused { number, refusal: Refusal::NotOpen(PullState::Open) });
        }
        self.change(number, Act::Reopen).await.map(drop)
    }
}

/// The commits of two branches that are worth a pull request.
fn pair(repository: &Repository, new: &NewPull) -> Locally<(Sha, Sha)> {
    let tip = |name: &str| {
        if !repository.is_branch_name(name) {
            return Err(LocalFault::BadName(name.to_owned()));
        }
        repository.branch_tip(name).ok_or_else(|| LocalFault::NoBranch(name.to_owned()))
    };
    let (head, base) = (tip(&new.head_branch)?, tip(&new.base_branch)?);
    if new.head_branch == new.base_branch {
        return Err(LocalFault::SameBranch(new.head_branch.clone()));
    }
    if repository.is_ancestor(&head, &base) {
        return Err(LocalFault::NothingNew { head: new.head_branch.clone(), base: new.base_branch.clone() });
    }
    // Branches without a common past have nothing to be compared with.
    repository.merge_base(&base, &head, &new.base_branch, &new.head_branch)?;
    Ok((head, base))
}
