//! What a forge brings so that the checks can run on it.

use crate::Voice as _;
use crate::checkout::Checkout;
use async_trait::async_trait;
use std::sync::Arc;
use tribunal_core::ids::Sha;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::NewPull;
use tribunal_forge::port::Forge;

/// Four accounts, each with a token of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// What we are: may write (review, status, label, merge), and is not the author.
    Bot,
    /// Opens the pull requests, from branches of the repository; may write, as whoever pushes such a branch.
    Author,
    /// Owns the repository.
    Maintainer,
    /// May read and comment, nothing more; has never contributed.
    Stranger,
}

impl Who {
    pub const ALL: [Who; 4] = [Who::Bot, Who::Author, Who::Maintainer, Who::Stranger];
}

/// One forge with one repository. Its branch `main` exists, with any content; each check makes branches and pull requests of its own,
/// one after the other.
///
/// A local forge knows one person: it gives the same client for everybody and says so with [`Stage::has_accounts`].
#[async_trait]
pub trait Stage: Send + Sync {
    fn kind(&self) -> ForgeKind;

    /// Under which its column of the capability table is kept.
    fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// The client under test, as production code builds it, speaking for `who`. A new one each time: what a client remembers must
    /// not be needed.
    fn forge_as(&self, who: Who) -> Arc<dyn Forge>;

    /// Real git on the same repository, with the right to push everywhere.
    fn checkout(&self) -> &Checkout;

    /// Are the four accounts different ones?
    fn has_accounts(&self) -> bool {
        true
    }

    /// Commits on top of the branch, or of `main` where there is none yet, and pushes. A file without content is deleted.
    async fn push(&self, branch: &str, files: &[(&str, Option<&str>)], message: &str) -> Sha {
        self.checkout().push(branch, files, message).await
    }

    /// Throws the branch's own commits away for one on top of `main`.
    async fn force_push(&self, branch: &str, files: &[(&str, Option<&str>)], message: &str) -> Sha {
        self.checkout().force_push(branch, files, message).await
    }

    /// Opened by the author.
    async fn open_pull(&self, head: &str, base: &str, title: &str, body: &str) -> u64 {
        let (head_branch, base_branch) = (head.to_owned(), base.to_owned());
        let (title, body) = (Outgoing::of_somebody_else(title), Outgoing::of_somebody_else(body));
        let pull = NewPull { title, body, head_branch, base_branch, draft: false };
        self.forge_as(Who::Author).open(&pull).await.expect("the author opens a pull request").number
    }

    /// Leaves a review of the bot that was never submitted, as a crash in the middle does. `false`: this forge has none.
    async fn leave_pending(&self, number: u64, path: &str, line: u32, body: &str) -> bool {
        let _ = (number, path, line, body);
        false
    }

    /// A stranger's pull request from a fork, which may be deleted meanwhile. Nothing: this forge has no forks.
    async fn open_pull_from_fork(&self, opener: Who, is_lost: bool) -> Option<u64> {
        let _ = (opener, is_lost);
        None
    }

    /// Somebody new of this login, with a token of their own, who may read or write here. Nothing: this forge has one account.
    async fn newcomer(&self, login: &str, may_write: bool) -> Option<Arc<dyn Forge>> {
        let _ = (login, may_write);
        None
    }

    /// Takes the right to write from a newcomer.
    async fn demote(&self, login: &str) {
        let _ = login;
    }

    /// A newcomer's pull request without a branch, pushed to `refs/for/main`. Nothing: this forge has no such thing.
    async fn open_pull_by_agit(&self, login: &str, files: &[(&str, Option<&str>)]) -> Option<u64> {
        let _ = (login, files);
        None
    }

    /// Has the forge's own CI fail at the head of a branch: a job of this name, which printed this. A workflow may have to be committed
    /// for it. Gives the head, and the name of the check. Nothing: this forge has no CI.
    async fn fail_job(&self, branch: &str, job: &str, log: &str) -> Option<(Sha, String)> {
        let _ = (branch, job, log);
        None
    }

    /// Has a branch ask for so many approvals and for this check before anything is merged into it; with nothing, for nothing again.
    /// `false`: here nobody can.
    async fn protect(&self, branch: &str, wanted: Option<(u32, &str)>) -> bool {
        let _ = (branch, wanted);
        false
    }

    /// Aims a pull request at another branch, as its author does. `false`: here nobody can.
    async fn retarget(&self, number: u64, base: &str) -> bool {
        let _ = (number, base);
        false
    }

    /// Many comments of the author, by whatever way is quick.
    async fn seed_comments(&self, number: u64, count: usize) {
        let author = self.forge_as(Who::Author);
        for index in 0..count {
            author.comment(number, &format!("comment {index}")).await.expect("the author comments");
        }
    }

    /// Asks for a pull request twice: was the second answer only that nothing had changed? Seen where the wire can be seen.
    async fn is_not_sent_again(&self, number: u64) -> bool {
        let _ = number;
        false
    }
}
